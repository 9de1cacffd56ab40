//! Scenarios as Python holds them: documents, checked whenever they are used.

use std::path::Path;
use std::sync::Arc;

use cwnd_run::files::{to_json, write_named};
use cwnd_run::scenario::{self as lab, Scenario};
use pyo3::prelude::*;

use crate::failure::Failure;
use crate::outside::{AlgorithmErrors, apart, written};

/// Checks a TOML document called `name` with overrides laid over it, and gives it back as JSON, its defaults spelt out.
#[pyfunction]
pub(crate) fn scenario(name: &str, text: &str, overrides: Vec<String>) -> Result<String, Failure> {
    Ok(to_json(Scenario::read(name, text, &overrides)?.document()))
}

/// Checks a JSON document, and gives it back with its defaults spelt out.
#[pyfunction]
pub(crate) fn complete(document: &str) -> Result<String, Failure> {
    Ok(to_json(checked(document)?.document()))
}

/// Writes a text to `path`: whole or not at all.
#[pyfunction]
pub(crate) fn write(path: &str, text: &str) -> Result<(), Failure> {
    let failed = |error| Failure::File(format!("path: cannot write `{path}`: {error}"));
    write_named(Path::new(path), text.as_bytes()).map_err(failed)
}

/// JSON as TOML, in which the lab's errors show the line they are about.
#[pyfunction]
pub(crate) fn to_toml(document: &str) -> Result<String, Failure> {
    let value: toml::Value = serde_json::from_str(document).map_err(|error| Failure::Argument(error.to_string()))?;
    toml::to_string(&value).map_err(|error| Failure::Argument(error.to_string()))
}

/// A JSON value as it is written in TOML on one line.
#[pyfunction]
pub(crate) fn literal(value: &str) -> Result<String, Failure> {
    let value: toml::Value = serde_json::from_str(value).map_err(|error| Failure::Argument(error.to_string()))?;
    Ok(value.to_string())
}

/// The JSON Schema of scenarios.
#[pyfunction]
pub(crate) fn schema() -> String {
    to_json(&lab::schema())
}

/// The scenario in a JSON document.
pub(crate) fn checked(document: &str) -> Result<Scenario, Failure> {
    let text = to_toml(document)?;
    Ok(Scenario::read("scenario", &text, &[])?)
}

/// The scenario with algorithms from Python in the flow groups of these numbers.
pub(crate) fn with_algorithms(
    scenario: Scenario,
    outside: &[(usize, Bound<'_, PyAny>)],
    errors: &Arc<AlgorithmErrors>,
) -> Result<Scenario, Failure> {
    if outside.is_empty() {
        return Ok(scenario);
    }
    let mut document = scenario.document().clone();
    for (index, given) in outside {
        if let Some(group) = document.flow.get_mut(*index) {
            group.algorithm = written(&format!("flow.{index}.algorithm"), given, errors)?;
        }
    }
    let algorithms = |index: &usize| document.flow.get(*index).map(|group| &group.algorithm);
    apart("flow", outside.iter().filter_map(|(index, given)| Some((given, algorithms(index)?))))?;
    Ok(Scenario::check(document)?)
}
