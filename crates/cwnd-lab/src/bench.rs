//! The cases on which the speed of the simulator is measured.

use cwnd_run::scenario::{Document, Dumbbell, FlowGroup, Written};

/// A dumbbell with a queue of one bandwidth-delay product each way, and nothing recorded over time.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// On the command line.
    pub name: &'static str,
    /// What it is for.
    pub title: &'static str,
    /// Flows without end, of [`algorithm`](Self::algorithm).
    pub flows: u32,
    /// As written in scenarios.
    pub algorithm: &'static str,
    /// The receivers' windows, packets; none for no bound.
    pub max_window: Option<f64>,
    /// Of the bottleneck.
    pub rate: &'static str,
    /// Without queueing.
    pub rtt: &'static str,
    /// Simulated time.
    pub duration: &'static str,
    /// Utilisation is measured after this time.
    pub warmup: &'static str,
    /// Senders and receivers are those of the era `modern`; otherwise losses are found by selective acknowledgements, one for each packet.
    pub modern: bool,
}

/// Every case.
pub const CASES: &[Case] = &[
    CLASSIC,
    Case {
        name: "modern",
        title: "the same with RACK-TLP and delayed acknowledgements, as senders are today",
        modern: true,
        ..CLASSIC
    },
    Case { name: "cubic", title: "the classic case with CUBIC", algorithm: "cubic", ..CLASSIC },
    Case { name: "udt", title: "the same with UDT, which reports on a clock", algorithm: "udt", ..CLASSIC },
    Case {
        name: "overshoot",
        title: "the slow start of one flow loses half of a window of 80 000 packets",
        flows: 1,
        rate: "2.4gbit",
        rtt: "100ms",
        duration: "4s",
        warmup: "2s",
        ..CLASSIC
    },
    Case {
        name: "dozens",
        title: "64 flows at 10 Gbit/s and 20 ms",
        flows: 64,
        rate: "10gbit",
        rtt: "20ms",
        duration: "5s",
        warmup: "2s",
        ..CLASSIC
    },
    Case {
        name: "thousand",
        title: "1000 flows at 10 Gbit/s and 50 ms",
        flows: 1000,
        rate: "10gbit",
        duration: "5s",
        warmup: "2s",
        ..CLASSIC
    },
    Case {
        name: "fast",
        title: "100 Gbit/s, to be simulated in real time",
        flows: 64,
        rate: "100gbit",
        rtt: "20ms",
        duration: "2s",
        warmup: "1s",
        ..CLASSIC
    },
    Case {
        name: "million",
        title: "a million flows of eight packets per round trip at 1 Tbit/s",
        flows: 1_000_000,
        rate: "1tbit",
        rtt: "100ms",
        duration: "500ms",
        warmup: "200ms",
        ..CLASSIC
    },
    Case {
        name: "share",
        title: "the same, held at the eight packets by their receivers: no overshoot, no loss",
        flows: 1_000_000,
        max_window: Some(8.0),
        rate: "1tbit",
        rtt: "100ms",
        duration: "500ms",
        warmup: "200ms",
        ..CLASSIC
    },
];

impl Case {
    /// The case called `name`.
    #[must_use]
    pub fn find(name: &str) -> Option<&'static Self> {
        CASES.iter().find(|case| case.name == name)
    }

    /// Its scenario.
    #[must_use]
    pub fn document(&self) -> Document {
        Document {
            title: Some(self.title.to_string()),
            duration: Written::literal(self.duration),
            warmup: Written::literal(self.warmup),
            seeds: 1,
            sampling: Written::literal("off"),
            recovery: (!self.modern).then(|| Written::literal("sack")),
            dumbbell: Some(Dumbbell {
                rate: Written::literal(self.rate),
                rtt: Written::literal(self.rtt),
                queue: Written::literal("droptail:1bdp"),
                ..Dumbbell::default()
            }),
            flow: vec![FlowGroup {
                max_window: self.max_window,
                delayed_ack: (!self.modern).then(|| Written::literal("0s")),
                ..FlowGroup::new(Written::literal(self.algorithm), self.flows)
            }],
            ..Document::default()
        }
    }
}

const CLASSIC: Case = Case {
    name: "classic",
    title: "16 flows at 1 Gbit/s and 50 ms, as in most papers",
    flows: 16,
    algorithm: "reno",
    max_window: None,
    rate: "1gbit",
    rtt: "50ms",
    duration: "20s",
    warmup: "5s",
    modern: false,
};

#[cfg(test)]
mod tests {
    use super::*;
    use cwnd_run::scenario::Scenario;

    #[test]
    fn every_case_can_be_run() {
        for case in CASES {
            assert!(Scenario::check(case.document()).is_ok(), "{}", case.name);
            assert_eq!(Case::find(case.name).map(|found| found.title), Some(case.title));
        }
    }
}
