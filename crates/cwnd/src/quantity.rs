//! Quantities as people write them: `100mbit`, `100 Mbit/s`, `50ms`, `1500B`, `1/16`.
//!
//! Decimal prefixes only (`k` = 1000). Letter case does not matter, except that `B` is bytes and `b` bits where a bare letter
//! would be ambiguous.

use alloc::string::{String, ToString};
use core::fmt;

use crate::units::{BitRate, Bytes, Span};

/// A quantity could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuantityError {
    /// The text as it was given.
    pub text: String,
    /// What would have been accepted.
    pub expected: &'static str,
}

impl fmt::Display for QuantityError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "cannot read `{}`: expected {}", self.text, self.expected)
    }
}

impl core::error::Error for QuantityError {}

/// A plain number: `0.05`, `1e-3`, `1/16`. Always finite.
///
/// # Errors
/// The text is no number, or divides by zero.
pub fn number(text: &str) -> Result<f64, QuantityError> {
    let parse = |part: &str| part.trim().parse::<f64>().ok().filter(|value| value.is_finite());
    let value = match text.split_once('/') {
        Some((above, below)) => parse(above).zip(parse(below)).map(|(above, below)| above / below),
        None => parse(text),
    };
    value.filter(|value| value.is_finite()).ok_or_else(|| error(text, "a number such as `0.5`, `1e-3` or `1/16`"))
}

/// A rate in bits per second: `100mbit`, `2.5 Gbit/s`, `9600bit`.
///
/// # Errors
/// The unit is missing or unknown, or the number is not positive.
pub fn bit_rate(text: &str) -> Result<BitRate, QuantityError> {
    const EXPECTED: &str = "a rate with its unit, such as `100mbit`, `2.5 Gbit/s` or `9600bit`";
    let (value, unit) = split(text);
    let unit = unit.to_ascii_lowercase();
    let unit = unit.strip_suffix("/s").or_else(|| unit.strip_suffix("ps")).unwrap_or(&unit);
    let factor = match unit.strip_suffix("bit").or_else(|| unit.strip_suffix('b')) {
        Some("") => 1.0,
        Some("k") => 1e3,
        Some("m") => 1e6,
        Some("g") => 1e9,
        Some("t") => 1e12,
        _ => return Err(error(text, EXPECTED)),
    };
    positive(value, factor).map(BitRate).ok_or_else(|| error(text, EXPECTED))
}

/// A time: `50ms`, `10 s`, `100us`, `20ns`, `2min`. Zero is a time.
///
/// # Errors
/// The unit is missing or unknown, or the number is negative.
pub fn span(text: &str) -> Result<Span, QuantityError> {
    const EXPECTED: &str = "a time with its unit, such as `50ms`, `10s`, `100us` or `2min`";
    let (value, unit) = split(text);
    let factor = match unit {
        "ns" => 1e-9,
        "us" | "µs" => 1e-6,
        "ms" => 1e-3,
        "s" => 1.0,
        "min" => 60.0,
        "h" => 3600.0,
        _ => return Err(error(text, EXPECTED)),
    };
    let seconds =
        number(value).ok().map(|value| value * factor).filter(|seconds| (0.0..=MAX_SECONDS).contains(seconds));
    seconds.map(Span::from_secs_f64).ok_or_else(|| error(text, EXPECTED))
}

/// A size of a packet or a queue: `1500B`, `64kB`, `2 MB`. At least one byte, below 4 GiB.
///
/// # Errors
/// The unit is missing or unknown, or the size does not fit.
pub fn bytes(text: &str) -> Result<Bytes, QuantityError> {
    let size = memory(text).ok().and_then(|size| u32::try_from(size).ok());
    size.map(Bytes).ok_or_else(|| error(text, "a size with its unit, such as `1500B`, `64kB` or `2MB`"))
}

/// An amount of memory or data, of at least a byte, in units as those of [`bytes`].
///
/// # Errors
/// The text has no number or no unit, or the amount is below 1 byte or above 9 PB.
pub fn memory(text: &str) -> Result<u64, QuantityError> {
    const EXPECTED: &str = "an amount with its unit, such as `500MB` or `4GB`";
    let (value, unit) = split(text);
    let factor = match unit {
        "B" | "bytes" => 1.0,
        "kB" | "KB" => 1e3,
        "MB" => 1e6,
        "GB" => 1e9,
        "TB" => 1e12,
        _ => return Err(error(text, EXPECTED)),
    };
    let size = positive(value, factor).filter(|size| (1.0..=9e15).contains(size));
    size.map(|size| size as u64).ok_or_else(|| error(text, EXPECTED))
}

/// Splits a text into its number and its unit.
#[must_use]
pub fn split(text: &str) -> (&str, &str) {
    let text = text.trim();
    // An exponent belongs to the number: `1e6bit`.
    let exponent = |at: usize, rest: &str| {
        at > 0
            && rest.starts_with(['e', 'E'])
            && rest[1..].trim_start_matches(['+', '-']).starts_with(|c: char| c.is_ascii_digit())
    };
    let mut end = text.len();
    for (at, letter) in text.char_indices() {
        let in_number = letter.is_ascii_digit() || matches!(letter, '.' | '+' | '-' | '/') || exponent(at, &text[at..]);
        if !in_number {
            end = at;
            break;
        }
    }
    (&text[..end], text[end..].trim())
}

fn positive(value: &str, factor: f64) -> Option<f64> {
    number(value).ok().map(|value| value * factor).filter(|value| *value > 0.0 && value.is_finite())
}

fn error(text: &str, expected: &'static str) -> QuantityError {
    QuantityError { text: text.to_string(), expected }
}

/// About three years: nanoseconds in 64 bits reach much further, sums of them stay far from the end.
const MAX_SECONDS: f64 = 1e8;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_as_people_write_them() {
        assert_eq!(number("1/16"), Ok(0.0625));
        assert_eq!(number("1e-3"), Ok(0.001));
        for text in ["100mbit", "100 Mbit/s", "100Mbps", "0.1gbit", "1e8bit", "100Mb/s"] {
            assert_eq!(bit_rate(text), Ok(BitRate(1e8)), "{text}");
        }
        assert_eq!(span("50ms"), Ok(Span::from_millis(50)));
        assert_eq!(span("0s"), Ok(Span::ZERO));
        assert_eq!(span("1.5 s"), Ok(Span::from_millis(1500)));
        assert_eq!(bytes("1500B"), Ok(Bytes(1500)));
        assert_eq!(bytes("64kB"), Ok(Bytes(64_000)));
    }

    #[test]
    fn a_unit_is_not_optional() {
        for text in ["100", "", "mbit", "-5mbit", "0mbit", "1/0mbit", "100mbytes", "nanbit", "µ"] {
            assert!(bit_rate(text).is_err(), "{text}");
        }
        for text in ["50", "-1ms", "50 lightyears", "1e300s"] {
            assert!(span(text).is_err(), "{text}");
        }
        for text in ["1500", "0B", "5GB", "0.5B"] {
            assert!(bytes(text).is_err(), "{text}");
        }
        for text in ["", "1/0", "nan", "inf", "1/2/3", "x"] {
            assert!(number(text).is_err(), "{text}");
        }
    }
}
