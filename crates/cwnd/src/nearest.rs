//! The nearest name to a mistyped one.

use alloc::vec::Vec;

/// The candidate nearest to `name` by edit distance without regard to letter case, if one is near enough to be meant.
///
/// ```
/// let names = || cwnd::ALGORITHMS.iter().map(|entry| entry.name);
/// assert_eq!(cwnd::nearest("cubik", names()), Some("cubic"));
/// assert_eq!(cwnd::nearest("CUBIC", names()), Some("cubic"));
/// assert_eq!(cwnd::nearest("anything", names()), None);
/// ```
pub fn nearest<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let typed = name.to_lowercase();
    let far = |candidate: &str| edit_distance(&typed, &candidate.to_lowercase());
    let close = candidates.map(|candidate| (far(candidate), candidate)).min_by_key(|(far, _)| *far)?;
    (close.0 <= 1 + name.len().min(close.1.len()) / 4).then_some(close.1)
}

/// Levenshtein's distance, one row at a time.
fn edit_distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, letter) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, other) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(letter != *other);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edit_distances() {
        assert_eq!(edit_distance("kitten", "sitting"), 3);
        assert_eq!(edit_distance("", "abc"), 3);
    }
}
