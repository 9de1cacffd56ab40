//! The smallest host there is: a flow whose acknowledgements, losses and round trips a test dictates.

use cwnd::window::{Policy, RateLimited};
use cwnd::{Ack, Algorithm, Congestion, CongestionControl, Limit, Packets, Rtt, Span, Spec, Start, Time, View};

/// A flow under a test's hand.
#[derive(Clone, Debug)]
pub(crate) struct TestHost {
    pub(crate) algorithm: Algorithm,
    pub(crate) view: View,
}

/// What ns-2 did since January 2006.
pub(crate) const NS2: Policy = {
    let mut policy = Policy::MODERN;
    policy.first_cut = cwnd::window::FirstCut::Half;
    (policy.timeout_halves, policy.validate, policy.per_ack) = (true, false, true);
    policy.rate_limited = RateLimited::None;
    policy.loss_floor = 1;
    policy
};

impl TestHost {
    /// A flow with a round-trip time of 100 ms.
    pub(crate) fn new(spec: &str, start: &Start) -> Self {
        let mut view = View::new(Time::ZERO, start);
        (view.rtt, view.limit) = (Some(Rtt::fixed(Span::from_millis(100))), Limit::Window);
        Self { algorithm: parse(spec).start(start), view }
    }

    /// A flow that begins in congestion avoidance at window `w`, as the papers' models do.
    pub(crate) fn avoiding(spec: &str, w: f64) -> Self {
        Self::new(spec, &Start::default().with_window(Packets(w)).with_threshold(Packets(0.0)))
    }

    /// A flow that has just been cut from window `wmax`.
    pub(crate) fn cut_from(spec: &str, wmax: f64) -> Self {
        let mut flow = Self::avoiding(spec, wmax);
        flow.lose();
        flow
    }

    pub(crate) fn w(&self) -> f64 {
        self.algorithm.control().window.0
    }

    /// An internal of the algorithm by name.
    pub(crate) fn internal(&self, name: &str) -> f64 {
        let mut found = None;
        self.algorithm.inspect(&mut |each, value| found = if each == name { Some(value) } else { found });
        found.unwrap_or_else(|| panic!("no internal `{name}`"))
    }

    /// The increase per round trip, from the increase for one packet.
    pub(crate) fn increase(&self) -> f64 {
        let mut next = self.clone();
        next.ack(1);
        (next.w() - self.w()) * self.w()
    }

    /// The fraction of the window that a loss removes.
    pub(crate) fn decrease(&self) -> f64 {
        let mut cut = self.clone();
        cut.lose();
        1.0 - cut.w() / self.w()
    }

    /// `packets` are acknowledged, each by its own acknowledgement, and as many sent.
    pub(crate) fn ack(&mut self, packets: u32) {
        self.algorithm.on_ack(&self.view, &acked(packets));
        self.view.next += u64::from(packets);
        self.view.delivered += u64::from(packets);
    }

    /// A whole window is acknowledged, packet by packet, in one round-trip time.
    pub(crate) fn round(&mut self) {
        let packets = self.w() as u32;
        self.view.now += self.rtt();
        (0..packets).for_each(|_| self.ack(1));
        self.view.round += 1;
    }

    pub(crate) fn rounds(&mut self, rounds: u32) {
        (0..rounds).for_each(|_| self.round());
    }

    /// A packet of the newest window is lost.
    pub(crate) fn lose(&mut self) {
        self.view.next += 1;
        self.on_congestion(&Congestion::loss(self.view.next - 1, 1));
    }

    pub(crate) fn on_congestion(&mut self, event: &Congestion) {
        self.algorithm.on_congestion(&self.view, event);
    }

    pub(crate) fn rtt(&self) -> Span {
        self.view.rtt.map_or(Span::ZERO, |rtt| rtt.smoothed)
    }
}

pub(crate) fn parse(spec: &str) -> Spec {
    Spec::parse(spec).unwrap_or_else(|error| panic!("{error}"))
}

/// `record` after `change`.
pub(crate) fn with<T>(mut record: T, change: impl FnOnce(&mut T)) -> T {
    change(&mut record);
    record
}

pub(crate) fn acked(packets: u32) -> Ack {
    with(Ack::new(packets, Time::ZERO), |ack| ack.acks = packets)
}

/// SplitMix64 (Steele, Lea and Flood, OOPSLA 2014): enough randomness for tests, the same everywhere.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    /// Uniform in [0, 1).
    pub(crate) fn unit(&mut self) -> f64 {
        cwnd::random::uniform(self.bits())
    }
}

#[track_caller]
pub(crate) fn assert_close(is: f64, expected: f64, within: f64) {
    assert!((is - expected).abs() <= within, "{is}, expected {expected} within {within}");
}
