//! How soon something settles, read off windows that slide over the samples.

use cwnd_trace::Trace;

use super::curve::{NANOS_PER_SECOND, Window, first_window};
use super::fair::{rates_among, rates_vary};
use super::life::{is_throughout, lifetime};
use super::throughput::goodput;

/// Seconds from the start of flow `late` until it has its share to within `epsilon`; none if that does not happen, or if the flow
/// was alone.
///
/// This is the δ-fair convergence time of RFC 5166 §2.3 (after Bansal et al. 2001), for any number of flows: the end of the first
/// window of length `span` in which the goodput of the late flow lies within (1 ± ε) times the mean goodput of all flows that
/// are there throughout the window, each over its max–min fair share. The window slides from sample to sample. It is a first passage:
/// whether the share is kept is what the stability index says.
#[must_use]
pub(crate) fn convergence_time(trace: &Trace, late: usize, epsilon: f64, span: u64) -> Option<f64> {
    let newcomer = trace.flows.get(late)?;
    let mut shares = Shares::default();
    let fair = |window| {
        let there: Vec<usize> =
            (0..trace.flows.len()).filter(|flow| is_throughout(trace, &trace.flows[*flow], window)).collect();
        let Some(place) = there.iter().position(|flow| *flow == late) else { return false };
        let scales = shares.among(trace, &there, window, place);
        let scaled = there
            .iter()
            .zip(scales)
            .filter_map(|(flow, scale)| goodput(trace, &trace.flows[*flow], window).map(|rate| rate * scale));
        let rates: Vec<f64> = scaled.collect();
        let mean = rates.iter().sum::<f64>() / rates.len() as f64;
        let own = goodput(trace, newcomer, window).unwrap_or(0.0);
        rates.len() > 1 && mean > 0.0 && (own - mean).abs() <= epsilon * mean
    };
    let life = Window { from: newcomer.start, to: lifetime(trace, newcomer).to };
    let end = first_window(&trace.at, life, span, fair)?;
    Some((end - newcomer.start) as f64 / NANOS_PER_SECOND)
}

/// The scales that make fair goodputs equal, for the flows they were last found for.
#[derive(Default)]
struct Shares {
    flows: Vec<usize>,
    scales: Vec<f64>,
}

impl Shares {
    /// The share of the flow at `place` over that of each; 1 where there is none.
    fn among(&mut self, trace: &Trace, flows: &[usize], window: Window, place: usize) -> &[f64] {
        if self.flows != flows || rates_vary(trace) {
            let rates = rates_among(trace, flows, window);
            let scale = |rate: &f64| Some(rates[place] / rate).filter(|scale| scale.is_finite() && *scale > 0.0);
            self.scales = rates.iter().map(|rate| scale(rate).unwrap_or(1.0)).collect();
            self.flows = flows.to_vec();
        }
        &self.scales
    }
}

#[cfg(test)]
mod tests {
    use cwnd_trace::FlowTrace;

    use super::*;

    const SECOND: u64 = 1_000_000_000;

    fn flow(start: u64, per_second: &[u64]) -> FlowTrace {
        let total = per_second.iter().scan(0, |sum, more| {
            *sum += more;
            Some(*sum)
        });
        FlowTrace { start, payload: 1000, delivered: [0].into_iter().chain(total).collect(), ..FlowTrace::default() }
    }

    fn trace(flows: Vec<FlowTrace>) -> Trace {
        Trace { at: (0..=8).map(|k| k * SECOND).collect(), end: 8 * SECOND, flows, ..Trace::default() }
    }

    #[test]
    fn the_late_flow_reaches_its_half() {
        let old = flow(0, &[100, 100, 90, 70, 60, 54, 50, 50]);
        let late = flow(2 * SECOND, &[0, 0, 10, 30, 40, 46, 50, 50]);
        let trace = trace(vec![old, late]);
        // In the sixth second it has 46 of 50, the first within ten per cent; it started two seconds in.
        assert_eq!(convergence_time(&trace, 1, 0.1, SECOND), Some(4.0));
        assert_eq!(convergence_time(&trace, 1, 0.01, SECOND), Some(5.0));
        // Over two seconds (46 + 50) of (100): 48 within 5 %.
        assert_eq!(convergence_time(&trace, 1, 0.05, 2 * SECOND), Some(5.0));
    }

    #[test]
    fn too_much_is_not_fair_either() {
        let trace =
            trace(vec![flow(0, &[100, 100, 0, 0, 0, 0, 0, 0]), flow(2 * SECOND, &[0, 0, 90, 90, 90, 90, 90, 90])]);
        assert_eq!(convergence_time(&trace, 1, 0.1, SECOND), None);
    }

    #[test]
    fn alone_or_sampled_too_coarsely_there_is_no_convergence() {
        assert_eq!(convergence_time(&trace(vec![flow(0, &[1; 8])]), 0, 0.1, SECOND), None);
        let two = trace(vec![flow(0, &[1; 8]), flow(0, &[1; 8])]);
        assert_eq!(convergence_time(&two, 1, 0.1, SECOND), Some(1.0));
        assert_eq!(convergence_time(&two, 1, 0.1, SECOND / 2), None);
        assert_eq!(convergence_time(&two, 9, 0.1, SECOND), None);
    }
}
