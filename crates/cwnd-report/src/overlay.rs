//! Runs laid over each other as a document and as a table.

use cwnd_lab::overlay::{Part, Source};
use cwnd_run::VERSION;
use cwnd_run::measure::digits::number_to;
use cwnd_run::measure::{Curve, Window, goodput, lifetime};
use cwnd_trace::{FlowTrace, Trace};
use schemars::JsonSchema;
use serde::Serialize;

use crate::table::{Table, cut, wrapped};
use cwnd_text::one_line;

/// What `cwnd overlay` leaves as `summary.json`.
#[derive(Debug, JsonSchema, Serialize)]
pub struct Overlay {
    /// The version of cwnd, with the revision of its sources where it was built in a repository.
    pub version: &'static str,
    /// Means are over what follows this time, seconds: the longest warm-up of the runs.
    pub warmup_s: f64,
    /// The flows, in the order of the inputs.
    pub flows: Vec<OverlaidFlow>,
}

/// One flow of an overlay. Means are over time, after the warm-up: a sample holds until the next.
#[derive(Debug, JsonSchema, Serialize)]
pub struct OverlaidFlow {
    /// The label of its input, and its name there.
    pub flow: String,
    /// The label of its input.
    pub input: String,
    /// Where its numbers come from: `simulated`, `kernel`, `qlog` or `capture`.
    pub source: &'static str,
    /// The algorithm as its input names it, or `unknown`.
    pub algorithm: String,
    /// Where its samples begin and end, seconds of the common time.
    pub from_s: f64,
    /// See `from_s`.
    pub to_s: f64,
    /// Payload delivered for the first time, bit/s; null where nothing of it lies after the warm-up.
    pub goodput_bps: Option<f64>,
    /// The mean window; null where its input does not tell.
    pub window_packets: Option<f64>,
    /// The mean of what was sent and not acknowledged.
    pub in_flight_packets: Option<f64>,
    /// The mean smoothed round-trip time, seconds.
    pub srtt_s: Option<f64>,
    /// Packets sent again after the warm-up; null where its input does not tell, or nothing of it lies there.
    pub retransmitted_packets: Option<u64>,
}

impl Overlay {
    /// The document of these inputs.
    #[must_use]
    pub fn of(parts: &[Part]) -> Self {
        let warmup = parts.iter().flat_map(|part| &part.traces).map(|trace| trace.warmup).max().unwrap_or(0);
        let flows = parts.iter().flat_map(|part| {
            let of = move |trace| OverlaidFlow::all_of(part, trace, warmup);
            part.traces.iter().flat_map(of)
        });
        Self { version: VERSION, warmup_s: warmup as f64 * 1e-9, flows: flows.collect() }
    }

    /// A row for each flow, and what a reader must know of it.
    #[must_use]
    pub fn print(&self) -> String {
        let mut table = Table::default();
        let heads = ["flow", "", "algorithm", "goodput", "window", "in flight", "round trip", "retransmitted"];
        table.row(heads);
        table.row(["", "", "", "Mbit/s", "packets", "packets", "ms", "packets"]);
        let mut notes = String::new();
        let algorithms = cut(self.flows.iter().map(|flow| flow.algorithm.as_str()), LONGEST);
        for (flow, algorithm) in self.flows.iter().zip(algorithms) {
            let shown = |value: Option<f64>, scale: f64| number_to(value.map(|value| value * scale), 1);
            table.row([
                flow.flow.clone(),
                flow.source.to_string(),
                algorithm,
                shown(flow.goodput_bps, 1e-6),
                shown(flow.window_packets, 1.0),
                shown(flow.in_flight_packets, 1.0),
                shown(flow.srtt_s, 1e3),
                flow.retransmitted_packets.map_or("–".to_string(), |count| count.to_string()),
            ]);
            if flow.to_s <= self.warmup_s && flow.source != Source::Simulated.name() {
                notes += &wrapped(&format!(
                    "{} is over before the warm-up of {} s: it is in the plots; --set warmup=0s or --offset makes means of it",
                    one_line(&flow.flow),
                    self.warmup_s
                ));
            }
        }
        format!("{}means over time, after the warm-up of {} s\n{notes}", table.fitted(), self.warmup_s)
    }
}

impl OverlaidFlow {
    fn all_of(part: &Part, trace: &Trace, warmup: u64) -> Vec<Self> {
        trace.flows.iter().map(|flow| Self::of(part, trace, flow, warmup)).collect()
    }

    fn of(part: &Part, trace: &Trace, flow: &FlowTrace, warmup: u64) -> Self {
        let life = lifetime(trace, flow);
        let window = Window { from: life.from.max(warmup), to: life.to };
        let mean = |values: &mut dyn Iterator<Item = f64>| {
            let (mut sum, mut time) = (0.0, 0.0);
            for (index, value) in values.enumerate().filter(|(_, value)| value.is_finite()) {
                let next = trace.at.get(index + 1).copied().unwrap_or(window.to);
                let held = next.min(window.to).saturating_sub(trace.at[index].max(window.from)) as f64;
                (sum, time) = (sum + value * held, time + held);
            }
            (time > 0.0).then(|| sum / time)
        };
        let retransmitted = || Curve::new(&trace.at, &flow.retransmitted).rise(window) as u64;
        Self {
            flow: flow.name.clone(),
            input: part.label.clone(),
            source: part.source.name(),
            algorithm: flow.algorithm.clone(),
            from_s: life.from as f64 * 1e-9,
            to_s: life.to as f64 * 1e-9,
            goodput_bps: (!window.is_empty()).then(|| goodput(trace, flow, window)).flatten(),
            window_packets: mean(&mut flow.window.iter().copied()),
            in_flight_packets: mean(&mut flow.in_flight.iter().map(|packets| *packets as f64)),
            srtt_s: mean(&mut flow.srtt.iter().copied()),
            retransmitted_packets: (part.knows_retransmissions && !window.is_empty()).then(retransmitted),
        }
    }
}

/// Characters of the name of an algorithm.
const LONGEST: usize = 20;

#[cfg(test)]
mod tests {
    use cwnd_lab::overlay::{RecordedFlow, Sample};

    use super::*;

    #[test]
    fn means_are_over_time_and_counts_after_the_warm_up() {
        let sample = |millis: u64, window: f64, retransmitted: u64| Sample {
            at: millis * 1_000_000,
            window,
            threshold: f64::NAN,
            srtt: 0.05,
            acked: 1000 * millis,
            in_flight: window as u64,
            retransmitted: Some(retransmitted),
            pacing: f64::NAN,
        };
        // Ten packets for 900 ms, and two in ten samples of the next 100 ms.
        let dense = (0..=10).map(|nth| sample(900 + 10 * nth, 2.0, 7));
        let samples = [sample(0, 10.0, 4)].into_iter().chain(dense).collect();
        let flow = RecordedFlow { name: "a to b".to_string(), algorithm: None, mss: 1000, samples };
        let mut part = Part::recorded("x", Source::Kernel, &[flow], 0, None);
        let row = |part: &Part| Overlay::of(std::slice::from_ref(part)).flows.remove(0);
        let whole = row(&part);
        assert!((whole.window_packets.expect("known") - 9.2).abs() < 1e-9, "{whole:?}");
        assert_eq!(whole.retransmitted_packets, Some(3), "of four nothing is known");
        part.traces[0].warmup = 950_000_000;
        assert_eq!((row(&part).window_packets, row(&part).retransmitted_packets), (Some(2.0), Some(0)));
    }
}
