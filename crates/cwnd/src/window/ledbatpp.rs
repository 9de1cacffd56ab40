//! LEDBAT++: LEDBAT with smaller steps, a proportional decrease, and pauses in which the queue drains and the base delay shows.
//!
//! Balasubramanian, Ertugay, Havey and Bagnulo, "LEDBAT++: Congestion Control for Background Traffic", draft-irtf-iccrg-ledbat-plus-plus-06,
//! 2026, after the implementation for ns-3 by Nigam, Prateek, Kumar, R and Tahiliani (NITK Surathkal), which cites its sections.

use alloc::boxed::Box;

use super::delays::{Delays, MOST_MINUTES, MOST_SAMPLES};
use super::shell::Slowdown;
use super::{Window, WindowRule};
use crate::entry::{Basis, Entry, Family, Transport};
use crate::parameter::{Measure, Parameter};
use crate::signal::{Ack, View};
use crate::units::{Span, Time};

/// The rule: `w += GAIN` per round trip below TARGET, and `w += max(GAIN - C w (delay/TARGET - 1), -w/2)` above it.
#[derive(Clone, Debug)]
pub struct LedbatPp {
    /// TARGET, seconds.
    target: f64,
    /// The factor of the decrease.
    constant: f64,
    delays: Box<Delays>,
    phase: Phase,
}

#[derive(Clone, Copy, Debug)]
enum Phase {
    /// The first slow start, which the delay may end.
    Initial,
    /// Congestion avoidance up to a slowdown at this time.
    Until(Time),
    /// A slowdown that began at the first time, with the least window up to the second.
    Slow(Time, Time),
}

/// GAIN for a base delay in seconds, packets (section 4.2): a flow on a short path adds less, so that its queue grows no faster than Reno's.
#[must_use]
pub fn gain(base: f64, target: f64) -> f64 {
    1.0 / libm::ceil(2.0 * target / base).clamp(1.0, LEAST_GAIN)
}

impl LedbatPp {
    fn gain(&self) -> f64 {
        self.delays.base().map_or(1.0 / LEAST_GAIN, |base| gain(base.as_secs_f64(), self.target))
    }
}

impl WindowRule for LedbatPp {
    fn observe(&mut self, view: &View, _ack: &Ack) {
        self.delays.observe(view);
    }

    /// Section 4.3.
    fn ramp(&self, _w: f64) -> Option<f64> {
        Some(self.gain())
    }

    /// Section 4.3: only the first slow start ends by delay.
    fn slow_start_done(&mut self, _w: f64, _view: &View) -> bool {
        matches!(self.phase, Phase::Initial) && self.delays.queueing() > 0.75 * self.target
    }

    /// Section 4.4.
    fn slowdown(&mut self, view: &View) -> Slowdown {
        match self.phase {
            Phase::Until(next) if view.now >= next => {
                self.phase = Phase::Slow(view.now, view.now + round_trip(view) * FROZEN);
                Slowdown::Begin(LEAST)
            }
            Phase::Slow(_, thaw) if view.now < thaw => Slowdown::Hold,
            _ => Slowdown::None,
        }
    }

    /// Slow start has ended, after which a slowdown is due, or a window was cut.
    fn epoch(&mut self, _before: Option<f64>, _after: f64, view: &View) {
        self.phase = match self.phase {
            Phase::Initial => Phase::Until(view.now + round_trip(view) * FIRST),
            Phase::Slow(began, _) => Phase::Until(view.now + view.now.since(began) * PERIOD),
            until @ Phase::Until(_) => until,
        };
    }

    fn grow(&mut self, w: f64, _view: &View) -> f64 {
        let over = self.delays.queueing() / self.target - 1.0;
        let step = self.gain() - self.constant * over.max(0.0) * w;
        step.max(-w / 2.0) / w
    }

    fn cut(&mut self, w: f64, _view: &View) -> f64 {
        w / 2.0
    }

    fn floor(&self) -> Option<f64> {
        Some(LEAST)
    }

    fn inspect(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("queueing", self.delays.queueing());
        visit("slowdown", f64::from(u8::from(matches!(self.phase, Phase::Slow(..)))));
    }
}

fn round_trip(view: &View) -> Span {
    view.rtt.map_or(Span::ZERO, |rtt| rtt.smoothed)
}

/// Registered as `ledbatpp`.
pub const LEDBATPP: Entry<Window<LedbatPp>> = Entry {
    name: "ledbatpp",
    title: "LEDBAT++: 60 ms in the queue, and slowdowns to two packets for a tenth of the time, which show latecomers the empty path",
    family: Family::Baseline,
    transport: Transport::Acked,
    basis: Basis::Delay,
    source: "draft-irtf-iccrg-ledbat-plus-plus-06 section 4",
    deviations: &[
        "The initial window is the era's; the draft begins with two packets.",
        "A timeout leaves one packet and a threshold of half the window, as everywhere.",
    ],
    parameters: &[
        Parameter::quantity("target", Measure::Span, Some(TARGET), "", "queueing delay to settle at (TARGET)")
            .above(0.0),
        Parameter::number("constant", 1.0, "factor of the decrease above the target (Constant)").above(0.0),
        Parameter::number("history", 10.0, "minutes over which the smallest delay is the base delay")
            .at_least(1.0)
            .at_most(MOST_MINUTES as f64)
            .whole(),
        Parameter::number("filter", 4.0, "samples of which the smallest is the current delay")
            .at_least(1.0)
            .at_most(MOST_SAMPLES as f64)
            .whole(),
    ],
    build: |values, start| {
        let [target, constant] = ["target", "constant"].map(|name| values.number(name));
        let [history, filter] = ["history", "filter"].map(|name| values.number(name) as usize);
        let delays = Box::new(Delays::new(history, filter));
        Ok(Window::new(LedbatPp { target, constant, delays, phase: Phase::Initial }, start))
    },
    receiver: None,
};

/// Seconds.
const TARGET: f64 = 0.06;
/// Packets: the least window, and that of a slowdown.
const LEAST: f64 = 2.0;
/// The largest divisor of GAIN.
const LEAST_GAIN: f64 = 16.0;
/// Round trips from the end of the first slow start to the first slowdown.
const FIRST: u64 = 2;
/// Round trips with the least window.
const FROZEN: u64 = 2;
/// The time from one slowdown to the next, in durations of the last one: slowdowns take a tenth of the time.
const PERIOD: u64 = 9;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::{at, close, view};
    use crate::signal::Rtt;

    /// A rule on a path with the base delay and the delay in milliseconds.
    fn rule(base: u64, delay: u64) -> LedbatPp {
        let mut delays = Box::new(Delays::new(10, 1));
        for millis in [base, delay] {
            let latest = Span::from_millis(millis);
            let rtt = Rtt::fixed(latest);
            delays.observe(&View { rtt: Some(rtt), ..view(0) });
        }
        LedbatPp { target: TARGET, constant: 1.0, delays, phase: Phase::Until(at(1000)) }
    }

    #[test]
    fn gains_by_hand() {
        for (millis, divisor) in
            [(1, 16.0), (8, 15.0), (10, 12.0), (20, 6.0), (60, 2.0), (119, 2.0), (120, 1.0), (500, 1.0)]
        {
            close(gain(f64::from(millis) / 1e3, TARGET), 1.0 / divisor);
        }
    }

    /// The numbers of the tests of ns-3's implementation: 24 bytes of 1448 up at 14 480, and half a packet per packet down at 180 ms.
    #[test]
    fn steps_by_hand() {
        close(rule(20, 30).grow(10.0, &view(0)), 1.0 / 60.0);
        close(rule(20, 200).grow(10.0, &view(0)), -0.5);
        // 15 ms above the target: a quarter of the window per round trip, less the gain.
        close(rule(20, 95).grow(10.0, &view(0)), (1.0 / 6.0 - 2.5) / 10.0);
        assert_eq!(rule(10, 20).ramp(10.0), Some(1.0 / 12.0));
    }

    /// Section 4.4: two round trips at two packets, and the next after nine times as long as the slowdown took.
    #[test]
    fn slowdowns_take_a_tenth_of_the_time() {
        let mut rule = rule(100, 100);
        assert_eq!(rule.slowdown(&view(999)), Slowdown::None);
        assert_eq!(rule.slowdown(&view(1000)), Slowdown::Begin(2.0));
        assert_eq!(rule.slowdown(&view(1199)), Slowdown::Hold);
        assert_eq!(rule.slowdown(&view(1200)), Slowdown::None);
        rule.epoch(None, 40.0, &view(1500));
        assert_eq!(rule.slowdown(&view(1500 + 4499)), Slowdown::None);
        assert_eq!(rule.slowdown(&view(1500 + 4500)), Slowdown::Begin(2.0));
    }

    #[test]
    fn the_first_slowdown_follows_slow_start_after_two_round_trips() {
        let mut first = LedbatPp { phase: Phase::Initial, ..rule(100, 146) };
        assert!(first.slow_start_done(10.0, &view(500)));
        first.epoch(None, 10.0, &view(500));
        assert_eq!(first.slowdown(&view(699)), Slowdown::None);
        assert_eq!(first.slowdown(&view(700)), Slowdown::Begin(2.0));
        // The ramp after a slowdown is not ended by delay.
        assert!(!first.slow_start_done(10.0, &view(900)));
    }
}
