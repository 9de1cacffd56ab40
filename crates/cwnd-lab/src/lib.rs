//! Scenarios, runs, measures and reports.

pub mod measure;
