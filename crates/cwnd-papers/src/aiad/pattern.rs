//! Figs. 1 and 2: test flows where cross traffic leaves a pattern of bandwidth.

use cwnd::Span;

use super::environment::{Scheme, bits, flows};
use crate::change::{self, bit_rate, set_algorithm};
use crate::{Bench, Computed, Curve, Figure, Findings, OverTime, Result};
use cwnd_run::measure::mean;
use cwnd_run::probe::{Probe, Reduction, available};
use cwnd_run::scenario::{Cbr, Scenario};

/// The cross traffic as a share of 10 Mbit/s per test flow, over and over.
struct Pattern {
    /// Length of a repetition, milliseconds.
    period: u64,
    /// Mbit/s per test flow, and from when to when within a repetition, milliseconds.
    taken: Vec<(f64, u64, u64)>,
}

impl Pattern {
    /// Fig. 1(a): 1 to 10 Mbit/s in steps of 1 over 5 s, then down.
    fn saw_tooth() -> Self {
        Self::tooth(5000, 1.0)
    }

    /// From `bottom` to 10 Mbit/s in ten even steps over a period of `period` milliseconds, then down.
    fn tooth(period: u64, bottom: f64) -> Self {
        Self { period, taken: (1..10).map(|step| ((10.0 - bottom) / 9.0, 0, step * period / 10)).collect() }
    }

    /// Fig. 1(b): 10 Mbit/s for 4 s, 5 Mbit/s for 1 s.
    fn high_periods() -> Self {
        Self { period: 5000, taken: vec![(5.0, 4000, 5000)] }
    }

    /// Fig. 2(a): 1 and 10 Mbit/s, 5 s each.
    fn sudden_rise() -> Self {
        Self { period: 10_000, taken: vec![(9.0, 0, 5000)] }
    }

    /// Fig. 2(b): 10 Mbit/s.
    fn steady() -> Self {
        Self { period: 5000, taken: Vec::new() }
    }

    /// The mean bandwidth left to a test flow, Mbit/s.
    fn mean(&self) -> f64 {
        let taken = self.taken.iter().map(|(rate, from, to)| rate * (to - from) as f64);
        10.0 - taken.sum::<f64>() / self.period as f64
    }

    /// A scheme on it.
    fn scenario(&self, bench: &Bench<'_>, scheme: &Scheme) -> Result<Scenario> {
        let flows = flows(bench)?;
        bench.scenario("pattern", |document| {
            let end = document.duration.value().as_nanos() / 1_000_000;
            let cross = document.cbr[0].clone();
            document.cbr.clear();
            for (rate, from, to) in &self.taken {
                let starts = (0..end.div_ceil(self.period)).map(|nth| nth * self.period);
                let on = starts.map(|start| Ok(format!("{}ms..{}ms", start + from, start + to).parse()?));
                let rate = format!("cbr:{}bit", bits(rate * flows)).parse()?;
                document.cbr.push(Cbr { rate, on: on.collect::<Result<_>>()?, name: None, ..cross.clone() });
            }
            change::dumbbell(document).rate = bit_rate(bits(10.0 * flows) as f64)?;
            document.flow[0].count = flows as u32;
            set_algorithm(&mut document.flow, &scheme.algorithm)
        })
    }

    /// The bandwidth left to a test flow after `at` seconds, Mbit/s.
    fn left(&self, at: f64) -> f64 {
        let within = (at * 1e3) % self.period as f64;
        let takes = |(_, from, to): &&(f64, u64, u64)| (*from as f64..*to as f64).contains(&within);
        10.0 - self.taken.iter().filter(takes).map(|(rate, ..)| rate).sum::<f64>()
    }

    /// The curves of AIMD and AIAD under it, over the last periods of the first run.
    fn draw(&self, bench: &Bench<'_>, title: &'static str, schemes: &[Scheme], findings: &mut Findings) -> Result {
        let flows = flows(bench)?.min(MOST_DRAWN) as usize;
        let mut curves = Vec::new();
        for scheme in &schemes[..2] {
            let Some(run) = OverTime::of(bench, &self.scenario(bench, scheme)?)? else { return Ok(()) };
            let from = run.length() - PERIODS * self.period as f64 * 1e-3;
            let shown = |(at, _): &(f64, f64)| *at >= from;
            if curves.is_empty() {
                let available = run.rate(1, 1).into_iter().filter(shown).map(|(at, _)| (at, self.left(at)));
                curves.push(Curve::new("available", available));
            }
            let mean = run.total(flows, 1).into_iter().filter(shown).map(|(at, sum)| (at, sum / flows as f64));
            curves.push(Curve::new(scheme.name.clone(), mean));
        }
        findings.figure(Figure {
            title,
            caption: "Available to a test flow, and the mean goodput of up to five of them in each fifth of a second of the first run. \
                      The paper prints the mean goodput over the mean available, which the rows compare."
                .to_string(),
            x: "Time, s",
            y: "Mbit/s",
            log: (false, false),
            curves,
        });
        Ok(())
    }

    /// The runs of each scheme on it.
    fn runs(&self, bench: &Bench<'_>, schemes: &[Scheme]) -> Result<Vec<Vec<Reduction>>> {
        bench.run_all(schemes.iter().map(|scheme| self.scenario(bench, scheme)), Probe::SUMMARY)
    }

    /// Goodput of each scheme as a share of the available bandwidth; the measured time holds whole repetitions.
    fn goodputs(&self, bench: &Bench<'_>, runs: &[Vec<Reduction>]) -> Result<Vec<Computed>> {
        let available = self.mean() * 1e6 * flows(bench)?;
        Ok(runs.iter().map(|runs| Computed::mean(runs, "goodput_bps").map(|goodput| goodput / available)).collect())
    }
}

pub(super) fn first(bench: &Bench<'_>, findings: &mut Findings) -> Result {
    let schemes = Scheme::chosen(bench)?;
    let (tooth, periods) = (Pattern::saw_tooth(), Pattern::high_periods());
    let on_tooth = tooth.runs(bench, &schemes)?;
    let on_a = tooth.goodputs(bench, &on_tooth)?;
    let on_periods = periods.runs(bench, &schemes)?;
    let on_b = periods.goodputs(bench, &on_periods)?;
    findings.value("goodput on (a), AIMD less AIAD", on_a[0].minus(&on_a[1]));
    findings.value("loss on (a), AIAD less AIMD", loss(&on_tooth[1]).minus(&loss(&on_tooth[0])));
    findings.value("goodput on (b), AIAD less AIMD", on_b[1].minus(&on_b[0]));
    let [multiplicative, other] = [timeouts(&on_periods[2]), timeouts(&on_periods[3])];
    let fewer = if multiplicative.value() < other.value() { multiplicative } else { other };
    findings.value("time-outs on (b), fewer of MIMD and MIAD", fewer);
    for (scheme, on_tooth) in schemes.iter().zip(&on_tooth) {
        findings.extra(format!("time-outs on (a), {}", scheme.name), "per flow", timeouts(on_tooth));
    }
    for (scheme, on_periods) in schemes.iter().zip(&on_periods) {
        findings.extra(format!("time-outs on (b), {}", scheme.name), "per flow", timeouts(on_periods));
    }
    // From rest, so that the first high periods are there to be seen.
    let from_rest = periods.scenario(bench, &schemes[1])?.with_warmup(Span::ZERO)?;
    let windows = bench.run(from_rest, available::WINDOWS)?;
    for period in 1..=3 {
        let rise = |kept: &Reduction| {
            let ends = kept.all("high_end_packets");
            Some(ends.get(period)? - ends.get(period - 1)?)
        };
        let row = format!("AIAD's window at the end of high period {} less {period}", period + 1);
        findings.value(row, Computed::over(&windows, rise));
    }
    panels(findings, &[("a", on_a), ("b", on_b)]);
    tooth.draw(bench, "(a) A saw-tooth", &schemes, findings)?;
    periods.draw(bench, "(b) High periods cut short", &schemes, findings)
}

pub(super) fn second(bench: &Bench<'_>, findings: &mut Findings) -> Result {
    let schemes = Scheme::chosen(bench)?;
    let (sudden, steady) = (Pattern::sudden_rise(), Pattern::steady());
    let on_sudden = sudden.runs(bench, &schemes)?;
    let rise = sudden.goodputs(bench, &on_sudden)?;
    let on_steady = steady.goodputs(bench, &steady.runs(bench, &schemes)?)?;
    let more = |scheme: usize| timeouts(&on_sudden[scheme]).minus(&timeouts(&on_sudden[0]));
    findings.value("time-outs on (a), AIAD less AIMD", more(1));
    findings.value("time-outs on (a), MIAD less AIMD", more(3));
    for (scheme, on_sudden) in schemes.iter().zip(&on_sudden) {
        findings.extra(format!("time-outs on (a), {}", scheme.name), "per flow", timeouts(on_sudden));
    }
    findings.value("goodput on (a), AIMD less AIAD", rise[0].minus(&rise[1]));
    findings.value("goodput on (a), AIMD, too slow", rise[0].clone());
    findings.value("goodput on (a), AIAD, too slow", rise[1].clone());
    findings.value("goodput on (b), |AIMD less AIAD|", on_steady[0].minus(&on_steady[1]).map(f64::abs));
    let lesser = if on_steady[0].value() < on_steady[1].value() { &on_steady[0] } else { &on_steady[1] };
    findings.value("goodput on (b), MIMD less the lesser of AIMD and AIAD", on_steady[2].minus(lesser));
    panels(findings, &[("a", rise), ("b", on_steady)]);
    sudden.draw(bench, "(a) A sudden rise", &schemes, findings)?;
    steady.draw(bench, "(b) A steady bandwidth", &schemes, findings)
}

/// Fig. 1(a) on saw-tooths of several periods and amplitudes.
pub(super) fn saw_tooths(bench: &Bench<'_>, findings: &mut Findings) -> Result {
    let schemes: Vec<Scheme> = Scheme::chosen(bench)?.into_iter().take(2).collect();
    for period in [2000, 5000, 10_000, 20_000] {
        for bottom in [1.0, 4.0, 7.0] {
            let pattern = Pattern::tooth(period, bottom);
            let runs = pattern.runs(bench, &schemes)?;
            let [aimd, aiad] = [0, 1].map(|scheme| runs[scheme].clone());
            let goodputs = pattern.goodputs(bench, &[aimd, aiad])?;
            let place = format!("{} s, {bottom} to 10 Mbit/s", period / 1000);
            findings.extra(format!("{place}: AIMD less AIAD"), "", goodputs[0].minus(&goodputs[1]));
            findings.extra(format!("{place}: AIMD"), "", goodputs[0].clone());
        }
    }
    Ok(())
}

/// Timeouts per flow in the measured time.
fn timeouts(runs: &[Reduction]) -> Computed {
    Computed::over(runs, |kept| mean(kept.all("flow_timeouts")))
}

/// Packets that senders found lost, percent of those they sent.
fn loss(runs: &[Reduction]) -> Computed {
    let total = |kept: &Reduction, name: &str| kept.all(name).iter().sum::<f64>();
    Computed::over(runs, |kept| Some(total(kept, "flow_lost_packets") / total(kept, "flow_sent_packets") * 100.0))
}

/// The goodput of each scheme on each panel.
fn panels(findings: &mut Findings, panels: &[(&str, Vec<Computed>)]) {
    for (panel, goodputs) in panels {
        for (name, goodput) in ["AIMD", "AIAD"].into_iter().zip(goodputs) {
            findings.value(format!("goodput on ({panel}), {name}"), goodput.clone());
        }
        for (name, goodput) in ["MIMD", "MIAD"].into_iter().zip(&goodputs[2..]) {
            findings.extra(format!("goodput on ({panel}), {name}"), "", goodput.clone());
        }
    }
}

/// Flows of which a probe keeps rates over time.
const MOST_DRAWN: f64 = 5.0;
/// Repetitions that are drawn.
const PERIODS: f64 = 4.0;
