//! Tables of text.

use cwnd_lab::measure::Estimate;

/// Aligned columns, two spaces apart: the first to the left, all others to the right. A heading may have several lines.
#[derive(Debug, Default)]
pub(crate) struct Table {
    rows: Vec<Vec<String>>,
    left: bool,
}

impl Table {
    /// A table with all columns to the left: for words.
    pub(crate) fn left() -> Self {
        Self { left: true, ..Self::default() }
    }

    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = impl Into<String>>) {
        self.rows.push(cells.into_iter().map(Into::into).collect());
    }

    pub(crate) fn print(&self) -> String {
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

/// `mean ± half-width` in a unit that is `scale` times as fine, to two digits of the half-width but no more than five of the mean.
pub(crate) fn cell(estimate: Option<Estimate>, scale: f64) -> String {
    let Some(estimate) = estimate else { return "–".to_string() };
    let mean = estimate.mean * scale;
    match estimate.ci95.map(|half| half * scale) {
        Some(half) => {
            let digits = if half > 0.0 { decimals(half, 2).min(decimals(mean, 5)) } else { decimals(mean, 4) };
            format!("{mean:.digits$} ± {half:.digits$}")
        }
        None => format!("{mean:.*}", decimals(mean, 4)),
    }
}

/// A plain number to five digits; a dash for none.
pub(crate) fn number(value: Option<f64>) -> String {
    value.map_or("–".to_string(), |value| format!("{value:.*}", decimals(value, 5)))
}

/// How many decimals show so many significant digits of `value`.
fn decimals(value: f64, significant: i32) -> usize {
    if value == 0.0 || !value.is_finite() {
        return 0;
    }
    let leading = value.abs().log10().floor() as i32;
    (significant - 1 - leading).clamp(0, MAX_DECIMALS) as usize
}

/// More is noise in every unit a table shows.
const MAX_DECIMALS: i32 = 6;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_show_two_digits_of_the_half_width() {
        let estimate = |mean, ci95| Some(Estimate { mean, ci95, n: 5 });
        assert_eq!(cell(estimate(0.971_23, Some(0.002_1)), 100.0), "97.12 ± 0.21");
        assert_eq!(cell(estimate(0.971_23, Some(0.12)), 100.0), "97 ± 12");
        assert_eq!(cell(estimate(1.0, Some(0.0)), 1.0), "1.000 ± 0.000");
        assert_eq!(cell(estimate(0.0, Some(0.0)), 1.0), "0 ± 0");
        assert_eq!(cell(estimate(3.21e-6, Some(1.2e-6)), 100.0), "0.00032 ± 0.00012");
        assert_eq!(cell(estimate(0.999_99, Some(2e-6)), 100.0), "99.999 ± 0.000");
        assert_eq!(cell(estimate(0.971_23, None), 100.0), "97.12");
        assert_eq!(cell(None, 1.0), "–");
    }

    #[test]
    fn columns_are_aligned() {
        let mut table = Table::default();
        table.row(["name", "value"]);
        table.row(["a", "1 ± 0.5"]);
        assert_eq!(table.print(), "name    value\na     1 ± 0.5\n");
    }
}
