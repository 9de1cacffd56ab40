//! Rate control alone, from rest: section III.

use cwnd::Span;
use cwnd_model::udt::{fluid_intervals_to, intervals_to, stage};

use super::PACKET;
use crate::change::{bit_rate, set_algorithm, span};
use crate::{Bench, Computed, Findings, MaxError, Result};
use cwnd_run::probe::udt::RISE_FROM_REST;

const CAPACITIES: [(&str, f64); 6] =
    [("1e7", 1e7), ("1e8", 1e8), ("1e9", 1e9), ("1e10", 1e10), ("2e6", 2e6), ("6.22e8", 6.22e8)];

/// DAIMD with the stages of eq. 8 for a capacity in bit/s: UDT's rate control without its window.
pub(super) fn alone(capacity: f64) -> String {
    let stages = (0..STAGES).map(|k| stage(capacity, k, PACKET));
    let step = PACKET.bits() / cwnd::rate::udt::SYN.as_secs_f64();
    let text = stages.map(|stage| format!("{}bit..{}bit..", stage.increase * step, stage.to)).collect::<String>();
    format!("daimd:alpha={text}0")
}

/// The number of stages; a share of 10⁻⁶ of the capacity is left above the last.
const STAGES: i32 = 6;

/// Control intervals in packets from rest to 0.9 of a link of `link` bit/s, for a sender that takes it for `capacity`.
pub(super) fn to_90(bench: &Bench<'_>, link: f64, capacity: f64, one_way: Span) -> Result<Computed> {
    let scenario = bench.scenario("alone", |document| {
        (document.link[0].rate, document.link[0].delay) = (Some(bit_rate(link)?), span(one_way)?);
        let algorithm = format!("{},initial_rate={}", alone(capacity), bench.assumed("initial-rate")?);
        set_algorithm(&mut document.flow, &algorithm)
    });
    // Nothing is drawn in this scenario: all runs are the same.
    let kept = bench.run(scenario?, RISE_FROM_REST)?.remove(0);
    let intervals = || {
        let spent = (kept.one("at_90_s")? - kept.one("first_ack_s")?) / cwnd::rate::udt::SYN.as_secs_f64();
        Some(spent + f64::from(intervals_to(capacity, kept.one("first_rate_bps")? / capacity, PACKET)?))
    };
    Ok(Computed::Exact(intervals().unwrap_or(f64::NAN)))
}

pub(super) fn fixed_time(bench: &Bench<'_>, findings: &mut Findings) -> Result {
    let mut whole = MaxError::default();
    for (name, capacity) in CAPACITIES {
        findings.value(format!("fluid: L = {name} bit/s"), fluid_intervals_to(capacity, 0.9, PACKET));
        for k in 1..STAGES {
            let stage = stage(capacity, k, PACKET);
            let step = stage.increase * PACKET.bits() / cwnd::rate::udt::SYN.as_secs_f64();
            whole.absolute((stage.to - stage.from) / step - 750.0);
        }
        let discrete = intervals_to(capacity, 0.9, PACKET).map_or(f64::NAN, f64::from);
        findings.value(format!("eqs. 8 and 15: L = {name} bit/s"), discrete);
        for (rtt, one_way) in [("1 ms", 500), ("10 ms", 5000), ("100 ms", 50_000)] {
            findings.value(
                format!("in packets: L = {name} bit/s, RTT {rtt}"),
                to_90(bench, capacity, capacity, Span::from_micros(one_way))?,
            );
        }
    }
    findings.value("fluid: length of every full stage k >= 1, largest distance from 750", whole);
    Ok(())
}
