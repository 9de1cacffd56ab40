//! Experiments: questions that several runs answer together.
//!
//! [`compare`] runs several algorithms on one scenario, [`sweep`] one scenario at many points, [`evaluate`] an algorithm by the
//! criteria of RFC 9743, and [`model`] evaluates the models on paper. [`overlay`] compares runs of a kernel with simulated ones, [`mod@diff`]
//! finds where two traces differ, and [`mod@bench`] has the cases on which the speed of the simulator is measured. This crate knows runs and models, but not how results
//! are shown.

pub mod bench;
pub mod compare;
pub mod diff;
pub mod evaluate;
pub mod model;
pub mod overlay;
pub mod stationary;
pub mod sweep;
