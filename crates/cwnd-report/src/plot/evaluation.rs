//! Plots of an evaluation: shares, round-trip times, harm, delay.

use cwnd_lab::evaluate::{Evaluation, EvaluationRow, Profile, REFERENCES};
use cwnd_run::measure::Estimate;
use cwnd_run::measure::digits::whiskers;
use serde_json::{Value, json};

use super::axis::Axis;
use super::colour::Palette;
use super::names;
use super::spec::{DataSet, Group, Plot, by_text};

/// The plots of an evaluation by RFC 9743, in the order of the page; none of another.
pub(crate) fn plots(evaluation: &Evaluation, contenders: &Contenders, palette: &Palette) -> Vec<Plot> {
    if evaluation.profile != Profile::Rfc9743.name() {
        return Vec::new();
    }
    vec![
        shares(evaluation, contenders, palette),
        rtts(evaluation, contenders, palette),
        harm(evaluation, contenders, palette),
        delays(evaluation, contenders, palette),
    ]
}

/// The algorithm and the references, with what each has in a setting. A reference that is evaluated itself stands there once.
pub(crate) struct Contenders {
    pub(crate) names: Vec<String>,
}

impl Contenders {
    pub(crate) fn of(evaluation: &Evaluation) -> Self {
        let mut names = vec![evaluation.algorithm.clone()];
        names.extend(REFERENCES.iter().filter(|name| **name != evaluation.algorithm).map(ToString::to_string));
        Self { names }
    }

    pub(crate) fn estimates<'a>(&'a self, row: &'a EvaluationRow) -> impl Iterator<Item = (&'a str, Option<Estimate>)> {
        self.names.iter().enumerate().map(|(nth, name)| {
            let estimate = match name.as_str() {
                _ if nth == 0 => row.algorithm,
                "reno" => row.reno,
                _ => row.cubic,
            };
            (name.as_str(), estimate)
        })
    }

    fn colour(&self, palette: &Palette) -> Value {
        let colours: Vec<Value> = self.names.iter().map(|name| palette.variable(name).into()).collect();
        by_text("algorithm", &self.names, &colours)
    }
}

/// Bars: what the contender takes from one flow of Reno or CUBIC, over the depth of the buffer.
fn shares(evaluation: &Evaluation, contenders: &Contenders, palette: &Palette) -> Plot {
    let rows = rows(evaluation, "5.2.1", "share of the goodput");
    let (rate, rtt) = middle(&rows);
    let opponent = |row: &EvaluationRow| row.traffic.rsplit(' ').next().unwrap_or_default().to_string();
    let place = |row: &EvaluationRow| format!("{}, {}", row.queue.trim_start_matches("droptail:"), opponent(row));
    let groups = rows.iter().filter(|row| row.rate == rate && row.rtt == rtt && row.traffic.starts_with("1 flow"));
    let axis = Axis::share("share", "Share of the goodput").within(0.0, 1.0);
    let groups = groups.flat_map(|row| one(contenders, row, &[&place(row)], &axis));
    let columns = ["algorithm", "place", "share", "low", "high"];
    let table = DataSet::new("table", columns, groups.collect());
    Plot::new(
        "share".to_string(),
        (
            "Share over buffer depth",
            &format!("{rate}, {rtt}, one flow against one"),
            &format!(
                "Of the goodput, against Reno and against CUBIC. An equal share is one half. {}",
                whiskers(evaluation.seeds as usize)
            ),
        ),
        ("container".into(), 220),
        &bars(contenders, palette, "place", &axis, Some(0.5)),
        vec![table],
    )
}

/// Bars: the flow with the long round-trip time over the one with the short.
fn rtts(evaluation: &Evaluation, contenders: &Contenders, palette: &Palette) -> Plot {
    let rows = rows(evaluation, "5.1.4", "goodput of the long round-trip time over the short");
    let axis = Axis::new("ratio", "Long over short").bounded(Some(0.0), None);
    let groups = rows.iter().flat_map(|row| one(contenders, row, &[row.queue.trim_start_matches("droptail:")], &axis));
    let table = DataSet::new("table", ["algorithm", "queue", "ratio", "low", "high"], groups.collect());
    Plot::new(
        "rtt".to_string(),
        (
            "Round-trip times of 50 and 150 ms",
            "two flows",
            &format!("Goodput of the long over the short; 1 is equal. {}", whiskers(evaluation.seeds as usize)),
        ),
        ("container".into(), 220),
        &bars(contenders, palette, "queue", &axis, Some(1.0)),
        vec![table],
    )
}

/// Dots: harm to the goodput of the standard algorithms, a line per setting.
fn harm(evaluation: &Evaluation, contenders: &Contenders, palette: &Palette) -> Plot {
    let rows = rows(evaluation, "5.2.1", "harm to goodput");
    let label = |row: &EvaluationRow| format!("{}, {}, {}: {}", row.rate, row.rtt, row.queue, row.traffic);
    let names: Vec<String> = rows.iter().map(|row| label(row)).collect();
    let x = Axis::share("harm", "Harm to the others' goodput").bounded(None, Some(1.0));
    let groups = rows.iter().flat_map(|row| one(contenders, row, &[&label(row)], &x));
    let table = DataSet::new("table", ["algorithm", "cell", "harm", "low", "high"], groups.collect());
    let (y, height) = names::axis("cell", &names);
    let color = contenders.colour(palette);
    let layers = [
        json!({ "mark": { "type": "rule", "strokeWidth": 1.4 }, "encoding": { "y": y, "x": x.channel_of("low"), "x2": { "field": "high" }, "color": color } }),
        json!({ "mark": { "type": "point", "size": 50, "filled": true }, "encoding": { "y": y, "x": x.channel(), "color": color } }),
    ];
    Plot::new(
        "harm".to_string(),
        (
            "Harm to Reno and CUBIC",
            "every setting of 5.2.1",
            &format!(
                "What the others lose against having only themselves there. Harm beyond that of Reno and CUBIC in the same place is what \
                 Ware et al. (2019) would object to. {}",
                whiskers(evaluation.seeds as usize)
            ),
        ),
        ("container".into(), height),
        &layers,
        vec![table],
    )
}

/// Dots: utilisation over queueing delay, one per setting of the grid.
fn delays(evaluation: &Evaluation, contenders: &Contenders, palette: &Palette) -> Plot {
    let used = rows(evaluation, "6.1", "utilisation");
    let waited = rows(evaluation, "6.1", "mean queueing delay");
    let mut groups = Vec::new();
    for (used, waited) in used.iter().zip(&waited) {
        for ((name, used_mean), (_, delay)) in contenders.estimates(used).zip(contenders.estimates(waited)) {
            let (Some(used_mean), Some(delay)) = (used_mean, delay) else { continue };
            groups.push(Group {
                texts: vec![name.to_string(), format!("{}, {}", used.rate, used.rtt), used.queue.clone()],
                numbers: vec![vec![delay.mean], vec![used_mean.mean]],
            });
        }
    }
    let table = DataSet::new("table", ["algorithm", "path", "queue", "delay_s", "utilisation"], groups);
    let mut utilisation = Axis::of_column("utilisation").channel();
    utilisation["scale"]["zero"] = false.into();
    let layer = json!({
        "mark": { "type": "point", "size": 60, "strokeWidth": 1.8 },
        "encoding": {
            "x": Axis::delay("delay_s", "Mean queueing delay").channel(),
            "y": utilisation,
            "color": contenders.colour(palette),
            "shape": { "field": "queue", "type": "nominal", "legend": { "orient": "bottom", "title": null } },
        },
    });
    Plot::new(
        "delay".to_string(),
        (
            "Utilisation over delay",
            "2 flows alone, every path of 6.1",
            "Means over seeds. Up and to the left is better.",
        ),
        ("container".into(), 300),
        &[layer],
        vec![table],
    )
}

/// Grouped bars with intervals over the texts of a column, and a line where all are equal.
fn bars(contenders: &Contenders, palette: &Palette, over: &str, axis: &Axis, equal: Option<f64>) -> Vec<Value> {
    let title = if over == "queue" { "Depth of the buffer" } else { "Depth of the buffer, opponent" };
    let x = json!({ "field": over, "type": "nominal", "sort": null, "title": title, "axis": { "labelAngle": 0, "labelLimit": 110, "labelExpr": "split(datum.label, ', ')" } });
    let mut color = contenders.colour(palette);
    color["legend"]["symbolType"] = json!("square");
    color["legend"]["symbolSize"] = json!(100);
    let offset = json!({ "field": "algorithm", "sort": contenders.names });
    let low = axis.channel_of("low");
    let mut layers = vec![
        json!({ "mark": "bar", "encoding": { "x": x, "xOffset": offset, "y": axis.channel(), "color": color } }),
        json!({ "mark": { "type": "rule", "strokeWidth": 1.4, "color": "var(--text)" }, "encoding": { "x": x, "xOffset": offset, "y": low, "y2": { "field": "high" } } }),
    ];
    layers.extend(equal.map(|equal| {
        json!({
            "data": { "values": [{ (&axis.field): equal }] },
            "mark": { "type": "rule", "color": "var(--muted)", "strokeDash": [4, 3] },
            "encoding": { "y": axis.channel() },
        })
    }));
    layers
}

/// A value with its interval for each contender.
fn one(contenders: &Contenders, row: &EvaluationRow, texts: &[&str], axis: &Axis) -> Vec<Group> {
    let groups = contenders.estimates(row).filter_map(|(name, estimate)| {
        let estimate = estimate?;
        let numbers = [estimate.mean, estimate.low, estimate.high].map(|number| vec![axis.possible(number)]);
        Some(Group {
            texts: std::iter::once(name).chain(texts.iter().copied()).map(str::to_string).collect(),
            numbers: numbers.into(),
        })
    });
    groups.collect()
}

fn rows<'a>(evaluation: &'a Evaluation, number: &str, measure: &str) -> Vec<&'a EvaluationRow> {
    let sections = evaluation.sections.iter().filter(|section| section.number == number);
    sections.flat_map(|section| &section.rows).filter(|row| row.measure == measure).collect()
}

/// The path in the middle of the grid.
fn middle(rows: &[&EvaluationRow]) -> (String, String) {
    let wanted = rows.iter().find(|row| row.rtt == "50ms").or(rows.first());
    wanted.map_or_else(Default::default, |row| (row.rate.clone(), row.rtt.clone()))
}
