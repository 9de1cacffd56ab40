//! Verdicts, and the rows that carry them.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ours::Ours;
use super::published::{Basis, Kind, PublishedResult, PublishedRow, PublishedValue};
use cwnd_run::measure::Estimate;
use cwnd_run::measure::digits::cell;

/// What came of a row.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The whole 95 % interval lies within the tolerance.
    Match,
    /// The whole interval lies outside.
    Miss,
    /// The interval reaches across an edge of the tolerance: more runs would be needed.
    Undecided,
    /// The paper does not say enough, or contradicts itself; ours is shown where there is one.
    NotReproducible,
    /// There is nothing to compare with.
    Illustration,
}

/// A row of a table of results: `cwnd paper --json` prints a list of these.
#[derive(Clone, Debug, JsonSchema, PartialEq, Serialize)]
pub struct Row {
    /// The paper's id: `simd`.
    pub paper: String,
    /// The result's id: `table-3`.
    pub result: String,
    /// What the row is about, unique within the result.
    pub row: String,
    /// The published number or statement; null where there is none.
    pub published: Option<Value>,
    /// Whether that is printed in the paper or follows from what is printed.
    pub basis: Basis,
    /// Ours; text for an ordering; null where there is none.
    pub ours: Option<Value>,
    /// Half the width of the 95 % interval of `ours`; null where it is exact, a text, or a single run.
    pub ci95: Option<f64>,
    /// The unit of all of these; empty for plain numbers.
    pub unit: String,
    /// What counts as a match, fixed before the runs; null where nothing is compared.
    pub tolerance: Option<String>,
    /// What came of it.
    pub verdict: Verdict,
    /// Why it is not a match; null for matches.
    pub reason: Option<String>,
}

/// A number or words.
#[derive(Clone, Debug, JsonSchema, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Value {
    /// A number, in the unit of its row.
    Number(f64),
    /// Words.
    Text(String),
}

/// How many rows have which verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts([usize; Verdict::ALL.len()]);

impl Verdict {
    /// All of them, the counted ones first.
    pub const ALL: [Self; 5] = [Self::Match, Self::Miss, Self::Undecided, Self::NotReproducible, Self::Illustration];

    /// Whether it says something about the reproduction, and not about the paper.
    #[must_use]
    pub fn counts(self) -> bool {
        matches!(self, Self::Match | Self::Miss | Self::Undecided)
    }
}

impl Row {
    /// The row of `listed` with a value of ours, or with none.
    pub(super) fn judged(paper: &str, result: &PublishedResult, listed: &PublishedRow, ours: Option<&Ours>) -> Self {
        let published = listed.published.as_ref();
        let number = published.and_then(PublishedValue::number);
        let verdict = match (listed.kind.unwrap_or(result.kind), &listed.tolerance, ours) {
            (Kind::NotReproducible, ..) => Verdict::NotReproducible,
            (Kind::Compared, Some(tolerance), Some(ours)) => tolerance.judge(number, ours),
            (Kind::Compared, Some(_), None) => Verdict::Undecided,
            (Kind::Compared, None, _) | (Kind::Illustration, ..) => Verdict::Illustration,
        };
        let reason = match verdict {
            Verdict::Match => None,
            Verdict::Miss => Some(listed.reason.clone().unwrap_or_else(|| UNEXPLAINED.to_string())),
            Verdict::Undecided => Some(listed.reason.clone().unwrap_or_else(|| unsure(ours))),
            Verdict::NotReproducible | Verdict::Illustration => listed.why.clone().or_else(|| result.why.clone()),
        };
        Self {
            paper: paper.to_string(),
            result: result.id.clone(),
            row: listed.id.clone(),
            published: published.map(|value| match value {
                PublishedValue::Number(number) => Value::Number(*number),
                PublishedValue::Text(text) => Value::Text(text.clone()),
            }),
            basis: listed.basis,
            ours: ours.and_then(shown),
            ci95: ours.and_then(half_width),
            unit: listed.unit.clone(),
            tolerance: listed.tolerance.as_ref().map(ToString::to_string),
            verdict,
            reason,
        }
    }

    /// The row of a result that has none: it is listed, so that nothing is left out in silence.
    pub(super) fn whole(paper: &str, result: &PublishedResult) -> Self {
        let row = PublishedRow { id: result.title.clone(), ..PublishedRow::default() };
        Self::judged(paper, result, &row, None)
    }

    /// A row that the paper has nothing for.
    pub(super) fn beside(paper: &str, result: &PublishedResult, row: &str, unit: &str, ours: &Ours) -> Self {
        Self {
            paper: paper.to_string(),
            result: result.id.clone(),
            row: row.to_string(),
            published: None,
            basis: Basis::Printed,
            ours: shown(ours),
            ci95: half_width(ours),
            unit: unit.to_string(),
            tolerance: None,
            verdict: Verdict::Illustration,
            reason: Some(match result.kind {
                Kind::Compared => "reported beside what is compared".to_string(),
                _ => result.why.clone().unwrap_or_default(),
            }),
        }
    }

    /// The published value with its unit, for people.
    #[must_use]
    pub fn published_text(&self) -> String {
        match &self.published {
            None => "–".to_string(),
            Some(Value::Text(text)) => text.clone(),
            Some(Value::Number(value)) => with_unit(value.to_string(), &self.unit),
        }
    }

    /// Ours with its interval and unit, for people.
    #[must_use]
    pub fn ours_text(&self) -> String {
        match &self.ours {
            None => "–".to_string(),
            Some(Value::Text(text)) => with_unit(text.clone(), &self.unit),
            // Errors of closed forms: what matters is how small they are.
            Some(Value::Number(value)) if *value != 0.0 && value.abs() < 1e-6 && self.ci95.is_none() => {
                with_unit(format!("{value:.1e}"), &self.unit)
            }
            Some(Value::Number(mean)) => {
                let estimate = Estimate { mean: *mean, ci95: self.ci95, n: 1 };
                with_unit(cell(Some(estimate), 1.0), &self.unit)
            }
        }
    }

    /// Whether it is a miss for which no reason is on record.
    #[must_use]
    pub fn unexplained(&self) -> bool {
        self.verdict == Verdict::Miss && self.reason.as_deref() == Some(UNEXPLAINED)
    }
}

impl Counts {
    /// Counts verdicts.
    #[must_use]
    pub fn of(verdicts: impl IntoIterator<Item = Verdict>) -> Self {
        let mut counts = Self::default();
        for verdict in verdicts {
            counts.0[verdict as usize] += 1;
        }
        counts
    }

    /// How many rows have `verdict`.
    #[must_use]
    pub fn get(self, verdict: Verdict) -> usize {
        self.0[verdict as usize]
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(match self {
            Self::Match => "match",
            Self::Miss => "miss",
            Self::Undecided => "undecided",
            Self::NotReproducible => "not reproducible",
            Self::Illustration => "illustration",
        })
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [matches, misses, undecided, not_reproducible, illustrations] = self.0;
        write!(
            out,
            "{matches} of {} match, {misses} miss, {undecided} undecided; not counted: {not_reproducible} not reproducible, \
             {illustrations} illustration",
            matches + misses + undecided
        )
    }
}

fn with_unit(number: String, unit: &str) -> String {
    if unit.is_empty() { number } else { format!("{number} {unit}") }
}

fn shown(ours: &Ours) -> Option<Value> {
    if let Ours::Ordered(parts) = ours {
        let part = |(name, value): &(String, Ours)| Some(format!("{name} {}", short(value.value()?)));
        return Some(Value::Text(parts.iter().filter_map(part).collect::<Vec<_>>().join(", ")));
    }
    ours.value().filter(|value| value.is_finite()).map(Value::Number)
}

fn half_width(ours: &Ours) -> Option<f64> {
    let reading = ours.reading().filter(|_| !matches!(ours, Ours::Exact(_)))?;
    Some((reading.high - reading.low) / 2.0).filter(|half| half.is_finite())
}

/// Four significant digits.
fn short(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return format!("{value}");
    }
    let digits = 3 - libm::floor(libm::log10(value.abs())) as i32;
    format!("{value:.*}", digits.clamp(0, 9) as usize)
}

fn unsure(ours: Option<&Ours>) -> String {
    match ours.map(|ours| ours.values().len()) {
        None | Some(0) if ours.is_none_or(|ours| ours.parts().is_empty()) => "no run gave a value".to_string(),
        Some(1) => "a single run has no interval".to_string(),
        _ => "the 95 % interval reaches across the edge of the tolerance".to_string(),
    }
}

/// What a miss says for which nobody wrote down a reason.
const UNEXPLAINED: &str = "no reason recorded";
