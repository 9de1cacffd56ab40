//! Controllers of noq.

use std::any::Any;
use std::sync::Arc;
use std::time::Instant;

use cwnd::Spec;
use noq_proto::RttEstimator;
use noq_proto::congestion::{Controller, ControllerFactory, ControllerMetrics};

use crate::driver::Driver;
use crate::{Unsupported, check_transport};

/// Makes controllers of one algorithm.
#[derive(Clone, Debug)]
pub struct Factory {
    spec: Spec,
    seed: u64,
}

/// An algorithm as noq's controller.
#[derive(Clone, Debug)]
struct Algorithm {
    driver: Driver,
    initial_window: u64,
    /// Packets lost since the last congestion event.
    lost: Vec<u64>,
}

impl Factory {
    /// Controllers of `spec`, whose random numbers come from `seed`.
    ///
    /// # Errors
    /// The algorithm needs more of its transport than acknowledgements.
    pub fn new(spec: Spec, seed: u64) -> Result<Self, Unsupported> {
        check_transport(&spec)?;
        Ok(Self { spec, seed })
    }
}

impl ControllerFactory for Factory {
    fn build(self: Arc<Self>, now: Instant, current_mtu: u16) -> Box<dyn Controller> {
        let driver = Driver::new(&self.spec, self.seed, now, current_mtu);
        Box::new(Algorithm { initial_window: driver.window(), driver, lost: Vec::new() })
    }
}

impl Controller for Algorithm {
    fn on_packet_sent(&mut self, now: Instant, bytes: u16, pn: u64) {
        self.driver.on_sent(now, bytes.into(), pn);
    }

    fn on_ack(&mut self, now: Instant, sent: Instant, _bytes: u64, pn: u64, _app_limited: bool, _rtt: &RttEstimator) {
        self.driver.on_ack(now, sent, Some(pn));
    }

    fn on_end_acks(&mut self, now: Instant, in_flight: u64, app_limited: bool, largest: Option<u64>) {
        self.driver.on_end_acks(now, in_flight, app_limited, largest);
    }

    fn on_packet_lost(&mut self, _lost_bytes: u16, pn: u64, _now: Instant) {
        self.lost.push(pn);
    }

    fn on_congestion_event(
        &mut self,
        now: Instant,
        _sent: Instant,
        is_persistent_congestion: bool,
        is_ecn: bool,
        _lost_bytes: u64,
        largest_lost_pn: u64,
    ) {
        if is_ecn {
            return self.driver.on_congestion(now, largest_lost_pn, 0, false);
        }
        self.lost.sort_unstable();
        self.driver.on_lost(now, &self.lost, is_persistent_congestion);
        self.lost.clear();
    }

    fn on_spurious_congestion_event(&mut self) {
        self.driver.on_spurious();
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.driver.set_mtu(new_mtu);
    }

    fn window(&self) -> u64 {
        self.driver.window()
    }

    fn metrics(&self) -> ControllerMetrics {
        let mut metrics = ControllerMetrics::default();
        metrics.congestion_window = self.driver.window();
        metrics.pacing_rate = self.driver.pacing_rate();
        metrics.send_quantum = self.driver.quantum();
        metrics
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
