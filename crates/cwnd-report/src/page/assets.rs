//! The assets of every page: style, scripts, libraries, and the data of its plots.

use std::borrow::Cow;

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

/// The scripts of a page with plots in their order: the plotting libraries and its own.
pub(super) fn each_script() -> [Cow<'static, str>; 5] {
    let [vega, lite, embed] = [VEGA, VEGA_LITE, VEGA_EMBED].map(|code| Cow::from(without_map(code)));
    [vega, lite, interpreter().into(), embed, SCRIPT.into()]
}

/// The code without the address of its source map, which is not on the page: nothing may ask for it.
fn without_map(code: &'static str) -> &'static str {
    code.split("\n//# sourceMappingURL=").next().unwrap_or(code)
}

/// The scripts of every page with plots as one.
#[must_use]
pub fn scripts() -> String {
    each_script().join(";\n")
}

/// The page with its scripts in `file` of its directory, which has [`scripts`]. Its policy lets no other script run.
#[must_use]
pub fn scripts_apart(page: &str, file: &str) -> String {
    let element = |code: &str| format!("<script>{code}</script>");
    let without = each_script().iter().fold(page.to_string(), |page, code| page.replacen(&element(code), "", 1));
    let page = without.replacen(INLINE, "script-src 'self'; ", 1);
    page.replacen("</body>", &format!("<script src=\"{file}\"></script></body>"), 1)
}

/// The interpreter of expressions as a script: with it a page may forbid `eval`. It is published as a module alone.
fn interpreter() -> String {
    let (import, export) = (" } from 'vega-util';", "export { expression as expressionInterpreter };");
    let body = without_map(VEGA_INTERPRETER).replacen("import {", "const {", 1).replacen(import, " } = vega;", 1);
    format!("(() => {{{}}})()", body.replacen(export, "vega.expressionInterpreter = expression;", 1))
}

/// What the policy of a page with inline scripts says of them.
pub(super) const INLINE: &str = "script-src 'unsafe-inline'; ";
pub(super) const STYLE: &str = include_str!("../../assets/report.css");
const SCRIPT: &str = include_str!("../../assets/report.js");
/// The licences of the libraries in [`scripts`].
pub const LICENCES: &str = include_str!("../../assets/vendor/LICENSE");
const VEGA: &str = include_str!("../../assets/vendor/vega.min.js");
const VEGA_LITE: &str = include_str!("../../assets/vendor/vega-lite.min.js");
const VEGA_INTERPRETER: &str = include_str!("../../assets/vendor/vega-interpreter.js");
const VEGA_EMBED: &str = include_str!("../../assets/vendor/vega-embed.min.js");
