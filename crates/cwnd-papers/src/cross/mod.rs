//! Every algorithm of the five papers on the experiments of all five, and what the papers claim asked of all of them.

mod crossing;
mod measure;
mod plan;
mod record;

pub use crossing::cross;
pub use measure::CrossMeasure;
pub use plan::{Compare, CrossAlgorithm, CrossClaim, CrossExperiment, Plan};
pub use record::{Answer, Asked, CrossTable, Crossing, Score};
