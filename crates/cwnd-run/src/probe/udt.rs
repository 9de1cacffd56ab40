//! What rate-based senders know and do: the capacity they measure, the window they keep, the way to the top.

use cwnd_trace::{FlowTrace, Trace};

use super::{Probe, Reduction};
use crate::measure::mean;
use crate::scenario::Scenario;

/// The capacity by packet pairs over that of the bottleneck, after the warm-up, over all flows and samples: `estimate_mean`,
/// `estimate_median`.
pub const ESTIMATE: Probe = Probe { name: "capacity estimate", of: estimate };

/// How far windows go beyond eq. 21 of daimd, over all flows: the largest quotient of a sampled window and the largest
/// AS (SYN + RTT) of the hundred samples up to it, from the 120th sample on (`window_over_bound`).
pub const WINDOW_BOUND: Probe = Probe { name: "window bound", of: window_bound };

/// Of the first flow: when it first knew of a round trip (`first_ack_s`), the rate it had then (`first_rate_bps`), and when its rate
/// reached 0.9 of the bottleneck's (`at_90_s`), to the sampling.
pub const RISE_FROM_REST: Probe = Probe { name: "rise from rest", of: rise };

fn internal<'a>(flow: &'a FlowTrace, name: &str) -> &'a [f64] {
    flow.internals.iter().find(|(known, _)| *known == name).map_or(&[], |(_, values)| values)
}

fn estimate(scenario: &Scenario, trace: &Trace) -> Reduction {
    let mut kept = Reduction::default();
    let Some(capacity) = trace.links.get(scenario.bottleneck()).and_then(|link| link.rate) else { return kept };
    let of = |flow: &FlowTrace| {
        let scale = f64::from(flow.packet) * 8.0 / capacity as f64;
        let samples = trace.at.iter().zip(internal(flow, "pair_rate"));
        // Nothing is known before the first pair.
        let known = samples.filter(|(at, rate)| **at >= trace.warmup && **rate > 0.0);
        known.map(|(_, rate)| rate * scale).collect::<Vec<f64>>()
    };
    let mut all: Vec<f64> = trace.flows.iter().flat_map(of).collect();
    all.sort_by(f64::total_cmp);
    kept.keep_one("estimate_mean", mean(&all));
    kept.keep_one("estimate_median", all.get(all.len() / 2).copied());
    kept
}

fn window_bound(_: &Scenario, trace: &Trace) -> Reduction {
    let mut kept = Reduction::default();
    let mut worst: Option<f64> = None;
    for flow in &trace.flows {
        let arrivals = internal(flow, "arrival_rate");
        let bounds: Vec<f64> = arrivals.iter().zip(&flow.srtt).map(|(rate, rtt)| rate * (SYN + rtt)).collect();
        for (at, window) in flow.window.iter().enumerate().take(bounds.len()).skip(FIRST) {
            let recent = bounds[at + 1 - RECENT..=at].iter().copied().fold(0.0, f64::max);
            if recent > 0.0 {
                worst = Some(worst.unwrap_or(0.0).max(window / recent));
            }
        }
    }
    kept.keep_one("window_over_bound", worst);
    kept
}

fn rise(scenario: &Scenario, trace: &Trace) -> Reduction {
    let mut kept = Reduction::default();
    let capacity = trace.links.get(scenario.bottleneck()).and_then(|link| link.rate);
    let (Some(flow), Some(capacity)) = (trace.flows.first(), capacity) else { return kept };
    let bits = f64::from(flow.packet) * 8.0;
    // Senders space packets by whole nanoseconds: so is the goal.
    let spacing = libm::ceil(1e9 * bits / (0.9 * capacity as f64));
    let seconds = |sample: usize| trace.at[sample] as f64 / 1e9;
    let first = flow.srtt.iter().position(|rtt| rtt.is_finite());
    kept.keep_one("first_ack_s", first.map(seconds));
    kept.keep_one("first_rate_bps", first.map(|first| flow.pacing_rate[first] * bits));
    kept.keep_one("at_90_s", flow.pacing_rate.iter().position(|rate| *rate >= 1e9 / spacing).map(seconds));
    kept
}

/// UDT's control interval, seconds.
const SYN: f64 = 0.01;
/// Samples before the window is looked at, and over which arrivals count as recent.
const FIRST: usize = 120;
const RECENT: usize = 100;
