//! Search for scenarios that break a property of a congestion controller.
//!
//! A [`property`] is a number of a run with a bound. The [`space`] turns a list of numbers into an
//! ordinary scenario, within the plausible ranges of a [`Profile`](space::Profile). The [`search`](mod@search) proposes points and
//! minimises the margin of the property. [`shrink`](mod@shrink) removes the parts that a counterexample does not need, [`answer`] writes
//! it as a file that can be judged again, and [`findings`] is the result of a search. Start with [`Search`](search::Search).
//!
//! Results depend on the plan and the number of evaluations. They do not depend on the number of threads.

pub mod answer;
mod bound;
pub mod corpus;
mod evaluate;
mod evaluated;
pub mod findings;
mod formula;
mod measured;
mod observed;
mod parts;
mod profile;
pub mod property;
pub mod reference;
mod refused;
pub mod search;
pub mod shrink;
mod sources;
pub mod space;
mod worker;
mod workers;

pub use evaluate::{MOST_MEMORY, Shard, Subject};
pub use evaluated::{Evaluated, mildest, worst};
pub use worker::work;
pub use workers::{Elsewhere, PATIENCE, Workers};
