//! Experiments, each of several runs.
//!
//! [`compare`] runs several algorithms on one scenario, [`sweep`] one scenario at many points, [`evaluate`] an algorithm by the
//! criteria of RFC 9743, and [`model`] evaluates the models without packets. [`overlay`] plots recordings of other
//! tools with simulated runs, [`mod@diff`] finds where two traces differ, and [`mod@bench`] has the cases that measure the speed of
//! the simulator. This crate knows runs and models, but no presentation of results.

pub mod bench;
pub mod compare;
pub mod diff;
pub mod evaluate;
pub mod model;
pub mod overlay;
pub mod stationary;
pub mod sweep;
