use std::fmt::Display;

/// A number with its noun, which is given in the singular and takes an `s`: `1 flow`, `2 flows`, `0 flows`.
#[must_use]
pub fn counted(count: impl Display, noun: &str) -> String {
    let count = count.to_string();
    let ending = if count == "1" { "" } else { "s" };
    format!("{count} {noun}{ending}")
}

/// A number with its noun, as [`counted`], and the verb that goes with it, given in both numbers: `1 row differs`, `2 rows differ`.
#[must_use]
pub fn counted_with(count: impl Display, noun: &str, [one, many]: [&str; 2]) -> String {
    let count = count.to_string();
    let verb = if count == "1" { one } else { many };
    format!("{} {verb}", counted(count, noun))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verb_agrees_with_its_noun() {
        let differ = |count| counted_with(count, "row", ["differs", "differ"]);
        assert_eq!([0, 1, 2].map(differ), ["0 rows differ", "1 row differs", "2 rows differ"]);
    }

    #[test]
    fn one_is_singular() {
        assert_eq!([0, 1, 2].map(|count| counted(count, "flow")), ["0 flows", "1 flow", "2 flows"]);
    }
}
