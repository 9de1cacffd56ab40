//! A paper in a sentence: what reproduces and what does not.

use super::selection::PaperRun;
use super::verdict::{Basis, Verdict};

/// How the rows of one place of the paper came out.
#[derive(Clone, Debug, Default)]
struct Place {
    name: String,
    matches: usize,
    misses: usize,
    undecided: usize,
}

impl Place {
    fn all(&self) -> usize {
        self.matches + self.misses + self.undecided
    }

    /// `Table 2 (40 of 49)`: how many match, where not all do.
    fn with_counts(&self) -> String {
        format!("{} ({} of {})", self.name, self.matches, self.all())
    }
}

/// A sentence about the rows that reproduce and those that do not, with the place where they are printed, such as `Table 3`. Tables and
/// figures are named; rows of the text are counted together. Repeats and checks are not counted, since another row covers them.
#[must_use]
pub fn sentence<'a>(rows: impl Iterator<Item = (&'a str, Basis, Verdict)>) -> String {
    let mut places: Vec<Place> = Vec::new();
    let mut text = Place { name: "the statements of its text".to_string(), ..Place::default() };
    for (name, _, verdict) in rows.filter(|(_, basis, _)| !matches!(basis, Basis::Repeat | Basis::Check)) {
        let place = if is_named(name) {
            let at = places.iter().position(|place| place.name == name).unwrap_or_else(|| {
                places.push(Place { name: name.to_string(), ..Place::default() });
                places.len() - 1
            });
            &mut places[at]
        } else {
            &mut text
        };
        match verdict {
            Verdict::Match => place.matches += 1,
            Verdict::Miss => place.misses += 1,
            Verdict::Undecided => place.undecided += 1,
            Verdict::NotReproducible | Verdict::Illustration => {}
        }
    }
    places.push(text);
    places.retain(|place| place.all() > 0);
    let named = |wanted: fn(&Place) -> bool, shown: fn(&Place) -> String| -> Option<String> {
        let names: Vec<String> = places.iter().filter(|place| wanted(place)).map(shown).collect();
        let (last, others) = names.split_last()?;
        Some(if others.is_empty() { last.clone() } else { format!("{} and {last}", others.join(", ")) })
    };
    let parts = [
        ("reproduced:", named(|place| place.matches == place.all(), |place| place.name.clone())),
        ("in part:", named(|place| place.matches > 0 && place.matches < place.all(), Place::with_counts)),
        ("not:", named(|place| place.matches == 0 && place.misses > 0, Place::with_counts)),
        ("undecided:", named(|place| place.matches == 0 && place.misses == 0, |place| place.name.clone())),
    ];
    let parts: Vec<String> =
        parts.into_iter().filter_map(|(what, places)| Some(format!("{what} {}", places?))).collect();
    let parts = parts.join("; ");
    let Some(first) = parts.get(..1) else { return "Nothing was compared.".to_string() };
    format!("{}{}.", first.to_uppercase(), &parts[1..])
}

/// Whether a reader finds the place by its number.
fn is_named(place: &str) -> bool {
    place.starts_with("Table") || place.starts_with("Fig") || place.contains(", Fig")
}

impl PaperRun {
    /// A sentence about the rows that reproduce and those that do not.
    #[must_use]
    pub fn sentence(&self) -> String {
        sentence(self.results.iter().flat_map(|result| {
            let place = self.published.result[result.index].place();
            result.rows.iter().map(move |row| (place, row.basis, row.verdict))
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_and_figures_are_named_and_the_text_is_counted() {
        let rows = [
            ("Table 3", Basis::Printed, Verdict::Match),
            ("Fig. 1", Basis::Claim, Verdict::Miss),
            ("Table 3", Basis::Printed, Verdict::Miss),
            ("section IV", Basis::Claim, Verdict::Match),
            ("Fig. 2", Basis::Derived, Verdict::Match),
            ("appendix", Basis::Claim, Verdict::Match),
            ("Fig. 9", Basis::Claim, Verdict::Undecided),
            ("Fig. 7", Basis::Check, Verdict::Miss),
            ("Fig. 8", Basis::Repeat, Verdict::Match),
            ("Table 2", Basis::Claim, Verdict::Illustration),
        ];
        assert_eq!(
            sentence(rows.into_iter()),
            "Reproduced: Fig. 2 and the statements of its text; in part: Table 3 (1 of 2); not: Fig. 1 (0 of 1); \
             undecided: Fig. 9."
        );
        assert_eq!(sentence(std::iter::empty()), "Nothing was compared.");
    }
}
