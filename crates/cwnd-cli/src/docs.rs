//! Pages generated from the code.

use clap::ValueEnum;
use cwnd_lab::output::{reference, reproduced, to_json};
use cwnd_lab::scenario;

use crate::failure::Failure;

/// A generated page of the documentation.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Page {
    /// docs/algorithms.md
    Algorithms,
    /// docs/json.md
    Json,
    /// docs/papers.md
    Papers,
}

/// The text of a page.
pub(crate) fn page(page: Page) -> Result<String, Failure> {
    Ok(match page {
        Page::Algorithms => reference::algorithms(),
        Page::Json => reference::json(),
        Page::Papers => reproduced::papers()?,
    })
}

/// The JSON Schema of scenarios.
pub(crate) fn schema() -> String {
    to_json(&scenario::schema())
}
