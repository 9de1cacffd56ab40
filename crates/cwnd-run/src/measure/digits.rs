//! Numbers with as many digits as they deserve.

use cwnd_text::decimal;

use super::{ENOUGH_FOR_INTERVAL, Estimate, Spread};

/// The text of a mean and of its spread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pair {
    /// The mean.
    pub mean: String,
    /// `± half`, or `(low to high)`; none for a single run.
    pub spread: Option<String>,
}

/// The mean and its spread ([`Estimate::spread`]), in a unit that is `scale` times as fine: `mean ± half-width`, or
/// `mean (low to high)`, as a [`pair`].
#[must_use]
pub fn cell(estimate: Option<Estimate>, scale: f64) -> String {
    cell_to(estimate, scale, MAX_DECIMALS as usize)
}

/// A [`cell`] of at most `most` decimals, or as many as two digits of the mean take.
#[must_use]
pub fn cell_to(estimate: Option<Estimate>, scale: f64, most: usize) -> String {
    estimate.map_or("–".to_string(), |estimate| pair_to(&estimate, scale, most).text())
}

/// The text of a mean and its spread, in a unit that is `scale` times as fine.
///
/// All of them have the decimals that show two digits of half the width of the interval, and no more than five of the mean: a mean that is
/// small compared with its interval has fewer digits than that. Where nothing is wide, they are those of four digits of the mean. A number that would
/// read as zero and is none has the decimals of two of its own digits, except for a half-width below the last digit of its mean.
#[must_use]
pub fn pair(estimate: &Estimate, scale: f64) -> Pair {
    pair_to(estimate, scale, MAX_DECIMALS as usize)
}

/// A [`pair`] of at most `most` decimals, or as many as two digits of the mean take.
fn pair_to(estimate: &Estimate, scale: f64, most: usize) -> Pair {
    let mean = estimate.mean * scale;
    match estimate.spread() {
        Spread::None => half_to(mean, None, most),
        Spread::Half(half) => half_to(mean, Some(half * scale), most),
        Spread::Ends(low, high) => {
            let digits = digits(mean, (high - low) * scale / 2.0).min(least(mean, most));
            let [mean, low, high] = [mean, low * scale, high * scale].map(|value| rounded(value, digits));
            // What a bound cuts off cannot be seen.
            let is_point = estimate.n >= ENOUGH_FOR_INTERVAL && mean == low && mean == high;
            let spread = if is_point { format!("± {:.digits$}", 0.0) } else { format!("({low} to {high})") };
            Pair { mean, spread: Some(spread) }
        }
    }
}

impl Pair {
    /// Both in one text.
    #[must_use]
    pub fn text(self) -> String {
        match self.spread {
            Some(spread) => format!("{} {spread}", self.mean),
            None => self.mean,
        }
    }
}

/// A [`cell_to`] in which a range stands without its mean: `low to high`.
#[must_use]
pub fn cell_of_range(estimate: Option<Estimate>, scale: f64, most: usize) -> String {
    let text = cell_to(estimate, scale, most);
    match text.split_once(" (").and_then(|(_, rest)| rest.strip_suffix(')')) {
        Some(range) => match range.split_once(" to ") {
            Some((low, high)) if low == high => low.to_string(),
            _ => range.to_string(),
        },
        None => text,
    }
}

/// `mean ± half`, with the digits of [`cell`].
#[must_use]
pub fn with_half(mean: f64, half: Option<f64>) -> String {
    half_to(mean, half, MAX_DECIMALS as usize).text()
}

fn half_to(mean: f64, half: Option<f64>, most: usize) -> Pair {
    match half {
        Some(half) => {
            let digits = digits(mean, half).min(least(mean, most));
            // A half-width has the digits of a mean that takes more of them.
            let is_tiny = mean != 0.0 && reads_as_zero(mean, digits);
            let half = if is_tiny { decimal(half, digits) } else { format!("{half:.digits$}") };
            Pair { mean: rounded(mean, digits), spread: Some(format!("± {half}")) }
        }
        None => Pair { mean: rounded(mean, decimals(mean, 4).min(least(mean, most))), spread: None },
    }
}

/// `most` decimals, or those of two digits of `mean`.
fn least(mean: f64, most: usize) -> usize {
    most.max(decimals(mean, 2))
}

/// `value` with `digits` decimals, or those of two of its digits where it would read as zero.
fn rounded(value: f64, digits: usize) -> String {
    if reads_as_zero(value, digits) { decimal(value, digits) } else { format!("{value:.digits$}") }
}

fn reads_as_zero(value: f64, digits: usize) -> bool {
    !format!("{value:.digits$}").contains(|letter: char| ('1'..='9').contains(&letter))
}

/// The legend for the cells of a table over this number of seeds.
#[must_use]
pub fn legend(seeds: usize) -> String {
    match seeds {
        0 | 1 => "One seed: nothing tells a difference from chance.".to_string(),
        seeds if seeds < ENOUGH_FOR_INTERVAL => format!(
            "Mean of {seeds} seeds (smallest to largest); from {ENOUGH_FOR_INTERVAL} seeds on the 95 % confidence interval is shown."
        ),
        _ => {
            let few = ENOUGH_FOR_INTERVAL;
            format!(
                "Mean ± half the 95 % confidence interval; (low to high) of fewer than {few} values, or at a bound."
            )
        }
    }
}

/// The [`legend`] of cells of [`cell_of_range`].
#[must_use]
pub fn legend_of_ranges(seeds: usize) -> String {
    match seeds {
        0 | 1 => legend(seeds),
        seeds if seeds < ENOUGH_FOR_INTERVAL => format!(
            "Smallest to largest of {seeds} seeds; from {ENOUGH_FOR_INTERVAL} seeds on the 95 % confidence interval is shown."
        ),
        _ => legend(seeds).replace("(low to high)", "low to high"),
    }
}

/// The meaning of the whiskers of a plot over this number of seeds, as the end of a caption.
#[must_use]
pub fn whiskers(seeds: usize) -> String {
    match seeds {
        0 | 1 => "One seed, so no whiskers.".to_string(),
        seeds if seeds < ENOUGH_FOR_INTERVAL => format!("Whiskers: smallest to largest of {seeds} seeds."),
        seeds => format!("Whiskers: 95 % interval over {seeds} seeds."),
    }
}

/// A plain number with at most this number of decimals, or as many as two of its digits take; a dash for none.
#[must_use]
pub fn number_to(value: Option<f64>, decimals: usize) -> String {
    value.map_or("–".to_string(), |value| decimal(value, decimals))
}

/// A plain number to five digits; a dash for none.
#[must_use]
pub fn number(value: Option<f64>) -> String {
    value.map_or("–".to_string(), |value| rounded(value, decimals(value, 5)))
}

/// Decimals of a mean and its spread, half of which is `half` wide.
fn digits(mean: f64, half: f64) -> usize {
    if half > 0.0 { decimals(half, 2).min(decimals(mean, 5)) } else { decimals(mean, 4) }
}

/// A share in per cent, without its sign: 0.07 as `7`, though 100 · 0.07 is 7.000000000000001.
#[must_use]
pub fn percent(share: f64) -> String {
    let percent = 100.0 * share;
    format!("{percent:.9e}").parse::<f64>().unwrap_or(percent).to_string()
}

/// The number of decimals that show `significant` digits of `value`.
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
        let estimate = |mean: f64, ci95: Option<f64>| {
            let half = ci95.unwrap_or(0.0);
            Some(Estimate { mean, ci95, n: 5, low: mean - half, high: mean + half })
        };
        assert_eq!(cell(estimate(0.971_23, Some(0.002_1)), 100.0), "97.12 ± 0.21");
        assert_eq!(cell(estimate(0.971_23, Some(0.12)), 100.0), "97 ± 12");
        assert_eq!(cell(estimate(1.0, Some(0.0)), 1.0), "1.000 ± 0.000");
        assert_eq!(cell(estimate(0.0, Some(0.0)), 1.0), "0 ± 0");
        assert_eq!(cell(estimate(3.21e-6, Some(1.2e-6)), 100.0), "0.00032 ± 0.00012");
        assert_eq!(cell(estimate(0.999_99, Some(2e-6)), 100.0), "99.999 ± 0.000");
        assert_eq!(cell(estimate(0.971_23, None), 100.0), "97.12");
        assert_eq!(cell(None, 1.0), "–");
        assert_eq!([0.07, 1e-4, 1.0 / 3.0].map(percent), ["7", "0.01", "33.33333333"]);
        let ends = |n, low, high| Some(Estimate { mean: 0.83, ci95: Some(0.81), n, low, high });
        assert_eq!(cell(ends(2, 0.612, 0.968), 1.0), "0.83 (0.61 to 0.97)");
        assert_eq!(cell(ends(5, 0.02, 1.0), 100.0), "83 (2 to 100)");
        let almost_all = Estimate { mean: 0.999_999, ci95: Some(4e-6), n: 5, low: 0.999_996, high: 1.0 };
        assert_eq!(cell(Some(almost_all), 100.0), "100.000 ± 0.000");
        assert_eq!(cell(ends(2, 0.83, 0.83), 1.0), "0.8300 (0.8300 to 0.8300)");
        assert_eq!(cell_to(estimate(0.971_23, Some(0.002_1)), 100.0, 1), "97.1 ± 0.2");
        assert_eq!(cell_to(ends(2, 0.612, 0.968), 1.0, 1), "0.83 (0.61 to 0.97)");
        assert_eq!(cell_to(Some(almost_all), 100.0, 1), "100.0 ± 0.0");
        assert_eq!(cell_of_range(ends(2, 0.612, 0.968), 1.0, 1), "0.61 to 0.97");
        assert_eq!(cell_of_range(ends(2, 0.83, 0.83), 1.0, 2), "0.83");
        assert_eq!(cell_of_range(estimate(0.971_23, Some(0.002_1)), 100.0, 1), "97.1 ± 0.2");
    }

    /// Whatever the scale, the spread and the decimals of a table are, a mean and the ends of a range are zero where they read as zero.
    #[test]
    fn nothing_but_zero_reads_as_zero() {
        let small = [4.2e-9, 9.99e-7, 3e-5, 0.000_4, 0.004, 0.049, 0.06, 0.94, 7.0, 1234.5];
        for mean in small {
            for (n, share) in [(1, 0.0), (2, 0.4), (3, 0.99), (5, 1e-9), (5, 0.3), (8, 0.999), (8, 30.0)] {
                let half = mean * share;
                let bound = if share > 1.0 { 0.0 } else { mean - half };
                let ci95 = (n > 1).then_some(half);
                let estimate = Estimate { mean, ci95, n, low: bound, high: mean + half };
                for most in 0..=6 {
                    let cell = cell_to(Some(estimate), 1.0, most);
                    let range = cell_of_range(Some(estimate), 1.0, most);
                    for text in
                        [&cell, &range, &with_half(mean, ci95), &number(Some(mean)), &number_to(Some(mean), most)]
                    {
                        let first = text.split([' ', '(']).next().unwrap_or_default();
                        let zero = first.parse::<f64>().expect("a number") == 0.0;
                        assert!(!zero || text == &range && bound == 0.0, "{mean} of {n}, {share}, {most}: {text}");
                    }
                    let shown: f64 = cell.split(' ').next().and_then(|mean| mean.parse().ok()).expect("a number");
                    assert!(share > 0.1 || (shown - mean).abs() <= 0.051 * mean, "{mean} of {n}, {most}: {cell}");
                }
            }
        }
    }

    /// A spread has the decimals of its mean, and as many as two digits of half the interval take, up to five digits of the mean. A number has more
    /// of them only where it would read as zero, and then two digits.
    #[test]
    fn a_mean_and_its_interval_have_the_same_decimals() {
        let means = [0.0, 3e-8, 0.000_9, 0.010_4, 0.51, 8.3, 97.3, 9_410.5];
        let halves = [0.0, 4e-8, 0.000_21, 0.001_05, 0.012, 0.3, 9.96, 120.0];
        for (mean, half, sign, n) in means.into_iter().flat_map(|mean| {
            halves.into_iter().flat_map(move |half| [(mean, half, 1.0, 2), (mean, half, -1.0, 5), (mean, half, 1.0, 8)])
        }) {
            let mean = sign * mean;
            let estimate = Estimate { mean, ci95: Some(half), n, low: mean - half, high: mean + half };
            let written = cell(Some(estimate), 1.0);
            let digits = digits(mean, half);
            let shown: Vec<&str> =
                written.split([' ', '(', ')', '±']).filter(|word| word.parse::<f64>().is_ok()).collect();
            for number in shown {
                let decimals = number.split_once('.').map_or(0, |(_, decimals)| decimals.len());
                let own = number.trim_start_matches(['-', '0', '.']).trim_end_matches(')');
                assert!(decimals == digits || own.len() == 2 || own.contains('e'), "{mean} ± {half}: {written}");
            }
        }
    }

    #[test]
    fn a_mean_with_a_wider_interval_has_the_digits_of_the_interval() {
        let ends = |mean, low, high| cell(Some(Estimate { mean, ci95: Some(high - mean), n: 3, low, high }), 1.0);
        assert_eq!(ends(0.000_9, 0.0, 0.002_1), "0.0009 (0.0000 to 0.0021)");
        assert_eq!(ends(0.000_9, 0.000_02, 0.002_1), "0.0009 (0.000020 to 0.0021)");
        assert_eq!(ends(-0.01, -0.022, 0.002), "-0.010 (-0.022 to 0.002)");
        assert_eq!(ends(0.000_004, -0.022, 0.022), "0.0000040 (-0.022 to 0.022)");
    }
}
