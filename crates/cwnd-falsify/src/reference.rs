//! The registry as text.

use std::fmt::Write as _;

use crate::property::PROPERTIES;
use crate::space::{Part, Profile};

/// The properties as a list for a terminal.
#[must_use]
pub fn list() -> String {
    let mut text = String::new();
    for property in PROPERTIES {
        let _ = writeln!(text, "{} {} {}: {}", property.name, property.side.sign(), property.bound, property.title);
        let _ = writeln!(text, "  {}\n  Assumes: {}\n  {}", property.definition, property.assumes, property.source);
    }
    text
}

/// The properties as a table of the documentation.
#[must_use]
pub fn table() -> String {
    let mut text = "| property | number | assumes | source |\n| --- | --- | --- | --- |\n".to_string();
    for property in PROPERTIES {
        let (name, sign, bound) = (property.name, property.side.sign(), property.bound);
        let _ = writeln!(
            text,
            "| `{name} {sign} {bound}`: {} | {} | {} | {} |",
            property.title, property.definition, property.assumes, property.source
        );
    }
    text
}

/// The parts of a path, as a table of the documentation.
#[must_use]
pub fn parts() -> String {
    let mut text = "| part | effect | numbers |\n| --- | --- | --- |\n".to_string();
    for part in Part::all() {
        let range = |[low, high]: [f64; 2]| format!("{low} to {high}");
        let knobs = part.knobs().iter().map(|knob| format!("{}: {}", knob.name, range(knob.range(Profile::Home))));
        let mut knobs: Vec<String> = knobs.collect();
        knobs.dedup();
        let _ = writeln!(text, "| `{}` | {} | {} |", part.name(), part.title(), knobs.join("; "));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_has_the_tables_of_the_registry() {
        let page = include_str!("../../../docs/falsify.md");
        assert!(page.contains(&table()), "{}", table());
        assert!(page.contains(&parts()), "{}", parts());
    }
}
