//! UDT's stages, and what its window is for.

use cwnd::rate::udt::SYN;
use cwnd::units::{BitRate, Bytes, Span};
use cwnd_model::{fluid, udt};
use schemars::JsonSchema;
use serde::Serialize;

use super::{CLOSED_FORM, MODEL};

/// UDT's stages: `cwnd model udt --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub struct Stages {
    /// The version of cwnd, with the revision of its sources where it was built in a repository.
    pub version: &'static str,
    /// Always `closed form`.
    pub kind: &'static str,
    /// Capacity, bit/s.
    pub capacity_bps: f64,
    /// Round trip, seconds.
    pub rtt_s: f64,
    /// Packet on the wire, bytes.
    pub packet_bytes: u32,
    /// SYNs without loss from rest to 90 % of the capacity, eq. 15 step by step.
    pub intervals_to_90: Option<u32>,
    /// Whether eq. 20 calls a flow friendly to TCP here.
    pub friendly: bool,
    /// The stages.
    pub stages: Vec<StageRow>,
    /// One object per loss probability.
    pub rows: Vec<EquilibriumRow>,
    /// How many flows share the capacity in `delays`.
    pub flows: u32,
    /// Equal flows as a fluid, one object per round trip.
    pub delays: Vec<DelayRow>,
}

/// A stage of UDT.
#[derive(Debug, JsonSchema, Serialize)]
pub struct StageRow {
    /// k.
    pub stage: i32,
    /// Where it begins, bit/s.
    pub from_bps: f64,
    /// Where it ends, bit/s.
    pub to_bps: f64,
    /// Increase per SYN, packets.
    pub increase_packets: f64,
    /// TF of eq. 19: the rate over that of a TCP at the same loss.
    pub tcp_ratio: f64,
}

/// UDT at a loss probability.
#[derive(Debug, JsonSchema, Serialize)]
pub struct EquilibriumRow {
    /// Loss probability per packet.
    pub loss: f64,
    /// The stable stage (eqs. 13 and 14).
    pub stage: i32,
    /// x*, packets per SYN, by the exact root.
    pub packets_per_syn: f64,
    /// The rate this is, bit/s (eq. 12).
    pub rate_bps: f64,
    /// The rate, but at least the lower edge of its stage, bit/s.
    pub clipped_bps: f64,
}

/// Equal flows with the increase of eq. 8 on the capacity, without a queue: a sender is notified of congestion a round trip later, and the
/// window of eq. 21 is what keeps it from filling the network meanwhile (daimd, section VI).
#[derive(Debug, JsonSchema, Serialize)]
pub struct DelayRow {
    /// Always `model`.
    pub kind: &'static str,
    /// Round trip, seconds.
    pub rtt_s: f64,
    /// Share of the sent packets that is lost, with rate control alone.
    pub loss_by_rate_alone: f64,
    /// Share of the sent packets that is lost, with the window.
    pub loss: f64,
    /// Share of the capacity that is used, with rate control alone.
    pub utilisation_by_rate_alone: f64,
    /// Share of the capacity that is used, with the window.
    pub utilisation: f64,
}

/// A path for UDT.
#[derive(Clone, Copy, Debug)]
pub struct Udt<'a> {
    /// Its capacity.
    pub capacity: BitRate,
    /// A packet on the wire.
    pub packet: Bytes,
    /// The round trip for the comparison with TCP.
    pub rtt: Span,
    /// Loss probabilities per packet.
    pub losses: &'a [f64],
    /// How many flows share the capacity where delay is looked at; at least 1.
    pub flows: u32,
    /// Their round trips.
    pub delays: &'a [Span],
}

/// UDT's stages on a capacity, where loss holds it, and what delay does to it.
#[must_use]
pub fn stages(path: Udt<'_>) -> Stages {
    let Udt { capacity, packet, rtt, losses, flows, delays } = path;
    let rtt_s = rtt.as_secs_f64();
    let stages = (0..SHOWN_STAGES).map(|index| {
        let stage = udt::stage(capacity.0, index, packet);
        StageRow {
            stage: index,
            from_bps: stage.from,
            to_bps: stage.to,
            increase_packets: stage.increase,
            tcp_ratio: udt::tcp_friendliness(capacity.0, index, rtt_s),
        }
    });
    let rows = losses.iter().map(|loss| {
        let found = udt::equilibrium(capacity.0, *loss, packet);
        EquilibriumRow {
            loss: *loss,
            stage: found.stage.index,
            packets_per_syn: found.packets_per_syn,
            rate_bps: found.rate,
            clipped_bps: found.clipped,
        }
    });
    Stages {
        version: cwnd_run::VERSION,
        kind: CLOSED_FORM,
        capacity_bps: capacity.0,
        rtt_s,
        packet_bytes: packet.0,
        intervals_to_90: udt::intervals_to(capacity.0, 0.9, packet),
        friendly: udt::is_friendly(capacity.0, rtt_s),
        stages: stages.collect(),
        rows: rows.collect(),
        flows,
        delays: delays.iter().map(|delay| delayed(path, *delay)).collect(),
    }
}

fn delayed(path: Udt<'_>, rtt: Span) -> DelayRow {
    let fluid = fluid::udt(path.capacity, path.packet);
    let share = path.capacity.0 / path.packet.bits() * SYN.as_secs_f64() / f64::from(path.flows.max(1));
    let delay = rtt.as_nanos().div_ceil(SYN.as_nanos()) as usize;
    let over =
        |lambda| fluid.over_path(share / 2.0, fluid::DelayedPath { capacity: share, delay, lambda }, FLUID_INTERVALS);
    let (alone, windowed) = (over(None), over(Some(LAMBDA)));
    DelayRow {
        kind: MODEL,
        rtt_s: rtt.as_secs_f64(),
        loss_by_rate_alone: alone.loss,
        loss: windowed.loss,
        utilisation_by_rate_alone: alone.utilisation,
        utilisation: windowed.utilisation,
    }
}

/// The share of the old window in a new one: that of the author's code; the paper says only that there is one.
const LAMBDA: f64 = 0.875;
/// More than three minutes, of which the first half share of the capacity is soon forgotten.
const FLUID_INTERVALS: usize = 20_000;

/// The increase falls to a ten-thousandth: nothing of interest lies above.
const SHOWN_STAGES: i32 = 4;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_is_needed_where_the_round_trip_is_long() {
        let path = Udt {
            capacity: BitRate(1e9),
            packet: Bytes(1500),
            rtt: Span::from_millis(100),
            losses: &[],
            flows: 10,
            delays: &[10, 20, 200, 1000].map(Span::from_millis),
        };
        let [short, twice, long, longest] = <[DelayRow; 4]>::try_from(stages(path).delays).expect("one per delay");
        // Up to the (1 + SYN/RTT) of a round trip ago that eq. 21 allows, nothing is held back.
        for row in [short, twice] {
            assert!((row.loss / row.loss_by_rate_alone - 1.0).abs() < 1e-9 && row.loss < 0.002, "{row:?}");
        }
        assert!(long.loss_by_rate_alone > 0.02 && long.loss < 0.1 * long.loss_by_rate_alone, "{long:?}");
        assert!(longest.loss_by_rate_alone > 0.2 && longest.loss < 1e-3, "{longest:?}");
        assert!(longest.utilisation < longest.utilisation_by_rate_alone, "{longest:?}");
    }
}
