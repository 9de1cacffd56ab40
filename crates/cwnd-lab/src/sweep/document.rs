//! A sweep as it is written.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

use schemars::JsonSchema;
use serde::Deserialize;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::idle::Idle;
use super::{By, ByError, Outside, Point, Quantity, Sweep, Value, outside};
use cwnd_run::files::read_text;
use cwnd_run::scenario::{Document, Fault, Place, ScenarioError, Source};

/// A sweep of cwnd: a base scenario, and the settings that vary. Every setting of `[[cell]]` is run at every point of `[grid]`, with
/// every seed of the scenario.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Written {
    /// A title of this sweep, one line.
    #[serde(default)]
    title: Option<String>,
    /// The measure that its points are ranked by, such as `goodput_bps`, `loss_rate` or `queue_delay_p99_s`; `goodput_bps` if not given.
    /// It changes no run.
    #[serde(default)]
    by: Option<String>,
    /// The file of the base scenario, relative to this one; or `[base]`.
    #[serde(default)]
    scenario: Option<String>,
    /// The base scenario itself, with the keys of a scenario's file; or `scenario`.
    #[serde(default)]
    #[schemars(with = "Option<Document>")]
    base: Option<toml::Table>,
    /// Keys of the scenario, such as "dumbbell.rate" or "flow.0.algorithm", each with a list of values; all combinations are run.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, serde_json::Value>")]
    #[expect(dead_code, reason = "its shape is checked here; its values are taken from the source, with their places")]
    grid: toml::Table,
    /// Keys of the scenario, each with a value, which are set together.
    #[serde(default)]
    #[schemars(with = "Vec<BTreeMap<String, serde_json::Value>>")]
    #[expect(dead_code, reason = "its shape is checked here; its values are taken from the source, with their places")]
    cell: Vec<toml::Table>,
}

/// The JSON Schema of sweeps.
#[must_use]
pub fn schema() -> schemars::Schema {
    schemars::schema_for!(Written)
}

pub(super) fn read(
    name: &str,
    text: &str,
    directory: &Path,
    overrides: &[String],
    outside: Vec<Outside>,
) -> Result<Sweep, ScenarioError> {
    let source = Source::read(name, text, &[])?;
    let written: Written = source.document()?;
    let external = match (&written.scenario, &written.base) {
        (Some(file), None) => Some(external(&source, directory, file)?),
        (None, Some(_)) => None,
        (Some(_), Some(_)) => return Err(fault(source.place_of("base"), "both `scenario` and `[base]`: give one")),
        (None, None) => {
            let missing = "no base scenario: give `scenario = \"FILE.toml\"`, or write it below `[base]`";
            return Err(fault(source.place(0..0), missing));
        }
    };
    let base = match &external {
        Some((file, text)) => Source::read(file, text, &[])?,
        None => source.below("base").expect("it was read as a table"),
    };

    let by = written.by.map_or(Ok(By::default()), |by| by.parse());
    let by = by.map_err(|error: ByError| fault(source.place_of("by"), &error.to_string()))?;
    let mut settings = Settings { source: &source, outside: &outside, keys: Vec::new() };
    let mut listed = settings.listed()?;
    let mut axes = settings.axes(&listed)?;
    let keys = settings.keys;
    let merged = merge(&keys, &mut listed, &mut axes);
    for item in overrides {
        let key = item.split_once('=').map_or("", |(key, _)| key.trim());
        if keys.iter().any(|varied| varied == key) {
            return Err(fault(Place::Override(item.clone()), "the sweep gives this key its values"));
        }
    }
    let sweep = Sweep {
        title: written.title,
        by,
        file: external.as_ref().map_or(name, |(file, _)| file).to_owned(),
        base: toml::to_string(&base.with(overrides)?.document::<toml::Table>()?)
            .expect("a document that was read as TOML can be written"),
        listed: listed.iter().map(|set| set.iter().map(|(key, at)| (*key, at.value.clone())).collect()).collect(),
        axes: axes.iter().map(|(key, at)| (*key, at.iter().map(|at| at.value.clone()).collect())).collect(),
        keys,
        outside,
        points: Vec::new(),
        warnings: Vec::new(),
    };
    let (points, warnings) = points(&source, &base, overrides, &sweep, (&listed, &axes))?;
    Ok(Sweep { points, warnings: merged.into_iter().chain(warnings).collect(), ..sweep })
}

pub(super) fn write(sweep: &Sweep) -> String {
    let base: toml::Table = toml::from_str(&sweep.base).expect("it was written by this program");
    let mut root = toml::Table::new();
    root.extend(sweep.title.clone().map(|title| ("title".to_string(), title.into())));
    if sweep.by != By::default() {
        root.insert("by".to_string(), sweep.by.measure().key.into());
    }
    root.insert("base".to_string(), base.into());
    let mut text = toml::to_string(&root).expect("a document that was read as TOML can be written");
    let quoted = |key: &usize| toml::Value::from(sweep.keys[*key].clone()).to_string();
    if !sweep.axes.is_empty() {
        text.push_str("\n[grid]\n");
    }
    for (key, values) in &sweep.axes {
        let values: Vec<&str> = values.iter().map(|value| value.literal.as_str()).collect();
        text.push_str(&format!("{} = [{}]\n", quoted(key), values.join(", ")));
    }
    for set in &sweep.listed {
        text.push_str("\n[[cell]]\n");
        for (key, value) in set {
            text.push_str(&format!("{} = {}\n", quoted(key), value.literal));
        }
    }
    text
}

/// A value and where it was written.
#[derive(Clone)]
struct Located {
    value: Value,
    span: Range<usize>,
}

type Listed = Vec<Vec<(usize, Located)>>;
type Axes = Vec<(usize, Vec<Located>)>;

/// The settings of points, as they are found in the file.
struct Settings<'a, 's> {
    source: &'a Source<'s>,
    outside: &'a [Outside],
    keys: Vec<String>,
}

impl Settings<'_, '_> {
    fn listed(&mut self) -> Result<Listed, ScenarioError> {
        let Some(DeValue::Array(tables)) = self.source.root().get("cell").map(Spanned::get_ref) else {
            return Ok(Vec::new());
        };
        let mut listed = Vec::new();
        for table in tables {
            let DeValue::Table(table) = table.get_ref() else { continue };
            let mut set: Vec<(usize, Located)> = Vec::new();
            for (key, value) in leaves(table) {
                set.push((self.key(key), self.located(value)));
            }
            if set.is_empty() {
                return Err(fault(self.source.place_of("cell"), "a `[[cell]]` sets nothing"));
            }
            listed.push(set);
        }
        Ok(listed)
    }

    fn axes(&mut self, listed: &Listed) -> Result<Axes, ScenarioError> {
        let Some(DeValue::Table(grid)) = self.source.root().get("grid").map(Spanned::get_ref) else {
            return Ok(Vec::new());
        };
        let taken = self.keys.len();
        let mut axes = Vec::new();
        for (key, value) in leaves(grid) {
            let refused = |what: &str| fault(self.source.place(value.span()), &format!("`{key}` {what}"));
            let DeValue::Array(values) = value.get_ref() else {
                return Err(refused("needs a list of values, such as `[\"10mbit\", \"100mbit\"]`"));
            };
            if values.is_empty() {
                return Err(refused("has no values"));
            }
            if !listed.is_empty() && self.keys[..taken].contains(&key) {
                return Err(refused("has its values in `[[cell]]` already"));
            }
            let values = values.iter().map(|value| self.located(value)).collect();
            axes.push((self.key(key), values));
        }
        Ok(axes)
    }

    fn key(&mut self, key: String) -> usize {
        self.keys.iter().position(|known| *known == key).unwrap_or_else(|| {
            self.keys.push(key);
            self.keys.len() - 1
        })
    }

    fn located(&self, value: &Spanned<DeValue<'_>>) -> Located {
        let literal = self.source.text(value.span()).to_string();
        let text = match value.get_ref() {
            DeValue::String(text) => outside::shown(text, self.outside).to_string(),
            _ => literal.clone(),
        };
        let number = match value.get_ref() {
            DeValue::Integer(_) | DeValue::Float(_) => literal.replace('_', "").parse().ok(),
            _ => None,
        };
        Located { value: Value { literal, text, number }, span: value.span() }
    }
}

/// All that is set in a table, with dotted keys, in the order of the file.
fn leaves<'t, 's>(table: &'t DeTable<'s>) -> Vec<(String, &'t Spanned<DeValue<'s>>)> {
    let mut found = Vec::new();
    for (key, value) in table {
        match value.get_ref() {
            DeValue::Table(inner) => {
                found.extend(
                    leaves(inner).into_iter().map(|(below, value)| (format!("{}.{below}", key.get_ref()), value)),
                );
            }
            _ => found.push((key.get_ref().to_string(), value)),
        }
    }
    found.sort_by_key(|(_, value)| value.span().start);
    found
}

/// Checks every point, and finds settings without effect. A fault of a point is reported where its value was written.
fn points(
    source: &Source<'_>,
    base: &Source<'_>,
    overrides: &[String],
    sweep: &Sweep,
    (listed, axes): (&Listed, &Axes),
) -> Result<(Vec<Point>, Vec<String>), ScenarioError> {
    let settings = listed.len().max(1);
    let count = axes.iter().try_fold(settings, |count, (_, values)| count.checked_mul(values.len()));
    let count = count.filter(|count| *count <= MAX_POINTS).ok_or_else(|| {
        fault(source.place_of("grid"), &format!("too many combinations: a sweep has at most {MAX_POINTS} points"))
    })?;
    let mut points: Vec<Point> = Vec::with_capacity(count);
    let mut idle = Idle::default();
    for index in 0..count {
        let mut chosen: Vec<Option<&Located>> = vec![None; sweep.keys.len()];
        let mut rest = index;
        for (key, values) in axes.iter().rev() {
            chosen[*key] = values.get(rest % values.len());
            rest /= values.len();
        }
        for (key, at) in listed.get(rest).into_iter().flatten() {
            chosen[*key] = Some(at);
        }
        let values: Vec<Option<Value>> = chosen.iter().map(|at| at.map(|at| at.value.clone())).collect();
        let items: Vec<String> = overrides.iter().cloned().chain(sweep.items(&values)).collect();
        let scenario =
            base.with(&items).and_then(|laid| outside::scenario(&laid, &sweep.outside)).map_err(|error| {
                let Place::Override(text) = &error.place else { return error };
                let own = items.iter().position(|item| item == text).and_then(|at| at.checked_sub(overrides.len()));
                let at = own.and_then(|nth| chosen.iter().flatten().nth(nth));
                at.map_or_else(
                    || error.clone(),
                    |at| ScenarioError { place: source.place(at.span.clone()), fault: error.fault.clone() },
                )
            })?;
        idle.take(index, &scenario);
        let first = points.last().map_or(0, |point| point.cells.end);
        points.push(Point {
            values,
            cells: first..first + scenario.seeds().len() as u64,
            first_seed: scenario.document().first_seed,
            cost_s: RUN_S + scenario.packets() / PACKETS_PER_S,
        });
    }
    let warnings = idle.warnings(count, &sweep.keys);
    Ok((points, warnings))
}

/// Writes equal quantities of a key as the first of them is written, so that they are one value and their runs are the same: a sentence for
/// each that was written otherwise.
fn merge(keys: &[String], listed: &mut Listed, axes: &mut Axes) -> Vec<String> {
    let mut warnings = Vec::new();
    for (index, key) in keys.iter().enumerate() {
        let in_cells = listed.iter_mut().flatten().filter(|(own, _)| *own == index).map(|(_, at)| at);
        let in_grid = axes.iter_mut().filter(|(own, _)| *own == index).flat_map(|(_, values)| values);
        let mut all: Vec<&mut Located> = in_cells.chain(in_grid).collect();
        let Some(quantity) = Quantity::of(all.iter().map(|at| &at.value)) else { continue };
        let mut known: BTreeMap<u64, Value> = BTreeMap::new();
        for at in &mut all {
            let Some(number) = quantity.number(&at.value) else { continue };
            let first = known.entry(number.to_bits()).or_insert_with(|| at.value.clone());
            if first.text != at.value.text {
                let warning = format!("`{}` of `{key}` is `{first}`, and is run as such", at.value);
                if !warnings.contains(&warning) {
                    warnings.push(warning);
                }
                at.value = first.clone();
            }
        }
    }
    warnings
}

/// The name and the text of the base scenario's file.
fn external(source: &Source<'_>, directory: &Path, file: &str) -> Result<(String, String), ScenarioError> {
    let path = directory.join(file);
    let name = path.display().to_string();
    match read_text(&path) {
        Ok(text) => Ok((name, text)),
        Err(error) => Err(fault(source.place_of("scenario"), &format!("cannot read `{name}`: {error}"))),
    }
}

fn fault(place: Place, what: &str) -> ScenarioError {
    ScenarioError { place, fault: Fault::Document(what.to_string()) }
}

/// More would not fit into memory, nor into a week.
const MAX_POINTS: usize = 1_000_000;
/// The speed of a slow core; a fast one simulates four times as many packets (docs/performance.md).
const PACKETS_PER_S: f64 = 2e6;
/// The time of a run besides its packets.
const RUN_S: f64 = 1e-3;
