//! All measures of one run, and of the runs of several seeds.

use cwnd_trace::Trace;

use super::curve::Window;
use super::entry::{Measure, Reach, Subject};
use super::run::Run;
use super::statistics::Estimate;
use super::table::{MEASURES, Measures, measured};
use super::throughput::goodput;

/// The measures of one run.
pub type Summary = Measures<f64>;

/// The measures of the runs of several seeds.
pub type Estimates = Measures<Estimate>;

/// Measures one run. `bottleneck` indexes the links of the trace; without such a link the measures of links are left out.
#[must_use]
pub fn summarise(trace: &Trace, bottleneck: usize) -> Summary {
    let window = Window::measured(trace);
    let goodputs = trace.flows.iter().map(|flow| goodput(trace, flow, window)).collect();
    measured(&Run { trace, window, link: trace.links.get(bottleneck), goodputs })
}

impl Measure {
    /// Its value in a run, or its estimate over several; none for one of each flow, which has a list.
    #[must_use]
    pub fn of<T: Copy>(&self, measures: &Measures<T>) -> Option<T> {
        match measures.all(self) {
            [value] if self.subject != Subject::EachFlow => *value,
            _ => None,
        }
    }
}

impl Reach {
    /// The measures that get at least so far.
    pub fn measures(self) -> impl Iterator<Item = &'static Measure> + Clone {
        MEASURES.iter().copied().filter(move |measure| measure.reach >= self)
    }
}

impl Summary {
    /// The bits of all values in the order of [`MEASURES`], for another process: no digit is lost on the way.
    #[must_use]
    pub fn to_bits(&self) -> Vec<Vec<Option<u64>>> {
        let bits = |measure: &&Measure| self.all(measure).iter().map(|value| value.map(f64::to_bits)).collect();
        MEASURES.iter().map(bits).collect()
    }

    /// The measures whose bits these are; one that is not there has no value.
    #[must_use]
    pub fn from_bits(bits: Vec<Vec<Option<u64>>>) -> Self {
        let mut bits = bits.into_iter();
        Self::build(|_| bits.next().unwrap_or_default().into_iter().map(|value| value.map(f64::from_bits)).collect())
    }
}

impl Estimates {
    /// The estimates over one summary per seed. A measure that some runs lack is estimated from the others, and its `n` tells.
    #[must_use]
    pub fn over(runs: &[Summary]) -> Self {
        let flows = runs.iter().map(|run| run.flow_goodput_bps.len()).max().unwrap_or(0);
        Self::build(|measure| {
            let values = || runs.iter().map(|run| run.all(measure));
            let nth = |nth: usize| {
                let values: Vec<f64> = values().filter_map(|values| values.get(nth).copied().flatten()).collect();
                measure.over(&values, flows)
            };
            (0..values().map(<[_]>::len).max().unwrap_or(0)).map(nth).collect()
        })
    }
}

#[cfg(test)]
mod tests {
    use cwnd_trace::{FlowTrace, LinkTrace};

    use super::*;

    const TENTH: u64 = 100_000_000;

    /// Two flows of 300 and 100 packets/s on a link of 4 Mbit/s, sampled every 100 ms for 4 s.
    fn trace() -> Trace {
        let flow = |per_sample: u64| FlowTrace {
            packet: 1250,
            payload: 1000,
            sent: (0..=40).map(|k| k * per_sample).collect(),
            delivered: (0..=40).map(|k| k * per_sample).collect(),
            retransmitted: vec![0; 41].into(),
            source_limited: (0..=40).map(|k| k * TENTH / 10).collect(),
            peer_limited: vec![0; 41].into(),
            ..FlowTrace::default()
        };
        let mut link = LinkTrace {
            rate: Some(4_000_000),
            offered: (0..=40).map(|k| k * 40).collect(),
            dropped: vec![0; 41].into(),
            lost: vec![0; 41].into(),
            marked: (0..=40).collect(),
            carried_bytes: (0..=40).map(|k| k * 40 * 1250).collect(),
            ..LinkTrace::default()
        };
        link.wait.record(5_000_000);
        Trace {
            at: (0..=40).map(|k| k * TENTH).collect(),
            warmup: 10 * TENTH,
            end: 40 * TENTH,
            flows: vec![flow(30), flow(10)],
            links: vec![link],
            ..Trace::default()
        }
    }

    #[test]
    fn a_steady_run() {
        let summary = summarise(&trace(), 0);
        let close = |value: Option<f64>, expected: f64| {
            assert!(
                value.is_some_and(|value| (value - expected).abs() <= 1e-9 * expected.abs()),
                "{value:?} {expected}"
            );
        };
        close(summary.utilisation, 1.0);
        close(summary.goodput_bps, 3.2e6);
        close(summary.efficiency_index_bps, 3.2e6);
        close(summary.jain, 0.8);
        close(summary.goodput_range, 1.0);
        close(summary.mark_rate, 0.025);
        close(summary.loss_rate, 0.0);
        close(summary.queue_delay_mean_s, 0.005);
        close(summary.time_to_90_utilisation_s, 0.2);
        close(summary.source_limited_share, 0.1);
        close(summary.retransmission_ratio, 0.0);
        assert!(summary.stability_index.is_some_and(|index| index < 1e-9));
        assert!(summary.smoothness.is_some_and(|roughness| roughness < 1e-9));
        assert_eq!(summary.convergence_time_s, None);
        assert_eq!(summary.flow_goodput_bps.len(), 2);
        assert_eq!(Summary::from_bits(summary.to_bits()), summary);
    }

    #[test]
    fn an_empty_trace_answers_nothing() {
        let summary = summarise(&Trace::default(), 0);
        assert_eq!((summary.utilisation, summary.goodput_bps, summary.jain), (None, None, None));
        assert_eq!(Estimates::over(&[]).utilisation, None);
    }

    #[test]
    fn runs_without_a_value_are_left_out_and_counted() {
        let (mut a, mut b) = (summarise(&trace(), 0), summarise(&trace(), 0));
        a.convergence_time_s = Some(3.0);
        b.jain = Some(0.9);
        let estimates = Estimates::over(&[a, b]);
        assert_eq!(estimates.convergence_time_s, Some(Estimate { mean: 3.0, ci95: None, n: 1, low: 3.0, high: 3.0 }));
        let jain = estimates.jain.expect("both have it");
        // Half width 12.706·(0.1/√2)/√2.
        assert!((jain.mean - 0.85).abs() < 1e-12 && (jain.ci95.expect("two runs") - 0.6353).abs() < 1e-3);
        assert_eq!(estimates.flow_goodput_bps.len(), 2);
    }

    #[test]
    fn the_slowest_finite_flow_counts_if_all_have_completed() {
        let mut trace = trace();
        let times = |trace: &Trace| {
            let run = summarise(trace, 0);
            [run.completion_time_s, run.acknowledgement_time_s]
        };
        assert_eq!(times(&trace), [None, None], "no flow has an end");
        for (flow, completed) in trace.flows.iter_mut().zip([3, 5]) {
            (flow.size, flow.completed) = (Some(10), Some(completed * TENTH));
        }
        trace.flows[1].acknowledged = Some(6 * TENTH);
        assert_eq!(times(&trace), [Some(0.5), None], "one has not been acknowledged");
        trace.flows[0].acknowledged = Some(4 * TENTH);
        assert_eq!(times(&trace), [Some(0.5), Some(0.6)]);
    }
}
