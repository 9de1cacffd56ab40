//! The registered algorithms.

use cwnd::registry::{ALGORITHMS, Spec};
use cwnd_report::json::Known;
use cwnd_run::files::to_json;
use pyo3::prelude::*;

use crate::failure::Failure;

/// Every registered algorithm, as the document of `cwnd algorithms --json`.
#[pyfunction]
pub(crate) fn algorithms() -> String {
    to_json(&ALGORITHMS.iter().map(|entry| Known::of(entry)).collect::<Vec<_>>())
}

/// One of them by its name, or with parameters, which are checked.
#[pyfunction]
pub(crate) fn algorithm(name: &str) -> Result<String, Failure> {
    let spec =
        Spec::parse(name).map_err(|error| Failure::Algorithm { argument: "name".to_string(), error: error.into() })?;
    Ok(to_json(&Known::of(spec.entry())))
}
