//! Numbers for people.

/// `value` with `decimals` decimals, and with more where it would otherwise have fewer than two significant digits: a value other than zero never
/// reads as zero. Below 10⁻⁶ and from 10¹⁶ on it is a power of ten.
///
/// ```
/// use cwnd_text::decimal;
///
/// assert_eq!([97.31, 0.004_21, -0.04, 3e-8, 0.0].map(|value| decimal(value, 1)), ["97.3", "0.0042", "-0.040", "3.0e-8", "0.0"]);
/// assert_eq!([1e15, 2e300].map(|value| decimal(value, 0)), ["1000000000000000", "2.0e300"]);
/// ```
#[must_use]
pub fn decimal(value: f64, decimals: usize) -> String {
    if value == 0.0 || !value.is_finite() {
        return format!("{value:.decimals$}");
    }
    // The exponent after rounding: 0.0999 has two digits in 0.10.
    let scientific = format!("{value:.1e}");
    let exponent = scientific.split_once('e').and_then(|(_, exponent)| exponent.parse::<i32>().ok()).unwrap_or(0);
    match exponent {
        ..-6 | 16.. => scientific,
        -6..=0 => format!("{value:.*}", decimals.max(exponent.unsigned_abs() as usize + 1)),
        _ => format!("{value:.decimals$}"),
    }
}

/// `value` with as many digits as reading it again takes, below 10⁻⁵ and from 10¹⁶ on as a power of ten.
///
/// ```
/// use cwnd_text::exact;
///
/// assert_eq!([0.1, 20.0, 3e6, 1e-320, 1e16].map(exact), ["0.1", "20", "3000000", "1e-320", "1e16"]);
/// ```
#[must_use]
pub fn exact(value: f64) -> String {
    let plain = value == 0.0 || !value.is_finite() || (1e-5..1e16).contains(&value.abs());
    if plain { value.to_string() } else { format!("{value:e}") }
}

/// An amount of bytes: whole MiB where it is some of them, otherwise MB, kB or bytes.
///
/// ```
/// use cwnd_text::size;
///
/// assert_eq!([1 << 30, 1_000_000, 250_000, 12].map(size), ["1024 MiB", "1.0 MB", "250.0 kB", "12 bytes"]);
/// ```
#[must_use]
pub fn size(bytes: u64) -> String {
    match bytes {
        1.. if bytes.is_multiple_of(MEBI) => format!("{} MiB", bytes / MEBI),
        1_000_000.. => format!("{} MB", decimal(bytes as f64 * 1e-6, 1)),
        1000.. => format!("{} kB", decimal(bytes as f64 * 1e-3, 1)),
        _ => crate::counted(bytes, "byte"),
    }
}

const MEBI: u64 = 1 << 20;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn two_digits_are_right_at_least(digits in 1.0..10.0_f64, exponent in -15..300, decimals in 0..7_usize, negative: bool) {
            let value = digits * 10.0_f64.powi(exponent) * if negative { -1.0 } else { 1.0 };
            let shown: f64 = decimal(value, decimals).parse().expect("a number");
            prop_assert!((shown - value).abs() <= 0.051 * value.abs(), "{value}: {shown}");
        }

        #[test]
        fn an_exact_number_is_short_and_reads_as_itself(bits: u64) {
            let value = f64::from_bits(bits);
            prop_assume!(value.is_finite());
            let shown = exact(value);
            prop_assert!(shown.len() <= 25 && shown.parse() == Ok(value), "{shown}");
        }

        #[test]
        fn no_amount_reads_as_nothing(bytes in 1..u64::MAX) {
            prop_assert!(!size(bytes).starts_with("0 "), "{bytes}");
        }
    }
}
