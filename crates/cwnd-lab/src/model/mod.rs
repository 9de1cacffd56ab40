//! Results of models: the documents of `cwnd model`.
//!
//! Every row has the kind of its numbers: `closed form`, or `model` for numbers that the synchronous-feedback host computed.

mod card;
mod response;
mod rounds;
mod udt;

use cwnd::Spec;
use cwnd::registry::Parameter;
use cwnd::units::Span;
use cwnd_model::response::Law;
use thiserror::Error;

pub use card::{AxiomRow, Card, card};
pub use cwnd_model::ShouldContinue;
pub use cwnd_model::rounds::Setup;
pub use response::{ResponseRow, Responses, USUAL_PATH, bounded, idle_of_responses, responses};
pub use rounds::{
    ConvergenceRow, Convergences, Pair, PathEnd, PathRow, Paths, Walk, clock, convergence_setup, convergence_walks,
    convergences, flows, idle_of_walks, walks,
};
pub use udt::{DelayRow, EquilibriumRow, StageRow, Stages, Udt, stages};

/// Why a model cannot compute a request.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum ModelError {
    /// An algorithm needs signals that synchronous feedback does not have: its numbers would be those of another algorithm.
    #[error("`{algorithm}` is not defined under synchronous feedback: {reason}")]
    Undefined {
        /// The algorithm as it was written.
        algorithm: String,
        /// Its requirement.
        reason: &'static str,
    },
    /// A rule does not begin with the window that was asked for.
    #[error(
        "`{algorithm}` cannot start from {asked} packets in a round trip of {} ms: its rule has {has} packets in the network then",
        rtt.as_secs_f64() * 1e3
    )]
    Start {
        /// The algorithm as it was written.
        algorithm: String,
        /// Packets.
        asked: f64,
        /// Packets.
        has: f64,
        /// The round trip of the flow.
        rtt: Span,
    },
    /// Random loss would need too many packets.
    #[error(
        "random loss takes {LOSSES} losses for each algorithm, probability and seed, together {packets:.1e} packets: at most \
         {MOST_PACKETS:.0e} are run; take fewer seeds or larger probabilities"
    )]
    Packets {
        /// How many.
        packets: f64,
    },
}

/// Checks that synchronous feedback has all signals that `algorithms` use.
///
/// # Errors
/// The first algorithm that needs more than synchronous feedback: a rate without a window, routers that write, or measured delays.
pub fn synchronous(algorithms: &[&Spec]) -> Result<(), ModelError> {
    let undefined = |spec: &&Spec| {
        cwnd_model::rounds::unmodelled(spec)
            .map(|reason| ModelError::Undefined { algorithm: spec.label().to_string(), reason })
    };
    algorithms.iter().find_map(undefined).map_or(Ok(()), Err)
}

/// Checks that `algorithms`, which synchronous feedback must suit, begin with the windows of `setup`.
///
/// # Errors
/// The first algorithm whose rule starts with another window in the network.
pub fn started(algorithms: &[&Spec], setup: &Setup) -> Result<(), ModelError> {
    let unstarted = |spec: &&Spec| {
        let setup = with_algorithm(setup, spec);
        let (index, has) = cwnd_model::rounds::unstarted(&setup)?;
        let flow = &setup.flows[index];
        let (algorithm, rtt) = (spec.label().to_string(), flow.rtt.unwrap_or(setup.rtt));
        Some(ModelError::Start { algorithm, asked: flow.window.0, has, rtt })
    };
    algorithms.iter().find_map(unstarted).map_or(Ok(()), Err)
}

/// Whether the convergence of an algorithm is known in closed form, so that it is not run.
#[must_use]
pub fn has_closed_form(spec: &Spec) -> bool {
    rounds::scheme(spec).is_some()
}

/// The source of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Closed forms of windows against loss, and runs under random loss as well or not.
    Response {
        /// Whether there are runs.
        random: bool,
    },
    /// The closed form of two flows' convergence, or synchronous feedback where none is known.
    Convergence,
    /// Synchronous feedback.
    Rounds,
}

/// A setting of a model that has no effect on the numbers of an algorithm.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Idle {
    /// Its name, as in [`Setup`].
    pub setting: &'static str,
    /// The algorithm as it was written.
    pub algorithm: String,
    /// Why it has no effect.
    pub why: String,
}

/// The given parameters on which none of the numbers depends, a sentence for each.
#[must_use]
pub fn unread(algorithms: &[&Spec], origin: Origin) -> Vec<String> {
    let of = |spec: &&Spec| -> Vec<String> {
        let runs = match origin {
            Origin::Response { random } => random && cwnd_model::bernoulli::is_defined(spec),
            Origin::Convergence => rounds::scheme(spec).is_none(),
            Origin::Rounds => true,
        };
        let sentence = |(parameter, text): (&Parameter, String), why: &str| {
            format!("{}: `{}={text}` has no effect: {why} ({})", spec.label(), parameter.name, parameter.help)
        };
        if !runs {
            let why = match Law::of(spec) {
                Some(_) => "the closed form does not depend on it",
                None => "no closed form is known, so that there are no numbers",
            };
            return Law::unread(spec).into_iter().map(|given| sentence(given, why)).collect();
        }
        let left_out: Vec<_> = match origin {
            Origin::Response { .. } => spec.unread().collect(),
            Origin::Convergence | Origin::Rounds => cwnd_model::rounds::unread(spec),
        };
        let never_asked: Vec<&str> = spec.unread().map(|(parameter, _)| parameter.name).collect();
        let why = |name: &str| match never_asked.contains(&name) {
            true => "nothing is marked, or the other parameters leave it out",
            false => "a flow starts at the window that is given",
        };
        let marks = spec
            .parameters()
            .filter(|(parameter, text)| {
                let of_marks = parameter.name == ECN_BETA || (spec.entry().name, parameter.name) == ALPHA_OF_MARKS;
                of_marks && *text != parameter.default_text()
            })
            .map(|given| sentence(given, "nothing is marked, or the other parameters leave it out"));
        let left_out = left_out.into_iter().map(|given| {
            let why = why(given.0.name);
            sentence(given, why)
        });
        left_out.chain(marks).collect()
    };
    algorithms.iter().flat_map(of).collect()
}

/// The parameter of RFC 8511.
const ECN_BETA: &str = "ecn_beta";
/// The parameter of DCTCP for the share of marks.
const ALPHA_OF_MARKS: (&str, &str) = ("dctcp", "g");
use response::{LOSSES, MOST_PACKETS};
use rounds::with_algorithm;

const CLOSED_FORM: &str = "closed form";
const MODEL: &str = "model";
