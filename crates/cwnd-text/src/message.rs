//! Sentences of this program with names of others inside.

/// `text` on one line: unprintable characters are escaped, line breaks too. Backslashes stay, unlike those of a [`Printable`](crate::Printable).
///
/// ```
/// assert_eq!(cwnd_text::one_line("flow `a\n\u{1b}[2J`"), r"flow `a\n\u{1b}[2J`");
/// ```
#[must_use]
pub fn one_line(text: &str) -> String {
    escaped(text, |_| false)
}

/// A sentence with names inside, on as many lines as `text` has. Where a name can have a line break, it needs [`one_line`] before.
#[must_use]
pub fn lines(text: &str) -> String {
    escaped(text, |letter| letter == '\n')
}

fn escaped(text: &str, stays: impl Fn(char) -> bool) -> String {
    // Quotes and backslashes are printable, and would be escaped with the rest.
    let stays = |letter: char| ['\'', '"', '\\'].contains(&letter) || stays(letter);
    let pieces = text.split_inclusive(&stays).map(|piece| {
        let before = piece.trim_end_matches(&stays);
        format!("{}{}", before.escape_debug(), &piece[before.len()..])
    });
    pieces.collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn sentences_stay_and_what_moves_a_cursor_is_escaped() {
        for sentence in ["cannot read `C:\\a`: \"it's\" 日本 e\u{301} – 5 µs", ""] {
            assert_eq!(one_line(sentence), sentence);
        }
        assert_eq!(one_line("a\nb\r\u{202e}\u{9b}2J\u{2028}"), r"a\nb\r\u{202e}\u{9b}2J\u{2028}");
        assert_eq!(lines("a\nb\r\u{200b}"), "a\nb\\r\\u{200b}");
        assert_eq!(lines("\n\u{301}a"), "\n\\u{301}a");
    }

    proptest! {
        #[test]
        fn no_control_character_is_shown(text in any::<String>()) {
            prop_assert!(!one_line(&text).contains(char::is_control));
            prop_assert!(!lines(&text).contains(|letter: char| letter.is_control() && letter != '\n'));
        }
    }
}
