//! The phase plane: the rate of one flow against that of another (Chiu & Jain 1989).

use cwnd_run::measure::{Window, fair_shares, goodput_series, mean_capacity, stages};
use cwnd_trace::Trace;
use serde::Serialize;
use serde_json::{Value, json};

use super::axis::Axis;
use super::spec::{DataSet, Group, Plot, Words};
use super::time::{middles, whole};

/// The goodput of one flow against that of another. Later points are stronger, the ring is the end.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Phase {
    /// The goodput of the first flow, bit/s.
    pub x: Axis,
    /// The goodput of the second flow, bit/s.
    pub y: Axis,
    /// The middles of the intervals that are averaged over, seconds.
    pub time_s: Vec<f64>,
    /// The rate of the first flow, bit/s.
    pub first_bps: Vec<f64>,
    /// The rate of the second flow, bit/s.
    pub second_bps: Vec<f64>,
    /// The colour of the points, as CSS writes it.
    pub colour: String,
    /// The largest rate shown, bit/s.
    pub largest_bps: f64,
    /// The payload rate of the full bottleneck, bit/s; null where it has no rate, or where one of the two does not cross it.
    pub full_bps: Option<f64>,
    /// The line of max-min fair shares ends there, bit/s of the first and of the second flow.
    pub fair_bps: [f64; 2],
}

impl Phase {
    /// The two flows to show: the first, and the first of another algorithm if there is one.
    pub(crate) fn flows(trace: &Trace) -> Option<(usize, usize)> {
        let own = &trace.flows.first()?.algorithm;
        let other = trace.flows.iter().position(|flow| flow.algorithm != *own);
        other.or((trace.flows.len() > 1).then_some(1)).map(|other| (0, other))
    }

    /// Two flows averaged over `interval` nanoseconds, at the link of index `bottleneck`; none where nothing can be averaged.
    pub(crate) fn of(
        trace: &Trace,
        (first, second): (usize, usize),
        interval: u64,
        bottleneck: usize,
        colour: String,
    ) -> Option<Self> {
        let series = |flow: usize| goodput_series(trace, &trace.flows[flow], whole(trace), interval);
        let (first_bps, second_bps) = (series(first)?, series(second)?);
        if first_bps.is_empty() {
            return None;
        }
        let crosses = |flow: usize| {
            let links = &trace.flows[flow].links;
            links.is_empty() || links.iter().any(|link| *link as usize == bottleneck)
        };
        let link = trace.links.get(bottleneck).filter(|_| crosses(first) && crosses(second));
        let rate = link.and_then(|link| mean_capacity(trace, link, whole(trace)));
        let full_bps = rate.map(|rate| rate * payload_share(trace, first));
        let largest_bps = first_bps.iter().chain(&second_bps).copied().fold(full_bps.unwrap_or(0.0), f64::max).max(1.0);
        let axis = |field: &str, title: &str| Axis::bit_rate(field, title).within(0.0, largest_bps * 1.02);
        Some(Self {
            x: axis("x1_bps", "x₁"),
            y: axis("x2_bps", "x₂"),
            time_s: middles(first_bps.len(), interval),
            first_bps,
            second_bps,
            colour,
            largest_bps,
            full_bps,
            fair_bps: fair_direction(trace, first, second).map(|part| part * largest_bps),
        })
    }

    /// The plot, a square.
    #[must_use]
    pub fn plot(&self, id: impl Into<String>) -> Plot {
        self.captioned(id.into(), ("Phase plane", "", ""))
    }

    pub(crate) fn captioned(&self, id: String, words: Words<'_>) -> Plot {
        let mut layers = vec![self.line([(0.0, 0.0), self.fair_bps.into()], [6, 4])];
        layers.extend(self.full_bps.map(|full| self.line([(0.0, full), (full, 0.0)], [2, 3])));
        let mut line = self.position();
        line["order"] = json!({ "field": "time_s", "type": "quantitative" });
        let mut points = self.position();
        points["opacity"] =
            json!({ "field": "time_s", "type": "quantitative", "scale": { "range": [0.15, 1] }, "legend": null });
        let thin = json!({ "type": "line", "strokeWidth": 0.8, "opacity": 0.35, "color": self.colour });
        let dots = json!({ "type": "point", "filled": true, "size": 12, "color": self.colour, "tooltip": { "content": "data" } });
        let end = [(&self.x, self.first_bps.last()), (&self.y, self.second_bps.last())];
        let end: serde_json::Map<_, _> =
            end.map(|(axis, value)| (axis.field.clone(), json!(value))).into_iter().collect();
        layers.extend([
            json!({ "mark": thin, "encoding": line }),
            json!({ "mark": dots, "encoding": points }),
            json!({
                "data": { "values": [end] },
                "mark": { "type": "point", "size": 70, "strokeWidth": 2, "opacity": 1, "color": "var(--text)" },
                "encoding": self.position(),
            }),
        ]);
        let numbers = vec![self.time_s.clone(), self.first_bps.clone(), self.second_bps.clone()];
        let columns = ["time_s", self.x.field.as_str(), self.y.field.as_str()];
        let data = DataSet::new("table", columns, vec![Group { texts: vec![], numbers }]);
        let mut plot = Plot::new(id, words, (SIDE.into(), SIDE), &layers, vec![data]);
        // A square stays one however wide the page is.
        plot.spec["autosize"] = "pad".into();
        plot
    }

    fn position(&self) -> Value {
        json!({ "x": self.x.channel(), "y": self.y.channel() })
    }

    fn line(&self, ends: [(f64, f64); 2], dash: [u8; 2]) -> Value {
        let (x, y) = (&self.x.field, &self.y.field);
        let values = ends.map(|(first, second)| json!({ x: first, y: second }));
        json!({
            "data": { "values": values },
            "mark": { "type": "line", "strokeWidth": 1, "color": "var(--muted)", "strokeDash": dash },
            "encoding": { "x": { "field": x, "type": "quantitative" }, "y": { "field": y, "type": "quantitative" } },
        })
    }
}

/// The max-min fair shares of two flows in the longest time in which both are there, the larger as 1; equal where none is known.
fn fair_direction(trace: &Trace, first: usize, second: usize) -> [f64; 2] {
    let there = |flow: usize| stages(trace, &trace.flows[flow], whole(trace));
    let shares = longest_overlap(there(first), there(second)).map(|both| fair_shares(trace, both)).unwrap_or_default();
    match (shares.get(first).copied().flatten(), shares.get(second).copied().flatten()) {
        (Some(one), Some(other)) if one.max(other) > 0.0 => [one, other].map(|share| share / one.max(other)),
        _ => [1.0, 1.0],
    }
}

/// The longest time that lies both in one of the windows of `some` and in one of `others`; each ascend.
fn longest_overlap(some: impl Iterator<Item = Window>, others: impl Iterator<Item = Window>) -> Option<Window> {
    let (mut some, mut others) = (some.peekable(), others.peekable());
    let mut overlaps = Vec::new();
    while let (Some(one), Some(other)) = (some.peek().copied(), others.peek().copied()) {
        overlaps.push(Window { from: one.from.max(other.from), to: one.to.min(other.to) });
        let _ = if one.to < other.to { some.next() } else { others.next() };
    }
    overlaps.into_iter().filter(|both| both.from < both.to).max_by_key(|both| both.to - both.from)
}

fn payload_share(trace: &Trace, flow: usize) -> f64 {
    let flow = &trace.flows[flow];
    f64::from(flow.payload) / f64::from(flow.packet.max(1))
}

/// Pixels: as high as the adjacent plots with their legends.
const SIDE: u32 = 230;
