//! The cases on which the speed of the simulator is measured.

use cwnd::Span;
use cwnd_run::scenario::{Arrivals, Document, Dumbbell, FlowGroup, ParkingLot, Written};

/// Flows over one bottleneck or a row of them, and nothing recorded over time.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// The name on the command line.
    pub name: &'static str,
    /// Its purpose.
    pub title: &'static str,
    /// Flows of [`algorithm`](Self::algorithm), or those that come and go, whose number depends on the load.
    pub flows: Flows,
    /// The algorithm, as written in scenarios.
    pub algorithm: &'static str,
    /// The ECN of the flows, as written in scenarios; none for packets that cannot carry a mark.
    pub ecn: Option<&'static str>,
    /// The receivers' windows, packets; none for no bound.
    pub max_window: Option<f64>,
    /// The rate of the bottleneck.
    pub rate: &'static str,
    /// The round-trip time without queueing.
    pub rtt: &'static str,
    /// The queue in front of the bottleneck; that of the link back holds one bandwidth-delay product.
    pub queue: &'static str,
    /// Bottlenecks in a row. A quarter of the flows crosses all of them, and as many cross each one alone.
    pub hops: u32,
    /// Simulated time.
    pub duration: &'static str,
    /// Utilisation is measured after this time.
    pub warmup: &'static str,
    /// Senders and receivers are those of the era `modern`; otherwise losses are found by selective acknowledgements, one for each packet.
    pub modern: bool,
}

/// How many flows there are.
#[derive(Clone, Copy, Debug)]
pub enum Flows {
    /// This number of flows, without end.
    Endless(u32),
    /// Flows that come and go: the size of each, as written in scenarios, and the share of the bottleneck's rate that they fill.
    Short {
        /// Packets.
        size: &'static str,
        /// The offered load as a share of the rate, above 0.
        load: f64,
    },
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
    Case {
        name: "bbr",
        title: "the classic case with BBR version 1, paced and with delivery-rate samples",
        algorithm: "bbr",
        ..CLASSIC
    },
    Case { name: "bbr3", title: "the same with BBR version 3", algorithm: "bbr3", ..CLASSIC },
    Case { name: "udt", title: "the classic case with UDT, which reports on a clock", algorithm: "udt", ..CLASSIC },
    Case { name: "fq-codel", title: "the classic case behind FQ-CoDel", queue: "fq_codel:10240p", ..CLASSIC },
    Case { name: "cake", title: "the classic case behind CAKE", queue: "cake:10240p", ..CLASSIC },
    Case {
        name: "dualpi2",
        title: "the classic case with Prague and ECT(1) in a dual queue",
        algorithm: "prague",
        ecn: Some("l4s"),
        queue: "dualpi2:250ms",
        ..CLASSIC
    },
    Case {
        name: "parking-lot",
        title: "a quarter of the flows over three bottlenecks in a row, the others over one of them",
        hops: 3,
        ..CLASSIC
    },
    Case {
        name: "short",
        title: "flows of thirty packets on average that come and go, at four fifths of 1 Gbit/s",
        flows: Flows::Short { size: "pareto:30p,shape=1.35", load: 0.8 },
        ..CLASSIC
    },
    Case {
        name: "overshoot",
        title: "the slow start of one flow loses half of a window of 80 000 packets",
        flows: Flows::Endless(1),
        rate: "2.4gbit",
        rtt: "100ms",
        duration: "4s",
        warmup: "2s",
        ..CLASSIC
    },
    Case {
        name: "dozens",
        title: "64 flows at 10 Gbit/s and 20 ms",
        flows: Flows::Endless(64),
        rate: "10gbit",
        rtt: "20ms",
        duration: "5s",
        warmup: "2s",
        ..CLASSIC
    },
    Case {
        name: "thousand",
        title: "1000 flows at 10 Gbit/s and 50 ms",
        flows: Flows::Endless(1000),
        rate: "10gbit",
        duration: "5s",
        warmup: "2s",
        ..CLASSIC
    },
    Case {
        name: "fast",
        title: "100 Gbit/s, to be simulated in real time",
        flows: Flows::Endless(64),
        rate: "100gbit",
        rtt: "20ms",
        duration: "2s",
        warmup: "1s",
        ..CLASSIC
    },
    Case {
        name: "cell",
        title: "one cell of a sweep: a flow of CUBIC at 20 Mbit/s and 40 ms",
        flows: Flows::Endless(1),
        algorithm: "cubic",
        rate: "20mbit",
        rtt: "40ms",
        duration: "10s",
        warmup: "2s",
        modern: true,
        ..CLASSIC
    },
    Case {
        name: "million",
        title: "a million flows of eight packets per round trip at 1 Tbit/s",
        flows: Flows::Endless(1_000_000),
        rate: "1tbit",
        rtt: "100ms",
        duration: "500ms",
        warmup: "200ms",
        ..CLASSIC
    },
    Case {
        name: "share",
        title: "the same, held at the eight packets by their receivers: no overshoot, no loss",
        flows: Flows::Endless(1_000_000),
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

    /// Flows without end; 0 where they come and go.
    #[must_use]
    pub fn endless(&self) -> u32 {
        match self.flows {
            Flows::Endless(flows) => flows,
            Flows::Short { .. } => 0,
        }
    }

    /// Its scenario.
    #[must_use]
    pub fn document(&self) -> Document {
        let (rate, rtt, queue) =
            (Written::literal(self.rate), Written::literal(self.rtt), Written::literal(self.queue));
        let row = self.hops > 1;
        let (dumbbell, parking_lot) = if row {
            (None, Some(ParkingLot { hops: self.hops, rate, rtt, queue, ..ParkingLot::default() }))
        } else {
            let reverse_queue = Some(Written::literal("droptail:1bdp"));
            (Some(Dumbbell { rate, rtt, queue, reverse_queue, ..Dumbbell::default() }), None)
        };
        let arrivals = match self.flows {
            Flows::Endless(_) => Vec::new(),
            Flows::Short { size, load } => {
                let arrivals = Arrivals::new(Written::literal(self.algorithm), Written::literal(size), load);
                vec![Arrivals { delayed_ack: self.delayed_ack(), ..arrivals }]
            }
        };
        Document {
            title: Some(self.title.to_string()),
            duration: Written::literal(self.duration),
            warmup: Written::literal(self.warmup),
            seeds: 1,
            sampling: Written::literal("off"),
            recovery: (!self.modern).then(|| Written::literal("sack")),
            dumbbell,
            parking_lot,
            flow: self.groups(),
            arrivals,
            ..Document::default()
        }
    }

    /// The flows without end.
    fn groups(&self) -> Vec<FlowGroup> {
        let group = |flows| FlowGroup {
            ecn: self.ecn.map(Written::literal),
            max_window: self.max_window,
            delayed_ack: self.delayed_ack(),
            ..FlowGroup::new(Written::literal(self.algorithm), flows)
        };
        match (self.endless(), self.hops) {
            (0, _) => Vec::new(),
            (flows, 1) => vec![group(flows)],
            (flows, hops) => {
                let node = |n: u32| Some(format!("r{n}"));
                let over = |n| FlowGroup { from: node(n), to: node(n + 1), ..group(flows / (hops + 1)) };
                std::iter::once(group(flows / (hops + 1))).chain((0..hops).map(over)).collect()
            }
        }
    }

    fn delayed_ack(&self) -> Option<Written<Span>> {
        (!self.modern).then(|| Written::literal("0s"))
    }
}

const CLASSIC: Case = Case {
    name: "classic",
    title: "16 flows at 1 Gbit/s and 50 ms, as in most papers",
    flows: Flows::Endless(16),
    algorithm: "reno",
    ecn: None,
    max_window: None,
    rate: "1gbit",
    rtt: "50ms",
    queue: "droptail:1bdp",
    hops: 1,
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
