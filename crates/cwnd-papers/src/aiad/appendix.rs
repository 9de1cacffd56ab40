//! The appendix: D and C of goodput of 18 candidates under four settings.

use std::collections::BTreeMap;

use super::environment::{Environment, Router, Scheme, Scores, Setting};
use crate::{Bench, Computed, Findings, Result};
use cwnd_run::measure::{Best, kendall, mean, spearman};

/// The settings whose tables are printed.
const SETTINGS: [Setting; 4] = [
    Setting { recovery: "reno", router: Router::DropTail },
    Setting { recovery: "sack", router: Router::DropTail },
    Setting { recovery: "reno", router: Router::Red },
    Setting { recovery: "sack", router: Router::Red },
];

/// A candidate.
struct Candidate {
    scheme: Scheme,
    family: &'static str,
    increase: f64,
    /// The part of the window that is kept, or the packets by which it shrinks.
    decrease: f64,
}

/// D and C of a candidate, one value per seed.
type Distances = Vec<(Computed, Computed)>;

/// The candidates in the order of the printed tables: AIMD first, by increase, then by decrease.
fn candidates(bench: &Bench<'_>) -> Result<Vec<Candidate>> {
    let increases: Vec<f64> = bench.data("increases")?;
    let mut all = Vec::new();
    for (family, of, decreases) in [
        ("AIMD", Scheme::aimd as fn(f64, f64) -> Scheme, bench.data::<Vec<f64>>("kept")?),
        ("AIAD", Scheme::aiad, bench.data("taken")?),
    ] {
        for increase in &increases {
            let one = |decrease: &f64| Candidate {
                scheme: of(*increase, *decrease),
                family,
                increase: *increase,
                decrease: *decrease,
            };
            all.extend(decreases.iter().map(one));
        }
    }
    Ok(all)
}

fn scores(bench: &Bench<'_>, setting: Setting, candidates: &[Candidate]) -> Result<Scores> {
    let schemes: Vec<Scheme> = candidates.iter().map(|candidate| candidate.scheme.clone()).collect();
    Scores::of(bench, setting, &schemes, &Environment::all(bench)?)
}

fn distances(bench: &Bench<'_>, setting: Setting, candidates: &[Candidate]) -> Result<Distances> {
    Ok(scores(bench, setting, candidates)?.ranks("goodput", Best::Largest))
}

/// The printed cells of a setting in the order of the candidates: increase, decrease, D, C.
fn printed(bench: &Bench<'_>, setting: Setting) -> Result<Vec<[f64; 4]>> {
    let mut families: BTreeMap<String, Vec<[f64; 4]>> = bench.data(&setting.name())?;
    Ok(["AIMD", "AIAD"].into_iter().filter_map(|family| families.remove(family)).flatten().collect())
}

pub(super) fn tables(bench: &Bench<'_>, findings: &mut Findings) -> Result {
    let candidates = candidates(bench)?;
    let environments = Environment::all(bench)?.len() as f64;
    let mut consistent = 0;
    for setting in SETTINGS {
        let rounding = 0.005;
        let holds =
            |[_, _, total, worst]: &[f64; 4]| worst - rounding <= *total && *total <= environments * (worst + rounding);
        consistent += printed(bench, setting)?.iter().filter(|cell| holds(cell)).count();
        for (candidate, (total, worst)) in candidates.iter().zip(distances(bench, setting, &candidates)?) {
            findings.order(format!("{}, {}", setting.name(), candidate.scheme.name), [("D", total), ("C", worst)]);
        }
    }
    findings.value("printed cells with C <= D <= 13 C, to rounding", f64::from(consistent as u32));
    Ok(())
}

pub(super) fn claims(bench: &Bench<'_>, findings: &mut Findings) -> Result {
    let candidates = candidates(bench)?;
    for setting in SETTINGS {
        let name = setting.name();
        let ours: Vec<Computed> = distances(bench, setting, &candidates)?.into_iter().map(|(total, _)| total).collect();
        let theirs: Vec<f64> = printed(bench, setting)?.iter().map(|cell| cell[2]).collect();
        let per_seed = |of: fn(&[f64], &[f64]) -> Option<f64>| {
            let seeds = ours.iter().map(|total| total.values().len()).min().unwrap_or(0);
            let column = |seed: usize| ours.iter().map(|total| total.values()[seed]).collect::<Vec<_>>();
            Computed::Runs((0..seeds).filter_map(|seed| of(&column(seed), &theirs)).collect())
        };
        findings.value(format!("Spearman rank correlation of D with the printed D, {name}"), per_seed(spearman));
        findings.extra(format!("Kendall rank correlation of D with the printed D, {name}"), "", per_seed(kendall));
        let mean_at = |family: &str, increase: f64| {
            let chosen = candidates.iter().zip(&ours).filter(|(c, _)| c.family == family && c.increase == increase);
            mean_of(chosen.map(|(_, total)| total.values()))
        };
        let one = |family: &str, increase: f64, decrease: f64| {
            let found = candidates.iter().zip(&ours);
            let wanted = |c: &Candidate| c.family == family && c.increase == increase && c.decrease == decrease;
            found.filter(|(c, _)| wanted(c)).map(|(_, total)| total.clone()).next().unwrap_or(Computed::NONE)
        };
        match (setting.recovery, setting.router) {
            ("reno", Router::DropTail) => {
                for family in ["AIMD", "AIAD"] {
                    for (more, less) in [(2.0, 1.0), (3.0, 2.0)] {
                        let row = format!("c1: {name}, {family}: mean D at a = {more} over a = {less}");
                        findings.value(row, mean_at(family, more).per(&mean_at(family, less)));
                    }
                }
            }
            ("sack", Router::DropTail) => {
                let row = "c2: SACK + DropTail, AIMD: mean D at a = 1 less a = 3";
                findings.value(row, mean_at("AIMD", 1.0).minus(&mean_at("AIMD", 3.0)));
            }
            _ => {
                for increase in [1.0, 2.0, 3.0] {
                    let row = format!("c3: {name}, AIMD, a = {increase}: D at b = 0.5 less b = 0.8");
                    findings.value(row, one("AIMD", increase, 0.5).minus(&one("AIMD", increase, 0.8)));
                }
            }
        }
        if (setting.recovery, setting.router) == ("sack", Router::Red) {
            let aimd = candidates.iter().zip(&ours).filter(|(c, _)| c.family == "AIMD");
            let best = aimd.filter_map(|(c, total)| Some((c, total.value()?))).min_by(|a, b| a.1.total_cmp(&b.1));
            let gentle = best.is_some_and(|(c, _)| c.decrease == 0.8 && c.increase >= 2.0);
            let row = "c3: SACK + RED: the best AIMD has b = 0.8 and a >= 2 (1 yes, 0 no)";
            findings.value(row, f64::from(u8::from(gentle)));
        }
    }
    Ok(())
}

/// The mean of several lists, position by position.
fn mean_of<'a>(lists: impl Iterator<Item = &'a [f64]>) -> Computed {
    let lists: Vec<&[f64]> = lists.collect();
    let seeds = lists.iter().map(|list| list.len()).min().unwrap_or(0);
    let at = |seed: usize| mean(&lists.iter().map(|list| list[seed]).collect::<Vec<_>>());
    Computed::Runs((0..seeds).filter_map(at).collect())
}

pub(super) fn sack(bench: &Bench<'_>, findings: &mut Findings) -> Result {
    let chosen: Vec<Scheme> = Scheme::chosen(bench)?.into_iter().take(2).collect();
    let environments = Environment::available(bench)?;
    let [reno, sack] = [SETTINGS[0], SETTINGS[1]].map(|setting| Scores::of(bench, setting, &chosen, &environments));
    let (reno, sack) = (reno?, sack?);
    let gain = |scheme: usize| sack.mean(scheme, "goodput").minus(&reno.mean(scheme, "goodput"));
    let gains = [gain(0), gain(1)];
    findings.value("goodput with SACK less with Reno, AIMD", gains[0].clone());
    findings.value("goodput with SACK less with Reno, AIAD", gains[1].clone());
    let larger = if gains[0].value() > gains[1].value() { &gains[0] } else { &gains[1] };
    findings.value("goodput with SACK less with Reno, the larger of the two", larger.clone());
    let candidates = candidates(bench)?;
    let ours = distances(bench, SETTINGS[1], &candidates)?;
    let best = |family: &str| {
        let of_family = candidates.iter().zip(&ours).filter(|(c, _)| c.family == family);
        let with_value = of_family.filter_map(|(c, (total, _))| Some((c, total, total.value()?)));
        with_value.min_by(|a, b| a.2.total_cmp(&b.2))
    };
    let row = "least D of AIAD over least D of AIMD; 0 where the best AIMD has a > 1";
    let ratio = match (best("AIMD"), best("AIAD")) {
        (Some((aimd, ..)), _) if aimd.increase > 1.0 => Computed::Exact(0.0),
        (Some((_, least, _)), Some((_, other, _))) => other.per(least),
        _ => Computed::NONE,
    };
    findings.value(row, ratio);
    Ok(())
}
