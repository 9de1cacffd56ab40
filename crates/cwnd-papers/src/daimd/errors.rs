//! What packet pairs measure, and what wrong estimates do: section VII, and section IV in packets.

use cwnd::estimate::PacketPairs;
use cwnd::units::Span;
use cwnd_model::udt::worst_ratio;

use super::rest::to_90;
use super::{PACKET, udt};
use crate::{Bench, Findings, Ours, PaperError};
use cwnd_run::measure::{jain, mean};
use cwnd_run::probe::stages::STAGES;
use cwnd_run::probe::udt::ESTIMATE;
use cwnd_run::probe::{Kept, Probe};

const GIGABIT: f64 = 1e9;

pub(super) fn estimates(bench: &Bench<'_>) -> Result<Findings, PaperError> {
    let mut findings = Findings::default();
    coalesced(bench, &mut findings)?;
    let algorithm = udt(bench, "paper")?;
    let run = |scenario: &str, algorithm: &str, count: u32, probe: Probe| -> Result<Vec<Kept>, PaperError> {
        let changes = [format!("flow.0.algorithm={algorithm}"), format!("flow.0.count={count}")];
        Ok(bench.run(&[bench.scenario(scenario, &changes)?], probe)?.remove(0))
    };
    let one = run("pairs", &algorithm, 1, ESTIMATE)?;
    let each: Vec<String> = (0..10).map(|flow| format!("flow.{flow}.algorithm={algorithm}")).collect();
    let ten = bench.run(&[bench.scenario("pairs-many", &each)?], ESTIMATE)?.remove(0);
    let crossed = run("pairs-crossed", &algorithm, 1, ESTIMATE)?;
    findings.value("paper: one flow, median estimate", Ours::mean(&one, "estimate_median"));
    findings.value("paper: ten flows, mean estimate", Ours::mean(&ten, "estimate_mean"));
    findings.value(
        "paper: beside 0.5 of the capacity of constant traffic, mean estimate",
        Ours::mean(&crossed, "estimate_mean"),
    );
    let five = run("pairs", &format!("{algorithm},capacity={}bit", 1.2 * GIGABIT), 5, STAGES)?;
    let shares = Ours::over(&five, |kept| jain(kept.all("stage_1_throughput_bps")));
    findings.value("paper: Jain index of five flows that take the capacity for 1.2 of it", shares);
    let steady = |error: f64| -> Result<Ours, PaperError> {
        let runs = run("pairs", &format!("{algorithm},capacity={}bit", (1.0 + error) * GIGABIT), 1, STAGES)?;
        Ok(Ours::over(&runs, |kept| kept.one("stage_1_throughput_bps")))
    };
    let right = (steady(0.0)?, to_90(bench, GIGABIT, GIGABIT, "5ms")?);
    for error in [0.1, 0.5, 0.9] {
        findings.value(
            format!("paper: steady rate of one flow that takes it for 1 + {error} of it, over that without error"),
            steady(error)?.per(&right.0),
        );
        let time = to_90(bench, GIGABIT, (1.0 + error) * GIGABIT, "5ms")?;
        findings.value(
            format!("in packets: time to 90 % with 1 + {error} of it, difference from that without error"),
            time.minus(&right.1).map(f64::abs),
        );
    }
    Ok(findings)
}

/// Pairs of a flow at the full rate of the link as a host sees them whose card raises interrupts by a clock: a packet is read at the
/// tick after its arrival, behind those before it that the tick finds too.
fn coalesced(bench: &Bench<'_>, findings: &mut Findings) -> Result<(), PaperError> {
    let nanos = |key: &str| -> Result<u64, PaperError> {
        let value = bench.assumed(key)?;
        let span = cwnd::quantity::span(&value);
        span.map(Span::as_nanos).map_err(|error| PaperError::Assumption {
            key: key.to_string(),
            value,
            reason: error.to_string(),
        })
    };
    let (clock, reading) = (nanos("interrupt-clock")?.max(1), nanos("reading-time")?);
    let gap = (PACKET.bits() / GIGABIT * 1e9) as u64;
    let mut read = Vec::new();
    let mut free = 0;
    for packet in 0..PAIRS * PAIR_EVERY {
        let tick = (packet * gap).div_ceil(clock) * clock;
        let begin = tick.max(free);
        free = begin + reading;
        read.push(begin);
    }
    let gaps: Vec<u64> = read.chunks(PAIR_EVERY as usize).map(|chunk| chunk[1] - chunk[0]).collect();
    let mut pairs = PacketPairs::ns2();
    let mut seen = Vec::new();
    for gap in &gaps {
        pairs.on_pair(Span::from_nanos(*gap));
        seen.extend(pairs.capacity().map(|rate| rate.to_bits(PACKET).0 / GIGABIT));
    }
    seen.sort_by(f64::total_cmp);
    let median = seen.get(seen.len() / 2).copied().unwrap_or(f64::INFINITY);
    let average = mean(&gaps.iter().map(|gap| *gap as f64).collect::<Vec<_>>()).unwrap_or(f64::NAN);
    findings.value("interrupt clock alone: one flow, median estimate over 1 Gbit/s", Ours::Exact(median));
    findings
        .value("interrupt clock alone: mean gap of 1000 pairs over the true one", Ours::Exact(average / gap as f64));
    Ok(())
}

/// Every 16th packet is followed by its pair; at the full rate of the link they are as far apart as all others.
const PAIR_EVERY: u64 = 16;
const PAIRS: u64 = 1000;

/// Two flows that take the path for `capacities` bit/s.
fn two(bench: &Bench<'_>, capacities: [f64; 2], link: Option<f64>) -> Result<Vec<Kept>, PaperError> {
    let algorithm = udt(bench, "paper")?;
    let flow = |(at, capacity): (usize, f64)| format!("flow.{at}.algorithm={algorithm},capacity={capacity}bit");
    let changes = capacities.into_iter().enumerate().map(flow).chain(link.map(|link| format!("link.0.rate={link}bit")));
    let scenario = bench.scenario("two", &changes.collect::<Vec<_>>())?;
    Ok(bench.run(&[scenario], STAGES)?.remove(0))
}

fn shares(kept: &Kept) -> Option<[f64; 2]> {
    kept.all("stage_1_throughput_bps").try_into().ok()
}

pub(super) fn ratios(bench: &Bench<'_>) -> Result<Findings, PaperError> {
    let mut findings = Findings::default();
    let jump = |at: f64| {
        let beside = |error| worst_ratio(error).unwrap_or(f64::NAN);
        // The formula on either side, as near as a double can be.
        (beside(libm::nextafter(at, -1.0)) - beside(libm::nextafter(at, 2.0))).abs()
    };
    findings.value("jump of the formula at eps = 1", Ours::Exact(jump(1.0)));
    findings.value("jump of the formula at eps = -0.5", Ours::Exact(jump(-0.5)));
    let path = bench.assumed("error-path")?;
    let capacity = cwnd::quantity::bit_rate(&path).map_err(|error| PaperError::Assumption {
        key: "error-path".to_string(),
        value: path,
        reason: error.to_string(),
    })?;
    let ratio = |kept: &Kept| shares(kept).map(|[one, other]| one.max(other) / one.min(other));
    for error in [0.1, 0.5, 2.0, 5.0, -0.3, -0.7] {
        let runs = two(bench, [(1.0 + error) * capacity.0, capacity.0], None)?;
        findings.value(format!("paper: ratio of two flows, eps = {error}"), Ours::over(&runs, ratio));
    }
    let runs = two(bench, [1.01 * capacity.0, 0.99 * capacity.0], None)?;
    findings.value("paper: larger over smaller share with estimates of 101 and 99 Mbit/s", Ours::over(&runs, ratio));
    Ok(findings)
}

pub(super) fn large_share(bench: &Bench<'_>) -> Result<Findings, PaperError> {
    let mut findings = Findings::default();
    for (l1, l2) in [(100.0, 90.0), (100.0, 50.0), (100.0, 20.0), (50.0, 20.0), (50.0, 10.0), (20.0, 10.0)] {
        let runs = two(bench, [l1 * 1e6, l2 * 1e6], Some(l1 * 1e6))?;
        let share = |kept: &Kept| shares(kept).map(|[_, second]| second / (l2 * 1e6));
        findings.value(format!("paper: x2/L2, L1 = {l1} Mbit/s, L2 = {l2} Mbit/s"), Ours::over(&runs, share));
    }
    Ok(findings)
}
