//! A histogram of delays with constant relative resolution.

/// Counts of non-negative integers in buckets whose width is at most 1/64 of their value.
///
/// Values below 64 are counted exactly. Mean and extremes are exact whatever the buckets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Histogram {
    counts: Vec<u64>,
    count: u64,
    sum: u128,
    max: u64,
}

impl Histogram {
    /// The width of a bucket as a share of its values, at most.
    pub const RESOLUTION: f64 = 1.0 / LINEAR as f64;

    /// Counts one value.
    #[inline]
    pub fn record(&mut self, value: u64) {
        let bucket = bucket_of(value);
        match self.counts.get_mut(bucket) {
            Some(count) => *count += 1,
            None => self.grow(bucket),
        }
        self.count += 1;
        self.sum += u128::from(value);
        self.max = self.max.max(value);
    }

    /// Counts the first value of a bucket beyond all others.
    #[cold]
    #[inline(never)]
    fn grow(&mut self, bucket: usize) {
        // To the end of the octave: values grow by little, and there are few octaves.
        self.counts.resize((bucket + 1).next_multiple_of(LINEAR as usize), 0);
        self.counts[bucket] = 1;
    }

    /// How many values were counted.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The mean; none of nothing.
    #[must_use]
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / self.count as f64)
    }

    /// The largest value; none of nothing.
    #[must_use]
    pub fn max(&self) -> Option<u64> {
        (self.count > 0).then_some(self.max)
    }

    /// The smallest value at or below which the share `q` (0..=1) of all values lies, to the resolution of a bucket; none of nothing.
    #[must_use]
    pub fn quantile(&self, q: f64) -> Option<u64> {
        let rank = ((q.clamp(0.0, 1.0) * self.count as f64).ceil() as u64).max(1);
        // Counted from above: the quantiles that are asked for are high ones, and most buckets lie below them.
        let above = self.count.checked_sub(rank)?;
        let mut seen = 0;
        let bucket = self.counts.iter().rposition(|count| {
            seen += count;
            seen > above
        })?;
        Some(upper_edge(bucket).min(self.max))
    }

    /// Every bucket that holds something: its largest value and its count, ascending.
    pub fn buckets(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let filled = self.counts.iter().enumerate().filter(|(_, count)| **count > 0);
        filled.map(|(bucket, count)| (upper_edge(bucket).min(self.max), *count))
    }
}

#[inline]
fn bucket_of(value: u64) -> usize {
    if value < LINEAR {
        return value as usize;
    }
    // The position of the leading bit picks the octave, the next six bits the bucket in it.
    let octave = value.ilog2() - LINEAR_BITS;
    (u64::from(octave) * LINEAR + (value >> octave)) as usize
}

fn upper_edge(bucket: usize) -> u64 {
    let bucket = bucket as u64;
    if bucket < 2 * LINEAR {
        return bucket;
    }
    let octave = bucket / LINEAR - 1;
    let within = bucket % LINEAR + LINEAR;
    (within << octave) + ((1 << octave) - 1)
}

const LINEAR_BITS: u32 = 6;
/// Buckets per octave: a bucket is never wider than 1/64 of its values.
const LINEAR: u64 = 1 << LINEAR_BITS;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_bucket_contains_its_values_and_is_narrow(value in 0..u64::MAX / 2) {
            let bucket = bucket_of(value);
            let upper = upper_edge(bucket);
            prop_assert!(value <= upper);
            prop_assert!(bucket == 0 || upper_edge(bucket - 1) < value);
            prop_assert!((upper - value) as f64 <= value as f64 / 64.0);
        }

        #[test]
        fn quantiles_are_those_of_the_sorted_values(mut values in proptest::collection::vec(0_u64..1_000_000, 1..200), q in 0.0..=1.0_f64) {
            let mut histogram = Histogram::default();
            values.iter().for_each(|value| histogram.record(*value));
            values.sort_unstable();
            let rank = ((q * values.len() as f64).ceil() as usize).max(1);
            let exact = values[rank - 1];
            let ours = histogram.quantile(q).expect("not empty");
            prop_assert!(ours >= exact && (ours - exact) as f64 <= exact as f64 / 64.0, "{ours} for {exact}");
            prop_assert_eq!(histogram.max(), values.last().copied());
            prop_assert_eq!(histogram.buckets().map(|(_, count)| count).sum::<u64>(), values.len() as u64);
        }
    }

    #[test]
    fn an_empty_histogram_has_no_quantile_and_no_mean() {
        assert_eq!(Histogram::default().quantile(0.5), None);
        assert_eq!(Histogram::default().mean(), None);
    }
}
