//! Window, rate, queue, round-trip time and utilisation of one row over time.

use serde_json::{Value, json};

use super::downsample::extremes;
use super::frame::{Drawn, Frame, bottleneck, middles, rises, seconds, whole};
use super::spec::{Group, Plot, Table, bit_rate_axis, by_text, delay_axis, number, time_axis};
use crate::page::{Report, Row};
use cwnd_run::measure::{goodput_series, utilisation_series};

/// The plots of the row at `index`, in the order of the page.
pub(crate) fn plots(report: &Report<'_>, frame: &Frame, index: usize) -> Vec<Plot> {
    let row = &report.rows[index];
    let scene = Scene { report, frame, row, drawn: frame.drawn(row), index };
    [scene.window(), scene.rate(), scene.queue(), scene.rtt(), scene.utilisation()].into_iter().flatten().collect()
}

struct Scene<'a> {
    report: &'a Report<'a>,
    frame: &'a Frame,
    row: &'a Row<'a>,
    drawn: Drawn,
    index: usize,
}

impl Scene<'_> {
    fn window(&self) -> Option<Plot> {
        let table = self.per_flow("window_packets", |flow| self.row.trace.flows[flow].window.clone());
        let timeouts = self.timeouts();
        let mut caption = format!("Packets the algorithm allows in flight.{}", self.common());
        let axis = json!({ "field": "window_packets", "type": "quantitative", "title": "Window (packets)" });
        let mut layers = vec![self.lines(&axis)];
        if !timeouts.is_empty() {
            caption.push_str(" Crosses below the line: retransmission time-outs.");
            layers.push(self.events("timeouts", "cross", "var(--drop)", "bottom"));
        }
        self.finish("window", "Window", &caption, layers, vec![table, timeouts])
    }

    fn rate(&self) -> Option<Plot> {
        let trace = self.row.trace;
        let groups = self.drawn.flows.iter().zip(&self.drawn.labels).filter_map(|(flow, label)| {
            let series = goodput_series(trace, &trace.flows[*flow], whole(trace), self.frame.interval)?;
            let times = middles(series.len(), self.frame.interval);
            Some(Group { texts: vec![label.clone()], numbers: vec![times, series] })
        });
        let table = Table { name: "table", columns: vec!["flow", "time_s", "goodput_bps"], groups: groups.collect() };
        let mut caption =
            format!("Goodput: payload delivered for the first time, averaged over {}.{}", self.millis(), self.common());
        let mut layers =
            vec![self.lines(&bit_rate_axis("goodput_bps", "Goodput", largest(&table).max(self.frame.rate)))];
        if let Some(rate) = bottleneck(self.report, self.row).and_then(|link| link.rate) {
            caption.push_str(" Horizontal rule: rate of the bottleneck.");
            let rule = json!({ "type": "rule", "color": "var(--muted)", "strokeDash": [4, 3] });
            layers.push(json!({ "data": { "values": [{ "goodput_bps": rate }] }, "mark": rule, "encoding": { "y": { "field": "goodput_bps", "type": "quantitative" } } }));
        }
        self.finish("rate", "Rate", &caption, layers, vec![table])
    }

    fn queue(&self) -> Option<Plot> {
        let link = bottleneck(self.report, self.row)?;
        let trace = self.row.trace;
        let times = self.times();
        let waiting: Vec<f64> = link.queue_packets.iter().map(|packets| *packets as f64).collect();
        let group = thin(&times, &waiting, self.frame.columns, vec![]);
        let table = Table { name: "table", columns: vec!["time_s", "queue_packets"], groups: vec![group] };
        let event = |name, column, values: &[u64]| {
            let (times, counts) = rises(trace, values, self.frame.columns);
            Table {
                name,
                columns: vec!["time_s", column],
                groups: vec![Group { texts: vec![], numbers: vec![times, counts] }],
            }
        };
        let drops = event("drops", "dropped_packets", &link.dropped);
        let losses = event("losses", "lost_packets", &link.lost);
        let marks = event("marks", "marked_packets", &link.marked);

        let mut caption = format!("Packets waiting at the bottleneck.{}", self.shading());
        let axis = json!({ "field": "queue_packets", "type": "quantitative", "title": "Queue (packets)", "scale": { "domain": [0, self.frame.queue.max(1.0) * 1.15], "nice": false } });
        let mut layers = vec![self.line(&axis)];
        for (table, shape, colour, words) in [
            (&drops, "triangle-down", "var(--drop)", "Triangles at the top: packets dropped by the queue."),
            (&losses, "cross", "var(--drop)", "Crosses at the top: packets lost at random."),
            (&marks, "circle", "var(--mark)", "Dots at the top: packets marked."),
        ] {
            if !table.is_empty() {
                caption.push(' ');
                caption.push_str(words);
                layers.push(self.events(table.name, shape, colour, "top"));
            }
        }
        self.finish("queue", "Queue", &caption, layers, vec![table, drops, losses, marks])
    }

    fn rtt(&self) -> Option<Plot> {
        let table = self.per_flow("srtt_s", |flow| self.row.trace.flows[flow].srtt.clone());
        let caption = format!("Smoothed round-trip time as the sender sees it.{}", self.common());
        let mut axis = delay_axis("srtt_s", "Round-trip time");
        axis["scale"] = json!({ "domain": [0, number(self.frame.rtt * 1.05)], "nice": false });
        self.finish("rtt", "Round-trip time", &caption, vec![self.lines(&axis)], vec![table])
    }

    fn utilisation(&self) -> Option<Plot> {
        let (trace, interval) = (self.row.trace, self.frame.interval);
        let series = utilisation_series(trace, bottleneck(self.report, self.row)?, whole(trace), interval)?;
        let group = Group { texts: vec![], numbers: vec![middles(series.len(), interval), series] };
        let table = Table { name: "table", columns: vec!["time_s", "utilisation"], groups: vec![group] };
        let caption =
            format!("Share of the bottleneck’s rate that was carried, over {}.{}", self.millis(), self.shading());
        let axis = json!({
            "field": "utilisation", "type": "quantitative", "title": "Utilisation",
            "scale": { "domain": [0, 1.05], "nice": false },
        });
        self.finish("utilisation", "Utilisation", &caption, vec![self.line(&axis)], vec![table])
    }

    /// The table of a state that every flow has at every sample.
    fn per_flow(&self, column: &'static str, values: impl Fn(usize) -> Vec<f64>) -> Table {
        let times = self.times();
        let flows = self.drawn.flows.iter().zip(&self.drawn.labels);
        let groups = flows.map(|(flow, label)| thin(&times, &values(*flow), self.frame.columns, vec![label.clone()]));
        Table { name: "table", columns: vec!["flow", "time_s", column], groups: groups.collect() }
    }

    fn timeouts(&self) -> Table {
        let trace = self.row.trace;
        let groups = self.drawn.flows.iter().zip(&self.drawn.labels).map(|(flow, label)| {
            let (times, counts) = rises(trace, &trace.flows[*flow].timeouts, self.frame.columns);
            Group { texts: vec![label.clone()], numbers: vec![times, counts] }
        });
        Table { name: "timeouts", columns: vec!["flow", "time_s", "timeouts"], groups: groups.collect() }
    }

    fn times(&self) -> Vec<f64> {
        self.row.trace.at.iter().map(|at| seconds(*at)).collect()
    }

    /// One line over time in the colour of the row.
    fn line(&self, y: &Value) -> Value {
        let colour = self.frame.row_colour(self.row);
        json!({
            "mark": { "type": "line", "strokeWidth": 1.2, "strokeJoin": "round", "color": colour },
            "encoding": { "x": time_axis(self.frame.end_s), "y": y },
        })
    }

    /// One line per flow over time.
    fn lines(&self, y: &Value) -> Value {
        let Drawn { labels, colours, dashes, .. } = &self.drawn;
        json!({
            "mark": { "type": "line", "strokeWidth": 1.2, "strokeJoin": "round" },
            "encoding": {
                "x": time_axis(self.frame.end_s),
                "y": y,
                "color": by_text("flow", labels, colours),
                "strokeDash": by_text("flow", labels, dashes),
            },
        })
    }

    /// A symbol along the upper or lower edge wherever the table `name` has a row.
    fn events(&self, name: &str, shape: &str, colour: &str, edge: &str) -> Value {
        let y = if edge == "top" { json!(5) } else { json!({ "expr": "height - 5" }) };
        json!({
            "data": { "name": name },
            "mark": { "type": "point", "shape": shape, "filled": true, "size": 22, "opacity": 1, "color": colour, "tooltip": { "content": "data" } },
            "encoding": { "x": time_axis(self.frame.end_s), "y": { "value": y } },
        })
    }

    /// The interval of averages, as a caption says it.
    fn millis(&self) -> String {
        format!("{} ms", number(self.frame.interval as f64 / 1e6))
    }

    fn common(&self) -> String {
        format!("{}{}", self.drawn.remark(self.row.trace), self.shading())
    }

    fn shading(&self) -> &'static str {
        if self.row.trace.warmup > 0 { " Shaded: warm-up." } else { "" }
    }

    /// None where there is nothing to draw.
    fn finish(
        &self,
        id: &str,
        title: &'static str,
        caption: &str,
        mut drawn: Vec<Value>,
        tables: Vec<Table>,
    ) -> Option<Plot> {
        if tables.first().is_none_or(Table::is_empty) {
            return None;
        }
        let warmup = seconds(self.row.trace.warmup);
        if warmup > 0.0 {
            let shade = json!({ "type": "rect", "color": "var(--shade)", "opacity": 1 });
            drawn.insert(0, json!({
                "data": { "values": [{ "from": 0, "to": warmup }] }, "mark": shade,
                "encoding": { "x": { "field": "from", "type": "quantitative", "title": "Time (s)" }, "x2": { "field": "to" } },
            }));
        }
        let tables = tables.into_iter().filter(|table| !table.is_empty()).collect();
        let id = format!("{id}-{}", self.index + 1);
        Some(Plot::new(
            id,
            (title, &self.frame.labels[self.index], caption),
            (json!("container"), HEIGHT),
            &drawn,
            tables,
        ))
    }
}

/// A curve at the resolution of the page.
fn thin(times: &[f64], values: &[f64], columns: usize, texts: Vec<String>) -> Group {
    let kept = extremes(times, values, columns);
    let pick = |from: &[f64]| kept.iter().map(|index| from[*index]).collect();
    Group { texts, numbers: vec![pick(times), pick(values)] }
}

fn largest(table: &Table) -> f64 {
    table.groups.iter().filter_map(|group| group.numbers.last()).flatten().copied().fold(0.0, f64::max)
}

/// Pixels; low enough for four plots on a screen.
const HEIGHT: u32 = 210;
