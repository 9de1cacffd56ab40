//! A cumulative count over time, and what can be read off it.

/// A span of a run, nanoseconds since its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Where it begins.
    pub from: u64,
    /// Where it ends.
    pub to: u64,
}

impl Window {
    /// Nanoseconds; nothing where it ends before it begins.
    pub(crate) fn length(self) -> u64 {
        self.to.saturating_sub(self.from)
    }

    /// Whether nothing can be measured in it.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.length() == 0
    }

    /// Its length in seconds; nothing where it ends before it begins.
    #[must_use]
    pub fn seconds(self) -> f64 {
        self.to.saturating_sub(self.from) as f64 / NANOS_PER_SECOND
    }
}

/// A cumulative count known at the sampled instants, linear between them.
///
/// Before the first sample it has the first value, after the last one the last; without samples it is zero.
#[derive(Clone, Copy, Debug)]
pub struct Curve<'a> {
    at: &'a [u64],
    values: &'a [u64],
}

impl<'a> Curve<'a> {
    /// The curve through `values` at the instants `at`, ascending nanoseconds. Superfluous entries of either are ignored.
    #[must_use]
    pub fn new(at: &'a [u64], values: &'a [u64]) -> Self {
        let length = at.len().min(values.len());
        Self { at: &at[..length], values: &values[..length] }
    }

    /// The count at `instant`.
    #[must_use]
    pub fn at(self, instant: u64) -> f64 {
        let after = self.at.partition_point(|sample| *sample <= instant);
        match (after.checked_sub(1), self.values.get(after)) {
            (None, None) => 0.0,
            (None, Some(first)) => *first as f64,
            (Some(before), None) => self.values[before] as f64,
            (Some(before), Some(next)) => {
                let (low, high) = (self.values[before] as f64, *next as f64);
                let share = (instant - self.at[before]) as f64 / (self.at[after] - self.at[before]) as f64;
                low + (high - low) * share
            }
        }
    }

    /// How far it rises within `window`.
    #[must_use]
    pub fn rise(self, window: Window) -> f64 {
        self.at(window.to) - self.at(window.from)
    }

    /// Its rise per second in `window`; none in a window without length.
    #[must_use]
    pub fn per_second(self, window: Window) -> Option<f64> {
        let seconds = window.seconds();
        (seconds > 0.0).then(|| self.rise(window) / seconds)
    }

    /// Its rise per second in each whole `interval` of `window`, the first starting where the window does.
    ///
    /// None where samples lie further apart than the interval: the values between them are unknown.
    #[must_use]
    pub fn series(self, window: Window, interval: u64) -> Option<Vec<f64>> {
        if interval == 0 || !self.resolves(window, interval) {
            return None;
        }
        let count = window.to.saturating_sub(window.from) / interval;
        let piece = |k| Window { from: window.from + k * interval, to: window.from + (k + 1) * interval };
        (0..count).map(|k| self.per_second(piece(k))).collect()
    }

    /// Whether no two neighbouring samples in `window` lie further apart than `interval`.
    #[must_use]
    pub(crate) fn resolves(self, window: Window, interval: u64) -> bool {
        let first = self.at.partition_point(|sample| *sample <= window.from).saturating_sub(1);
        let last = self.at.partition_point(|sample| *sample < window.to);
        let inside = &self.at[first..(last + 1).min(self.at.len())];
        inside.windows(2).all(|pair| pair[1] - pair[0] <= interval)
    }
}

pub(super) const NANOS_PER_SECOND: f64 = 1e9;

/// The end of the first window of length `span` within `life` that ends at one of the instants `at` and is as wanted.
///
/// None if there is none, or if the samples lie further apart than `span`.
#[must_use]
pub fn first_window(at: &[u64], life: Window, span: u64, mut wanted: impl FnMut(Window) -> bool) -> Option<u64> {
    if !Curve::new(at, at).resolves(life, span) {
        return None;
    }
    let ends = at.iter().copied().filter(|end| *end >= life.from.saturating_add(span) && *end <= life.to);
    ends.into_iter().find(|end| wanted(Window { from: end - span, to: *end }))
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: [u64; 4] = [0, 1_000_000_000, 2_000_000_000, 4_000_000_000];
    const VALUES: [u64; 4] = [0, 10, 30, 30];

    #[test]
    fn a_curve_is_linear_between_samples_and_flat_beyond_them() {
        let curve = Curve::new(&AT[1..], &VALUES[1..]);
        let values = [0, 1_000_000_000, 1_500_000_000, 3_000_000_000, 9_000_000_000].map(|at| curve.at(at));
        assert_eq!(values, [10.0, 10.0, 20.0, 30.0, 30.0]);
        assert_eq!(Curve::new(&[], &[]).at(5), 0.0);
    }

    #[test]
    fn a_series_has_whole_intervals_only() {
        let curve = Curve::new(&AT, &VALUES);
        let window = Window { from: 500_000_000, to: 2_000_000_000 };
        // 0.5 s to 1.5 s: from 5 to 20; the rest until 2 s is half an interval.
        assert_eq!(curve.series(window, 1_000_000_000), Some(vec![15.0]));
        assert_eq!(curve.per_second(window), Some(25.0 / 1.5));
        assert_eq!(curve.per_second(Window { from: 7, to: 7 }), None);
    }

    #[test]
    fn a_series_finer_than_the_samples_is_refused() {
        let curve = Curve::new(&AT, &VALUES);
        assert!(curve.series(Window { from: 0, to: 4_000_000_000 }, 1_000_000_000).is_none());
        assert!(curve.series(Window { from: 0, to: 2_000_000_000 }, 1_000_000_000).is_some());
        assert!(curve.series(Window { from: 0, to: 2_000_000_000 }, 999_999_999).is_none());
        assert!(curve.series(Window { from: 3_000_000_000, to: 3_500_000_000 }, 500_000_000).is_none());
    }
}
