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

/// Labels as a table shows them, of at most `longest` characters but for a number at their end. Long ones, such as rules, lose their middle.
/// Those that would then be equal show where they differ instead. Equal labels are numbered.
#[must_use]
pub fn short<'a>(labels: impl IntoIterator<Item = &'a str>, longest: usize) -> Vec<String> {
    let labels: Vec<Vec<char>> = labels.into_iter().map(|label| label.chars().collect()).collect();
    let ends: Vec<String> = labels.iter().map(|label| ends(label, longest)).collect();
    let mut shown: Vec<String> = Vec::new();
    for (label, cut) in labels.iter().zip(&ends) {
        let alike = labels.iter().zip(&ends).filter(|(other, end)| *end == cut && *other != label);
        let common = |other: &[char]| label.iter().zip(other).take_while(|(own, other)| own == other).count();
        let differs = alike.map(|(other, _)| common(other)).max();
        let cut = differs.map_or_else(|| cut.clone(), |at| around(label, at, longest));
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

/// The start and the end of a label.
fn ends(label: &[char], longest: usize) -> String {
    if label.len() <= longest {
        return label.iter().collect();
    }
    let start = &label[..longest / 2];
    let end = &label[label.len() - (longest - longest / 2 - 1)..];
    start.iter().chain(&['…']).chain(end).collect()
}

/// The name of an algorithm, and its parameters around the character `at`.
fn around(label: &[char], at: usize, longest: usize) -> String {
    let name = label.iter().position(|one| *one == ':').map_or(0, |colon| colon + 1).min(longest / 2);
    let room = longest.saturating_sub(name + 2);
    let start = at.saturating_sub(room / 3).min(label.len().saturating_sub(room)).max(name);
    let end = (start + room).min(label.len());
    let gap = |missing: bool| if missing { "…" } else { "" };
    let [name, part] = [&label[..name], &label[start..end]].map(|part| part.iter().collect::<String>());
    format!("{name}{}{part}{}", gap(start > name.chars().count()), gap(end < label.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_labels_are_cut_where_they_do_not_differ() {
        let long = "rule:grow=max(1/w, 0.01),cut=w*7/8";
        let alike = "rule:grow=max(1/w, 0.02),cut=w*7/8";
        let labels = ["udt:profile=paper,lambda=0.5", long, alike];
        assert_eq!(short(labels, 28), [labels[0], "rule:grow=max(…01),cut=w*7/8", "rule:grow=max(…02),cut=w*7/8"]);
        let hidden = "rule:grow=max(1/w + 1, 0.01),cut=w*7/8";
        assert_eq!(
            short([long, hidden, long], 28),
            ["rule:…max(1/w, 0.01),cut=w*…", "rule:…max(1/w + 1, 0.01),cu…", "rule:…max(1/w, 0.01),cut=w*… (2)"]
        );
    }

    #[test]
    fn short_labels_show_what_differs() {
        let rule = |middle: &str| format!("rule:grow=max(1/w, 0.4*(age-{middle})^3/w),cut=max(w*3/4,peak/3)");
        for longest in [28, 20, 16, 12] {
            let rules = ["cbrt(0.75*peak)", "cbrt(0.76*peak)", "cbrt(0.75*w)", "1"].map(rule);
            let shown = short(rules.iter().map(String::as_str), longest);
            for (index, label) in shown.iter().enumerate() {
                assert!(label.chars().count() <= longest, "{label}");
                assert!(!shown[..index].contains(label) && !label.contains(" ("), "{shown:?}");
            }
        }
    }

    #[test]
    fn columns_are_aligned() {
        let mut table = Table::default();
        table.row(["name", "value"]);
        table.row(["a", "1 ± 0.5"]);
        assert_eq!(table.print(), "name    value\na     1 ± 0.5\n");
    }
}
