//! What flows achieve, and how steadily.

use cwnd_trace::{FlowTrace, Trace};

use super::curve::{Curve, Window};
use super::life::{Life, seconds_of_all};
use super::statistics::{in_unit, mean, sample_deviation};

/// Payload bits of different packets that reached the receiver in the parts of `window` in which the flow is there, per second of them
/// (goodput in RFC 5166 §2.1). None if it takes no part in the window.
#[must_use]
pub fn goodput(trace: &Trace, flow: &FlowTrace, window: Window) -> Option<f64> {
    Some(Life::within(trace, flow, window)?.per_second(|flow| &flow.delivered) * bits(flow.payload))
}

/// Bits on the wire that the sender sent in the parts of `window` in which the flow is there, headers and retransmissions included, per
/// second of them. None if it takes no part in the window.
#[must_use]
pub fn wire_throughput(trace: &Trace, flow: &FlowTrace, window: Window) -> Option<f64> {
    Some(Life::within(trace, flow, window)?.per_second(|flow| &flow.sent) * bits(flow.packet))
}

/// Payload bits of all `flows` together, each counted while it is there, per second of `window` in which at least one of them is. None if
/// none takes part in it.
#[must_use]
pub(crate) fn goodput_of_all(trace: &Trace, flows: &[FlowTrace], window: Window) -> Option<f64> {
    let lives: Vec<(Life<'_>, f64)> =
        flows.iter().filter_map(|flow| Some((Life::within(trace, flow, window)?, bits(flow.payload)))).collect();
    let seconds = seconds_of_all(lives.iter().map(|(life, _)| life));
    let rates = lives.iter().map(|(life, bits)| life.rise(|flow| &flow.delivered) / seconds * bits);
    (!lives.is_empty()).then(|| rates.sum())
}

/// The efficiency index, EI = Σᵢ x̄ᵢ, bit/s: over flows, the mean of their goodput per interval (`daimd` §V). Intervals in which no flow is
/// there do not count, so it is the goodput of all `flows` together over the whole intervals of `window`. None where the trace is sampled
/// more coarsely than `interval`, without a whole one, or if no flow takes part.
#[must_use]
pub(crate) fn efficiency_index(trace: &Trace, flows: &[FlowTrace], window: Window, interval: u64) -> Option<f64> {
    let pieces = Curve::new(&trace.at, &trace.at).series(window, interval)?.len() as u64;
    goodput_of_all(trace, flows, Window { to: window.from + pieces * interval, ..window })
}

/// The [`goodput_series`] of the whole intervals of each stage of `life`, one after the other.
#[must_use]
pub(crate) fn own_series(trace: &Trace, flow: &FlowTrace, life: &Life<'_>, interval: u64) -> Option<Vec<f64>> {
    let stages: Option<Vec<_>> =
        life.stages.iter().map(|stage| goodput_series(trace, flow, *stage, interval)).collect();
    stages.map(|stages| stages.concat())
}

/// The [`goodput`] of each flow that takes part in it, for each whole `interval` of `window`, bit/s. None where the trace is sampled more
/// coarsely.
#[must_use]
pub fn goodputs_over_time(trace: &Trace, window: Window, interval: u64) -> Option<Vec<Vec<f64>>> {
    let pieces = Curve::new(&trace.at, &trace.at).series(window, interval)?.len() as u64;
    let piece = |k| Window { from: window.from + k * interval, to: window.from + (k + 1) * interval };
    let rates = |k| trace.flows.iter().filter_map(|flow| goodput(trace, flow, piece(k))).collect();
    Some((0..pieces).map(rates).collect())
}

/// Payload bits delivered in each whole `interval` of `window`, per second, whether the flow lives then or not. None where the trace is
/// sampled more coarsely.
#[must_use]
pub fn goodput_series(trace: &Trace, flow: &FlowTrace, window: Window, interval: u64) -> Option<Vec<f64>> {
    let rates = Curve::new(&trace.at, &flow.delivered).series(window, interval)?;
    Some(rates.into_iter().map(|rate| rate * bits(flow.payload)).collect())
}

/// The standard deviation (m − 1 in the denominator) as a share of the mean; none below two values, for a mean that is not above zero, or
/// where a value is not finite.
///
/// Of the throughput of a flow over short intervals it is its roughness: 0 is perfectly smooth (Floyd, Handley, Padhye, Widmer 2000).
#[must_use]
pub fn coefficient_of_variation(values: &[f64]) -> Option<f64> {
    if !values.iter().all(|value| value.is_finite()) {
        return None;
    }
    let (values, _) = in_unit(values);
    let mean = mean(&values).filter(|mean| *mean > 0.0)?;
    Some(sample_deviation(&values)? / mean).filter(|ratio| ratio.is_finite())
}

/// The stability index, SI = (1/n) Σᵢ (1/x̄ᵢ) √(Σⱼ (xᵢ(j) − x̄ᵢ)² / (m − 1)), over m intervals: 0 is perfectly stable (`daimd` eq. 18,
/// which takes it from FAST TCP: Jin, Wei, Low 2004).
///
/// `series` has one list of per-interval throughputs per flow. Flows that deliver nothing have no such ratio and are left out;
/// Jain's index shows them. None if no flow is left, m is below 2, or a throughput is negative or not finite.
#[must_use]
pub fn stability_index(series: &[Vec<f64>]) -> Option<f64> {
    if !series.iter().flatten().all(|throughput| throughput.is_finite() && *throughput >= 0.0) {
        return None;
    }
    let ratios: Vec<f64> = series.iter().filter_map(|flow| coefficient_of_variation(flow)).collect();
    mean(&ratios)
}

fn bits(bytes: u32) -> f64 {
    f64::from(bytes) * 8.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trace() -> Trace {
        let flow = FlowTrace {
            packet: 1500,
            payload: 1000,
            delivered: vec![0, 100, 300, 600].into(),
            sent: vec![0, 110, 330, 660].into(),
            ..FlowTrace::default()
        };
        Trace {
            at: vec![0, 1_000_000_000, 2_000_000_000, 3_000_000_000].into(),
            warmup: 1_000_000_000,
            end: 3_000_000_000,
            flows: vec![flow],
            ..Trace::default()
        }
    }

    #[test]
    fn goodput_counts_payload_delivered_after_the_warmup() {
        let trace = trace();
        let window = Window::measured(&trace);
        // 500 packets of 8000 bits in two seconds; 550 of 12 000 bits on the wire.
        assert_eq!(goodput(&trace, &trace.flows[0], window), Some(2e6));
        assert_eq!(wire_throughput(&trace, &trace.flows[0], window), Some(3.3e6));
        assert_eq!(goodput_series(&trace, &trace.flows[0], window, 1_000_000_000), Some(vec![1.6e6, 2.4e6]));
        assert_eq!(goodput_series(&trace, &trace.flows[0], window, 200_000_000), None);
    }

    #[test]
    fn variation_and_stability() {
        // Deviation of (1, 3) is √2, its mean 2; the steady flow has none, the idle one does not count.
        let rough = core::f64::consts::FRAC_1_SQRT_2;
        assert_eq!(coefficient_of_variation(&[1.0, 3.0]), Some(rough));
        let index = stability_index(&[vec![1.0, 3.0], vec![5.0, 5.0], vec![0.0, 0.0]]).expect("two flows count");
        assert!((index - rough / 2.0).abs() < 1e-15);
        assert_eq!(stability_index(&[vec![1.0]]), None);
    }
}
