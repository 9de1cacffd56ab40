//! The numbers that a paper printed, and the assumptions for what it leaves open: `papers/ID/published.toml`.

use std::collections::BTreeMap;
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::grid::Grid;
use super::quantity::Quantity;
use super::settings::Scale;
use super::tolerance::Tolerance;
use super::verdict::Basis;
use cwnd_run::scenario::{Fault, ScenarioError, Source};

/// A paper's numbers, the gaps in its description, and how its runs are shortened.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Published {
    /// The paper itself.
    pub paper: Paper,
    /// The assumptions for what the paper leaves open.
    #[serde(default)]
    pub assumption: Vec<Assumption>,
    /// The changes of `--quick` to a scenario: overrides as for `--set`, by the name of the scenario.
    #[serde(default)]
    pub quick: BTreeMap<String, Vec<String>>,
    /// Printed numbers that several results share; their runners know the shape.
    #[serde(default)]
    pub data: toml::Table,
    /// Every table, figure and checkable claim.
    pub result: Vec<PublishedResult>,
}

/// A paper.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Paper {
    /// Its name here: `simd`.
    pub id: String,
    /// Its title.
    pub title: String,
    /// Its authors.
    pub authors: Vec<String>,
    /// Where and when it appeared.
    pub venue: String,
    /// The simulator or implementation of its authors.
    pub simulator: String,
    /// The profiles of its algorithm that stand before the ids of rows: `ns2-2.2: flow 1`.
    #[serde(default)]
    pub profiles: Vec<String>,
}

/// Something that the paper leaves open, and the value used instead.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Assumption {
    /// The key for `--set`.
    pub key: String,
    /// The assumed value.
    pub value: toml::Value,
    /// The value for `--quick`, where `value` would take long.
    #[serde(default)]
    pub quick: Option<toml::Value>,
    /// Other possible values: each is run in its place, and the changes are shown (`cargo xtask papers alternatives ID`).
    #[serde(default)]
    pub alternatives: Vec<toml::Value>,
    /// Why a guess has no alternatives.
    #[serde(default)]
    pub no_alternative: Option<String>,
    /// Whether `--set` cannot replace it: rows have its values in their names, or its runner draws what it describes.
    #[serde(default)]
    pub fixed: bool,
    /// The keys it sets, by scenario. None for what a runner reads itself.
    #[serde(default)]
    pub sets: BTreeMap<String, Vec<String>>,
    /// The information that the paper leaves open.
    pub missing: String,
    /// The reason for this value.
    pub basis: String,
    /// The confidence in it.
    pub confidence: Confidence,
    /// The results that depend on it.
    pub results: Vec<String>,
}

/// The basis of an assumption.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum Confidence {
    /// Found in another text of the authors, in their code, or in the simulator's.
    Sourced,
    /// Follows from other numbers of the paper.
    Inferred,
    /// The usual choice.
    Guess,
}

/// A table, a figure, or a claim of the text.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublishedResult {
    /// Its name: `table-3`.
    pub id: String,
    /// A title, one line.
    pub title: String,
    /// Where it is printed.
    pub source: String,
    /// The treatment of its rows.
    #[serde(default)]
    pub kind: Kind,
    /// Why it is not compared.
    #[serde(default)]
    pub why: Option<String>,
    /// The scenarios in the same directory that it runs.
    #[serde(default)]
    pub scenarios: Vec<String>,
    /// The table that its rows are printed in.
    #[serde(default)]
    pub grid: Option<Grid>,
    /// Its rows.
    #[serde(default)]
    pub rows: Vec<PublishedRow>,
    /// Printed numbers that are no rows of their own; its runner knows their shape.
    #[serde(default)]
    pub data: toml::Table,
}

/// One published number or statement.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublishedRow {
    /// Its subject; unique within the result.
    pub id: String,
    /// The printed value.
    #[serde(default)]
    pub published: Option<Value>,
    /// The basis of the comparison, where `published` does not determine it: see [`PublishedRow::basis`].
    #[serde(default)]
    pub basis: Option<Basis>,
    /// By how much a number of a figure may be wrong, in its unit.
    #[serde(default)]
    pub reading_error: Option<f64>,
    /// Its unit; empty for a plain number.
    #[serde(default)]
    pub unit: String,
    /// The kind of quantity, which decides when the row counts as reproduced.
    #[serde(default)]
    pub quantity: Option<Quantity>,
    /// The values that count as reproduced. The file has it only for a bound, an order and an `exception`; else the rule of `quantity`
    /// makes it.
    #[serde(default)]
    pub tolerance: Option<Tolerance>,
    /// Why it has a tolerance of its own instead of that of a kind of quantity.
    #[serde(default)]
    pub exception: Option<String>,
    /// The treatment, if it differs from that of the result.
    #[serde(default)]
    pub kind: Option<Kind>,
    /// Why it is not compared.
    #[serde(default)]
    pub why: Option<String>,
    /// Why ours differs, where it does: a sentence that `experiment` shows to be true, or that `open` leaves so.
    #[serde(default)]
    pub reason: Option<String>,
    /// The one change by which it matches.
    #[serde(default)]
    pub experiment: Option<Experiment>,
    /// States that the reason is not known, and the attempts to find it.
    #[serde(default)]
    pub open: Option<String>,
}

/// One change of one thing by which a row that misses matches.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct Experiment {
    /// An assumption and its value, as for `cwnd paper ID RESULT --set`: `short-access-rtt=5ms`.
    #[serde(default)]
    pub set: Option<String>,
    /// For rows `paper` of daimd: the change of one rule, as `cargo xtask papers ablate` names it: `delay_warnings=off`.
    #[serde(default)]
    pub rule: Option<String>,
    /// At full length. Alone: a miss of `--quick` that `--full` does not have.
    #[serde(default)]
    pub full: bool,
    /// It takes long: `cargo xtask test --long experiments` runs it, the ordinary tests do not.
    #[serde(default)]
    pub slow: bool,
}

/// A number or words.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Value {
    /// A number, in the unit of its row.
    Number(f64),
    /// Words.
    Text(String),
}

/// The treatment of a result or a row.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Compared with ours.
    #[default]
    Compared,
    /// There is nothing to compare.
    Illustration,
    /// The paper does not say enough, or contradicts itself.
    NotReproducible,
}

impl Published {
    /// The results with rows in the table of `result`, those that `grid` names first: papers print the measures of single flows above their
    /// indices.
    pub(super) fn printed_with<'a>(&'a self, grid: &'a Grid, result: &'a PublishedResult) -> Vec<&'a PublishedResult> {
        grid.with.iter().filter_map(|id| self.result(id)).chain([result]).collect()
    }

    /// The fault of `grid` as the table of `result`, if it has one.
    fn grid_fault(&self, grid: &Grid, result: &PublishedResult) -> Option<String> {
        if let Some(unknown) = grid.with.iter().find(|id| self.result(id).is_none()) {
            return Some(format!("the table of `{}` is with `{unknown}`, which is no result", result.id));
        }
        let rows = self.printed_with(grid, result).into_iter().flat_map(|result| &result.rows);
        grid.fault(&result.id, rows.map(|row| self.paper.of_profile(&row.id)))
    }

    /// Reads the text of a file called `name`.
    ///
    /// # Errors
    /// `text` is no TOML, has an unknown key, or a row contradicts itself: the first place, with its line.
    pub(crate) fn read(name: &str, text: &str) -> Result<Self, ScenarioError> {
        let source = Source::read(name, text, &[])?;
        let mut published: Self = source.document()?;
        if let Some((key, reason)) = published.fault() {
            return Err(ScenarioError { place: source.place_of(&key), fault: Fault::Document(reason) });
        }
        for row in published.result.iter_mut().flat_map(|result| &mut result.rows) {
            row.tolerance = row.tolerance.take().or_else(|| row.made());
        }
        Ok(published)
    }

    /// The result called `id`.
    #[must_use]
    pub fn result(&self, id: &str) -> Option<&PublishedResult> {
        self.result.iter().find(|result| result.id == id)
    }

    /// The first contradiction, with the key it is at.
    fn fault(&self) -> Option<(String, String)> {
        for (at, result) in self.result.iter().enumerate() {
            let key = format!("result.{at}");
            if self.result[..at].iter().any(|other| other.id == result.id) {
                return Some((format!("{key}.id"), format!("there is another result `{}`", result.id)));
            }
            if result.kind != Kind::Compared && result.why.is_none() {
                return Some((key, format!("`{}` is not compared and does not say `why`", result.id)));
            }
            if result.kind == Kind::Compared && result.rows.is_empty() {
                return Some((key, format!("`{}` is compared and has no `rows`", result.id)));
            }
            let fault = (0..result.rows.len()).find_map(|row| result.row_fault(row).map(|reason| (row, reason)));
            if let Some((row, reason)) = fault {
                return Some((format!("{key}.rows.{row}"), reason));
            }
            if let Some(reason) = result.grid.as_ref().and_then(|grid| self.grid_fault(grid, result)) {
                return Some((format!("{key}.grid"), reason));
            }
        }
        for (at, assumption) in self.assumption.iter().enumerate() {
            let key = format!("assumption.{at}");
            if self.assumption[..at].iter().any(|other| other.key == assumption.key) {
                return Some((format!("{key}.key"), format!("there is another assumption `{}`", assumption.key)));
            }
            if let Some(unknown) = assumption.results.iter().find(|id| self.result(id).is_none()) {
                return Some((format!("{key}.results"), format!("there is no result `{unknown}`")));
            }
            if !matches!(assumption.value, toml::Value::Table(_) | toml::Value::Datetime(_)) {
                continue;
            }
            return Some((format!("{key}.value"), "a number, a text or a list is assumed".to_string()));
        }
        None
    }
}

impl Paper {
    /// The profile before the id of a row, if it is one of this paper's, and the rest of the id.
    #[must_use]
    pub fn of_profile<'a>(&self, row: &'a str) -> (Option<&'a str>, &'a str) {
        match row.split_once(": ") {
            Some((profile, rest)) if self.profiles.iter().any(|known| known == profile) => (Some(profile), rest),
            _ => (None, row),
        }
    }
}

impl PublishedRow {
    /// The basis of its comparison: a printed number where it has a `published` number, else a claim, unless `basis` states another.
    #[must_use]
    pub fn basis(&self) -> Basis {
        let number = self.published.as_ref().and_then(Value::number);
        self.basis.unwrap_or(if number.is_some() { Basis::Printed } else { Basis::Claim })
    }

    /// The published value, without its unit, and marked where the paper does not print it: `0.842 (derived)`, `0.47 (figure, ± 0.01)`.
    #[must_use]
    pub fn published_text(&self) -> String {
        self.published
            .as_ref()
            .map_or_else(|| NO_VALUE.to_string(), |value| marked(value.to_string(), self.basis(), self.reading_error))
    }

    /// The published value with its unit, marked as in [`PublishedRow::published_text`]: `92.5 Mbit/s (derived)`.
    #[must_use]
    pub fn published_with_unit(&self) -> String {
        marked(with_its_unit(self.published.as_ref(), &self.unit), self.basis(), self.reading_error)
    }

    /// The reason why ours differs, with the experiment that shows it, or with the open question; none where nothing is recorded.
    #[must_use]
    pub fn reason_text(&self) -> Option<String> {
        let reason = self.reason.as_deref();
        match (&self.experiment, &self.open) {
            (Some(experiment), _) => Some(format!("{} [{experiment}]", reason.unwrap_or_default())),
            (None, Some(open)) => {
                Some(reason.map_or_else(|| format!("open: {open}"), |one| format!("{one}; open: {open}")))
            }
            (None, None) => reason.map(str::to_string),
        }
    }

    /// The tolerance that the rule of its quantity makes.
    fn made(&self) -> Option<Tolerance> {
        let number = self.published.as_ref().and_then(Value::number);
        self.quantity?.tolerance(number, &self.statement())
    }

    fn statement(&self) -> String {
        self.published.as_ref().map_or_else(String::new, ToString::to_string)
    }

    /// The fault of a row that counts as reproduced, if any.
    fn tolerance_fault(&self) -> Option<String> {
        let id = &self.id;
        match (self.quantity, &self.tolerance, &self.exception) {
            (None, None, _) => Some(format!("row `{id}` is compared and has no `quantity`")),
            (None, Some(_), None) => Some(format!(
                "row `{id}` has a `tolerance` of its own, and neither a `quantity` nor an `exception` that says why"
            )),
            (None, Some(_), Some(_)) => None,
            (Some(_), _, Some(_)) => Some(format!("row `{id}` has a `quantity` and is no `exception`")),
            (Some(quantity), Some(tolerance), None) => (!quantity.allows(tolerance, &self.statement()))
                .then(|| format!("the tolerance of row `{id}` is not one of its `quantity`: {}", quantity.expected())),
            (Some(quantity), None, None) => {
                self.made().is_none().then(|| format!("the `quantity` of row `{id}` needs {}", quantity.needs()))
            }
        }
    }

    /// The fault of its reason, if any.
    fn reason_fault(&self) -> Option<String> {
        let (id, one_change) = (&self.id, self.experiment.as_ref().map(Experiment::is_one_change));
        match (&self.reason, one_change, &self.open) {
            (_, Some(false), _) => {
                Some(format!("the experiment of row `{id}` is one change: `set`, `rule`, or `full` alone"))
            }
            (_, Some(_), Some(_)) => Some(format!("row `{id}` has an `experiment` and is not `open`")),
            (None, Some(_), _) => Some(format!("row `{id}` has an `experiment` and no `reason`")),
            _ => None,
        }
    }
}

/// A published value; a statement has no unit.
pub(super) fn with_its_unit(published: Option<&Value>, unit: &str) -> String {
    match published {
        None => NO_VALUE.to_string(),
        Some(Value::Text(text)) => text.clone(),
        Some(Value::Number(value)) => with_unit(value.to_string(), unit),
    }
}

pub(super) fn with_unit(number: String, unit: &str) -> String {
    if unit.is_empty() { number } else { format!("{number} {unit}") }
}

/// A published value with its basis.
pub(super) fn marked(text: String, basis: Basis, reading_error: Option<f64>) -> String {
    match (basis.mark(), reading_error) {
        ("", _) => text,
        (mark, None) => format!("{text} ({mark})"),
        (mark, Some(error)) => format!("{text} ({mark}, ± {error})"),
    }
}

impl Experiment {
    fn is_one_change(&self) -> bool {
        match (&self.set, &self.rule) {
            (Some(_), Some(_)) => false,
            (None, None) => self.full,
            _ => true,
        }
    }
}

impl fmt::Display for Experiment {
    /// The change by which the row matches, as it is given to `cwnd paper`.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("it matches with")?;
        if self.full {
            out.write_str(" --full")?;
        }
        match (&self.set, &self.rule) {
            (Some(set), _) => write!(out, " --set {set}"),
            (None, Some(rule)) => write!(out, " {rule} alone (`cargo xtask papers ablate`)"),
            (None, None) => Ok(()),
        }
    }
}

impl PublishedResult {
    fn row_fault(&self, at: usize) -> Option<String> {
        let row = &self.rows[at];
        let id = &row.id;
        if self.rows[..at].iter().any(|other| other.id == *id) {
            return Some(format!("there is another row `{id}`"));
        }
        let kind = row.kind.unwrap_or(self.kind);
        let number = row.published.as_ref().and_then(Value::number);
        let compares = row.tolerance.is_some() || row.quantity.is_some();
        match (compares, kind) {
            (_, Kind::Compared) => {
                let tolerance = row.tolerance.as_ref();
                let needs = tolerance.is_some_and(Tolerance::needs_published) && number.is_none();
                let fault = tolerance.and_then(Tolerance::fault).map(str::to_string);
                fault
                    .or_else(|| needs.then(|| format!("the tolerance of row `{id}` needs a `published` number")))
                    .or_else(|| row.tolerance_fault())
                    .or_else(|| row.reason_fault())
                    .or_else(|| {
                        let figure = row.basis() == Basis::Figure;
                        (figure != row.reading_error.is_some()).then(|| {
                            format!("row `{id}`: a `reading_error` is that of a row whose `basis` is `figure`")
                        })
                    })
            }
            (true, Kind::Illustration | Kind::NotReproducible) => {
                Some(format!("row `{id}` is not compared and has a `tolerance`"))
            }
            (false, _) if row.why.is_none() && self.why.is_none() => {
                Some(format!("row `{id}` is not compared and does not say `why`"))
            }
            (false, _) => None,
        }
    }
}

impl Value {
    /// The number, if it is one.
    #[must_use]
    pub fn number(&self) -> Option<f64> {
        match self {
            Self::Number(number) => Some(*number),
            Self::Text(_) => None,
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(out, "{number}"),
            Self::Text(text) => out.write_str(text),
        }
    }
}

impl Assumption {
    /// Its value at a scale, as `--set` would write it.
    #[must_use]
    pub fn text(&self, scale: Scale) -> String {
        match self.quick.as_ref().filter(|_| scale == Scale::Quick).unwrap_or(&self.value) {
            toml::Value::String(text) => text.clone(),
            other => other.to_string(),
        }
    }

    /// Whether `text`, as `--set` has it, is of the kind of its value; numbers are finite and not negative. Text is whatever its scenario or
    /// runner makes of it.
    #[must_use]
    pub fn accepts(&self, text: &str) -> bool {
        matches!(self.value, toml::Value::String(_))
            || toml::de::ValueDeserializer::parse(text)
                .and_then(toml::Value::deserialize)
                .is_ok_and(|value| kind(&value) == kind(&self.value) && is_amount(&value))
    }

    /// The value or range that is accepted in its place, as the end of a sentence.
    #[must_use]
    pub fn expected(&self, scale: Scale) -> String {
        format!("expected {}, such as `{}`", kind(&self.value), self.text(scale))
    }
}

/// Whether all its numbers are finite and not negative.
fn is_amount(value: &toml::Value) -> bool {
    match value {
        toml::Value::Array(list) => list.iter().all(is_amount),
        toml::Value::Float(number) => number.is_finite() && *number >= 0.0,
        toml::Value::Integer(number) => *number >= 0,
        _ => true,
    }
}

fn kind(value: &toml::Value) -> &'static str {
    match value {
        toml::Value::Array(list) => match list.first() {
            Some(toml::Value::String(_)) => "a list of texts in quotes",
            _ => "a list of numbers of at least 0",
        },
        toml::Value::Boolean(_) => "true or false",
        toml::Value::Float(_) | toml::Value::Integer(_) => "a number of at least 0",
        _ => "text",
    }
}

pub(super) const NO_VALUE: &str = "–";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_assumption_is_replaced_by_one_of_its_kind() {
        let assumption = |value: &str| -> Assumption {
            let text =
                format!("key = 'k'\nvalue = {value}\nmissing = 'm'\nbasis = 'b'\nconfidence = 'guess'\nresults = []");
            toml::from_str(&text).expect("an assumption")
        };
        let number = assumption("0.5");
        assert!(number.accepts("3") && number.accepts("1e-3") && number.accepts("0"));
        assert!(["abc", "[1]", "-1", "nan", "inf", "-0.5"].iter().all(|wrong| !number.accepts(wrong)));
        assert_eq!(number.expected(Scale::Full), "expected a number of at least 0, such as `0.5`");
        let list = assumption("[1, 2]");
        assert!(list.accepts("[0.5]") && !list.accepts("0.5") && !list.accepts("['x']") && !list.accepts("[1, nan]"));
        assert_eq!(list.expected(Scale::Full), "expected a list of numbers of at least 0, such as `[1, 2]`");
        assert!(assumption("'50p'").accepts("anything"), "its scenario judges it");
    }

    const HEAD: &str = "[paper]\nid = \"x\"\ntitle = \"X\"\nauthors = [\"A\"]\nvenue = \"V\"\nsimulator = \"S\"\n";

    fn fault(rest: &str) -> String {
        Published::read("published.toml", &format!("{HEAD}{rest}")).expect_err("it is wrong").to_string()
    }

    const RESULT: &str = "[[result]]\nid = \"t\"\ntitle = \"T\"\nsource = \"Table 1\"\n";

    #[test]
    fn errors_name_the_file_the_line_and_what_is_wrong() {
        let row = |row: &str| fault(&format!("{RESULT}rows = [\n  {{ id = \"a\", {row} }},\n]\n"));
        assert!(row("published = 1").starts_with("published.toml:12:3: row `a` is compared and has no `quantity`"));
        assert!(row("published = 1, tolerance = { at-most = 2 }").contains("neither a `quantity` nor an `exception`"));
        assert!(row("published = 1, quantity = \"rate\", tolerance = { at-most = 2 }").contains("none is stated"));
        assert!(
            row("published = \"above 3\", quantity = \"bound\", tolerance = { above = 2 }").contains("a number that")
        );
        assert!(row("published = \"fast\", quantity = \"rate\"").contains("needs a `published` number"));
        assert!(row("published = 1, quantity = \"rat\"").contains("did you mean `rate`?"));
        assert!(
            row("published = 1, quantity = \"rate\", reason = \"r\", experiment = { slow = true }")
                .contains("one change")
        );
        assert!(row("tolerance = { relative = 0.1 }").contains("needs a `published` number"));
        assert!(row("tolerance = { ratio-within = 1 }, published = 2").contains("a ratio is above 1"));
        assert!(row("kind = \"illustration\"").contains("does not say `why`"));
        assert!(row("tolerance = { relativ = 0.1 }").contains("did you mean `relative`?"));
        assert!(fault(RESULT).contains("is compared and has no `rows`"));
        assert!(fault(&format!("{RESULT}kind = \"illustration\"\n")).contains("does not say `why`"));
        assert!(fault(&format!("{RESULT}unit = \"s\"\n")).starts_with("published.toml:11:1: unknown key `unit`"));
    }
}
