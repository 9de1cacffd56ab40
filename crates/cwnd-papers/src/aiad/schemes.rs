//! The four linear schemes under recovery schemes and routers.

use super::environment::{Environment, Router, Scheme, Scores, Setting, flows};
use crate::change::{self, set_algorithm};
use crate::{Bench, Computed, Findings, Result};
use cwnd_run::measure::Best;
use cwnd_run::probe::available;
use cwnd_run::scenario::{Schedule, Step, Written};

/// Positions in [`Scheme::chosen`].
const AIMD: usize = 0;
const AIAD: usize = 1;
const MIMD: usize = 2;
const MIAD: usize = 3;

const RECOVERIES: [&str; 2] = ["reno", "sack"];
const ROUTERS: [Router; 3] = [Router::DropTail, Router::Red, Router::Drr];

fn chosen(bench: &Bench<'_>, recovery: &'static str, router: Router) -> Result<Scores> {
    let environments = Environment::available(bench)?;
    Scores::of(bench, Setting { recovery, router }, &Scheme::chosen(bench)?, &environments)
}

/// The lesser of AIMD and AIAD less the greater of MIMD and MIAD.
fn additive_lead(means: &[f64]) -> f64 {
    means[AIMD].min(means[AIAD]) - means[MIMD].max(means[MIAD])
}

pub(super) fn reno(bench: &Bench<'_>, findings: &mut Findings) -> Result {
    let scores = chosen(bench, "reno", Router::DropTail)?;
    findings.value("goodput, |AIMD less AIAD|", scores.each("goodput", |means| (means[AIMD] - means[AIAD]).abs()));
    let row = "goodput, lesser of AIMD and AIAD less greater of MIMD and MIAD";
    findings.value(row, scores.each("goodput", additive_lead));
    findings.value("fairness, AIAD less AIMD", scores.each("fairness", |means| means[AIAD] - means[AIMD]));
    findings.value("fairness, AIMD", scores.mean(AIMD, "fairness"));
    let loss = |scheme| scores.mean(scheme, "loss");
    findings
        .order("loss of the additive increases", [("AIMD", loss(AIMD)), ("AIAD", loss(AIAD)), ("MIAD", loss(MIAD))]);
    let parts = [("AIMD", loss(AIMD)), ("MIMD", loss(MIMD)), ("MIAD", loss(MIAD))];
    findings.order("loss of the multiplicative decreases", parts);
    let row = "delay, lesser of AIMD and AIAD less greater of MIMD and MIAD";
    findings.value(row, scores.each("delay", additive_lead));
    Ok(())
}

pub(super) fn summary(bench: &Bench<'_>, findings: &mut Findings) -> Result {
    for recovery in RECOVERIES {
        let mut fairness = Vec::new();
        for router in ROUTERS {
            let scores = chosen(bench, recovery, router)?;
            let name = Setting { recovery, router }.name();
            let row = format!("c1: environments of 10 without the best goodput, least over schemes, {name}");
            findings
                .value(row, Computed::Runs(scores.tables("goodput").iter().map(|table| least_beaten(table)).collect()));
            let best = |means: &[f64]| means.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let row = format!("c3: goodput of the best less AIAD, {name}");
            findings.value(row, scores.each("goodput", |means| best(means) - means[AIAD]));
            findings.value(format!("goodput of the best scheme, {name}"), scores.each("goodput", best));
            fairness.push((router, scores.mean(AIAD, "fairness")));
            match (recovery, router) {
                ("reno", Router::DropTail) => traditional(findings, &scores),
                ("reno", Router::Drr) => {
                    let row = "c5: Reno + DRR, goodput, lesser of AIMD and AIAD less greater of MIMD and MIAD";
                    findings.value(row, scores.each("goodput", additive_lead));
                }
                ("sack", Router::Drr) => modern(findings, &scores),
                _ => {}
            }
        }
        let recovery = if recovery == "reno" { "Reno" } else { "SACK" };
        for (router, fair) in &fairness[1..] {
            let row = format!("c4: fairness of AIAD under {} over that under DropTail, {recovery}", router.name());
            findings.value(row, fair.per(&fairness[0].1));
        }
    }
    small_part(bench, findings)?;
    responsiveness(bench, findings)?;
    Ok(())
}

/// In how many environments a scheme is not within 0.005 of the best goodput: the least over schemes.
fn least_beaten(table: &[Vec<f64>]) -> f64 {
    let environments = table.first().map_or(0, Vec::len);
    let best = |e: usize| table.iter().map(|row| row[e]).fold(f64::NEG_INFINITY, f64::max);
    let beaten = |row: &Vec<f64>| (0..environments).filter(|e| row[*e] < best(*e) - 0.005).count();
    table.iter().map(beaten).min().unwrap_or(0) as f64
}

/// Claim c2: Reno and DropTail.
fn traditional(findings: &mut Findings, scores: &Scores) {
    let ranks = scores.ranks("goodput", Best::Largest);
    let seeds = ranks[AIMD].0.values().len();
    let least =
        |seed: usize| ranks[AIMD + 1..].iter().map(|(total, _)| total.values()[seed]).fold(f64::INFINITY, f64::min);
    let row = "c2: Reno + DropTail, D of AIMD less the least of the others";
    findings.value(row, ranks[AIMD].0.minus(&Computed::Runs((0..seeds).map(least).collect())));
    let row = "c2: Reno + DropTail, fairness, AIAD less AIMD";
    findings.value(row, scores.each("fairness", |means| means[AIAD] - means[AIMD]));
}

/// Claim c6: SACK and fair queueing.
fn modern(findings: &mut Findings, scores: &Scores) {
    let least = |means: &[f64]| means[AIMD].min(means[AIAD]).min(means[MIMD]);
    let range = |means: &[f64]| means[AIMD].max(means[AIAD]).max(means[MIMD]) - least(means);
    findings.value("c6: SACK + DRR, goodput, range of AIMD, AIAD and MIMD", scores.each("goodput", range));
    let row = "c6: SACK + DRR, goodput, least of AIMD, AIAD and MIMD less MIAD";
    findings.value(row, scores.each("goodput", |means| least(means) - means[MIAD]));
}

/// Claim c7: a small multiplicative part in AIAD's decrease.
fn small_part(bench: &Bench<'_>, findings: &mut Findings) -> Result {
    let setting = Setting { recovery: "sack", router: Router::DropTail };
    let assumed: f64 = bench.assumed_as("small-part")?;
    let parts = [assumed, 0.01, 0.05];
    let plain = Scheme::aiad(1.0, 3.0);
    let schemes: Vec<Scheme> = std::iter::once(plain).chain(parts.map(Scheme::with_part)).collect();
    let scores = Scores::of(bench, setting, &schemes, &Environment::available(bench)?)?;
    let fairness = |scheme| scores.mean(scheme, "fairness").per(&scores.mean(0, "fairness"));
    let goodput = |scheme| scores.mean(scheme, "goodput").minus(&scores.mean(0, "goodput"));
    let row = "c7: SACK + DropTail, fairness of AIAD with a small multiplicative part over that without";
    findings.value(row, fairness(1));
    let row = "c7: SACK + DropTail, goodput of AIAD with a small multiplicative part less that without";
    findings.value(row, goodput(1));
    for (index, part) in parts.iter().enumerate().skip(1) {
        findings.extra(format!("c7: fairness with c = {part} over that without"), "", fairness(index + 1));
        findings.extra(format!("c7: goodput with c = {part} less that without"), "", goodput(index + 1));
    }
    Ok(())
}

/// Claim c8: how long a rise from 1 to 10 Mbit/s per flow takes under fair queueing.
fn responsiveness(bench: &Bench<'_>, findings: &mut Findings) -> Result {
    let schemes = Scheme::chosen(bench)?;
    let flows = flows(bench)?;
    let scenario = |scheme: &Scheme| {
        bench.scenario("fair", |document| {
            // The rise comes at 50 s; the slowest needs minutes.
            document.duration = Written::literal("200s");
            let bottleneck = change::dumbbell(document);
            bottleneck.rate = format!("{flows}mbit").parse()?;
            let risen = Some(format!("{}mbit", 10.0 * flows).parse()?);
            let rise = Step { rate: risen, ..Step::new(Written::literal("50s")) };
            bottleneck.schedule = Some(Schedule { repeat: None, steps: vec![rise] });
            document.flow[0].count = flows as u32;
            set_algorithm(&mut document.flow, &scheme.algorithm)
        })
    };
    let runs = bench.run_all(schemes.iter().map(scenario), available::RISE)?;
    let time = |scheme: usize| Computed::mean(&runs[scheme], "time_to_90_s");
    let row = "c8: DRR, time to 90 % after a rise from 1 to 10 Mbit/s";
    findings.order(row, [("MIMD", time(MIMD)), ("AIMD", time(AIMD))]);
    let row = "c8: DRR, time to 90 % after a rise from 1 to 10 Mbit/s, beside AIAD";
    findings.order(row, [("MIMD", time(MIMD)), ("AIAD", time(AIAD))]);
    Ok(())
}

/// AILD with constants of ours, compared with AIMD and AIAD, at RED.
pub(super) fn by_loss_ratio(bench: &Bench<'_>, findings: &mut Findings) -> Result {
    let mut schemes: Vec<Scheme> = Scheme::chosen(bench)?.into_iter().take(2).collect();
    schemes.extend(CONSTANTS.map(|taken| Scheme {
        name: format!("AILD, {taken} packets times the loss ratio"),
        algorithm: format!("aild:a=1,d={taken}"),
    }));
    // The bandwidth is constant in the cited environments.
    let constant = |environment: &Environment| ["CL", "CH"].contains(&environment.id());
    let environments: Vec<Environment> = Environment::available(bench)?.into_iter().filter(constant).collect();
    let scores = Scores::of(bench, Setting { recovery: "sack", router: Router::Red }, &schemes, &environments)?;
    for (index, scheme) in schemes.iter().enumerate() {
        for (at, environment) in environments.iter().enumerate() {
            for name in ["goodput", "fairness"] {
                let row = format!("{}, {}: {name}", environment.id(), scheme.name);
                findings.extra(row, "", scores.score(index, at, name));
            }
        }
    }
    Ok(())
}

/// Packets that AILD takes at a loss ratio of one.
const CONSTANTS: [f64; 4] = [10.0, 100.0, 1000.0, 10_000.0];

pub(super) fn beyond(bench: &Bench<'_>, findings: &mut Findings) -> Result {
    let environments = Environment::available(bench)?;
    let mut schemes = Scheme::chosen(bench)?;
    schemes.push(Scheme::with_part(bench.assumed_as("small-part")?));
    for recovery in RECOVERIES {
        for router in [Router::DropTail, Router::Red, Router::RedEcn, Router::Drr] {
            let setting = Setting { recovery, router };
            let scores = Scores::of(bench, setting, &schemes, &environments)?;
            let ranks = scores.ranks("goodput", Best::Largest);
            for (index, (scheme, (total, worst))) in schemes.iter().zip(ranks).enumerate() {
                let row = |what: &str| format!("{}, {}: {what}", setting.name(), scheme.name);
                findings.extra(row("goodput"), "", scores.mean(index, "goodput"));
                findings.extra(row("D of goodput"), "", total);
                findings.extra(row("C of goodput"), "", worst);
                findings.extra(row("fairness"), "", scores.mean(index, "fairness"));
                findings.extra(row("loss"), "%", scores.mean(index, "loss"));
                findings.extra(row("delay"), "ms", scores.mean(index, "delay"));
            }
        }
    }
    Ok(())
}
