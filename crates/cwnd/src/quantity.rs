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
/// The number cannot be read or is not above zero, or the unit is missing or unknown.
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
    let rate = number(value).map_err(|_| error(text, EXPECTED))? * factor;
    if rate > 0.0 && rate.is_finite() {
        Ok(BitRate(rate))
    } else {
        Err(error(text, "a rate above zero, such as `100mbit`"))
    }
}

/// A time of at most 1e8 s: `50ms`, `10 s`, `100us`, `20ns`, `2min`. Zero is a time.
///
/// # Errors
/// The number cannot be read or is negative, the unit is missing or unknown, or the time is too long.
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
    let seconds = number(value).map_err(|_| error(text, EXPECTED))? * factor;
    match seconds {
        ..0.0 => Err(error(text, "a time of at least zero, such as `50ms`")),
        0.0..=MAX_SECONDS => Ok(Span::from_secs_f64(seconds)),
        _ => Err(error(text, "a time of at most 1e8 s, such as `10s` or `2min`")),
    }
}

/// A size of a packet or a queue: `1500B`, `64kB`, `2 MB`. At least one byte, below 4 GiB.
///
/// # Errors
/// The number cannot be read, the unit is missing or unknown, or the size is out of range.
pub fn bytes(text: &str) -> Result<Bytes, QuantityError> {
    let size = amount(text).ok_or_else(|| error(text, "a size with its unit, such as `1500B`, `64kB` or `2MB`"))?;
    if (1.0..=f64::from(u32::MAX)).contains(&size) {
        Ok(Bytes(size as u32))
    } else {
        Err(error(text, "a size of at least `1B` and below 4.29 GB, such as `1500B`"))
    }
}

/// An amount of memory or data, of at least a byte, in units as those of [`bytes`].
///
/// # Errors
/// The text has no number or no unit, or the amount is below 1 byte or above 9 PB.
pub fn memory(text: &str) -> Result<u64, QuantityError> {
    let size = amount(text).ok_or_else(|| error(text, "an amount with its unit, such as `500MB` or `4GB`"))?;
    if (1.0..=9e15).contains(&size) {
        Ok(size as u64)
    } else {
        Err(error(text, "an amount of at least `1B` and at most `9000TB`"))
    }
}

/// Bytes; none without a number or a known unit.
fn amount(text: &str) -> Option<f64> {
    let (value, unit) = split(text);
    let factor = match unit {
        "B" | "bytes" => 1.0,
        "kB" | "KB" => 1e3,
        "MB" => 1e6,
        "GB" => 1e9,
        "TB" => 1e12,
        _ => return None,
    };
    Some(number(value).ok()? * factor)
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

    #[test]
    fn an_error_says_whether_the_unit_or_the_number_is_wrong() {
        let rate = |text| bit_rate(text).map_err(|error| error.expected);
        for text in ["100", "100mbytes", "mbit", "xmbit"] {
            assert_eq!(rate(text), Err("a rate with its unit, such as `100mbit`, `2.5 Gbit/s` or `9600bit`"), "{text}");
        }
        for text in ["0mbit", "-5mbit", "1e300tbit"] {
            assert_eq!(rate(text), Err("a rate above zero, such as `100mbit`"), "{text}");
        }
        let span = |text| span(text).map_err(|error| error.expected);
        assert_eq!(span("50"), Err("a time with its unit, such as `50ms`, `10s`, `100us` or `2min`"));
        assert_eq!(span("-1ms"), Err("a time of at least zero, such as `50ms`"));
        assert_eq!(span("1e9s"), Err("a time of at most 1e8 s, such as `10s` or `2min`"));
        let bytes = |text| bytes(text).map_err(|error| error.expected);
        assert_eq!(bytes("1500"), Err("a size with its unit, such as `1500B`, `64kB` or `2MB`"));
        for text in ["0B", "-1B", "5GB"] {
            assert_eq!(bytes(text), Err("a size of at least `1B` and below 4.29 GB, such as `1500B`"), "{text}");
        }
    }
}
