//! The assets of every page: style, scripts, libraries, and the data of its plots.

use askama::Template;
use serde_json::{Value, json};

use crate::plot::{DataSet, Plot, SCHEMA, config};

/// The page as text.
pub(super) fn render(page: &impl Template) -> String {
    page.render().expect("text is written into memory")
}

/// The input of the script of the page: its plots, and the data sets that have no plot.
pub(super) fn data<'a>(plots: impl IntoIterator<Item = &'a Plot>, more: &[DataSet]) -> String {
    let plots: Vec<Value> = plots.into_iter().map(Plot::json).collect();
    let tables: Vec<Value> = more.iter().map(DataSet::json).collect();
    let data = json!({ "plots": plots, "tables": tables, "schema": SCHEMA, "config": config() });
    // No text of the data can end the element it stands in.
    data.to_string().replace('<', "\\u003c")
}

/// The code of Vega and of Vega-Lite.
#[must_use]
pub fn vega() -> (&'static str, &'static str) {
    (VEGA, VEGA_LITE)
}

/// The code of the plotting libraries.
pub(super) fn libraries() -> impl Iterator<Item = &'static str> {
    // The source maps are not on the page, so nothing may ask for them.
    [VEGA, VEGA_LITE, VEGA_EMBED].into_iter().filter_map(|code| code.split("\n//# sourceMappingURL=").next())
}

pub(super) const STYLE: &str = include_str!("../../assets/report.css");
pub(super) const SCRIPT: &str = include_str!("../../assets/report.js");
pub(super) const LICENCES: &str = include_str!("../../assets/vendor/LICENSE");
const VEGA: &str = include_str!("../../assets/vendor/vega.min.js");
const VEGA_LITE: &str = include_str!("../../assets/vendor/vega-lite.min.js");
const VEGA_EMBED: &str = include_str!("../../assets/vendor/vega-embed.min.js");
