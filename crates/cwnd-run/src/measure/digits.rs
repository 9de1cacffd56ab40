//! Numbers with as many digits as they deserve.

use super::Estimate;

/// `mean ± half-width` in a unit that is `scale` times as fine, to two digits of the half-width but no more than five of the mean.
#[must_use]
pub fn cell(estimate: Option<Estimate>, scale: f64) -> String {
    let Some(estimate) = estimate else { return "–".to_string() };
    let mean = estimate.mean * scale;
    match estimate.ci95.map(|half| half * scale) {
        Some(half) => {
            let digits = if half > 0.0 { decimals(half, 2).min(decimals(mean, 5)) } else { decimals(mean, 4) };
            format!("{mean:.digits$} ± {half:.digits$}")
        }
        None => format!("{mean:.*}", decimals(mean, 4)),
    }
}

/// A plain number to five digits; a dash for none.
#[must_use]
pub fn number(value: Option<f64>) -> String {
    value.map_or("–".to_string(), |value| format!("{value:.*}", decimals(value, 5)))
}

/// How many decimals show so many significant digits of `value`.
fn decimals(value: f64, significant: i32) -> usize {
    if value == 0.0 || !value.is_finite() {
        return 0;
    }
    let leading = libm::floor(libm::log10(value.abs())) as i32;
    (significant - 1 - leading).clamp(0, MAX_DECIMALS) as usize
}

/// More is noise in every unit a table shows.
const MAX_DECIMALS: i32 = 6;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_show_two_digits_of_the_half_width() {
        let estimate = |mean, ci95| Some(Estimate { mean, ci95, n: 5 });
        assert_eq!(cell(estimate(0.971_23, Some(0.002_1)), 100.0), "97.12 ± 0.21");
        assert_eq!(cell(estimate(0.971_23, Some(0.12)), 100.0), "97 ± 12");
        assert_eq!(cell(estimate(1.0, Some(0.0)), 1.0), "1.000 ± 0.000");
        assert_eq!(cell(estimate(0.0, Some(0.0)), 1.0), "0 ± 0");
        assert_eq!(cell(estimate(3.21e-6, Some(1.2e-6)), 100.0), "0.00032 ± 0.00012");
        assert_eq!(cell(estimate(0.999_99, Some(2e-6)), 100.0), "99.999 ± 0.000");
        assert_eq!(cell(estimate(0.971_23, None), 100.0), "97.12");
        assert_eq!(cell(None, 1.0), "–");
    }
}
