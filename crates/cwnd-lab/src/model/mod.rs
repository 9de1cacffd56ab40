//! Results on paper: what `cwnd model` prints.
//!
//! Every row says of what kind its numbers are: `closed form`, or `model` for what the synchronous-feedback host computed.

mod card;
mod response;
mod rounds;
mod udt;

use cwnd::Spec;
use cwnd::registry::Parameter;
use cwnd_model::response::Law;
use thiserror::Error;

pub use card::{AxiomRow, Card, card};
pub use cwnd_model::ShouldContinue;
pub use cwnd_model::rounds::Setup;
pub use response::{ResponseRow, Responses, responses};
pub use rounds::{
    ConvergenceRow, Convergences, Pair, PathRow, Paths, Walk, clock, convergence_walks, convergences, flows, walks,
};
pub use udt::{DelayRow, EquilibriumRow, StageRow, Stages, Udt, stages};

/// An algorithm needs what synchronous feedback does not have: its numbers would be those of another one.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("`{algorithm}` is not defined under synchronous feedback: {reason}")]
pub struct Unmodelled {
    /// The algorithm as it was written.
    pub algorithm: String,
    /// What it needs.
    pub reason: &'static str,
}

/// Whether synchronous feedback has all that `algorithms` look at.
///
/// # Errors
/// The first algorithm that needs more than synchronous feedback: a rate without a window, routers that write, or measured delays.
pub fn synchronous(algorithms: &[&Spec]) -> Result<(), Unmodelled> {
    let unmodelled = |spec: &&Spec| {
        cwnd_model::rounds::unmodelled(spec).map(|reason| Unmodelled { algorithm: spec.label().to_string(), reason })
    };
    algorithms.iter().find_map(unmodelled).map_or(Ok(()), Err)
}

/// The parameters that were given although none of the numbers depends on them, a sentence for each. The numbers are those of closed forms
/// alone, or those of algorithms that are run without marks.
#[must_use]
pub fn unread(algorithms: &[&Spec], closed_forms_alone: bool) -> Vec<String> {
    let of = |spec: &&Spec| -> Vec<String> {
        let known = closed_forms_alone && Law::of(spec).is_some();
        let idle: Vec<_> = if known { Law::unread(spec) } else { spec.unread().collect() };
        let marks = spec
            .parameters()
            .filter(|(parameter, text)| !known && parameter.name == ECN_BETA && *text != parameter.default_text());
        let why = if known {
            "the closed form does not depend on it"
        } else {
            "nothing is marked, or the other parameters leave it out"
        };
        let sentence = |(parameter, text): (&Parameter, String)| {
            format!("{}: `{}={text}` has no effect: {why} ({})", spec.label(), parameter.name, parameter.help)
        };
        idle.into_iter().chain(marks).map(sentence).collect()
    };
    algorithms.iter().flat_map(of).collect()
}

/// The parameter of RFC 8511.
const ECN_BETA: &str = "ecn_beta";
const CLOSED_FORM: &str = "closed form";
const MODEL: &str = "model";
