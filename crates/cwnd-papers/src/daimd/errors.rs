//! The measurements of packet pairs, and the effect of wrong estimates: section VII, and section IV in packets.

use cwnd::quantity;
use cwnd::units::Span;
use cwnd_model::udt::worst_ratio;

use super::rest::to_90;
use super::{PACKET, profiles, udt};
use crate::change::{bit_rate, set_algorithm};
use crate::{Bench, Computed, Curve, Figure, Findings, OverTime, Result};
use cwnd_run::measure::{jain, mean};
use cwnd_run::probe::stages::STAGES;
use cwnd_run::probe::udt::ESTIMATE;
use cwnd_run::probe::{Probe, Reduction};
use cwnd_run::scenario::Scenario;

const GIGABIT: f64 = 1e9;

pub(super) fn estimates(bench: &Bench<'_>, findings: &mut Findings) -> Result {
    coalesced(bench, findings)?;
    let algorithm = udt(bench, "paper")?;
    let run = |scenario: &str, algorithm: &str, count: u32, probe: Probe| {
        let scenario = bench.scenario(scenario, |document| {
            document.flow.iter_mut().for_each(|flow| flow.count = count);
            set_algorithm(&mut document.flow, algorithm)
        });
        bench.run(scenario?, probe)
    };
    let one = run("pairs", &algorithm, 1, ESTIMATE)?;
    let ten = run("pairs-many", &algorithm, 1, ESTIMATE)?;
    let crossed = run("pairs-crossed", &algorithm, 1, ESTIMATE)?;
    findings.value("paper: one flow, median estimate", Computed::mean(&one, "estimate_median"));
    findings.value("paper: ten flows, mean estimate", Computed::mean(&ten, "estimate_mean"));
    findings.value(
        "paper: beside 0.5 of the capacity of constant traffic, mean estimate",
        Computed::mean(&crossed, "estimate_mean"),
    );
    let five = run("pairs", &format!("{algorithm},capacity={}bit", 1.2 * GIGABIT), 5, STAGES)?;
    let shares = Computed::over(&five, |kept| jain(kept.all("stage_1_throughput_bps")));
    findings.value("paper: Jain index of five flows that take the capacity for 1.2 of it", shares);
    let steady = |error: f64| -> Result<Computed> {
        let runs = run("pairs", &format!("{algorithm},capacity={}bit", (1.0 + error) * GIGABIT), 1, STAGES)?;
        Ok(Computed::over(&runs, |kept| kept.one("stage_1_throughput_bps")))
    };
    let right = (steady(0.0)?, to_90(bench, GIGABIT, GIGABIT, Span::from_millis(5))?);
    for error in [0.1, 0.5, 0.9] {
        findings.value(
            format!("paper: steady rate of one flow that takes it for 1 + {error} of it, over that without error"),
            steady(error)?.per(&right.0),
        );
        let time = to_90(bench, GIGABIT, (1.0 + error) * GIGABIT, Span::from_millis(5))?;
        findings.value(
            format!("in packets: time to 90 % with 1 + {error} of it, difference from that without error"),
            time.minus(&right.1).map(f64::abs),
        );
    }
    Ok(())
}

/// The measurements of packet pairs of a flow whose receiver has a card that coalesces interrupts, for the protocol core of the wire and
/// for the paper's agent; and the mean of the intervals, by the same clock.
fn coalesced(bench: &Bench<'_>, findings: &mut Findings) -> Result {
    let nanos = |key: &str| -> Result<u64> { Ok(quantity::span(&bench.assumed(key)?)?.as_nanos()) };
    let (clock, reading) = (nanos("interrupt-clock")?.max(1), nanos("reading-time")?.max(1));
    let median = |algorithm: &str| -> Result<Computed> {
        let scenario = bench.scenario("coalesced", |document| {
            document.link[1].rate = Some(bit_rate(PACKET.bits() * 1e9 / reading as f64)?);
            set_algorithm(&mut document.flow, algorithm)
        });
        Ok(Computed::mean(&bench.run(scenario?, ESTIMATE)?, "estimate_median"))
    };
    findings.value("udt4: one flow behind a card that coalesces, median estimate", median("udt:profile=udt4")?);
    findings.extra("paper: one flow behind a card that coalesces, median estimate", "", median(&udt(bench, "paper")?)?);
    let gap = (PACKET.bits() / GIGABIT * 1e9) as u64;
    let mut read = Vec::new();
    let mut free = 0;
    for packet in 0..PAIRS * PAIR_EVERY {
        let tick = (packet * gap).div_ceil(clock) * clock;
        let begin = tick.max(free);
        free = begin + reading;
        read.push(begin);
    }
    let gaps = read.chunks(PAIR_EVERY as usize).map(|chunk| (chunk[1] - chunk[0]) as f64);
    let average = mean(&gaps.collect::<Vec<_>>()).unwrap_or(f64::NAN);
    findings.value("interrupt clock alone: mean gap of 1000 pairs over the true one", average / gap as f64);
    Ok(())
}

/// Every 16th packet is followed by its pair; at the full rate of the link they are as far apart as all others.
const PAIR_EVERY: u64 = 16;
const PAIRS: u64 = 1000;

/// Two flows that take the path for `capacities` bit/s.
fn two(bench: &Bench<'_>, capacities: [f64; 2], link: Option<f64>) -> Result<Vec<Reduction>> {
    bench.run(two_flows(bench, "paper", (capacities, link))?, STAGES)
}

fn two_flows(bench: &Bench<'_>, profile: &str, (capacities, link): ([f64; 2], Option<f64>)) -> Result<Scenario> {
    let algorithm = udt(bench, profile)?;
    bench.scenario("two", |document| {
        for (flow, capacity) in document.flow.iter_mut().zip(capacities) {
            flow.algorithm = format!("{algorithm},capacity={capacity}bit").parse()?;
        }
        if let Some(link) = link {
            document.link[0].rate = Some(bit_rate(link)?);
        }
        Ok(())
    })
}

/// Fig. 4: two flows with different capacities over time, with the levels that the argument of section IV names.
pub(super) fn draw_two(bench: &Bench<'_>, findings: &mut Findings) -> Result {
    let [l1, l2] = [100.0, 50.0];
    for &profile in profiles(bench) {
        let scenario = two_flows(bench, profile, ([l1 * 1e6, l2 * 1e6], Some(l1 * 1e6)))?;
        let Some(run) = OverTime::of(bench, &scenario)? else { continue };
        let mut curves = run.curves(2, |flow| format!("F{flow}"));
        for (name, level) in [("L1", l1), ("L2 = L1 - L2", l2)] {
            curves.push(Curve::new(name, [(0.0, level), (run.length(), level)]));
        }
        findings.figure(Figure {
            title: "Two flows with different capacities over time",
            caption: format!(
                "F1 takes the path for L1 = 100 Mbit/s, F2 for L2 = 50 Mbit/s; means over seconds of the first run, profile {profile}."
            ),
            x: "Time, s",
            y: "Throughput, Mbit/s",
            log: (false, false),
            curves,
        });
    }
    Ok(())
}

fn shares(kept: &Reduction) -> Option<[f64; 2]> {
    kept.all("stage_1_throughput_bps").try_into().ok()
}

pub(super) fn ratios(bench: &Bench<'_>, findings: &mut Findings) -> Result {
    let jump = |at: f64| {
        let beside = |error| worst_ratio(error).unwrap_or(f64::NAN);
        // The formula on either side, as near as a double can be.
        (beside(libm::nextafter(at, -1.0)) - beside(libm::nextafter(at, 2.0))).abs()
    };
    findings.value("jump of the formula at eps = 1", jump(1.0));
    findings.value("jump of the formula at eps = -0.5", jump(-0.5));
    let capacity = quantity::bit_rate(&bench.assumed("error-path")?)?;
    let ratio = |kept: &Reduction| shares(kept).map(|[one, other]| one.max(other) / one.min(other));
    for error in [0.1, 0.5, 2.0, 5.0, -0.3, -0.7] {
        let runs = two(bench, [(1.0 + error) * capacity.0, capacity.0], None)?;
        findings.value(format!("paper: ratio of two flows, eps = {error}"), Computed::over(&runs, ratio));
    }
    let runs = two(bench, [1.01 * capacity.0, 0.99 * capacity.0], None)?;
    findings
        .value("paper: larger over smaller share with estimates of 101 and 99 Mbit/s", Computed::over(&runs, ratio));
    Ok(())
}

pub(super) fn large_share(bench: &Bench<'_>, findings: &mut Findings) -> Result {
    for (l1, l2) in [(100.0, 90.0), (100.0, 50.0), (100.0, 20.0), (50.0, 20.0), (50.0, 10.0), (20.0, 10.0)] {
        let runs = two(bench, [l1 * 1e6, l2 * 1e6], Some(l1 * 1e6))?;
        let share = |kept: &Reduction| shares(kept).map(|[_, second]| second / (l2 * 1e6));
        findings.value(format!("paper: x2/L2, L1 = {l1} Mbit/s, L2 = {l2} Mbit/s"), Computed::over(&runs, share));
    }
    Ok(())
}
