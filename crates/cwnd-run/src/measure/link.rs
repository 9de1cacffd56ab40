//! What a link does: how busy it is, what it refuses, how long packets wait.

use cwnd_trace::{LinkTrace, Trace};

use super::SHORT_INTERVAL;
use super::curve::{Curve, NANOS_PER_SECOND, Window, first_window};

/// What can happen to a packet offered to a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkCount {
    /// The queue refused or discarded it, or the link lost, damaged, policed or thinned it out.
    Lost,
    /// It was marked.
    Marked,
}

/// Bits carried as a share of the bits the link could carry in `window` ([`mean_capacity`]), 0..=1; none for a link of pure delay.
///
/// A packet counts when it leaves the far end; the one that straddles the beginning counts whole, so the share is cut at 1.
#[must_use]
pub fn utilisation(trace: &Trace, link: &LinkTrace, window: Window) -> Option<f64> {
    let carried = Curve::new(&trace.at, &link.carried_bytes).per_second(window)?;
    Some(share(carried, capacity(trace, link, window)?))
}

/// [`utilisation`] in each whole `interval` of `window`. None where the trace is sampled more coarsely.
#[must_use]
pub fn utilisation_series(trace: &Trace, link: &LinkTrace, window: Window, interval: u64) -> Option<Vec<f64>> {
    let carried = Curve::new(&trace.at, &link.carried_bytes).series(window, interval)?;
    let pieces = (0..).map(|k| window.from + k * interval).map(|from| Window { from, to: from + interval });
    carried
        .into_iter()
        .zip(pieces)
        .map(|(carried, piece)| Some(share(carried, capacity(trace, link, piece)?)))
        .collect()
}

/// Seconds from the start of the first flow to the end of the first span of length `span` in which the link is used to at least
/// `share`; none if that never happens.
#[must_use]
pub(crate) fn time_to_utilisation(trace: &Trace, link: &LinkTrace, share: f64, span: u64) -> Option<f64> {
    let start = trace.flows.iter().map(|flow| flow.start).min()?;
    time_after(trace, link, start, share, span)
}

/// Seconds from `from`, nanoseconds into the run, until the link is used to 90 % for 200 ms; none if that never happens. Where the rate
/// rises at `from`, this is how soon its flows take what comes back.
#[must_use]
pub fn recovery_time(trace: &Trace, link: &LinkTrace, from: u64) -> Option<f64> {
    time_after(trace, link, from, 0.9, SHORT_INTERVAL)
}

fn time_after(trace: &Trace, link: &LinkTrace, from: u64, share: f64, span: u64) -> Option<f64> {
    let reached = |window| utilisation(trace, link, window).is_some_and(|used| used >= share);
    let end = first_window(&trace.at, Window { from, to: trace.end }, span, reached)?;
    Some((end - from) as f64 / NANOS_PER_SECOND)
}

/// Packets lost or marked at the link as a share of all packets offered to it in `window`; none if none were offered.
#[must_use]
pub fn link_rate(trace: &Trace, link: &LinkTrace, what: LinkCount, window: Window) -> Option<f64> {
    let rise = |values: &[u64]| Curve::new(&trace.at, values).rise(window);
    let count = match what {
        LinkCount::Lost => rise(&link.dropped) + rise(&link.lost),
        LinkCount::Marked => rise(&link.marked),
    };
    let offered = rise(&link.offered);
    (offered > 0.0).then(|| count / offered)
}

/// The mean time a packet waited before its transmission began, seconds, over the packets offered after the warm-up.
#[must_use]
pub(crate) fn queue_delay_mean(link: &LinkTrace) -> Option<f64> {
    link.wait.mean().map(|nanos| nanos / NANOS_PER_SECOND)
}

/// The time within which the share `q` of packets began transmission, seconds, over the packets offered after the warm-up; to
/// the resolution of the histogram (1/64).
#[must_use]
pub(crate) fn queue_delay_quantile(link: &LinkTrace, q: f64) -> Option<f64> {
    link.wait.quantile(q).map(|nanos| nanos as f64 / NANOS_PER_SECOND)
}

/// What the link could carry on average in `window`, bit/s: the rate of its line, or what a shaper or a policer lets pass of it. None for a
/// link of pure delay.
#[must_use]
pub fn mean_capacity(trace: &Trace, link: &LinkTrace, window: Window) -> Option<f64> {
    capacity(trace, link, window).map(|bytes| bytes * 8.0)
}

/// [`mean_capacity`] in bytes per second.
fn capacity(trace: &Trace, link: &LinkTrace, window: Window) -> Option<f64> {
    let constant = link.rate? as f64 / 8.0;
    if link.capacity_bytes.is_empty() {
        return Some(constant);
    }
    Curve::new(&trace.at, &link.capacity_bytes).per_second(window)
}

/// Nothing of nothing, in an outage.
fn share(carried: f64, capacity: f64) -> f64 {
    if capacity > 0.0 { (carried / capacity).min(1.0) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cwnd_trace::FlowTrace;

    const TENTH: u64 = 100_000_000;

    /// An 8 Mbit/s link carries 1 MB/s: nothing for 0.2 s, then half its rate until 0.5 s, then all of it.
    fn trace() -> Trace {
        let mut link = LinkTrace {
            rate: Some(8_000_000),
            carried_bytes: vec![0, 0, 0, 50_000, 100_000, 150_000, 250_000, 350_000, 450_000].into(),
            offered: vec![0, 0, 0, 50, 100, 150, 250, 400, 500].into(),
            dropped: vec![0, 0, 0, 0, 0, 0, 0, 30, 60].into(),
            lost: vec![0, 0, 0, 0, 0, 0, 0, 5, 10].into(),
            marked: vec![0, 0, 0, 0, 0, 0, 0, 7, 14].into(),
            ..LinkTrace::default()
        };
        (1..=100).for_each(|millis| link.wait.record(millis * 1_000_000));
        Trace {
            at: (0..9).map(|k| k * TENTH).collect(),
            warmup: 4 * TENTH,
            end: 8 * TENTH,
            flows: vec![FlowTrace { start: TENTH, ..FlowTrace::default() }],
            links: vec![link],
            ..Trace::default()
        }
    }

    #[test]
    fn utilisation_of_window_and_series() {
        let trace = trace();
        let link = &trace.links[0];
        assert_eq!(utilisation(&trace, link, Window::measured(&trace)), Some(0.875));
        let series =
            utilisation_series(&trace, link, Window { from: 0, to: trace.end }, 2 * TENTH).expect("fine samples");
        let expected = [0.0, 0.5, 0.75, 1.0];
        assert!(series.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12), "{series:?}");
        let pure_delay = LinkTrace { rate: None, ..link.clone() };
        assert_eq!(utilisation(&trace, &pure_delay, Window::measured(&trace)), None);
    }

    #[test]
    fn a_rate_that_changes_is_what_counts() {
        let mut trace = trace();
        // 8 Mbit/s, then nothing from 0.2 to 0.4 s, then 16 Mbit/s.
        trace.links[0].capacity_bytes = [0, 1, 2, 2, 2, 4, 6, 8, 10].map(|n| n * 100_000).into_iter().collect();
        let link = &trace.links[0];
        // 50 kB of 200, then 100 kB of each 200 kB.
        assert_eq!(utilisation(&trace, link, Window::measured(&trace)), Some(0.4375));
        let series = utilisation_series(&trace, link, Window { from: 0, to: trace.end }, 2 * TENTH);
        assert_eq!(series, Some(vec![0.0, 0.0, 0.375, 0.5]));
    }

    #[test]
    fn the_first_busy_span_counts_from_the_first_start() {
        let trace = trace();
        // Full from 0.5 s on; the span of 0.2 s is full at 0.7 s, 0.6 s after the flow started.
        let time = time_to_utilisation(&trace, &trace.links[0], 0.9, 2 * TENTH).expect("reached");
        assert!((time - 0.6).abs() < 1e-12);
        assert_eq!(time_to_utilisation(&trace, &trace.links[0], 0.9, TENTH / 2), None, "sampled too coarsely");
        // From 0.4 s on, the span that ends at 0.7 s is the first full one as well.
        let time = recovery_time(&trace, &trace.links[0], 4 * TENTH).expect("reached");
        assert!((time - 0.3).abs() < 1e-12, "{time}");
        assert_eq!(recovery_time(&trace, &trace.links[0], 7 * TENTH), None, "no whole span is left");
    }

    #[test]
    fn losses_and_marks_are_shares_of_what_was_offered() {
        let trace = trace();
        let (link, window) = (&trace.links[0], Window::measured(&trace));
        // 60 drops, 10 random losses and 14 marks among the 400 packets offered after the warm-up.
        assert_eq!(link_rate(&trace, link, LinkCount::Lost, window), Some(0.175));
        assert_eq!(link_rate(&trace, link, LinkCount::Marked, window), Some(0.035));
        assert_eq!(link_rate(&trace, link, LinkCount::Lost, Window { from: 0, to: TENTH }), None);
    }

    #[test]
    fn delays_come_from_the_histogram() {
        let trace = trace();
        assert_eq!(queue_delay_mean(&trace.links[0]), Some(0.0505));
        let p95 = queue_delay_quantile(&trace.links[0], 0.95).expect("packets waited");
        assert!((0.095..=0.095 * (1.0 + 1.0 / 64.0)).contains(&p95), "{p95}");
        assert_eq!(queue_delay_mean(&LinkTrace::default()), None);
    }
}
