//! How equally flows share.

use super::statistics::mean;

/// Jain's fairness index, (Σx)² / (n Σx²): 1 for equal shares, 1/n when one of n flows has everything (Jain, Chiu, Hawe 1984).
///
/// None without flows or when all of them have nothing.
#[must_use]
pub fn jain(shares: &[f64]) -> Option<f64> {
    let largest = shares.iter().copied().fold(0.0, f64::max);
    // Scaling by the largest share first keeps the squares from vanishing or overflowing.
    let scaled = || shares.iter().map(|share| share / largest);
    let (sum, squares) = (scaled().sum::<f64>(), scaled().map(|share| share * share).sum::<f64>());
    (largest > 0.0).then(|| sum * sum / (shares.len() as f64 * squares))
}

/// (g_max − g_min) / g_avg: 0 for equal shares (the fairness range of the `aiad` evaluation).
///
/// None without flows or when all of them have nothing.
#[must_use]
pub fn relative_range(shares: &[f64]) -> Option<f64> {
    let average = mean(shares).filter(|average| *average > 0.0)?;
    let largest = shares.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let smallest = shares.iter().copied().fold(f64::INFINITY, f64::min);
    Some((largest - smallest) / average)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn jain_agrees_with_published_tables() {
        // Rates and indices as printed in `daimd`.
        let printed: [(&[f64], f64); 3] = [
            (&[466.0, 446.0], 0.9995),
            (&[215.0, 216.0, 202.0, 197.0], 0.9984),
            (&[25.37, 19.93, 20.17, 19.7, 13.72], 0.9663),
        ];
        for (rates, expected) in printed {
            let index = jain(rates).expect("positive rates");
            assert!((index - expected).abs() <= 0.5e-4, "{index} for {rates:?}");
        }
    }

    #[test]
    fn extremes() {
        assert_eq!(jain(&[5.0; 7]), Some(1.0));
        assert_eq!(jain(&[0.0, 3.0, 0.0, 0.0]), Some(0.25));
        assert_eq!(jain(&[0.0, 0.0]), None);
        assert_eq!(jain(&[]), None);
        assert_eq!(jain(&[1e-200, 1e-200]), Some(1.0));
        assert_eq!(relative_range(&[2.0, 3.0, 7.0]), Some(1.25));
        assert_eq!(relative_range(&[0.0]), None);
    }

    proptest! {
        #[test]
        fn jain_is_bounded_and_knows_no_unit(mut shares in proptest::collection::vec(0.0..1e9_f64, 1..50), scale in 1e-6..1e6_f64) {
            shares[0] += 1.0;
            let index = jain(&shares).expect("something is shared");
            let n = shares.len() as f64;
            prop_assert!((1.0 / n - 1e-12..=1.0 + 1e-12).contains(&index));
            let scaled: Vec<f64> = shares.iter().map(|share| share * scale).collect();
            prop_assert!((jain(&scaled).expect("still shared") - index).abs() < 1e-12);
        }
    }
}
