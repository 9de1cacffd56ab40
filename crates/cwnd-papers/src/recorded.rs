//! Verdicts on record: `papers/expected.toml` for `--quick`, `papers/full.toml` for `--full`.
//!
//! A verdict that changes must be recorded anew in the commit that changes it; [`Recorded::differences`] finds those that were
//! not. Our numbers are recorded with them, for the documentation, and not compared.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::computed::Interval;
use super::files::paper_file;
use super::published::{Published, Value};
use super::settings::Scale;
use super::tolerance::Tolerance;
use super::verdict::Verdict;
use cwnd_run::scenario::{ScenarioError, Source};

/// Records, by paper, result and row.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Recorded(pub(super) BTreeMap<String, BTreeMap<String, BTreeMap<String, RecordedRow>>>);

/// The record of a row.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct RecordedRow {
    /// Its verdict.
    pub verdict: Verdict,
    /// Ours, for people.
    pub ours: String,
}

impl Recorded {
    /// The records for `scale`.
    ///
    /// # Errors
    /// The file is no TOML, or a key or value is none that is recorded: the first place.
    pub fn at(scale: Scale) -> Result<Self, ScenarioError> {
        let (name, text) = match scale {
            Scale::Quick => ("papers/expected.toml", paper_file!("expected.toml")),
            Scale::Full => ("papers/full.toml", paper_file!("full.toml")),
        };
        Self::read(name, text)
    }

    /// Reads the text of a file called `name`.
    ///
    /// # Errors
    /// `text` is no TOML, or a key or value is none that is recorded: the first place.
    pub fn read(name: &str, text: &str) -> Result<Self, ScenarioError> {
        Source::read(name, text, &[])?.document()
    }

    /// The file as text.
    #[must_use]
    pub fn to_toml(&self) -> String {
        let mut text = String::from(HEAD);
        for (paper, results) in &self.0 {
            for (result, rows) in results {
                text.push_str(&format!("\n[{paper}.{result}]\n"));
                for (row, RecordedRow { verdict, ours }) in rows {
                    let verdict = toml::Value::try_from(verdict).expect("a verdict is a word");
                    let (row, ours) = (quoted(row), quoted(ours));
                    text.push_str(&format!("{row} = {{ verdict = {verdict}, ours = {ours} }}\n"));
                }
            }
        }
        text
    }

    /// Judges the recorded numbers by the current tolerances. Returns the rows whose verdict no longer follows from their number, with the
    /// verdicts before and after. Nothing is run.
    #[must_use]
    pub fn judge_anew(&mut self, published: &Published) -> Vec<(String, Verdict, Verdict)> {
        let paper = &published.paper.id;
        let mut changed = Vec::new();
        for (result, row) in published.result.iter().flat_map(|result| result.rows.iter().map(move |row| (result, row)))
        {
            let entry =
                self.0.get_mut(paper).and_then(|all| all.get_mut(&result.id)).and_then(|all| all.get_mut(&row.id));
            let (Some(entry), Some(tolerance)) = (entry, &row.tolerance) else { continue };
            let number = row.published.as_ref().and_then(Value::number);
            let Some(verdicts) = entry.judged(tolerance, number) else { continue };
            // A median's interval reaches further to one side than to the other. Until 28 November 2026 half of its width was put on record.
            let is_median = OF_MEDIANS.contains(&(&**paper, &*result.id)) && entry.ours.contains('±');
            // A value that one seed alone has, since flows starve with the others, has no interval.
            let has_interval = entry.ours.contains(['±', '(']);
            let may_be_wider = entry.verdict == Verdict::Undecided && (is_median || !has_interval);
            if !verdicts.contains(&entry.verdict) && !may_be_wider {
                changed.push((format!("{paper} {}: {}", result.id, row.id), entry.verdict, verdicts[0]));
                entry.verdict = verdicts[0];
            }
        }
        changed
    }

    /// The record of a row.
    #[must_use]
    pub fn entry(&self, paper: &str, result: &str, row: &str) -> Option<&RecordedRow> {
        self.0.get(paper)?.get(result)?.get(row)
    }
}

impl RecordedRow {
    /// The verdicts on the recorded number under `tolerance`: those that are possible within the rounding of its digits, the one of the
    /// digits as they stand first. None where it is no number: an order, or no value.
    pub(crate) fn judged(&self, tolerance: &Tolerance, published: Option<f64>) -> Option<Vec<Verdict>> {
        if matches!(tolerance, Tolerance::Ordering(_)) {
            return None;
        }
        let mut words = self.ours.split(' ');
        let (value, rounding) = written(words.next()?)?;
        // By how much the ends lie below and above the value, each with its rounding.
        let [below, above] = match words.next() {
            Some("±") => [written(words.next()?)?; 2],
            Some(low) if low.starts_with('(') => {
                let (low, of_low) = written(&low[1..])?;
                let high = words.nth(1)?.strip_suffix(')')?;
                let (high, of_high) = written(high)?;
                [(value - low, of_low), (high - value, of_high)]
            }
            _ => [(0.0, 0.0); 2],
        };
        let mut verdicts = Vec::new();
        for (by, of) in [0.0, -0.5, 0.5].into_iter().flat_map(|by| [0.0, -0.5, 0.5].map(|of| (by, of))) {
            let value = value + by * rounding;
            let [below, above] = [below, above].map(|(half, rounding)| (half + of * rounding).max(0.0));
            let interval = Interval { value, low: value - below, high: value + above };
            let verdict = tolerance.judge_interval(published, interval);
            if !verdicts.contains(&verdict) {
                verdicts.push(verdict);
            }
        }
        Some(verdicts)
    }
}

/// A number with one unit of its last digit; 0 stands for itself.
fn written(text: &str) -> Option<(f64, f64)> {
    let value: f64 = text.parse().ok()?;
    let (digits, power) = text.split_once('e').unwrap_or((text, "0"));
    let decimals = digits.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    let unit: f64 = format!("1e{}", power.parse::<i32>().ok()? - i32::try_from(decimals).ok()?).parse().ok()?;
    Some((value, if text == "0" { 0.0 } else { unit }))
}

fn quoted(text: &str) -> toml::Value {
    toml::Value::String(text.to_string())
}

/// The results whose rows are medians.
const OF_MEDIANS: [(&str, &str); 3] = [("simd", "table-3"), ("simd", "fig-10"), ("simd", "fig-11")];

const HEAD: &str = "\
# Verdicts on record, written by `cargo xtask papers record`. `cwnd paper --check` compares with them: a verdict changes only together
# with this file. Numbers are here for the documentation and are not compared.
";
