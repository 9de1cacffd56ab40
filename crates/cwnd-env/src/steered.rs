//! The congestion control of a steered flow: the window that the learner sets, or an algorithm to compare it with.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use cwnd::{
    Ack, Algorithm, Congestion, CongestionControl, Control, Maker, Packets, Spec, Start, View, Wrapped, Wrapper,
};

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

/// A flow's algorithm, with what the environment counts.
#[derive(Clone, Debug)]
struct Steered {
    inner: Algorithm,
    counters: Counters,
}

/// Keeps the window that the learner sets.
#[derive(Clone, Debug)]
struct Learner(Arc<SharedWindow>);

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
        let inner = match &self.algorithm {
            None => Algorithm::Custom(Box::new(Learner(Arc::clone(&self.window)))),
            Some(spec) => spec.start(start),
        };
        Box::new(Wrapped(Steered { inner, counters: Counters::default() }))
    }
}

impl Wrapper for Steered {
    type Inner = Algorithm;

    fn inner(&self) -> &Algorithm {
        &self.inner
    }

    fn inner_mut(&mut self) -> &mut Algorithm {
        &mut self.inner
    }

    fn on_ack(&mut self, view: &View, ack: &Ack) {
        if let Some(rtt) = view.rtt {
            self.counters.rtt_sum += rtt.latest.as_secs_f64();
            self.counters.rtts += 1.0;
        }
        self.counters.marked += f64::from(ack.marked);
        self.inner.on_ack(view, ack);
    }

    /// The counters take the place of what the algorithm shows: nothing else reads it in an environment.
    fn inspect(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("rtt_sum", self.counters.rtt_sum);
        visit("rtts", self.counters.rtts);
        visit("marked", self.counters.marked);
    }
}

impl CongestionControl for Learner {
    fn control(&self) -> Control {
        Control::window(Packets(self.0.get()))
    }

    fn on_ack(&mut self, _view: &View, _ack: &Ack) {}

    fn on_congestion(&mut self, _view: &View, _event: &Congestion) {}

    fn boxed_clone(&self) -> Box<dyn CongestionControl> {
        Box::new(self.clone())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use cwnd::testing::not_forwarded;

    use super::*;

    /// Hands out one algorithm, once.
    #[derive(Debug)]
    struct Once(Mutex<Option<Box<dyn CongestionControl>>>);

    impl Maker for Once {
        fn start(&self, _start: &Start) -> Box<dyn CongestionControl> {
            self.0.lock().expect("no test panics with it").take().expect("it is started once")
        }
    }

    #[test]
    fn an_algorithm_in_the_learners_place_gets_every_signal() {
        let missed = not_forwarded(|inner| {
            let algorithm = Some(Spec::outside("inner", Arc::new(Once(Mutex::new(Some(inner))))));
            SteeredMaker { window: Arc::default(), algorithm }.start(&Start::default())
        });
        assert_eq!(missed, ["inspect"], "the environment's counters are shown instead");
    }
}
