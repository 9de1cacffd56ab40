//! Plots of results on paper: windows against loss, paths of windows, and UDT's stages.

use cwnd::rate::udt::{SYN, increase};
use cwnd::units::{BitRate, Bytes, Span};
use cwnd::{Packets, Spec};
use cwnd_lab::model::{DelayRow, EquilibriumRow, Responses, Stages, Udt, Walk, responses, stages};
use cwnd_trace::Trace;
use serde_json::{Value, json};

use super::colour::{self, Palette};
use super::downsample::extremes;
use super::flows::unique;
use super::spec::{DataSet, Group, Plot, by_text, number};

/// Windows against loss: closed forms as lines, algorithms under random loss as points; none without either.
pub(crate) fn response(document: &Responses, algorithms: &[&Spec], looks: &Looks) -> Option<Plot> {
    let losses: Vec<f64> = document.rows.iter().map(|row| row.loss).collect();
    let (low, high) = range(&losses);
    let grid = logarithmic(low, high.max(low * 10.0).min(1.0));
    let rtt = Span::from_secs(1).mul_f64(document.rtt_s);
    let curves = responses(algorithms, &grid, rtt, Bytes(document.packet_bytes), 0, &|| true);
    let groups = curves.rows.chunks(grid.len()).zip(&looks.labels).map(|(rows, label)| {
        let known = rows.iter().filter_map(|row| Some((row.loss, row.window_packets?)));
        let (losses, windows) = known.unzip();
        Group { texts: vec![label.clone()], numbers: vec![losses, windows] }
    });
    let table = DataSet::new("table", ["algorithm", "loss", "window_packets"], groups.collect());
    let rows = document.rows.len() / looks.labels.len().max(1);
    let drawn = document.rows.chunks(rows.max(1)).zip(&looks.labels).map(|(rows, label)| {
        let found: Vec<[f64; 4]> = rows
            .iter()
            .filter_map(|row| {
                let random = row.random_window_packets?;
                let (low, high) = (random.low, random.high);
                Some([row.loss, random.mean, low.max(random.mean / 100.0), high])
            })
            .collect();
        let column = |at: usize| found.iter().map(|row| row[at]).collect::<Vec<f64>>();
        Group { texts: vec![label.clone()], numbers: (0..4).map(column).collect() }
    });
    let columns = ["algorithm", "loss", "window_packets", "window_low_packets", "window_high_packets"];
    let random = DataSet::new("random", columns, drawn.collect());
    let x = json!({ "field": "loss", "type": "quantitative", "title": "Loss (%)", "scale": { "type": "log" }, "axis": { "labelExpr": PERCENT } });
    let y = json!({ "field": "window_packets", "type": "quantitative", "title": "Packets per round trip", "scale": { "type": "log" }, "axis": { "format": "~s" } });
    let mut layers = vec![json!({
        "mark": { "type": "line", "strokeWidth": 1.6 },
        "encoding": { "x": x, "y": y, "color": looks.colour(), "strokeDash": looks.dash() },
    })];
    let mut caption = "The mean window of a flow that loses one packet in every 1/p (closed form).".to_string();
    let mut tables = vec![table];
    if !random.is_empty() {
        caption.push_str(" Points: every packet lost with probability p (model), with 95 % intervals, below five seeds with the smallest and the largest mean.");
        let data = json!({ "name": "random" });
        let mut low = y.clone();
        low["field"] = "window_low_packets".into();
        layers.push(json!({ "data": data, "mark": { "type": "rule" }, "encoding": { "x": x, "y": low, "y2": { "field": "window_high_packets" }, "color": looks.colour() } }));
        layers.push(json!({ "data": data, "mark": { "type": "point", "filled": true, "size": 40, "tooltip": { "content": "data" } }, "encoding": { "x": x, "y": y, "color": looks.colour() } }));
        tables.push(random);
    }
    if tables.iter().all(DataSet::is_empty) {
        return None;
    }
    let words = ("Response", "all algorithms", caption.as_str());
    Some(Plot::new("response".to_string(), words, ("container".into(), TALL), &layers, tables))
}

/// How UDT's rate grows, where loss holds it, and what it loses over round trips of different length.
pub(crate) fn udt(document: &Stages) -> [Plot; 3] {
    let (capacity, packet) = (BitRate(document.capacity_bps), Bytes(document.packet_bytes));
    [growth(capacity, packet), equilibria(document, capacity, packet), delays(document)]
}

/// Eq. 15 from rest: how the rate grows without loss.
fn growth(capacity: BitRate, packet: Bytes) -> Plot {
    let (mut rate, mut times, mut rates) = (Packets(0.0), Vec::new(), Vec::new());
    for syn in 0..GROWTH_SYNS {
        let bits = (rate / SYN).to_bits(packet).0;
        times.push(f64::from(syn));
        rates.push(bits);
        rate = Packets(rate.0 + increase(BitRate(capacity.0 - bits), packet).0);
    }
    let table = DataSet::new("table", ["syn", "rate_bps"], vec![Group { texts: vec![], numbers: vec![times, rates] }]);
    let x = json!({ "field": "syn", "type": "quantitative", "title": "Control intervals of 10 ms", "scale": { "nice": false } });
    let y =
        json!({ "field": "rate_bps", "type": "quantitative", "title": "Rate (Mbit/s)", "axis": { "labelExpr": MBIT } });
    let layer = json!({ "mark": { "type": "line", "strokeWidth": 1.6, "color": "var(--algorithm-0)" }, "encoding": { "x": x, "y": y } });
    let caption =
        "Rate control alone, from rest and without loss (eq. 15). Each stage is a tenth as steep as the one before.";
    Plot::new("growth".to_string(), ("Growth", "udt", caption), ("container".into(), LOW), &[layer], vec![table])
}

/// Where loss holds a flow: the rate of its stable stage, and the same within that stage.
fn equilibria(document: &Stages, capacity: BitRate, packet: Bytes) -> Plot {
    let losses: Vec<f64> = document.rows.iter().map(|row| row.loss).collect();
    let (low, high) = range(&losses);
    let grid = logarithmic(low, high.max(low * 10.0).min(1.0));
    let rtt = Span::from_secs(1).mul_f64(document.rtt_s);
    let rows = stages(Udt { capacity, packet, rtt, losses: &grid, flows: 1, delays: &[] }).rows;
    let column = |of: fn(&EquilibriumRow) -> f64| rows.iter().map(of).collect::<Vec<f64>>();
    let group = |label: &str, of| Group { texts: vec![label.to_string()], numbers: vec![grid.clone(), column(of)] };
    let labels = ["within its stage", "stage model"].map(str::to_string);
    let groups = vec![group(&labels[0], |row| row.clipped_bps), group(&labels[1], |row| row.rate_bps)];
    let table = DataSet::new("table", ["rate", "loss", "rate_bps"], groups);
    let x = json!({ "field": "loss", "type": "quantitative", "title": "Loss (%)", "scale": { "type": "log" }, "axis": { "labelExpr": PERCENT } });
    let y = json!({ "field": "rate_bps", "type": "quantitative", "title": "Rate (Mbit/s)", "scale": { "type": "log" }, "axis": { "labelExpr": MBIT } });
    let dash = by_text("rate", &labels, &[json!([1, 0]), json!([4, 3])]);
    let layer = json!({ "mark": { "type": "line", "strokeWidth": 1.6, "color": "var(--algorithm-0)" }, "encoding": { "x": x, "y": y, "strokeDash": dash } });
    let caption = "Where loss holds a flow (eqs. 10 to 14): X* of the stable stage, and the same not below that stage's lower edge.";
    Plot::new(
        "equilibria".to_string(),
        ("Equilibrium", "udt", caption),
        ("container".into(), LOW),
        &[layer],
        vec![table],
    )
}

/// The lost share over round trips of different length.
fn delays(document: &Stages) -> Plot {
    let labels = ["rate control alone", "with the window"].map(str::to_string);
    let column = |of: fn(&DelayRow) -> f64| document.delays.iter().map(of).collect::<Vec<f64>>();
    let group = |label: &str, loss| Group {
        texts: vec![label.to_string()],
        numbers: vec![column(|row| row.rtt_s), column(loss)],
    };
    let groups = vec![group(&labels[0], |row| row.loss_by_rate_alone), group(&labels[1], |row| row.loss)];
    let table = DataSet::new("table", ["control", "rtt_s", "loss"], groups);
    let x = json!({ "field": "rtt_s", "type": "quantitative", "title": "Round trip (ms)", "scale": { "type": "log" }, "axis": { "labelExpr": "format(datum.value * 1000, '~g')" } });
    let y = json!({ "field": "loss", "type": "quantitative", "title": "Lost (%)", "scale": { "type": "symlog", "constant": 1e-4 }, "axis": { "labelExpr": PERCENT } });
    let dash = by_text("control", &labels, &[json!([4, 3]), json!([1, 0])]);
    let layer = json!({ "mark": { "type": "line", "strokeWidth": 1.6, "color": "var(--algorithm-0)", "point": { "color": "var(--algorithm-0)" } }, "encoding": { "x": x, "y": y, "strokeDash": dash } });
    let caption = format!(
        "Share of what {} equal flows send that is lost, as a fluid without a queue: the longer the round trip, the more is sent \
         before congestion is signalled. The window of eq. 21 prevents it.",
        document.flows
    );
    let words = ("Round trip and window", "udt", caption.as_str());
    Plot::new("delays".to_string(), words, ("container".into(), LOW), &[layer], vec![table])
}

/// The colours and dashes of algorithms on a page.
pub(crate) struct Looks {
    pub(crate) palette: Palette,
    labels: Vec<String>,
    names: Vec<String>,
    dashes: Vec<Value>,
}

impl Looks {
    pub(crate) fn of(algorithms: &[&Spec]) -> Self {
        let names: Vec<String> = algorithms.iter().map(|spec| spec.label().to_string()).collect();
        Self {
            palette: Palette::new(names.iter().map(String::as_str)),
            labels: unique(&names),
            dashes: (0..names.len()).map(|index| json!(colour::dash(index))).collect(),
            names,
        }
    }

    fn colours(&self) -> Vec<Value> {
        self.names.iter().map(|name| self.palette.variable(name).into()).collect()
    }

    fn colour(&self) -> Value {
        by_text("algorithm", &self.labels, &self.colours())
    }

    fn dash(&self) -> Value {
        by_text("algorithm", &self.labels, &self.dashes)
    }
}

/// The common properties of the plots of walks.
pub(crate) struct Walks<'a> {
    pub(crate) looks: &'a Looks,
    /// Packets per round trip.
    pub(crate) capacity: f64,
    pub(crate) rtt_s: f64,
}

impl Walks<'_> {
    /// Windows over time, and the phase plane, of each.
    pub(crate) fn plots(&self, walks: &[Walk]) -> Vec<Plot> {
        let each = walks.iter().enumerate();
        each.flat_map(|(index, walk)| [Some(self.windows(index, walk)), self.phase(index, walk)]).flatten().collect()
    }

    /// Packets in the network over time, a line per flow.
    fn windows(&self, index: usize, walk: &Walk) -> Plot {
        let (times, trace) = (self.times(walk), &walk.run.trace);
        let labels: Vec<String> = (0..trace.flows.len()).map(|flow| format!("flow {}", flow + 1)).collect();
        let groups = labels.iter().enumerate().map(|(flow, label)| {
            let values = in_network(trace, flow);
            let kept = extremes(&times, &values[..times.len()], COLUMNS);
            let pick = |of: &[f64]| kept.iter().map(|at| of[*at]).collect::<Vec<f64>>();
            Group { texts: vec![label.clone()], numbers: vec![pick(&times), pick(&values)] }
        });
        let table = DataSet::new("table", ["flow", "at_rtt", "window_packets"], groups.collect());
        let dashes: Vec<Value> = (0..labels.len()).map(|nth| json!(colour::dash(nth))).collect();
        let x =
            json!({ "field": "at_rtt", "type": "quantitative", "title": "Round trips", "scale": { "nice": false } });
        let y = json!({ "field": "window_packets", "type": "quantitative", "title": "In the network (packets)" });
        let colour = self.looks.palette.variable(&self.looks.names[index]);
        let layer = json!({
            "mark": { "type": "line", "strokeWidth": 1.2, "color": colour },
            "encoding": { "x": x, "y": y, "strokeDash": by_text("flow", &labels, &dashes) },
        });
        let label = self.looks.labels[index].as_str();
        let title = format!("Windows of {label}");
        let words = (title.as_str(), "a line per flow", "Packets that each flow has in the network.");
        Plot::new(format!("windows-{}", index + 1), words, ("container".into(), LOW), &[layer], vec![table])
    }

    /// The first flow against the second, as Chiu and Jain drew it; none of a single flow.
    fn phase(&self, index: usize, walk: &Walk) -> Option<Plot> {
        let (times, trace) = (self.times(walk), &walk.run.trace);
        if trace.flows.len() < 2 {
            return None;
        }
        let (x1, x2) = (in_network(trace, 0), in_network(trace, 1));
        let stride = times.len().div_ceil(MOST_POINTS).max(1);
        let pick = |of: &[f64]| of[..times.len()].iter().step_by(stride).copied().collect::<Vec<f64>>();
        let numbers = vec![pick(&times), pick(&x1), pick(&x2)];
        let largest = numbers[1].iter().chain(&numbers[2]).copied().fold(self.capacity, f64::max);
        let table =
            DataSet::new("table", ["at_rtt", "x1_packets", "x2_packets"], vec![Group { texts: vec![], numbers }]);
        let axis = |field: &str, title: &str| json!({ "field": field, "type": "quantitative", "title": format!("{title} (packets)"), "scale": { "domain": [0, number(largest * 1.02)], "nice": false } });
        let (x, y) = (axis("x1_packets", "x₁"), axis("x2_packets", "x₂"));
        let straight = |ends: [(f64, f64); 2], dash: [u8; 2]| {
            let values = ends.map(|(x1, x2)| json!({ "x1_packets": x1, "x2_packets": x2 }));
            json!({ "data": { "values": values }, "mark": { "type": "line", "strokeWidth": 1, "color": "var(--muted)", "strokeDash": dash }, "encoding": { "x": x, "y": y } })
        };
        let colour = self.looks.palette.variable(&self.looks.names[index]);
        let order = json!({ "field": "at_rtt", "type": "quantitative" });
        let layers = [
            straight([(0.0, 0.0), (largest, largest)], [6, 4]),
            straight([(0.0, self.capacity), (self.capacity, 0.0)], [2, 3]),
            json!({ "mark": { "type": "line", "strokeWidth": 1, "color": colour }, "encoding": { "x": x, "y": y, "order": order } }),
        ];
        let label = self.looks.labels[index].as_str();
        let title = format!("Phase plane of {label}");
        let caption = "The first flow against the second. Dashed: equal windows. Dotted: the capacity.";
        let words = (title.as_str(), "two flows", caption);
        let mut plot = Plot::new(format!("phase-{}", index + 1), words, (SIDE.into(), SIDE), &layers, vec![table]);
        plot.spec["autosize"] = "pad".into();
        Some(plot)
    }

    /// The instants up to the last congestion that counts, round trips.
    fn times(&self, walk: &Walk) -> Vec<f64> {
        let trace = &walk.run.trace;
        let end = walk.run.events.last().map_or(f64::INFINITY, |event| event.at);
        // The reaction is recorded a nanosecond after the congestion.
        let times = trace.at.iter().map(|at| *at as f64 * 1e-9 / self.rtt_s);
        times.take_while(|at| *at <= end + 1e-6).collect()
    }
}

/// Windows; of flows that set a rate, whole packets in the network.
fn in_network(trace: &Trace, flow: usize) -> Vec<f64> {
    let flow = &trace.flows[flow];
    let each = flow.window.iter().zip(&flow.in_flight).zip(&flow.pacing_rate);
    each.map(|((window, packets), rate)| if rate.is_nan() { *window } else { *packets as f64 }).collect()
}

fn range(values: &[f64]) -> (f64, f64) {
    (values.iter().copied().fold(1.0, f64::min), values.iter().copied().fold(0.0, f64::max))
}

/// Equal factors from `low` to `high`.
fn logarithmic(low: f64, high: f64) -> Vec<f64> {
    let factor = libm::log(high / low) / f64::from(GRID);
    (0..=GRID).map(|nth| low * libm::exp(factor * f64::from(nth))).collect()
}

/// bit/s on an axis in Mbit/s.
const MBIT: &str = "format(datum.value / 1e6, '~g')";
/// A share in per cent.
const PERCENT: &str = "format(datum.value * 100, '~g')";
/// Points of a smooth curve.
const GRID: u32 = 60;
/// Three stages in full.
const GROWTH_SYNS: u32 = 3000;
/// Pixels.
const TALL: u32 = 340;
const LOW: u32 = 210;
const SIDE: u32 = 230;
/// Pixel columns of a line over time, and points of a path: finer is not seen.
const COLUMNS: usize = 400;
const MOST_POINTS: usize = 3000;
