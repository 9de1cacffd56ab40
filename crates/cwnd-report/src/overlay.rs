//! Runs laid over each other as a document and as a table.

use cwnd_lab::overlay::{Part, Source};
use cwnd_run::VERSION;
use cwnd_run::measure::digits::number_to;
use cwnd_run::measure::{Curve, Window, goodput, lifetime, mean};
use cwnd_trace::{FlowTrace, Trace};
use schemars::JsonSchema;
use serde::Serialize;

use crate::table::{Table, cut, wrapped};
use cwnd_text::{counted, one_line};

/// The document of `cwnd overlay`: `summary.json`.
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
    /// Payload delivered for the first time, bit/s; null where its input does not tell, or nothing of it lies after the warm-up.
    pub goodput_bps: Option<f64>,
    /// The mean window; null where its input does not tell.
    pub window_packets: Option<f64>,
    /// The mean number of packets sent and not acknowledged.
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
        let (rows, more) = self.rows();
        let algorithms = cut(rows.iter().map(|row| row.flows[0].algorithm.as_str()), LONGEST);
        for (row, algorithm) in rows.iter().zip(algorithms) {
            table.row(row.cells(algorithm));
        }
        let others = rows.iter().any(|row| row.flows.len() > 1);
        let others =
            if others { "others: the mean of each column over flows without a row of their own\n" } else { "" };
        let more = if more == 0 { String::new() } else { format!("and {more} more flows: see summary.json\n") };
        format!(
            "{}{more}{others}means over time, after the warm-up of {} s\n{}",
            table.fitted(),
            self.warmup_s,
            self.over_before_the_warm_up()
        )
    }

    /// The rows of the table, and how many flows have none. Of many flows with one input and algorithm some have a row of their own.
    fn rows(&self) -> (Vec<Row<'_>>, usize) {
        if self.flows.len() <= MAX_ROWS {
            return (self.flows.iter().map(|flow| Row { flows: vec![flow] }).collect(), 0);
        }
        let mut groups: Vec<Vec<&OverlaidFlow>> = Vec::new();
        for flow in &self.flows {
            let alike =
                |group: &Vec<&OverlaidFlow>| (&group[0].input, &group[0].algorithm) == (&flow.input, &flow.algorithm);
            match groups.iter_mut().find(|group| alike(group)) {
                Some(group) => group.push(flow),
                None => groups.push(vec![flow]),
            }
        }
        let left_out = groups.split_off(groups.len().min(MAX_ROWS)).iter().map(Vec::len).sum();
        let own = (MAX_ROWS / groups.len()).saturating_sub(1);
        let rows = groups.into_iter().flat_map(|mut group| {
            let rest = if group.len() <= own + 1 { Vec::new() } else { group.split_off(own) };
            let rest = (!rest.is_empty()).then_some(Row { flows: rest });
            group.into_iter().map(|flow| Row { flows: vec![flow] }).chain(rest)
        });
        (rows.collect(), left_out)
    }

    /// The flows of which there are no means.
    fn over_before_the_warm_up(&self) -> String {
        let over = |flow: &&OverlaidFlow| flow.to_s <= self.warmup_s && flow.source != Source::Simulated.name();
        let over: Vec<&OverlaidFlow> = self.flows.iter().filter(over).collect();
        let (who, it) = match over.as_slice() {
            [] => return String::new(),
            [one] => (format!("{} is", one_line(&one.flow)), "it is"),
            [first, rest @ ..] => {
                (format!("{} and {} are", one_line(&first.flow), counted(rest.len(), "other")), "they are")
            }
        };
        let warmup = self.warmup_s;
        wrapped(&format!(
            "{who} over before the warm-up of {warmup} s: {it} in the plots; --set warmup=0s or --offset makes means of it"
        ))
    }
}

/// A row of the table: a flow, or those of one input and algorithm that have none of their own.
struct Row<'a> {
    flows: Vec<&'a OverlaidFlow>,
}

impl Row<'_> {
    fn cells(&self, algorithm: String) -> [String; 8] {
        let first = self.flows[0];
        let shown = |of: &dyn Fn(&OverlaidFlow) -> Option<f64>, scale: f64| {
            let known: Vec<f64> = self.flows.iter().filter_map(|flow| of(flow)).collect();
            number_to(mean(&known).map(|value| value * scale), 1)
        };
        let is_rest = self.flows.len() > 1;
        [
            if is_rest { format!("{}: {} others", first.input, self.flows.len()) } else { first.flow.clone() },
            first.source.to_string(),
            algorithm,
            shown(&|flow| flow.goodput_bps, 1e-6),
            shown(&|flow| flow.window_packets, 1.0),
            shown(&|flow| flow.in_flight_packets, 1.0),
            shown(&|flow| flow.srtt_s, 1e3),
            match first.retransmitted_packets {
                Some(count) if !is_rest => count.to_string(),
                _ => shown(&|flow| flow.retransmitted_packets.map(|count| count as f64), 1.0),
            },
        ]
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
            goodput_bps: (part.knows_delivered && !window.is_empty()).then(|| goodput(trace, flow, window)).flatten(),
            window_packets: mean(&mut flow.window.iter().copied()),
            in_flight_packets: mean(&mut flow.in_flight.iter().map(|packets| *packets as f64)),
            srtt_s: mean(&mut flow.srtt.iter().copied()),
            retransmitted_packets: (part.knows_retransmissions && !window.is_empty()).then(retransmitted),
        }
    }
}

/// Characters of the name of an algorithm.
const LONGEST: usize = 20;
/// A terminal's height; more rows are no table to judge.
const MAX_ROWS: usize = 24;

#[cfg(test)]
mod tests {
    use cwnd_lab::overlay::{RecordedFlow, Sample};

    use super::*;

    #[test]
    fn the_table_has_a_row_for_the_rest_of_many_flows() {
        let flow = |input: &str, nth: usize| OverlaidFlow {
            flow: format!("{input}: {nth}"),
            input: input.to_string(),
            source: Source::Kernel.name(),
            algorithm: "reno".to_string(),
            from_s: 0.0,
            to_s: 9.0,
            goodput_bps: Some(1e6 * nth as f64),
            window_packets: None,
            in_flight_packets: Some(1.0),
            srtt_s: Some(0.1),
            retransmitted_packets: Some(nth as u64),
        };
        let of = |counts: &[usize]| {
            let inputs = counts.iter().enumerate();
            let flows = inputs.flat_map(|(input, count)| (0..*count).map(move |nth| flow(&format!("i{input}"), nth)));
            Overlay { version: "", warmup_s: 1.0, flows: flows.collect() }
        };
        assert_eq!(of(&[MAX_ROWS]).rows().0.len(), MAX_ROWS);
        let text = of(&[100, 2, 12]).print();
        assert!(text.lines().filter(|line| line.contains("kernel")).count() <= MAX_ROWS, "{text}");
        // The mean of 7 to 99, and of 7 to 11.
        let rest = |input: &str| {
            text.lines().find(|line| line.starts_with(input) && line.contains("others")).unwrap_or_default()
        };
        let numbers = |line: &str| line.split_whitespace().rev().take(5).map(str::to_string).collect::<Vec<_>>();
        assert_eq!(numbers(rest("i0: 93 others")), ["53.0", "100.0", "1.0", "–", "53.0"], "{text}");
        assert_eq!(numbers(rest("i2: 5 others")), ["9.0", "100.0", "1.0", "–", "9.0"], "{text}");
        assert!(rest("i1").is_empty(), "both of its flows have rows: {text}");
        let (rows, more) = (of(&[2; 40]).rows().0.len(), of(&[2; 40]).rows().1);
        assert_eq!((rows, more), (MAX_ROWS, 32));
        assert!(of(&[2; 40]).print().contains("and 32 more flows: see summary.json"));
    }

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
        part.knows_delivered = false;
        assert_eq!((row(&part).goodput_bps, row(&part).window_packets), (None, whole.window_packets));
        part.traces[0].warmup = 950_000_000;
        assert_eq!((row(&part).window_packets, row(&part).retransmitted_packets), (Some(2.0), Some(0)));
    }
}
