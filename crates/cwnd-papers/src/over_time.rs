//! Figures over time: the first run of a scenario, in intervals of a fifth of a second.

use super::bench::Bench;
use super::error::Result;
use super::findings::Curve;
use cwnd_run::measure::mean;
use cwnd_run::probe::{Probe, Reduction};
use cwnd_run::scenario::{Scenario, Written};

/// The first run of a scenario, over time.
pub(crate) struct OverTime(Reduction);

impl OverTime {
    /// Runs the first seed of `scenario`; none for a variant of an algorithm, of which nothing is drawn.
    ///
    /// # Errors
    /// As [`Bench::run_all`].
    pub(crate) fn of(bench: &Bench<'_>, scenario: &Scenario) -> Result<Option<Self>> {
        if bench.variant().is_some() {
            return Ok(None);
        }
        let mut document = scenario.document().clone();
        document.seeds = 1;
        document.sampling = Written::literal("200ms");
        let runs = bench.run(Scenario::check(document)?, Probe::OVER_TIME)?;
        Ok(runs.into_iter().next().map(Self))
    }

    /// Simulated time, seconds.
    pub(crate) fn length(&self) -> f64 {
        self.0.all("utilisation").len() as f64 * INTERVAL
    }

    /// Goodput of a flow, counted from 1, Mbit/s: a mean over each span of `intervals`, at the middle of it.
    pub(crate) fn rate(&self, flow: usize, intervals: usize) -> Vec<(f64, f64)> {
        let series = self.0.all(&format!("goodput_bps_{flow}"));
        let mean_of = |(nth, rates): (usize, &[f64])| {
            Some(((nth as f64 + 0.5) * intervals as f64 * INTERVAL, mean(rates)? * 1e-6))
        };
        series.chunks_exact(intervals).enumerate().filter_map(mean_of).collect()
    }

    /// Window of a flow, counted from 1, packets, at the end of each interval.
    pub(crate) fn window(&self, flow: usize) -> Vec<(f64, f64)> {
        let series = self.0.all(&format!("window_{flow}"));
        series.iter().enumerate().map(|(nth, window)| ((nth + 1) as f64 * INTERVAL, *window)).collect()
    }

    /// Goodput of the first `flows` together, likewise.
    pub(crate) fn total(&self, flows: usize, intervals: usize) -> Vec<(f64, f64)> {
        let mut sum = self.rate(1, intervals);
        for flow in 2..=flows {
            for ((_, sum), (_, rate)) in sum.iter_mut().zip(self.rate(flow, intervals)) {
                *sum += rate;
            }
        }
        sum
    }

    /// A curve for each of the first `flows`, means over seconds, Mbit/s, by `name`.
    pub(crate) fn curves(&self, flows: usize, name: impl Fn(usize) -> String) -> Vec<Curve> {
        (1..=flows).map(|flow| Curve::new(name(flow), self.rate(flow, SECOND))).collect()
    }
}

/// Seconds.
const INTERVAL: f64 = 0.2;
/// Intervals of a second.
pub(crate) const SECOND: usize = 5;
