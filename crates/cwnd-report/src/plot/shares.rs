//! The goodput of each flow: bars, and where they would be too many, a mark for each flow in one row per algorithm.

use cwnd_run::measure::digits::whiskers;
use cwnd_run::measure::{Window, fair_shares};
use cwnd_text::counted;
use cwnd_trace::Trace;
use serde_json::{Value, json};

use super::axis::Axis;
use super::flows::mixed;
use super::frame::Frame;
use super::names;
use super::spec::{DataSet, Group, Plot, by_text};

/// The goodput of each flow.
pub(crate) fn shares(frame: &Frame<'_>) -> Option<Plot> {
    let flows: usize = frame.shown.iter().map(|one| one.trace.flows.len()).sum();
    let rows = match () {
        () if flows > MOST_BARS => Rows::Algorithms,
        () if frame.shown.len() == 1 => Rows::Flows,
        () => Rows::Sections,
    };
    let table = table(frame, rows);
    if table.is_empty() {
        return None;
    }
    let text = |at: usize| {
        let mut texts: Vec<String> = Vec::new();
        for group in &table.groups {
            if !texts.contains(&group.texts[at]) {
                texts.push(group.texts[at].clone());
            }
        }
        texts
    };
    let algorithms = text(ALGORITHM);
    let (y, height) = names::axis("row", &text(ROW));
    let colours: Vec<Value> = algorithms.iter().map(|algorithm| frame.palette.variable(algorithm).into()).collect();
    let mut colour = by_text("name", &algorithms, &colours);
    // A row that is named after its algorithm needs no legend.
    let is_named = frame.shown.iter().all(|one| !mixed(one.trace)) && rows != Rows::Flows;
    match is_named {
        true => colour["legend"] = Value::Null,
        false if algorithms.len() > 1 => {
            colour["legend"]["symbolType"] = "square".into();
            colour["legend"]["symbolSize"] = 100.into();
        }
        false => {}
    }
    let has_fair = table.groups.iter().any(|group| group.numbers[3][0].is_finite());
    let largest = table.groups.iter().map(|group| group.numbers[2][0].max(group.numbers[3][0])).fold(0.0, f64::max);
    let x = Axis::bit_rate("goodput_bps", "Goodput").within(0.0, largest * 1.05);
    let mut caption = match rows {
        Rows::Algorithms => {
            format!(
                "A mark for the goodput of each of {} over its life after the warm-up, mean over seeds.",
                counted(flows, "flow")
            )
        }
        _ => format!("Goodput of each flow over its life after the warm-up. {}", whiskers(frame.seeds)),
    };
    // Bars lie side by side by their place: names differ from one to the next.
    let offset = json!({ "field": "position", "type": "nominal", "sort": null });
    let placed = |mut encoding: Value| {
        if rows == Rows::Sections {
            encoding["yOffset"] = offset.clone();
        }
        encoding["y"] = y.clone();
        encoding
    };
    let tooltip = json!({ "content": "data" });
    let mut layers = Vec::new();
    if rows == Rows::Algorithms {
        layers.push(json!({
            "mark": { "type": "tick", "thickness": 2, "opacity": 0.6, "tooltip": tooltip },
            "encoding": placed(json!({ "x": x.channel(), "color": colour })),
        }));
    } else {
        layers.push(json!({
            "mark": { "type": "bar", "opacity": 0.75, "tooltip": tooltip },
            "encoding": placed(json!({ "x": x.channel(), "color": colour })),
        }));
        layers.push(json!({
            "mark": { "type": "rule", "strokeWidth": 1.6, "color": "var(--text)" },
            "encoding": placed(json!({ "x": x.channel_of("goodput_low_bps"), "x2": { "field": "goodput_high_bps" } })),
        }));
    }
    if has_fair {
        caption.push_str(match rows {
            Rows::Algorithms => " Diamonds: max-min fair shares.",
            _ => " Tick across a bar: the flow’s max-min fair share.",
        });
        let mark = match rows {
            Rows::Algorithms => json!({ "type": "point", "shape": "diamond", "size": 50, "color": "var(--text)" }),
            _ => json!({ "type": "tick", "color": "var(--muted)", "thickness": 2 }),
        };
        layers.push(json!({ "mark": mark, "encoding": placed(json!({ "x": x.channel_of("fair_share_bps") })) }));
    }
    let height = match rows {
        Rows::Sections => (table.groups.len() as u32 * 13).max(height).max(160),
        _ => height.max(160),
    };
    let words = ("Goodput of each flow", "all algorithms", caption.as_str());
    Some(Plot::new("shares".to_string(), words, (json!("container"), height), &layers, vec![table]))
}

/// The things that have a row of the plot.
#[derive(Clone, Copy, PartialEq)]
enum Rows {
    /// Each flow of the one run.
    Flows,
    /// Each section of the page, its flows next to each other.
    Sections,
    /// The flows of an algorithm in a section.
    Algorithms,
}

/// All flows of all sections.
fn table(frame: &Frame<'_>, rows: Rows) -> DataSet {
    let mut groups = Vec::new();
    for (index, (one, label)) in frame.shown.iter().zip(&frame.labels).enumerate() {
        let fair = fair_shares(one.trace, Window::measured(one.trace));
        for (position, flow) in frame.all(index).into_iter().enumerate() {
            let Some(estimate) = one.measures.flow_goodput_bps.get(flow.index).copied().flatten() else { continue };
            // An interval of a mean may end above the capacity of the link; no flow can.
            let most = path_rate(one.trace, flow.index);
            let high = estimate.high.min(most.max(estimate.mean));
            let algorithm = one.trace.flows[flow.index].algorithm.clone();
            let row = match rows {
                Rows::Flows => flow.label.clone(),
                Rows::Algorithms if mixed(one.trace) && frame.shown.len() > 1 => format!("{label}: {algorithm}"),
                Rows::Algorithms if mixed(one.trace) => algorithm.clone(),
                Rows::Sections | Rows::Algorithms => label.clone(),
            };
            let fair = fair[flow.index].unwrap_or(f64::NAN);
            let numbers = [estimate.mean, estimate.low, high, fair].map(|value| vec![value]).into();
            let texts = vec![label.clone(), (position + 1).to_string(), flow.label, algorithm, row];
            groups.push(Group { texts, numbers });
        }
    }
    let columns = [
        "algorithm",
        "position",
        "flow",
        "name",
        "row",
        "goodput_bps",
        "goodput_low_bps",
        "goodput_high_bps",
        "fair_share_bps",
    ];
    DataSet::new("table", columns, groups)
}

/// The rate of the slowest link that the data of a flow crosses, bit/s.
fn path_rate(trace: &Trace, flow: usize) -> f64 {
    let links = trace.flows[flow].links.iter().filter_map(|link| trace.links.get(*link as usize)?.rate);
    links.min().map_or(f64::INFINITY, |rate| rate as f64)
}

/// Texts of a row of the table.
const ALGORITHM: usize = 3;
const ROW: usize = 4;
/// More bars than this are no picture.
const MOST_BARS: usize = 48;
