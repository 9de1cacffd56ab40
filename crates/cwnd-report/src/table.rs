//! Tables of text.

use cwnd_text::one_line;

/// Aligned columns, two spaces apart: the first to the left, all others to the right. A heading may have several lines. Cells may contain
/// names that others have chosen: a cell is shown on one line, with unprintable characters escaped.
#[derive(Clone, Debug, Default)]
pub struct Table {
    rows: Vec<Row>,
    left: bool,
}

#[derive(Clone, Debug)]
enum Row {
    Cells(Vec<String>),
    /// Over all columns.
    Line(String),
}

impl Table {
    /// A table with all columns to the left: for words.
    #[must_use]
    pub fn left() -> Self {
        Self { left: true, ..Self::default() }
    }

    /// Adds a row.
    pub fn row(&mut self, cells: impl IntoIterator<Item = impl Into<String>>) {
        self.rows.push(Row::Cells(cells.into_iter().map(|cell| one_line(&cell.into())).collect()));
    }

    /// Adds a line that no column is aligned to.
    pub fn line(&mut self, text: &str) {
        self.rows.push(Row::Line(one_line(text)));
    }

    /// The table as text, a line per row.
    #[must_use]
    pub fn print(&self) -> String {
        let widths: Vec<usize> = (0..self.columns()).map(|column| self.width(column)).collect();
        let mut text = String::new();
        for row in &self.rows {
            let row = match row {
                Row::Cells(row) => row,
                Row::Line(line) => {
                    text.push_str(&wrapped(line));
                    continue;
                }
            };
            let cells = row.iter().zip(&widths).enumerate().map(|(column, (cell, width))| match column {
                _ if column == 0 || self.left => format!("{cell:<width$}"),
                _ => format!("{cell:>width$}"),
            });
            text.push_str(cells.collect::<Vec<_>>().join("  ").trim_end());
            text.push('\n');
        }
        text
    }

    /// The table as text in lines of at most [`WIDTH`] characters, which cuts no value. In a wider table the names of the first column lose
    /// their middle; if that is not enough, columns go below the others, from left to right, with that first column again.
    #[must_use]
    pub fn fitted(&self) -> String {
        let is_last = |longest: &usize| *longest == NAMES[NAMES.len() - 1];
        let whole = std::iter::once(self.print()).chain(NAMES.iter().map(|longest| self.named(*longest).print()));
        let below = NAMES.iter().map(|longest| (is_last(longest), self.named(*longest).in_blocks()));
        let whole = whole.map(|text| (false, text));
        let found = whole.chain(below).find(|(is_last, text)| *is_last || fits(text));
        let text = found.map(|(_, text)| text).unwrap_or_default();
        if text.contains('…') && !self.print().contains('…') { text + CUT } else { text }
    }

    /// The table as text in lines of at most [`WIDTH`] characters. Wider cells are broken at spaces within their column, and within words
    /// only where they leave no room otherwise. A line below a row is indented.
    #[must_use]
    pub fn folded(&self) -> String {
        let mut widths: Vec<usize> = (0..self.columns()).map(|column| self.width(column)).collect();
        let room = WIDTH.saturating_sub(GAP * widths.len().saturating_sub(1));
        let over = widths.iter().sum::<usize>().saturating_sub(room);
        let words: Vec<usize> = (0..widths.len()).map(|column| self.longest_word(column)).collect();
        for _ in 0..over {
            // The widest of those with room to break at spaces, if any.
            let narrowed = widths.iter_mut().zip(&words).max_by_key(|(width, word)| (**width > **word, **width));
            if let Some((width, _)) = narrowed {
                *width = width.saturating_sub(1).max(1);
            }
        }
        let mut text = String::new();
        for row in &self.rows {
            match row {
                Row::Line(line) => text.push_str(&indented(line)),
                Row::Cells(cells) => {
                    let cells: Vec<Vec<String>> =
                        cells.iter().zip(&widths).map(|(cell, width)| broken(cell, *width)).collect();
                    for nth in 0..cells.iter().map(Vec::len).max().unwrap_or(1) {
                        let part = |lines: &Vec<String>, width: &usize| {
                            format!("{:<width$}", lines.get(nth).map_or("", String::as_str))
                        };
                        let parts: Vec<String> =
                            cells.iter().zip(&widths).map(|(lines, width)| part(lines, width)).collect();
                        text.push_str(parts.join(&" ".repeat(GAP)).trim_end());
                        text.push('\n');
                    }
                }
            }
        }
        text
    }

    fn cells(&self) -> impl Iterator<Item = &Vec<String>> {
        self.rows.iter().filter_map(|row| match row {
            Row::Cells(cells) => Some(cells),
            Row::Line(_) => None,
        })
    }

    fn columns(&self) -> usize {
        self.cells().map(Vec::len).max().unwrap_or(0)
    }

    fn width(&self, column: usize) -> usize {
        let cells = self.cells().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    }

    /// The length of the longest word in a column, with the spaces before the first word of a cell.
    fn longest_word(&self, column: usize) -> usize {
        let longest = |cell: &String| {
            let words = cell.trim_start_matches(' ');
            let end = words.find(' ').map_or(cell.len(), |at| cell.len() - words.len() + at);
            let first = cell[..end].chars().count();
            words.split(' ').map(|word| word.chars().count()).fold(first, usize::max)
        };
        self.cells().filter_map(|row| row.get(column)).map(longest).max().unwrap_or(0)
    }

    /// The table with names of at most `longest` characters.
    fn named(&self, longest: usize) -> Self {
        let names: Vec<&str> = self.cells().filter_map(|row| row.first()).map(String::as_str).collect();
        let mut names = cut(names.into_iter(), longest).into_iter();
        let mut table = self.clone();
        for row in &mut table.rows {
            if let Row::Cells(cells) = row {
                cells.iter_mut().take(1).zip(names.by_ref()).for_each(|(first, name)| *first = name);
            }
        }
        table
    }

    /// Several tables, each with as many columns behind the first as fit.
    fn in_blocks(&self) -> String {
        let room = WIDTH.saturating_sub(self.width(0));
        let mut blocks: Vec<Vec<usize>> = Vec::new();
        let mut used = WIDTH;
        for column in 1..self.columns() {
            let own = GAP + self.width(column);
            match blocks.last_mut() {
                Some(block) if used + own <= room => {
                    block.push(column);
                    used += own;
                }
                _ => {
                    blocks.push(vec![0, column]);
                    used = own;
                }
            }
        }
        let block = |columns: &Vec<usize>| {
            let of = |row: &Row| match row {
                Row::Cells(cells) => {
                    Row::Cells(columns.iter().map(|column| cells.get(*column).cloned().unwrap_or_default()).collect())
                }
                Row::Line(line) => Row::Line(line.clone()),
            };
            Self { rows: self.rows.iter().map(of).collect(), left: self.left }.print()
        };
        blocks.iter().map(block).collect::<Vec<_>>().join("\n")
    }
}

/// Whether no line is longer than a terminal is wide.
pub(crate) fn fits(text: &str) -> bool {
    text.lines().all(|line| line.chars().count() <= WIDTH)
}

/// Breaks `text` into lines of at most [`WIDTH`] characters, at spaces; longer words are broken too.
#[must_use]
pub fn wrapped(text: &str) -> String {
    broken(text, WIDTH).join("\n") + "\n"
}

/// [`wrapped`], with each line set in.
#[must_use]
pub fn indented(text: &str) -> String {
    let lines = broken(text, WIDTH - INDENT.len());
    lines.iter().map(|line| format!("{INDENT}{line}").trim_end().to_string() + "\n").collect()
}

/// Breaks `text` into lines of at most `width` characters, at least one. The first keeps the spaces at its beginning, if its first word
/// fits behind them.
fn broken(text: &str, width: usize) -> Vec<String> {
    let words = text.trim_start_matches(' ');
    let mut used = text.len() - words.len();
    let mut line = " ".repeat(used);
    let mut lines = Vec::new();
    for (nth, word) in words.split(' ').enumerate() {
        if used > 0 && used + usize::from(nth > 0) + word.chars().count() > width {
            lines.extend((nth > 0).then(|| std::mem::take(&mut line)));
            line.clear();
            used = 0;
        } else if used > 0 && nth > 0 {
            line.push(' ');
            used += 1;
        }
        for letter in word.chars() {
            if used == width {
                lines.push(std::mem::take(&mut line));
                used = 0;
            }
            line.push(letter);
            used += 1;
        }
    }
    lines.push(line);
    lines
}

/// Characters in a line of a terminal.
pub const WIDTH: usize = 100;
/// Before what stands below a row.
const INDENT: &str = "    ";
/// Characters between two columns.
const GAP: usize = 2;
/// The lengths of names, in the order in which they are tried.
const NAMES: [usize; 6] = [28, 24, 20, 18, 15, 12];
const CUT: &str = "Names with `…` are cut: the JSON document and the page have them whole.\n";

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

/// [`short`] labels, equal ones cut alike.
pub(crate) fn cut<'a>(labels: impl Iterator<Item = &'a str> + Clone, longest: usize) -> Vec<String> {
    let mut each: Vec<&str> = labels.clone().collect();
    each.sort_unstable();
    each.dedup();
    let shown = short(each.iter().copied(), longest);
    labels.map(|label| each.binary_search(&label).map_or_else(|_| label.to_string(), |at| shown[at].clone())).collect()
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

    #[test]
    fn cells_keep_their_indent_and_words_their_letters() {
        let mut table = Table::left();
        let key = "droptail=droptail:0.25bdp,with=a-long-setting";
        let prose = "some words ".repeat(12);
        table.row([&format!("  {key}"), prose.trim(), prose.trim()]);
        table.row(["  fig-2", "short", ""]);
        let text = table.folded();
        assert!(fits(&text) && text.starts_with(&format!("  {key}  some words")), "{text}");
        assert!(text.lines().last().is_some_and(|line| line.starts_with("  fig-2  ")), "{text}");
        assert_eq!(text.split_whitespace().count(), 1 + 48 + 2, "{text}");
        let long = "x".repeat(250);
        assert_eq!(broken(&format!("  {long}"), 100).concat(), long);
        assert_eq!(broken("  one two", 5), ["  one", "two"]);
        assert_eq!(broken("a  b", 3), ["a ", "b"]);
        assert_eq!(broken("aaa  b", 3), ["aaa", "b"]);
        assert_eq!(broken("     ", 3), [""]);
        assert_eq!(broken("", 0), [""]);
    }

    #[test]
    fn wide_tables_go_on_below() {
        let mut table = Table::default();
        let name = "a name that is longer than all others are";
        table.row(["flow", "goodput", "loss", "delay"]);
        table.row([name, &"1".repeat(40), &"2".repeat(30), &"3".repeat(50)]);
        let text = table.fitted();
        assert!(fits(&text) && text.contains("…"), "{text}");
        for value in ["1".repeat(40), "2".repeat(30), "3".repeat(50)] {
            assert!(text.contains(&value), "{text}");
        }
        assert_eq!(text.matches("flow").count(), 3, "{text}");
        assert_eq!(wrapped(&"x".repeat(250)).lines().map(str::len).collect::<Vec<_>>(), [100, 100, 50]);
    }
}
