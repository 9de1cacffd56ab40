//! What algorithms there are.

use cwnd::registry::{self, ALGORITHMS};
use cwnd_report::json::Known;
use cwnd_run::files::to_json;
use pyo3::prelude::*;

use crate::failure::Failure;

/// Every registered algorithm, as the document of `cwnd algorithms --json`.
#[pyfunction]
pub(crate) fn algorithms() -> String {
    to_json(&ALGORITHMS.iter().map(|entry| Known::of(entry)).collect::<Vec<_>>())
}

/// One of them by its name.
#[pyfunction]
pub(crate) fn algorithm(name: &str) -> Result<String, Failure> {
    Ok(to_json(&Known::of(registry::find(name)?)))
}
