//! The page of a sweep: which contender or point is best where, the measure over the keys, and every point.

use askama::Template;
use cwnd::Spec;
use cwnd_lab::sweep::{Axis as Key, PointResult, Ranked, Ranking, Sweep, Swept, Unit};
use cwnd_run::measure::digits::{legend, number};
use cwnd_run::measure::{Measure, Reach};
use cwnd_text::counted;

use super::assets::{data, render};
use super::link::Link;
use super::measures::Cell;
use super::names;
use super::parts::{Algorithm, Top, seed_text};
use crate::plot::colour::Palette;
use crate::plot::sweep::{SweepFrame, SweepPlots};
use crate::plot::{DataSet, Group, Plot};
use crate::text::{listed, question};

/// The page as one HTML document that refers to nothing outside itself. `command` repeats it.
#[must_use]
pub fn sweep_html(sweep: &Sweep, swept: &Swept) -> String {
    let points = &swept.points;
    let ranking = Ranking::of(sweep, points);
    let frame = SweepFrame::of(sweep, points, &ranking);
    let SweepPlots { best, values, left_out } = frame.plots();
    let columns = columns(&ranking, points);
    let order: Vec<&Ranked> = ranking.settings.iter().flat_map(|place| &place.ranked).collect();
    let names: Vec<String> = ranking.axes.iter().map(|axis| ranking.keys[*axis].name.clone()).collect();
    let failed = points.iter().any(|point| point.failed > 0);
    let mut warnings = swept.warnings.clone();
    warnings.extend(swept.errors.iter().map(|error| format!("Failed runs have no measures: {error}")));
    let contender = ranking.contender.map(|key| &ranking.keys[key]);
    let specs = contender.into_iter().flat_map(|key| &key.values).filter_map(|value| Spec::parse(&value.label).ok());
    let specs: Vec<Spec> = specs.collect();
    let seeds = points.iter().filter_map(|point| ranking.by.of(point)).map(|estimate| estimate.n).max().unwrap_or(0);
    let whole = points.len() <= MOST_WHOLE;
    let by = ranking.by.measure();
    let toml = sweep.to_toml();
    // In the directory of the page, so that the page does not depend on its author's paths.
    let command = format!("cwnd sweep sweep.toml --out . --by {}", by.key);
    let path = if swept.path.is_empty() { String::new() } else { format!("Base path: {}", swept.path) };
    names::check(names::OF_SWEEPS, best.iter().chain(&values));
    let page = SweepPage {
        top: Top { question: question(sweep, swept), path, command: &command },
        title: swept.title.clone().unwrap_or_else(|| match names.as_slice() {
            [] => "Sweep".to_string(),
            names => format!("Sweep over {}", listed(names)),
        }),
        swept,
        runs: format!(
            "{} of {}, {}{}",
            swept.done_cells,
            counted(swept.cells, "run"),
            counted(points.len(), "point"),
            if points.len() < sweep.points().len() { format!(" of {}", sweep.points().len()) } else { String::new() }
        ),
        seeds: seeds_of(sweep),
        warnings,
        note: legend(seeds),
        contender: contender.map(|key| key.name.as_str()),
        behind: by.scale.unit().to_string(),
        standings: standings(swept, &ranking, &frame),
        has_ranks: points.iter().any(|point| point.rank.is_some()),
        failed,
        keys: ranking.keys.iter().map(|key| (key.name.clone(), key.unit)).collect(),
        rows: order.iter().map(|one| Row::of(sweep, &ranking, &points[one.point], &columns, whole)).collect(),
        data: data(best.iter().chain(&values), &[table(sweep, points, &order, &columns)]),
        palette: &frame.palette,
        best: &best,
        values: &values,
        left_out: left_out.join(" "),
        whole,
        toml: (toml.len() <= MOST_TOML).then_some(toml),
        algorithms: specs.iter().map(Algorithm::of).collect(),
        columns,
    };
    render(&page)
}

#[derive(Template)]
#[template(path = "sweep.html")]
struct SweepPage<'a> {
    title: String,
    top: Top<'a>,
    swept: &'a Swept,
    runs: String,
    seeds: String,
    warnings: Vec<String>,
    /// How to read the cells.
    note: String,
    palette: &'a Palette,
    /// The key whose values are compared.
    contender: Option<&'a str>,
    /// The unit of the distances.
    behind: String,
    standings: Vec<Standing>,
    best: &'a [Plot],
    values: &'a [Plot],
    left_out: String,
    has_ranks: bool,
    /// Whether a run failed.
    failed: bool,
    /// Their names and units.
    keys: Vec<(String, &'static str)>,
    columns: Vec<&'static Measure>,
    rows: Vec<Row>,
    /// Whether the table is not in a box that scrolls.
    whole: bool,
    toml: Option<String>,
    algorithms: Vec<Algorithm<'a>>,
    data: String,
}

/// A contender, and how often it is the best.
struct Standing {
    label: String,
    colour: String,
    alone: u64,
    tied: u64,
    settings: u64,
    furthest_behind: String,
}

/// A point.
struct Row {
    rank: Option<String>,
    keys: Vec<String>,
    cells: Vec<Option<Cell>>,
    failed: u64,
    id: String,
    /// The link that runs its scenario, in a table without scrolling.
    link: Option<Link>,
}

impl SweepPage<'_> {
    fn has_links(&self) -> bool {
        self.rows.iter().any(|row| row.link.is_some())
    }
}

impl Row {
    fn of(sweep: &Sweep, ranking: &Ranking, point: &PointResult, columns: &[&Measure], linked: bool) -> Self {
        let seeds = sweep.seeds_of(point.point);
        let label = |key: &Key| key.values[key.place(sweep, point.point)].label.clone();
        Self {
            rank: point.rank.map(|rank| format!("{rank}{}", if point.tied { " tied" } else { "" })),
            keys: ranking.keys.iter().map(label).collect(),
            cells: columns.iter().map(|column| Cell::of_measure(column, &point.measures, seeds)).collect(),
            failed: point.failed,
            id: format!("point-{}", point.point),
            link: linked
                .then(|| Link::without_curves(sweep.scenario(&sweep.points()[point.point]).document(), point.digest))
                .flatten(),
        }
    }
}

/// The measure that points are ranked by, then the others of a comparison that have a value; the first alone where there are many points.
fn columns(ranking: &Ranking, points: &[PointResult]) -> Vec<&'static Measure> {
    let by = ranking.by.measure();
    let known = |measure: &&Measure| points.iter().any(|point| measure.of(&point.measures).is_some());
    let others = Reach::Compared.measures().filter(|measure| *measure != by && points.len() <= MANY).filter(known);
    std::iter::once(by).chain(others).collect()
}

fn standings(swept: &Swept, ranking: &Ranking, frame: &SweepFrame<'_>) -> Vec<Standing> {
    let contenders = ranking.contender.map(|key| &ranking.keys[key]);
    let place = |label: &str| contenders.and_then(|key| key.values.iter().position(|value| value.label == label));
    let each = swept.standings.iter().map(|standing| Standing {
        label: standing.contender.clone(),
        colour: place(&standing.contender).map_or_else(String::new, |at| frame.colour(at)),
        alone: standing.alone,
        tied: standing.tied,
        settings: standing.settings,
        furthest_behind: number(Some(standing.furthest_behind * ranking.by.measure().scale.factor())),
    });
    each.collect()
}

/// The seeds of the points; a word where they differ.
fn seeds_of(sweep: &Sweep) -> String {
    let mut cells = sweep.cells();
    let first: Vec<u64> = cells.by_ref().take_while(|cell| cell.point == 0).map(|cell| cell.seed).collect();
    let mut seeds = sweep.cells().map(|cell| cell.seed);
    let points = sweep.points().len();
    let alike = first.len() * points == sweep.len() as usize
        && (0..points).all(|_| first.iter().all(|seed| seeds.next() == Some(*seed)));
    if alike { seed_text(&first) } else { "seeds that differ between points".to_string() }
}

/// The points for the CSV file, numbers in base units.
fn table(sweep: &Sweep, points: &[PointResult], order: &[&Ranked], columns: &[&Measure]) -> DataSet {
    let keys = sweep.keys();
    // Keys that were written as numbers are those already.
    let quantities: Vec<(usize, String)> = (0..keys.len())
        .filter_map(|key| {
            let unit = sweep.quantity(key)?.unit();
            (unit != Unit::Plain).then(|| (key, format!("{}{}", keys[key], unit.suffix())))
        })
        .collect();
    let mut names: Vec<String> = keys.to_vec();
    names.extend(quantities.iter().map(|(_, name)| name.clone()));
    names.extend(["rank", "failed"].map(String::from));
    for column in columns {
        names.extend(["", "_low", "_high", "_n"].map(|end| format!("{}{end}", column.key)));
    }
    let group = |one: &&Ranked| {
        let point = &points[one.point];
        let setting = |key: usize| point.set.iter().find(|setting| setting.key == keys[key]);
        let texts = (0..keys.len()).map(|key| setting(key).map_or_else(String::new, |setting| setting.value.clone()));
        let mut numbers: Vec<f64> = quantities
            .iter()
            .map(|(key, _)| setting(*key).and_then(|setting| setting.number).unwrap_or(f64::NAN))
            .collect();
        numbers.extend([one.rank.map_or(f64::NAN, |rank| rank as f64), point.failed as f64]);
        for column in columns {
            let estimate = column.of(&point.measures);
            let of = |value: fn(&cwnd_run::measure::Estimate) -> f64| estimate.as_ref().map_or(f64::NAN, value);
            numbers.extend([of(|e| e.mean), of(|e| e.low), of(|e| e.high), of(|e| e.n as f64)]);
        }
        Group { texts: texts.collect(), numbers: numbers.into_iter().map(|value| vec![value]).collect() }
    };
    DataSet::new("points", names, order.iter().map(group).collect())
}
/// Points from which on the table has one measure, so that the page stays below 5 MB.
const MANY: usize = 2000;
/// Rows of a table that is no box of its own.
const MOST_WHOLE: usize = 60;
/// Bytes of a sweep that the page shows; the directory has it whatever its size.
const MOST_TOML: usize = 50_000;
