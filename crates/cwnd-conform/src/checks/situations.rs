//! Situations that have broken stacks before.

use cwnd::{Bytes, Span};
use cwnd_sim::{Era, Loss, RateSchedule, ReorderBy, Reordering, Setup, Source, TokenBucket};

use super::{Measured, first, markable, need, packets_per_ack, undone, undone_threshold, wide};
use crate::check::{Absence, Applies, Check, Level, Looks, Range, Suite};
use crate::lab::Lab;
use crate::unfit::Unfit;

const BASE: Check = Check {
    id: "",
    suite: Suite::Situations,
    section: "",
    level: Level::Step,
    requirement: "",
    looks: Looks::Wire,
    applies: Applies::All,
    measured: "",
    accepted: Range::at_least(0.5),
    basis: "",
    absence: Absence::Deviates,
    assumes: "",
    measure: policer,
};

pub(crate) const CHECKS: &[Check] = &[
    Check {
        id: "loss-spiral",
        section: "RFC 9438 section 4.6, RFC 9002 section 7.2",
        requirement: "a sender gets over heavy loss: 30 % for 2 s on a path of 20 Mbit/s and 10 ms",
        measured: "seconds for 10 MB",
        accepted: Range::at_most(10.0),
        basis: "4 s without loss; a window that stays at its floor needs 100",
        measure: loss_spiral,
        ..BASE
    },
    Check {
        id: "loss-spiral-woken",
        section: "RFC 9438 section 4.6, RFC 9002 section 7.2",
        requirement: "a sender gets over heavy loss where hosts wake each millisecond: 30 % for 2 s on a path of 100 Mbit/s and 10 ms",
        measured: "seconds for 10 MB, the longest of five runs for each seed",
        accepted: Range::at_most(10.0),
        basis: "4.8 s with this program's CUBIC; a window that stays at its floor of two packets needs 34",
        measure: loss_spiral_woken,
        ..BASE
    },
    Check {
        id: "one-loss",
        section: "RFC 5681 section 3.2, RFC 9002 section 6.1",
        requirement: "one loss among a thousand packets is repaired without all the others",
        measured: "bytes of data at the bottleneck over those of a run without the loss",
        accepted: Range::at_most(1.1),
        basis: "0.1 % more; the rest is left to probes and to repeats after a timeout",
        measure: one_loss,
        ..BASE
    },
    Check {
        id: "unused-window",
        section: "RFC 9002 section 7.8, RFC 7661 section 4.2",
        level: Level::Should,
        requirement: "a window of which an application uses a small part for a minute does not run away: 1 Mbit/s on a path of 20 Mbit/s and 50 ms",
        looks: Looks::Window,
        measured: "the largest window from 5 to 60 s less the smallest before, in bandwidth-delay products of the path",
        accepted: Range::at_most(10.0),
        basis: "the use is a twentieth of the product; slow start ends far below ten products",
        absence: Absence::NotApplicable,
        measure: unused_window,
        ..BASE
    },
    Check {
        id: "survives",
        section: "RFC 9002 section 6, RFC 5681 section 3.2",
        level: Level::Must,
        requirement: "a sender gets over losses without a failure of its own: one packet in a hundred",
        measured: "runs that end with a panic of the stack",
        accepted: Range::at_most(0.0),
        basis: "exact",
        measure: survives,
        ..BASE
    },
    Check {
        id: "pause",
        section: "RFC 9438 section 4.2, RFC 5681 section 4.1",
        requirement: "a pause of 30 s in congestion avoidance does not make the window run away",
        applies: Applies::Loss,
        looks: Looks::Window,
        measured: "largest window in the six round trips after the pause over the one before it",
        accepted: Range::at_most(1.5),
        basis: "it may start anew, or continue as before: some packets per round trip",
        measure: pause,
        ..BASE
    },
    Check {
        id: "policer",
        section: "RFC 2914 section 3",
        requirement: "a policer of 10 Mbit/s with 50 ms of tokens does not starve a sender",
        measured: "goodput from 5 to 30 s over the rate of the tokens",
        basis: "a sawtooth without a queue has three quarters; a half is left to deep losses at the start",
        measure: policer,
        ..BASE
    },
    Check {
        id: "reordering",
        section: "RFC 9002 section 6.1, RFC 5681 section 3.2",
        requirement: "reordering costs no more than as many losses would: one packet in a hundred is 4 ms late, behind six others",
        measured: "goodput from 2 to 12 s over 20 Mbit/s at 40 ms",
        accepted: Range::at_least(0.15),
        basis: "a threshold of three packets is allowed: 12 packets per round trip, 0.18, by Reno's formula for one loss in a hundred",
        measure: reordering,
        ..BASE
    },
    Check {
        id: "bleached",
        section: "RFC 9000 section 13.4.2, RFC 3168 section 18.1.3",
        level: Level::Must,
        requirement: "where the path clears ECN, losses are reacted to and nothing else changes",
        measured: "goodput from 2 to 12 s of 20 Mbit/s at 40 ms over the one where the path carries ECN",
        accepted: Range::within(0.95, 1.05),
        basis: "nothing is marked on either path",
        measure: bleached,
        ..BASE
    },
    Check {
        id: "spurious",
        section: "RFC 5682 section 4, RFC 9438 section 4.9",
        level: Level::May,
        requirement: "who undoes a cut for packets that were only late has the window back, and not more",
        applies: Applies::Loss,
        looks: Looks::Window,
        measured: "window at the undo over the one before the cut",
        accepted: Range::within(0.98, 1.1),
        basis: "growth while the flight that was late is acknowledged",
        absence: Absence::NotApplicable,
        measure: undone,
        ..BASE
    },
    Check {
        id: "spurious-threshold",
        section: "RFC 4015 section 3.2, RFC 9438 section 4.9",
        level: Level::May,
        requirement: "who undoes a cut for packets that were only late restores the threshold too",
        applies: Applies::Loss,
        looks: Looks::Window,
        measured: "threshold at the undo over the one before the cut",
        accepted: Range::within(0.98, 1.02),
        basis: "whole packets",
        absence: Absence::NotApplicable,
        measure: undone_threshold,
        ..BASE
    },
    Check {
        id: "lossy",
        section: "RFC 5681 section 3.1",
        requirement: "one loss in a thousand leaves Reno its window of 38 packets at least",
        applies: Applies::Loss,
        measured: "goodput from 4 to 24 s over 1.22 / sqrt(p) packets per round trip of 50 ms",
        accepted: Range::within(0.6, 2.5),
        basis: "Reno's formula holds to a tenth, and is divided by the root of the packets per acknowledgement for a rule that counts acknowledgements: where the share is smaller than 0.6, it is multiplied by that; CUBIC is faster on long paths",
        measure: lossy,
        ..BASE
    },
    Check {
        id: "held-acks",
        section: "RFC 9002 section 5.1, RFC 9293 section 3.8.6.3",
        requirement: "a receiver that acknowledges every second packet, or one after 40 ms, looks like a queue to nobody",
        measured: "goodput from 10 to 30 s of 50 Mbit/s at 40 ms over the one with an acknowledgement for each packet",
        accepted: Range::within(0.98, 1.02),
        basis: "the link is full on both sides; where it is not, a sender that takes the older of two packets for its sample reaches two thirds",
        measure: held_acks,
        ..BASE
    },
    Check {
        id: "thin-flow",
        section: "draft-ietf-ccwg-bbr (RS.rtt), RFC 9002 section 5.1",
        requirement: "what a sender shows as its shortest round trip is no longer where acknowledgements wait: a packet each 20 ms, for 15 s",
        looks: Looks::Window,
        measured: "the `min_rtt` or `rt_prop` that it shows over the round trip of the path",
        accepted: Range::within(0.99, 1.01),
        basis: "a packet takes 0.1 ms of 40",
        measure: thin_flow,
        ..BASE
    },
];

fn loss_spiral(lab: &Lab<'_>) -> Measured {
    const SIZE: u64 = 10_000_000 / 1460;
    let from = 0.2 + 0.01 * lab.phase();
    let testbed = lab.testbed(20, 10, 40, 60.0).with(|setup| setup.flows[0].source = Source::Packets(SIZE));
    let record = lab.run(&testbed.lose_share(from, from + 2.0, 300))?;
    let completed = record.trace.flows[0].completed;
    Ok(completed.map_or(60.0, |nanos| nanos as f64 / 1e9))
}

/// A host that wakes each millisecond acknowledges a small window as a whole.
fn loss_spiral_woken(lab: &Lab<'_>) -> Measured {
    const MILLISECOND: Option<Span> = Some(Span::from_millis(1));
    const END: f64 = 20.0;
    let mut longest = 0.0_f64;
    for run in 0..5 {
        let from = 0.2 + 0.01 * lab.phase() + 0.002 * f64::from(run);
        let testbed = lab.testbed(100, 10, 166, END).with(|setup| {
            let flow = &mut setup.flows[0];
            flow.source = Source::Packets(10_000_000 / 1460);
            (flow.wake, flow.timer) = (MILLISECOND, MILLISECOND);
        });
        let record = lab.run(&testbed.lose_share(from, from + 2.0, 300))?;
        longest = longest.max(record.trace.flows[0].completed.map_or(END, |nanos| nanos as f64 / 1e9));
    }
    Ok(longest)
}

fn one_loss(lab: &Lab<'_>) -> Measured {
    const END: f64 = 20.0;
    let path = || lab.testbed(20, 50, 5000, END).with(|setup| setup.flows[0].source = Source::Packets(1000));
    let whole = lab.run(&path())?;
    let repaired = lab.run(&path().lose_numbers(&[300]))?;
    need(repaired.losses() == 1, "the packet was not lost")?;
    Ok(repaired.full(0.0, END) / whole.full(0.0, END))
}

fn unused_window(lab: &Lab<'_>) -> Measured {
    let record = lab.run(&lab.testbed(20, 50, 83, 60.0).with(|setup| {
        setup.flows[0].source = Source::Rate(RateSchedule::constant(1_000_000));
    }))?;
    let growth = record.largest(5.0, 60.0)? - record.smallest(0.5, 5.0)?;
    Ok(growth / (20e6 * record.rtt / 12_000.0))
}

fn survives(lab: &Lab<'_>) -> Measured {
    let testbed = lab.testbed(10, 40, 70, 6.0).with(|setup| setup.links[0].loss = Loss::Bernoulli(0.01));
    match lab.run(&testbed) {
        Ok(_) => Ok(0.0),
        Err(Unfit::Failed(_)) => Ok(1.0),
        Err(other) => Err(other),
    }
}

fn pause(lab: &Lab<'_>) -> Measured {
    let at = first(lab, 50) - 0.04;
    let (from, to) = (2.0, 32.0);
    let record = lab.run(&lab.testbed(1000, 50, 20_000, to + 0.5).lose(at, 1).pause(from, to))?;
    record.cut(at)?;
    // The data that a stack had buffered is acknowledged by then.
    let before = record.window(from + 1.0)?;
    Ok(record.largest(to, to + 6.0 * record.rtt)? / before)
}

fn policer(lab: &Lab<'_>) -> Measured {
    let testbed = lab.testbed(100, 40, 1000, 30.0).with(|setup| {
        let bucket = TokenBucket { rate: 10_000_000, burst: Bytes(62_500) };
        setup.links[0].impairments.policer = Some(bucket);
    });
    let record = lab.run(&testbed)?;
    Ok(record.goodput(5.0, 30.0) * 1500.0 * 8.0 / 10e6)
}

fn reordering(lab: &Lab<'_>) -> Measured {
    let testbed = lab.testbed(20, 40, 70, 12.0).with(|setup| {
        let by = ReorderBy::Time(Span::from_millis(4));
        setup.links[0].impairments.reordering = Some(Reordering { probability: 0.01, by });
    });
    let record = lab.run(&testbed)?;
    Ok(record.goodput(2.0, 12.0) * 1500.0 * 8.0 / 20e6)
}

/// The simulator clears the codepoints of a stack where the path does not carry ECN.
fn bleached(lab: &Lab<'_>) -> Measured {
    markable(lab)?;
    let carried = lab.run(&lab.testbed(20, 40, 70, 12.0).ecn())?;
    let cleared = lab.run(&lab.testbed(20, 40, 70, 12.0).with(|setup| setup.flows[0].ecn = None))?;
    need(cleared.trace.flows[0].marked.last() == Some(&0), "packets are marked where nothing carries a mark")?;
    Ok(cleared.goodput(2.0, 12.0) / carried.goodput(2.0, 12.0))
}

fn lossy(lab: &Lab<'_>) -> Measured {
    let testbed = wide(lab, 50, 24.0).with(|setup| setup.links[0].loss = Loss::Bernoulli(0.001));
    let record = lab.run(&testbed)?;
    let share = record.goodput(4.0, 24.0) * record.rtt / (1.22 / 0.001_f64.sqrt());
    // Where an acknowledgement is for b packets, a window that grows with each of them follows 1.22 / sqrt(b p).
    Ok(if share < 0.6 { share * packets_per_ack(&record, 4.0, 24.0).sqrt() } else { share })
}

/// Acknowledgements as Linux holds them back.
fn hold_acks(lab: &Lab<'_>, setup: &mut Setup) -> Result<(), Unfit> {
    if lab.subject().spec().as_stack().is_some() {
        return Err(Unfit::NotApplicable("its receiver holds acknowledgements back as it chooses"));
    }
    if lab.subject().host().acks > 1 {
        return Err(Unfit::NotApplicable("its acknowledgements are held back on every path"));
    }
    setup.flows[0].delayed_ack = Era::MODERN.delayed_ack;
    Ok(())
}

fn held_acks(lab: &Lab<'_>) -> Measured {
    let path = || lab.testbed(50, 40, 340, 30.0);
    let mut held = path();
    hold_acks(lab, &mut held.setup)?;
    Ok(lab.run(&held)?.goodput(10.0, 30.0) / lab.run(&path())?.goodput(10.0, 30.0))
}

fn thin_flow(lab: &Lab<'_>) -> Measured {
    let mut testbed = lab.testbed(120, 40, 400, 15.0);
    hold_acks(lab, &mut testbed.setup)?;
    testbed.setup.flows[0].source = Source::Rate(RateSchedule::constant(584_000));
    let shown = lab.shown(&testbed, &["min_rtt", "rt_prop"])?;
    let (found, path) = shown.ok_or(Unfit::NotApplicable("it shows no shortest round trip"))?;
    Ok(found / path)
}
