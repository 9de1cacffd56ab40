//! Stacks and controllers of others by their names, where the program that runs has any.
//!
//! They are built in a workspace of their own, whose programs hand them over once, before a scenario or a command line is read. The text
//! `quinn:cubic` then means one of them wherever an algorithm may stand.

use std::sync::OnceLock;

use cwnd::Spec;
use cwnd::registry::{self, SpecError};
use thiserror::Error;

/// What others have written that can stand for an algorithm, by labels of the form `stack:controller`. To be called at most once, before
/// the first algorithm is read; later calls change nothing.
pub fn install(specs: Vec<Spec>) {
    let _ = INSTALLED.set(specs);
}

/// The installed stacks.
#[must_use]
pub fn installed() -> &'static [Spec] {
    INSTALLED.get().map_or(&[], Vec::as_slice)
}

/// An algorithm could not be read from its text.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum AlgorithmError {
    /// It is none of the registry.
    #[error("{0}{hint}", hint = hint(.0))]
    Spec(#[from] SpecError),
    /// The stack has no such controller, or it has none of this name.
    #[error("unknown algorithm `{name}`; this program has {known}")]
    Stack {
        /// The name given.
        name: String,
        /// All that are installed.
        known: String,
    },
    /// It names a stack, and this program was built without any.
    #[error(
        "`{name}` is a stack of others, which this program is built without: `cargo xtask foreign --` takes what `cwnd` takes, \
         and builds what it needs"
    )]
    Without {
        /// The name given.
        name: String,
    },
}

/// Reads an algorithm of the registry or of an installed stack.
///
/// # Errors
/// `text` names neither an algorithm of the registry nor an installed stack, or a parameter is out of range.
pub fn parse(text: &str) -> Result<Spec, AlgorithmError> {
    let name = text.trim();
    if let Some(spec) = installed().iter().find(|spec| spec.label() == name) {
        return Ok(spec.clone());
    }
    let stack = name.split(':').next().unwrap_or_default();
    let family = stack.split_once('-').map_or(stack, |(family, _)| family);
    if registry::find(stack).is_ok() || !FAMILIES.contains(&family) {
        return Ok(Spec::parse(text)?);
    }
    let name = name.to_string();
    if installed().is_empty() {
        return Err(AlgorithmError::Without { name });
    }
    let known: Vec<_> = installed().iter().map(|spec| format!("`{}`", spec.label())).collect();
    Err(AlgorithmError::Stack { name, known: known.join(", ") })
}

/// Where a name that is none can be looked up.
fn hint(error: &SpecError) -> &'static str {
    if matches!(error, SpecError::UnknownAlgorithm { .. }) { " (`cwnd algorithms` lists all)" } else { "" }
}

/// Names with which those of stacks begin, for the errors of a program without them.
const FAMILIES: [&str; 7] = ["gvisor", "noq", "quiche", "quinn", "s2n", "smoltcp", "tquic"];

static INSTALLED: OnceLock<Vec<Spec>> = OnceLock::new();

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_without_stacks_names_the_one_that_has_them() {
        for name in ["quinn:cubic", "quinn-0.11.14:cubic", "noq:bbr3", "s2n", " smoltcp:reno", "gvisor-mended:reno"] {
            let error = parse(name).expect_err("nothing is installed").to_string();
            assert!(error.contains(name.trim()) && error.contains("cargo xtask foreign --"), "{error}");
        }
        assert!(parse("aimd:b=1/8").is_ok());
        let error = parse("quin:cubic").expect_err("no such algorithm").to_string();
        assert!(
            error.starts_with("unknown algorithm `quin`") && error.ends_with(" (`cwnd algorithms` lists all)"),
            "{error}"
        );
    }
}
