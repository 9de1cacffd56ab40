//! The tables of traffic: rates that change in steps, times between arrivals, and sizes of flows.

use cwnd::notation::{Form, Notation};
use cwnd::quantity;
use cwnd::registry::{InvalidParameter, Measure, Parameter, Values};
use cwnd::{Bytes, Packets, Span};

use crate::traffic::{Interarrival, RateChange, RateSchedule, Sizes, Video};

/// Every rule by which the rate of a source changes.
pub static RATE_SCHEDULES: Notation<RateSchedule> = Notation {
    what: "a rate over time",
    forms: &[
        CBR,
        Form {
            name: "square",
            aliases: &["on-off", "onoff"],
            title: "two rates in turn",
            example: "square:10mbit,5mbit,step=5s",
            positional: 2,
            required: 3,
            parameters: &[
                RATE,
                Parameter::text("other", "", BITS, "the rate of every other step"),
                STEP,
                FLOOR,
                CEILING,
                REST_OF,
            ],
            build: |values| stepping(values, RateChange::Square(bits(values, "other")?)),
            ..CBR
        },
        Form {
            name: "walk",
            aliases: &["random-walk"],
            title: "a random walk: uniform within `reach` of the rate before, zero where that is negative",
            example: "walk:10mbit,reach=5mbit,step=5s",
            required: 3,
            parameters: &[RATE, REACH, STEP, FLOOR, CEILING, REST_OF],
            build: |values| stepping(values, RateChange::Walk(bits(values, "reach")?)),
            ..CBR
        },
        Form {
            name: "uniform",
            aliases: &["random"],
            title: "uniform between zero and the first rate",
            example: "uniform:10mbit,step=5s",
            required: 2,
            parameters: &[RATE, STEP, FLOOR, CEILING, REST_OF],
            build: |values| stepping(values, RateChange::Uniform),
            ..CBR
        },
        Form {
            name: "additive-walk",
            aliases: &[],
            title: "uniform between zero and `reach` above the rate before",
            example: "additive-walk:1mbit,reach=250kbit,step=5s",
            required: 3,
            parameters: &[RATE, REACH, STEP, FLOOR, CEILING, REST_OF],
            build: |values| stepping(values, RateChange::AdditiveWalk(bits(values, "reach")?)),
            ..CBR
        },
        Form {
            name: "multiplicative-walk",
            aliases: &[],
            title: "uniform between zero and `factor` times the rate before; it decays to zero without a `floor`",
            example: "multiplicative-walk:1mbit,factor=5/3,step=5s,floor=50kbit",
            required: 3,
            parameters: &[
                RATE,
                Parameter::derived("factor", "", "the largest ratio of a rate to the one before").above(0.0),
                STEP,
                FLOOR,
                CEILING,
                REST_OF,
            ],
            build: |values| stepping(values, RateChange::MultiplicativeWalk(values.number("factor"))),
            ..CBR
        },
        Form {
            name: "video",
            aliases: &["frames", "i-frames"],
            title: "frames of this size, each at once, with a key frame (I-frame) first and then in turn; a packet that a frame does not fill \
                    leaves with the next one",
            example: "video:3750B,key=10,every=30,fps=30",
            parameters: &[
                Parameter::quantity("frame", Measure::Bytes, None, "", "the size of a frame, headers included")
                    .at_least(1.0)
                    .at_most(1e9),
                Parameter::number("key", 10.0, "the size of a key frame as a multiple of that")
                    .at_least(1.0)
                    .at_most(1e6),
                Parameter::number("every", 30.0, "frames from one key frame to the next")
                    .at_least(1.0)
                    .at_most(1e6)
                    .whole(),
                Parameter::number("fps", 30.0, "frames per second").above(0.0).at_most(1000.0),
            ],
            build: |values| {
                let (frame, per_second) = (values.number("frame"), values.number("fps"));
                let key = libm::round(frame * values.number("key"));
                if key > 1e9 {
                    return Err(InvalidParameter::new("key", "a key frame of at most 1 GB"));
                }
                let every = values.number("every") as u32;
                Ok(RateSchedule::video(Video { frame: frame as u64, key: key as u64, every, per_second }))
            },
            ..CBR
        },
    ],
    elsewhere: &[],
};

/// The mean times between arrivals of a Poisson process.
pub static INTERARRIVALS: Notation<Interarrival> = Notation {
    what: "a mean time between arrivals",
    forms: &[
        Form {
            name: "",
            aliases: &["constant", "poisson"],
            title: "this mean time",
            source: "",
            example: "30ms",
            positional: 1,
            required: 1,
            parameters: &[Parameter::quantity("mean", Measure::Span, None, "", "the mean time").above(0.0)],
            build: |values| Ok(Interarrival::Constant(time(values, "mean"))),
        },
        Form {
            name: "square",
            aliases: &[],
            title: "two mean times in turn",
            source: "",
            example: "square:30ms,10ms,step=5s",
            positional: 2,
            required: 3,
            parameters: &[
                Parameter::quantity("first", Measure::Span, None, "", "the mean time of the first step").above(0.0),
                Parameter::quantity("second", Measure::Span, None, "", "the mean time of the second").above(0.0),
                STEP,
            ],
            build: |values| {
                let [first, second, step] = ["first", "second", "step"].map(|name| time(values, name));
                Ok(Interarrival::Square { means: [first, second], step })
            },
        },
    ],
    elsewhere: &[],
};

/// Packets, or bytes of the application, before the payload of a packet is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Amount {
    /// Packets; above 0 and at most 1e15.
    Packets(f64),
    /// Bytes; at least 1 and at most 9e15.
    Bytes(u64),
}

impl Amount {
    /// Its packets of `payload`, not rounded.
    #[must_use]
    pub fn packets(self, payload: Bytes) -> f64 {
        match self {
            Self::Packets(packets) => packets,
            Self::Bytes(bytes) => bytes as f64 / f64::from(payload.0.max(1)),
        }
    }

    /// Its packets of `payload`, the last of which may be a part of one.
    #[must_use]
    pub fn whole_packets(self, payload: Bytes) -> u64 {
        match self {
            Self::Packets(packets) => packets as u64,
            Self::Bytes(bytes) => bytes.div_ceil(u64::from(payload.0.max(1))),
        }
    }
}

/// The distribution of the sizes of flows, before the payload of a packet is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FlowSizes {
    /// All the same; of whole packets if in packets.
    Constant(Amount),
    /// Those of [`Sizes::Pareto`].
    Pareto {
        /// Of the unrounded sizes.
        mean: Amount,
        /// Above 1.
        shape: f64,
    },
}

impl FlowSizes {
    /// These sizes in packets of `payload`.
    #[must_use]
    pub fn of(self, payload: Bytes) -> Sizes {
        match self {
            Self::Constant(size) => Sizes::Constant(size.whole_packets(payload)),
            Self::Pareto { mean, shape } => Sizes::Pareto { mean: mean.packets(payload), shape },
        }
    }
}

/// The distributions of the sizes of flows.
pub static SIZES: Notation<FlowSizes> = Notation {
    what: "the size of flows",
    forms: &[
        Form {
            name: "",
            aliases: &["constant"],
            title: "all alike",
            source: "",
            example: "10p",
            positional: 1,
            required: 1,
            parameters: &[Parameter::text("size", "", SIZE, "the size of each flow")],
            build: |values| {
                let size = whole_amount(values.text("size"));
                Ok(FlowSizes::Constant(size.ok_or_else(|| InvalidParameter::new("size", SIZE))?))
            },
        },
        Form {
            name: "pareto",
            aliases: &["heavy-tailed"],
            title: "Pareto, rounded up to whole packets; the variance is infinite up to a `shape` of 2",
            source: "",
            example: "pareto:30p,shape=1.35",
            positional: 1,
            required: 2,
            parameters: &[
                Parameter::text("mean", "", MEAN, "the mean size"),
                Parameter::derived("shape", "", "the exponent of the tail").above(1.0),
            ],
            build: |values| {
                let mean = amount(values.text("mean")).ok_or_else(|| InvalidParameter::new("mean", MEAN))?;
                Ok(FlowSizes::Pareto { mean, shape: values.number("shape") })
            },
        },
    ],
    elsewhere: &[],
};

/// A number of packets above zero with its unit, such as `10p`; at most 1e15.
#[must_use]
pub fn packets(text: &str) -> Option<Packets> {
    let (number, unit) = quantity::split(text);
    let number = quantity::number(number).ok().filter(|number| *number > 0.0 && *number <= MAX_PACKETS)?;
    matches!(unit, "p" | "packets").then_some(Packets(number))
}

/// Whole packets or bytes with their unit, such as `10p` or `64kB`: 1 to 1e15 packets, or 1 to 9e15 bytes.
#[must_use]
pub fn whole_amount(text: &str) -> Option<Amount> {
    amount(text).filter(|amount| !matches!(amount, Amount::Packets(packets) if packets.fract() != 0.0))
}

fn amount(text: &str) -> Option<Amount> {
    let packets = packets(text).map(|packets| Amount::Packets(packets.0));
    packets.or_else(|| quantity::memory(text).ok().map(Amount::Bytes))
}

const CBR: Form<RateSchedule> = Form {
    name: "cbr",
    aliases: &["constant"],
    title: "always the same rate",
    source: "",
    example: "cbr:2mbit",
    positional: 1,
    required: 1,
    parameters: &[RATE, FLOOR, CEILING, REST_OF],
    build: |values| bounded(values, RateSchedule::constant(bits(values, "rate")?)),
};

const BITS: &str = "a rate with its unit, or `0`";
const BITS_OR_NONE: &str = "a rate with its unit, `0` or `none`";
const RATE: Parameter = Parameter::text("rate", "", BITS, "the rate of the first step");
const REACH: Parameter = Parameter::text("reach", "", BITS, "the largest change upwards");
const STEP: Parameter = Parameter::quantity("step", Measure::Span, None, "", "the length of a step").above(0.0);
const FLOOR: Parameter = Parameter::text("floor", "0", BITS, "a lower rate becomes this");
const CEILING: Parameter = Parameter::text("ceiling", "1000tbit", BITS, "a higher rate becomes this");
const REST_OF: Parameter =
    Parameter::text("rest_of", "none", BITS_OR_NONE, "the source sends what the schedule leaves of this rate");
const MEAN: &str = "packets above zero or bytes, such as `30p` or `40kB`";
const SIZE: &str = "whole packets from `1p` to `1e15p`, or bytes from `1B` to `9000TB`";

/// The packets of an exabyte, far below the 2^53 up to which a number is exact.
const MAX_PACKETS: f64 = 1e15;

fn stepping(values: &Values, change: RateChange) -> Result<RateSchedule, InvalidParameter> {
    bounded(values, RateSchedule::stepping(bits(values, "rate")?, time(values, "step"), change))
}

fn bounded(values: &Values, schedule: RateSchedule) -> Result<RateSchedule, InvalidParameter> {
    let rest_of = match values.text("rest_of") {
        "none" => None,
        text => Some(whole(text).ok_or_else(|| InvalidParameter::new("rest_of", BITS_OR_NONE))?),
    };
    Ok(RateSchedule { floor: bits(values, "floor")?, ceiling: bits(values, "ceiling")?, rest_of, ..schedule })
}

fn bits(values: &Values, parameter: &'static str) -> Result<u64, InvalidParameter> {
    whole(values.text(parameter)).ok_or_else(|| InvalidParameter::new(parameter, BITS))
}

/// Whole bit/s; zero needs no unit.
fn whole(text: &str) -> Option<u64> {
    if text == "0" { Some(0) } else { quantity::bit_rate(text).ok().map(|rate| rate.0.round() as u64) }
}

fn time(values: &Values, parameter: &str) -> Span {
    Span::from_secs_f64(values.number(parameter))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MBIT: u64 = 1_000_000;

    fn refusal(text: &str) -> String {
        RATE_SCHEDULES.read(text).expect_err(text).expected.into_owned()
    }

    #[test]
    fn schedules() {
        let five = Span::from_secs(5);
        let read = |text| RATE_SCHEDULES.read(text).ok();
        assert_eq!(read("cbr:2mbit"), Some(RateSchedule::constant(2 * MBIT)));
        let square = RateSchedule::stepping(10 * MBIT, five, RateChange::Square(0));
        assert_eq!(read("square: 10mbit, 0, step=5s"), Some(square));
        let walk = RateSchedule { floor: 50_000, ..RateSchedule::stepping(MBIT, five, RateChange::Walk(500_000)) };
        assert_eq!(read("walk:1mbit,reach=500kbit,step=5s,floor=50kbit"), Some(walk));
        let rest = RateSchedule {
            ceiling: 3 * MBIT,
            rest_of: Some(10 * MBIT),
            ..RateSchedule::stepping(MBIT, five, RateChange::Uniform)
        };
        assert_eq!(read("uniform:1mbit,step=5s,rest_of=10mbit,ceiling=3mbit"), Some(rest));
        let factor =
            RateSchedule { floor: 1, ..RateSchedule::stepping(MBIT, five, RateChange::MultiplicativeWalk(5.0 / 3.0)) };
        assert_eq!(read("multiplicative-walk:1mbit,factor=5/3,step=5s,floor=1bit"), Some(factor));
        let video = Video { frame: 2000, key: 5000, every: 15, per_second: 24.5 };
        assert_eq!(read("video:2kB,key=2.5,every=15,fps=24.5"), Some(RateSchedule::video(video)));
        let usual = Video { frame: 1000, key: 10_000, every: 30, per_second: 30.0 };
        assert_eq!(read("video:1kB"), Some(RateSchedule::video(usual)));
        for text in [
            "video:0B",
            "video:2GB",
            "video:1B,key=0.5",
            "video:2kB,key=1e6,every=1",
            "video:1kB,fps=0",
            "video:1kB,fps=NaN",
        ]
        .into_iter()
        .chain([
            "video:1kB,every=0",
            "video:1kB,every=1.5",
            "video:1kB,fps=1e4",
            "video:-1B",
            "video:1kB,floor=1bit",
            "video",
        ]) {
            assert_eq!(read(text), None, "{text}");
        }
        for text in [
            "2mbit",
            "cbr:2",
            "cbr:2mbit,step=5s",
            "square:10mbit,step=5s",
            "square:10mbit,5mbit",
            "uniform:1mbit,step=0s",
            "walk:1mbit,reach=1mbit,factor=2,step=5s",
            "walk:1mbit,reach=1mbit,reach=1mbit,step=5s",
            "additive-walk:1mbit,step=5s",
            "sine:1mbit,step=5s",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn every_text_of_the_scenarios_reads_as_it_did() {
        let rest = |total, schedule| RateSchedule { rest_of: Some(total * MBIT), ..schedule };
        let square =
            |first, second| RateSchedule::stepping(first * MBIT, Span::from_secs(5), RateChange::Square(second * MBIT));
        let walk = RateSchedule::stepping(10 * MBIT, Span::from_secs(5), RateChange::Walk(5 * MBIT));
        for (text, schedule) in [
            ("cbr:1mbit", RateSchedule::constant(MBIT)),
            ("cbr:20mbit", RateSchedule::constant(20 * MBIT)),
            ("cbr:500mbit", RateSchedule::constant(500 * MBIT)),
            ("square:10mbit,5mbit,step=5s", square(10, 5)),
            ("square:2mbit,20mbit,step=5s,rest_of=20mbit", rest(20, square(2, 20))),
            ("square:10mbit,100mbit,step=5s,rest_of=100mbit", rest(100, square(10, 100))),
            (
                "walk:10mbit,reach=5mbit,step=5s,floor=500kbit,ceiling=100mbit,rest_of=100mbit",
                rest(100, RateSchedule { floor: MBIT / 2, ceiling: 100 * MBIT, ..walk }),
            ),
        ] {
            assert_eq!(RATE_SCHEDULES.read(text), Ok(schedule), "{text}");
        }
    }

    #[test]
    fn sizes_and_times_between_arrivals() {
        let sizes = |text| SIZES.read(text).map(|sizes| sizes.of(Bytes(1000)));
        assert_eq!(sizes("pareto:30p,shape=1.35"), Ok(Sizes::Pareto { mean: 30.0, shape: 1.35 }));
        assert_eq!(sizes("pareto:1.5kB,shape=1.35"), Ok(Sizes::Pareto { mean: 1.5, shape: 1.35 }));
        assert_eq!((sizes("7p"), sizes("7001B")), (Ok(Sizes::Constant(7)), Ok(Sizes::Constant(8))));
        for text in ["pareto:30p", "pareto:30p,shape=1", "pareto:30,shape=2", "0p", "1.5p", "7", "0B", "9001TB"] {
            assert!(SIZES.read(text).is_err(), "{text}");
        }
        let [thirty, ten] = [30, 10].map(Span::from_millis);
        assert_eq!(INTERARRIVALS.read("30ms"), Ok(Interarrival::Constant(thirty)));
        let square = Interarrival::Square { means: [thirty, ten], step: Span::from_secs(5) };
        assert_eq!(INTERARRIVALS.read("square:30ms,10ms,step=5s"), Ok(square));
        for text in ["0s", "square:30ms,step=5s", "square:30ms,0s,step=5s", "30"] {
            assert!(INTERARRIVALS.read(text).is_err(), "{text}");
        }
    }

    #[test]
    fn every_example_is_read() {
        RATE_SCHEDULES
            .forms
            .iter()
            .for_each(|form| assert!(RATE_SCHEDULES.read(form.example).is_ok(), "{}", form.example));
        INTERARRIVALS
            .forms
            .iter()
            .for_each(|form| assert!(INTERARRIVALS.read(form.example).is_ok(), "{}", form.example));
        SIZES.forms.iter().for_each(|form| assert!(SIZES.read(form.example).is_ok(), "{}", form.example));
        assert_eq!(RATE_SCHEDULES.read("cbr:1mbit").map(|read| read.ceiling), Ok(crate::net::setup::MAX_RATE));
    }

    #[test]
    fn an_error_is_about_the_rule_that_is_meant() {
        assert!(refusal("2mbit").ends_with("a name before `2mbit`, such as `cbr:2mbit`"), "{}", refusal("2mbit"));
        assert!(refusal("squar:1mbit,2mbit,step=1s").ends_with("did you mean `square:1mbit,2mbit,step=1s`?"));
        assert!(refusal("cbr:2").starts_with("a rate with its unit, or `0`, not `2`"), "{}", refusal("cbr:2"));
        assert!(refusal("walk:1mbit,step=5s").starts_with("`reach` too"), "{}", refusal("walk:1mbit,step=5s"));
        for text in ["square:1mbit,step=1s", "square:1mbit"] {
            assert!(refusal(text).starts_with("`other` too, a rate with its unit, or `0`, as in"), "{}", refusal(text));
        }
        let floor = refusal("cbr:2mbit,floor=low");
        assert!(floor.starts_with("a rate with its unit, or `0` for `floor`, not `low`"), "{floor}");
    }
}
