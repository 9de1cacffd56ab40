//! Utilisation, rates and windows over the whole run, in short intervals.

use cwnd_trace::Trace;

use super::Reduction;
use crate::measure::{SHORT_INTERVAL, Window, goodput_series, utilisation_series};
use crate::scenario::Scenario;

/// As [`Probe::OVER_TIME`](super::Probe::OVER_TIME) says; nothing where the run was sampled more coarsely.
pub(super) fn over_time(scenario: &Scenario, trace: &Trace) -> Reduction {
    let mut kept = Reduction::default();
    let whole = Window { from: 0, to: trace.end };
    let used =
        trace.links.get(scenario.bottleneck()).and_then(|link| utilisation_series(trace, link, whole, SHORT_INTERVAL));
    kept.keep("utilisation", used.unwrap_or_default());
    let ends: Vec<usize> = (1..=trace.end / SHORT_INTERVAL)
        .map(|interval| trace.at.partition_point(|at| *at <= interval * SHORT_INTERVAL) - 1)
        .collect();
    for (number, flow) in (1..).zip(trace.flows.iter().take(FLOWS)) {
        let goodput = goodput_series(trace, flow, whole, SHORT_INTERVAL).unwrap_or_default();
        kept.keep(format!("goodput_bps_{number}"), goodput);
        kept.keep(format!("window_{number}"), ends.iter().map(|sample| flow.window[*sample]));
        kept.keep(format!("srtt_{number}"), ends.iter().map(|sample| flow.srtt[*sample]));
    }
    kept
}

/// As many as papers draw.
const FLOWS: usize = 5;

#[cfg(test)]
mod tests {
    use super::*;
    use cwnd_trace::{FlowTrace, LinkTrace};

    #[test]
    fn intervals_cover_the_run_from_its_start() {
        let scenario = Scenario::read("x.toml", "[dumbbell]\nrate = \"8mbit\"\n[[flow]]\nalgorithm = \"reno\"\n", &[]);
        let flow = FlowTrace {
            payload: 1000,
            delivered: vec![0, 0, 50, 150, 250].into(),
            window: vec![1.0, 2.0, 3.0, 4.0, 5.0].into(),
            srtt: vec![f64::NAN, 0.1, 0.1, 0.2, 0.2].into(),
            ..FlowTrace::default()
        };
        let link = LinkTrace {
            rate: Some(8_000_000),
            carried_bytes: vec![0, 0, 50_000, 150_000, 250_000].into(),
            ..LinkTrace::default()
        };
        let trace = Trace {
            at: (0..5).map(|k| k * 100_000_000).collect(),
            end: 400_000_000,
            flows: vec![flow],
            links: vec![link],
            ..Trace::default()
        };
        let kept = over_time(&scenario.expect("valid"), &trace);
        assert_eq!(kept.all("utilisation"), [0.25, 1.0]);
        assert_eq!(kept.all("goodput_bps_1"), [2e6, 8e6]);
        assert_eq!(kept.all("window_1"), [3.0, 5.0]);
        assert_eq!(kept.all("srtt_1"), [0.1, 0.2]);
        assert!(kept.all("window_2").is_empty());
    }
}
