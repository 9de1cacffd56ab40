//! Probes: reductions of a run to the numbers kept when its trace is dropped.
//!
//! A trace of a long run takes megabytes, a reproduction needs thousands of runs and a few numbers of each. Everything that
//! turns a trace into kept numbers lives in this directory, because its sources are part of the key under which they are stored.

pub mod available;
mod over_time;
mod rounds;
pub mod stages;
pub mod udt;

use std::borrow::Cow;
use std::ops::Range;

use cwnd_trace::{FlowTrace, LinkTrace, Trace};

use crate::measure::{Curve, LinkCount, MEASURES, Subject, Summary, Window, fair_shares, link_rate, mean, summarise};
use crate::scenario::Scenario;

/// A way to reduce a run to named numbers.
#[derive(Clone, Copy, Debug)]
pub struct Probe {
    /// Names the numbers it keeps; two probes never share one.
    pub name: &'static str,
    /// Reduces the trace of a run of the scenario.
    pub of: fn(&Scenario, &Trace) -> Reduction,
}

/// Named numbers. What a run cannot answer is absent.
#[derive(Clone, Debug, Default)]
pub struct Reduction {
    /// Which of the numbers each name has, by name.
    names: Vec<(Cow<'static, str>, Range<usize>)>,
    /// One list of all: a sweep keeps some thirty names of each of a hundred thousand runs.
    numbers: Vec<f64>,
}

impl Probe {
    /// The measures of [`Summary`], under the names of its fields, not a number where a flow has no goodput; the max-min fair share of
    /// each flow (`flow_fair_share_bps`, likewise); the packets that each flow sent, delivered and lost in the
    /// measured time (`flow_sent_packets`, `flow_delivered_packets`, `flow_lost_packets`), and its timeouts (`flow_timeouts`); the payload of a packet of the first
    /// (`payload_bytes`); and of every link the shares lost and marked of the packets offered (`link_loss_rate`,
    /// `link_mark_rate`; 0 where it was offered nothing), the packets dropped (`link_dropped_packets`) and the mean of the sampled
    /// queue (`link_queue_packets`).
    pub const SUMMARY: Self = Self {
        name: "summary",
        of: |scenario, trace| {
            let mut kept = summary(&summarise(trace, scenario.bottleneck()));
            counts(&mut kept, trace);
            links(&mut kept, trace);
            kept
        },
    };

    /// From the start to the end in whole intervals of 200 ms: the share of the bottleneck's rate that was carried (`utilisation`),
    /// and of the first five flows goodput (`goodput_bps_1`, …), the window at the end of each interval
    /// (`window_1`, …) and its round-trip time (`srtt_1`, …).
    pub const OVER_TIME: Self = Self { name: "over-time", of: over_time::over_time };

    /// Of the first two flows, by round trips since the warm-up (counted by the mean of their smoothed round-trip times): mean
    /// windows in each whole round trip (`window_1`, `window_2`) and in the one before the warm-up's end (`window_before`), and
    /// when each link first refused a packet (`link_first_drop_round`; infinite if it did not).
    pub const ROUNDS: Self = Self { name: "rounds", of: |_, trace| rounds::rounds(trace) };

    /// Of flows that end: what each had to deliver and delivered (`flow_size_packets`, `flow_delivered_packets`), how long it took
    /// (`flow_completed_s`), what a packet carries (`payload_bits`), and the rate of the bottleneck (`rate_bps`).
    pub const TRANSFER: Self = Self { name: "transfer", of: transfer };
}

impl Reduction {
    /// Keeps `values` under `name`, which has no tab and no line break.
    pub fn keep(&mut self, name: impl Into<Cow<'static, str>>, values: impl IntoIterator<Item = f64>) {
        let (name, from) = (name.into(), self.numbers.len());
        self.numbers.extend(values);
        let numbers = from..self.numbers.len();
        match self.place(&name) {
            Ok(place) => self.names[place].1 = numbers,
            Err(place) => self.names.insert(place, (name, numbers)),
        }
    }

    /// Keeps a single number, if there is one.
    pub(crate) fn keep_one(&mut self, name: impl Into<Cow<'static, str>>, value: Option<f64>) {
        if value.is_some() {
            self.keep(name, value);
        }
    }

    /// Keeps the digest of the run, each half of which a number holds exactly.
    pub(crate) fn keep_digest(&mut self, digest: u64) {
        self.keep(DIGEST, [digest >> 32, digest & u64::from(u32::MAX)].map(|half| half as f64));
    }

    /// The digest of the run; none of a cell that an older program has stored.
    #[must_use]
    pub fn digest(&self) -> Option<u64> {
        match self.all(DIGEST) {
            [high, low] => Some((*high as u64) << 32 | *low as u64),
            _ => None,
        }
    }

    /// The numbers under `name`; empty if there are none.
    #[must_use]
    pub fn all(&self, name: &str) -> &[f64] {
        self.place(name).map_or(&[], |place| &self.numbers[self.names[place].1.clone()])
    }

    /// The single number under `name`.
    #[must_use]
    pub fn one(&self, name: &str) -> Option<f64> {
        match self.all(name) {
            [value] => Some(*value),
            _ => None,
        }
    }

    /// Everything, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &[f64])> {
        self.names.iter().map(|(name, numbers)| (&**name, &self.numbers[numbers.clone()]))
    }

    /// Where a name is, or would be.
    fn place(&self, name: &str) -> Result<usize, usize> {
        // Many come in their order.
        match self.names.last() {
            Some((last, _)) if **last < *name => Err(self.names.len()),
            _ => self.names.binary_search_by(|(known, _)| (**known).cmp(name)),
        }
    }
}

impl PartialEq for Reduction {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

/// Packets of each flow between the warm-up and the end.
fn counts(kept: &mut Reduction, trace: &Trace) {
    let window = Window::measured(trace);
    kept.keep("flow_fair_share_bps", fair_shares(trace, window).into_iter().map(or_nan));
    for (name, of) in COUNTED {
        let rises = trace.flows.iter().map(|flow| Curve::new(&trace.at, of(flow)).rise(window));
        kept.keep(name, rises);
    }
    kept.keep_one("payload_bytes", trace.flows.first().map(|flow| f64::from(flow.payload)));
}

/// What happened at each link between the warm-up and the end.
fn links(kept: &mut Reduction, trace: &Trace) {
    let window = Window::measured(trace);
    for (name, what) in [("link_loss_rate", LinkCount::Lost), ("link_mark_rate", LinkCount::Marked)] {
        let rate = |link| link_rate(trace, link, what, window).unwrap_or(0.0);
        kept.keep(name, trace.links.iter().map(rate));
    }
    let dropped = |link: &LinkTrace| Curve::new(&trace.at, &link.dropped).rise(window);
    kept.keep("link_dropped_packets", trace.links.iter().map(dropped));
    let from = trace.at.partition_point(|at| *at < trace.warmup);
    let waiting = |link: &LinkTrace| {
        let samples: Vec<f64> = link.queue_packets[from..].iter().map(|packets| *packets as f64).collect();
        mean(&samples).unwrap_or(0.0)
    };
    kept.keep("link_queue_packets", trace.links.iter().map(waiting));
}

/// A summary by the names of its fields.
#[must_use]
pub(crate) fn summary(summary: &Summary) -> Reduction {
    let mut kept = Reduction::default();
    for measure in MEASURES {
        match measure.subject {
            Subject::EachFlow => kept.keep(measure.key, summary.all(measure).iter().copied().map(or_nan)),
            Subject::Flows | Subject::Link => kept.keep_one(measure.key, measure.of(summary)),
        }
    }
    kept
}

/// The summary that `summary` kept.
#[must_use]
pub fn summary_of(kept: &Reduction) -> Summary {
    let known = |value: &f64| Some(*value).filter(|value| !value.is_nan());
    Summary::build(|measure| kept.all(measure.key).iter().map(known).collect())
}

/// Lists have a place for each flow.
fn or_nan(value: Option<f64>) -> f64 {
    value.unwrap_or(f64::NAN)
}

fn transfer(scenario: &Scenario, trace: &Trace) -> Reduction {
    let mut kept = Reduction::default();
    let each = |of: fn(&FlowTrace) -> Option<f64>| trace.flows.iter().filter_map(of).collect::<Vec<f64>>();
    kept.keep("flow_size_packets", each(|flow| flow.size.map(|size| size as f64)));
    kept.keep("flow_delivered_packets", each(|flow| flow.delivered.last().map(|delivered| *delivered as f64)));
    kept.keep("flow_completed_s", each(|flow| flow.completed.map(|nanos| nanos as f64 / 1e9)));
    kept.keep_one("payload_bits", trace.flows.first().map(|flow| f64::from(flow.payload) * 8.0));
    let rate = trace.links.get(scenario.bottleneck()).and_then(|link| link.rate);
    kept.keep_one("rate_bps", rate.map(|rate| rate as f64));
    kept
}

const DIGEST: &str = "digest";

type Column = fn(&FlowTrace) -> &[u64];

const COUNTED: [(&str, Column); 4] = [
    ("flow_sent_packets", |flow| &flow.sent),
    ("flow_delivered_packets", |flow| &flow.delivered),
    ("flow_lost_packets", |flow| &flow.lost),
    ("flow_timeouts", |flow| &flow.timeouts),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_is_kept_whole() {
        for digest in [0, 7, 1 << 53 | 1, u64::from(u32::MAX), u64::MAX] {
            let mut kept = Reduction::default();
            assert_eq!(kept.digest(), None);
            kept.keep_digest(digest);
            assert_eq!(kept.digest(), Some(digest));
        }
    }

    #[test]
    fn a_summary_is_kept_whole() {
        let mut next = 0.0;
        let whole = Summary::build(|measure| {
            next += 1.0;
            match measure.subject {
                Subject::EachFlow => vec![Some(next), None, Some(next + 0.5)],
                _ => vec![(measure.key != "convergence_time_s").then_some(next)],
            }
        });
        assert_eq!(summary_of(&summary(&whole)), whole);
        assert_eq!(whole.jain, Some(4.0));
    }
}
