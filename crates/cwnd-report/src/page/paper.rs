//! The pages of reproduced papers: one per paper, and an index with the counts of verdicts.

use core::fmt::Write as _;

use serde_json::{Value as Json, json};

use super::html::{Escaped, figure, opening, scripts, seed_text};
use crate::plot::colour::{self, Palette};
use crate::plot::{DataSet, Group, Plot, by_text};
use cwnd_papers::{Assumption, Confidence, Figure, JudgedRow, PaperRun, ResultRun, Scale, Settings, Value, Verdict};

/// What a page of a paper shows besides the runs.
#[derive(Clone, Copy, Debug)]
pub struct PaperPage<'a> {
    /// How the papers were run.
    pub settings: &'a Settings,
    /// The command that repeats it.
    pub command: &'a str,
    /// The revision of the program.
    pub revision: &'a str,
}

/// The page of a paper: for each result published and ours on the same axes, the table of rows and the configuration; then the
/// assumptions, and how the page was made.
#[must_use]
pub fn paper_html(run: &PaperRun, page: PaperPage<'_>) -> String {
    let paper = &run.published.paper;
    let palette = palette();
    let plots: Vec<Vec<Plot>> = run.results.iter().map(|result| plots(run, result, &palette)).collect();
    let data = json!({
        "plots": plots.iter().flatten().map(Plot::json).collect::<Vec<_>>(),
        "tables": [table_of_rows(run.rows()).json()],
    });
    let mut out = String::new();
    opening(&mut out, &paper.title, &palette);
    let _ = write!(
        out,
        "<header><h1>{}</h1><p>{}. {}. Run by its authors on {}.</p><p>{}. {}</p>",
        Escaped(&paper.title),
        Escaped(&paper.authors.join(", ")),
        Escaped(&paper.venue),
        Escaped(&paper.simulator),
        run.counts(),
        length(page.settings.scale)
    );
    out.push_str(
        "<noscript><p class=\"warnings\">The plots need JavaScript; the tables do not.</p></noscript></header>",
    );
    out.push_str("<nav aria-label=\"Sections\"><ul>");
    for result in &run.results {
        let id = Escaped(&run.published.result[result.index].id);
        let _ = write!(out, "<li><a href=\"#{id}\">{id}</a></li>");
    }
    out.push_str("<li><a href=\"#assumptions\">Assumptions</a></li><li><a href=\"#provenance\">How it was made</a></li></ul></nav><main id=\"main\">");
    for (result, plots) in run.results.iter().zip(&plots) {
        section(&mut out, run, result, plots);
    }
    out.push_str(
        "<p class=\"links\"><a data-csv=\"results\" href=\"#main\" download=\"results.csv\">All rows as CSV</a></p>",
    );
    assumptions(&mut out, run, page.settings);
    provenance(&mut out, page);
    out.push_str("</main>");
    scripts(&mut out, &data);
    out
}

/// The page over all papers; each is expected beside it as `ID.html`.
#[must_use]
pub fn index_html(runs: &[PaperRun], page: PaperPage<'_>) -> String {
    let mut out = String::new();
    opening(&mut out, "Papers", &palette());
    let _ = write!(out, "<header><h1>Papers</h1><p>{}</p></header>", length(page.settings.scale));
    out.push_str("<main id=\"main\"><table class=\"rows\"><thead><tr><th scope=\"col\">Paper</th>");
    for verdict in Verdict::ALL {
        let _ = write!(out, "<th scope=\"col\">{verdict}</th>");
    }
    out.push_str("</tr></thead><tbody>");
    for run in runs {
        let paper = &run.published.paper;
        let counts = run.counts();
        let (id, title) = (Escaped(&paper.id), Escaped(&paper.title));
        let _ = write!(out, "<tr><th scope=\"row\"><a href=\"{id}.html\">{id}</a>: {title}</th>");
        for verdict in Verdict::ALL {
            let _ = write!(out, "<td>{}</td>", counts.get(verdict));
        }
        out.push_str("</tr>");
    }
    out.push_str("</tbody></table><p class=\"note\">The first three are counted. <i>Not reproducible</i> says that a paper does not say enough or contradicts itself, <i>illustration</i> that there is nothing to compare.</p>");
    provenance(&mut out, page);
    out.push_str("</main></body></html>");
    out
}

fn palette() -> Palette {
    Palette::new(SERIES.into_iter())
}

fn length(scale: Scale) -> &'static str {
    match scale {
        Scale::Quick => "Runs of reduced length: a verdict may differ at full length.",
        Scale::Full => "Runs of the published length.",
    }
}

fn section(out: &mut String, run: &PaperRun, result: &ResultRun, plots: &[Plot]) {
    let published = &run.published.result[result.index];
    let id = Escaped(&published.id);
    let _ = write!(
        out,
        "<section class=\"row\" aria-labelledby=\"{id}\"><h2 id=\"{id}\">{id}: {}</h2><p class=\"note\">{}</p>",
        Escaped(&published.title),
        Escaped(&published.source)
    );
    if !plots.is_empty() {
        out.push_str("<div class=\"grid wide\">");
        plots.iter().for_each(|plot| figure(out, plot, "h3"));
        out.push_str("</div>");
    }
    let _ = write!(
        out,
        "<div class=\"scroll whole\" tabindex=\"0\" role=\"region\" aria-label=\"Rows of {id}\"><table class=\"rows\"><thead><tr>"
    );
    for heading in ["Row", "Published", "Ours", "Tolerance", "Verdict", "Reason"] {
        let _ = write!(out, "<th scope=\"col\">{heading}</th>");
    }
    out.push_str("</tr></thead><tbody>");
    for row in &result.rows {
        let _ = write!(
            out,
            "<tr><th scope=\"row\">{}</th><td>{}</td><td class=\"ours\">{}</td><td>{}</td><td class=\"{}\">{}</td><td>{}</td></tr>",
            Escaped(&row.row),
            Escaped(&row.published_text()),
            Escaped(&row.ours_text()),
            Escaped(row.tolerance.as_deref().unwrap_or_default()),
            row.verdict.to_string().replace(' ', "-"),
            row.verdict,
            Escaped(row.reason.as_deref().unwrap_or_default())
        );
    }
    out.push_str("</tbody></table></div>");
    if result.log.cells > 0 {
        let seeds: Vec<u64> = result.log.seeds.iter().copied().collect();
        let _ = write!(out, "<p class=\"note\">{} runs, {}.</p>", result.log.cells, seed_text(&seeds));
    }
    for (name, toml) in &result.log.scenarios {
        let _ = write!(
            out,
            "<details><summary>Configuration: {name}</summary><pre tabindex=\"0\" aria-label=\"Scenario {name}\">{}</pre></details>",
            Escaped(toml),
            name = Escaped(name)
        );
    }
    out.push_str("</section>");
}

fn assumptions(out: &mut String, run: &PaperRun, settings: &Settings) {
    out.push_str("<section aria-labelledby=\"assumptions\"><h2 id=\"assumptions\">Assumptions</h2><p class=\"note\">What the paper leaves open. <code>--set KEY=VALUE</code> replaces one.</p><table class=\"rows\"><thead><tr>");
    for heading in ["Key", "Value", "What is missing", "Why this", "Confidence", "Matters to"] {
        let _ = write!(out, "<th scope=\"col\">{heading}</th>");
    }
    out.push_str("</tr></thead><tbody>");
    for assumption in &run.published.assumption {
        let Assumption { key, missing, basis, confidence, results, .. } = assumption;
        let replaced = settings.assumptions.iter().rev().find(|(replaced, _)| replaced == key);
        let value = replaced.map_or_else(|| assumption.text(settings.scale), |(_, value)| format!("{value} (--set)"));
        let confidence = match confidence {
            Confidence::Sourced => "sourced",
            Confidence::Inferred => "inferred",
            Confidence::Guess => "guess",
        };
        let _ = write!(
            out,
            "<tr><th scope=\"row\"><code>{}</code></th><td><code>{}</code></td><td>{}</td><td>{}</td><td>{confidence}</td><td>{}</td></tr>",
            Escaped(key),
            Escaped(&value),
            Escaped(missing),
            Escaped(basis),
            Escaped(&results.join(", "))
        );
    }
    out.push_str("</tbody></table></section>");
}

fn provenance(out: &mut String, page: PaperPage<'_>) {
    let _ = write!(
        out,
        "<section aria-labelledby=\"provenance\"><h2 id=\"provenance\">How it was made</h2><dl><dt>Command</dt><dd><code>{}</code></dd>\
         <dt>Revision</dt><dd>{}</dd><dt>Tolerances</dt><dd>Written before the runs. A match has its whole 95 % interval inside, a miss \
         outside.</dd></dl></section>",
        Escaped(page.command),
        Escaped(page.revision)
    );
}

fn plots(run: &PaperRun, result: &ResultRun, palette: &Palette) -> Vec<Plot> {
    let id = &run.published.result[result.index].id;
    let figures = result.figures.iter().enumerate().map(|(nth, figure)| curves(id, nth, figure, palette));
    let mut units: Vec<&str> = Vec::new();
    for row in result.rows.iter().filter(|row| matches!(row.ours, Some(Value::Number(_)))) {
        if !units.contains(&row.unit.as_str()) {
            units.push(&row.unit);
        }
    }
    let dots = units.iter().enumerate().map(|(nth, unit)| {
        let rows: Vec<&JudgedRow> = result.rows.iter().filter(|row| row.unit == *unit).collect();
        dots(id, nth, unit, &rows)
    });
    figures.chain(dots).collect()
}

/// Published and ours side by side, one line per row.
fn dots(id: &str, nth: usize, unit: &str, rows: &[&JudgedRow]) -> Plot {
    let number = |value: &Option<Value>| match value {
        Some(Value::Number(value)) => Some(*value),
        _ => None,
    };
    let mut groups = Vec::new();
    let mut names = Vec::new();
    for row in rows {
        let values = [("published", number(&row.published), 0.0), ("ours", number(&row.ours), row.ci95.unwrap_or(0.0))];
        for (source, value, half) in values {
            let Some(value) = value else { continue };
            groups.push(Group {
                texts: vec![row.row.clone(), source.to_string()],
                numbers: [value, value - half, value + half].map(|value| vec![value]).into(),
            });
        }
        if number(&row.ours).is_some() || number(&row.published).is_some() {
            names.push(row.row.clone());
        }
    }
    let y = json!({ "field": "row", "type": "nominal", "sort": names, "title": null, "axis": { "labelLimit": 260 } });
    let title = if unit.is_empty() { "Value".to_string() } else { unit.to_string() };
    let x = |field: &str| json!({ "field": field, "type": "quantitative", "title": title, "scale": { "zero": false } });
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
    let height = (names.len() as u32 * 18).max(60);
    let table = DataSet::new("table", ["row", "source", "value", "low", "high"], groups);
    let caption = "Diamonds: published. Circles: ours, with the 95 % interval.";
    let subject = if unit.is_empty() { id.to_string() } else { format!("{id}, {unit}") };
    Plot::new(
        format!("{id}-rows-{nth}"),
        ("Published and ours", &subject, caption),
        (json!("container"), height),
        &layers,
        vec![table],
    )
}

/// Curves on common axes: ours drawn through, published ones as points.
fn curves(id: &str, nth: usize, figure: &Figure, palette: &Palette) -> Plot {
    let names: Vec<String> = figure.curves.iter().map(|line| line.name.clone()).collect();
    let colours: Vec<Json> = (0..names.len()).map(|nth| palette.variable(SERIES[nth % SERIES.len()]).into()).collect();
    let dashes: Vec<Json> = (0..names.len()).map(|nth| json!(colour::dash(nth / SERIES.len()))).collect();
    let groups = figure.curves.iter().map(|line| Group {
        texts: vec![line.name.clone(), if line.published { "published" } else { "ours" }.to_string()],
        numbers: vec![line.points.iter().map(|(x, _)| *x).collect(), line.points.iter().map(|(_, y)| *y).collect()],
    });
    let table = DataSet::new("table", ["curve", "source", "x", "y"], groups.collect());
    let axis = |field: &str, title: &str, log: bool| {
        let kind = if log { "log" } else { "linear" };
        json!({ "field": field, "type": "quantitative", "title": title, "scale": { "type": kind, "zero": false, "nice": false } })
    };
    let encoding = json!({
        "x": axis("x", figure.x, figure.log.0),
        "y": axis("y", figure.y, figure.log.1),
        "color": by_text("curve", &names, &colours),
        "strokeDash": by_text("curve", &names, &dashes),
    });
    let layer = |mark: Json, source: &str| json!({ "transform": [{ "filter": { "field": "source", "equal": source } }], "mark": mark, "encoding": encoding });
    let layers = [
        layer(json!({ "type": "line", "strokeWidth": 1.8 }), "ours"),
        layer(json!({ "type": "point", "shape": "diamond", "size": 60, "strokeWidth": 2 }), "published"),
    ];
    Plot::new(
        format!("{id}-figure-{nth}"),
        (figure.title, id, &figure.caption),
        (json!("container"), 280),
        &layers,
        vec![table],
    )
}

/// All rows for the CSV file.
fn table_of_rows<'a>(rows: impl Iterator<Item = &'a JudgedRow>) -> DataSet {
    let number = |value: &Option<Value>| match value {
        Some(Value::Number(value)) => vec![*value],
        _ => vec![f64::NAN],
    };
    let groups = rows.map(|row| Group {
        texts: vec![row.result.clone(), row.row.clone(), row.unit.clone(), row.verdict.to_string()],
        numbers: vec![number(&row.published), number(&row.ours), vec![row.ci95.unwrap_or(f64::NAN)]],
    });
    let columns = ["result", "row", "unit", "verdict", "published", "ours", "ci95"];
    DataSet::new("results", columns, groups.collect())
}

/// Curves take the colours of these algorithms in turn, which stay apart for colour-blind readers.
const SERIES: [&str; 8] = ["simd", "daimd", "scalable", "exp-tcp", "udt", "new-aimd", "reno", "cubic"];
