//! What steers a flow: the learner's hand, or an algorithm to compare it with.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use cwnd::{Ack, Algorithm, Congestion, CongestionControl, Control, Maker, Packets, Span, Spec, Start, View};

/// The window a learner sets, shared between the environment and the flow. Both live on one thread.
#[derive(Debug, Default)]
pub(crate) struct Wheel(AtomicU64);

/// Makes the algorithm of a steered flow.
#[derive(Debug)]
pub(crate) struct Pilot {
    pub(crate) wheel: Arc<Wheel>,
    /// Steers in the place of the learner.
    pub(crate) algorithm: Option<Spec>,
}

/// What a steered flow has heard since it began.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Heard {
    /// Sum of the round-trip times of packets, seconds, and how many these are.
    pub(crate) rtt_sum: f64,
    pub(crate) rtts: f64,
    /// Acknowledged packets whose acknowledgement echoed a mark.
    pub(crate) marked: f64,
}

#[derive(Clone, Debug)]
struct Steered {
    hand: Hand,
    heard: Heard,
}

#[derive(Clone, Debug)]
enum Hand {
    Learner(Arc<Wheel>),
    Algorithm(Box<Algorithm>),
}

impl Wheel {
    /// The window, packets.
    pub(crate) fn get(&self) -> f64 {
        f64::from_bits(self.0.load(Ordering::Relaxed))
    }

    /// Sets the window.
    pub(crate) fn set(&self, window: f64) {
        self.0.store(window.to_bits(), Ordering::Relaxed);
    }
}

impl Heard {
    /// Reads it from what a steered flow shows of itself.
    pub(crate) fn of(flow: cwnd_sim::FlowState<'_>) -> Self {
        let mut heard = Self::default();
        flow.inspect(&mut |name, value| match name {
            "rtt_sum" => heard.rtt_sum = value,
            "rtts" => heard.rtts = value,
            "marked" => heard.marked = value,
            _ => {}
        });
        heard
    }
}

impl Maker for Pilot {
    fn start(&self, start: &Start) -> Box<dyn CongestionControl> {
        self.wheel.set(start.window.0);
        let hand = match &self.algorithm {
            None => Hand::Learner(Arc::clone(&self.wheel)),
            Some(spec) => Hand::Algorithm(Box::new(spec.start(start))),
        };
        Box::new(Steered { hand, heard: Heard::default() })
    }
}

impl Steered {
    fn algorithm(&mut self) -> Option<&mut Algorithm> {
        if let Hand::Algorithm(algorithm) = &mut self.hand { Some(algorithm) } else { None }
    }
}

impl CongestionControl for Steered {
    fn control(&self) -> Control {
        match &self.hand {
            Hand::Learner(wheel) => Control::window(Packets(wheel.get())),
            Hand::Algorithm(algorithm) => algorithm.control(),
        }
    }

    fn on_ack(&mut self, view: &View, ack: &Ack) {
        if let Some(rtt) = view.rtt {
            self.heard.rtt_sum += rtt.latest.as_secs_f64();
            self.heard.rtts += 1.0;
        }
        self.heard.marked += f64::from(ack.marked);
        if let Some(algorithm) = self.algorithm() {
            algorithm.on_ack(view, ack);
        }
    }

    fn on_congestion(&mut self, view: &View, event: &Congestion) {
        if let Some(algorithm) = self.algorithm() {
            algorithm.on_congestion(view, event);
        }
    }

    fn on_recovered(&mut self, view: &View) {
        if let Some(algorithm) = self.algorithm() {
            algorithm.on_recovered(view);
        }
    }

    fn on_wake(&mut self, view: &View) {
        if let Some(algorithm) = self.algorithm() {
            algorithm.on_wake(view);
        }
    }

    fn on_restart(&mut self, view: &View, idle: Span) {
        if let Some(algorithm) = self.algorithm() {
            algorithm.on_restart(view, idle);
        }
    }

    fn on_spurious(&mut self, view: &View) {
        if let Some(algorithm) = self.algorithm() {
            algorithm.on_spurious(view);
        }
    }

    fn inspect(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("rtt_sum", self.heard.rtt_sum);
        visit("rtts", self.heard.rtts);
        visit("marked", self.heard.marked);
    }

    fn boxed_clone(&self) -> Box<dyn CongestionControl> {
        Box::new(self.clone())
    }
}
