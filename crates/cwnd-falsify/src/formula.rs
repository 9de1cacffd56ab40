//! Expressions over the measures of a run.

use cwnd::window::expression::{Expression, ExpressionError, FUNCTIONS};
use cwnd_run::measure::{Domain, MEASURES, Subject};
use cwnd_run::scenario::unknown;

use crate::observed::Observed;
use crate::parts::Part;
use crate::refused::{PropertyError, short};

/// An expression over measures: a measure alone, or several of them.
#[derive(Debug)]
pub(crate) struct Formula {
    text: String,
    expression: Expression,
}

impl Formula {
    /// Reads `text`, which has no line breaks.
    pub(crate) fn read(text: &str) -> Result<Self, PropertyError> {
        let expression = Expression::read(text, &names()).map_err(|error| match error {
            ExpressionError::UnknownName { name, at, .. } => {
                let called = text.get(at - 1 + name.len()..).is_some_and(|rest| rest.trim_start().starts_with('('));
                PropertyError::Unknown(match called {
                    true => unknown("function", &short(&name), &FUNCTIONS.map(|(name, _)| name)),
                    false => unknown("measure", &short(&name), &names()),
                })
            }
            error => PropertyError::Expression { text: text.to_string(), error },
        })?;
        match expression.constant() {
            Some(value) => Err(PropertyError::Constant { text: text.to_string(), value }),
            None => Ok(Self { text: text.to_string(), expression }),
        }
    }

    /// Its text.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Whether it is a name alone.
    pub(crate) fn is_measure(&self) -> bool {
        names().contains(&self.text.as_str())
    }

    /// The least and the largest number that it may have.
    pub(crate) fn range(&self) -> [f64; 2] {
        let measures = MEASURES.iter().map(|measure| (measure.domain)(Part::most_flows()).ends());
        self.expression.range(&measures.chain([Domain::POSITIVE.ends()]).collect::<Vec<_>>())
    }

    /// Why it has no value in a run.
    pub(crate) fn silence(&self, observed: &Observed<'_>) -> String {
        let used = MEASURES.iter().enumerate().filter(|(index, _)| self.expression.uses(*index));
        let missing = used.filter(|(_, measure)| observed.summary.all(measure).iter().all(Option::is_none));
        let missing: Vec<&str> = missing.map(|(_, measure)| measure.key).collect();
        match missing.as_slice() {
            [] => format!("`{}` is undefined or infinite", short(&self.text)),
            missing => format!("it has no {}", missing.join(", no ")),
        }
    }

    /// Its values in a run: one of each subject where it has a measure of each flow, otherwise one. Those are left out that a run does not
    /// have, or that are no numbers, such as 1/0.
    pub(crate) fn values(&self, observed: &Observed<'_>) -> Vec<f64> {
        let each = MEASURES.iter().map(|measure| measure.subject == Subject::EachFlow).chain([true]);
        let several = each.enumerate().any(|(index, each)| each && self.expression.uses(index));
        let value = |nth: usize, rtt: f64| {
            let number = |values: &[Option<f64>]| match values {
                [value] => *value,
                values => values.get(nth).copied().flatten(),
            };
            let numbers = MEASURES.iter().map(|measure| number(observed.summary.all(measure)).unwrap_or(f64::NAN));
            self.expression.value(&numbers.chain([rtt]).collect::<Vec<f64>>())
        };
        let values: Vec<f64> = match several {
            true => (0..).zip(observed.subjects()).map(|(nth, flow)| value(nth, flow.base_rtt as f64 * 1e-9)).collect(),
            false => vec![value(0, f64::NAN)],
        };
        values.into_iter().filter(|value| value.is_finite()).collect()
    }
}

/// Whether `text` is one word without the name of a measure between its hyphens: then it was meant as a property of the registry.
pub(crate) fn is_word(text: &str) -> bool {
    let names = names();
    text.starts_with(char::is_alphabetic)
        && text.chars().all(|letter| letter.is_alphanumeric() || "-_".contains(letter))
        && text.split('-').all(|piece| !names.contains(&piece))
}

/// The variables of an expression: the keys of all measures, and [`RTT`].
pub(crate) fn names() -> Vec<&'static str> {
    MEASURES.iter().map(|measure| measure.key).chain([RTT]).collect()
}

/// The round-trip time of a flow without queueing, seconds.
const RTT: &str = "rtt";
