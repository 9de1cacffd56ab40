//! The share of a flow of BBR against one of CUBIC, by the queue in bandwidth-delay products.

use super::version_3;
use crate::change;
use crate::{Bench, Computed, Curve, Figure, Findings, Result};
use cwnd_run::measure::jain;
use cwnd_run::probe::{Probe, Reduction};

/// A path by its rate and its round trip, with the queues that are tried on it.
#[derive(Clone, Copy)]
struct Path {
    rate: &'static str,
    rtt: &'static str,
    queues: &'static [f64],
}

pub(super) fn figure_5a(bench: &Bench<'_>, findings: &mut Findings) -> Result {
    published(bench, findings, SLOW, &version_3(bench)?)
}

pub(super) fn figure_5b(bench: &Bench<'_>, findings: &mut Findings) -> Result {
    published(bench, findings, FAST, &version_3(bench)?)
}

pub(super) fn figure_2a(bench: &Bench<'_>, findings: &mut Findings) -> Result {
    published(bench, findings, SLOW, "bbr")
}

pub(super) fn figure_2b(bench: &Bench<'_>, findings: &mut Findings) -> Result {
    published(bench, findings, FAST, "bbr")
}

/// The claims of the abstract of "Promises" about a flow against CUBIC.
pub(super) fn room(bench: &Bench<'_>, findings: &mut Findings) -> Result {
    let path = Path { queues: &SHALLOW_TO_DEEP, ..FAST };
    let runs = path.runs(bench, &version_3(bench)?)?;
    let seeds = runs.iter().map(Vec::len).min().unwrap_or(0);
    let over_queues = |of: fn(&Reduction) -> Option<f64>| {
        move |runs: &[Vec<Reduction>], seed: usize| {
            runs.iter().map(|runs| of(&runs[seed])).collect::<Option<Vec<f64>>>()
        }
    };
    let (index, others) = (over_queues(|kept| jain(kept.all("flow_goodput_bps"))), over_queues(others));
    let unequal = |seed| Some(index(&runs, seed)?.iter().filter(|index| **index < EQUAL).count() as f64);
    let mean = |seed| Some(others(&runs, seed)?.iter().sum::<f64>() / runs.len() as f64);
    let over_seeds = |of: &dyn Fn(usize) -> Option<f64>| Computed::Runs((0..seeds).filter_map(of).collect());
    findings.value("queues of the six at which Jain's index is below 0.95", over_seeds(&unequal));
    findings.value("CUBIC's part of what both carry, mean over the queues", over_seeds(&mean));
    for (queue, runs) in path.queues.iter().zip(&runs) {
        findings.extra(
            format!("{queue} BDP: Jain index"),
            "",
            Computed::over(runs, |kept| jain(kept.all("flow_goodput_bps"))),
        );
    }
    Ok(())
}

/// The shares over a path that neither paper has.
pub(super) fn beyond(bench: &Bench<'_>, findings: &mut Findings) -> Result {
    let queues = bench.by_scale(&SHALLOW_TO_DEEP[1..2], &SHALLOW_TO_DEEP[..]);
    let path = Path { rate: "100mbit", rtt: "40ms", queues };
    let mut curves = Vec::new();
    for (name, algorithm) in [("BBRv3", version_3(bench)?), ("BBRv1", "bbr".to_string())] {
        let runs = path.runs(bench, &algorithm)?;
        for (queue, runs) in path.queues.iter().zip(&runs) {
            findings.extra(format!("{name}, {queue} BDP"), "", path.share(runs));
        }
        curves.push(path.curve(name, &runs));
    }
    findings.figure(figure("Shares over 100 Mbit/s", curves));
    Ok(())
}

/// Rows and a figure of a result whose data are trials of its authors.
fn published(bench: &Bench<'_>, findings: &mut Findings, path: Path, algorithm: &str) -> Result {
    let trials: Vec<[f64; 4]> = bench.data("trials")?;
    let runs = path.runs(bench, algorithm)?;
    for (queue, runs) in path.queues.iter().zip(&runs) {
        findings.value(format!("{queue} BDP"), path.share(runs));
    }
    let rate = path.bits_per_second()? * 1e-6;
    let theirs = trials.iter().map(|[queue, one, two, three]| (*queue, (one + two + three) / (3.0 * rate)));
    findings.figure(figure("Shares", vec![Curve::printed("Sharing", theirs), path.curve("cwnd", &runs)]));
    Ok(())
}

fn figure(title: &'static str, curves: Vec<Curve>) -> Figure {
    Figure {
        title,
        caption: "Goodput of the flow of BBR over the rate of the link, against one flow of CUBIC. Means over runs, and over the three \
                  trials of the paper."
            .to_string(),
        x: "Queue (bandwidth-delay products)",
        y: "Share of the link",
        log: (true, false),
        curves,
    }
}

impl Path {
    /// One list of runs for each queue.
    fn runs(self, bench: &Bench<'_>, algorithm: &str) -> Result<Vec<Vec<Reduction>>> {
        let scenarios = self.queues.iter().map(|queue| {
            bench.scenario("beside-cubic", |document| {
                change::set_algorithm(&mut document.flow[..1], algorithm)?;
                let bell = change::dumbbell(document);
                bell.rate = self.rate.parse()?;
                bell.rtt = self.rtt.parse()?;
                bell.queue = format!("droptail:{queue}bdp").parse()?;
                Ok(())
            })
        });
        bench.run_all(scenarios, Probe::SUMMARY)
    }

    /// The share of the first flow in the link.
    fn share(self, runs: &[Reduction]) -> Computed {
        let rate = self.bits_per_second().unwrap_or(f64::NAN);
        Computed::over(runs, |kept| Some(kept.all("flow_goodput_bps").first()? / rate))
    }

    fn curve(self, name: &str, runs: &[Vec<Reduction>]) -> Curve {
        let points = self.queues.iter().zip(runs);
        Curve::new(name, points.filter_map(|(queue, runs)| Some((*queue, self.share(runs).value()?))))
    }

    fn bits_per_second(self) -> Result<f64> {
        let rate: cwnd_run::scenario::Written<cwnd::BitRate> = self.rate.parse()?;
        Ok(rate.value().0)
    }
}

/// The share of all flows but the first in the traffic of all.
fn others(kept: &Reduction) -> Option<f64> {
    let goodput = kept.all("flow_goodput_bps");
    Some(1.0 - goodput.first()? / goodput.iter().sum::<f64>())
}

const SLOW: Path = Path { rate: "10mbit", rtt: "40ms", queues: &PUBLISHED };
const FAST: Path = Path { rate: "50mbit", rtt: "30ms", queues: &PUBLISHED };
const PUBLISHED: [f64; 7] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0];
const SHALLOW_TO_DEEP: [f64; 6] = [0.5, 1.0, 2.0, 4.0, 8.0, 16.0];
/// Jain's index from which two shares count as equal.
const EQUAL: f64 = 0.95;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bbr3::PAPER;

    #[test]
    fn the_rows_are_the_means_of_the_trials() {
        let published = PAPER.published().unwrap_or_else(|error| panic!("{error}"));
        for (id, path) in [("figure-5a", SLOW), ("figure-5b", FAST), ("figure-2a", SLOW), ("figure-2b", FAST)] {
            let result = published.result(id).expect("listed");
            let trials: Vec<[f64; 4]> = result.data["trials"].clone().try_into().expect("numbers");
            let rate = path.bits_per_second().expect("a rate") * 1e-6;
            assert_eq!(trials.len(), result.rows.len());
            for ([queue, trials @ ..], row) in trials.iter().zip(&result.rows) {
                assert_eq!(row.id, format!("{queue} BDP"));
                let mean = trials.iter().sum::<f64>() / (3.0 * rate);
                let published = row.published.as_ref().and_then(crate::Value::number).expect("a number");
                assert!((mean - published).abs() <= 0.5e-4, "{id} {queue}: {mean} and {published}");
            }
        }
    }
}
