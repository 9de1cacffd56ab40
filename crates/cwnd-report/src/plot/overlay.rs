//! Flows of several runs, each with instants of its own, in the same plots.

use std::collections::BTreeMap;

use cwnd_lab::overlay::Part;
use cwnd_run::measure::{Curve, Window, lifetime};
use cwnd_text::counted;
use cwnd_trace::{FlowTrace, LinkTrace, Trace};
use serde_json::Value;

use super::axis::Axis;
use super::colour::{self, Palette};
use super::downsample::extremes;
use super::lines::{Line, Lines};
use super::spec::Plot;
use super::time::seconds;

/// What the colours of flows are of: the algorithm, and the input of those that several have.
pub(crate) fn keys(parts: &[Part]) -> Vec<String> {
    parts.iter().flat_map(|part| flows(part).map(|(_, flow)| key(part, flow))).collect()
}

/// The window, the goodput, the packets in flight and the round-trip time of the flows, and the queues, over time.
pub(crate) fn plots(parts: &[Part], palette: &Palette) -> Vec<Plot> {
    let end = parts.iter().map(Part::end).max().unwrap_or(0);
    let warmup = parts.iter().flat_map(|part| &part.traces).map(|trace| trace.warmup).max().unwrap_or(0);
    let scene = Scene { parts, palette, end, warmup, interval: SHORTEST.max(end / MOST_INTERVALS) };
    let plots = [
        scene.plot("window", "Window", "Packets the algorithm allows in flight.", "window_packets", window),
        scene.plot("goodput", "Goodput", &scene.goodput_caption(), "goodput_bps", |flow, trace| {
            goodput(flow, trace, scene.interval)
        }),
        scene.plot("rtt", "Round-trip time", "Smoothed round-trip time at the sender.", "srtt_s", srtt),
        scene.plot("in-flight", "In flight", "Packets sent and not acknowledged.", "in_flight_packets", in_flight),
        scene.queues(),
    ];
    plots.into_iter().flatten().collect()
}

/// A curve: times in seconds, and values.
type Points = (Vec<f64>, Vec<f64>);

struct Scene<'a> {
    parts: &'a [Part],
    palette: &'a Palette,
    end: u64,
    warmup: u64,
    /// Nanoseconds over which rates are averaged.
    interval: u64,
}

impl Scene<'_> {
    /// A plot of one curve for each flow that is drawn; none without numbers.
    fn plot(
        &self,
        id: &str,
        title: &str,
        caption: &str,
        column: &str,
        points: impl Fn(&FlowTrace, &Trace) -> Points,
    ) -> Option<Plot> {
        let each = (MOST / self.parts.len().max(1)).max(1);
        let mut lines = Vec::new();
        let mut left_out = 0;
        for part in self.parts {
            left_out += flows(part).count().saturating_sub(each);
            for (trace, flow) in some(part, each) {
                let (x, y) = points(flow, trace);
                let colour = self.palette.variable(&key(part, flow));
                lines.push(self.line(&flow.name, colour, lines.len(), &x, &y));
            }
        }
        let more = match left_out {
            0 => String::new(),
            some => format!(" Not drawn, and in the table only: {}.", counted(some, "flow")),
        };
        self.finish(id, title, &format!("{caption}{more}"), column, lines)
    }

    /// The fullest queue of each run.
    fn queues(&self) -> Option<Plot> {
        let mut lines = Vec::new();
        for part in self.parts {
            for trace in &part.traces {
                let fullest = |link: &&LinkTrace| link.queue_packets.iter().copied().max().unwrap_or(0);
                // Of links as full as each other, the first.
                let Some(link) = trace.links.iter().rev().max_by_key(fullest).filter(|link| fullest(link) > 0) else {
                    continue;
                };
                let x: Vec<f64> = trace.at.iter().map(|at| seconds(*at)).collect();
                let y: Vec<f64> = link.queue_packets.iter().map(|packets| *packets as f64).collect();
                let colour =
                    trace.flows.first().map_or_else(colour::neutral, |flow| self.palette.variable(&key(part, flow)));
                lines.push(self.line(&link.name, colour, lines.len(), &x, &y));
                if lines.len() >= MOST {
                    break;
                }
            }
        }
        self.finish("queue", "Queue", "Packets waiting at the link with the longest queue.", "queue_packets", lines)
    }

    fn line(&self, name: &str, colour: String, nth: usize, x: &[f64], y: &[f64]) -> Line {
        let kept = extremes(x, y, COLUMNS);
        let pick = |from: &[f64]| kept.iter().map(|index| from[*index]).collect();
        Line { name: name.to_string(), colour, dash: colour::dash(nth), x: pick(x), y: pick(y) }
    }

    fn finish(&self, id: &str, title: &str, caption: &str, column: &str, mut lines: Vec<Line>) -> Option<Plot> {
        lines.retain(|line| !line.y.is_empty());
        lines.first()?;
        let largest = lines.iter().flat_map(|line| &line.y).copied().fold(0.0, f64::max);
        let axis = match column {
            "goodput_bps" => Axis::bit_rate(column, "Goodput"),
            _ => Axis::of_column(column),
        };
        let axis = if largest > 0.0 { axis.within(0.0, 1.05 * largest) } else { axis };
        let mut lines = Lines::new(title, Axis::time(seconds(self.end)), axis, lines);
        lines.warmup = seconds(self.warmup);
        let shaded = if self.warmup > 0 { " Shaded: warm-up." } else { "" };
        let mut plot = lines.captioned(id, &format!("{caption}{shaded}"));
        let longest = lines.lines.iter().map(|line| line.name.chars().count()).max().unwrap_or(0);
        set_columns(&mut plot.spec, (CARD / (LETTER * longest + SYMBOL)).clamp(1, 4));
        Some(plot)
    }

    fn goodput_caption(&self) -> String {
        format!("Payload delivered for the first time, averaged over {:.0} ms.", self.interval as f64 * 1e-6)
    }
}

/// The flows of an input, each with its trace.
fn flows(part: &Part) -> impl Iterator<Item = (&Trace, &FlowTrace)> {
    part.traces.iter().flat_map(|trace| trace.flows.iter().map(move |flow| (trace, flow)))
}

/// At most so many flows of an input, of each of its algorithms as many, in their order.
fn some(part: &Part, most: usize) -> Vec<(&Trace, &FlowTrace)> {
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    let nth = flows(part).map(|(_, flow)| {
        let count = seen.entry(&flow.algorithm).or_default();
        *count += 1;
        *count
    });
    let nth: Vec<usize> = nth.collect();
    let mut order: Vec<usize> = (0..nth.len()).collect();
    order.sort_by_key(|index| nth[*index]);
    let taken = order.get(..most).unwrap_or(&order);
    flows(part).enumerate().filter(|(index, _)| taken.contains(index)).map(|(_, flow)| flow).collect()
}

/// Gives each legend so many columns.
fn set_columns(spec: &mut Value, columns: usize) {
    match spec {
        Value::Object(map) => {
            if let Some(Value::Object(legend)) = map.get_mut("legend") {
                legend.insert("columns".to_string(), columns.into());
                legend.insert("labelLimit".to_string(), (CARD - SYMBOL).into());
            }
            map.values_mut().for_each(|inner| set_columns(inner, columns));
        }
        Value::Array(all) => all.iter_mut().for_each(|inner| set_columns(inner, columns)),
        _ => {}
    }
}

/// The second and later variants of an algorithm have colours of their own: here its inputs are the variants.
fn key(part: &Part, flow: &FlowTrace) -> String {
    let name = flow.algorithm.split(':').next().unwrap_or_default();
    let plain = name.strip_suffix(" (Linux)").unwrap_or(name);
    format!("{plain}:{} {}", part.label, flow.algorithm)
}

fn window(flow: &FlowTrace, trace: &Trace) -> Points {
    state(trace, flow, flow.window.iter().copied())
}

fn srtt(flow: &FlowTrace, trace: &Trace) -> Points {
    state(trace, flow, flow.srtt.iter().copied())
}

fn in_flight(flow: &FlowTrace, trace: &Trace) -> Points {
    state(trace, flow, flow.in_flight.iter().map(|packets| *packets as f64))
}

/// A column while the flow is there.
fn state(trace: &Trace, flow: &FlowTrace, values: impl Iterator<Item = f64>) -> Points {
    let life = lifetime(trace, flow);
    let there = trace.at.iter().zip(values).filter(|(at, _)| (life.from..=life.to).contains(*at));
    there.map(|(at, value)| (seconds(*at), value)).unzip()
}

/// Rates over intervals in the flow's life, each at the middle of its interval.
fn goodput(flow: &FlowTrace, trace: &Trace, interval: u64) -> Points {
    let life = lifetime(trace, flow);
    let curve = Curve::new(&trace.at, &flow.delivered);
    let bits = f64::from(flow.payload) * 8.0;
    let starts = (life.from..life.to).step_by(usize::try_from(interval).unwrap_or(usize::MAX));
    let pieces = starts.map(|from| Window { from, to: from.saturating_add(interval) });
    let whole = pieces.filter(|piece| piece.to <= life.to);
    whole.filter_map(|piece| Some((seconds(piece.from + interval / 2), curve.per_second(piece)? * bits))).unzip()
}

/// More lines than this cannot be told apart.
const MOST: usize = 12;
/// Pixels of a plot on a page, of a letter, and of what stands beside a name in a legend.
const CARD: usize = 330;
const LETTER: usize = 6;
const SYMBOL: usize = 40;
/// Pixel columns of a plot.
const COLUMNS: usize = 400;
/// Nanoseconds over which rates are averaged at least.
const SHORTEST: u64 = 200_000_000;
/// Rates of a run at most.
const MOST_INTERVALS: u64 = 300;
