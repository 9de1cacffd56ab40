//! All measures of one run, and of the runs of several seeds.

use cwnd_trace::{Histogram, LinkTrace, Trace};
use schemars::JsonSchema;
use serde::Serialize;

use super::curve::Window;
use super::fairness::{jain, relative_range};
use super::life::Life;
use super::link::{LinkCount, link_rate, queue_delay_mean, queue_delay_quantile, time_to_utilisation, utilisation};
use super::sender::{peer_limited_share, retransmission_ratio, source_limited_share};
use super::statistics::{Domain, Estimate, mean};
use super::throughput::{
    coefficient_of_variation, efficiency_index, goodput, goodput_of_all, own_series, stability_index,
};
use super::{SHORT_INTERVAL, STABILITY_INTERVAL, convergence_time};

/// The measures of one run.
pub type Summary = Measures<f64>;

/// The measures of the runs of several seeds.
pub type Estimates = Measures<Estimate>;

/// Every measure, as a number of one run or an estimate over several. None where a run cannot answer.
///
/// The field names are the keys of the JSON output. All measures are taken between the end of the warm-up and the end of the run,
/// those of flows in the parts of it in which each is there: from its start to its end, without its pauses (`on`). The two times count
/// from a start. A flow that ended before, or that shares less than a round trip with that time, is left out. If that time is itself
/// shorter than a round trip and a packet of the slowest flow, nothing is measured in it.
#[derive(Clone, Debug, JsonSchema, PartialEq, Serialize)]
pub struct Measures<T> {
    /// Share of the bottleneck's capacity that was carried, 0..=1. The capacity is the rate of the line, or of a shaper or a policer where
    /// that is less.
    pub utilisation: Option<T>,
    /// Payload bits of all flows together that arrived for the first time, per second in which at least one of them is there.
    pub goodput_bps: Option<T>,
    /// Payload bits that arrived for the first time, per second in which it is there, for each flow in the order of the scenario; null for one
    /// that is left out.
    pub flow_goodput_bps: Vec<Option<T>>,
    /// Jain's index of the goodputs of the flows that are not left out, 1/n..=1.
    pub jain: Option<T>,
    /// (max − min) / mean of the flows' goodputs.
    pub goodput_range: Option<T>,
    /// EI of `daimd` §V: the sum over flows of the mean goodput per interval of 1 s, bit/s. Time without a flow does not count: it is
    /// `goodput_bps` of the whole intervals since the warm-up.
    pub efficiency_index_bps: Option<T>,
    /// SI of `daimd` eq. 18 over intervals of 1 s; 0 is perfectly stable.
    pub stability_index: Option<T>,
    /// Coefficient of variation of a flow's goodput over intervals of 200 ms, mean over flows; 0 is perfectly smooth.
    pub smoothness: Option<T>,
    /// Packets dropped by the bottleneck's queue or lost at random on it, as a share of those offered to it.
    pub loss_rate: Option<T>,
    /// Packets marked at the bottleneck as a share of those offered to it.
    pub mark_rate: Option<T>,
    /// Mean time packets waited at the bottleneck, seconds.
    pub queue_delay_mean_s: Option<T>,
    /// The 95th percentile of that.
    pub queue_delay_p95_s: Option<T>,
    /// The 99th percentile of that.
    pub queue_delay_p99_s: Option<T>,
    /// Retransmissions of all flows as a share of the data packets they sent.
    pub retransmission_ratio: Option<T>,
    /// Time from the first start until the bottleneck was used to 90 % for 200 ms, seconds. Runs that do not get there are left out.
    pub time_to_90_utilisation_s: Option<T>,
    /// Time from the start of the flow that started last until it had its share to within 10 % for 1 s, seconds; only where flows
    /// start at different times. Runs that do not get there are left out.
    pub convergence_time_s: Option<T>,
    /// Share of the time during which the application of the most affected flow had nothing to send, 0..=1.
    pub source_limited_share: Option<T>,
    /// Share of the time during which the receiver's window held the most affected flow, 0..=1.
    pub peer_limited_share: Option<T>,
}

/// Measures one run. `bottleneck` indexes the links of the trace; without such a link the measures of links are left out.
#[must_use]
pub fn summarise(trace: &Trace, bottleneck: usize) -> Summary {
    let window = Window::measured(trace);
    let link = trace.links.get(bottleneck);
    // What waited after the warm-up is counted by packets.
    let waited = link.filter(|_| !window.is_empty());
    let lost_or_marked = |what| link.and_then(|link| link_rate(trace, link, what, window));
    let quantile = |q| waited.and_then(|link: &LinkTrace| queue_delay_quantile(link, q));
    let flow_goodputs: Vec<Option<f64>> = trace.flows.iter().map(|flow| goodput(trace, flow, window)).collect();
    let goodputs: Vec<f64> = flow_goodputs.iter().flatten().copied().collect();
    let series = |interval| -> Option<Vec<Vec<f64>>> {
        let lives = trace.flows.iter().filter_map(|flow| Some((flow, Life::within(trace, flow, window)?)));
        lives.map(|(flow, life)| own_series(trace, flow, &life, interval)).collect()
    };
    let largest = |shares: Vec<f64>| shares.into_iter().reduce(f64::max);

    Summary {
        utilisation: link.and_then(|link| utilisation(trace, link, window)),
        goodput_bps: goodput_of_all(trace, &trace.flows, window),
        jain: jain(&goodputs),
        goodput_range: relative_range(&goodputs),
        efficiency_index_bps: efficiency_index(trace, &trace.flows, window, STABILITY_INTERVAL),
        stability_index: series(STABILITY_INTERVAL).as_deref().and_then(stability_index),
        smoothness: series(SHORT_INTERVAL).as_deref().and_then(mean_variation),
        loss_rate: lost_or_marked(LinkCount::Lost),
        mark_rate: lost_or_marked(LinkCount::Marked),
        queue_delay_mean_s: waited.and_then(queue_delay_mean),
        queue_delay_p95_s: quantile(0.95),
        queue_delay_p99_s: quantile(0.99),
        retransmission_ratio: retransmission_ratio(trace, &trace.flows, window),
        time_to_90_utilisation_s: link.and_then(|link| time_to_utilisation(trace, link, 0.9, SHORT_INTERVAL)),
        convergence_time_s: last_starter(trace)
            .and_then(|late| convergence_time(trace, late, FAIR_WITHIN, STABILITY_INTERVAL)),
        source_limited_share: largest(
            trace.flows.iter().filter_map(|flow| source_limited_share(trace, flow, window)).collect(),
        ),
        peer_limited_share: largest(
            trace.flows.iter().filter_map(|flow| peer_limited_share(trace, flow, window)).collect(),
        ),
        flow_goodput_bps: flow_goodputs,
    }
}

/// A quantile of a histogram is known to the width of a bucket.
fn of_buckets(estimate: Estimate) -> Estimate {
    estimate.known_to(Histogram::RESOLUTION)
}

impl Estimates {
    /// The estimates over one summary per seed. A measure that some runs lack is estimated from the others, and its `n` tells.
    #[must_use]
    pub fn over(runs: &[Summary]) -> Self {
        let flows = runs.iter().map(|run| run.flow_goodput_bps.len()).max().unwrap_or(0);
        let estimate = |key, of: fn(&Summary) -> Option<f64>| -> Option<Estimate> {
            Estimate::over(&runs.iter().filter_map(of).collect::<Vec<_>>(), domain(key, flows)?)
        };
        let flow = |index: usize| {
            let values = runs.iter().filter_map(|run| run.flow_goodput_bps.get(index).copied().flatten());
            Estimate::over(&values.collect::<Vec<_>>(), domain("flow_goodput_bps", flows)?)
        };
        Self {
            utilisation: estimate("utilisation", |run| run.utilisation),
            goodput_bps: estimate("goodput_bps", |run| run.goodput_bps),
            flow_goodput_bps: (0..flows).map(flow).collect(),
            jain: estimate("jain", |run| run.jain),
            goodput_range: estimate("goodput_range", |run| run.goodput_range),
            efficiency_index_bps: estimate("efficiency_index_bps", |run| run.efficiency_index_bps),
            stability_index: estimate("stability_index", |run| run.stability_index),
            smoothness: estimate("smoothness", |run| run.smoothness),
            loss_rate: estimate("loss_rate", |run| run.loss_rate),
            mark_rate: estimate("mark_rate", |run| run.mark_rate),
            queue_delay_mean_s: estimate("queue_delay_mean_s", |run| run.queue_delay_mean_s),
            queue_delay_p95_s: estimate("queue_delay_p95_s", |run| run.queue_delay_p95_s).map(of_buckets),
            queue_delay_p99_s: estimate("queue_delay_p99_s", |run| run.queue_delay_p99_s).map(of_buckets),
            retransmission_ratio: estimate("retransmission_ratio", |run| run.retransmission_ratio),
            time_to_90_utilisation_s: estimate("time_to_90_utilisation_s", |run| run.time_to_90_utilisation_s),
            convergence_time_s: estimate("convergence_time_s", |run| run.convergence_time_s),
            source_limited_share: estimate("source_limited_share", |run| run.source_limited_share),
            peer_limited_share: estimate("peer_limited_share", |run| run.peer_limited_share),
        }
    }
}

/// The values that a measure of so many flows can have, by its key; none for an unknown key.
#[must_use]
pub fn domain(key: &str, flows: usize) -> Option<Domain> {
    Some(match key {
        "jain" => Domain::jain(flows),
        "goodput_range" => Domain::relative_range(flows),
        "utilisation"
        | "loss_rate"
        | "mark_rate"
        | "retransmission_ratio"
        | "source_limited_share"
        | "peer_limited_share" => Domain::SHARE,
        "goodput_bps"
        | "flow_goodput_bps"
        | "efficiency_index_bps"
        | "stability_index"
        | "smoothness"
        | "queue_delay_mean_s"
        | "queue_delay_p95_s"
        | "queue_delay_p99_s"
        | "time_to_90_utilisation_s"
        | "convergence_time_s" => Domain::POSITIVE,
        _ => return None,
    })
}

fn mean_variation(series: &[Vec<f64>]) -> Option<f64> {
    mean(&series.iter().filter_map(|flow| coefficient_of_variation(flow)).collect::<Vec<_>>())
}

/// The flow that starts last before the end, if not all start together.
fn last_starter(trace: &Trace) -> Option<usize> {
    let first = trace.flows.iter().map(|flow| flow.start).min()?;
    let starters = trace.flows.iter().enumerate().filter(|(_, flow)| flow.start < trace.end);
    let (index, last) = starters.max_by_key(|(_, flow)| flow.start)?;
    (last.start > first).then_some(index)
}

/// δ = 0.1 in Bansal et al. 2001.
const FAIR_WITHIN: f64 = 0.1;

#[cfg(test)]
mod tests {
    use cwnd_trace::FlowTrace;

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
    }

    #[test]
    fn every_measure_has_a_domain() {
        let schema = schemars::schema_for!(Summary);
        let keys = schema.get("properties").and_then(serde_json::Value::as_object).expect("a record");
        assert!(keys.len() > 15 && keys.keys().all(|key| domain(key, 2).is_some()), "{:?}", keys.keys());
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
}
