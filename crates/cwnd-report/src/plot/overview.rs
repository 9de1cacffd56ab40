//! The plots that compare all runs: shares, delay, and the cost of one to the other.

use serde_json::{Value, json};

use super::axis::Axis;
use super::colour;
use super::flows::mixed;
use super::frame::{Frame, Shown, first};
use super::shares::shares;
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
        let (x, y) = (Axis::delay("queue_delay_mean_s", ""), Axis::of_column("utilisation"));
        let waited = [wait.mean, wait.low, wait.high].map(|value| x.possible(value));
        let used = [used.mean, used.low, used.high].map(|value| y.possible(value));
        let numbers = [waited, used].concat();
        Some(Group { texts: vec![label.clone()], numbers: numbers.into_iter().map(|value| vec![value]).collect() })
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
    let [low, high] = utilisation_domain(&table);
    let y = Axis::of_column("utilisation").within(low, high).channel();
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
        "y": Axis::share("share", "Share of packets").within(0.0, 1.0).channel(),
        "color": channel(frame, &sections, |index| frame.colour(index).into()),
        "strokeDash": channel(frame, &sections, |index| json!(colour::dash(index))),
        "opacity": { "condition": { "param": "pointed", "value": 1 }, "value": 0.15 },
    });
    let line = json!({ "type": "line", "interpolate": "step-after", "strokeWidth": 1.8 });
    // A line is too thin for a pointer, so a wide invisible one receives it.
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
    use cwnd_trace::{LinkTrace, Trace};

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
