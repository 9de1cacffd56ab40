//! Where a run has left its beginning behind.

/// How many observations to leave out at the beginning by MSER-5 (White, Cobb & Spratt 2000, after White 1997): the means of
/// five observations each are cut where the mean of the rest has the least squared standard error. None where that is in the second half:
/// the run is too short to tell, or has no steady state. None also below ten observations.
#[must_use]
pub fn mser5(observations: &[f64]) -> Option<usize> {
    let means: Vec<f64> =
        observations.chunks_exact(BATCH).map(|batch| batch.iter().sum::<f64>() / BATCH as f64).collect();
    if means.len() < 2 {
        return None;
    }
    let error = |cut: usize| {
        let rest = &means[cut..];
        let n = rest.len() as f64;
        let mean = rest.iter().sum::<f64>() / n;
        rest.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>() / (n * n)
    };
    // The last few means are alike by chance.
    let cuts = 0..means.len().saturating_sub(FEW).max(1);
    let (cut, _) = cuts.map(|cut| (cut, error(cut))).reduce(|best, next| if next.1 < best.1 { next } else { best })?;
    (2 * cut <= means.len()).then_some(cut * BATCH)
}

/// Observations to a mean: the 5 of MSER-5.
const BATCH: usize = 5;
/// Means that must remain.
const FEW: usize = 5;

#[cfg(test)]
mod tests {
    use super::*;

    /// Ten means: 20, 8, then 1 and 3 in turn. By hand: with all, mean 4.4, squares 290.4, error 2.904; without the first, mean 24/9,
    /// squares 36, error 36/81 = 0.444; without two, mean 2, squares 8, error 8/64 = 0.125; without three, mean 15/7, squares 48/7, error
    /// 48/343 = 0.1399; more cuts leave more error.
    #[test]
    fn ten_means_by_hand() {
        let means = [20.0, 8.0, 1.0, 3.0, 1.0, 3.0, 1.0, 3.0, 1.0, 3.0];
        let observations: Vec<f64> =
            means.iter().flat_map(|mean| [mean - 0.5, mean + 0.5, *mean, mean - 1.0, mean + 1.0]).collect();
        assert_eq!(mser5(&observations), Some(10));
    }

    #[test]
    fn a_steady_run_loses_nothing_and_one_that_never_settles_has_no_answer() {
        assert_eq!(mser5(&[4.0; 100]), Some(0));
        let rising: Vec<f64> = (0..100).map(|k| f64::from(k * k)).collect();
        assert_eq!(mser5(&rising), None);
        assert_eq!(mser5(&[1.0; 9]), None);
    }
}
