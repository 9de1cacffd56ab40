//! Runs laid over each other as a document and as a table.

use cwnd_lab::overlay::{Part, Source};
use cwnd_run::VERSION;
use cwnd_run::measure::{Window, goodput, lifetime};
use cwnd_trace::{FlowTrace, Trace};
use schemars::JsonSchema;
use serde::Serialize;

use crate::table::Table;
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

/// One flow of an overlay. Means are over its samples after the warm-up.
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
    /// Packets sent again up to its end; null where its input does not tell.
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
        for flow in &self.flows {
            let shown = |value: Option<f64>, scale: f64| {
                value.map_or("–".to_string(), |value| format!("{:.1}", value * scale))
            };
            table.row([
                flow.flow.clone(),
                flow.source.to_string(),
                flow.algorithm.clone(),
                shown(flow.goodput_bps, 1e-6),
                shown(flow.window_packets, 1.0),
                shown(flow.in_flight_packets, 1.0),
                shown(flow.srtt_s, 1e3),
                flow.retransmitted_packets.map_or("–".to_string(), |count| count.to_string()),
            ]);
            if flow.to_s <= self.warmup_s && flow.source != Source::Simulated.name() {
                notes += &format!(
                    "{} is over before the warm-up of {} s: it is in the plots; --set warmup=0s or --offset makes means of it\n",
                    one_line(&flow.flow),
                    self.warmup_s
                );
            }
        }
        format!("{}means over the samples after the warm-up of {} s\n{notes}", table.print(), self.warmup_s)
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
            let inside = |at: u64| (window.from..=window.to).contains(&at);
            let values = trace.at.iter().zip(values).filter(|(at, value)| inside(**at) && value.is_finite());
            let values: Vec<f64> = values.map(|(_, value)| value).collect();
            (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
        };
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
            retransmitted_packets: part.knows_retransmissions.then(|| flow.retransmitted.last().copied()).flatten(),
        }
    }
}
