//! Experiments: what is asked of runs.
//!
//! [`compare`] runs several algorithms on one scenario, [`sweep`] one scenario at many points, [`evaluate`] an algorithm under the
//! headings of RFC 9743, and [`model`] asks the models on paper. [`overlay`] puts runs of a kernel beside simulated ones, and [`mod@bench`]
//! has the cases on which the speed of the simulator is measured. This crate knows runs and models. It does not know how results are
//! shown.

pub mod bench;
pub mod compare;
pub mod evaluate;
pub mod model;
pub mod overlay;
pub mod stationary;
pub mod sweep;
