//! How equally flows share.

use super::statistics::{in_unit, mean};

/// Jain's fairness index, (Σx)² / (n Σx²): 1 for equal shares, 1/n when one of n flows has everything (Jain, Chiu, Hawe 1984).
///
/// None without flows, when all of them have nothing, or where a share is negative or not finite.
#[must_use]
pub fn jain(shares: &[f64]) -> Option<f64> {
    let largest = largest_share(shares)?;
    // Scaling by the largest share first keeps the squares from vanishing or overflowing.
    let scaled = || shares.iter().map(|share| share / largest);
    let (sum, squares) = (scaled().sum::<f64>(), scaled().map(|share| share * share).sum::<f64>());
    Some(sum * sum / (shares.len() as f64 * squares))
}

/// (g_max − g_min) / g_avg: 0 for equal shares (the fairness range of the `aiad` evaluation).
///
/// None without flows, when all of them have nothing, or where a share is negative or not finite.
#[must_use]
pub fn relative_range(shares: &[f64]) -> Option<f64> {
    let largest = largest_share(shares)?;
    let smallest = shares.iter().copied().fold(f64::INFINITY, f64::min);
    let (shares, unit) = in_unit(shares);
    Some((largest * unit - smallest * unit) / mean(&shares)?)
}

/// The largest share, if there is one above zero and all are shares.
fn largest_share(shares: &[f64]) -> Option<f64> {
    let are_shares = shares.iter().all(|share| share.is_finite() && *share >= 0.0);
    let largest = shares.iter().copied().fold(0.0, f64::max);
    (are_shares && largest > 0.0).then_some(largest)
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
        for no_share in [-1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert_eq!(jain(&[1.0, no_share]), None, "{no_share}");
            assert_eq!(relative_range(&[1.0, no_share]), None, "{no_share}");
        }
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
