//! The measures of crossed experiments, computed from the kept values of a run.

use std::fmt;

use cwnd_run::measure::{jain, mean};
use cwnd_run::probe::{Probe, Reduction, available};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A measure of an algorithm; `papers/claims.toml` has its definition.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CrossMeasure {
    /// Share of the bottleneck's capacity that was carried.
    Utilisation,
    /// Share of what other traffic left of it.
    Goodput,
    /// Jain's index of goodputs over max-min fair shares.
    Fairness,
    /// Goodput over that of TCP.
    Friendliness,
    /// Stability index.
    Variation,
    /// Packets lost of those sent, per cent.
    Loss,
    /// Mean time in the queue, milliseconds.
    Delay,
    /// Timeouts per flow.
    Timeouts,
    /// Seconds until goodputs are fair.
    Convergence,
    /// Seconds until the bottleneck is used.
    Response,
}

/// Everything that the measures need of a run.
pub(super) const PROBE: Probe = Probe {
    name: "summary, over time and scores",
    of: |scenario, trace| {
        let mut kept = (Probe::SUMMARY.of)(scenario, trace);
        for (prefix, other) in [(OVER_TIME, Probe::OVER_TIME), (SCORES, available::SCORES)] {
            for (name, numbers) in (other.of)(scenario, trace).iter() {
                kept.keep(format!("{prefix}{name}"), numbers.iter().copied());
            }
        }
        kept
    },
};

impl CrossMeasure {
    /// Its unit; empty for shares and ratios.
    #[must_use]
    pub fn unit(self) -> &'static str {
        match self {
            Self::Loss => "%",
            Self::Delay => "ms",
            Self::Timeouts => "per flow",
            Self::Convergence | Self::Response => "s",
            _ => "",
        }
    }

    /// Its name with its unit: `loss, %`.
    #[must_use]
    pub fn heading(self) -> String {
        match self.unit() {
            "" => self.to_string(),
            unit => format!("{self}, {unit}"),
        }
    }

    /// How far a value is from the best that there can be.
    pub(super) fn distance(self, value: f64) -> f64 {
        match self {
            Self::Utilisation | Self::Goodput | Self::Fairness => -value,
            Self::Friendliness => libm::log(value).abs(),
            _ => value,
        }
    }

    /// Whether it is looked for in a part of the run.
    pub(super) fn needs_settling(self) -> bool {
        matches!(self, Self::Convergence | Self::Response)
    }

    /// Its value in a run of which the first `flows` are measured; `settle` is from when to when convergence is looked for, seconds.
    /// Friendliness is over the flows of TCP in the same run, or the goodput alone, bit/s, where there are none.
    pub(super) fn of(self, kept: &Reduction, flows: usize, settle: Option<[f64; 2]>) -> Option<f64> {
        let tested = |name: &str| -> Vec<f64> { kept.all(name).iter().take(flows).copied().collect() };
        match self {
            Self::Utilisation => kept.one("utilisation"),
            Self::Goodput => kept.one(&format!("{SCORES}goodput")),
            Self::Fairness => {
                let shares = tested("flow_fair_share_bps");
                let of_share = |(goodput, share): (f64, &f64)| goodput / share;
                jain(&tested("flow_goodput_bps").into_iter().zip(&shares).map(of_share).collect::<Vec<_>>())
            }
            Self::Friendliness => {
                let own = mean(&tested("flow_goodput_bps"))?;
                let all = kept.all("flow_goodput_bps");
                // As many of TCP follow those that are measured.
                mean(all.get(flows..2 * flows).unwrap_or_default()).map_or(Some(own), |tcp| Some(own / tcp))
            }
            Self::Variation => kept.one("stability_index"),
            Self::Loss => {
                let [lost, sent] =
                    ["flow_lost_packets", "flow_sent_packets"].map(|name| tested(name).iter().sum::<f64>());
                Some(lost / sent * 100.0)
            }
            Self::Delay => Some(kept.one("queue_delay_mean_s")? * 1e3),
            Self::Timeouts => mean(&tested("flow_timeouts")),
            Self::Convergence => {
                let names = (1..=flows).map(|flow| format!("{OVER_TIME}goodput_bps_{flow}"));
                let series: Vec<&[f64]> = names.map(|name| kept.all(&name)).collect();
                let fair = |from: usize| {
                    let means: Option<Vec<f64>> =
                        series.iter().map(|one| mean(one.get(from..from + FAIR_FOR)?)).collect();
                    means.and_then(|means| jain(&means)).is_some_and(|index| index >= FAIR)
                };
                first(settle?, FAIR_FOR, fair)
            }
            Self::Response => {
                let name = format!("{OVER_TIME}utilisation");
                let used = kept.all(&name);
                let full = |from: usize| {
                    used.get(from..from + FULL_FOR).is_some_and(|all| all.iter().all(|used| *used >= FULL))
                };
                first(settle?, FULL_FOR, full)
            }
        }
        .filter(|value| value.is_finite())
    }
}

impl fmt::Display for CrossMeasure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Utilisation => "utilisation",
            Self::Goodput => "goodput",
            Self::Fairness => "fairness",
            Self::Friendliness => "friendliness",
            Self::Variation => "variation",
            Self::Loss => "loss",
            Self::Delay => "delay",
            Self::Timeouts => "timeouts",
            Self::Convergence => "convergence",
            Self::Response => "response",
        })
    }
}

/// Seconds from the start of a span to the first interval from which `is_there` holds for `length` of them; all of the span where none
/// does.
fn first([from, to]: [f64; 2], length: usize, is_there: impl Fn(usize) -> bool) -> Option<f64> {
    let [first, last] = [from, to].map(|at| libm::round(at / INTERVAL) as usize);
    let found = (first..=last.saturating_sub(length)).find(|interval| is_there(*interval));
    Some(found.map_or(to - from, |interval| (interval - first) as f64 * INTERVAL))
}

const OVER_TIME: &str = "over_time_";
const SCORES: &str = "scores_";
/// The interval of [`Probe::OVER_TIME`], seconds.
const INTERVAL: f64 = 0.2;
/// Five seconds.
const FAIR_FOR: usize = 25;
const FAIR: f64 = 0.95;
/// A second.
const FULL_FOR: usize = 5;
const FULL: f64 = 0.95;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn convergence_is_counted_from_the_start_of_its_span_and_ends_with_it() {
        let mut kept = Reduction::default();
        // The second flow has its half from 20 s on.
        kept.keep("over_time_goodput_bps_1", vec![1.0; 200]);
        kept.keep("over_time_goodput_bps_2", (0..200).map(|n| if n < 100 { 0.0 } else { 1.0 }));
        let time = |settle| CrossMeasure::Convergence.of(&kept, 2, Some(settle));
        // An index of 0.95 is reached where the second has 0.63 of the first: 16 of 25 intervals.
        assert!(time([10.0, 40.0]).is_some_and(|time| (time - 8.2).abs() < 0.21), "{:?}", time([10.0, 40.0]));
        assert_eq!(time([10.0, 15.0]), Some(5.0));
    }

    #[test]
    fn friendliness_is_over_the_flows_of_tcp_that_follow() {
        let mut kept = Reduction::default();
        kept.keep("flow_goodput_bps", [3.0, 5.0, 1.0, 3.0, 100.0]);
        assert_eq!(CrossMeasure::Friendliness.of(&kept, 2, None), Some(2.0));
        kept.keep("flow_goodput_bps", [3.0]);
        assert_eq!(CrossMeasure::Friendliness.of(&kept, 1, None), Some(3.0));
    }

    #[test]
    fn fairness_is_of_fair_shares() {
        let mut kept = Reduction::default();
        kept.keep("flow_goodput_bps", [90.0, 5.0]);
        kept.keep("flow_fair_share_bps", [90.0, 5.0]);
        assert_eq!(CrossMeasure::Fairness.of(&kept, 2, None), Some(1.0));
    }
}
