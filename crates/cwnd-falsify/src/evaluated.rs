//! The outcome of an evaluation.

use cwnd_text::{exact, one_line};

use crate::property::Promise;

/// The outcome of an evaluation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Evaluated {
    /// The number of the property; none where the run says nothing.
    pub value: Option<f64>,
    /// By how much the property is kept, in units of its bound; negative if it is broken.
    pub margin: Option<f64>,
    /// Why a run failed.
    pub error: Option<String>,
    /// Why the run says nothing.
    pub silence: Option<String>,
}

impl Evaluated {
    /// The outcome of a run that failed, with the reason on one line as a corpus has it.
    pub(crate) fn failed(error: &impl ToString) -> Self {
        Self { error: Some(one_line(&error.to_string())), ..Self::default() }
    }

    /// The outcome of a run that says nothing, with the reason on one line.
    pub(crate) fn silent(reason: &impl ToString) -> Self {
        Self { silence: Some(one_line(&reason.to_string())), ..Self::default() }
    }

    /// The outcome on a line: the number of the property, `- ` and the reason where the run says nothing, or `error: ` and the reason.
    pub(crate) fn words(&self) -> String {
        match self {
            Self { error: Some(error), .. } => format!("error: {}", one_line(error)),
            Self { value: Some(value), .. } => exact(*value),
            Self { silence, .. } => format!("- {}", one_line(silence.as_deref().unwrap_or_default())),
        }
    }

    /// The outcome on a line as [`words`](Self::words) writes it; none if it is not one.
    pub(crate) fn read(text: &str, promise: &Promise) -> Option<Self> {
        if let Some(error) = text.strip_prefix("error: ") {
            return Some(Self::failed(&error));
        }
        if let Some(silence) = text.strip_prefix("- ") {
            return Some(Self::silent(&silence));
        }
        text.parse().ok().filter(|value: &f64| value.is_finite()).map(|value| Self::of(value, promise))
    }

    /// The outcome of a run with a number of the property.
    pub(crate) fn of(value: f64, promise: &Promise) -> Self {
        Self { value: Some(value), margin: Some(promise.margin(value)), ..Self::default() }
    }

    /// Whether the property is broken.
    #[must_use]
    pub fn is_broken(&self) -> bool {
        self.margin.is_some_and(|margin| margin < 0.0)
    }

    /// The margin as an order among all outcomes.
    fn rank(&self) -> f64 {
        match (&self.error, self.margin) {
            (Some(_), _) => f64::NEG_INFINITY,
            (None, margin) => margin.unwrap_or(f64::INFINITY),
        }
    }
}

/// The seed with the smallest margin; one that failed comes first, one that says nothing last.
#[must_use]
pub fn worst(seeds: &[Evaluated]) -> Evaluated {
    seeds.iter().min_by(|a, b| a.rank().total_cmp(&b.rank())).cloned().unwrap_or_default()
}

/// The seed with the largest margin; one that says nothing comes first, one that failed last.
#[must_use]
pub fn mildest(seeds: &[Evaluated]) -> Evaluated {
    seeds.iter().max_by(|a, b| a.rank().total_cmp(&b.rank())).cloned().unwrap_or_default()
}
