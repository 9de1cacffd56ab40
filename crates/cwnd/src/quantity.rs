//! Quantities as people write them: `100mbit`, `100 Mbit/s`, `50ms`, `1500B`, `1/16`.
//!
//! Prefixes are decimal (`k` = 1000) but for those of bytes that end in `i` (`KiB` = 1024 bytes). Letter case is ignored only where it has no meaning: `100mbit` and `100Mbit` are the same rate,
//! `MB/s` counts bytes and `Mb/s` bits, and `ms` is a time where `MS` is nothing.

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::{String, ToString};
use core::fmt;
use core::str::FromStr;

use crate::units::{BitRate, Bytes, Span};

/// A quantity could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct QuantityError {
    /// The text as it was given.
    pub text: String,
    /// What would have been accepted.
    pub expected: Cow<'static, str>,
}

impl QuantityError {
    /// `text` is not `expected`, the accepted values in words.
    #[must_use]
    pub fn new(text: &str, expected: impl Into<Cow<'static, str>>) -> Self {
        Self { text: text.to_string(), expected: expected.into() }
    }
}

impl fmt::Display for QuantityError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "cannot read `{}`: expected {}", self.text, self.expected)
    }
}

impl core::error::Error for QuantityError {}

impl FromStr for BitRate {
    type Err = QuantityError;

    fn from_str(text: &str) -> Result<Self, QuantityError> {
        line_rate(text)
    }
}

impl FromStr for Span {
    type Err = QuantityError;

    fn from_str(text: &str) -> Result<Self, QuantityError> {
        span(text)
    }
}

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

/// A rate in bits per second: `100mbit`, `2.5 Gbit/s`, `9600bit`; or in bytes, `10MB/s`, which is 80 Mbit/s.
///
/// ```
/// use cwnd::BitRate;
/// use cwnd::quantity::bit_rate;
///
/// assert_eq!(bit_rate("2.5 Gbit/s"), Ok(BitRate(2.5e9)));
/// assert_eq!(bit_rate("10MB/s"), Ok(BitRate(80e6)));
/// assert!(bit_rate("10MB").is_err(), "a size");
/// ```
///
/// # Errors
/// The number cannot be read or is not above zero, or the unit is missing, unknown, or that of a size (`10MB`).
pub fn bit_rate(text: &str) -> Result<BitRate, QuantityError> {
    let rate = bits_per_second(text)?;
    let positive = rate > 0.0 && rate.is_finite();
    if positive { Ok(BitRate(rate)) } else { Err(error(text, "a rate above zero, such as `100mbit`")) }
}

/// The rate of a line, a limit or a source, which hosts keep in whole bits per second: a [`bit_rate`] from 1 bit/s to 100 Tbit/s.
///
/// # Errors
/// Those of [`bit_rate`], or the rate is out of range.
pub fn line_rate(text: &str) -> Result<BitRate, QuantityError> {
    let rate = bits_per_second(text)?;
    let in_range = (1.0..=MAX_LINE_RATE).contains(&rate);
    if in_range { Ok(BitRate(rate)) } else { Err(error(text, "a rate from `1bit` to `100tbit`")) }
}

fn bits_per_second(text: &str) -> Result<f64, QuantityError> {
    const EXPECTED: &str = "a rate with its unit, such as `100mbit`, `2.5 Gbit/s` or `9600bit`";
    let (value, unit) = split(text);
    if byte_factor(unit).is_some() {
        return Err(error(text, "a rate: a size is one with `/s` behind it, such as `10MB/s` for 80 Mbit/s"));
    }
    let factor = rate_factor(unit).ok_or_else(|| error(text, EXPECTED))?;
    Ok(number(value).map_err(|_| error(text, EXPECTED))? * factor)
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

/// A time in the largest of `s`, `ms`, `us` and `ns` of which it is a whole number. Below six days the text reads back as the same time.
///
/// ```
/// use cwnd::Span;
/// use cwnd::quantity::{exact, span};
///
/// assert_eq!(exact(Span::from_millis(12_000)), "12s");
/// assert_eq!(span(&exact(Span::from_micros(1_500))), Ok(Span::from_micros(1_500)));
/// ```
#[must_use]
pub fn exact(span: Span) -> String {
    let nanos = span.as_nanos();
    let units = [(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "us")];
    let (size, unit) = units.into_iter().find(|(size, _)| nanos.is_multiple_of(*size)).unwrap_or((1, "ns"));
    format!("{}{unit}", nanos / size)
}

/// A size of a packet or a queue: `1500B`, `64kB`, `2 MB`, `1MiB`. At least one byte, below 4 GiB.
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

/// An amount of memory or data, of at least a byte, in units as those of [`bytes`]: `500MB`, `4GiB`.
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
    Some(number(value).ok()? * byte_factor(unit)?)
}

/// The bytes of a unit of sizes.
fn byte_factor(unit: &str) -> Option<f64> {
    Some(match unit {
        "B" | "bytes" => 1.0,
        "kB" | "KB" => 1e3,
        "MB" => 1e6,
        "GB" => 1e9,
        "TB" => 1e12,
        "KiB" => f64::from(1_u32 << 10),
        "MiB" => f64::from(1_u32 << 20),
        "GiB" => f64::from(1_u32 << 30),
        "TiB" => 1024.0 * f64::from(1_u32 << 30),
        _ => return None,
    })
}

/// The bits per second of a unit of rates.
fn rate_factor(unit: &str) -> Option<f64> {
    let per_second = unit.strip_suffix("/s").or_else(|| unit.strip_suffix("ps"));
    if let Some(bytes) = per_second.and_then(byte_factor) {
        return Some(8.0 * bytes);
    }
    let unit = per_second.unwrap_or(unit);
    let word = unit.len().checked_sub(3).and_then(|at| unit.split_at_checked(at));
    let prefix = match word {
        Some((prefix, word)) if word.eq_ignore_ascii_case("bit") => prefix,
        // A bare letter: `B` is a byte.
        _ => unit.strip_suffix('b')?,
    };
    Some(match prefix {
        "" => 1.0,
        "k" | "K" => 1e3,
        "m" | "M" => 1e6,
        "g" | "G" => 1e9,
        "t" | "T" => 1e12,
        _ => return None,
    })
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
    QuantityError::new(text, expected)
}

/// 100 Tbit/s: a nanosecond is then 12.5 kB, coarser than packets.
const MAX_LINE_RATE: f64 = 1e14;
/// About three years: nanoseconds in 64 bits reach much further, sums of them stay far from the end.
const MAX_SECONDS: f64 = 1e8;

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    #[test]
    fn quantities_as_people_write_them() {
        assert_eq!(number("1/16"), Ok(0.0625));
        assert_eq!(number("1e-3"), Ok(0.001));
        for text in ["100mbit", "100 Mbit/s", "100Mbps", "0.1gbit", "1e8bit", "100Mb/s", "12.5MB/s", "12500 kBps"] {
            assert_eq!(bit_rate(text), Ok(BitRate(1e8)), "{text}");
        }
        assert_eq!(span("50ms"), Ok(Span::from_millis(50)));
        assert_eq!(span("0s"), Ok(Span::ZERO));
        assert_eq!(span("1.5 s"), Ok(Span::from_millis(1500)));
        assert_eq!(bytes("1500B"), Ok(Bytes(1500)));
        assert_eq!(bytes("64kB"), Ok(Bytes(64_000)));
        assert_eq!(bytes("1 MiB"), Ok(Bytes(1 << 20)));
        let amounts = ["1KiB", "1MiB", "1.5GiB", "2TiB"].map(memory);
        assert_eq!(amounts, [Ok(1 << 10), Ok(1 << 20), Ok(3 << 29), Ok(2 << 40)]);
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
            let unit = "a rate with its unit, such as `100mbit`, `2.5 Gbit/s` or `9600bit`";
            assert_eq!(rate(text), Err(unit.into()), "{text}");
        }
        for text in ["10MB", "1500B", "64 kB", "1000bytes"] {
            let size = "a rate: a size is one with `/s` behind it, such as `10MB/s` for 80 Mbit/s";
            assert_eq!(rate(text), Err(size.into()), "{text}");
        }
        for text in ["0mbit", "-5mbit", "1e300tbit"] {
            assert_eq!(rate(text), Err("a rate above zero, such as `100mbit`".into()), "{text}");
        }
        let line = |text| line_rate(text).map_err(|error| error.expected);
        assert_eq!(line("1e-3bit"), Err("a rate from `1bit` to `100tbit`".into()));
        assert_eq!((line("1bit"), line("100tbit")), (Ok(BitRate(1.0)), Ok(BitRate(1e14))));
        let span = |text| span(text).map_err(|error| error.expected);
        assert_eq!(span("50"), Err("a time with its unit, such as `50ms`, `10s`, `100us` or `2min`".into()));
        assert_eq!(span("-1ms"), Err("a time of at least zero, such as `50ms`".into()));
        assert_eq!(span("1e9s"), Err("a time of at most 1e8 s, such as `10s` or `2min`".into()));
        let bytes = |text| bytes(text).map_err(|error| error.expected);
        assert_eq!(bytes("1500"), Err("a size with its unit, such as `1500B`, `64kB` or `2MB`".into()));
        for text in ["0B", "-1B", "5GB"] {
            assert_eq!(bytes(text), Err("a size of at least `1B` and below 4.29 GB, such as `1500B`".into()), "{text}");
        }
    }

    /// Every way to write the letters of a unit in capitals means the same, or is refused: what counts bytes never counts bits.
    #[test]
    fn a_spelling_of_a_unit_has_one_meaning() {
        let spellings = |unit: &str| -> Vec<String> {
            let letters: Vec<char> = unit.chars().collect();
            let one = |mask: usize| {
                let pick = |(at, c): (usize, &char)| if mask >> at & 1 == 1 { c.to_ascii_uppercase() } else { *c };
                letters.iter().enumerate().map(pick).collect()
            };
            let mut all: Vec<String> = (0..1 << letters.len()).map(one).collect();
            all.sort();
            all.dedup();
            all
        };
        let prefixes = [("", 1.0), ("k", 1e3), ("m", 1e6), ("g", 1e9), ("t", 1e12)];
        let mut read = [0; 4];
        for (prefix, factor) in prefixes {
            for unit in ["bit", "bit/s", "bitps", "b", "b/s", "bps", "byte", "bytes", "byte/s", "bytes/s"] {
                for spelt in spellings(&format!("{prefix}{unit}")) {
                    let (text, letter) = (format!("3{spelt}"), spelt.as_bytes()[prefix.len()]);
                    let bytes_meant = letter == b'B' && !unit.starts_with("bit") || unit.starts_with("byte");
                    let (per_second, of_bytes) =
                        (unit.contains('s') && unit != "bytes", if bytes_meant { 8.0 } else { 1.0 });
                    if let Ok(BitRate(rate)) = bit_rate(&text) {
                        assert!((rate - 3.0 * factor * of_bytes).abs() < 1e-3, "{text}: {rate}");
                        assert!(per_second || !bytes_meant, "{text} is a size");
                        read[usize::from(bytes_meant)] += 1;
                    }
                    if let Ok(size) = memory(&text) {
                        assert!(bytes_meant && !per_second && size as f64 == 3.0 * factor, "{text}: {size}");
                        read[2] += 1;
                    }
                }
            }
        }
        for (unit, seconds) in [("ns", 1e-9), ("us", 1e-6), ("ms", 1e-3), ("s", 1.0), ("min", 60.0), ("h", 3600.0)] {
            for spelt in spellings(unit) {
                match span(&format!("3{spelt}")) {
                    Ok(time) => assert_eq!((spelt.as_str(), time), (unit, Span::from_secs_f64(3.0 * seconds))),
                    Err(_) => assert_ne!(spelt, unit),
                }
                read[3] += usize::from(span(&format!("3{spelt}")).is_ok());
            }
        }
        assert_eq!(read, [243, 13, 7, 6]);
    }
}
