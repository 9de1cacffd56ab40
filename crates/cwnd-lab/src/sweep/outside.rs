//! Algorithms from outside in a sweep, whose text can only have something that stands for them.

use cwnd::Spec;
use cwnd_run::scenario::{Document, Fault, Place, Scenario, ScenarioError, Source, Written};

/// An algorithm that is in no registry, for [`Sweep::read_with`](super::Sweep::read_with).
#[derive(Clone, Debug)]
pub struct Outside {
    /// The text of an algorithm of the registry that stands for it in the sweep, and for nothing else there.
    pub stand_in: String,
    /// The algorithm.
    pub algorithm: Written<Spec>,
}

/// A scenario of the sweep, with the algorithms in the places of their stand-ins.
///
/// # Errors
/// It is no scenario, or an algorithm of the registry is called as one from outside: tables could not tell them apart.
pub(super) fn scenario(source: &Source<'_>, outside: &[Outside]) -> Result<Scenario, ScenarioError> {
    let put = |document: &mut Document| {
        for group in &mut document.flow {
            if let Some(found) = outside.iter().find(|one| one.stand_in == group.algorithm.text()) {
                group.algorithm = found.algorithm.clone();
            }
        }
    };
    let scenario = Scenario::of_changed(source, put)?;
    for (index, group) in scenario.document().flow.iter().enumerate() {
        let called = |one: &Outside| one.algorithm.text() == group.algorithm.text();
        if !group.algorithm.value().is_outside() && outside.iter().any(called) {
            let text = format!(
                "two different algorithms are called `{}`, give the one that is not built in another name",
                group.algorithm
            );
            let place = Place::Key(format!("flow.{index}.algorithm"));
            return Err(ScenarioError { place, fault: Fault::Document(text) });
        }
    }
    Ok(scenario)
}

/// The name in tables of the value written as `text`.
pub(super) fn shown<'a>(text: &'a str, outside: &'a [Outside]) -> &'a str {
    outside.iter().find(|one| one.stand_in == text).map_or(text, |one| one.algorithm.text())
}
