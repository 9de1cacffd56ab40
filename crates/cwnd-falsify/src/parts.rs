//! The parts of a path: each departure from calm with its numbers and their plausible ranges.

use crate::profile::Profile::{self, Anything, Datacentre, Mobile, Satellite};

/// A departure of a path from calm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// Another queue than drop-tail.
    Discipline,
    /// Random loss.
    Loss,
    /// Random delay.
    Jitter,
    /// Packets that others overtake.
    Reordering,
    /// Data packets that wait for one another.
    Aggregation,
    /// Acknowledgements that wait for one another, and are thinned.
    Acks,
    /// Acknowledgements of the first flow alone that wait for one another.
    OwnAcks,
    /// Delayed acknowledgements of the first flow alone.
    DelayedAcks,
    /// Another rate for a time.
    RateStep,
    /// A longer delay from an instant on.
    DelayStep,
    /// A time in which nothing is transmitted.
    Outage,
    /// Flows of another algorithm.
    Competitor,
    /// An application that is slower than the path.
    Source,
    /// An application that pauses.
    Pauses,
    /// The second flow starts later.
    Start,
    /// Single packets of the first flow are dropped.
    Drops,
    /// A queue that marks the packets of the subject instead of dropping them.
    Marks,
    /// Hosts of the subject that gather arrivals.
    Wake,
    /// A delay of several more round trips from an instant on.
    Detour,
    /// An application that is slow first, and has bulk data then.
    SlowThenBulk,
    /// A rate that changes at each point of a trace.
    RateTrace,
    /// A delay that changes at each point of a trace.
    DelayTrace,
}

/// A number of a path.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Knob {
    /// Its name, with the unit.
    pub(crate) name: &'static str,
    /// Equal steps of a point are equal factors.
    pub(crate) log: bool,
    /// Whole numbers alone.
    pub(crate) whole: bool,
    /// The calmest value.
    pub(crate) calm: f64,
    range: [f64; 2],
    /// The ranges of profiles that have their own.
    by_profile: &'static [(Profile, [f64; 2])],
}

/// The entry of a part.
#[derive(Debug)]
pub(crate) struct PartEntry {
    pub(crate) part: Part,
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    pub(crate) knobs: &'static [Knob],
}

impl Part {
    /// All of them.
    pub fn all() -> impl Iterator<Item = Self> {
        PARTS.iter().map(|entry| entry.part)
    }

    /// Its name in answers.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.entry().name
    }

    /// Its effect, in words.
    #[must_use]
    pub fn title(self) -> &'static str {
        self.entry().title
    }

    /// The most flows on a path of a property with one flow of the subject.
    pub(crate) fn most_flows() -> usize {
        let [_, flows, _] = Self::Competitor.knobs() else { return 1 };
        1 + flows.range[1] as usize
    }

    pub(crate) fn knobs(self) -> &'static [Knob] {
        self.entry().knobs
    }

    /// How many of its numbers count, the first of them: a trace has as many values as points.
    pub(crate) fn used(self, values: &[f64]) -> usize {
        match (self, values) {
            (Self::RateTrace | Self::DelayTrace, [points, ..]) => (1 + *points as usize).min(values.len()),
            _ => values.len(),
        }
    }

    fn entry(self) -> &'static PartEntry {
        // The table is in the order of the variants, which a test checks.
        &PARTS[self as usize]
    }
}

impl Knob {
    const fn new(name: &'static str, range: [f64; 2], calm: f64) -> Self {
        Self { name, log: false, whole: false, calm, range, by_profile: &[] }
    }

    const fn log(self) -> Self {
        Self { log: true, ..self }
    }

    const fn whole(self) -> Self {
        Self { whole: true, ..self }
    }

    const fn by(self, by_profile: &'static [(Profile, [f64; 2])]) -> Self {
        Self { by_profile, ..self }
    }

    /// Its range.
    pub(crate) fn range(&self, profile: Profile) -> [f64; 2] {
        self.by_profile.iter().find(|(known, _)| *known == profile).map_or(self.range, |(_, range)| *range)
    }

    /// The value at a coordinate from 0 to 1.
    pub(crate) fn at(&self, profile: Profile, coordinate: f64) -> f64 {
        let [low, high] = self.range(profile);
        let value = match (self.log, self.whole) {
            (true, _) => low * libm::pow(high / low, coordinate),
            (false, true) => low + coordinate * (high - low + 1.0),
            (false, false) => low + coordinate * (high - low),
        };
        if self.whole { value.floor().min(high) } else { rounded(value, DIGITS).clamp(low, high) }
    }
}

/// A value to a number of significant digits.
pub(crate) fn rounded(value: f64, digits: usize) -> f64 {
    format!("{value:.*e}", digits.saturating_sub(1)).parse().unwrap_or(value)
}

/// Significant digits of the numbers of a path before it is shrunk.
pub(crate) const DIGITS: usize = 3;

/// What every path has.
pub(crate) static PATH: [Knob; 3] = [
    Knob::new("rate in Mbit/s", [5.0, 50.0], 10.0).log().by(&[
        (Mobile, [2.0, 40.0]),
        (Datacentre, [100.0, 1000.0]),
        (Satellite, [1.0, 20.0]),
        (Anything, [0.5, 50.0]),
    ]),
    Knob::new("round-trip time in ms", [10.0, 100.0], 40.0).log().by(&[
        (Mobile, [30.0, 150.0]),
        (Datacentre, [0.1, 2.0]),
        (Satellite, [25.0, 700.0]),
        (Anything, [1.0, 500.0]),
    ]),
    Knob::new("queue in bandwidth-delay products", [0.25, 5.0], 1.0).log().by(&[
        (Mobile, [0.5, 10.0]),
        (Datacentre, [0.5, 20.0]),
        (Anything, [0.05, 20.0]),
    ]),
];

pub(crate) static PARTS: &[PartEntry] = &[
    PartEntry {
        part: Part::Discipline,
        name: "discipline",
        title: "active queue management: CoDel, FQ-CoDel, PIE or RED",
        knobs: &[Knob::new("kind", [0.0, 3.0], 0.0).whole()],
    },
    PartEntry {
        part: Part::Loss,
        name: "loss",
        title: "random loss of data packets",
        knobs: &[Knob::new("probability", [1e-5, 0.02], 1e-5).log().by(&[
            (Mobile, [1e-5, 0.03]),
            (Datacentre, [1e-6, 1e-3]),
            (Anything, [1e-5, 0.3]),
        ])],
    },
    PartEntry {
        part: Part::Jitter,
        name: "jitter",
        title: "random delay in order, uniform or as of Wi-Fi",
        knobs: &[
            Knob::new("ms", [1.0, 10.0], 1.0).log().by(&[
                (Mobile, [1.0, 20.0]),
                (Datacentre, [0.005, 0.2]),
                (Anything, [1.0, 50.0]),
            ]),
            Knob::new("kind", [0.0, 1.0], 0.0).whole().by(&[(Datacentre, [0.0, 0.0])]),
        ],
    },
    PartEntry {
        part: Part::Reordering,
        name: "reordering",
        title: "a share of the packets is held back",
        knobs: &[
            Knob::new("share", [1e-3, 0.02], 1e-3).log().by(&[(Anything, [1e-4, 0.2])]),
            Knob::new("time in round trips", [0.05, 0.5], 0.05).log().by(&[(Anything, [0.02, 2.0])]),
        ],
    },
    PartEntry {
        part: Part::Aggregation,
        name: "aggregation",
        title: "data packets leave together",
        knobs: &[Knob::new("ms", [0.5, 8.0], 0.5).log().by(&[
            (Mobile, [1.0, 20.0]),
            (Datacentre, [0.01, 0.2]),
            (Anything, [0.5, 60.0]),
        ])],
    },
    PartEntry {
        part: Part::Acks,
        name: "acks",
        title: "acknowledgements leave together, of some only the newest",
        knobs: &[
            Knob::new("ms", [1.0, 20.0], 1.0).log().by(&[
                (Mobile, [1.0, 40.0]),
                (Datacentre, [0.01, 0.5]),
                (Anything, [0.5, 100.0]),
            ]),
            Knob::new("one of this many", [1.0, 8.0], 1.0).whole(),
        ],
    },
    PartEntry {
        part: Part::OwnAcks,
        name: "own-acks",
        title: "acknowledgements of the first flow leave together",
        knobs: &[Knob::new("ms", [1.0, 40.0], 1.0).log().by(&[(Datacentre, [0.01, 1.0]), (Anything, [0.5, 100.0])])],
    },
    PartEntry {
        part: Part::DelayedAcks,
        name: "delayed-acks",
        title: "the first flow acknowledges every second packet",
        knobs: &[Knob::new("ms", [20.0, 200.0], 20.0).log().by(&[(Datacentre, [0.1, 5.0])])],
    },
    PartEntry {
        part: Part::RateStep,
        name: "rate-step",
        title: "another rate for a time",
        knobs: &[
            Knob::new("begin as a share of the run", [0.2, 0.5], 0.3),
            Knob::new("factor", [0.2, 2.0], 1.0).log().by(&[(Mobile, [0.1, 4.0]), (Anything, [0.05, 4.0])]),
            Knob::new("length as a share of the run", [0.1, 0.4], 0.1),
        ],
    },
    PartEntry {
        part: Part::DelayStep,
        name: "delay-step",
        title: "a longer delay from an instant on",
        knobs: &[
            Knob::new("begin as a share of the run", [0.2, 0.5], 0.3),
            Knob::new("addition in round trips", [0.1, 1.0], 0.1).log().by(&[(Anything, [0.05, 4.0])]),
        ],
    },
    PartEntry {
        part: Part::Outage,
        name: "outage",
        title: "nothing is transmitted for a time",
        knobs: &[
            Knob::new("begin as a share of the run", [0.3, 0.5], 0.4),
            Knob::new("length as a share of the run", [0.01, 0.1], 0.01).log(),
        ],
    },
    PartEntry {
        part: Part::Competitor,
        name: "competitor",
        title: "flows of Reno, CUBIC, BBR or BBRv3",
        knobs: &[
            Knob::new("kind", [0.0, 3.0], 0.0).whole(),
            Knob::new("flows", [1.0, 4.0], 1.0).whole(),
            Knob::new("start as a share of the run", [0.0, 0.3], 0.0),
        ],
    },
    PartEntry {
        part: Part::Source,
        name: "source",
        title: "the application of the first flow is slower than the path",
        knobs: &[Knob::new("share of the rate", [0.1, 0.9], 0.9)],
    },
    PartEntry {
        part: Part::Pauses,
        name: "pauses",
        title: "the application of the first flow pauses",
        knobs: &[
            Knob::new("with data as a share of the run", [0.05, 0.3], 0.3).log(),
            Knob::new("without as a share of the run", [0.01, 0.2], 0.01).log(),
        ],
    },
    PartEntry {
        part: Part::Start,
        name: "start",
        title: "the second flow starts later",
        knobs: &[Knob::new("as a share of the run", [0.01, 0.2], 0.01).log()],
    },
    PartEntry {
        part: Part::Drops,
        name: "drops",
        title: "single packets of the first flow are dropped",
        knobs: &[
            Knob::new("the first of them", [1.0, 1000.0], 1.0).log().whole(),
            Knob::new("packets", [1.0, 20.0], 1.0).log().whole(),
        ],
    },
    PartEntry {
        part: Part::Marks,
        name: "marks",
        title: "CoDel, FQ-CoDel, PIE or RED marks packets of the subject",
        knobs: &[Knob::new("kind", [0.0, 3.0], 0.0).whole()],
    },
    PartEntry {
        part: Part::Wake,
        name: "wake",
        title: "both hosts of each flow of the subject gather arrivals",
        knobs: &[Knob::new("ms", [0.1, 2.0], 0.1).log().by(&[(Datacentre, [0.005, 0.1]), (Anything, [0.1, 10.0])])],
    },
    PartEntry {
        part: Part::Detour,
        name: "detour",
        title: "a delay of several more round trips from an instant on",
        knobs: &[
            Knob::new("begin as a share of the run", [0.2, 0.5], 0.3),
            Knob::new("addition in round trips", [1.0, 4.0], 1.0).log(),
        ],
    },
    PartEntry {
        part: Part::SlowThenBulk,
        name: "slow-then-bulk",
        title: "the application of the first flow is slow first, and has bulk data then",
        knobs: &[
            Knob::new("share of the rate at first", [0.05, 0.5], 0.5),
            Knob::new("slow for a share of the run", [0.5, 0.8], 0.5),
        ],
    },
    PartEntry {
        part: Part::RateTrace,
        name: "rate-trace",
        title: "another rate at each point of a trace, which are equally far apart",
        knobs: &[POINTS, FACTOR, FACTOR, FACTOR, FACTOR, FACTOR, FACTOR, FACTOR, FACTOR],
    },
    PartEntry {
        part: Part::DelayTrace,
        name: "delay-trace",
        title: "another delay at each point of a trace, which are equally far apart",
        knobs: &[POINTS, ADDITION, ADDITION, ADDITION, ADDITION, ADDITION, ADDITION, ADDITION, ADDITION],
    },
];

/// The points of a trace, at most as many as it has values.
const POINTS: Knob = Knob::new("points", [2.0, 8.0], 2.0).whole();
const FACTOR: Knob =
    Knob::new("factor at each", [0.2, 2.0], 1.0).log().by(&[(Mobile, [0.1, 4.0]), (Anything, [0.05, 4.0])]);
const ADDITION: Knob = Knob::new("addition at each in round trips", [0.0, 1.0], 0.0).by(&[(Anything, [0.0, 4.0])]);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_order() {
        assert!(PARTS.iter().enumerate().all(|(at, entry)| entry.part as usize == at));
    }

    #[test]
    fn a_value_keeps_its_digits() {
        assert_eq!([rounded(12.3456, 3), rounded(0.012_345, 2), rounded(987.0, 1)], [12.3, 0.012, 1000.0]);
        assert_eq!(Part::RateTrace.used(&[3.0, 0.5, 0.6, 0.7, 0.8]), 4);
        let kind = &Part::Discipline.knobs()[0];
        assert_eq!([0.0, 0.3, 0.999, 1.0].map(|at| kind.at(Profile::Home, at)), [0.0, 1.0, 3.0, 3.0]);
    }
}
