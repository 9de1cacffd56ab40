//! Parts of several pages: algorithms with their parameters, warnings, seeds.

use cwnd::Spec;

/// The top of every page.
pub(super) struct Top<'a> {
    /// The question that the page answers.
    pub(super) question: String,
    /// The path in one sentence; empty where there is none.
    pub(super) path: String,
    /// The command that repeats it.
    pub(super) command: &'a str,
}

/// An algorithm with its parameters in force.
pub(super) struct Algorithm<'a> {
    pub(super) label: &'a str,
    pub(super) title: &'a str,
    pub(super) source: &'a str,
    pub(super) parameters: Vec<Parameter>,
    pub(super) deviations: &'a [&'a str],
}

/// A parameter with its value and unit.
pub(super) struct Parameter {
    pub(super) name: &'static str,
    pub(super) value: String,
    pub(super) help: &'static str,
}

/// A piece of a sentence.
pub(super) struct Part<'a> {
    /// It stood between backticks.
    pub(super) code: bool,
    pub(super) text: &'a str,
}

impl<'a> Algorithm<'a> {
    pub(super) fn of(spec: &'a Spec) -> Self {
        let entry = spec.entry();
        let parameters = spec.parameters().map(|(parameter, value)| Parameter {
            name: parameter.name,
            value: if parameter.unit.is_empty() { value } else { format!("{value} {}", parameter.unit) },
            help: parameter.help,
        });
        Self {
            label: spec.label(),
            title: entry.title,
            source: entry.source,
            parameters: parameters.collect(),
            deviations: entry.deviations,
        }
    }
}

/// A sentence cut at its backticks: what stands between them is code, here as on a terminal.
pub(super) fn parts(sentence: &str) -> impl Iterator<Item = Part<'_>> {
    sentence.split('`').enumerate().map(|(nth, text)| Part { code: nth % 2 == 1, text })
}

/// Names in a row, the last after "and".
pub(super) fn listed<T: AsRef<str>>(names: &[T]) -> String {
    match names {
        [] => String::new(),
        [one] => one.as_ref().to_string(),
        [some @ .., last] => {
            let some: Vec<&str> = some.iter().map(AsRef::as_ref).collect();
            format!("{} and {}", some.join(", "), last.as_ref())
        }
    }
}

pub(super) fn seed_text(seeds: &[u64]) -> String {
    let run = |seeds: &[u64]| seeds.windows(2).all(|pair| pair[1] == pair[0].wrapping_add(1));
    match seeds {
        [] => "no seed".to_string(),
        [one] => format!("seed {one}"),
        [first, .., last] if run(seeds) => format!("{} seeds ({first} to {last})", seeds.len()),
        _ => format!("{} seeds ({})", seeds.len(), seeds.iter().map(u64::to_string).collect::<Vec<_>>().join(", ")),
    }
}
