//! Pages generated from the code.

use clap::ValueEnum;
use cwnd_lab::sweep;
use cwnd_report::{crossed, reference, reproduced};
use cwnd_run::files::to_json;
use cwnd_run::scenario;

use crate::failure::Failure;

/// A generated page of the documentation. The repository has an index of each; `cargo xtask book` writes the whole.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Page {
    /// Every algorithm
    Algorithms,
    /// Every check of `cwnd conform`
    Conform,
    /// Every algorithm of the papers on the experiments of all
    Cross,
    /// Every key of `--json`
    Json,
    /// Every notation of the form `name:key=value`
    Notation,
    /// Every paper with its rows
    Papers,
}

/// The documents that have a JSON schema.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Schema {
    /// Files for `cwnd run`
    Scenario,
    /// Files for `cwnd sweep`
    Sweep,
}

/// The text of a page.
pub(crate) fn page(page: Page) -> Result<String, Failure> {
    Ok(match page {
        Page::Algorithms => reference::algorithms(),
        Page::Conform => cwnd_conform::reference::page(),
        Page::Cross => crossed::page()?,
        Page::Json => reference::json(),
        Page::Notation => scenario::notation(),
        Page::Papers => reproduced::papers()?,
    })
}

/// A JSON Schema.
pub(crate) fn schema(of: Schema) -> String {
    match of {
        Schema::Scenario => to_json(&scenario::schema()),
        Schema::Sweep => to_json(&sweep::schema()),
    }
}
