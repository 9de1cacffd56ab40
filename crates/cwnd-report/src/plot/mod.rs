//! Plots as Vega-Lite specifications with their data.

pub mod colour;
pub(crate) mod downsample;
pub(crate) mod frame;
pub(crate) mod over_time;
pub(crate) mod overview;
pub(crate) mod phase;
pub(crate) mod spec;
pub(crate) mod traffic;
