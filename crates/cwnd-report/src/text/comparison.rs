//! Comparisons as text.

use cwnd_lab::compare::FEWEST_FOR_BEST;
use cwnd_run::measure::digits::{cell, cell_of_range, cell_to, legend, legend_of_ranges};
use cwnd_run::measure::{ENOUGH_FOR_INTERVAL, Estimate, Measure, Reach, Scale, Subject};
use cwnd_text::{counted, one_line};

use crate::json::{self, Origin};
use crate::table::{Table, fits, short, wrapped};

/// The output of `cwnd compare`.
#[must_use]
pub fn comparison(document: &json::Comparison) -> String {
    let mut text = heading(document);
    let (table, look) = alone(document);
    text.push_str(&table);
    let seeds = document.origin.seeds as usize;
    text.push_str(&wrapped(&if look.means { legend(seeds) } else { legend_of_ranges(seeds) }));
    text.push_str(&too_short(document, &Names::of(document, look.longest)));
    for failure in &document.failures {
        text.push_str(&wrapped(&format!("failed: {}", one_line(&failure.line()))));
    }
    for warning in &document.warnings {
        text.push_str(&format!("warning: {}\n", one_line(warning)));
    }
    text
}

/// How far the algorithms of a comparison are from the first, seed by seed: what `cwnd compare --paired` adds.
#[must_use]
pub fn differences(document: &json::Comparison) -> String {
    let Some((first, others)) = document.algorithms.split_first() else { return String::new() };
    let reference = one_line(&document.reference);
    if first.algorithm != document.reference {
        return format!("\n{}", wrapped(&format!("No differences: {reference}, from which they are taken, failed")));
    }
    if others.is_empty() {
        return format!("\n{}", wrapped(&format!("No differences from {reference}: all others failed")));
    }
    let columns: Vec<&Measure> = Reach::Table.measures().collect();
    let mut table = Table::default();
    table.row(std::iter::once("algorithm").chain(columns.iter().map(|column| column.heading())));
    table.row(std::iter::once("").chain(columns.iter().map(|column| column.scale.unit())));
    for (row, label) in others.iter().zip(short(others.iter().map(|row| row.algorithm.as_str()), LOOKS[0].longest)) {
        let difference = |key| row.differences.iter().find(|found| found.key == key).map(|found| found.difference);
        let cells = columns.iter().map(|column| cell(difference(column.key), column.scale.factor()));
        table.row(std::iter::once(label).chain(cells));
    }
    let heading = wrapped(&format!("Differences from {reference}, seed by seed"));
    format!("\n{heading}\n{}", table.fitted())
}

/// The path, the flows and the runs of a comparison.
fn heading(document: &json::Comparison) -> String {
    let Origin { path, seeds, duration_s, warmup_s, .. } = &document.origin;
    let path = format!("{} of each algorithm on {}", counted(document.flows, "flow"), one_line(path));
    format!("{}{} of {duration_s} s, warm-up {warmup_s} s\n\n", wrapped(&path), counted(*seeds, "seed"))
}

/// A column of the table of a comparison.
struct Column {
    key: &'static str,
    /// Two lines, the second of which ends in the unit.
    heading: [String; 2],
    scale: Scale,
    /// Decimals beyond these say nothing at a glance.
    decimals: usize,
    of: Of,
}

/// The estimate in a row.
type Of = Box<dyn Fn(&json::Algorithm) -> Option<Estimate>>;

/// The columns that fit on a terminal of 100 columns: against an opponent its share, and the effect of the algorithm on the path; otherwise
/// also the results of its own flows.
fn comparison_columns(document: &json::Comparison, names: &Names<'_>) -> Vec<Column> {
    let opponent = names.opponent();
    let share = opponent.map(|opponent| Column {
        key: "",
        heading: ["share".to_string(), format!("vs {opponent}, %")],
        scale: Scale::Share,
        decimals: 1,
        of: Box::new(|row| row.versus.as_ref().and_then(|versus| versus.share)),
    });
    let recovers = document.algorithms.iter().any(|row| row.recovery_time_s.is_some());
    let recovery = recovers.then(|| Column {
        key: "recovery_time_s",
        heading: ["recovery", "s"].map(String::from),
        scale: Scale::Time,
        decimals: 1,
        of: Box::new(|row| row.recovery_time_s),
    });
    let of_path = |measure: &&Measure| measure.subject == Subject::Link;
    let measured = Reach::Glance.measures().filter(|measure| opponent.is_none() || of_path(measure)).map(|measure| {
        let Measure { key, scale, decimals, .. } = *measure;
        let heading = measure.heading();
        let (first, second) = heading.split_once(' ').unwrap_or((heading, ""));
        let second = [second, scale.unit()].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ");
        let of = Box::new(|row: &json::Algorithm| measure.of(&row.measures));
        Column { key, heading: [first.to_string(), second], scale, decimals, of }
    });
    share.into_iter().chain(recovery).chain(measured).collect()
}

/// The table in the first look that fits the terminal, what it says of stars, and the full text of every name that is cut.
fn alone(document: &json::Comparison) -> (String, Look) {
    let tables = LOOKS.iter().map(|look| (table(document, *look), *look));
    let fits = |(text, _): &(String, Look)| fits(text);
    let narrowest = LOOKS[LOOKS.len() - 1];
    let (mut text, look) = tables.into_iter().find(fits).unwrap_or_else(|| (table(document, narrowest), narrowest));
    if document.algorithms.iter().any(|row| !row.best_in.is_empty()) && text.contains("* ") {
        let shown = if (document.origin.seeds as usize) < ENOUGH_FOR_INTERVAL { "range" } else { "interval" };
        text.push_str(&format!("* best of its column: its {shown} overlaps no other\n"));
    }
    for (name, full) in Names::of(document, look.longest).cut() {
        // On one line: it is there to be copied.
        text.push_str(&format!("{} is {}\n", one_line(name), one_line(full)));
    }
    (text, look)
}

fn table(document: &json::Comparison, look: Look) -> String {
    let names = Names::of(document, look.longest);
    let columns = comparison_columns(document, &names);
    let mut table = Table::default();
    for (line, first) in ["algorithm", ""].into_iter().enumerate() {
        table.row(std::iter::once(first).chain(columns.iter().map(|column| column.heading[line].as_str())));
    }
    let shown = |row: &json::Algorithm, column: &Column| {
        let decimals = column.decimals.saturating_sub(look.fewer).max(usize::from(column.decimals > 1));
        let of = if look.means { cell_to } else { cell_of_range };
        of((column.of)(row), column.scale.factor(), decimals)
    };
    for (row, label) in document.algorithms.iter().zip(&names.shown) {
        let cells = columns.iter().map(|column| {
            let cell = shown(row, column);
            // A difference below the digits of the table would be a star on one of two equal cells.
            let alone = || document.algorithms.iter().filter(|other| shown(other, column) == cell).count() == 1;
            let star = if row.best_in.contains(&column.key) && alone() { "* " } else { "" };
            format!("{star}{cell}")
        });
        table.row(std::iter::once(label.clone()).chain(cells));
    }
    table.print()
}

/// How a table saves space.
#[derive(Clone, Copy)]
struct Look {
    /// The longest name, in characters.
    longest: usize,
    /// How many decimals fewer.
    fewer: usize,
    /// Whether ranges follow their means.
    means: bool,
}

/// From the widest to the narrowest.
const LOOKS: [Look; 7] = [
    Look { longest: 28, fewer: 0, means: true },
    Look { longest: 20, fewer: 0, means: true },
    Look { longest: 20, fewer: 1, means: true },
    Look { longest: 28, fewer: 0, means: false },
    Look { longest: 20, fewer: 0, means: false },
    Look { longest: 16, fewer: 1, means: false },
    Look { longest: 12, fewer: 2, means: false },
];

/// The names of algorithms in a table.
struct Names<'a> {
    full: Vec<&'a str>,
    /// The names of the rows; then that of the opponent, if it is none of them.
    shown: Vec<String>,
    opponent: Option<usize>,
}

impl<'a> Names<'a> {
    fn of(document: &'a json::Comparison, longest: usize) -> Self {
        let mut full: Vec<&str> = document.algorithms.iter().map(|row| row.algorithm.as_str()).collect();
        let opponent = document.algorithms.iter().find_map(|row| row.versus.as_ref().map(|versus| &versus.algorithm));
        let opponent = opponent.map(|opponent| {
            full.iter().position(|one| one == opponent).unwrap_or_else(|| {
                full.push(opponent);
                full.len() - 1
            })
        });
        Self { shown: short(full.iter().copied(), longest), full, opponent }
    }

    fn opponent(&self) -> Option<&str> {
        self.shown.get(self.opponent?).map(String::as_str)
    }

    /// The names that are not the full ones.
    fn cut(&self) -> impl Iterator<Item = (&str, &str)> {
        let pairs = self.shown.iter().zip(&self.full).map(|(shown, full)| (shown.as_str(), *full));
        pairs.filter(|(shown, _)| shown.contains('…'))
    }
}

/// Which rows were measured in too short a window, so that nothing is called the best of a column that has them.
fn too_short(document: &json::Comparison, names: &Names<'_>) -> String {
    let mut text = String::new();
    let reasons: Vec<String> = document.too_short().collect();
    match reasons.as_slice() {
        [] => {}
        [reason] => {
            let reason = wrapped(&format!("too short: {reason}"));
            text.push_str(&format!("{reason}No column with a value of such a run has a star.\n"));
        }
        _ => {
            let rows = document.algorithms.iter().filter(|row| row.stationarity.reason.is_some());
            let labelled = document.algorithms.iter().zip(&names.shown);
            let labels = labelled.filter(|(row, _)| row.stationarity.reason.is_some()).map(|(_, label)| label.as_str());
            let labels = labels.collect::<Vec<_>>().join(", ");
            let longest = rows.filter_map(|row| row.stationarity.try_duration_s).fold(0.0, f64::max);
            let longer = if longest > 0.0 { format!("; try --duration {longest}s") } else { String::new() };
            text.push_str(&wrapped(&format!("No star in a column with a window too short for {labels}{longer}.")));
        }
    }
    if (document.origin.seeds as usize) < FEWEST_FOR_BEST {
        text.push_str(&format!("Stars need {FEWEST_FOR_BEST} seeds.\n"));
    }
    text
}

/// The columns of a comparison on the path of [`default_base`](cwnd_lab::compare::default_base), explained, and the command to run next.
#[must_use]
pub fn next_of_comparison(document: &json::Comparison, command: &str) -> String {
    let recovery = if document.algorithms.iter().any(|row| row.recovery_time_s.is_some()) {
        " Recovery: to 90 % use, once the rate is back."
    } else {
        ""
    };
    format!("Share: against as many Reno flows; 50 % is fair.{recovery}\nNext, a deep queue: {command}\n")
}
