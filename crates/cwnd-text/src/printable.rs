//! Shows text that others have chosen.

use std::fmt;

/// Bytes chosen by another host or another user, such as a name or an error message, as they are shown on a terminal or in a log.
///
/// Whatever is not printable is escaped: control characters, which move the cursor or begin a new line; characters without width or
/// that change the direction of writing, which let one name look like another; bytes that are not UTF-8. A backslash is doubled. Text longer
/// than 4096 bytes is cut off.
///
/// ```
/// use cwnd_text::Printable;
///
/// assert_eq!(Printable::new("grüße\n\u{202e}").to_string(), r"grüße\n\u{202e}");
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Printable<'a>(&'a [u8]);

impl<'a> Printable<'a> {
    /// Shows these bytes.
    #[must_use]
    pub fn new(bytes: &'a (impl AsRef<[u8]> + ?Sized)) -> Self {
        Self(bytes.as_ref())
    }
}

impl fmt::Display for Printable<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = &self.0[..self.0.len().min(MAX_SHOWN)];
        for chunk in shown.utf8_chunks() {
            // Quotes are printable, and would be escaped with the rest.
            for piece in chunk.valid().split_inclusive(QUOTES) {
                let text = piece.trim_end_matches(QUOTES);
                write!(f, "{}{}", text.escape_debug(), &piece[text.len()..])?;
            }
            for byte in chunk.invalid() {
                write!(f, "\\x{byte:02x}")?;
            }
        }
        if shown.len() < self.0.len() { f.write_str("…") } else { Ok(()) }
    }
}

const QUOTES: [char; 2] = ['\'', '"'];

/// The longest name; error messages are shorter.
const MAX_SHOWN: usize = 4096;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_printable_stays_and_everything_else_is_escaped() {
        for (bytes, shown) in [
            (&b"it's \"a\" file.txt"[..], "it's \"a\" file.txt"),
            ("grüße 日本 e\u{301}".as_bytes(), "grüße 日本 e\u{301}"),
            (b"\x1b[2J\r\n\x07\x7f", r"\u{1b}[2J\r\n\u{7}\u{7f}"),
            ("\u{9b}31m".as_bytes(), r"\u{9b}31m"),
            ("gpj.\u{202e}exe\u{2066}\u{200e}".as_bytes(), r"gpj.\u{202e}exe\u{2066}\u{200e}"),
            ("a\u{200b}b\u{feff}c\u{2028}".as_bytes(), r"a\u{200b}b\u{feff}c\u{2028}"),
            (b"\xff\\x1b", r"\xff\\x1b"),
        ] {
            assert_eq!(Printable::new(bytes).to_string(), shown);
        }
        let long = Printable::new(&[b'a'; 5000]).to_string();
        assert!(long.len() < 4100 && long.ends_with('…'));
    }

    proptest! {
        #[test]
        fn no_control_character_is_shown(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            prop_assert!(!Printable::new(&bytes).to_string().contains(char::is_control));
        }
    }
}
