//! Fewer points than samples, with nothing that the eye would miss.

/// The samples to draw of a curve for a plot of `columns` pixel columns: in every column the smallest and the largest value, and
/// the first and the last sample of all. Ascending indices, at most `2 · columns + 2`.
///
/// Times ascend; samples that are not finite are never kept. A curve with few samples is kept whole.
pub(crate) fn extremes(times: &[f64], values: &[f64], columns: usize) -> Vec<usize> {
    let finite: Vec<usize> = (0..times.len().min(values.len())).filter(|index| values[*index].is_finite()).collect();
    let (Some(&first), Some(&last)) = (finite.first(), finite.last()) else { return Vec::new() };
    if finite.len() <= 2 * columns {
        return finite;
    }
    let width = (times[last] - times[first]) / columns as f64;
    let column = |index: usize| (((times[index] - times[first]) / width) as usize).min(columns.saturating_sub(1));
    let mut kept = vec![first, last];
    for bucket in finite.chunk_by(|a, b| column(*a) == column(*b)) {
        kept.extend(bucket.iter().copied().min_by(|a, b| values[*a].total_cmp(&values[*b])));
        kept.extend(bucket.iter().copied().max_by(|a, b| values[*a].total_cmp(&values[*b])));
    }
    kept.sort_unstable();
    kept.dedup();
    kept
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn one_spike_in_a_million_survives() {
        let times: Vec<f64> = (0..1_000_000).map(f64::from).collect();
        let mut values = vec![5.0; times.len()];
        values[777_777] = 100.0;
        values[333_333] = -3.0;
        let kept = extremes(&times, &values, 300);
        assert!(kept.contains(&777_777) && kept.contains(&333_333));
        assert!(kept.len() <= 602, "{}", kept.len());
    }

    #[test]
    fn few_samples_are_kept_whole_and_gaps_are_left_out() {
        assert_eq!(extremes(&[0.0, 1.0, 2.0], &[f64::NAN, 4.0, 2.0], 100), [1, 2]);
        assert!(extremes(&[0.0, 1.0], &[f64::NAN, f64::INFINITY], 100).is_empty());
        assert!(extremes(&[], &[], 100).is_empty());
    }

    proptest! {
        #[test]
        fn every_column_keeps_its_extremes(values in proptest::collection::vec(-1e6..1e6_f64, 50..400), columns in 1..20_usize) {
            let times: Vec<f64> = (0..values.len()).map(|k| k as f64).collect();
            let kept = extremes(&times, &values, columns);
            prop_assert!(kept.len() <= 2 * columns + 2);
            prop_assert!(kept.windows(2).all(|pair| pair[0] < pair[1]));
            prop_assert!(kept[0] == 0 && kept[kept.len() - 1] == values.len() - 1);
            let extreme = |of: fn(f64, f64) -> f64, at: &[usize]| at.iter().map(|index| values[*index]).reduce(of);
            let width = (values.len() - 1) as f64 / columns as f64;
            for column in 0..columns - 1 {
                let inside = |index: &usize| (times[*index] / width) as usize == column;
                let all: Vec<usize> = (0..values.len()).filter(|index| inside(index)).collect();
                let ours: Vec<usize> = kept.iter().copied().filter(|index| inside(index)).collect();
                prop_assert_eq!(extreme(f64::max, &all), extreme(f64::max, &ours));
                prop_assert_eq!(extreme(f64::min, &all), extreme(f64::min, &ours));
            }
        }
    }
}
