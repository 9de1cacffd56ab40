//! The output of `network.tcl`, and the measures computed from it.

use cwnd_run::measure::{Curve, Window, jain, mean, stability_index, summarise};
use cwnd_run::probe::{Probe, Reduction};
use cwnd_run::scenario::Scenario;
use cwnd_trace::Trace;
use serde::{Deserialize, Serialize};

/// The numbers of one run, between the end of the warm-up and the end.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Run {
    pub(crate) seed: u64,
    /// Packets of each flow that arrived, per second.
    pub(crate) packets_per_s: Vec<f64>,
    /// SI over the intervals between samples; none where a run has fewer than two.
    pub(crate) stability: Option<f64>,
    pub(crate) bottleneck: Link,
    /// How long the run took.
    pub(crate) wall_s: f64,
}

/// The bottleneck of a run.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Link {
    pub(crate) bits_per_s: f64,
    /// Drops and marks as shares of what arrived.
    pub(crate) loss_rate: f64,
    pub(crate) mark_rate: f64,
    /// Mean time in the queue.
    pub(crate) queue_delay_s: f64,
}

impl Run {
    /// Reads the output of a run; the error is the first unexpected line, or the missing value.
    pub(crate) fn read(seed: u64, wall_s: f64, text: &str) -> Result<Self, String> {
        let (mut flows, mut links) = (Vec::new(), Vec::new());
        for line in text.lines() {
            let (word, numbers) = line.split_once(' ').ok_or(line)?;
            let numbers: Result<Vec<f64>, _> = numbers.split_whitespace().map(str::parse::<f64>).collect();
            match (word, numbers) {
                ("flows", Ok(numbers)) if numbers.len() > 1 => flows.push(numbers),
                ("link", Ok(numbers)) if numbers.len() == 6 => links.push(numbers),
                _ => return Err(line.to_owned()),
            }
        }
        let [first, .., last] = flows.as_slice() else { return Err("fewer than two samples of flows".to_owned()) };
        if flows.iter().any(|sample| sample.len() != first.len()) {
            return Err("samples of different numbers of flows".to_owned());
        }
        let [from, to] = links.as_slice() else { return Err("not two samples of the bottleneck".to_owned()) };
        let rate = |from: &[f64], to: &[f64], at: usize| (to[at] - from[at]) / (to[0] - from[0]);
        let rates = |from: &[f64], to: &[f64]| (1..from.len()).map(|at| rate(from, to, at)).collect::<Vec<f64>>();
        let intervals: Vec<Vec<f64>> = flows.windows(2).map(|pair| rates(&pair[0], &pair[1])).collect();
        let series: Vec<Vec<f64>> =
            (0..first.len() - 1).map(|flow| intervals.iter().map(|rates| rates[flow]).collect()).collect();
        let [bytes, arrived, dropped, marked, waiting] = [1, 2, 3, 4, 5].map(|at| to[at] - from[at]);
        Ok(Self {
            seed,
            packets_per_s: rates(first, last),
            stability: stability_index(&series),
            bottleneck: Link {
                bits_per_s: 8.0 * bytes / (to[0] - from[0]),
                loss_rate: dropped / arrived,
                mark_rate: marked / arrived,
                // Little's law: packets in the queue on average, over those that left it per second.
                queue_delay_s: waiting / (arrived - dropped),
            },
            wall_s,
        })
    }

    /// The measures of a run on this side.
    pub(crate) fn ours(seed: u64, scenario: &Scenario, trace: &Trace) -> Self {
        let window = Window::measured(trace);
        let curves: Vec<Curve<'_>> = trace.flows.iter().map(|flow| Curve::new(&trace.at, &flow.delivered)).collect();
        let interval = match trace.at[..] {
            [first, second, ..] => second - first,
            _ => window.to - window.from,
        };
        let series: Option<Vec<Vec<f64>>> = curves.iter().map(|curve| curve.series(window, interval)).collect();
        let summary = summarise(trace, scenario.bottleneck());
        let or_nan = |value: Option<f64>| value.unwrap_or(f64::NAN);
        let rate = scenario.setup(seed).links[scenario.bottleneck()].rate.unwrap_or(0) as f64;
        Self {
            seed,
            packets_per_s: curves.iter().map(|curve| or_nan(curve.per_second(window))).collect(),
            stability: series.and_then(|series| stability_index(&series)),
            bottleneck: Link {
                bits_per_s: or_nan(summary.utilisation) * rate,
                loss_rate: or_nan(summary.loss_rate),
                mark_rate: or_nan(summary.mark_rate),
                queue_delay_s: or_nan(summary.queue_delay_mean_s),
            },
            wall_s: 0.0,
        }
    }

    /// The stored values of a run on this side. The sources of [`ours`](Self::ours) are not part of a stored cell's key: a change of its
    /// computation has to change the name.
    pub(crate) const KEPT: Probe =
        Probe { name: "ns-2 run", of: |scenario, trace| Self::ours(0, scenario, trace).kept() };

    fn kept(&self) -> Reduction {
        let mut kept = Reduction::default();
        kept.keep("packets_per_s", self.packets_per_s.clone());
        kept.keep("stability", self.stability);
        let Link { bits_per_s, loss_rate, mark_rate, queue_delay_s } = self.bottleneck;
        kept.keep("bottleneck", vec![bits_per_s, loss_rate, mark_rate, queue_delay_s]);
        kept
    }

    /// The run of which this was kept.
    pub(crate) fn of_kept(seed: u64, kept: &Reduction) -> Option<Self> {
        let [bits_per_s, loss_rate, mark_rate, queue_delay_s] = *kept.all("bottleneck") else { return None };
        let bottleneck = Link { bits_per_s, loss_rate, mark_rate, queue_delay_s };
        let packets_per_s = kept.all("packets_per_s").to_vec();
        Some(Self { seed, packets_per_s, stability: kept.one("stability"), bottleneck, wall_s: 0.0 })
    }

    /// A quantity of the flows; `packet` in bits.
    pub(crate) fn quantity(&self, what: Quantity, packet: f64) -> Option<f64> {
        let mbit = |rate: &f64| rate * packet / 1e6;
        match what {
            Quantity::Rate(flow) => self.packets_per_s.get(flow).map(mbit),
            Quantity::Sum => mean(&self.packets_per_s).map(|mean| mbit(&mean) * self.packets_per_s.len() as f64),
            Quantity::Jain => jain(&self.packets_per_s),
            Quantity::Stability => self.stability,
            Quantity::Ratio => Some(self.packets_per_s.first()? / self.packets_per_s.get(1)?),
        }
    }
}

/// A number of a table.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Quantity {
    /// The received rate of a flow, Mbit/s on the wire.
    Rate(usize),
    /// The measure of all flows together: EI.
    Sum,
    /// FI.
    Jain,
    /// SI.
    Stability,
    /// The first flow's rate over that of the second.
    Ratio,
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRINTED: &str = "flows 10 100 50\nlink 10 1000 10 1 0 0.5\nflows 11 200 50\nflows 12 400 150\n\
                           link 12 301000 410 21 4 10.5\n";

    #[test]
    fn what_a_run_prints_is_measured() {
        let run = Run::read(3, 1.5, PRINTED).expect("as printed by ns-2");
        assert_eq!(run.packets_per_s, [150.0, 50.0]);
        assert_eq!((run.bottleneck.bits_per_s, run.bottleneck.loss_rate), (1.2e6, 0.05));
        assert_eq!((run.bottleneck.mark_rate, run.bottleneck.queue_delay_s), (0.01, 10.0 / 380.0));
        // 100 and 200 around 150, 0 and 100 around 50: 50 √2 over the means.
        let si = (50.0 / 150.0 + 1.0) * 2.0_f64.sqrt() / 2.0;
        assert!(run.stability.is_some_and(|given| (given - si).abs() < 1e-12), "{:?}", run.stability);
        let of = |what| run.quantity(what, 12_000.0);
        assert_eq!(
            [of(Quantity::Rate(0)), of(Quantity::Sum)].map(|value| value.map(|v| (v * 1e6).round())),
            [Some(1.8e6), Some(2.4e6)]
        );
        assert_eq!(of(Quantity::Ratio), Some(3.0));
        assert!(of(Quantity::Jain).is_some_and(|given| (given - 0.8).abs() < 1e-12));
        assert_eq!(of(Quantity::Rate(2)), None);
    }

    #[test]
    fn what_is_stored_of_a_run_is_the_run() {
        let run = Run::read(3, 0.0, PRINTED).expect("as printed by ns-2");
        assert_eq!(Run::of_kept(3, &run.kept()), Some(run.clone()));
        let alone = Run { stability: None, ..run };
        assert_eq!(Run::of_kept(3, &alone.kept()), Some(alone));
        assert_eq!(Run::of_kept(3, &Reduction::default()), None);
    }

    #[test]
    fn what_is_not_a_run_is_refused() {
        for (text, said) in [
            ("", "fewer than two samples of flows"),
            ("flows 1 2\nflows 2 3\n", "not two samples of the bottleneck"),
            ("flows 1 2\nflows 2 3 4\n", "samples of different numbers of flows"),
            ("flows 1 x\n", "flows 1 x"),
            ("invalid command name \"udt\"\n", "invalid command name \"udt\""),
        ] {
            assert_eq!(Run::read(1, 0.0, text).err().as_deref(), Some(said));
        }
    }
}
