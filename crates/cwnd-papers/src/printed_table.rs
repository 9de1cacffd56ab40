//! Tables as the paper prints them, with printed and computed numbers.

use super::grid::Grid;
use super::row::JudgedRow;
use super::selection::{PaperRun, ResultRun};

/// A table of a paper with the values computed for it.
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
    /// The subject of the row.
    pub heading: Heading,
    /// A cell for each column; none where the paper prints nothing, or where nothing was run.
    pub cells: Vec<Option<&'a JudgedRow>>,
}

impl PaperRun {
    /// The table of a result as the paper prints it, once for each profile; none where the paper has none.
    #[must_use]
    pub fn tables<'a>(&'a self, result: &'a ResultRun) -> Vec<PrintedTable<'a>> {
        let published = &self.published.result[result.index];
        let Some(grid) = &published.grid else { return Vec::new() };
        let of = self.published.printed_with(grid, published);
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

/// The unit that all of these have; none where they differ.
fn unit<'a>(cells: impl Iterator<Item = Option<&'a JudgedRow>>) -> Option<&'a str> {
    let mut units = cells.flatten().map(|row| row.unit.as_str());
    let first = units.next().unwrap_or_default();
    units.all(|unit| unit == first).then_some(first)
}
