//! The accepted differences between two traces.

use cwnd::Span;
use cwnd_run::scenario::Written;
use serde::Deserialize;
use thiserror::Error;

use super::Quantity;

/// How far a quantity of one trace may lie from that of another.
#[derive(Clone, Debug, PartialEq)]
pub struct Band {
    quantity: Quantity,
    /// Of the value of the second trace.
    relative: f64,
    /// In the unit of the quantity. The larger of both counts.
    absolute: f64,
    /// Nanoseconds by which the second trace may be earlier or later.
    pub(super) within: u64,
    /// Nanoseconds since the first packet.
    from: u64,
    to: u64,
}

/// Bands of quantities, each for a part of the time.
#[derive(Clone, Debug, PartialEq)]
pub struct Bands(Vec<Band>);

/// A file of bands cannot be read.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum BandError {
    /// It is no TOML of this form.
    #[error("line {line}: {reason}")]
    Form {
        /// From 1.
        line: usize,
        /// The fault.
        reason: String,
    },
    /// A value of the band with that number, from 1.
    #[error("band {0}: {1}")]
    Value(usize, String),
    /// There is no band.
    #[error("it has no [[band]]")]
    Empty,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    band: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    quantity: Quantity,
    relative: Option<f64>,
    absolute: Option<f64>,
    within: Option<Written<Span>>,
    from: Option<Written<Span>>,
    to: Option<Written<Span>>,
    /// For people.
    #[serde(rename = "reason")]
    _reason: Option<String>,
}

impl Entry {
    fn band(self) -> Result<Band, String> {
        let nanos = |span: Option<Written<Span>>| span.map(|span| span.value().as_nanos());
        let number = |name: &str, given: Option<f64>, most: f64| match given {
            Some(given) if !(0.0..=most).contains(&given) => {
                Err(format!("`{name}` cannot be {given}: accepted is 0 to {most}"))
            }
            given => Ok(given.unwrap_or(0.0)),
        };
        if self.quantity == Quantity::State && (self.relative.is_some() || self.absolute.is_some()) {
            return Err(
                "a state has no `relative` or `absolute`: accepted are `within`, `from`, `to` and `reason`".to_string()
            );
        }
        let (from, to) = (nanos(self.from).unwrap_or(0), nanos(self.to).unwrap_or(u64::MAX));
        if from >= to {
            return Err("`to` must be later than `from`".to_string());
        }
        Ok(Band {
            quantity: self.quantity,
            relative: number("relative", self.relative, MOST_RELATIVE)?,
            absolute: number("absolute", self.absolute, MOST_ABSOLUTE)?,
            within: nanos(self.within).unwrap_or(0),
            from,
            to,
        })
    }
}

impl Bands {
    /// Reads the TOML of a file of bands.
    ///
    /// # Errors
    /// `text` is no TOML, has an unknown key, a value out of its range, or no band.
    pub fn read(text: &str) -> Result<Self, BandError> {
        let file: File = toml::from_str(text).map_err(|error| {
            let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
            let line = 1 + before.bytes().filter(|byte| *byte == b'\n').count();
            BandError::Form { line, reason: error.message().trim().replace('\n', " ") }
        })?;
        let bands = file.band.into_iter().zip(1..);
        let bands = bands.map(|(entry, nth)| entry.band().map_err(|reason| BandError::Value(nth, reason)));
        let bands = bands.collect::<Result<Vec<_>, _>>()?;
        if bands.is_empty() { Err(BandError::Empty) } else { Ok(Self(bands)) }
    }

    /// The band of a quantity at a time, nanoseconds since the first packet: the first in the file that holds then.
    pub(super) fn at(&self, quantity: Quantity, at: u64) -> Option<&Band> {
        self.0.iter().find(|band| band.quantity == quantity && (band.from..band.to).contains(&at))
    }

    /// Whether a quantity has any band.
    pub(super) fn has(&self, quantity: Quantity) -> bool {
        self.0.iter().any(|band| band.quantity == quantity)
    }
}

impl Default for Bands {
    /// A tenth, at least two packets, 0.1 Mbit/s or 1 ms, and 100 ms of time.
    fn default() -> Self {
        let band = |quantity, relative, absolute| Band {
            quantity,
            relative,
            absolute,
            within: 100_000_000,
            from: 0,
            to: u64::MAX,
        };
        Self(vec![
            band(Quantity::Window, 0.1, 2.0),
            band(Quantity::Rate, 0.1, 0.1),
            band(Quantity::Rtt, 0.1, 1.0),
            band(Quantity::State, 0.0, 0.0),
        ])
    }
}

impl Band {
    /// The distance of `value` from the range `low` to `high`, over the accepted one; 0 inside the range, infinite where the band is empty.
    pub(super) fn share(&self, value: f64, (low, high): (f64, f64)) -> f64 {
        let nearest = value.clamp(low, high);
        let (distance, accepted) = ((value - nearest).abs(), self.absolute.max(self.relative * nearest));
        if distance > 0.0 { distance / accepted } else { 0.0 }
    }

    /// The accepted difference in words.
    #[must_use]
    pub fn shown(&self) -> String {
        let mut parts = Vec::new();
        if self.relative > 0.0 {
            parts.push(format!("{} %", self.relative * 100.0));
        }
        if self.absolute > 0.0 || parts.is_empty() && self.quantity != Quantity::State {
            parts.push(format!("{}{}", self.absolute, self.quantity.unit()));
        }
        let value = if parts.is_empty() { "equal".to_string() } else { parts.join(" or ") };
        format!("{value} within {} ms", self.within as f64 / 1e6)
    }
}

/// Ten times the other value, and more than any number of packets, bit/s or ms.
const MOST_RELATIVE: f64 = 10.0;
const MOST_ABSOLUTE: f64 = 1e12;
