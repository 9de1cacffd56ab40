//! Pages generated from the code.

use clap::ValueEnum;
use cwnd_lab::output::{reference, to_json};
use cwnd_lab::scenario;

/// A generated page of the documentation.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Page {
    /// docs/algorithms.md
    Algorithms,
    /// docs/json.md
    Json,
}

/// The text of a page.
pub(crate) fn page(page: Page) -> String {
    match page {
        Page::Algorithms => reference::algorithms(),
        Page::Json => reference::json(),
    }
}

/// The JSON Schema of scenarios.
pub(crate) fn schema() -> String {
    to_json(&scenario::schema())
}
