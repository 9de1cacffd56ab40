//! `HyStart++`.

use cwnd::Span;
use cwnd_sim::Schedule;

use super::{Measured, TWO_PACKETS, need, per_packet, wide};
use crate::check::{Absence, Applies, Check, Level, Looks, Range, Suite};
use crate::lab::Lab;
use crate::record::Record;
use crate::unfit::Unfit;

const BASE: Check = Check {
    id: "",
    suite: Suite::Rfc9406,
    section: "4.2",
    level: Level::Step,
    requirement: "",
    looks: Looks::Window,
    applies: Applies::HyStart,
    measured: "",
    accepted: Range::at_most(0.0),
    basis: "exact",
    absence: Absence::Deviates,
    assumes: "",
    measure: exit,
};

pub(crate) const CHECKS: &[Check] = &[
    Check {
        id: "9406-exit",
        requirement: "slow start ends before the queue overflows",
        looks: Looks::Wire,
        measured: "packets lost in the first 3 s of 50 Mbit/s, 100 ms and a queue of eight bandwidth-delay products",
        measure: exit,
        ..BASE
    },
    Check {
        id: "9406-no-exit",
        requirement: "slow start goes on while the round-trip time does not rise",
        measured: "growth per packet acknowledged in seven round trips without a queue, packets",
        accepted: Range::within(0.9, 1.02),
        basis: "all of slow start",
        measure: no_exit,
        ..BASE
    },
    Check {
        id: "9406-rise",
        requirement: "a rise by more than an eighth of the round-trip time begins conservative slow start, which grows by a quarter of slow start",
        measured: "growth per packet acknowledged in the third and fourth round trip after a rise from 100 to 120 ms, packets",
        accepted: Range::within(0.2, 0.3),
        basis: "a quarter, and a fifth of it for where round trips begin",
        assumes: EACH,
        measure: rise,
        ..BASE
    },
    Check {
        id: "9406-small-rise",
        requirement: "a rise by less does not",
        measured: "growth per packet acknowledged in the third and fourth round trip after a rise from 100 to 108 ms, packets",
        accepted: Range::within(0.9, 1.02),
        basis: "all of slow start",
        assumes: EACH,
        measure: small_rise,
        ..BASE
    },
    Check {
        id: "9406-largest-threshold",
        section: "4.2, 4.3",
        level: Level::Recommended,
        requirement: "the rise that matters is at most 16 ms, on however long a path",
        measured: "growth per packet acknowledged in the third and fourth round trip after a rise from 300 to 320 ms, packets",
        accepted: Range::within(0.2, 0.3),
        basis: "an eighth would be 37 ms",
        assumes: EACH,
        measure: largest_threshold,
        ..BASE
    },
    Check {
        id: "9406-least-threshold",
        section: "4.2, 4.3",
        level: Level::Recommended,
        requirement: "and at least 4 ms, on however short a path",
        measured: "growth per packet acknowledged in the third and fourth round trip after a rise from 16 to 19 ms, packets",
        accepted: Range::within(0.9, 1.02),
        basis: "an eighth would be 2 ms",
        assumes: EACH,
        measure: least_threshold,
        ..BASE
    },
    Check {
        id: "9406-rounds",
        section: "4.2, 4.3",
        level: Level::Recommended,
        requirement: "conservative slow start lasts five rounds, and then congestion avoidance begins",
        measured: "round trips from the rise until the threshold is set",
        accepted: Range::within(4.5, 7.5),
        basis: "five rounds, one to see the rise, and parts of round trips at both ends",
        assumes: EACH,
        measure: rounds,
        ..BASE
    },
    Check {
        id: "9406-resume",
        requirement: "slow start goes on where the round-trip time falls below that at which the conservative one began",
        measured: "growth per packet acknowledged after the round-trip time is 100 ms again, packets",
        accepted: Range::within(0.9, 1.02),
        basis: "all of slow start",
        assumes: EACH,
        measure: resume,
        ..BASE
    },
    Check {
        id: "9406-burst",
        section: "4.3",
        level: Level::Recommended,
        requirement: "without pacing an acknowledgement counts for eight packets at most",
        measured: "growth per packet acknowledged with an acknowledgement for 16 packets, packets",
        accepted: Range::within(0.4, 0.75),
        basis: "a half; the first flight is shorter than 16",
        assumes: "no pacing, with which an acknowledgement counts for all of its packets",
        measure: burst,
        ..BASE
    },
];

fn exit(lab: &Lab<'_>) -> Measured {
    let record = lab.run(&lab.testbed(50, 100, 3400, 3.0))?;
    Ok(*record.trace.links[0].dropped.last().unwrap_or(&0) as f64)
}

fn no_exit(lab: &Lab<'_>) -> Measured {
    let record = lab.run(&wide(lab, 100, 1.0))?;
    let begin = record.slow_start();
    // The flight of the seventh has arrived by then: 640 packets, with which the window is 1280.
    per_packet(&record, begin + 0.5 * record.rtt, begin + 7.5 * record.rtt)
}

/// The path becomes longer at a time in the fourth round trip, and as before after so long; and when that is.
fn longer(lab: &Lab<'_>, rtt_ms: u64, by_ms: u64, back: Option<f64>) -> Result<(Record, f64), Unfit> {
    let rtt = rtt_ms as f64 / 1e3;
    let at = lab.handshake(rtt_ms) + rtt * (3.0 + lab.phase());
    let testbed = lab.testbed(10_000, rtt_ms, 200_000, at + rtt * 12.0).acks_of_each().with(|setup| {
        let link = &mut setup.links[0];
        let mut steps = vec![(Span::from_secs_f64(at), link.delay + Span::from_millis(by_ms))];
        steps.extend(back.map(|late| (Span::from_secs_f64(at + late * rtt), link.delay)));
        link.delay_steps = Schedule { steps, repeat: None };
        // The flight is bounded by the need of ten round trips of a conservative slow start.
        setup.flows[0].max_window = Some(20_000.0);
    });
    let record = lab.run(&testbed)?;
    Ok((record, at))
}

/// The growth per packet in the third and fourth round trip after the rise.
fn after_rise(lab: &Lab<'_>, rtt_ms: u64, by_ms: u64) -> Measured {
    let (record, at) = longer(lab, rtt_ms, by_ms, None)?;
    // It is seen a round trip later, and judged when a whole round has had eight samples. Flights come once in a round trip.
    let rtt = record.rtt + by_ms as f64 / 1e3;
    per_packet(&record, at + 2.6 * rtt, at + 4.6 * rtt)
}

fn rise(lab: &Lab<'_>) -> Measured {
    after_rise(lab, 100, 20)
}

fn small_rise(lab: &Lab<'_>) -> Measured {
    after_rise(lab, 100, 8)
}

fn largest_threshold(lab: &Lab<'_>) -> Measured {
    after_rise(lab, 300, 20)
}

fn least_threshold(lab: &Lab<'_>) -> Measured {
    after_rise(lab, 16, 3)
}

fn rounds(lab: &Lab<'_>) -> Measured {
    let (record, at) = longer(lab, 100, 20, None)?;
    let set = record.between(at, f64::INFINITY).find(|look| look.threshold.is_finite());
    let set = set.ok_or_else(|| Unfit::Absent("the threshold is not set".to_string()))?;
    Ok((set.at - at) / (record.rtt + 0.02))
}

fn resume(lab: &Lab<'_>) -> Measured {
    let (record, at) = longer(lab, 100, 20, Some(4.0))?;
    let rtt = record.rtt + 0.02;
    let early = per_packet(&record, at + 2.6 * rtt, at + 3.9 * rtt)?;
    need(early < 0.6, "conservative slow start has not begun")?;
    per_packet(&record, at + 5.8 * rtt, at + 7.8 * rtt)
}

fn burst(lab: &Lab<'_>) -> Measured {
    let record = lab.run(&wide(lab, 100, 1.0).acks_of(ACKED))?;
    let begin = record.slow_start();
    // A pacer's packets of a larger window would follow one another as closely as those of a burst.
    if longest_burst(&record, begin + 1.5 * record.rtt, begin + 4.0 * record.rtt) < ACKED {
        return Err(Unfit::NotApplicable("it paces"));
    }
    per_packet(&record, begin + 3.5 * record.rtt, begin + 6.5 * record.rtt)
}

/// The most packets between two times that follow one another within [`TWO_PACKETS`].
fn longest_burst(record: &Record, from: f64, to: f64) -> u32 {
    let nanos = (from * 1e9) as u64..(to * 1e9) as u64;
    let (mut longest, mut burst, mut last) = (0, 0, None);
    for sent in record.data.iter().filter(|sent| nanos.contains(&sent.at)) {
        burst = if last.is_some_and(|last| sent.at - last <= TWO_PACKETS) { burst + 1 } else { 1 };
        (longest, last) = (longest.max(burst), Some(sent.at));
    }
    longest
}

/// The assumption of the checks of a rise: a fall by less than a millisecond ends conservative slow start too.
const EACH: &str = "an acknowledgement for each packet, whatever the host's: the wait for more would make round-trip times rise and fall";
/// Packets that an acknowledgement of the check of bursts is for: without pacing as many leave at once.
const ACKED: u32 = 16;
