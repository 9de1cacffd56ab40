//! Stages: the spans between the instants at which flows are to start, pause, go on and stop.

use std::collections::BTreeSet;

use cwnd_trace::{FlowTrace, Trace};

use super::{Probe, Reduction};
use crate::measure::{Curve, LinkCount, Window, link_rate, mean, stability_index};
use crate::scenario::Scenario;

/// Of each stage after the warm-up, counted from 1: the rate of its flows, in bits on the wire per second
/// (`stage_1_throughput_bps`) and the same over its second half (`stage_1_late_bps`), their stability index over samples as far
/// apart as those of the trace (`stage_1_si`), the mean of their smoothed round-trip times (`stage_1_rtt_s`), and the share lost of the packets
/// offered to the bottleneck (`stage_1_loss`). A flow belongs to the stages that it lasts through. A run in which all flows stay has one stage.
pub const STAGES: Probe = Probe { name: "stages", of: stages };

fn stages(scenario: &Scenario, trace: &Trace) -> Reduction {
    let mut kept = Reduction::default();
    let inside = |at: &u64| (trace.warmup..trace.end).contains(at);
    let pauses = trace.flows.iter().flat_map(|flow| &flow.pauses).flat_map(|pause| [pause.from, pause.to]);
    let times = trace.flows.iter().flat_map(|flow| [Some(flow.start), flow.stop]).flatten();
    let changes = times.chain(pauses).filter(inside);
    let edges: Vec<u64> = changes.chain([trace.warmup, trace.end]).collect::<BTreeSet<u64>>().into_iter().collect();
    for (n, edge) in edges.windows(2).enumerate() {
        let window = Window { from: edge[0], to: edge[1] };
        let late = Window { from: window.from + (window.to - window.from) / 2, ..window };
        let pauses =
            |flow: &FlowTrace| flow.pauses.iter().any(|pause| pause.from < window.to && window.from < pause.to);
        let stays = |flow: &FlowTrace| flow.start <= window.from && flow.stop.is_none_or(|stop| stop >= window.to);
        let lasts = |flow: &&FlowTrace| stays(flow) && !pauses(flow);
        let flows: Vec<&FlowTrace> = trace.flows.iter().filter(lasts).collect();
        let name = |what: &str| format!("stage_{}_{what}", n + 1);
        let rates = |window| flows.iter().filter_map(move |flow| throughput(trace, flow, window));
        kept.keep(name("throughput_bps"), rates(window));
        kept.keep(name("late_bps"), rates(late));
        let series: Option<Vec<Vec<f64>>> = flows.iter().map(|flow| series(trace, flow, window)).collect();
        kept.keep_one(name("si"), series.and_then(|series| stability_index(&series)));
        kept.keep_one(
            name("rtt_s"),
            mean(&flows.iter().filter_map(|flow| rtt(trace, flow, window)).collect::<Vec<_>>()),
        );
        let link = trace.links.get(scenario.bottleneck());
        kept.keep_one(name("loss"), link.and_then(|link| link_rate(trace, link, LinkCount::Lost, window)));
    }
    kept
}

fn throughput(trace: &Trace, flow: &FlowTrace, window: Window) -> Option<f64> {
    Curve::new(&trace.at, &flow.delivered).per_second(window).map(|rate| rate * f64::from(flow.packet) * 8.0)
}

fn series(trace: &Trace, flow: &FlowTrace, window: Window) -> Option<Vec<f64>> {
    let [first, second, ..] = trace.at[..] else { return None };
    Curve::new(&trace.at, &flow.delivered).series(window, second - first)
}

fn rtt(trace: &Trace, flow: &FlowTrace, window: Window) -> Option<f64> {
    let inside = |at: u64| window.from < at && at <= window.to;
    let samples = trace.at.iter().zip(&flow.srtt).filter(|(at, rtt)| inside(**at) && rtt.is_finite());
    mean(&samples.map(|(_, rtt)| *rtt).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use cwnd_trace::Pause;

    use super::*;

    #[test]
    fn a_stage_has_the_flows_that_last_through_it() {
        let text = "duration = \"6s\"\nwarmup = \"0s\"\n[dumbbell]\n[[flow]]\nalgorithm = \"reno\"\n";
        let scenario = Scenario::read("test.toml", text, &[]).unwrap_or_else(|error| panic!("{error}"));
        let second = 1_000_000_000;
        let flow = |start, stop, delivered: [u64; 7]| FlowTrace {
            packet: 1250,
            start,
            stop,
            delivered: delivered.to_vec().into(),
            srtt: vec![0.5; 7].into(),
            ..FlowTrace::default()
        };
        let trace = Trace {
            at: (0..=6).map(|n| n * second).collect(),
            end: 6 * second,
            flows: vec![
                flow(0, None, [0, 10, 30, 40, 50, 60, 70]),
                flow(2 * second, Some(4 * second), [0, 0, 0, 10, 30, 31, 31]),
                FlowTrace {
                    pauses: vec![Pause { from: 2 * second, to: 4 * second }],
                    ..flow(0, None, [0, 20, 20, 21, 21, 21, 71])
                },
            ],
            ..Trace::default()
        };
        let kept = stages(&scenario, &trace);
        // 1250 bytes are 10^4 bits.
        assert_eq!(kept.all("stage_1_throughput_bps"), [150e3, 100e3]);
        assert_eq!(kept.all("stage_1_late_bps"), [200e3, 0.0]);
        assert_eq!(kept.all("stage_2_throughput_bps"), [100e3, 150e3]);
        assert_eq!(kept.all("stage_3_throughput_bps"), [100e3, 250e3]);
        assert!(kept.all("stage_4_throughput_bps").is_empty());
        assert_eq!(kept.one("stage_1_rtt_s"), Some(0.5));
        // 10 and 20 packets: a deviation of sqrt(50) on a mean of 15. 20 and none: sqrt(200) on 10.
        let expected = f64::midpoint(50_f64.sqrt() / 15.0, 200_f64.sqrt() / 10.0);
        assert!((kept.one("stage_1_si").unwrap_or(0.0) - expected).abs() < 1e-12);
    }
}
