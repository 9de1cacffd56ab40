//! Cards of algorithms.

use cwnd::Spec;
use schemars::JsonSchema;
use serde::Serialize;

use super::{MODEL, ModelError, Origin, ShouldContinue, started, synchronous, unread};

/// The scores of an algorithm: `cwnd algorithms NAME --card --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub struct Card {
    /// The version of cwnd, with the revision of its sources where it was built in a repository.
    pub version: &'static str,
    /// The algorithm as it was written.
    pub algorithm: String,
    /// Always `model`.
    pub kind: &'static str,
    /// The parameters that were given although nothing here depends on them.
    pub warnings: Vec<String>,
    /// The axioms.
    pub axioms: Vec<AxiomRow>,
}

/// An axiom of a card.
#[derive(Debug, JsonSchema, Serialize)]
pub struct AxiomRow {
    /// Its name.
    pub name: &'static str,
    /// Null where the algorithm never reached the measured situation.
    pub value: Option<f64>,
    /// Its unit; empty for a ratio.
    pub unit: &'static str,
    /// Its meaning.
    pub definition: &'static str,
    /// The source of the definition.
    pub source: &'static str,
}

/// The card of an algorithm.
///
/// # Errors
/// The algorithm needs more than synchronous feedback, a rate without a window, routers that write, or measured delays; or it does not
/// start from the windows of the card.
pub fn card(spec: &Spec, should_continue: ShouldContinue<'_>) -> Result<Card, ModelError> {
    synchronous(&[spec])?;
    started(&[spec], &cwnd_model::card::starts(spec))?;
    let axioms = cwnd_model::card::card(spec, should_continue).map(|axiom| AxiomRow {
        name: axiom.name,
        value: axiom.value,
        unit: axiom.unit,
        definition: axiom.definition,
        source: axiom.source,
    });
    Ok(Card {
        version: cwnd_run::VERSION,
        algorithm: spec.label().to_string(),
        kind: MODEL,
        warnings: unread(&[spec], Origin::Rounds),
        axioms: axioms.into(),
    })
}
