//! Whether two lists rank the same things alike.

use super::statistics::mean;

/// Spearman's ρ: the correlation of ranks, equal values sharing the mean of theirs; −1..=1. None where the lists differ in length,
/// have fewer than two values, one of them ranks nothing, or a value is NaN, which has no rank.
#[must_use]
pub fn spearman(one: &[f64], other: &[f64]) -> Option<f64> {
    if !have_ranks(one, other) {
        return None;
    }
    let (one, other) = (ranked(one), ranked(other));
    let (centre, other_centre) = (mean(&one)?, mean(&other)?);
    let pairs = || one.iter().zip(&other).map(|(a, b)| (a - centre, b - other_centre));
    let (mut product, mut squares, mut other_squares) = (0.0, 0.0, 0.0);
    for (a, b) in pairs() {
        product += a * b;
        squares += a * a;
        other_squares += b * b;
    }
    let scale = libm::sqrt(squares * other_squares);
    (scale > 0.0).then(|| (product / scale).clamp(-1.0, 1.0))
}

/// Kendall's τ-b: pairs in the same order less pairs in the opposite one, corrected for ties; −1..=1. None as for [`spearman`].
#[must_use]
pub fn kendall(one: &[f64], other: &[f64]) -> Option<f64> {
    if !have_ranks(one, other) {
        return None;
    }
    let (mut balance, mut distinct, mut other_distinct) = (0.0, 0.0, 0.0);
    for (j, (a, b)) in one.iter().zip(other).enumerate() {
        for (earlier, other_earlier) in one[..j].iter().zip(other) {
            let (order, other_order) = (order(*a, *earlier), order(*b, *other_earlier));
            balance += order * other_order;
            distinct += order.abs();
            other_distinct += other_order.abs();
        }
    }
    let scale = libm::sqrt(distinct * other_distinct);
    (scale > 0.0).then(|| (balance / scale).clamp(-1.0, 1.0))
}

fn have_ranks(one: &[f64], other: &[f64]) -> bool {
    one.len() == other.len() && !one.iter().chain(other).any(|value| value.is_nan())
}

/// 1 where `value` is above `earlier`, -1 below, 0 where they are equal.
fn order(value: f64, earlier: f64) -> f64 {
    f64::from(i8::from(value > earlier) - i8::from(value < earlier))
}

/// The rank of each value, from 1.
fn ranked(values: &[f64]) -> Vec<f64> {
    let below = |value: f64| values.iter().filter(|other| **other < value).count() as f64;
    let equal = |value: f64| values.iter().filter(|other| **other == value).count() as f64;
    values.iter().map(|value| below(*value) + (equal(*value) + 1.0) / 2.0).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_printed_example() {
        // Hours before a screen against intelligence quotient, the usual example of Spearman's coefficient: -29/165.
        let quotient = [106.0, 100.0, 86.0, 101.0, 99.0, 103.0, 97.0, 113.0, 112.0, 110.0];
        let hours = [7.0, 27.0, 2.0, 50.0, 28.0, 29.0, 20.0, 12.0, 6.0, 17.0];
        let rho = spearman(&quotient, &hours).expect("ten pairs");
        assert!((rho + 29.0 / 165.0).abs() < 1e-12, "{rho}");
        // Of 45 pairs 20 are in the same order and 25 are not.
        let tau = kendall(&quotient, &hours).expect("ten pairs");
        assert!((tau + 5.0 / 45.0).abs() < 1e-12, "{tau}");
    }

    #[test]
    fn ties_and_ends() {
        assert_eq!(spearman(&[1.0, 2.0, 3.0], &[10.0, 20.0, 30.0]), Some(1.0));
        assert_eq!(kendall(&[1.0, 2.0, 3.0], &[3.0, 2.0, 1.0]), Some(-1.0));
        // Ranks (1, 2.5, 2.5, 4) against (1, 2, 3, 4): 4.5 / sqrt(4.5 * 5).
        let rho = spearman(&[1.0, 2.0, 2.0, 3.0], &[1.0, 2.0, 3.0, 4.0]).expect("four pairs");
        assert!((rho - (0.9_f64).sqrt()).abs() < 1e-12);
        // Five pairs are distinct by the first, six by the second.
        let tau = kendall(&[1.0, 2.0, 2.0, 3.0], &[1.0, 2.0, 3.0, 4.0]).expect("four pairs");
        assert!((tau - 5.0 / (30.0_f64).sqrt()).abs() < 1e-12);
        assert_eq!(spearman(&[1.0, 1.0], &[1.0, 2.0]), None);
        assert_eq!(kendall(&[1.0], &[1.0, 2.0]), None);
        assert_eq!(spearman(&[1.0, f64::NAN], &[1.0, 2.0]), None);
        assert_eq!(kendall(&[1.0, 2.0], &[1.0, f64::NAN]), None);
        // Infinities have a rank, and two of them the same one.
        let endless = [1.0, f64::INFINITY, f64::INFINITY];
        assert_eq!(kendall(&endless, &endless), Some(1.0));
        assert_eq!(spearman(&endless, &endless), Some(1.0));
    }
}
