//! The phase plane: the rate of one flow against that of another (Chiu & Jain 1989).

use serde_json::{Value, json};

use super::frame::{Frame, bottleneck, middles, seconds, whole};
use super::spec::{Group, Plot, Table, bit_rate_axis};
use crate::page::{Report, Row};
use cwnd_run::measure::goodput_series;
use cwnd_trace::Trace;

/// The phase plane of the row at `index`; none with a single flow.
pub(crate) fn plot(report: &Report<'_>, frame: &Frame, index: usize) -> Option<Plot> {
    let row = &report.rows[index];
    let trace = row.trace;
    let (first, second) = pair(trace)?;
    let series = |flow: usize| goodput_series(trace, &trace.flows[flow], whole(trace), frame.interval);
    let (x, y) = (series(first)?, series(second)?);
    if x.is_empty() {
        return None;
    }
    let full = bottleneck(report, row).and_then(|link| link.rate).map(|rate| rate as f64 * payload_share(trace, first));
    let largest = x.iter().chain(&y).copied().fold(full.unwrap_or(0.0), f64::max).max(1.0);

    let names = frame.drawn(row);
    let name = |flow: usize| names.flows.iter().position(|drawn| *drawn == flow).map_or("", |at| &names.labels[at]);
    let mut caption = format!(
        "Goodput of {} (x₁) against that of {} (x₂), averaged over {} ms; later points are stronger, the ring is the end. \
         Dashed: equal shares.",
        name(first),
        name(second),
        seconds(frame.interval) * 1e3
    );
    let mut drawn = vec![line(&[(0.0, 0.0), (largest, largest)], &[6, 4])];
    if let Some(full) = full {
        caption.push_str(" Dotted: the bottleneck is full.");
        drawn.push(line(&[(0.0, full), (full, 0.0)], &[2, 3]));
    }
    drawn.extend(path(frame, row, largest));
    let times = middles(x.len(), frame.interval);
    let columns = vec!["time_s", "x1_bps", "x2_bps"];
    drawn.push(json!({
        "data": { "values": [{ "x1_bps": x.last(), "x2_bps": y.last() }] },
        "mark": { "type": "point", "size": 70, "strokeWidth": 2, "opacity": 1, "color": "var(--text)" },
        "encoding": position(largest),
    }));
    let groups = vec![Group { texts: vec![], numbers: vec![times, x, y] }];
    let tables = vec![Table { name: "table", columns, groups }];
    let words = ("Phase plane", frame.labels[index].as_str(), caption.as_str());
    let mut plot = Plot::new(format!("phase-{}", index + 1), words, (SIDE.into(), SIDE), &drawn, tables);
    // A square stays one however wide the page is.
    plot.spec["autosize"] = "pad".into();
    Some(plot)
}

/// The two flows to show: the first, and the first of another algorithm if there is one.
fn pair(trace: &Trace) -> Option<(usize, usize)> {
    let own = &trace.flows.first()?.algorithm;
    let other = trace.flows.iter().position(|flow| flow.algorithm != *own);
    other.or((trace.flows.len() > 1).then_some(1)).map(|other| (0, other))
}

fn payload_share(trace: &Trace, flow: usize) -> f64 {
    let flow = &trace.flows[flow];
    f64::from(flow.payload) / f64::from(flow.packet.max(1))
}

fn path(frame: &Frame, row: &Row<'_>, largest: f64) -> [Value; 2] {
    let colour = frame.row_colour(row);
    let mut line = position(largest);
    line["order"] = json!({ "field": "time_s", "type": "quantitative" });
    let mut points = position(largest);
    points["opacity"] =
        json!({ "field": "time_s", "type": "quantitative", "scale": { "range": [0.15, 1] }, "legend": null });
    [
        json!({ "mark": { "type": "line", "strokeWidth": 0.8, "opacity": 0.35, "color": colour }, "encoding": line }),
        json!({ "mark": { "type": "point", "filled": true, "size": 12, "color": colour, "tooltip": { "content": "data" } }, "encoding": points }),
    ]
}

fn position(largest: f64) -> Value {
    json!({ "x": bit_rate_axis("x1_bps", "x₁", largest * 1.02), "y": bit_rate_axis("x2_bps", "x₂", largest * 1.02) })
}

fn line(ends: &[(f64, f64)], dash: &[u8]) -> Value {
    let values: Vec<Value> = ends.iter().map(|(x, y)| json!({ "x1_bps": x, "x2_bps": y })).collect();
    json!({
        "data": { "values": values },
        "mark": { "type": "line", "strokeWidth": 1, "color": "var(--muted)", "strokeDash": dash },
        "encoding": { "x": { "field": "x1_bps", "type": "quantitative" }, "y": { "field": "x2_bps", "type": "quantitative" } },
    })
}

/// Pixels: as high as the plots beside it with their legends.
const SIDE: u32 = 230;
