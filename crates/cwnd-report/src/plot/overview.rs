//! Everything shown beside each other: shares, delay, and what one costs the other.

use cwnd_run::measure::{Window, fair_shares};
use cwnd_trace::Trace;
use serde_json::{Value, json};

use super::axis::Axis;
use super::colour;
use super::flows::mixed;
use super::frame::{Frame, Shown, first};
use super::spec::{DataSet, Group, Plot, number};
use cwnd_run::measure::digits::whiskers;

/// The plots of the overview, in the order of the page.
pub(crate) fn plots(frame: &Frame<'_>) -> Vec<Plot> {
    [trade_off(frame), shares(frame), delays(frame)].into_iter().flatten().collect()
}

/// Utilisation against the mean queueing delay, the trade-off of RFC 7928 §4. Sections in which an algorithm meets another are left
/// out where it stands alone, too: their delay is that of both.
pub(crate) fn trade_off(frame: &Frame<'_>) -> Option<Plot> {
    let sections = alone(frame);
    let groups = sections.iter().filter_map(|index| {
        let (one, label) = (&frame.shown[*index], &frame.labels[*index]);
        let (used, wait) = (one.measures.utilisation?, one.measures.queue_delay_mean_s?);
        let numbers = [wait.mean, wait.low, wait.high, used.mean, used.low, used.high];
        Some(Group { texts: vec![label.clone()], numbers: numbers.map(|value| vec![value]).into() })
    });
    let table = DataSet::new(
        "table",
        [
            "algorithm",
            "queue_delay_mean_s",
            "queue_delay_low_s",
            "queue_delay_high_s",
            "utilisation",
            "utilisation_low",
            "utilisation_high",
        ],
        groups.collect(),
    );
    let caption = format!(
        "Utilisation of the bottleneck against the mean queueing delay; better is up and to the left. {}",
        whiskers(frame.seeds)
    );
    let mut x = Axis::delay("queue_delay_mean_s", "Mean queueing delay").channel();
    x["scale"] = delay_scale(&table);
    let y = json!({
        "field": "utilisation", "type": "quantitative", "title": "Utilisation",
        "scale": { "domain": utilisation_domain(&table), "nice": false }, "axis": { "format": "~%" },
    });
    let colour = channel(frame, &sections, |index| frame.colour(index).into());
    let shape = channel(frame, &sections, |index| SHAPES[index % SHAPES.len()].into());
    let (mut low_x, mut low_y) = (x.clone(), y.clone());
    low_x["field"] = "queue_delay_low_s".into();
    low_y["field"] = "utilisation_low".into();
    let across = json!({ "x": low_x, "x2": { "field": "queue_delay_high_s" }, "y": y, "color": colour });
    let along = json!({ "x": x, "y": low_y, "y2": { "field": "utilisation_high" }, "color": colour });
    let drawn = vec![
        json!({ "mark": { "type": "rule", "strokeWidth": 1.2 }, "encoding": across }),
        json!({ "mark": { "type": "rule", "strokeWidth": 1.2 }, "encoding": along }),
        json!({
            "mark": { "type": "point", "filled": true, "size": 90, "opacity": 1, "tooltip": { "content": "data" } },
            "encoding": { "x": x, "y": y, "color": colour, "shape": shape },
        }),
    ];
    finish("trade-off", "Utilisation and delay", &caption, &drawn, 300, table)
}

/// From the lowest whisker to the highest; by powers of ten where they are more than one apart.
fn delay_scale(table: &DataSet) -> Value {
    let ends = |at: usize| table.groups.iter().map(move |group| group.numbers[at][0]);
    let (low, high) = (ends(1).fold(f64::INFINITY, f64::min), ends(2).fold(0.0, f64::max));
    if low > 0.0 && high > 10.0 * low {
        return json!({ "type": "log", "domain": [number(low / 1.2), number(high * 1.2)], "nice": false });
    }
    let beyond = (0.06 * (high - low)).max(1e-6);
    json!({ "domain": [number((low - beyond).max(0.0)), number(high + beyond)], "zero": false, "nice": false })
}

/// From the lowest whisker to 1, but never so close that differences of less than a per cent look large.
fn utilisation_domain(table: &DataSet) -> [f64; 2] {
    let lowest = table.groups.iter().map(|group| group.numbers[4][0]).fold(1.0, f64::min);
    let low = (lowest - 0.02).clamp(0.0, 0.9);
    [low, 1.0 + (1.0 - low) * 0.04]
}

/// The goodput of each flow.
pub(crate) fn shares(frame: &Frame<'_>) -> Option<Plot> {
    let mut groups = Vec::new();
    let mut colours: Vec<(String, String)> = Vec::new();
    for (index, (one, label)) in frame.shown.iter().zip(&frame.labels).enumerate() {
        let fair = fair_shares(one.trace, Window::measured(one.trace));
        for (position, flow) in frame.drawn(index).into_iter().enumerate() {
            let Some(estimate) = one.measures.flow_goodput_bps.get(flow.index).copied().flatten() else { continue };
            let (low, high) = (estimate.low, estimate.high);
            // An interval of a mean may end above what the link can carry; no flow can.
            let most = path_rate(one.trace, flow.index);
            let high = high.min(most.max(estimate.mean));
            let algorithm = one.trace.flows[flow.index].algorithm.clone();
            let colour = frame.palette.variable(&algorithm);
            if !colours.iter().any(|(known, _)| *known == algorithm) {
                colours.push((algorithm.clone(), colour));
            }
            let fair = fair[flow.index].unwrap_or(f64::NAN);
            let numbers = [estimate.mean, low, high, fair].map(|value| vec![value]).into();
            groups
                .push(Group { texts: vec![label.clone(), (position + 1).to_string(), flow.label, algorithm], numbers });
        }
    }
    let bars = groups.len() as u32;
    let columns = [
        "algorithm",
        "position",
        "flow",
        "name",
        "goodput_bps",
        "goodput_low_bps",
        "goodput_high_bps",
        "fair_share_bps",
    ];
    let table = DataSet::new("table", columns, groups);
    let largest = table.groups.iter().map(|group| group.numbers[2][0].max(group.numbers[3][0])).fold(0.0, f64::max);
    let mut caption = format!("Goodput of each flow over its life after the warm-up. {}", whiskers(frame.seeds));
    let y = json!({ "field": "algorithm", "type": "nominal", "title": null, "sort": frame.labels, "axis": { "labelLimit": 220 } });
    // Bars lie side by side by their place: names differ from one to the next.
    let offset = json!({ "field": "position", "type": "nominal", "sort": null });
    let x = Axis::bit_rate("goodput_bps", "Goodput").within(0.0, largest * 1.05).channel();
    let (domain, range): (Vec<String>, Vec<String>) = colours.into_iter().unzip();
    let colour =
        json!({ "field": "name", "type": "nominal", "scale": { "domain": domain, "range": range }, "legend": null });
    let mut low = x.clone();
    low["field"] = "goodput_low_bps".into();
    let mut drawn = vec![
        json!({ "mark": { "type": "bar", "opacity": 0.75, "tooltip": { "content": "data" } }, "encoding": { "y": y, "yOffset": offset, "x": x, "color": colour } }),
        json!({ "mark": { "type": "rule", "strokeWidth": 1.6, "color": "var(--text)" },
            "encoding": { "y": y, "yOffset": offset, "x": low, "x2": { "field": "goodput_high_bps" } } }),
    ];
    if table.groups.iter().any(|group| group.numbers[3][0].is_finite()) {
        caption.push_str(" Tick across a bar: the flow’s max-min fair share.");
        let mut fair = x.clone();
        fair["field"] = "fair_share_bps".into();
        drawn.push(json!({
            "mark": { "type": "tick", "color": "var(--muted)", "thickness": 2 },
            "encoding": { "y": y, "yOffset": offset, "x": fair },
        }));
    }
    finish("shares", "Goodput of each flow", &caption, &drawn, (bars * 13).clamp(160, 900), table)
}

/// The distribution of the queueing delay, one curve each.
fn delays(frame: &Frame<'_>) -> Option<Plot> {
    let sections = alone(frame);
    let groups = sections.iter().filter_map(|index| {
        let (waits, shares) = distribution(frame, &frame.shown[*index])?;
        Some(Group { texts: vec![frame.labels[*index].clone()], numbers: vec![waits, shares] })
    });
    let table = DataSet::new("table", ["algorithm", "wait_s", "share"], groups.collect());
    let caption = "Share of packets that waited at the bottleneck no longer than this; one seed. Point at a line to see it alone.";
    let encoding = json!({
        "x": Axis::delay("wait_s", "Queueing delay").channel(),
        "y": { "field": "share", "type": "quantitative", "title": "Share of packets", "scale": { "domain": [0, 1] } },
        "color": channel(frame, &sections, |index| frame.colour(index).into()),
        "strokeDash": channel(frame, &sections, |index| json!(colour::dash(index))),
        "opacity": { "condition": { "param": "pointed", "value": 1 }, "value": 0.15 },
    });
    let line = json!({ "type": "line", "interpolate": "step-after", "strokeWidth": 1.8 });
    // A line is too thin to be pointed at: what is pointed at is wide and cannot be seen.
    let wide = json!({ "type": "line", "interpolate": "step-after", "strokeWidth": 14, "opacity": 0, "tooltip": true });
    let pointed = json!([{ "name": "pointed", "select": { "type": "point", "fields": ["algorithm"], "on": "pointerover", "clear": "pointerout" } }]);
    let label = json!({ "field": "algorithm", "type": "nominal" });
    let under = json!({ "x": encoding["x"], "y": encoding["y"], "detail": label, "tooltip": label });
    let layers =
        [json!({ "mark": line, "encoding": encoding }), json!({ "mark": wide, "encoding": under, "params": pointed })];
    finish("delays", "Distribution of the queueing delay", caption, &layers, 300, table)
}

/// Waits in seconds and the share of packets that waited no longer, thinned to steps of at least 1/400 except at the ends.
fn distribution(frame: &Frame<'_>, one: &Shown<'_>) -> Option<(Vec<f64>, Vec<f64>)> {
    let wait = &frame.bottleneck(one)?.wait;
    let (mut waits, mut shares) = (Vec::new(), Vec::new());
    let (mut seen, mut kept) = (0, -1.0);
    for (nanos, count) in wait.buckets() {
        seen += count;
        let share = seen as f64 / wait.count() as f64;
        if share - kept >= CDF_STEP || seen == wait.count() {
            waits.push(nanos as f64 / 1e9);
            shares.push(share);
            kept = share;
        }
    }
    (!waits.is_empty()).then_some((waits, shares))
}

/// The sections that are not of an algorithm with another one, or with itself as the other, where it has a section of its own.
fn alone(frame: &Frame<'_>) -> Vec<usize> {
    let is_alone = |one: &Shown<'_>| !mixed(one.trace) && one.label == first(one);
    let has_section = |algorithm: &str| frame.shown.iter().any(|other| is_alone(other) && other.label == algorithm);
    let sections = frame.shown.iter().enumerate().filter(|(_, one)| is_alone(one) || !has_section(first(one)));
    sections.map(|(index, _)| index).collect()
}

/// A channel that tells these sections of the page apart, with one legend for all channels of a plot.
fn channel(frame: &Frame<'_>, sections: &[usize], of: impl Fn(usize) -> Value) -> Value {
    let range: Vec<Value> = sections.iter().copied().map(of).collect();
    let labels: Vec<&String> = sections.iter().map(|index| &frame.labels[*index]).collect();
    let legend = json!({ "title": null, "orient": "bottom", "columns": 2, "labelLimit": 180, "symbolStrokeWidth": 2 });
    json!({ "field": "algorithm", "type": "nominal", "scale": { "domain": labels, "range": range }, "legend": legend })
}

/// The rate of the slowest link that the data of a flow crosses, bit/s.
fn path_rate(trace: &Trace, flow: usize) -> f64 {
    let links = trace.flows[flow].links.iter().filter_map(|link| trace.links.get(*link as usize)?.rate);
    links.min().map_or(f64::INFINITY, |rate| rate as f64)
}

fn finish(id: &str, title: &str, caption: &str, drawn: &[Value], height: u32, table: DataSet) -> Option<Plot> {
    if table.is_empty() {
        return None;
    }
    Some(Plot::new(
        id.to_string(),
        (title, "all algorithms", caption),
        (json!("container"), height),
        drawn,
        vec![table],
    ))
}

const SHAPES: [&str; 8] =
    ["circle", "square", "triangle-up", "diamond", "triangle-down", "cross", "triangle-right", "triangle-left"];

/// Steps finer than this cannot be seen on a plot 300 pixels high.
const CDF_STEP: f64 = 1.0 / 400.0;

#[cfg(test)]
mod tests {
    use cwnd_trace::LinkTrace;

    use super::*;
    use cwnd_run::measure::summarise;

    #[test]
    fn delays_are_clipped_to_their_whiskers_and_logarithmic_over_decades() {
        let table = |ends: &[[f64; 2]]| {
            let group = |[low, high]: &[f64; 2]| Group {
                texts: Vec::new(),
                numbers: vec![vec![*low], vec![*low], vec![*high]],
            };
            DataSet { groups: ends.iter().map(group).collect(), ..DataSet::new("table", ["a", "b", "c"], Vec::new()) }
        };
        let near = delay_scale(&table(&[[0.010, 0.011], [0.011, 0.012]]));
        assert_eq!((&near["type"], &near["zero"]), (&Value::Null, &json!(false)));
        let domain = near["domain"].as_array().expect("two ends");
        assert!(domain[0].as_f64() > Some(0.009) && domain[1].as_f64() < Some(0.0125), "{near}");
        let far = delay_scale(&table(&[[0.001, 0.0011], [0.1, 0.2]]));
        assert_eq!(far["type"], "log");
        assert_eq!(delay_scale(&table(&[[0.0, 0.001], [0.1, 0.2]]))["domain"][0], json!(0));
    }

    #[test]
    fn a_distribution_keeps_its_ends_and_rises() {
        let mut link = LinkTrace::default();
        (0..100_000_u64).for_each(|k| link.wait.record(k * 1000));
        let trace = Trace { links: vec![link], ..Trace::default() };
        let estimates = cwnd_run::measure::Estimates::over(&[summarise(&trace, 0)]);
        let shown = [Shown { label: "x".into(), measures: &estimates, trace: &trace }];
        let (waits, shares) = distribution(&Frame::of(&shown, 0, 1), &shown[0]).expect("packets waited");
        assert!(waits.len() <= 402, "{}", waits.len());
        assert_eq!((waits.last(), shares.last()), (Some(&0.099_999), Some(&1.0)));
        assert!(shares.windows(2).all(|pair| pair[0] < pair[1]) && waits.windows(2).all(|pair| pair[0] < pair[1]));
        // Uniform waits: the share at a wait is that wait as a part of the longest, to a bucket's width.
        let middle = shares.partition_point(|share| *share < 0.5);
        assert!((waits[middle] - 0.05).abs() < 0.002, "{}", waits[middle]);
    }
}
