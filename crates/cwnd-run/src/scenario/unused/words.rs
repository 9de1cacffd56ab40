//! Words of quantities that consist of several, as they were typed.

use crate::scenario::quantity::Quantity;

/// The words behind the name of a quantity: those of `red:20p, ecn=yes` are `20p` and `ecn=yes`.
pub(super) fn words(text: &str) -> impl Iterator<Item = &str> {
    let rest = match text.split_once(':') {
        Some((name, rest)) if !name.contains(['=', ',']) => rest,
        _ => text,
    };
    rest.split(',').map(str::trim)
}

/// What stands before the `=` of a word.
pub(super) fn name(word: &str) -> &str {
    word.split('=').next().unwrap_or(word).trim()
}

/// The word `key` or `key=value`.
pub(super) fn typed<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    words(text).find(|word| name(word) == key)
}

/// Whether a quantity would be another without one of its words: the word is not the default.
pub(super) fn says_something<Q: Quantity + PartialEq>(text: &str, word: &str) -> bool {
    let read = |text: &str| Q::read(text).ok();
    let rest: Vec<&str> = words(text).filter(|other| *other != word).collect();
    let without = match text.split_once(':') {
        Some((name, _)) => format!("{name}:{}", rest.join(",")),
        None => rest.join(","),
    };
    read(&without) != read(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Queue;

    #[test]
    fn words_are_found_by_their_keys() {
        assert_eq!(words("red: 20p, ecn = yes").collect::<Vec<_>>(), ["20p", "ecn = yes"]);
        assert_eq!(typed("red: 20p, ecn = yes", "ecn"), Some("ecn = yes"));
        assert_eq!(typed("gilbert:to_bad=0.1,to_good=0.5", "to_bad"), Some("to_bad=0.1"));
        assert_eq!(typed("tso,gro=2ms", "tso"), Some("tso"));
        assert_eq!(typed("tso,gro=2ms", "fq"), None);
    }

    #[test]
    fn a_word_may_say_what_is_so_by_default() {
        let says = |text, word| says_something::<Queue>(text, word);
        assert!(says("red: 20p, ecn = yes", "ecn = yes") && says("fq_codel:20p,ecn=no", "ecn=no"));
        assert!(!says("red:20p,gentle=yes", "gentle=yes") && !says("fq_codel:20p,ecn=yes", "ecn=yes"));
    }
}
