//! The scenario of a page: checked, and within what a browser may ask for.

use std::sync::Arc;

use cwnd::Span;
use cwnd_run::address::{AddressError, Linked, MOST_FLOWS, Recording};
use cwnd_run::scenario::{Place, Scenario, ScenarioError};
use serde_json::{Value, json};
use thiserror::Error;

use crate::message::Frame;
use crate::presets::PRESETS;

/// Why a scenario of a page is not run.
#[derive(Debug, Error)]
pub enum PageError {
    /// It cannot be written as TOML, with the reason.
    #[error("this scenario is not TOML: {0}")]
    Document(String),
    /// It is in an address that has none.
    #[error(transparent)]
    Address(#[from] AddressError),
    /// It names a file.
    #[error("a scenario in the browser reads no files: take `trace` out of it, and run it with `cwnd run`")]
    Files,
    /// It has more flows than a browser may ask for.
    #[error("{given} flows are too many for the browser: accepted is at most {MOST_FLOWS}; `cwnd run` takes more")]
    Flows {
        /// How many it has.
        given: u64,
    },
    /// It is no valid scenario.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
}

/// A checked document and its runs.
pub struct Prepared {
    /// The document as TOML.
    pub toml: String,
    /// Each group of flows is alone.
    pub apart: bool,
    /// The scenarios with their labels: one, or one for each group of flows.
    pub scenarios: Vec<(String, Arc<Scenario>)>,
}

impl PageError {
    /// The answer that says so.
    pub fn frame(&self, id: u32) -> Frame {
        let mut header = json!({ "kind": "error", "id": id, "message": self.to_string() });
        if let Self::Scenario(error) = self {
            header["message"] = json!(error.fault.to_string());
            if let Place::File(at) = &error.place {
                header["place"] = json!({ "line": at.line, "column": at.column, "width": at.width, "text": at.text });
            }
        }
        header.into()
    }
}

impl Prepared {
    /// Reads and checks a document of a page. Each group of flows is alone if `apart`; the state is recorded often enough for the page.
    ///
    /// # Errors
    /// The document is no scenario, or none that a page may run.
    pub fn of(document: &Value, apart: bool) -> Result<Self, PageError> {
        let toml = to_toml(document)?;
        let whole = scenario(NAME, &toml, document, &[])?;
        let overrides = [format!("sampling={}ns", sampling(&whole))];
        let groups = &whole.document().flow;
        if !apart || groups.len() < 2 {
            let scenario = scenario(NAME, &toml, document, &overrides)?;
            return Ok(Self { toml, apart, scenarios: vec![(String::new(), Arc::new(scenario))] });
        }
        let alone = groups.iter().enumerate().map(|(index, group)| {
            let mut document = document.clone();
            if let Some(flows) = document["flow"].as_array_mut() {
                *flows = vec![flows[index].take()];
            }
            let scenario = scenario(NAME, &to_toml(&document)?, &document, &overrides)?;
            let label = group.name.clone().unwrap_or_else(|| group.algorithm.text().trim().to_string());
            Ok((label, Arc::new(scenario)))
        });
        let scenarios = alone.collect::<Result<_, PageError>>()?;
        Ok(Self { toml, apart, scenarios })
    }
}

/// A document as TOML.
pub(crate) fn to_toml(document: &Value) -> Result<String, PageError> {
    let refused = |error: &dyn std::fmt::Display| PageError::Document(error.to_string());
    let table: toml::Value = serde_json::from_value(document.clone()).map_err(|error| refused(&error))?;
    toml::to_string(&table).map_err(|error| refused(&error))
}

/// The scenario in `text`, which is `document` as TOML, checked.
///
/// # Errors
/// It is no scenario, or none that a page may run.
pub fn scenario(name: &str, text: &str, document: &Value, overrides: &[String]) -> Result<Scenario, PageError> {
    check_size(document)?;
    Ok(Scenario::read(name, text, overrides)?)
}

/// What a browser may not ask for, before anything is made of it: the program's own limits are those of the machine.
fn check_size(document: &Value) -> Result<(), PageError> {
    let links = document["link"].as_array().into_iter().flatten();
    if links.chain([&document["dumbbell"]]).any(|link| link.get("trace").is_some()) {
        return Err(PageError::Files);
    }
    let groups = ["flow", "cbr"].into_iter().flat_map(|key| document[key].as_array().into_iter().flatten());
    let given = groups.fold(0_u64, |sum, group| sum.saturating_add(group["count"].as_u64().unwrap_or(1)));
    if given > MOST_FLOWS { Err(PageError::Flows { given }) } else { Ok(()) }
}

/// A TOML document with the keys that it has, checked.
///
/// # Errors
/// It is no scenario, or none that a page may run.
pub fn read(text: &str) -> Result<Value, PageError> {
    checked(text).map(|(document, _)| document)
}

/// The document of [`read`], and the scenario that it describes.
fn checked(text: &str) -> Result<(Value, Scenario), PageError> {
    let table = text.parse::<toml::Table>().ok().and_then(|table| serde_json::to_value(table).ok());
    // Text that is no TOML is refused below, with its place.
    let document = table.unwrap_or(Value::Null);
    let scenario = scenario("scenario.toml", text, &document, &[])?;
    Ok((document, scenario))
}

/// The document of a text; that of a preset if both describe one scenario. The links of reports have every key with its default, and the page
/// compares documents key by key.
fn recognised(text: &str) -> Result<Value, PageError> {
    let (document, scenario) = checked(text)?;
    let title = scenario.document().title.as_deref().unwrap_or_default();
    let named = PRESETS.iter().filter(|preset| !title.is_empty() && preset.text.contains(title));
    let mut read = named.filter_map(|preset| checked(preset.text).ok());
    let described = scenario.document().to_toml();
    Ok(read.find(|(_, preset)| preset.document().to_toml() == described).map_or(document, |(preset, _)| preset))
}

/// The answer to a request for the scenario of a text.
#[must_use]
pub fn read_text(id: u32, text: &str) -> Frame {
    document(id, recognised(text), false)
}

/// The answer to a request for the scenario of an address.
#[must_use]
pub fn read_address(id: u32, address: &str) -> Frame {
    match Linked::read(address) {
        Ok(linked) => {
            let mut frame = document(id, recognised(&linked.toml), linked.apart);
            frame.header["cursor"] = json!(linked.cursor.map(Span::as_secs_f64));
            frame.header["recorded"] = linked.recorded.iter().map(recording).collect();
            frame.header["digest"] = json!(linked.digest.map(|digest| format!("{digest:016x}")));
            frame
        }
        Err(error) => PageError::from(error).frame(id),
    }
}

/// A recorded flow as the page draws it: times in seconds, goodput in Mbit/s.
fn recording(one: &Recording) -> Value {
    let goodput: Vec<Option<f64>> = one.goodput.iter().map(|kbps| kbps.map(|kbps| f64::from(kbps) * 1e-3)).collect();
    json!({ "label": one.label, "every": f64::from(one.every_ms) * 1e-3, "window": one.window, "goodput": goodput })
}

fn document(id: u32, read: Result<Value, PageError>, apart: bool) -> Frame {
    match read {
        Ok(document) => json!({ "kind": "document", "id": id, "document": document, "apart": apart }).into(),
        Err(refusal) => refusal.frame(id),
    }
}

/// The sampling interval, nanoseconds: a point for every second pixel of a wide screen, and short enough for the measures.
fn sampling(scenario: &Scenario) -> u64 {
    (scenario.duration().as_nanos() / POINTS).clamp(1_000_000, 200_000_000)
}

/// The name of a page's scenario in errors.
const NAME: &str = "live.toml";
/// Of a curve.
pub(crate) const POINTS: u64 = 800;
