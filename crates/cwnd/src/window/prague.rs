//! Prague: a scalable controller for L4S, with the share of marks as DCTCP and less dependence on the round-trip time.
//!
//! draft-briscoe-iccrg-prague-congestion-control-04; section numbers are its own.

use alloc::boxed::Box;

use super::{Window, WindowRule};
use crate::control::Pacing;
use crate::entry::{Basis, Entry, Family, Transport};
use crate::parameter::{Measure, Parameter};
use crate::signal::{Ack, View};
use crate::units::{Span, Time};

/// The rule: `w += 1/(m² w)` per packet that was not marked, `w -= alpha/2 w` at most once in a virtual round trip, with alpha the filtered share of
/// packets marked and m the ratio of the virtual round-trip time to the real one.
#[derive(Clone, Debug)]
pub struct Prague {
    /// Boxed, since each flow of a simulation has room for the largest algorithm.
    parameters: Box<Parameters>,
    /// The filtered share; none before the first mark.
    alpha: Option<f64>,
    acked: f64,
    marked: f64,
    /// The instant from which the next share is measured.
    from: Time,
    /// The last cut for a mark.
    cut_at: Option<Time>,
    /// Congestion avoidance has begun.
    avoids: bool,
}

/// How much the path looks like one whose queue has the ECN of RFC 3168 (Linux `prague_classic_ecn_detection` of the L4S team's kernel,
/// version 0.5 of the module): the round-trip time varies more than behind a queue that marks at a millisecond.
#[derive(Clone, Debug)]
struct ClassicQueue {
    /// Smoothed round-trip time and its mean deviation, microseconds; none before the first sample.
    rtt: Option<[f64; 2]>,
    /// The weight of a sample is this power of a half.
    shift: i32,
    /// The window after the last cut.
    threshold: f64,
    /// From 0, surely not, to [`MOST`](Self::MOST).
    score: f64,
}

impl ClassicQueue {
    /// Below it the path is one of L4S (`L_STICKY`); one more, and it is classic.
    const STICKY: f64 = 8.0;
    /// Where the score ends (`C_STICKY`).
    const MOST: f64 = 2.0 * Self::STICKY + 1.0;
    /// The mean deviation that says nothing, microseconds (`V0_LG`).
    const DEVIATION: f64 = 750.0;
    /// The queue that says nothing, microseconds (`D0_LG`).
    const QUEUE: f64 = 2000.0;
    /// The weight before the first cut is this power of a half (`PRAGUE_MAX_SRTT_BITS`).
    const MOST_SHIFT: i32 = 18;

    fn new() -> Self {
        Self { rtt: None, shift: Self::MOST_SHIFT, threshold: f64::INFINITY, score: 0.0 }
    }

    /// A sample of the round-trip time, microseconds.
    fn on_sample(&mut self, sample: f64) {
        let [smoothed, deviation] = self.rtt.unwrap_or([sample, 1.0]);
        let weight = libm::ldexp(1.0, -self.shift);
        let error = sample - smoothed;
        self.rtt = Some([smoothed + weight * error, deviation + weight / 2.0 * (error.abs() - deviation)]);
    }

    /// A round trip has passed: the score moves by the logarithms of the queueing delay and of the deviation. `least` is the least round-trip time, microseconds.
    fn on_round(&mut self, least: f64) {
        let Some([smoothed, deviation]) = self.rtt else { return };
        let queue = (smoothed - least) / Self::QUEUE;
        let moved = libm::log2((deviation / Self::DEVIATION).max(1e-3)) + libm::log2(queue.max(1.0));
        self.score = (self.score + moved / 2.0).clamp(0.0, Self::MOST);
    }

    /// The window is about to be cut: samples get a weight that suits it (`prague_update_rtt_scaling`).
    fn on_cut(&mut self) {
        let bits = if self.threshold.is_finite() { libm::ilogb(self.threshold.max(1.0)) } else { 31 };
        self.shift = (bits + bits / 2 + 1).min(Self::MOST_SHIFT);
    }

    /// The least share of marks to answer: on a classic path a cut is to 0.69.
    fn least_share(&self) -> f64 {
        0.625 * (self.score - Self::STICKY).clamp(0.0, 1.0)
    }
}

#[derive(Clone, Debug)]
struct Parameters {
    g: f64,
    floor: f64,
    /// The least virtual round-trip time, seconds.
    rtt_ref: f64,
    /// Round trips until it applies.
    after: f64,
    /// The share of marks that is assumed at the first mark.
    initial: f64,
    /// The fall-back of Linux, if chosen, with its state.
    classic: Option<ClassicQueue>,
    /// The faster growth of UDP Prague, if chosen, with its state.
    growth: Option<Growth>,
}

/// Growth by more than a packet in a round trip where marks stay away for long (UDP Prague at e8e34353, `prague_cc.cpp`, lines 271, 301, 329
/// and 367).
#[derive(Clone, Debug)]
struct Growth {
    /// The queue that it may add in a round trip, seconds.
    queue: f64,
    /// Virtual round trips until it begins.
    wait: f64,
}

impl Growth {
    /// The shortest time after a mark, virtual round trips (`MIN_STEP`).
    const LEAST: f64 = 7.0;
    /// Each further round trip of this time takes as many bytes per second (`RATE_STEP`).
    const STEP: f64 = 1_920_000.0;
    /// The round-trip time whose flow sets the time after a loss, seconds (`REF_RTT`).
    const REFERENCE: f64 = 0.025;

    /// Packets by which a window grows in a round trip, at `rate` packets per second.
    fn packets(&self, rate: f64) -> f64 {
        if self.wait > 0.0 { 1.0 } else { (rate * self.queue).max(1.0) }
    }

    /// A mark cuts the window of a sender of `rate` bytes per second.
    fn on_mark(&mut self, rate: f64) {
        self.wait = libm::floor(rate / Self::STEP) + Self::LEAST;
    }

    /// A loss halves the window of a sender of `rate` packets per second.
    fn on_loss(&mut self, rate: f64, virtual_rtt: f64) {
        self.wait = libm::floor(rate / 2.0 * Self::REFERENCE * Self::REFERENCE / virtual_rtt);
    }
}

impl Prague {
    /// The virtual round-trip time, and its ratio to the real one (section 2.4.4); the ratio is 1 on paths with longer round trips, and at the
    /// beginning.
    fn virtual_rtt(&self, view: &View) -> (f64, f64) {
        let real = view.rtt.map_or(0.0, |rtt| rtt.smoothed.as_secs_f64());
        if real > 0.0 && real < self.parameters.rtt_ref && view.round as f64 >= self.parameters.after {
            (self.parameters.rtt_ref, self.parameters.rtt_ref / real)
        } else {
            (real, 1.0)
        }
    }
}

impl WindowRule for Prague {
    /// Section 2.4.2: the share of marks, filtered once per virtual round trip.
    fn observe(&mut self, view: &View, ack: &Ack) {
        let newly = f64::from(ack.newly);
        let marked = newly * (f64::from(ack.marked) / f64::from(ack.acks.max(1))).min(1.0);
        self.acked += newly;
        self.marked += marked;
        if let (Some(classic), Some(rtt)) = (&mut self.parameters.classic, view.rtt) {
            classic.on_sample(rtt.latest.as_secs_f64() * 1e6);
        }
        if marked > 0.0 && self.alpha.is_none() {
            self.alpha = Some(self.parameters.initial);
        }
        let (rtt, _) = self.virtual_rtt(view);
        if rtt == 0.0 || view.now.since(self.from) < Span::from_secs_f64(rtt) || self.acked == 0.0 {
            return;
        }
        if let (Some(classic), Some(_), Some(rtt)) = (&mut self.parameters.classic, self.alpha, view.rtt) {
            classic.on_round(rtt.min.as_secs_f64() * 1e6);
        }
        if let Some(growth) = &mut self.parameters.growth {
            growth.wait = (growth.wait - 1.0).max(0.0);
        }
        self.alpha = self.alpha.map(|alpha| alpha + self.parameters.g * (self.marked / self.acked - alpha));
        (self.acked, self.marked, self.from) = (0.0, 0.0, view.now);
    }

    fn grow(&mut self, w: f64, view: &View) -> f64 {
        let (rtt, ratio) = self.virtual_rtt(view);
        // Packets per second of a real round trip.
        let step = self.parameters.growth.as_ref().map_or(1.0, |growth| growth.packets(w * ratio / rtt));
        step / (ratio * ratio * w)
    }

    /// Section 2.4.1: a loss is answered as Reno answers it.
    fn cut(&mut self, w: f64, view: &View) -> f64 {
        let (rtt, ratio) = self.virtual_rtt(view);
        if let Some(growth) = self.parameters.growth.as_mut().filter(|_| rtt > 0.0) {
            growth.on_loss(w * ratio / rtt, rtt);
        }
        w / 2.0
    }

    /// Section 2.4.3: at most once in a virtual round trip.
    fn cut_for_marks(&mut self, w: f64, view: &View) -> f64 {
        let (rtt, ratio) = self.virtual_rtt(view);
        if self.cut_at.is_some_and(|at| view.now.since(at) < Span::from_secs_f64(rtt)) {
            return w;
        }
        self.cut_at = Some(view.now);
        if let Some(growth) = self.parameters.growth.as_mut().filter(|_| rtt > 0.0) {
            growth.on_mark(w * ratio / rtt * f64::from(view.packet.0));
        }
        let mut alpha = self.alpha.unwrap_or(self.parameters.initial);
        if let Some(classic) = &mut self.parameters.classic {
            classic.on_cut();
            alpha = alpha.max(classic.least_share());
            classic.threshold = w * (1.0 - alpha / 2.0);
        }
        w * (1.0 - alpha / 2.0)
    }

    fn epoch(&mut self, _before: Option<f64>, _after: f64, _view: &View) {
        self.avoids = true;
    }

    fn floor(&self) -> Option<f64> {
        Some(self.parameters.floor)
    }

    fn needs_marks(&self) -> bool {
        true
    }

    /// Section 2.4.5: twice as fast in slow start.
    fn pacing(&self) -> Pacing {
        Pacing::Spread { gain: if self.avoids { 1.0 } else { 2.0 } }
    }

    fn inspect(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("alpha", self.alpha.unwrap_or(self.parameters.initial));
        if let Some(classic) = &self.parameters.classic {
            visit("classic", classic.score);
        }
    }
}

/// Registered as `prague`.
pub const PRAGUE: Entry<Window<Prague>> = Entry {
    name: "prague",
    title: "Prague: DCTCP's share of marks, paced, for L4S queues",
    family: Family::Named,
    transport: Transport::Acked,
    basis: Basis::MarkedShare,
    source: "draft-briscoe-iccrg-prague-congestion-control-04",
    deviations: &[
        "A mark between two cuts of one virtual round trip does not cut, and packets with a mark do not grow the window.",
        "Without `fallback` nothing detects a queue of RFC 3168; without marks (a flow without ECN) it is Reno.",
        "A loss halves the window also where a mark has cut it in the same round trip.",
    ],
    parameters: &[
        Parameter::number("g", 0.0625, "weight of the newest share of marks in alpha").above(0.0).at_most(1.0),
        Parameter::quantity(
            "rtt_ref",
            Measure::Span,
            Some(0.025),
            "",
            "the least virtual round-trip time: flows with shorter ones grow and cut as if they had it",
        ),
        Parameter::number("after", 500.0, "round trips before `rtt_ref` applies").unit("rounds").at_least(0.0).whole(),
        Parameter::number("floor", 2.0, "least window that a mark or a loss leaves")
            .unit("packets")
            .at_least(1.0)
            .at_most(1000.0),
        Parameter::number("alpha", 1.0, "the share of marks assumed at the first mark; UDP Prague has 0")
            .at_least(0.0)
            .at_most(1.0),
        Parameter::quantity(
            "growth",
            Measure::Span,
            Some(0.0),
            "",
            "the queue that a round trip may add where marks stay away for 7 virtual round trips, and one more for each 15.36 Mbit/s; UDP Prague \
             has 1ms",
        )
        .at_least(0.0),
        Parameter::switch(
            "fallback",
            false,
            "cuts to 0.69 where round-trip times vary as behind a queue of RFC 3168 (prague_ecn_fallback of the L4S team's Linux)",
        ),
    ],
    build: |values, start| {
        let [g, floor, rtt_ref, after] = ["g", "floor", "rtt_ref", "after"].map(|name| values.number(name));
        let [initial, queue] = ["alpha", "growth"].map(|name| values.number(name));
        let classic = values.is("fallback").then(ClassicQueue::new);
        let growth = (queue > 0.0).then_some(Growth { queue, wait: Growth::LEAST });
        let rule = Prague {
            parameters: Box::new(Parameters { g, floor, rtt_ref, after, initial, classic, growth }),
            alpha: None,
            acked: 0.0,
            marked: 0.0,
            from: Time::ZERO,
            cut_at: None,
            avoids: false,
        };
        Ok(Window::new(rule, start))
    },
    receiver: None,
};

#[cfg(test)]
mod tests {
    use super::*;

    /// Deviations of 750 us and queues of up to 2 ms say nothing. Eight times as much deviation moves the score by 1.5 a round trip, four times
    /// as much queue by 1: after four round trips with both the path is classic.
    #[test]
    fn a_score_by_hand() {
        let mut path = ClassicQueue { rtt: Some([12_000.0, 750.0]), ..ClassicQueue::new() };
        path.on_round(10_000.0);
        assert_eq!((path.score, path.least_share()), (0.0, 0.0));
        path.rtt = Some([18_000.0, 6000.0]);
        let shares = [(); 4].map(|()| {
            path.on_round(10_000.0);
            path.least_share()
        });
        assert_eq!((shares, path.score), ([0.0, 0.0, 0.0, 0.625], 10.0));
        (0..9).for_each(|_| path.on_round(10_000.0));
        assert_eq!(path.score, 17.0);
        // Half of the deviation without a queue takes 18 round trips to bring it back to 8.
        path.rtt = Some([10_000.0, 375.0]);
        (0..18).for_each(|_| path.on_round(10_000.0));
        assert_eq!((path.score, path.least_share()), (8.0, 0.0));
    }

    /// At 30 Mbit/s, 2500 packets of 1500 bytes a second, marks stop the growth for 7 + 1 round trips, and 1 ms is 2.5 packets. A loss stops it for
    /// 1250 · 25 ms² / 25 ms = 31 round trips.
    #[test]
    fn a_growth_by_hand() {
        let mut growth = Growth { queue: 1e-3, wait: 0.0 };
        assert_eq!([2500.0, 500.0].map(|rate| growth.packets(rate)), [2.5, 1.0]);
        growth.on_mark(2500.0 * 1500.0);
        assert_eq!((growth.wait, growth.packets(2500.0)), (8.0, 1.0));
        growth.on_loss(2500.0, 0.025);
        assert_eq!(growth.wait, 31.0);
    }

    /// `ilog2(100) = 6` gives 6 + 3 + 1: a sample counts a 1024th, and its deviation half of that.
    #[test]
    fn a_weight_by_hand() {
        let mut path = ClassicQueue::new();
        path.on_cut();
        assert_eq!(path.shift, 18);
        path.threshold = 100.9;
        path.on_cut();
        assert_eq!(path.shift, 10);
        path.rtt = Some([10_000.0, 1000.0]);
        path.on_sample(20_240.0);
        assert_eq!(path.rtt, Some([10_010.0, 1000.0 + 9240.0 / 2048.0]));
    }
}
