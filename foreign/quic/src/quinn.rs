//! Controllers of quinn, for algorithms that set a window.

use std::any::Any;
use std::sync::Arc;
use std::time::Instant;

use cwnd::Spec;
use quinn_proto::RttEstimator;
use quinn_proto::congestion::{Controller, ControllerFactory};

use crate::driver::Driver;
use crate::{Unsupported, check_window};

/// Makes controllers of one algorithm.
#[derive(Clone, Debug)]
pub struct Factory {
    spec: Spec,
    seed: u64,
}

/// An algorithm as quinn's controller.
#[derive(Clone, Debug)]
struct Algorithm {
    driver: Driver,
    initial_window: u64,
    mtu: u16,
}

impl Factory {
    /// Controllers of `spec`, whose random numbers come from `seed`.
    ///
    /// # Errors
    /// The algorithm sets a rate, or needs more of its transport than acknowledgements.
    pub fn new(spec: Spec, seed: u64) -> Result<Self, Unsupported> {
        check_window(&spec)?;
        Ok(Self { spec, seed })
    }
}

impl ControllerFactory for Factory {
    fn build(self: Arc<Self>, now: Instant, current_mtu: u16) -> Box<dyn Controller> {
        let driver = Driver::new(&self.spec, self.seed, now, current_mtu);
        Box::new(Algorithm { initial_window: driver.window(), driver, mtu: current_mtu })
    }
}

impl Controller for Algorithm {
    fn on_sent(&mut self, now: Instant, bytes: u64, last_packet_number: u64) {
        self.driver.on_sent(now, bytes, last_packet_number);
    }

    fn on_ack(&mut self, now: Instant, sent: Instant, _bytes: u64, _app_limited: bool, _rtt: &RttEstimator) {
        self.driver.on_ack(now, sent, None);
    }

    fn on_end_acks(&mut self, now: Instant, in_flight: u64, app_limited: bool, largest: Option<u64>) {
        self.driver.on_end_acks(now, in_flight, app_limited, largest);
    }

    fn on_congestion_event(&mut self, now: Instant, sent: Instant, is_persistent_congestion: bool, lost_bytes: u64) {
        let lost = u32::try_from(lost_bytes.div_ceil(u64::from(self.mtu))).unwrap_or(u32::MAX);
        self.driver.on_congestion(now, self.driver.number_at(sent), lost, is_persistent_congestion);
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.mtu = new_mtu;
        self.driver.set_mtu(new_mtu);
    }

    fn window(&self) -> u64 {
        self.driver.window()
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }

    fn initial_window(&self) -> u64 {
        self.initial_window
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}
