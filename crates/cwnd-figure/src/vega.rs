//! Vega in QuickJS: a specification becomes SVG.

use std::rc::Rc;

use rquickjs::{CatchResultExt, CaughtError, Context, Error, Function, Object, Runtime};
use serde_json::Value;

use crate::{FigureError, Fonts};

/// The sources of Vega and Vega-Lite.
#[derive(Clone, Copy, Debug)]
pub struct Libraries<'a> {
    /// `vega.min.js`.
    pub vega: &'a str,
    /// `vega-lite.min.js`.
    pub vega_lite: &'a str,
}

/// The picture. Text is measured in the font `family`.
pub(crate) fn svg(
    spec: &Value,
    libraries: Libraries<'_>,
    fonts: &Rc<Fonts>,
    family: &str,
) -> Result<String, FigureError> {
    let drawing = |error: Error| FigureError::Drawing(error.to_string());
    let runtime = Runtime::new().map_err(drawing)?;
    runtime.set_max_stack_size(STACK);
    let context = Context::full(&runtime).map_err(drawing)?;
    context.with(|ctx| {
        let run = |code: &str| {
            ctx.eval::<(), _>(code)
                .catch(&ctx)
                .map_err(|error: CaughtError<'_>| FigureError::Drawing(error.to_string()))
        };
        let (fonts, family) = (Rc::clone(fonts), family.to_string());
        let width = move |text: String, size: f64, bold: bool| fonts.width(&text, &family, size, bold);
        let width = Function::new(ctx.clone(), width).map_err(drawing)?;
        ctx.globals().set("text_width", width).map_err(drawing)?;
        ctx.globals().set("specification", spec.to_string()).map_err(drawing)?;
        [BEFORE, libraries.vega, libraries.vega_lite, DRAW].into_iter().try_for_each(run)
    })?;
    while runtime.is_job_pending() {
        runtime.execute_pending_job().map_err(|_| FigureError::Drawing("a task of Vega failed".to_string()))?;
    }
    context.with(|ctx| {
        let result: Object<'_> = ctx.globals().get("result").map_err(drawing)?;
        match result.get::<_, Option<String>>("svg").map_err(drawing)? {
            Some(svg) => Ok(svg),
            None => {
                let error: Option<String> = result.get("error").map_err(drawing)?;
                Err(FigureError::Drawing(error.unwrap_or_else(|| "Vega did not finish".to_string())))
            }
        }
    })
}

/// What Vega expects of a browser.
const BEFORE: &str = r"
globalThis.self = globalThis;
globalThis.console = { log() {}, warn() {}, error() {}, info() {}, debug() {} };
globalThis.setTimeout = (task) => (Promise.resolve().then(task), 0);
globalThis.clearTimeout = () => {};
globalThis.structuredClone ??= (value) => {
  if (Array.isArray(value)) return value.map(structuredClone);
  if (value instanceof Date) return new Date(value);
  if (value instanceof Set) return new Set([...value].map(structuredClone));
  if (value instanceof Map) return new Map([...value].map(([key, inner]) => [key, structuredClone(inner)]));
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, structuredClone(inner)]));
};
";

/// Draws the specification, with the widths of the font in place of Vega's estimate.
const DRAW: &str = r"
globalThis.result = {};
{
  const metrics = vega.textMetrics;
  const bold = (item) => item.fontWeight === 'bold' || item.fontWeight >= 600;
  metrics.width = (item, text) => {
    const line = text === undefined ? item.text : text;
    return line === null || line === undefined || line === ''
      ? 0 : text_width(String(line), metrics.height(item), bold(item));
  };
  const compiled = vegaLite.compile(JSON.parse(specification)).spec;
  const view = new vega.View(vega.parse(compiled), { renderer: 'none' });
  view.toSVG().then((svg) => { result.svg = svg; }, (error) => { result.error = String(error); });
}
";

/// Bytes; plots of many flows are nested deeply.
const STACK: usize = 4 << 20;
