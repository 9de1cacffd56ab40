//! Tables of text.

use cwnd_text::one_line;

/// Aligned columns, two spaces apart: the first to the left, all others to the right. A heading may have several lines. Names that others have
/// chosen may stand in cells: a cell is shown on one line, and what is not printable in it is escaped.
#[derive(Debug, Default)]
pub struct Table {
    rows: Vec<Vec<String>>,
    left: bool,
}

impl Table {
    /// A table with all columns to the left: for words.
    #[must_use]
    pub fn left() -> Self {
        Self { left: true, ..Self::default() }
    }

    /// Adds a row.
    pub fn row(&mut self, cells: impl IntoIterator<Item = impl Into<String>>) {
        self.rows.push(cells.into_iter().map(|cell| one_line(&cell.into())).collect());
    }

    /// The table as text, a line per row.
    #[must_use]
    pub fn print(&self) -> String {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        let mut text = String::new();
        for row in &self.rows {
            let cells = row.iter().zip(&widths).enumerate().map(|(column, (cell, width))| match column {
                _ if column == 0 || self.left => format!("{cell:<width$}"),
                _ => format!("{cell:>width$}"),
            });
            text.push_str(cells.collect::<Vec<_>>().join("  ").trim_end());
            text.push('\n');
        }
        text
    }
}

/// Labels as a table shows them: long ones, such as rules, lose their middle, and those that would then be equal are numbered.
#[must_use]
pub fn short<'a>(labels: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let mut shown: Vec<String> = Vec::new();
    for label in labels {
        let length = label.chars().count();
        let cut = if length <= LONGEST {
            label.to_string()
        } else {
            let start: String = label.chars().take(LONGEST / 2).collect();
            let end: String = label.chars().skip(length - LONGEST / 2 + 1).collect();
            format!("{start}…{end}")
        };
        let mut unique = cut.clone();
        for number in 2.. {
            if !shown.contains(&unique) {
                break;
            }
            unique = format!("{cut} ({number})");
        }
        shown.push(unique);
    }
    shown
}

/// A label of this many characters leaves room for six columns on a terminal of 100.
const LONGEST: usize = 28;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_labels_are_cut_and_stay_apart() {
        let long = "rule:grow=max(1/w, 0.01),cut=w*7/8";
        let alike = "rule:grow=max(1/w, 0.02),cut=w*7/8";
        let labels = ["udt:profile=paper,lambda=0.5", long, alike];
        assert_eq!(short(labels), [labels[0], "rule:grow=max(…01),cut=w*7/8", "rule:grow=max(…02),cut=w*7/8"]);
        let hidden = "rule:grow=max(1/w + 1, 0.01),cut=w*7/8";
        let shown = short([long, hidden]);
        assert_eq!(shown, ["rule:grow=max(…01),cut=w*7/8", "rule:grow=max(…01),cut=w*7/8 (2)"]);
        assert!(shown[0].chars().count() == LONGEST);
    }

    #[test]
    fn columns_are_aligned() {
        let mut table = Table::default();
        table.row(["name", "value"]);
        table.row(["a", "1 ± 0.5"]);
        assert_eq!(table.print(), "name    value\na     1 ± 0.5\n");
    }
}
