//! Orderings that a paper states: the values that are put in order, side by side.

use cwnd_papers::{JudgedRow, PublishedResult};
use serde_json::{Value, json};

use super::axis::scale;
use super::colour::{Palette, SERIES};
use super::names;
use super::spec::{DataSet, Group, Plot};

/// The orderings among the rows of a result: a plot for those that compare the same names in one unit.
pub(super) fn orders(result: &PublishedResult, rows: &[JudgedRow], palette: &Palette) -> Vec<Plot> {
    let mut kinds: Vec<(Vec<&str>, Vec<&JudgedRow>)> = Vec::new();
    for row in rows.iter().filter(|row| !row.ordered.is_empty()) {
        let mut names: Vec<&str> = row.ordered.iter().map(|one| one.name.as_str()).collect();
        names.sort_unstable();
        match kinds.iter_mut().find(|(known, rows)| *known == names && rows[0].unit == row.unit) {
            Some((_, rows)) => rows.push(row),
            None => kinds.push((names, vec![row])),
        }
    }
    kinds.iter().enumerate().map(|(nth, (_, rows))| order(result, nth, rows, palette)).collect()
}

/// A line for each row, with a point for each value in the order in which the first row has them.
fn order(result: &PublishedResult, nth: usize, rows: &[&JudgedRow], palette: &Palette) -> Plot {
    let groups = rows.iter().flat_map(|row| {
        row.ordered.iter().map(|one| {
            let [low, high] = one.interval.unwrap_or([one.value; 2]);
            let numbers = [one.value, low, high].map(|value| vec![value]).into();
            Group { texts: vec![row.row.clone(), one.name.clone()], numbers }
        })
    });
    let groups: Vec<Group> = groups.collect();
    let unit = rows[0].unit.as_str();
    let title = if unit.is_empty() { "Value" } else { unit };
    let (scale, ticks) = scale(groups.iter().map(|group| group.numbers[0][0]));
    let x =
        |field: &str| json!({ "field": field, "type": "quantitative", "title": title, "scale": scale, "axis": ticks });
    let (y, height) = names::axis("row", &rows.iter().map(|row| row.row.clone()).collect::<Vec<_>>());
    let of: Vec<&str> = rows[0].ordered.iter().map(|one| one.name.as_str()).collect();
    let each = |all: &[Value]| -> Vec<Value> { all.iter().cycle().take(of.len()).cloned().collect() };
    let colours = each(&SERIES.map(|name| Value::from(palette.variable(name))));
    let shapes = each(&SHAPES.map(Value::from));
    let colour = json!({
        "field": "of", "type": "nominal", "scale": { "domain": of, "range": colours },
        "legend": { "orient": "top", "title": null },
    });
    let shape = json!({ "field": "of", "type": "nominal", "scale": { "domain": of, "range": shapes } });
    let rule = json!({ "y": y, "x": x("low"), "x2": { "field": "high" }, "color": colour });
    let point = json!({ "y": y, "x": x("value"), "color": colour, "shape": shape });
    let layers = [
        json!({ "mark": { "type": "rule", "strokeWidth": 1.6 }, "encoding": rule }),
        json!({ "mark": { "type": "point", "size": 60, "strokeWidth": 2 }, "encoding": point }),
    ];
    let wanted = rows.iter().filter_map(|row| row.tolerance.as_deref());
    let mut wanted: Vec<&str> = wanted.collect();
    wanted.dedup();
    let wanted = match wanted.as_slice() {
        [one] => format!(" The paper has {one}."),
        _ => String::new(),
    };
    let caption = format!("Ours, with the 95 % interval.{wanted}");
    let of_unit = if unit.is_empty() { String::new() } else { format!(" in {unit}") };
    Plot::new(
        format!("{}-order-{}", result.id, nth + 1),
        (&format!("{}{of_unit}: values in their order", result.place()), &result.title, &caption),
        ("container".into(), height),
        &layers,
        vec![DataSet::new("table", ["row", "of", "value", "low", "high"], groups)],
    )
}

/// Shapes of points, so that colour is not all that tells them apart.
const SHAPES: [&str; 5] = ["circle", "square", "triangle-up", "diamond", "cross"];

#[cfg(test)]
mod tests {
    use cwnd_papers::{Scale, Selection, Settings, Verdict};
    use cwnd_run::cells::Cells;

    use super::super::paper::{palette, plots};
    use crate::page::names::{is_plot, of_results};

    #[test]
    fn every_judged_row_with_a_value_is_drawn() {
        let selection = Selection::of(Some("simd"), Some("text-sqrt")).expect("known");
        let settings = Settings { scale: Scale::Quick, assumptions: Vec::new(), variant: None };
        let runs = selection.run(&settings, &Cells::default(), &()).expect("it runs");
        let mut judged = 0;
        for run in &runs {
            for result in &run.results {
                let plots = plots(run, result, &palette());
                assert_eq!(plots[0].id, "text-sqrt-order-1", "what is judged comes first");
                let known = of_results(["text-sqrt"]);
                assert!(plots.iter().all(|plot| is_plot(&known, &plot.id)), "{known:?}");
                assert!(plots[0].caption.contains("AIMD < SQRT < IIAD"), "{}", plots[0].caption);
                let tables = plots.iter().flat_map(|plot| &plot.data).filter(|table| table.columns[0] == "row");
                let drawn: Vec<&str> =
                    tables.flat_map(|table| &table.groups).map(|group| group.texts[0].as_str()).collect();
                for row in &result.rows {
                    judged += usize::from(row.verdict != Verdict::Illustration);
                    assert!(row.ours.is_none() || drawn.contains(&row.row.as_str()), "{} is not drawn", row.row);
                }
            }
        }
        assert_eq!(judged, 3);
    }
}
