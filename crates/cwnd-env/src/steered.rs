//! The congestion control of a steered flow: the window that the learner sets, or an algorithm to compare it with.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use cwnd::{Ack, Algorithm, Congestion, CongestionControl, Control, Maker, Packets, Span, Spec, Start, View};

/// The window that a learner sets, shared by the environment and the flow. Both are on one thread.
#[derive(Debug, Default)]
pub(crate) struct SharedWindow(AtomicU64);

/// Makes the congestion control of a steered flow.
#[derive(Debug)]
pub(crate) struct SteeredMaker {
    pub(crate) window: Arc<SharedWindow>,
    /// Controls the flow instead of the learner.
    pub(crate) algorithm: Option<Spec>,
}

/// Sums over the acknowledgements of a steered flow since it began.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counters {
    /// Sum of the measured round-trip times, seconds, and their number.
    pub(crate) rtt_sum: f64,
    pub(crate) rtts: f64,
    /// Acknowledged packets whose acknowledgement echoed a mark.
    pub(crate) marked: f64,
}

#[derive(Clone, Debug)]
struct Steered {
    controller: Controller,
    counters: Counters,
}

#[derive(Clone, Debug)]
enum Controller {
    Learner(Arc<SharedWindow>),
    Algorithm(Box<Algorithm>),
}

impl SharedWindow {
    /// The window, packets.
    pub(crate) fn get(&self) -> f64 {
        f64::from_bits(self.0.load(Ordering::Relaxed))
    }

    /// Sets the window.
    pub(crate) fn set(&self, window: f64) {
        self.0.store(window.to_bits(), Ordering::Relaxed);
    }
}

impl Counters {
    /// Reads the counters of a steered flow.
    pub(crate) fn of(flow: cwnd_sim::FlowState<'_>) -> Self {
        let mut counters = Self::default();
        flow.inspect(&mut |name, value| match name {
            "rtt_sum" => counters.rtt_sum = value,
            "rtts" => counters.rtts = value,
            "marked" => counters.marked = value,
            _ => {}
        });
        counters
    }
}

impl Maker for SteeredMaker {
    fn start(&self, start: &Start) -> Box<dyn CongestionControl> {
        self.window.set(start.window.0);
        let controller = match &self.algorithm {
            None => Controller::Learner(Arc::clone(&self.window)),
            Some(spec) => Controller::Algorithm(Box::new(spec.start(start))),
        };
        Box::new(Steered { controller, counters: Counters::default() })
    }
}

impl Steered {
    fn algorithm(&mut self) -> Option<&mut Algorithm> {
        if let Controller::Algorithm(algorithm) = &mut self.controller { Some(algorithm) } else { None }
    }
}

impl CongestionControl for Steered {
    fn control(&self) -> Control {
        match &self.controller {
            Controller::Learner(window) => Control::window(Packets(window.get())),
            Controller::Algorithm(algorithm) => algorithm.control(),
        }
    }

    fn on_ack(&mut self, view: &View, ack: &Ack) {
        if let Some(rtt) = view.rtt {
            self.counters.rtt_sum += rtt.latest.as_secs_f64();
            self.counters.rtts += 1.0;
        }
        self.counters.marked += f64::from(ack.marked);
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
        visit("rtt_sum", self.counters.rtt_sum);
        visit("rtts", self.counters.rtts);
        visit("marked", self.counters.marked);
    }

    fn boxed_clone(&self) -> Box<dyn CongestionControl> {
        Box::new(self.clone())
    }
}
