//! DAIMD(alpha, b): additive increase with decreasing increases, multiplicative decrease.
//!
//! Gu, Hong and Grossman, "An Analysis of AIMD Algorithms with Decreasing Increases" (daimd), section II.

use alloc::boxed::Box;
use alloc::format;
use alloc::vec::Vec;
use core::fmt::{self, Debug};

use super::decrease::{Cuts, Verdict};
use super::{Decrease, GREATEST_WINDOW, Intervals, bounded, bounded_window, cut};
use crate::control::{CongestionControl, Control, Pacing};
use crate::entry::{Basis, Entry, Family, InvalidParameter, Transport};
use crate::parameter::{Parameter, Values};
use crate::quantity::{self, QuantityError};
use crate::signal::{Ack, Cause, Congestion, Start, View};
use crate::units::{BitRate, Bytes, Packets, Rate, Span};

/// The increase alpha(x): by how much a sender at rate `x` grows in one control interval (daimd eq. 1).
///
/// It must not increase with `x` and must tend to zero; [`Daimd::new`] refuses any other.
pub trait Increase: Clone + Debug + Send + 'static {
    /// alpha(x), at least zero.
    fn alpha(&self, x: Rate) -> Rate;
}

impl Increase for fn(Rate) -> Rate {
    fn alpha(&self, x: Rate) -> Rate {
        self(x)
    }
}

/// DAIMD with the increase `A`: `x += alpha(x)` at the end of each control interval with positive and no negative feedback,
/// `x -= b x` on negative feedback (daimd eqs. 1 and 2).
///
/// The rule knows no window. So that a sender stops when nothing comes back, what may be outstanding is bounded by twice what the
/// rate puts into the path in a round trip and a control interval: the rate holds the sender as long as acknowledgements arrive
/// within two smoothed round trips, and the window once they do not. Before the first round-trip sample it is the initial window.
#[derive(Clone, Debug)]
pub struct Daimd<A> {
    increase: A,
    b: f64,
    interval: Interval,
    feedback: Feedback,
    rate: Rate,
    window: Packets,
    /// The bound before a round trip is known, and below which it never falls.
    initial_window: f64,
    max_window: f64,
    intervals: Intervals,
    cuts: Cuts,
    /// No growth of unused rates or windows, as the era has it.
    validate: bool,
}

/// Choices that DAIMD leaves open, besides alpha(x).
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Settings {
    /// The fraction of the rate removed, above 0 and below 1.
    pub b: f64,
    /// The control interval.
    pub interval: Interval,
    /// The events that count as negative feedback.
    pub feedback: Feedback,
    /// Which of it cuts.
    pub decrease: Decrease,
    /// The rate at the start; one packet per control interval (10 ms where that is a round trip) if none.
    pub initial_rate: Option<Rate>,
}

/// The control interval T.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Interval {
    /// Always this long.
    Constant(Span),
    /// A smoothed round trip, as known when the interval starts; 10 ms before the first sample.
    RoundTrip,
}

/// The events that count as negative feedback; each kind includes those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Feedback {
    /// Losses and timeouts.
    Loss,
    /// And congestion marks.
    Mark,
    /// And rising delay, where the host reports it.
    Delay,
}

/// alpha(x) is none: at `rate` it is negative, infinite or larger than at a lower rate, or it does not tend to zero.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct NotDecreasing {
    /// Where it was found out.
    pub rate: Rate,
}

impl fmt::Display for NotDecreasing {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            out,
            "the increase must never grow with the rate and must tend to zero, which fails at {:e} packets/s",
            self.rate.0
        )
    }
}

impl core::error::Error for NotDecreasing {}

/// The text of an [`Alpha`] could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AlphaError {
    /// The increase of the last stage is not 0.
    LastStage,
    /// The ends of the stages do not rise, or an increase is larger than the one before.
    Order,
    /// A rate or the exponent could not be read.
    Quantity(QuantityError),
    /// It is neither a power nor a list of stages.
    Syntax,
}

/// The accepted range.
impl fmt::Display for AlphaError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LastStage => out.write_str("a last stage of 0"),
            Self::Order => out.write_str("stages whose ends rise and whose increases do not"),
            Self::Quantity(error) => write!(out, "{} in the place of `{}`, as in {SYNTAX}", error.expected, error.text),
            Self::Syntax => out.write_str(SYNTAX),
        }
    }
}

impl core::error::Error for AlphaError {}

impl From<QuantityError> for AlphaError {
    fn from(error: QuantityError) -> Self {
        Self::Quantity(error)
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            b: 1.0 / 9.0,
            interval: Interval::Constant(DEFAULT_INTERVAL),
            feedback: Feedback::Mark,
            decrease: Decrease::PerInterval,
            initial_rate: None,
        }
    }
}

impl<A: Increase> Daimd<A> {
    /// DAIMD with the increase `increase`.
    ///
    /// # Errors
    /// At some power of two from 2^-20 to 2^1000 packets/s the increase is larger than at the one before, negative or not finite,
    /// or at the last it is not below 0.001 of the first, so that it does not visibly tend to zero.
    pub fn new(increase: A, settings: Settings, start: &Start) -> Result<Self, NotDecreasing> {
        check(&increase)?;
        let span = match settings.interval {
            Interval::Constant(span) => span,
            Interval::RoundTrip => DEFAULT_INTERVAL,
        };
        let rate = settings.initial_rate.unwrap_or(Packets(1.0) / span);
        let max_window = bounded_window(start.max_window.0, GREATEST_WINDOW).0;
        Ok(Self {
            increase,
            b: settings.b,
            interval: settings.interval,
            feedback: settings.feedback,
            rate: bounded(rate.0),
            window: bounded_window(start.window.0, max_window),
            initial_window: start.window.0,
            max_window,
            intervals: Intervals::new(span),
            cuts: Cuts::new(settings.decrease, start.seed),
            validate: start.policy.holds_rates(),
        })
    }

    /// The increase inside.
    pub fn increase(&self) -> &A {
        &self.increase
    }

    fn pass(&mut self, view: &View) {
        if let (Interval::RoundTrip, Some(rtt)) = (self.interval, view.rtt) {
            self.intervals.set_span(rtt.smoothed);
        }
        if self.intervals.pass(view.now) {
            self.rate = bounded(self.rate.0 + self.increase.alpha(self.rate).0);
        }
    }

    fn bound(&mut self, view: &View) {
        if let Some(rtt) = view.rtt {
            let interval = match self.interval {
                Interval::Constant(span) => span,
                Interval::RoundTrip => rtt.smoothed,
            };
            let outstanding = self.rate * (rtt.smoothed + interval) * OUTSTANDING;
            self.window = bounded_window(outstanding.0.max(self.initial_window), self.max_window);
        }
    }
}

impl<A: Increase> CongestionControl for Daimd<A> {
    fn control(&self) -> Control {
        Control { pacing: Pacing::At(self.rate), wake: self.intervals.wake(), ..Control::window(self.window) }
    }

    fn on_ack(&mut self, view: &View, _ack: &Ack) {
        self.pass(view);
        // What comes back of a rate that was not used says nothing of a higher one.
        if !(self.validate && view.is_underused()) {
            self.intervals.positive();
        }
        self.bound(view);
    }

    fn on_congestion(&mut self, view: &View, event: &Congestion) {
        self.pass(view);
        let kind = match event.cause {
            Cause::Loss | Cause::Timeout => Feedback::Loss,
            Cause::Mark => Feedback::Mark,
            Cause::Delay => Feedback::Delay,
        };
        if kind > self.feedback {
            return;
        }
        let first_of_interval = self.intervals.negative();
        if self.cuts.judge(event.first, view.next, first_of_interval) != Verdict::Pass {
            self.rate = cut(self.rate, self.rate.0 * (1.0 - self.b));
        }
        self.bound(view);
    }

    fn on_wake(&mut self, view: &View) {
        self.pass(view);
        self.bound(view);
    }

    fn inspect(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("alpha", self.increase.alpha(self.rate).0);
    }

    fn boxed_clone(&self) -> Box<dyn CongestionControl> {
        Box::new(self.clone())
    }
}

/// An increase that can be written down, in packets per second.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Alpha {
    /// `scale` up to the rate `from`, then falling as `(x / from)^-exponent`.
    Power {
        /// The largest increase, packets/s per interval.
        scale: f64,
        /// Where it begins to fall, packets/s.
        from: f64,
        /// Above zero.
        exponent: f64,
    },
    /// Constant between breakpoints.
    Stages {
        /// Each stage's increase and the rate at which it ends; a stage does not contain its end.
        stages: Box<[Stage]>,
        /// The increase from the last breakpoint on.
        last: f64,
    },
}

/// A stage of constant increase.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Stage {
    /// Packets/s per interval.
    pub increase: f64,
    /// Packets/s; the next stage starts here.
    pub below: f64,
}

impl Alpha {
    /// Reads `1.2mbit@10mbit^-0.5` or `1.2mbit..90mbit..120kbit..99mbit..0`, for packets of size `packet`.
    ///
    /// The first is 1.2 Mbit/s per interval up to a rate of 10 Mbit/s, from there on falling with the power -0.5 of the rate. The
    /// second is 1.2 Mbit/s per interval below 90 Mbit/s, 120 kbit/s below 99 Mbit/s, and nothing from there on.
    ///
    /// # Errors
    /// The text has neither form, a rate lacks its unit, the ends of the stages do not rise, an increase is larger than the one
    /// before, or the last stage is not 0.
    pub fn parse(text: &str, packet: Bytes) -> Result<Self, AlphaError> {
        let rate = |text: &str| match text.trim() {
            "0" => Ok(0.0),
            text => quantity::bit_rate(text).map(|rate| rate.to_packets(packet).0),
        };
        if let Some((scale, rest)) = text.split_once('@') {
            let (from, exponent) = rest.split_once("^-").ok_or(AlphaError::Syntax)?;
            let exponent = quantity::number(exponent)?;
            return match (rate(scale)?, rate(from)?) {
                (scale, from) if from > 0.0 && exponent > 0.0 => Ok(Self::Power { scale, from, exponent }),
                _ => Err(AlphaError::Syntax),
            };
        }
        let numbers = text.split("..").map(rate).collect::<Result<Vec<f64>, QuantityError>>()?;
        let (pairs, [last]) = numbers.as_chunks::<2>() else { return Err(AlphaError::Syntax) };
        let stages: Box<[Stage]> = pairs.iter().map(|&[increase, below]| Stage { increase, below }).collect();
        if !stages.is_sorted_by(|one, next| one.below < next.below && one.increase >= next.increase) {
            return Err(AlphaError::Order);
        }
        // The last stage has no end: only nothing tends to zero there.
        if *last == 0.0 { Ok(Self::Stages { stages, last: 0.0 }) } else { Err(AlphaError::LastStage) }
    }
}

impl Increase for Alpha {
    fn alpha(&self, x: Rate) -> Rate {
        Rate(match self {
            Self::Power { scale, from, exponent } => scale * libm::pow((x.0 / from).max(1.0), -exponent),
            Self::Stages { stages, last } => {
                stages.iter().find(|stage| x.0 < stage.below).map_or(*last, |stage| stage.increase)
            }
        })
    }
}

/// Registered as `daimd`.
pub const DAIMD: Entry<Daimd<Alpha>> = Entry {
    name: "daimd",
    title: "AIMD of a rate with decreasing increases: DAIMD(alpha, b)",
    family: Family::Core,
    transport: Transport::Reported,
    basis: Basis::Losses,
    source: "daimd section II, eqs. 1 and 2",
    deviations: &[
        "a window of twice the rate times (round trip + interval) stops a sender without feedback; the paper has none",
        "a cut does not go below one packet per second, or nothing would ever come back",
        "an acknowledgement is no positive feedback while application or receiver hold the sender, except in eras of ns-2",
        "section II assumes at most one negative feedback per interval: where a host gives more, only the first cuts",
        "the paper names no increase: the default is an example that suits 10 Mbit/s to 1 Gbit/s",
    ],
    parameters: &[
        Parameter::text("alpha", "120kbit@10mbit^-0.5", SYNTAX, "increase per interval as a function of the rate"),
        Parameter::number("b", 1.0 / 9.0, "fraction of the rate removed").above(0.0).below(1.0),
        Parameter::text("interval", "10ms", INTERVAL, "control interval"),
        Parameter::choice("feedback", &["mark", "loss", "delay"], "loss; mark: and marks; delay: and marks and delay"),
        Parameter::choice("decrease", &["per-interval", "per-nak", "per-epoch"], "which negative feedback cuts"),
        Parameter::bit_rate("initial_rate", "rate at the start; otherwise one packet per interval"),
    ],
    build: |values, start| {
        let increase =
            Alpha::parse(values.text("alpha"), start.packet).map_err(|error| InvalidParameter::new("alpha", error))?;
        let settings = settings(values, start).ok_or_else(|| InvalidParameter::new("interval", INTERVAL))?;
        Daimd::new(increase, settings, start).map_err(|NotDecreasing { rate }| {
            let accepted = "an increase that never grows with the rate and tends to zero: not so at";
            InvalidParameter::new("alpha", format!("{accepted} {:e} packets/s", rate.0))
        })
    },
    receiver: None,
};

/// None if the interval is not [`INTERVAL`].
fn settings(values: &Values, start: &Start) -> Option<Settings> {
    let interval = match values.text("interval") {
        "rtt" => Interval::RoundTrip,
        text => Interval::Constant(quantity::span(text).ok().filter(|span| *span >= SHORTEST_INTERVAL)?),
    };
    Some(Settings {
        b: values.number("b"),
        interval,
        feedback: match values.choice("feedback") {
            "loss" => Feedback::Loss,
            "delay" => Feedback::Delay,
            _ => Feedback::Mark,
        },
        decrease: match values.choice("decrease") {
            "per-nak" => Decrease::PerNak,
            "per-epoch" => Decrease::PerEpoch,
            _ => Decrease::PerInterval,
        },
        initial_rate: start
            .rate
            .or_else(|| values.given("initial_rate").map(|rate| BitRate(rate).to_packets(start.packet))),
    })
}

/// Sees whether `increase` is one, on a grid of powers of two.
fn check(increase: &impl Increase) -> Result<(), NotDecreasing> {
    let at = |power: i32| (Rate(libm::ldexp(1.0, power)), increase.alpha(Rate(libm::ldexp(1.0, power))).0);
    let (_, first) = at(LOWEST_POWER);
    let mut before = f64::MAX;
    for power in LOWEST_POWER..=HIGHEST_POWER {
        let (rate, alpha) = at(power);
        if !(0.0..=before).contains(&alpha) {
            return Err(NotDecreasing { rate });
        }
        before = alpha;
    }
    if before >= first * VANISHING {
        return Err(NotDecreasing { rate: at(HIGHEST_POWER).0 });
    }
    Ok(())
}

/// UDT's control interval, the only one the paper evaluates.
const DEFAULT_INTERVAL: Span = Span::from_millis(10);
/// Shorter ones would wake a host for every packet and more.
const SHORTEST_INTERVAL: Span = Span::from_micros(10);
/// The accepted intervals.
const INTERVAL: &str = "a time of at least 10us, such as `10ms`, or `rtt`";
/// How many times what a round trip and an interval carry may be outstanding. Twice: a round trip that doubles at once by
/// queueing is not yet a reason to stop.
const OUTSTANDING: f64 = 2.0;
/// A packet in twelve days: below any rate.
const LOWEST_POWER: i32 = -20;
/// Near the end of the range of doubles, so that even x^-0.01 has fallen to 0.001.
const HIGHEST_POWER: i32 = 1000;
const VANISHING: f64 = 1e-3;
const SYNTAX: &str = "`1.2mbit@10mbit^-0.5` (falling as a power of the rate from 10 Mbit/s on) or \
                      `1.2mbit..90mbit..120kbit..99mbit..0` (stages, each up to the rate behind it)";

#[cfg(test)]
mod tests {
    use std::string::ToString;
    use std::vec::Vec;

    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;
    use crate::rate::udt;
    use crate::registry::Spec;
    use crate::signal::{Limit, Rtt};
    use crate::units::Time;

    const PACKET: Bytes = Bytes(1250);

    fn view(millis: u64, rtt: Option<u64>) -> View {
        let rtt = rtt.map(Span::from_millis).map(|rtt| Rtt {
            latest: rtt,
            smoothed: rtt,
            variation: Span::ZERO,
            min: rtt,
            ack_delay: Span::ZERO,
        });
        View {
            now: Time::ZERO + Span::from_millis(millis),
            next: 100,
            in_flight: 10,
            in_recovery: false,
            delivered: 90,
            lost: 0,
            rtt,
            timeout: None,
            round: 1,
            limit: Limit::Rate,
            peer_window: Packets(f64::INFINITY),
            packet: PACKET,
            payload: PACKET,
        }
    }

    fn ack() -> Ack {
        Ack::new(1, Time::ZERO)
    }

    fn parse(text: &str) -> Result<Alpha, AlphaError> {
        Alpha::parse(text, PACKET)
    }

    /// Increases at these rates, in bit/s.
    fn increases<const N: usize>(text: &str, rates: [f64; N]) -> [f64; N] {
        let alpha = parse(text).expect("valid");
        rates.map(|rate| alpha.alpha(BitRate(rate).to_packets(PACKET)).to_bits(PACKET).0)
    }

    #[test]
    fn stages_are_open_to_the_right() {
        let text = "1mbit..90mbit..100kbit..99mbit..0";
        let rates = [0.0, 89.99e6, 90e6, 98.99e6, 99e6, 1e12];
        assert_eq!(increases(text, rates), [1e6, 1e6, 1e5, 1e5, 0.0, 0.0]);
    }

    #[test]
    fn a_power_falls_from_where_it_starts() {
        let found = increases("1mbit@10mbit^-1/2", [0.0, 10e6, 40e6, 1e9]);
        for (found, expected) in found.into_iter().zip([1e6, 1e6, 5e5, 1e5]) {
            assert!((found - expected).abs() < 1e-6 * expected, "{found} for {expected}");
        }
    }

    #[test]
    fn an_increase_that_is_none_is_refused() {
        let refused = |alpha: &str| {
            let error = Spec::parse(&["daimd:alpha=", alpha].concat()).expect_err("must be refused");
            error.to_string().split_once("accepted is ").expect("says what is accepted").1.to_string()
        };
        assert_eq!(refused("1mbit..10mbit..100kbit"), "a last stage of 0");
        let order = "stages whose ends rise and whose increases do not";
        assert_eq!(refused("1mbit..10mbit..2mbit..20mbit..0"), order);
        assert_eq!(refused("1mbit..10mbit..1mbit..10mbit..0"), order);
        for text in ["1mbit..10mbit", "1mbit@10mbit", "1mbit@10mbit^-0", "1mbit@0^-1"] {
            assert!(refused(text).contains("(falling as a power"), "{text}: {}", refused(text));
        }
        let missing =
            "a rate with its unit, such as `100mbit`, `2.5 Gbit/s` or `9600bit` in the place of `1`, as in `1.2mbit@";
        assert!(refused("1..2mbit..0").starts_with(missing), "{}", refused("1..2mbit..0"));
        assert!(refused("abc@10mbit^-1").contains(" in the place of `abc`, as in "));
        assert!(refused("1mbit@10mbit^-x").starts_with("a number such as `0.5`, `1e-3` or `1/16` in the place of `x`"));
        assert!(refused("0..10mbit..0").contains("tends to zero"), "nothing that never grows");
    }

    #[test]
    fn functions_are_increases_too() {
        let start = Start::default();
        let new = |increase: fn(Rate) -> Rate| Daimd::new(increase, Settings::default(), &start).map(|_| ());
        assert_eq!(new(|x| Rate(1000.0 / (1.0 + x.0))), Ok(()));
        assert!(new(|_| Rate(1.0)).is_err(), "does not tend to zero: AIMD");
        assert!(new(|x| Rate(0.01 * x.0)).is_err(), "grows with the rate: MIMD");
        let dips = new(|x| Rate(if (8.0..1000.0).contains(&x.0) { 0.5 } else { 1.0 / (1.0 + x.0 / 1e6) }));
        assert_eq!(dips, Err(NotDecreasing { rate: Rate(1024.0) }));
        assert!(new(|x| Rate(1.0 - x.0)).is_err(), "below zero");
    }

    #[test]
    fn one_increase_per_interval_and_one_cut_per_feedback() {
        let spec =
            Spec::parse("daimd:alpha=1mbit..50mbit..0,b=1/2,initial_rate=10mbit,decrease=per-nak").expect("valid");
        let mut daimd = spec.start(&Start { packet: PACKET, ..Start::default() });
        let rate = |daimd: &crate::Algorithm| match daimd.control().pacing {
            Pacing::At(rate) => rate.to_bits(PACKET).0,
            other => panic!("{other:?}"),
        };
        daimd.on_ack(&view(0, Some(40)), &ack());
        daimd.on_ack(&view(4, Some(40)), &ack());
        assert_eq!(rate(&daimd), 10e6);
        assert_eq!(daimd.control().wake, Some(Time::ZERO + Span::from_millis(10)));
        daimd.on_wake(&view(10, Some(40)));
        assert_eq!(rate(&daimd), 11e6);
        // 2 * 1100 packets/s * (40 + 10) ms.
        assert!((daimd.control().window.0 - 110.0).abs() < 1e-9);

        daimd.on_ack(&view(12, Some(40)), &ack());
        daimd.on_congestion(&view(13, Some(40)), &Congestion::loss(50, 1));
        daimd.on_congestion(&view(14, Some(40)), &Congestion::mark(51));
        daimd.on_congestion(&view(15, Some(40)), &Congestion::delay(52));
        daimd.on_wake(&view(20, Some(40)));
        assert_eq!(rate(&daimd), 2.75e6, "two cuts by half; delay is not listened to; no increase");
        daimd.on_ack(&view(65, Some(40)), &ack());
        daimd.on_wake(&view(70, Some(40)));
        assert_eq!(rate(&daimd), 3.75e6);
    }

    #[test]
    fn an_interval_of_a_round_trip() {
        let spec = Spec::parse("daimd:alpha=1mbit..50mbit..0,interval=rtt,initial_rate=10mbit").expect("valid");
        let mut daimd = spec.start(&Start::default());
        daimd.on_ack(&view(0, Some(40)), &ack());
        assert_eq!(daimd.control().wake, Some(Time::ZERO + Span::from_millis(40)));
        daimd.on_ack(&view(41, Some(60)), &ack());
        assert_eq!(daimd.control().wake, Some(Time::ZERO + Span::from_millis(100)));
    }

    #[test]
    fn parameters_out_of_their_range_are_refused() {
        for text in ["daimd:interval=1us", "daimd:interval=ten", "daimd:b=1", "daimd:feedback=none"] {
            assert!(Spec::parse(text).is_err(), "{text}");
        }
    }

    fn jain(x: &[f64]) -> f64 {
        let sum: f64 = x.iter().sum();
        sum * sum / (x.len() as f64 * x.iter().map(|x| x * x).sum::<f64>())
    }

    proptest! {
        /// daimd section II: "an increase of x according to (1) increases FI", where x + alpha(x) does not fall.
        #[test]
        fn steps_and_fairness(x in vec(1e-3..1e6_f64, 2..50), scale in 1e-3..1e3_f64) {
            let cut: Vec<f64> = x.iter().map(|x| x * 8.0 / 9.0).collect();
            prop_assert!((jain(&cut) - jain(&x)).abs() <= 1e-12);

            let alpha = Alpha::Power { scale, from: scale, exponent: 0.5 };
            let grown: Vec<f64> = x.iter().map(|x| x + alpha.alpha(Rate(*x)).0).collect();
            prop_assert!(jain(&grown) >= jain(&x) - 1e-12);
        }

        /// UDT's steps let two nearly equal flows swap order at a stage; for a capacity of 10^e that costs less than 1e-6.
        #[test]
        fn udt_steps_and_fairness(shares in vec(1e-6..1.0_f64, 2..50), e in 6..11) {
            let capacity = libm::exp10(f64::from(e));
            let grow = |rate: &f64| rate + udt::increase(BitRate(capacity - rate), Bytes(1500)).0 * 1500.0 * 8.0 * 100.0;
            let x: Vec<f64> = shares.iter().map(|share| share * capacity).collect();
            let grown: Vec<f64> = x.iter().map(grow).collect();
            prop_assert!(jain(&grown) >= jain(&x) - 1e-6);
        }
    }
}
