//! Sweeps as text: which is best where.

use std::path::Path;

use cwnd_lab::sweep::{Axis, Place, Ranking, Sweep, SweepStatus, Swept};
use cwnd_run::measure::digits::{cell, legend, number};
use cwnd_run::measure::{Measure, Reach};
use cwnd_text::{counted, one_line};

use crate::table::{Table, cut, fits, short, wrapped};

/// The output of `cwnd sweep`: a ranking, then the place of the points, which is `directory`, if there is one.
#[must_use]
pub fn sweep(sweep: &Sweep, swept: &Swept, directory: Option<&Path>) -> String {
    let Swept { cells, done_cells, points, path, .. } = swept;
    let mut text = swept.title.as_ref().map_or_else(String::new, |title| wrapped(&one_line(title)));
    text.push_str(&wrapped(&format!("base: {}", one_line(path))));
    text.push_str(&format!("{done_cells} of {}\n", counted(cells, "cell")));
    for warning in &swept.warnings {
        text.push_str(&wrapped(&format!("warning: {}", one_line(warning))));
    }
    if points.is_empty() {
        text.push_str("none of the cells is of this part\n");
        return text;
    }
    text.push_str(&format!("\n{}\n", wrapped(&question(sweep, swept)).trim_end()));
    let ranking = Ranking::of(sweep, points);
    let seeds = points.iter().filter_map(|point| ranking.by.of(point)).map(|estimate| estimate.n).max();
    match (seeds, ranking.contender) {
        (None, _) => text.push_str("No point has this measure.\n"),
        (Some(_), Some(key)) => {
            text.push_str(&standings(swept, &ranking, &ranking.keys[key]));
            text.push_str(&settings(sweep, swept, &ranking, &ranking.keys[key]));
        }
        (Some(_), None) => text.push_str(&best_points(sweep, swept, &ranking)),
    }
    text.push_str(&wrapped(&format!("{} {TIED}", legend(seeds.unwrap_or(0)))));
    if let Some(directory) = directory {
        let file = |name: &str| one_line(&directory.join(name).display().to_string());
        text.push_str(&format!("every point: {}\nevery run: {}\n", file("report.html"), file("cells")));
    }
    text
}

/// The question of a sweep: which contender or point is best by its measure, where.
pub(crate) fn question(sweep: &Sweep, swept: &Swept) -> String {
    let ranking = Ranking::of(sweep, &swept.points);
    let Measure { title, scale, .. } = ranking.by.measure();
    let unit = scale.unit();
    let unit = if unit.is_empty() { String::new() } else { format!(" in {unit}") };
    let better = ranking.by.direction();
    let axes: Vec<&str> = ranking.axes.iter().map(|axis| ranking.keys[*axis].name.as_str()).collect();
    let axes = listed(&axes.iter().map(|name| one_line(name)).collect::<Vec<_>>());
    match ranking.contender {
        Some(key) => {
            let contenders = &ranking.keys[key];
            let (count, name) = (contenders.values.len(), one_line(&contenders.name));
            let places = match ranking.settings.len() {
                _ if axes.is_empty() => String::new(),
                1 => format!(" at one setting of {axes}"),
                places => format!(" at each of {} of {axes}", counted(places, "setting")),
            };
            format!("Which {name} of {count} has the best {title}{unit} ({better} is better){places}?")
        }
        None if axes.is_empty() => format!("The {title}{unit} at the one point of the sweep"),
        None => format!(
            "Which of {} over {axes} has the best {title}{unit} ({better} is better)?",
            counted(swept.points.len(), "point")
        ),
    }
}

/// `a, b and c`.
pub(crate) fn listed(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [some @ .., last] => format!("{} and {last}", some.join(", ")),
    }
}

/// How often each contender is best.
fn standings(swept: &Swept, ranking: &Ranking, contenders: &Axis) -> String {
    let scale = ranking.by.measure().scale;
    let labels = short(swept.standings.iter().map(|standing| standing.contender.as_str()), 28);
    let mut table = Table::default();
    table.row([contenders.name.as_str(), "best alone", "shares first place", "of settings", "furthest behind"]);
    table.row(["", "", "", "", scale.unit()]);
    for (standing, label) in swept.standings.iter().zip(labels).take(MOST_STANDINGS) {
        let counts = [standing.alone, standing.tied, standing.settings].map(|count| count.to_string());
        let behind = number(Some(standing.furthest_behind * scale.factor()));
        table.row([label].into_iter().chain(counts).chain([behind]));
    }
    format!("{}{}\n", table.fitted(), more(swept.standings.len(), MOST_STANDINGS, &contenders.name))
}

/// The best contender at each setting, and the next where there is room for it.
fn settings(sweep: &Sweep, swept: &Swept, ranking: &Ranking, contenders: &Axis) -> String {
    let measure = ranking.by.measure();
    let (heading, scale) = (measure.heading(), measure.scale);
    let unit = scale.unit();
    let mut shown: Vec<&Place> = ranking.settings.iter().collect();
    if shown.len() > MOST_SETTINGS {
        // Those that tell contenders apart come first.
        shown.sort_by_key(|place| place.firsts().count() != 1);
        shown.truncate(MOST_SETTINGS);
    }
    let axes: Vec<&Axis> = ranking.axes.iter().map(|axis| &ranking.keys[*axis]).collect();
    let made = |longest: usize, with_next: bool| {
        let kept = |own: [String; 5]| {
            let kept = own.into_iter().enumerate().filter(move |(nth, _)| with_next || ![2, 3].contains(nth));
            kept.map(|(_, cell)| cell)
        };
        let keys: Vec<Vec<String>> = axes
            .iter()
            .enumerate()
            .map(|(nth, axis)| cut(shown.iter().map(|place| axis.values[place.at[nth]].label.as_str()), longest))
            .collect();
        let of = |place: &Place, nth: usize| {
            let one = place.ranked.get(nth)?;
            let at = contenders.place(sweep, swept.points[one.point].point);
            Some((contenders.values[at].label.as_str(), cell(Some(one.estimate?), scale.factor())))
        };
        let named = |nth: usize| cut(shown.iter().map(|place| of(place, nth).map_or("–", |(label, _)| label)), longest);
        let (best, next) = (named(0), named(1));
        let mut table = Table::default();
        let words = |own: [&str; 5]| own.map(String::from);
        table.row(axes.iter().map(|axis| axis.name.clone()).chain(kept(words(["best", heading, "next", heading, ""]))));
        table.row(axes.iter().map(|axis| axis.unit.to_string()).chain(kept(words(["", unit, "", unit, ""]))));
        for (row, place) in shown.iter().enumerate() {
            let value = |nth: usize| of(place, nth).map_or("–".to_string(), |(_, value)| value);
            let own = [best[row].clone(), value(0), next[row].clone(), value(1), verdict(place)];
            table.row(keys.iter().map(|key| key[row].clone()).chain(kept(own)));
        }
        table
    };
    let with_next = LOOKS.iter().map(|longest| made(*longest, true).print()).find(|text| fits(text));
    let text = with_next.unwrap_or_else(|| fitting(|longest| made(longest, false)));
    format!("{text}{}", more(ranking.settings.len(), MOST_SETTINGS, "setting"))
}

/// Whether the first place of a setting is shared.
fn verdict(place: &Place) -> String {
    match place.firsts().count() {
        0 => String::new(),
        1 => "alone".to_string(),
        firsts => format!("{firsts} tied"),
    }
}

/// The best points, with as many measures as fit.
fn best_points(sweep: &Sweep, swept: &Swept, ranking: &Ranking) -> String {
    let by = ranking.by.measure();
    let others = Reach::Table.measures().filter(|measure| *measure != by);
    let columns: Vec<&Measure> = std::iter::once(by).chain(others).collect();
    let shown: Vec<_> = ranking.settings.iter().flat_map(|place| &place.ranked).take(MOST_POINTS).collect();
    let axes: Vec<&Axis> = ranking.axes.iter().map(|axis| &ranking.keys[*axis]).collect();
    let ranks = swept.points.iter().any(|point| point.rank.is_some());
    let made = |longest: usize, measures: usize| {
        let measures = &columns[..measures];
        let keys: Vec<Vec<String>> = axes
            .iter()
            .map(|axis| {
                let at = |point: usize| axis.values[axis.place(sweep, swept.points[point].point)].label.as_str();
                cut(shown.iter().map(|one| at(one.point)), longest)
            })
            .collect();
        let mut table = Table::default();
        let head = |rank: &str, key: fn(&Axis) -> String, of: fn(&Measure) -> &str| {
            let rank = ranks.then(|| rank.to_string());
            let keys = axes.iter().map(|axis| key(axis));
            let measures: Vec<String> = measures.iter().map(|column| of(column).to_string()).collect();
            rank.into_iter().chain(keys).chain(measures).collect::<Vec<_>>()
        };
        table.row(head("rank", |axis| axis.name.clone(), |column| column.heading()));
        table.row(head("", |axis| axis.unit.to_string(), |column| column.scale.unit()));
        for (row, one) in shown.iter().enumerate() {
            let rank = match one.rank {
                Some(rank) => format!("{rank}{}", if one.tied { " tied" } else { "" }),
                None => "–".to_string(),
            };
            let measures =
                measures.iter().map(|column| cell(column.of(&swept.points[one.point].measures), column.scale.factor()));
            table.row(ranks.then_some(rank).into_iter().chain(keys.iter().map(|key| key[row].clone())).chain(measures));
        }
        table
    };
    let whole = (1..=columns.len()).rev().map(|measures| made(LOOKS[0], measures).print()).find(|text| fits(text));
    let text = whole.unwrap_or_else(|| fitting(|longest| made(longest, 1)));
    format!("{text}{}", more(swept.points.len(), MOST_POINTS, "point"))
}

/// The table in the first look that fits the terminal; of what never fits, columns go below the others.
fn fitting(made: impl Fn(usize) -> Table) -> String {
    let found = LOOKS.iter().map(|longest| made(*longest).print()).find(|text| fits(text));
    found.unwrap_or_else(|| made(LOOKS[LOOKS.len() - 1]).fitted())
}

/// The line about the points that are not shown.
fn more(all: usize, shown: usize, noun: &str) -> String {
    let rest = all.saturating_sub(shown);
    if rest == 0 { String::new() } else { format!("and {}\n", counted(rest, &format!("more {}", one_line(noun)))) }
}

/// The output of `cwnd sweep status`; `store` is the directory of the store, if there is one.
#[must_use]
pub fn sweep_status(status: &SweepStatus, store: Option<&str>) -> String {
    let SweepStatus { cells, present_cells, failed_cells, stored_cells, chunks, present_chunks, failures, .. } = status;
    let mut text = format!(
        "{} of {}, {present_chunks} of {}, {} failed\n",
        present_cells + stored_cells,
        counted(cells, "cell"),
        counted(chunks, "file"),
        counted(failed_cells, "cell")
    );
    let left = cells - present_cells;
    match store {
        Some(store) if left > 0 => text.push_str(&format!(
            "{stored_cells} of {} that no file has yet {} in the store `{}`\n",
            counted(left, "cell"),
            if *stored_cells == 1 { "is" } else { "are" },
            one_line(store)
        )),
        _ => {}
    }
    for failure in failures {
        text.push_str(&format!(
            "  cell {}, seed {}, {}: {}\n",
            failure.cell,
            failure.seed,
            one_line(&failure.set.join(" ")),
            one_line(&failure.error)
        ));
    }
    text
}

/// The meaning of a shared place.
pub(crate) const TIED: &str =
    "Tied: nothing tells the first places apart, since their intervals overlap or fewer than 3 seeds were run.";
/// Characters of a name, from the look that is tried first on.
const LOOKS: [usize; 5] = [28, 20, 14, 10, 8];
/// Rows: all of a ranking fits on a screen.
const MOST_STANDINGS: usize = 6;
const MOST_SETTINGS: usize = 8;
const MOST_POINTS: usize = 16;
