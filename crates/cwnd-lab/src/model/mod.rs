//! Results on paper: what `cwnd model` prints.
//!
//! Every row says of what kind its numbers are: `closed form`, or `model` for what the synchronous-feedback host computed.

mod card;
mod response;
mod rounds;
mod udt;

pub use card::{AxiomRow, Card, card};
pub use cwnd_model::ShouldContinue;
pub use cwnd_model::rounds::Setup;
pub use response::{ResponseRow, Responses, responses};
pub use rounds::{
    ConvergenceRow, Convergences, Pair, PathRow, Paths, Walk, clock, convergence_walks, convergences, flows, walks,
};
pub use udt::{DelayRow, EquilibriumRow, StageRow, Stages, Udt, stages};

const CLOSED_FORM: &str = "closed form";
const MODEL: &str = "model";
