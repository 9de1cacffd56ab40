//! Plots of reproduced results: published and ours on the same axes.

use cwnd_papers::{Figure, JudgedRow, PaperRun, PublishedResult, ResultRun, Value};
use serde_json::{Value as Json, json};

use super::axis::{Axis, scale};
use super::colour::{self, Palette, SERIES};
use super::names;
use super::orders::orders;
use super::spec::{DataSet, Group, Plot, by_text};

/// The colours of the curves.
pub(crate) fn palette() -> Palette {
    Palette::new(SERIES.into_iter())
}

/// The figures of a result, then its orderings, and its rows with a plot for each unit.
pub(crate) fn plots(run: &PaperRun, result: &ResultRun, palette: &Palette) -> Vec<Plot> {
    let published = &run.published.result[result.index];
    let figures = result.figures.iter().enumerate().map(|(nth, figure)| curves(published, nth, figure, palette));
    let mut units: Vec<&str> = Vec::new();
    for row in result.rows.iter().filter(|row| matches!(row.ours, Some(Value::Number(_)))) {
        if !units.contains(&row.unit.as_str()) {
            units.push(&row.unit);
        }
    }
    let dots = units.iter().enumerate().map(|(nth, unit)| {
        let rows: Vec<&JudgedRow> = result.rows.iter().filter(|row| row.unit == *unit).collect();
        dots(published, nth, unit, &rows)
    });
    figures.chain(orders(&run.published.result[result.index], &result.rows, palette)).chain(dots).collect()
}

/// Published and ours side by side, one line per row.
fn dots(result: &PublishedResult, nth: usize, unit: &str, rows: &[&JudgedRow]) -> Plot {
    let number = |value: &Option<Value>| match value {
        Some(Value::Number(value)) => Some(*value),
        _ => None,
    };
    let mut groups = Vec::new();
    let mut names = Vec::new();
    for row in rows {
        let axis = axis(row);
        let error = row.reading_error.unwrap_or(0.0);
        let published = number(&row.published).map(|value| [value, value - error, value + error]);
        let ours = number(&row.ours).map(|value| [value, row.low.unwrap_or(value), row.high.unwrap_or(value)]);
        for (source, values) in [("published", published), ("ours", ours)] {
            let Some([value, low, high]) = values else { continue };
            groups.push(Group {
                texts: vec![row.name.clone(), source.to_string()],
                numbers: [value, axis.possible(low), axis.possible(high)].map(|value| vec![value]).into(),
            });
        }
        if number(&row.ours).is_some() || number(&row.published).is_some() {
            names.push(row.name.clone());
        }
    }
    let (y, height) = names::axis("row", &names);
    let title = if unit.is_empty() { "Value".to_string() } else { unit.to_string() };
    let (scale, ticks) = scale(groups.iter().flat_map(|group| group.numbers.iter().map(|column| column[0])));
    let x =
        |field: &str| json!({ "field": field, "type": "quantitative", "title": title, "scale": scale, "axis": ticks });
    let source = json!({
        "field": "source", "type": "nominal",
        "scale": { "domain": ["published", "ours"], "range": ["var(--drop)", "var(--link)"] },
        "legend": { "orient": "top", "title": null },
    });
    let shape = json!({
        "field": "source", "type": "nominal",
        "scale": { "domain": ["published", "ours"], "range": ["diamond", "circle"] },
    });
    let layers = [
        json!({ "mark": { "type": "rule", "strokeWidth": 1.6 }, "encoding": { "y": y, "x": x("low"), "x2": { "field": "high" }, "color": source } }),
        json!({ "mark": { "type": "point", "size": 60, "strokeWidth": 2 }, "encoding": { "y": y, "x": x("value"), "color": source, "shape": shape } }),
    ];
    let table = DataSet::new("table", ["row", "source", "value", "low", "high"], groups);
    let is_read = rows.iter().any(|row| row.reading_error.is_some());
    let caption = match is_read {
        true => {
            "Diamonds: published, with the error of reading them off a figure. Circles: ours, with the 95 % interval."
        }
        false => "Diamonds: published. Circles: ours, with the 95 % interval.",
    };
    let unit = if unit.is_empty() { String::new() } else { format!(" in {unit}") };
    let title = format!("{}{unit}: published and ours", result.place());
    Plot::new(
        format!("{}-rows-{}", result.id, nth + 1),
        (&title, &result.title, caption),
        ("container".into(), height),
        &layers,
        vec![table],
    )
}

/// The axis of a row: counts, times and amounts are never below zero, unless the row is a difference.
fn axis(row: &JudgedRow) -> Axis {
    let axis = Axis::new("value", row.unit.as_str());
    let is_difference =
        [" less ", "difference", "gain", "growth", "change", "slope"].iter().any(|word| row.row.contains(word));
    let has_negative = [&row.published, &row.ours]
        .into_iter()
        .any(|value| matches!(value, Some(Value::Number(value)) if *value < 0.0));
    match is_difference || has_negative || row.unit.is_empty() {
        true => axis,
        false => axis.bounded(Some(0.0), None),
    }
}

/// Curves on common axes: ours drawn through, published ones as points.
fn curves(result: &PublishedResult, nth: usize, figure: &Figure, palette: &Palette) -> Plot {
    // A printed curve has the colour of ours that has its name.
    let mut names: Vec<String> = Vec::new();
    for line in &figure.curves {
        if !names.contains(&line.name) {
            names.push(line.name.clone());
        }
    }
    let colours: Vec<Json> = (0..names.len()).map(|nth| palette.variable(SERIES[nth % SERIES.len()]).into()).collect();
    let dashes: Vec<Json> = (0..names.len()).map(|nth| json!(colour::dash(nth / SERIES.len()))).collect();
    let groups = figure.curves.iter().map(|line| Group {
        texts: vec![line.name.clone(), if line.published { "published" } else { "ours" }.to_string()],
        numbers: vec![line.points.iter().map(|(x, _)| *x).collect(), line.points.iter().map(|(_, y)| *y).collect()],
    });
    let table = DataSet::new("table", ["curve", "source", "x", "y"], groups.collect());
    let axis = |field: &str, title: &str, log: bool| {
        let scale = if log { json!({ "type": "log", "nice": false }) } else { json!({ "zero": false, "nice": false }) };
        json!({ "field": field, "type": "quantitative", "title": title, "scale": scale })
    };
    let encoding = json!({
        "x": axis("x", figure.x, figure.log.0),
        "y": axis("y", figure.y, figure.log.1),
        "color": by_text("curve", &names, &colours),
        "strokeDash": by_text("curve", &names, &dashes),
    });
    let layer = |mark: Json, source: &str| json!({ "transform": [{ "filter": { "field": "source", "equal": source } }], "mark": mark, "encoding": encoding });
    // A layer without rows has no extent, which is a warning on the console.
    let marks = [
        (json!({ "type": "line", "strokeWidth": 1.8 }), "ours", false),
        (json!({ "type": "point", "shape": "diamond", "size": 60, "strokeWidth": 2 }), "published", true),
    ];
    let drawn = marks.into_iter().filter(|(_, _, published)| {
        figure.curves.iter().any(|line| line.published == *published && !line.points.is_empty())
    });
    let layers: Vec<Json> = drawn.map(|(mark, source, _)| layer(mark, source)).collect();
    Plot::new(
        format!("{}-figure-{}", result.id, nth + 1),
        (figure.title, result.place(), &figure.caption),
        ("container".into(), 280),
        &layers,
        vec![table],
    )
}

/// All rows for the CSV file.
pub(crate) fn data_of_rows<'a>(rows: impl Iterator<Item = &'a JudgedRow>) -> DataSet {
    let number = |value: &Option<Value>| match value {
        Some(Value::Number(value)) => vec![*value],
        _ => vec![f64::NAN],
    };
    let groups = rows.map(|row| Group {
        texts: vec![row.result.clone(), row.row.clone(), row.unit.clone(), row.verdict.to_string()],
        numbers: [number(&row.published), number(&row.ours)]
            .into_iter()
            .chain([row.low, row.high].map(|end| vec![end.unwrap_or(f64::NAN)]))
            .collect(),
    });
    let columns = ["result", "row", "unit", "verdict", "published", "ours", "low", "high"];
    DataSet::new("results", columns, groups.collect())
}
