//! Cells of CSV.

/// `text` as a cell of CSV. One with a comma, a quote or a line break stands in quotes (RFC 4180). In front of what a spreadsheet would take for
/// the beginning of a formula (`=`, `+`, `-`, `@`, a tab, a carriage return) stands an apostrophe, as OWASP advises; a number has none.
///
/// ```
/// assert_eq!(cwnd_text::cell("=1+2"), "'=1+2");
/// assert_eq!(cwnd_text::cell("-1.5"), "-1.5");
/// ```
#[must_use]
pub fn cell(text: &str) -> String {
    let is_formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']) && text.parse::<f64>().is_err();
    let text = if is_formula { format!("'{text}") } else { text.to_string() };
    if text.contains([',', '"', '\n', '\r']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_quoted_where_they_must_be() {
        for (text, expected) in
            [("reno", "reno"), ("aimd:a=1,b=\"x\"", "\"aimd:a=1,b=\"\"x\"\"\""), ("a\rb", "\"a\rb\"")]
        {
            assert_eq!(cell(text), expected);
        }
    }

    #[test]
    fn no_cell_begins_a_formula() {
        for begin in ["=", "+", "-", "@", "\t", "\r"] {
            for rest in ["cmd|' /C calc'!A0", "1+1", "a,\"b\"\n", ""] {
                let cell = cell(&format!("{begin}{rest}"));
                assert!(cell.trim_start_matches('"').starts_with('\''), "{cell}");
            }
        }
        for number in ["-1", "+2.5e3", "-inf"] {
            assert_eq!(cell(number), number);
        }
    }
}
