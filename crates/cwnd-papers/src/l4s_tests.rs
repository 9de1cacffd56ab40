//! L4S Tests (Heist and Morton 2020): flows of Prague and CUBIC, measured on Linux.

use super::change;
use super::files::paper_files;
use super::reproduction::Reproduction;
use super::{Bench, Computed, Findings, PaperError, Result};
use cwnd::Span;
use cwnd_run::probe::{Probe, Reduction};
use cwnd_run::scenario::{FlowGroup, Scenario};
use cwnd_sim::AckEcho;

pub(super) const PAPER: Reproduction = Reproduction {
    files: paper_files!("l4s-tests": "pair", "single", "step", "alone"),
    runners: &[
        ("dualpi2-50", |bench, findings| pairs(bench, findings, "50mbit", &bench.assumed("dualpi2")?, &ALL)),
        ("pfifo-50", |bench, findings| pairs(bench, findings, "50mbit", "droptail:1000p", &ALL[1..])),
        ("fq_codel-50", |bench, findings| pairs(bench, findings, "50mbit", &bench.assumed("fq_codel")?, &ALL)),
        ("dualpi2-10", |bench, findings| pairs(bench, findings, "10mbit", &bench.assumed("dualpi2")?, &FEW)),
        ("pfifo-10", |bench, findings| pairs(bench, findings, "10mbit", "droptail:200p", &FEW)),
        ("fq_codel-10", |bench, findings| pairs(bench, findings, "10mbit", &bench.assumed("fq_codel")?, &FEW)),
        ("single-queue", single_queue),
        ("rate-step", rate_step),
        ("alone", alone),
    ],
};

/// A flow as the tables of the paper have it.
#[derive(Clone, Copy)]
struct Party {
    prague: bool,
    rtt: Span,
}

/// Pairs of flows through one queue.
fn pairs(bench: &Bench<'_>, findings: &mut Findings, rate: &str, queue: &str, pairs: &[[Party; 2]]) -> Result {
    let runs = bench.run_all(pairs.iter().map(|pair| scenario_of(bench, rate, queue, *pair)), Probe::SUMMARY)?;
    for ([one, other], runs) in pairs.iter().zip(&runs) {
        for (flow, which) in ["first", "second"].into_iter().enumerate() {
            findings.value(format!("{} / {}: {which}", one.text(), other.text()), goodput(runs, flow));
        }
    }
    Ok(())
}

fn scenario_of(bench: &Bench<'_>, rate: &str, queue: &str, pair: [Party; 2]) -> Result<Scenario> {
    bench.scenario("pair", |document| {
        let least = pair[0].rtt.min(pair[1].rtt);
        let bell = change::dumbbell(document);
        bell.rate = rate.parse()?;
        bell.rtt = change::span(least)?;
        bell.queue = queue.parse()?;
        for (flow, party) in document.flow.iter_mut().zip(pair) {
            let longer = party.rtt - least;
            flow.extra_rtt = if longer > Span::ZERO { Some(change::span(longer)?) } else { None };
            if party.prague {
                set_prague(bench, flow)?;
            } else {
                set_classic(bench, flow, "cubic", true)?;
            }
        }
        Ok(())
    })
}

fn single_queue(bench: &Bench<'_>, findings: &mut Findings) -> Result {
    let red = bench.assumed("red")?;
    let queues = [
        ("fq_codel", "fq_codel:10240p,queues=1"),
        ("fq_codel, 1 ms", "fq_codel:10240p,queues=1,target=1ms,interval=20ms"),
        ("pie", "pie:1000p,ecn=yes"),
        ("red", red.as_str()),
    ];
    let others = [("CUBIC", "cubic"), ("Reno", "reno")];
    let cells = queues.into_iter().flat_map(|queue| others.map(|other| (queue, other)));
    let cells: Vec<_> = cells.flat_map(|(queue, other)| [true, false].map(|ecn| (queue, other, ecn))).collect();
    let scenarios = cells.iter().map(|((_, queue), (_, algorithm), ecn)| {
        bench.scenario("single", |document| {
            change::dumbbell(document).queue = queue.parse()?;
            set_prague(bench, &mut document.flow[0])?;
            set_classic(bench, &mut document.flow[1], algorithm, *ecn)
        })
    });
    let runs = bench.run_all(scenarios, Probe::SUMMARY)?;
    for (((queue, _), (other, _), ecn), runs) in cells.iter().zip(&runs) {
        let case = format!("{queue}, {other}, {}", if *ecn { "ECN" } else { "no ECN" });
        findings.value(format!("{case}: Prague"), goodput(runs, 0));
        findings.value(format!("{case}: classic"), goodput(runs, 1));
    }
    Ok(())
}

fn rate_step(bench: &Bench<'_>, findings: &mut Findings) -> Result {
    let queue = bench.assumed("fq_codel")?;
    let scenarios = ["1mbit", "25mbit"].map(|rate| {
        bench.scenario("step", |document| {
            let bell = change::dumbbell(document);
            bell.queue = queue.parse()?;
            let step = bell.schedule.as_mut().and_then(|schedule| schedule.steps.first_mut());
            step.expect("step.toml has one").rate = Some(rate.parse()?);
            set_prague(bench, &mut document.flow[0])
        })
    });
    let runs = bench.run_all(scenarios, Probe::OVER_TIME)?;
    let [slow, half] = [0, 1].map(|rate| Computed::over(&runs[rate], longest));
    findings.value("to 1 Mbit/s: largest smoothed round-trip time", slow);
    findings.value("to 25 Mbit/s: largest smoothed round-trip time above 80 ms", half.map(|rtt| rtt - 80.0));
    Ok(())
}

fn alone(bench: &Bench<'_>, findings: &mut Findings) -> Result {
    let scenarios = [true, false].map(|prague| {
        bench.scenario("alone", |document| {
            change::dumbbell(document).queue = bench.assumed("dualpi2")?.parse()?;
            if prague {
                set_prague(bench, &mut document.flow[0])
            } else {
                document.warmup = "2s".parse()?;
                set_classic(bench, &mut document.flow[0], "cubic", true)
            }
        })
    });
    let runs = bench.run_all(scenarios, Probe::SUMMARY)?;
    findings.value("Prague: goodput", goodput(&runs[0], 0));
    findings.value("CUBIC: goodput", goodput(&runs[1], 0));
    Ok(())
}

fn set_prague(bench: &Bench<'_>, flow: &mut FlowGroup) -> Result {
    change::set_algorithm(std::slice::from_mut(flow), &bench.assumed("prague")?)?;
    flow.ecn = Some(AckEcho::AccEcnScalable.into());
    Ok(())
}

fn set_classic(bench: &Bench<'_>, flow: &mut FlowGroup, algorithm: &str, ecn: bool) -> Result {
    change::set_algorithm(std::slice::from_mut(flow), algorithm)?;
    let value = bench.assumed("classic-ecn")?;
    let Some(echo) = AckEcho::find(&value) else {
        let reason = AckEcho::ALL.map(AckEcho::name).join(", ");
        let (key, reason) = ("classic-ecn".to_string(), format!("accepted is {reason}"));
        return Err(PaperError::Assumption { key, value, reason });
    };
    flow.ecn = ecn.then(|| echo.into());
    Ok(())
}

/// The goodput of a flow in Mbit/s.
fn goodput(runs: &[Reduction], flow: usize) -> Computed {
    Computed::over(runs, |kept| Some(kept.all("flow_goodput_bps").get(flow)? * 1e-6))
}

/// The largest smoothed round-trip time after the step, in ms.
fn longest(kept: &Reduction) -> Option<f64> {
    kept.all("srtt_1").get(STEP..)?.iter().copied().reduce(f64::max).map(|seconds| seconds * 1e3)
}

impl Party {
    /// As the tables here name it: `p20`.
    fn text(self) -> String {
        format!("{}{}", if self.prague { 'p' } else { 'c' }, self.rtt.as_nanos() / 1_000_000)
    }
}

const fn cubic(millis: u64) -> Party {
    Party { prague: false, rtt: Span::from_millis(millis) }
}

const fn prague(millis: u64) -> Party {
    Party { prague: true, rtt: Span::from_millis(millis) }
}

/// The first is left out where its row is not to be trusted.
const ALL: [[Party; 2]; 11] = [
    [cubic(10), prague(10)],
    [cubic(20), prague(20)],
    [cubic(80), prague(80)],
    [cubic(20), cubic(20)],
    [prague(20), prague(20)],
    [cubic(80), cubic(20)],
    [prague(80), prague(20)],
    [cubic(80), prague(20)],
    [prague(80), cubic(20)],
    [cubic(160), cubic(10)],
    [prague(160), prague(10)],
];
const FEW: [[Party; 2]; 4] =
    [[cubic(10), prague(10)], [cubic(80), prague(80)], [prague(80), prague(20)], [prague(160), prague(10)]];
/// Intervals of [`Probe::OVER_TIME`] in 30 s.
const STEP: usize = 150;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_party_is_named_by_algorithm_and_round_trip() {
        assert_eq!((cubic(160).text(), prague(20).text()), ("c160".to_string(), "p20".to_string()));
    }

    #[test]
    fn only_what_follows_the_step_counts() {
        let mut kept = Reduction::default();
        kept.keep("srtt_1", [vec![9.0; STEP], vec![0.5, 4.0, 2.0]].concat());
        assert_eq!(longest(&kept), Some(4000.0));
        assert_eq!(longest(&Reduction::default()), None);
    }
}
