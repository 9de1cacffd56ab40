//! Where a number stands in its paper, in the paper's own words.

#[cfg(test)]
use super::published::PublishedRow;
use super::published::{Published, PublishedResult};

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
        let end = [";", ":", " (", ", section"].iter().filter_map(|end| self.source.find(end)).min();
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

#[cfg(test)]
mod tests {
    use super::super::{Basis, PAPERS, Value};
    use super::*;

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

    /// The reasons of a row name a result by the command that runs it, or by its place in the paper.
    #[test]
    fn reasons_name_results_by_their_commands() {
        let mut faults = Vec::new();
        for paper in PAPERS {
            let published = paper.published().unwrap_or_else(|error| panic!("{error}"));
            let rows = published.result.iter().flat_map(|result| &result.rows);
            for (row, text) in rows.flat_map(|row| {
                [&row.reason, &row.why, &row.open, &row.exception].into_iter().flatten().map(move |text| (row, text))
            }) {
                let words: Vec<&str> = text.split([' ', ',', ';', ':', '(', ')', '`', '[', ']']).collect();
                for (nth, word) in words.iter().enumerate().filter(|(_, word)| word.contains('-')) {
                    let is_command = nth > 2 && words[nth - 3..nth] == ["cwnd", "paper", paper.id()];
                    if published.result(word).is_some() && !is_command {
                        faults.push(format!("{}: {}: {word}", paper.id(), row.id));
                    }
                }
            }
        }
        assert!(faults.is_empty(), "{}", faults.join("\n"));
    }
}
