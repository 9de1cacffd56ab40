use std::fmt::Display;

/// A number with its noun, which is given in the singular and takes an `s`: `1 flow`, `2 flows`, `0 flows`.
#[must_use]
pub fn counted(count: impl Display, noun: &str) -> String {
    let count = count.to_string();
    let ending = if count == "1" { "" } else { "s" };
    format!("{count} {noun}{ending}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_singular() {
        assert_eq!([0, 1, 2].map(|count| counted(count, "flow")), ["0 flows", "1 flow", "2 flows"]);
    }
}
