//! Listed rows with the values computed for them.

use schemars::JsonSchema;
use serde::Serialize;

use super::computed::Computed;
use super::published::{Kind, NO_VALUE, PublishedResult, PublishedRow, Value, marked, with_its_unit, with_unit};
use super::recorded::RecordedRow;
use super::verdict::{Basis, Verdict};
use cwnd_run::measure::Estimate;
use cwnd_run::measure::digits::{cell, with_half};

/// A row of a table of results: `cwnd paper --json` prints a list of these.
#[derive(Clone, Debug, JsonSchema, PartialEq, Serialize)]
pub struct JudgedRow {
    /// The paper's id: `simd`.
    pub paper: String,
    /// The result's id: `table-3`.
    pub result: String,
    /// The subject of the row, unique within the result.
    pub row: String,
    /// The name for a reader of the paper: `FI, 100 ms (profile paper)`.
    #[serde(skip)]
    pub name: String,
    /// The published number or statement; null where there is none.
    pub published: Option<Value>,
    /// The basis of the comparison.
    pub basis: Basis,
    /// By how much a number of a figure may be wrong, in `unit`; null for others.
    pub reading_error: Option<f64>,
    /// The value computed here; text for an ordering; null where there is none.
    pub ours: Option<Value>,
    /// Half the width of the 95 % interval of `ours`; null where it is exact, a text, a single run, or a median, whose interval reaches
    /// further to one side.
    pub ci95: Option<f64>,
    /// The lower end of that interval, also of a median; null where there is none.
    pub low: Option<f64>,
    /// The upper end of that interval, likewise.
    pub high: Option<f64>,
    /// The unit of all of these; empty for plain numbers.
    pub unit: String,
    /// The condition of a match, fixed before the runs; null where nothing is compared.
    pub tolerance: Option<String>,
    /// The verdict.
    pub verdict: Verdict,
    /// Why it is not a match; null for matches. Where an assumption was replaced it is that of the default run, and says so.
    pub reason: Option<String>,
    /// The value of the author's own code in ns-2, with its release and the 95 % interval; null where that was not run.
    pub ns2: Option<String>,
    /// The values of an ordering, which `ours` has as text; empty for others.
    #[serde(skip)]
    pub ordered: Vec<OrderedValue>,
}

/// A value of an ordering.
#[derive(Clone, Debug, PartialEq)]
pub struct OrderedValue {
    /// The name of the value: `SQRT`.
    pub name: String,
    /// The value, in the unit of its row.
    pub value: f64,
    /// The ends of its 95 % interval; none where it is exact, or a single run.
    pub interval: Option<[f64; 2]>,
}

impl JudgedRow {
    /// The row of `listed` with the value computed for it, if there is one.
    pub(super) fn judged(
        paper: &str,
        result: &PublishedResult,
        listed: &PublishedRow,
        ours: Option<&Computed>,
    ) -> Self {
        let published = listed.published.as_ref();
        let number = published.and_then(Value::number);
        let verdict = match (listed.kind.unwrap_or(result.kind), &listed.tolerance, ours) {
            (Kind::NotReproducible, ..) => Verdict::NotReproducible,
            (Kind::Compared, Some(tolerance), Some(ours)) => tolerance.judge(number, ours),
            (Kind::Compared, Some(_), None) => Verdict::Undecided,
            (Kind::Compared, None, _) | (Kind::Illustration, ..) => Verdict::Illustration,
        };
        let ends = ours.and_then(ends);
        let reason = match verdict {
            Verdict::Match => None,
            Verdict::Miss => Some(listed.reason_text().unwrap_or_else(|| UNEXPLAINED.to_string())),
            Verdict::Undecided => Some(listed.reason_text().unwrap_or_else(|| unsure(ours))),
            Verdict::NotReproducible | Verdict::Illustration => listed.why.clone().or_else(|| result.why.clone()),
        };
        Self {
            paper: paper.to_string(),
            result: result.id.clone(),
            row: listed.id.clone(),
            name: listed.id.clone(),
            published: published.cloned(),
            basis: listed.basis(),
            reading_error: listed.reading_error,
            ours: ours.and_then(shown),
            ci95: ours.and_then(half_width),
            low: ends.map(|[low, _]| low),
            high: ends.map(|[_, high]| high),
            unit: listed.unit.clone(),
            tolerance: listed.tolerance.as_ref().map(ToString::to_string),
            verdict,
            reason,
            ns2: None,
            ordered: ours.map(ordered).unwrap_or_default(),
        }
    }

    /// The row of a run `with` another assumption or algorithm: a recorded reason is one of the default run, and where none is recorded the
    /// reason names the change, and the verdict without it.
    pub(super) fn changed(self, listed: &PublishedRow, with: &str, without: Option<&RecordedRow>) -> Self {
        let is_open = matches!(self.verdict, Verdict::Miss | Verdict::Undecided);
        let is_unexplained = self.unexplained();
        let of_change = |reason: String| {
            if listed.reason_text().as_ref() == Some(&reason) {
                return format!("of the default run: {reason}");
            }
            let Some(RecordedRow { verdict, ours }) = without.filter(|_| is_open) else { return reason };
            let without = format!("on record without it: {verdict}, {ours}");
            if is_unexplained {
                format!("a miss with {with}; {without}")
            } else {
                format!("{reason}, with {with}; {without}")
            }
        };
        Self { reason: self.reason.map(of_change), ..self }
    }

    /// The row of a result that lists none, so that its verdict is shown too.
    pub(super) fn whole(paper: &str, result: &PublishedResult) -> Self {
        let row = PublishedRow { id: result.title.clone(), ..PublishedRow::default() };
        Self::judged(paper, result, &row, None)
    }

    /// A row for which the paper has nothing to compare with.
    pub(super) fn extra(paper: &str, result: &PublishedResult, row: &str, unit: &str, ours: &Computed) -> Self {
        let ends = ends(ours);
        Self {
            paper: paper.to_string(),
            result: result.id.clone(),
            row: row.to_string(),
            name: row.to_string(),
            published: None,
            basis: Basis::Claim,
            reading_error: None,
            ours: shown(ours),
            ci95: half_width(ours),
            low: ends.map(|[low, _]| low),
            high: ends.map(|[_, high]| high),
            unit: unit.to_string(),
            tolerance: None,
            verdict: Verdict::Illustration,
            reason: Some(match result.kind {
                Kind::Compared => "reported next to the compared values".to_string(),
                _ => result.why.clone().unwrap_or_default(),
            }),
            ns2: None,
            ordered: ordered(ours),
        }
    }

    /// The published value with its unit, for people, marked where the paper does not print it: `0.842 (derived)`.
    #[must_use]
    pub fn published_text(&self) -> String {
        marked(with_its_unit(self.published.as_ref(), &self.unit), self.basis, self.reading_error)
    }

    /// The computed value with its interval and unit, for people.
    #[must_use]
    pub fn ours_text(&self) -> String {
        if self.ours.is_none() { self.ours_cell() } else { with_unit(self.ours_cell(), &self.unit) }
    }

    /// The published value in a table whose headings have the unit.
    #[must_use]
    pub fn published_cell(&self) -> String {
        self.published.as_ref().map_or_else(|| NO_VALUE.to_string(), ToString::to_string)
    }

    /// The computed value with its interval in a table whose headings have the unit.
    #[must_use]
    pub fn ours_cell(&self) -> String {
        match &self.ours {
            None => NO_VALUE.to_string(),
            Some(Value::Text(text)) => text.clone(),
            // Errors of closed forms: their size matters.
            Some(Value::Number(value)) if *value != 0.0 && value.abs() < 1e-6 && self.ci95.is_none() => {
                format!("{value:.1e}")
            }
            // The interval that the verdict looked at, whatever the number of runs and the bounds of the quantity.
            Some(Value::Number(value)) => match (self.ci95, self.low, self.high) {
                (None, Some(low), Some(high)) => with_ends(*value, [low, high]),
                _ => with_half(*value, self.ci95),
            },
        }
    }

    /// Whether it is a miss for which no reason is on record.
    #[must_use]
    pub fn unexplained(&self) -> bool {
        self.verdict == Verdict::Miss && self.reason.as_deref() == Some(UNEXPLAINED)
    }
}

fn shown(ours: &Computed) -> Option<Value> {
    if let Computed::Ordered(parts) = ours {
        let part = |(name, value): &(String, Computed)| Some(format!("{name} {}", short(value.value()?)));
        return Some(Value::Text(parts.iter().filter_map(part).collect::<Vec<_>>().join(", ")));
    }
    ours.value().filter(|value| value.is_finite()).map(Value::Number)
}

fn ordered(ours: &Computed) -> Vec<OrderedValue> {
    let Computed::Ordered(parts) = ours else { return Vec::new() };
    let value = |(name, part): &(String, Computed)| {
        let value = part.value().filter(|value| value.is_finite())?;
        Some(OrderedValue { name: name.clone(), value, interval: ends(part) })
    };
    parts.iter().filter_map(value).collect()
}

/// The ends of the interval of a value that has one.
fn ends(ours: &Computed) -> Option<[f64; 2]> {
    let interval = ours.interval().filter(|_| !matches!(ours, Computed::Exact(_)))?;
    Some([interval.low, interval.high]).filter(|ends| ends.iter().all(|end| end.is_finite()))
}

fn half_width(ours: &Computed) -> Option<f64> {
    ends(ours).filter(|_| !matches!(ours, Computed::Median(_))).map(|[low, high]| (high - low) / 2.0)
}

/// `value (low to high)`: a median with the ends of its interval.
fn with_ends(value: f64, [low, high]: [f64; 2]) -> String {
    let ci95 = Some((high - low) / 2.0);
    // Of few values the ends are shown, however they lie around the value.
    cell(Some(Estimate { mean: value, ci95, n: 0, low, high }), 1.0)
}

/// Four significant digits.
fn short(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return format!("{value}");
    }
    let digits = 3 - libm::floor(libm::log10(value.abs())) as i32;
    format!("{value:.*}", digits.clamp(0, 9) as usize)
}

fn unsure(ours: Option<&Computed>) -> String {
    match ours.map(|ours| ours.values().len()) {
        None | Some(0) if ours.is_none_or(|ours| ours.parts().is_empty()) => "no run gave a value".to_string(),
        Some(1) => "a single run has no interval".to_string(),
        _ => "the 95 % interval reaches across the edge of the tolerance".to_string(),
    }
}

/// The reason of a miss for which none is on record.
const UNEXPLAINED: &str = "no reason recorded";
