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
    let entry = registry::find(name)
        .map_err(|error| Failure::Algorithm { argument: "name".to_string(), error: error.into() })?;
    Ok(to_json(&Known::of(entry)))
}
