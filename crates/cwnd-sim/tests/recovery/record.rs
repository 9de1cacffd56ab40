//! One flow under a test's losses, and its time-sequence record.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use cwnd::{Span, Spec};
use cwnd_sim::{
    Dumbbell, Era, Fault, FlowSetup, LinkId, Passage, Passing, QueueLimit, RecoveryScheme, Sampling, Setup, Tap, Trace,
    Variation,
};

/// What happened to one flow.
pub(crate) struct Record {
    /// Data packets as they reached the bottleneck.
    pub(crate) data: Vec<Sent>,
    /// Acknowledgements as they left the receiver: when, and up to where.
    pub(crate) acks: Vec<(u64, u64)>,
    pub(crate) trace: Trace,
}

/// A data packet at the bottleneck.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sent {
    pub(crate) at: u64,
    pub(crate) number: u64,
    pub(crate) transmission: u32,
    pub(crate) lost: bool,
}

/// Loses the first transmissions of `numbers`.
pub(crate) fn lose(numbers: &[u64]) -> Vec<Fault> {
    numbers.iter().map(|number| Fault::Data { flow: 0, number: *number, transmission: 1 }).collect()
}

/// A packet takes 1 ms on the bottleneck, a round trip 100 ms; nothing varies. ns-2 of 2006 starts with two packets: slow start
/// sends 0 and 1, then 2 to 5, 6 to 13, 14 to 29.
pub(crate) fn setup(scheme: RecoveryScheme, faults: &[Fault]) -> Setup {
    let bell = Dumbbell::new(12_000_000, Span::from_millis(100), QueueLimit::Unlimited);
    let reno = Spec::parse("reno").expect("registered");
    let mut setup = bell.setup(&[reno], Era::NS2_2006, Span::from_secs(4), Span::ZERO, 1);
    setup.variation = Variation { start: Some(Span::ZERO), rtt: 0.0, jitter: 0.0 };
    setup.sampling = Some(Sampling { interval: ROW, internals: true });
    setup.flows[0] = FlowSetup { recovery: scheme, ..setup.flows[0].clone() };
    setup.taps = [0, 1].map(|link| Tap { link: LinkId(link), faults: faults.to_vec(), record: true }).to_vec();
    setup
}

impl Record {
    /// Runs `setup`, whose links are tapped.
    pub(crate) fn of(setup: &Setup) -> Self {
        let trace = cwnd_sim::run(setup, &mut |_| true).expect("a valid setup");
        let data = trace.links[0].passages.iter().filter_map(|passage| match *passage {
            Passage { at, lost, what: Passing::Data { number, transmission }, .. } => {
                Some(Sent { at, number, transmission, lost })
            }
            _ => None,
        });
        let acks = trace.links[1].passages.iter().filter_map(|passage| match *passage {
            Passage { at, lost: false, what: Passing::Ack { cumulative, .. }, .. } => Some((at, cumulative)),
            _ => None,
        });
        Self { data: data.collect(), acks: acks.collect(), trace }
    }

    /// Runs the usual flow.
    pub(crate) fn under(scheme: RecoveryScheme, faults: &[Fault]) -> Self {
        Self::of(&setup(scheme, faults))
    }

    /// Round trips from the first retransmission until the flight of 14 to 29 had arrived.
    pub(crate) fn round_trips(&self) -> f64 {
        let from = self.resent().next().expect("something is lost").at;
        let (to, _) = self.acks.iter().find(|(_, cumulative)| *cumulative >= 30).expect("it arrives");
        (to - from) as f64 / 100e6
    }

    /// The packets sent again, in order.
    pub(crate) fn resent(&self) -> impl Iterator<Item = &Sent> {
        self.data.iter().filter(|sent| sent.transmission > 1)
    }

    /// Their numbers.
    pub(crate) fn resent_numbers(&self) -> Vec<u64> {
        self.resent().map(|sent| sent.number).collect()
    }

    /// New packets that reached the bottleneck between two times in ms.
    pub(crate) fn new_between(&self, from: u64, to: u64) -> usize {
        let inside = |sent: &&Sent| (from * 1_000_000..to * 1_000_000).contains(&sent.at) && sent.transmission == 1;
        self.data.iter().filter(inside).count()
    }

    pub(crate) fn timeouts(&self) -> u64 {
        *self.trace.flows[0].timeouts.last().expect("sampled")
    }

    /// The window at each sample, without repetitions, as far as it falls: the cuts.
    pub(crate) fn cuts(&self) -> Vec<f64> {
        let window = &self.trace.flows[0].window;
        window.windows(2).filter(|pair| pair[1] < pair[0]).map(|pair| pair[1]).collect()
    }

    /// The packets of each row of a table, and the window at its end.
    fn rows(&self, until: u64) -> BTreeMap<u64, (String, f64)> {
        let mut rows: BTreeMap<u64, Vec<Sent>> = BTreeMap::new();
        for sent in self.data.iter().filter(|sent| sent.at < until) {
            rows.entry(sent.at / ROW.as_nanos()).or_default().push(*sent);
        }
        let window = |row: u64| self.trace.flows[0].window[row as usize + 1];
        rows.into_iter().map(|(row, sent)| (row, (packets(&sent), window(row)))).collect()
    }
}

/// A table of several records side by side: rows of 10 ms in which something was sent.
pub(crate) fn table(title: &str, until: u64, records: &[(&str, &Record)]) -> String {
    let mut text = format!("{title}\n\n");
    text.push_str("ms  ");
    for (name, _) in records {
        write!(text, " | {:>5} {name:<WIDTH$}", "cwnd").expect("a string grows");
    }
    let columns: Vec<_> = records.iter().map(|(_, record)| record.rows(until)).collect();
    let mut rows: Vec<_> = columns.iter().flat_map(BTreeMap::keys).copied().collect();
    rows.sort_unstable();
    rows.dedup();
    for row in rows {
        let mut line = format!("{:>4}", row * 10);
        for column in &columns {
            match column.get(&row) {
                Some((packets, window)) => write!(line, " | {window:>5.2} {packets:<WIDTH$}"),
                None => write!(line, " | {:>5} {:<WIDTH$}", "", ""),
            }
            .expect("a string grows");
        }
        write!(text, "\n{}", line.trim_end()).expect("a string grows");
    }
    text.push('\n');
    text
}

/// `14-17 14'`: 14 to 17 leave for the first time, then 14 is sent again; `14'x`: and lost again.
fn packets(sent: &[Sent]) -> String {
    let mut runs: Vec<(Sent, u64)> = Vec::new();
    for each in sent {
        let lost_again = each.lost && each.transmission > 1;
        match runs.last_mut() {
            Some((first, last))
                if first.transmission == each.transmission && *last + 1 == each.number && !lost_again =>
            {
                *last = each.number;
            }
            _ => runs.push((Sent { lost: lost_again, ..*each }, each.number)),
        }
    }
    let texts = runs.iter().map(|(first, last)| {
        let mark = "'".repeat(first.transmission as usize - 1) + if first.lost { "x" } else { "" };
        if *last == first.number { format!("{last}{mark}") } else { format!("{}{mark}-{last}{mark}", first.number) }
    });
    texts.collect::<Vec<_>>().join(" ")
}

/// A row of the tables.
const ROW: Span = Span::from_millis(10);
/// Of a cell of the tables.
const WIDTH: usize = 21;
