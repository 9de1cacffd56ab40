//! One flow under random loss, over TCP: Fig. 5, footnote 6, other recoveries.

use super::{SIMD, TCP};
use crate::change::{self, set_algorithm};
use crate::{Bench, Computed, Curve, Figure, Findings, Result};
use cwnd_run::measure::mean;
use cwnd_run::probe::Probe;
use cwnd_run::scenario::{Document, Written};

/// Goodput of a flow by loss rate: one value per run.
struct Goodputs {
    points: Vec<(f64, Vec<f64>)>,
}

impl Goodputs {
    /// Runs `algorithm` at each of the loss rates, with further changes of the scenario.
    fn run(bench: &Bench<'_>, algorithm: &str, losses: &[f64], change: impl Fn(&mut Document)) -> Result<Self> {
        let scenario = |p: &f64| {
            bench.scenario("friendliness", |document| {
                change::dumbbell(document).loss = p.to_string().parse()?;
                set_algorithm(&mut document.flow, algorithm)?;
                change(document);
                Ok(())
            })
        };
        let goodputs = bench.run_all(losses.iter().map(scenario), Probe::SUMMARY)?.into_iter().map(|runs| {
            runs.iter().filter_map(|kept| kept.all("flow_goodput_bps").first().copied()).collect::<Vec<f64>>()
        });
        Ok(Self { points: losses.iter().copied().zip(goodputs).collect() })
    }

    /// The mean goodput at `p` over all runs but one.
    fn mean(&self, p: f64, left_out: Option<usize>) -> Option<f64> {
        let (_, goodputs) = self.points.iter().find(|(known, _)| *known == p)?;
        let rest: Vec<f64> =
            goodputs.iter().enumerate().filter(|(run, _)| Some(*run) != left_out).map(|(_, value)| *value).collect();
        mean(&rest)
    }

    /// The throughput over that of `tcp`.
    fn over(&self, tcp: &Self, p: f64, left_out: Option<usize>) -> Option<f64> {
        Some(self.mean(p, left_out)? / tcp.mean(p, left_out)?)
    }

    fn runs(&self) -> usize {
        self.points.first().map_or(0, |(_, goodputs)| goodputs.len())
    }

    /// [`over`](Self::over) with its interval.
    fn ratio(&self, tcp: &Self, p: f64) -> Computed {
        Computed::jackknife(self.runs(), |left_out| self.over(tcp, p, left_out))
    }
}

fn losses(bench: &Bench<'_>) -> Result<Vec<f64>> {
    bench.assumed_as("losses")
}

pub(super) fn figure_5(bench: &Bench<'_>, findings: &mut Findings) -> Result {
    let losses = losses(bench)?;
    let betas: Vec<String> = bench.assumed_as("betas")?;
    let tcp = Goodputs::run(bench, TCP, &losses, |_| ())?;
    let simd = betas.iter().map(|beta| (format!("SIMD({beta})"), format!("simd:beta={beta}")));
    let aimd = ("AIMD(1/5, 1/8)".to_string(), "aimd:a=1/5,b=1/8".to_string());
    let curves = simd
        .chain([aimd])
        .map(|(name, algorithm)| Ok((name, Goodputs::run(bench, &algorithm, &losses, |_| ())?)))
        .collect::<Result<Vec<_>>>()?;
    for (name, curve) in &curves {
        let dip = |left_out| Some(curve.over(&tcp, 0.1, left_out)?.max(curve.over(&tcp, 0.15, left_out)?));
        for p in [0.001, 0.3] {
            findings.value(format!("{name}: ratio at p = {p}"), curve.ratio(&tcp, p));
            let above = |left_out| Some(curve.over(&tcp, p, left_out)? - dip(left_out)?);
            findings.value(
                format!("{name}: ratio at {p} less the larger of those at 0.1 and 0.15"),
                Computed::jackknife(tcp.runs(), above),
            );
        }
        for p in losses.iter().filter(|p| ![0.001, 0.3].contains(*p)) {
            findings.extra(format!("{name}: ratio at p = {p}"), "", curve.ratio(&tcp, *p));
        }
    }
    let find = |wanted: &str| curves.iter().find(|(name, _)| name == wanted).map(|(_, curve)| curve);
    if let (Some(worst), Some(aimd)) = (find("SIMD(1/16)"), find("AIMD(1/5, 1/8)")) {
        let ratio = |p: &f64| worst.over(&tcp, *p, None).unwrap_or(f64::INFINITY);
        let least = losses.iter().copied().min_by(|one, other| ratio(one).total_cmp(&ratio(other)));
        findings.value("SIMD(1/16): smallest ratio", worst.ratio(&tcp, least.unwrap_or(f64::NAN)));
        findings.value("SIMD(1/16): loss rate of the smallest ratio", least.unwrap_or(f64::NAN));
        let others = |left_out| {
            let others = curves.iter().filter(|(name, _)| name.starts_with("SIMD") && name != "SIMD(1/16)");
            let ratios = others.filter_map(|(_, curve)| curve.over(&tcp, 0.15, left_out));
            Some(worst.over(&tcp, 0.15, left_out)? - ratios.reduce(f64::min)?)
        };
        findings
            .value("SIMD(1/16) less the smallest of the other SIMD, p = 0.15", Computed::jackknife(tcp.runs(), others));
        for p in [0.1, 0.15] {
            let above = |left_out| Some(worst.over(&tcp, p, left_out)? - aimd.over(&tcp, p, left_out)?);
            findings.value(format!("SIMD(1/16) less AIMD(1/5, 1/8), p = {p}"), Computed::jackknife(tcp.runs(), above));
        }
    }
    findings.figure(Figure {
        title: "Throughput over that of TCP",
        caption: "One flow under random loss; means over runs of 3000 round trips.".to_string(),
        x: "Loss probability",
        y: "Ratio",
        log: (true, false),
        curves: curves.iter().map(|(name, curve)| line(name, curve, &tcp, &losses)).collect(),
    });
    Ok(())
}

fn line(name: &str, curve: &Goodputs, tcp: &Goodputs, losses: &[f64]) -> Curve {
    let points = losses.iter().filter_map(|p| Some((*p, curve.over(tcp, *p, None)?)));
    Curve::new(name, points)
}

pub(super) fn recovery(bench: &Bench<'_>, findings: &mut Findings) -> Result {
    let losses: Vec<f64> = losses(bench)?.into_iter().filter(|p| *p <= 0.05).collect();
    let pair = |recovery: &str| -> Result<[Goodputs; 2]> {
        let change = |document: &mut Document| document.recovery = Some(Written::literal(recovery));
        Ok([Goodputs::run(bench, SIMD, &losses, change)?, Goodputs::run(bench, TCP, &losses, change)?])
    };
    let [sack, sack_tcp] = pair("sack")?;
    let mut curves = vec![line("SACK", &sack, &sack_tcp, &losses)];
    for (name, recovery) in [("NewReno", "newreno"), ("Reno", "reno")] {
        let [simd, tcp] = pair(recovery)?;
        for p in &losses {
            let difference = |left_out| Some(simd.over(&tcp, *p, left_out)? - sack.over(&sack_tcp, *p, left_out)?);
            findings.value(
                format!("{name}: ratio SIMD(1/16) to TCP less that with SACK, p = {p}"),
                Computed::jackknife(simd.runs(), difference),
            );
        }
        curves.push(line(name, &simd, &tcp, &losses));
    }
    findings.figure(Figure {
        title: "SIMD(1/16) over TCP by recovery",
        caption: "Both flows with the same recovery, one at a time under random loss.".to_string(),
        x: "Loss probability",
        y: "Ratio",
        log: (true, false),
        curves,
    });
    Ok(())
}

pub(super) fn range(bench: &Bench<'_>, findings: &mut Findings) -> Result {
    let low: Vec<f64> = losses(bench)?.into_iter().filter(|p| *p < 0.05).collect();
    let tcp = Goodputs::run(bench, TCP, &low, |_| ())?;
    let simd = Goodputs::run(bench, SIMD, &low, |_| ())?;
    let increase = compensating(bench)?;
    findings.extra(
        "AIMD(alpha, 1/16): the smallest alpha that has TCP's throughput at p = 0.1",
        "packets/RTT",
        increase,
    );
    let aimd = Goodputs::run(bench, &raised(increase), &low, |_| ())?;
    for p in &low {
        findings.value(format!("SIMD(1/16) over TCP, p = {p}"), simd.ratio(&tcp, *p));
        findings.value(
            format!("AIMD(alpha, 1/16) that has TCP's throughput at p = 0.1, over TCP, p = {p}"),
            aimd.ratio(&tcp, *p),
        );
    }
    Ok(())
}

fn raised(increase: f64) -> String {
    format!("aimd:a={increase},b=1/16")
}

/// The smallest whole number of hundredths of a packet per round trip with which AIMD(alpha, 1/16) has TCP's mean goodput at a
/// loss of 0.1, by bisection over runs with the same losses.
fn compensating(bench: &Bench<'_>) -> Result<f64> {
    let medium = [0.1];
    let tcp = Goodputs::run(bench, TCP, &medium, |_| ())?;
    let (mut below, mut enough) = (0_u32, MOST_HUNDREDTHS);
    while enough - below > 1 {
        let middle = below.midpoint(enough);
        let aimd = Goodputs::run(bench, &raised(f64::from(middle) / 100.0), &medium, |_| ())?;
        match aimd.over(&tcp, medium[0], None) {
            Some(ratio) if ratio >= 1.0 => enough = middle,
            _ => below = middle,
        }
    }
    Ok(f64::from(enough) / 100.0)
}

/// Four packets per round trip: four times TCP's increase.
const MOST_HUNDREDTHS: u32 = 400;

pub(super) fn truncation(bench: &Bench<'_>, findings: &mut Findings) -> Result {
    let losses = losses(bench)?;
    let change = |document: &mut Document| document.era = Written::literal("ns2-2001");
    let tcp = Goodputs::run(bench, TCP, &losses, change)?;
    for (name, algorithm) in [("SIMD(1/16)", SIMD), ("AIMD(1/5, 1/8)", "aimd:a=1/5,b=1/8")] {
        let curve = Goodputs::run(bench, algorithm, &losses, change)?;
        for p in &losses {
            findings.extra(format!("{name}, truncated: ratio at p = {p}"), "", curve.ratio(&tcp, *p));
        }
    }
    Ok(())
}

pub(super) fn equation_based(bench: &Bench<'_>, findings: &mut Findings) -> Result {
    let losses = losses(bench)?;
    let tcp = Goodputs::run(bench, TCP, &losses, |_| ())?;
    let mut curves = Vec::new();
    for (name, algorithm) in [("SIMD(1/16)", SIMD), ("TFRC", "tfrc"), ("TFRC(32)", "tfrc:intervals=32")] {
        let curve = Goodputs::run(bench, algorithm, &losses, |_| ())?;
        for p in &losses {
            findings.extra(format!("{name}: ratio at p = {p}"), "", curve.ratio(&tcp, *p));
        }
        curves.push(line(name, &curve, &tcp, &losses));
    }
    findings.figure(Figure {
        title: "SIMD and equation-based control over TCP",
        caption: "One flow under random loss. TFRC averages 8 or 32 loss intervals and sends nothing twice."
            .to_string(),
        x: "Loss probability",
        y: "Ratio",
        log: (true, false),
        curves,
    });
    Ok(())
}
