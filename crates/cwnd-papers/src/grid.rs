//! Tables as the paper prints them: which row and which column of the page a row of `published.toml` belongs to.

use std::collections::BTreeMap;

use serde::Deserialize;

#[cfg(test)]
use super::published::PublishedRow;
use super::published::{Published, PublishedResult};
use super::row::JudgedRow;
use super::selection::{PaperRun, ResultRun};

/// The table that rows of a result are printed in. The headings are parts of the ids of the rows.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Grid {
    /// How the ids are made, without the profile before them: `{row}, {column}`. Ids of another form are not in the table.
    ids: String,
    /// The heading of a row, of the names in `ids`.
    #[serde(default = "row")]
    row: String,
    /// The heading of a column, of the names in `ids`.
    #[serde(default = "column")]
    column: String,
    /// The rows that are printed, in the order of the page; all of them where there are none, in the order of the ids.
    #[serde(default)]
    rows: Vec<String>,
    /// The columns that are printed, likewise.
    #[serde(default)]
    columns: Vec<String>,
    /// What the paper calls a row or a column that is called otherwise in ids.
    #[serde(default)]
    names: BTreeMap<String, String>,
    /// Other results whose rows are in the same table.
    #[serde(default)]
    pub(super) with: Vec<String>,
}

/// A table of a paper with what was computed for it.
#[derive(Clone, Debug)]
pub struct PrintedTable<'a> {
    /// The profile of the algorithm, where the paper's is run in several.
    pub profile: Option<&'a str>,
    /// The headings of the columns.
    pub columns: Vec<Heading>,
    /// The rows.
    pub rows: Vec<PrintedLine<'a>>,
}

/// A heading of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heading {
    /// As the paper has it.
    pub name: String,
    /// The unit of all of its cells; empty for plain numbers, and where the headings of the other direction have it.
    pub unit: String,
}

/// A row of a table.
#[derive(Clone, Debug)]
pub struct PrintedLine<'a> {
    /// What it is about.
    pub heading: Heading,
    /// A cell for each column; none where the paper prints nothing, or what was not run.
    pub cells: Vec<Option<&'a JudgedRow>>,
}

impl Grid {
    /// What is wrong with it as the table of `result`, if anything is.
    pub(super) fn fault(&self, published: &Published, result: &PublishedResult) -> Option<String> {
        if let Some(name) =
            named(&self.row).chain(named(&self.column)).find(|name| named(&self.ids).all(|known| known != *name))
        {
            // A table of one line needs no heading for it.
            if name != "row" || self.row != row() {
                return Some(format!("`{{{name}}}` is not in the `ids` of the table of `{}`", result.id));
            }
        }
        if let Some(unknown) = self.with.iter().find(|id| published.result(id).is_none()) {
            return Some(format!("the table of `{}` is with `{unknown}`, which is no result", result.id));
        }
        let mut placed: Vec<(Option<&str>, [String; 2])> = Vec::new();
        for row in self.results(published, result).into_iter().flat_map(|result| &result.rows) {
            let (profile, id) = published.paper.of_profile(&row.id);
            let Some(place) = self.place(id) else { continue };
            if placed.contains(&(profile, place.clone())) {
                return Some(format!("row `{}` is not alone at {}, {} of its table", row.id, place[0], place[1]));
            }
            placed.push((profile, place));
        }
        let unused = |listed: &'_ [String], at: usize| {
            listed.iter().find(|heading| placed.iter().all(|(_, place)| place[at] != **heading)).cloned()
        };
        if let Some(heading) = unused(&self.rows, 0).or_else(|| unused(&self.columns, 1)) {
            return Some(format!("no id is at `{heading}` of the table of `{}`", result.id));
        }
        placed.is_empty().then(|| format!("no id is in the table of `{}`", result.id))
    }

    /// The headings, as ids have them, of the row and the column of an id without its profile; none where it is not in the table.
    pub(super) fn place(&self, id: &str) -> Option<[String; 2]> {
        let values = taken_apart(&self.ids, id)?;
        let place = [&self.row, &self.column].map(|text| filled(text, &values));
        let listed = |headings: &[String], heading: &String| headings.is_empty() || headings.contains(heading);
        (listed(&self.rows, &place[0]) && listed(&self.columns, &place[1])).then_some(place)
    }

    /// The heading as the paper has it.
    fn called(&self, heading: &str) -> String {
        self.names.get(heading).cloned().unwrap_or_else(|| heading.to_string())
    }

    /// The results with rows in the table, those of `with` first: the paper prints the measures of single flows above their indices.
    fn results<'a>(&self, published: &'a Published, result: &'a PublishedResult) -> Vec<&'a PublishedResult> {
        self.with.iter().filter_map(|id| published.result(id)).chain([result]).collect()
    }

    /// The headings of one direction that have cells, in the order of the page.
    fn ordered<'a>(listed: &[String], placed: impl Iterator<Item = &'a String>) -> Vec<String> {
        let mut found: Vec<String> = Vec::new();
        for heading in placed {
            if !found.contains(heading) {
                found.push(heading.clone());
            }
        }
        found.sort_by_key(|heading| listed.iter().position(|one| one == heading));
        found
    }
}

impl PaperRun {
    /// The table of a result as the paper prints it, once for each profile; none where the paper has none.
    #[must_use]
    pub fn tables<'a>(&'a self, result: &'a ResultRun) -> Vec<PrintedTable<'a>> {
        let published = &self.published.result[result.index];
        let Some(grid) = &published.grid else { return Vec::new() };
        let of = grid.results(&self.published, published);
        let rows = of.iter().flat_map(|one| {
            let ran = self.results.iter().find(|ran| self.published.result[ran.index].id == one.id);
            ran.into_iter().flat_map(|ran| &ran.rows)
        });
        let mut placed: Vec<(Option<&str>, [String; 2], &JudgedRow)> = Vec::new();
        for row in rows.filter(|row| row.published.is_some()) {
            let (profile, id) = self.published.paper.of_profile(&row.row);
            placed.extend(grid.place(id).map(|place| (profile, place, row)));
        }
        let mut profiles: Vec<Option<&str>> = Vec::new();
        for (profile, ..) in &placed {
            if !profiles.contains(profile) {
                profiles.push(*profile);
            }
        }
        let table = |profile: Option<&'a str>| {
            let placed = || placed.iter().filter(move |(of, ..)| *of == profile);
            let lines = Grid::ordered(&grid.rows, placed().map(|(_, place, _)| &place[0]));
            let columns = Grid::ordered(&grid.columns, placed().map(|(_, place, _)| &place[1]));
            let at = |line: &String, column: &String| {
                placed().find(|(_, place, _)| place[0] == *line && place[1] == *column).map(|(.., row)| *row)
            };
            let cells: Vec<Vec<Option<&JudgedRow>>> =
                lines.iter().map(|line| columns.iter().map(|column| at(line, column)).collect()).collect();
            let by_line: Option<Vec<&str>> = cells.iter().map(|line| unit(line.iter().copied())).collect();
            let of_column = |nth: usize| match by_line {
                Some(_) => "",
                None => unit(cells.iter().map(|line| line[nth])).unwrap_or_default(),
            };
            let heading = |name: &String, unit: &str| Heading { name: grid.called(name), unit: unit.to_string() };
            let columns = columns.iter().enumerate().map(|(nth, name)| heading(name, of_column(nth))).collect();
            let rows = lines.iter().zip(&cells).enumerate().map(|(nth, (name, cells))| PrintedLine {
                heading: heading(name, by_line.as_ref().map_or("", |units| units[nth])),
                cells: cells.clone(),
            });
            PrintedTable { profile, columns, rows: rows.collect() }
        };
        profiles.into_iter().map(table).collect()
    }
}

impl Published {
    /// A row as a reader of the paper would name it within its table or figure: `FI, stage 3 (profile ns2-2.2)`.
    #[must_use]
    pub fn row_name(&self, result: &PublishedResult, row: &str) -> String {
        let (profile, id) = self.paper.of_profile(row);
        let grids = self.result.iter().filter_map(|one| {
            let grid = one.grid.as_ref()?;
            (one.id == result.id || grid.with.contains(&result.id)).then_some(grid)
        });
        let place = grids.filter_map(|grid| Some(grid.place(id)?.map(|heading| grid.called(&heading)))).next();
        let name = match place {
            Some([row, column]) if row.is_empty() => column,
            Some([row, column]) => format!("{row}, {column}"),
            None => id.to_string(),
        };
        profile.map_or(name.clone(), |profile| format!("{name} (profile {profile})"))
    }
}

impl PublishedResult {
    /// Where it is printed, in short: `Table 3`, `section 5.1`.
    #[must_use]
    pub fn place(&self) -> &str {
        let end = [";", " (", ", section"].iter().filter_map(|end| self.source.find(end)).min();
        self.source[..end.unwrap_or(self.source.len())].trim_end()
    }

    /// Whether a row is in the table of this result, or in that of another which has the rows of this one.
    #[cfg(test)]
    pub(super) fn in_table(&self, published: &Published, row: &PublishedRow) -> bool {
        let (_, id) = published.paper.of_profile(&row.id);
        published.result.iter().any(|one| {
            let grid = one.grid.as_ref().filter(|grid| one.id == self.id || grid.with.contains(&self.id));
            grid.is_some_and(|grid| grid.place(id).is_some())
        })
    }
}

/// The unit that all of these have; none where they differ.
fn unit<'a>(cells: impl Iterator<Item = Option<&'a JudgedRow>>) -> Option<&'a str> {
    let mut units = cells.flatten().map(|row| row.unit.as_str());
    let first = units.next().unwrap_or_default();
    units.all(|unit| unit == first).then_some(first)
}

/// The names in braces, each with the text between it and the next. The first has no name and the text before all of them.
fn parts(template: &str) -> Vec<(&str, &str)> {
    let mut pieces = template.split('{');
    let first = pieces.next().unwrap_or_default();
    [("", first)].into_iter().chain(pieces.filter_map(|piece| piece.split_once('}'))).collect()
}

/// The names of a template.
fn named(template: &str) -> impl Iterator<Item = &str> {
    parts(template).into_iter().map(|(name, _)| name).filter(|name| !name.is_empty())
}

/// What the names of a template stand for in `text`: each as little as is possible.
fn taken_apart<'a>(template: &'a str, text: &'a str) -> Option<Vec<(&'a str, &'a str)>> {
    let parts = parts(template);
    let mut rest = text.strip_prefix(parts[0].1)?;
    let mut values = Vec::new();
    for (nth, (name, after)) in parts.iter().enumerate().skip(1) {
        let last = nth + 1 == parts.len();
        let (value, more) = if last { (rest.strip_suffix(after)?, "") } else { rest.split_once(after)? };
        values.push((*name, value));
        rest = more;
    }
    Some(values)
}

/// The template with its names replaced; without those that have no value.
fn filled(template: &str, values: &[(&str, &str)]) -> String {
    let value = |name: &str| values.iter().find(|(known, _)| *known == name).map_or("", |(_, value)| value);
    parts(template).into_iter().map(|(name, after)| format!("{}{after}", value(name))).collect()
}

fn row() -> String {
    "{row}".to_string()
}

fn column() -> String {
    "{column}".to_string()
}

#[cfg(test)]
mod tests {
    use super::super::{Basis, PAPERS, Value};
    use super::*;

    fn grid(text: &str) -> Grid {
        toml::from_str(text).expect("a grid")
    }

    #[test]
    fn headings_are_parts_of_ids() {
        let plain = grid("ids = '{row}, {column}'");
        assert_eq!(plain.place("flow 1, stage 2"), Some(["flow 1", "stage 2"].map(str::to_string)));
        assert_eq!(plain.place("aggregate"), None);
        let kinds = grid("ids = '{row}, {kind}: {what}'\ncolumn = '{what}, {kind}'\ncolumns = ['T1, simulated']");
        assert_eq!(kinds.place("TCP, simulated: T1"), Some(["TCP", "T1, simulated"].map(str::to_string)));
        assert_eq!(kinds.place("TCP, analytic: T1"), None, "not in the list of columns");
        let line = grid("ids = 'flow {column}'\nnames = { 1 = 'first' }");
        assert_eq!(line.place("flow 1"), Some(["", "1"].map(str::to_string)));
        assert_eq!(line.called("1"), "first");
    }

    /// A number that a table prints stands in its grid, so that no table falls back to a list.
    #[test]
    fn every_printed_number_of_a_table_is_in_its_grid() {
        for paper in PAPERS {
            let published = paper.published().unwrap_or_else(|error| panic!("{error}"));
            for result in published.result.iter().filter(|result| result.place().starts_with("Table")) {
                let printed = |row: &&PublishedRow| {
                    row.basis() == Basis::Printed && row.published.as_ref().and_then(Value::number).is_some()
                };
                for row in result.rows.iter().filter(printed) {
                    assert!(result.in_table(&published, row), "{} {}: {}", paper.id(), result.id, row.id);
                }
            }
        }
    }

    #[test]
    fn names_are_those_of_the_paper() {
        let name = |paper: usize, result: &str, row: &str| {
            let published = PAPERS[paper].published().unwrap_or_else(|error| panic!("{error}"));
            let result = published.result(result).expect("a result");
            assert!(result.rows.iter().any(|listed| listed.id == row), "{row}");
            format!("{}, {}", result.place(), published.row_name(result, row))
        };
        assert_eq!(name(0, "table-1", "ns2-2.2: Jain index, stage 3"), "Table 1, FI, 201 to 300 s (profile ns2-2.2)");
        assert_eq!(
            name(0, "table-1-flows", "paper: loss rate, stage 2"),
            "Table 1, Loss, 101 to 200 s (profile paper)"
        );
        assert_eq!(name(1, "table-3", "TCP, simulated: W2 of experiment 1"), "Table 3, TCP, W2, experiment 1");
        assert_eq!(name(3, "table-1", "sent per flow, 2 flows"), "Table I, 2 flows, sent per flow");
    }
}
