//! Times of a trace as plots have them.

use cwnd_run::measure::{Curve, Window};
use cwnd_trace::Trace;

/// The whole run, warm-up included.
pub(crate) fn whole(trace: &Trace) -> Window {
    Window { from: 0, to: trace.end }
}

pub(crate) fn seconds(nanos: u64) -> f64 {
    nanos as f64 / 1e9
}

/// The middles of the whole intervals of a run, seconds.
pub(crate) fn middles(count: usize, interval: u64) -> Vec<f64> {
    (0..count).map(|k| seconds(interval) * (k as f64 + 0.5)).collect()
}

/// The longest time between samples, nanoseconds.
pub(crate) fn coarsest_sampling(trace: &Trace) -> u64 {
    trace.at.windows(2).map(|pair| pair[1].saturating_sub(pair[0])).max().unwrap_or(0)
}

/// How often a cumulative count rose in each of `columns` pixel columns, where it did: the middle of the column and the rise.
pub(crate) fn rises(trace: &Trace, values: &[u64], columns: usize) -> (Vec<f64>, Vec<f64>) {
    let curve = Curve::new(&trace.at, values);
    let width = (trace.end / columns.max(1) as u64).max(1).max(coarsest_sampling(trace));
    let window = |k: u64| Window { from: k * width, to: ((k + 1) * width).min(trace.end) };
    let rises = (0..trace.end.div_ceil(width)).map(window).map(|window| (window, curve.rise(window)));
    rises
        .filter(|(_, rise)| *rise > 0.0)
        .map(|(window, rise)| (seconds(window.from) + seconds(width) / 2.0, rise))
        .unzip()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rises_are_counted_where_they_happen() {
        let trace = Trace { at: vec![0, 10, 20, 30, 40].into(), end: 40, ..Trace::default() };
        let (times, counts) = rises(&trace, &[0, 0, 3, 3, 4], 4);
        assert_eq!(counts, [3.0, 1.0]);
        assert!((times[0] - 15e-9).abs() < 1e-18 && (times[1] - 35e-9).abs() < 1e-18);
        // Two columns: the counts add up to the same total.
        assert_eq!(rises(&trace, &[0, 0, 3, 3, 4], 2).1, [3.0, 1.0]);
    }
}
