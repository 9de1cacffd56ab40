//! Loss detection and congestion control as QUIC has them. What is checked holds for other transports too.

use cwnd_sim::{RateSchedule, Source};

use super::{Measured, cut, first, growth, later_cut, marked, must, need, outage, per_packet, scattered, wide};
use crate::check::{Absence, Applies, Check, Level, Looks, Range, Suite};
use crate::lab::{Lab, PACKET, Record, Unfit};
use crate::subject::Law;

const BASE: Check = Check {
    id: "",
    suite: Suite::Rfc9002,
    section: "",
    level: Level::Must,
    requirement: "",
    looks: Looks::Window,
    applies: Applies::Loss,
    measured: "",
    accepted: Range::at_most(1.0),
    basis: "exact",
    absence: Absence::Departs,
    assumes: "",
    measure: initial,
};

pub(crate) const CHECKS: &[Check] = &[
    Check {
        id: "9002-initial",
        section: "7.2",
        level: Level::Should,
        requirement: "the initial window is ten datagrams",
        applies: Applies::All,
        measured: "window at the first packet, packets",
        accepted: Range::within(8.0, 12.5),
        basis: "ten of the largest datagrams, 14,720 bytes of smaller ones, or ten of the 1200 bytes that QUIC begins with, in packets of 1472",
        measure: initial,
        ..BASE
    },
    Check {
        id: "9002-in-flight",
        section: "7",
        requirement: "no packet is sent that makes more than the window be in flight",
        measured: "most packets in flight over the window, until something is lost",
        accepted: Range::at_most(1.02),
        basis: "a window that has just grown by a part of a packet",
        measure: in_flight,
        ..BASE
    },
    Check {
        id: "9002-paced-start",
        section: "7.7",
        level: Level::Should,
        requirement: "a sender that paces sends fast enough in slow start to use its window",
        measured: "most packets in flight over the window in the fifth and sixth round trip",
        accepted: Range::at_least(0.84),
        basis: "by hand 0.92 at one and a quarter windows per round trip, 0.76 at one, where slow start grows by 1.76 in place of 2",
        measure: paced_start,
        ..BASE
    },
    Check {
        id: "9002-slow-start",
        section: "7.3.1",
        level: Level::Step,
        requirement: "slow start grows by what each acknowledgement acknowledges",
        applies: Applies::Plain,
        measured: "growth of the window per packet acknowledged in the first three round trips, packets",
        accepted: Range::within(0.95, 1.02),
        basis: "acknowledgements and datagrams that are not of full size",
        measure: slow_start,
        ..BASE
    },
    Check {
        id: "9002-slow-start-acks",
        section: "7.3.1",
        level: Level::Step,
        requirement: "and does not depend on how many packets an acknowledgement names",
        measured: "window after three round trips with an acknowledgement for four packets over the one with one for each",
        accepted: Range::within(0.8, 1.1),
        basis: "what is left over of a flight waits for the next",
        measure: slow_start_acks,
        ..BASE
    },
    Check {
        id: "9002-exit-on-loss",
        section: "7.3.1",
        requirement: "a loss ends slow start",
        measured: "largest growth per round trip in the ten round trips after recovery, as a factor",
        accepted: Range::at_most(1.2),
        basis: "slow start would double; CUBIC grows by some in a hundred here",
        measure: exit_on_loss,
        ..BASE
    },
    Check {
        id: "9002-exit-on-mark",
        section: "7.3.1",
        requirement: "a mark ends slow start",
        measured: "largest growth per round trip in the ten round trips after the mark, as a factor",
        accepted: Range::at_most(1.2),
        basis: "slow start would double",
        measure: exit_on_mark,
        ..BASE
    },
    Check {
        id: "9002-halve",
        section: "7.3.2",
        level: Level::Step,
        requirement: "a loss halves the window",
        applies: Applies::Law(Law::Reno),
        measured: "window after the cut over the one before",
        accepted: Range::within(0.49, 0.51),
        basis: "whole packets at windows of a hundred and more",
        measure: halve,
        ..BASE
    },
    Check {
        id: "9002-recovery-once",
        section: "7.3.2",
        level: Level::Step,
        requirement: "losses of packets sent before recovery began change nothing more",
        measured: "cuts for losses of an eighth of a window",
        accepted: Range::within(1.0, 1.0),
        basis: "exact",
        measure: recovery_once,
        ..BASE
    },
    Check {
        id: "9002-recovery-still",
        section: "7.3.2",
        level: Level::Step,
        requirement: "the window does not grow during recovery",
        measured: "window at nine tenths of the round trip after the cut over the one at the cut",
        accepted: Range::at_most(1.005),
        basis: "rounding",
        measure: recovery_still,
        ..BASE
    },
    Check {
        id: "9002-recovery-ends",
        section: "7.3.2",
        level: Level::Step,
        requirement: "a loss of a packet sent after recovery began is another congestion event",
        measured: "cuts for two losses three round trips apart",
        accepted: Range::within(2.0, 2.0),
        basis: "exact",
        measure: recovery_ends,
        ..BASE
    },
    Check {
        id: "9002-recovery-last",
        section: "7.3.2, RFC 6582 section 3.2",
        level: Level::Step,
        requirement: "the last packet sent before recovery began belongs to it",
        measured: "cuts where it is lost too",
        accepted: Range::within(1.0, 1.0),
        basis: "exact",
        measure: recovery_last,
        ..BASE
    },
    Check {
        id: "9002-recovery-first",
        section: "7.3.2, RFC 6582 section 3.2",
        level: Level::Step,
        requirement: "the first packet sent after recovery began does not",
        measured: "cuts where it is lost too; more than two count as two",
        accepted: Range::within(2.0, 2.0),
        basis: "exact; a timer of a round trip may add a cut, since the repair takes two",
        measure: recovery_first,
        ..BASE
    },
    Check {
        id: "9002-avoidance",
        section: "7.3.3",
        requirement: "congestion avoidance grows by one packet at most per window acknowledged",
        applies: Applies::Law(Law::Reno),
        measured: "growth over twenty round trips, packets per round trip",
        accepted: Range::within(0.9, 1.02),
        basis: "a tenth less for rules that count whole packets",
        measure: avoidance,
        ..BASE
    },
    Check {
        id: "9002-acks",
        section: "7.3.3",
        level: Level::Step,
        requirement: "nor does congestion avoidance depend on how many packets an acknowledgement names",
        applies: Applies::Plain,
        measured: "largest growth in 2 s with an acknowledgement for 1, 2, 5 and 10 packets over the smallest",
        accepted: Range::at_most(1.05),
        basis: "five in a hundred",
        measure: acks,
        ..BASE
    },
    Check {
        id: "9002-persistent",
        section: "7.6.2",
        requirement: "persistent congestion leaves the least window",
        measured: "least window from an outage of 8 s at 50 ms to a second after it, packets",
        accepted: Range::at_most(2.0),
        basis: "two datagrams, one packet in TCP",
        measure: persistent,
        ..BASE
    },
    Check {
        id: "9002-persistent-resumes",
        section: "7.6.2",
        level: Level::Step,
        requirement: "after which slow start takes the window back",
        applies: Applies::Loss,
        looks: Looks::Wire,
        measured: "packets sent per round trip 25 round trips after the first acknowledgement over those before the outage",
        accepted: Range::at_least(0.3),
        basis: "half of the window and the lag of a few round trips",
        measure: persistent_resumes,
        ..BASE
    },
    Check {
        id: "9002-tail-loss",
        section: "6.2.4",
        requirement: "when the last packets are lost a probe is sent, and the data arrives",
        looks: Looks::Wire,
        applies: Applies::All,
        measured: "seconds from the loss of the last three packets of 60 until all have arrived, at 50 ms",
        accepted: Range::at_most(1.5),
        basis: "a probe within two round trips, or a timeout of a second",
        measure: tail_loss,
        ..BASE
    },
    Check {
        id: "9002-burst",
        section: "7.7",
        level: Level::Should,
        requirement: "bursts are no longer than the initial window",
        looks: Looks::Wire,
        measured: "packets that are sent at once after a pause of 4 s at 50 ms: two packet times apart at most at 1 Gbit/s",
        accepted: Range::at_most(12.0),
        basis: "ten, and what is left of probes",
        measure: burst,
        ..BASE
    },
    Check {
        id: "9002-pace-limited",
        section: "7.7",
        requirement: "a sender whose application writes forty packets every 2.5 s paces them, or sends the initial window at once and no more",
        looks: Looks::Wire,
        applies: Applies::All,
        measured: "packets in the first tenth of a round trip of 50 ms after each write, over all of it: the median of ten writes",
        accepted: Range::at_most(0.6),
        basis: "ten at once are a quarter; the rest lets a window of twice the write be paced at one and a half windows per round trip",
        measure: pace_limited,
        ..BASE
    },
    Check {
        id: "9002-underused",
        section: "7.8",
        level: Level::Should,
        requirement: "a window that the application does not fill does not grow: three packets per round trip",
        applies: Applies::Loss,
        measured: "window after ten seconds over the one after one second",
        accepted: Range::within(0.9, 1.02),
        basis: "a window that is not validated may shrink a little",
        measure: underused,
        ..BASE
    },
    Check {
        id: "9002-paced-is-used",
        section: "7.8",
        level: Level::Should,
        requirement: "a sender that its pacer holds back uses its window: it grows as without",
        applies: Applies::Plain,
        measured: "growth of the window per packet acknowledged in the first three round trips with pacing, packets",
        accepted: Range::within(0.9, 1.02),
        basis: "a tenth for the first packets, which no pacer holds",
        measure: paced,
        ..BASE
    },
];

fn initial(lab: &Lab<'_>) -> Measured {
    let record = lab.run(&wide(lab, 100, 0.5))?;
    record.window(record.slow_start())
}

fn in_flight(lab: &Lab<'_>) -> Measured {
    let record = lab.run(&wide(lab, 100, 0.5))?;
    let begin = record.slow_start();
    used(&record, begin, f64::INFINITY)
}

/// The most packets in flight over the window between two times.
fn used(record: &Record, from: f64, to: f64) -> Measured {
    record.window(from)?;
    let mut most = 0.0_f64;
    for look in record.between(from, to) {
        let in_flight = look.sent.saturating_sub(look.delivered + look.lost) as f64;
        most = most.max(in_flight / record.window(look.at)?);
    }
    Ok(most)
}

fn paced_start(lab: &Lab<'_>) -> Measured {
    let record = lab.run(&wide(lab, 100, 1.0))?;
    let begin = record.slow_start();
    used(&record, begin + 4.0 * record.rtt, begin + 6.0 * record.rtt)
}

fn slow_start(lab: &Lab<'_>) -> Measured {
    let record = lab.run(&wide(lab, 100, 1.0))?;
    let begin = record.slow_start();
    per_packet(&record, begin + 0.5 * record.rtt, begin + 3.5 * record.rtt)
}

fn slow_start_acks(lab: &Lab<'_>) -> Measured {
    let after = |packets| {
        let record = lab.run(&wide(lab, 100, 0.5).acks_of(packets))?;
        record.window(record.slow_start() + 3.5 * record.rtt)
    };
    let alone: f64 = after(1)?;
    let together: f64 = after(4)?;
    Ok(together / alone)
}

fn exit_on_loss(lab: &Lab<'_>) -> Measured {
    let (record, cut) = cut(lab, 50, 1.0)?;
    growth(&record, cut.at + record.rtt, cut.at + 11.0 * record.rtt)
}

fn exit_on_mark(lab: &Lab<'_>) -> Measured {
    let at = first(lab, 50);
    let record = lab.run(&wide(lab, 50, 1.0).mark(at, 1))?;
    marked(&record)?;
    // Where a mark changes nothing there is no cut: the growth is that of slow start.
    growth(&record, at + 2.5 * record.rtt, at + 10.0 * record.rtt)
}

fn halve(lab: &Lab<'_>) -> Measured {
    Ok(later_cut(lab, 100, 1.5)?.ratio())
}

fn recovery_once(lab: &Lab<'_>) -> Measured {
    let (record, at) = scattered(lab, 100)?;
    record.window(at)?;
    Ok(record.cuts().len() as f64)
}

fn recovery_still(lab: &Lab<'_>) -> Measured {
    // In the first flight, so that a packet more is a tenth of the window; not its first packet, which may end a handshake.
    let course = wide(lab, 100, 1.0);
    let begin = lab.run(&course)?.slow_start();
    let record = lab.run(&course.lose(begin + 1e-6, 1))?;
    let cut = record.cut(0.0)?;
    Ok(record.largest(cut.at, cut.at + 0.9 * record.rtt)? / cut.after)
}

fn recovery_ends(lab: &Lab<'_>) -> Measured {
    let at = first(lab, 100);
    let course = wide(lab, 100, 1.3).lose(at, 1);
    let once = lab.run(&course)?.cut(at)?;
    let record = lab.run(&course.lose(once.at + 0.3, 1))?;
    need(record.losses() == 2, "too little is sent")?;
    Ok(record.cuts().len() as f64)
}

/// How often the window is reduced after two losses in slow start. The second lost packet was sent `after` packets later than the last one
/// before the cut.
fn recovery_edge(lab: &Lab<'_>, after: u64) -> Measured {
    if lab.subject().spec().as_stack().is_some() {
        return Err(Unfit::NotApplicable("a whole stack numbers its packets itself"));
    }
    let at = first(lab, 100);
    let course = wide(lab, 100, 1.0).lose(at, 1);
    let record = lab.run(&course)?;
    let cut = record.cut(at)?;
    let record = lab.run(&course.lose_numbers(&[cut.sent.saturating_sub(1) + after]))?;
    need(record.losses() == 2, "too little is sent")?;
    Ok(record.cuts().len() as f64)
}

fn recovery_last(lab: &Lab<'_>) -> Measured {
    recovery_edge(lab, 0)
}

fn recovery_first(lab: &Lab<'_>) -> Measured {
    Ok(recovery_edge(lab, 1)?.min(2.0))
}

fn avoidance(lab: &Lab<'_>) -> Measured {
    let (record, cut) = cut(lab, 50, 2.0)?;
    let from = cut.at + 4.0 * record.rtt;
    lab.formula(cut.at, cut.at + 2.0, |at| cut.after + (at - cut.at) / record.rtt);
    record.slope(from, from + 20.0 * record.rtt)
}

fn acks(lab: &Lab<'_>) -> Measured {
    let mut grown = Vec::new();
    for packets in [1, 2, 5, 10] {
        let at = lab.handshake(50) + 0.15 + 0.05 * lab.phase();
        let record = lab.run(&lab.course(1000, 50, 20_000, 3.0).lose(at, 1).acks_of(packets))?;
        let cut = record.cut(at)?;
        let from = cut.at + 4.0 * record.rtt;
        grown.push(record.window(from + 2.0)? - record.window(from)?);
    }
    let (least, most) = grown.iter().fold((f64::INFINITY, 0.0_f64), |(least, most), w| (least.min(*w), most.max(*w)));
    Ok(most / least)
}

fn persistent(lab: &Lab<'_>) -> Measured {
    let (record, from, to) = outage(lab, 50, 8.0, 20.0)?;
    // QUIC learns of it with the first acknowledgement, which may be many seconds late.
    let resumed = record.between(to, f64::INFINITY).find(|look| look.delivered > record.at(to).delivered);
    let resumed = resumed.ok_or_else(|| Unfit::Absent("nothing arrives after the outage".to_string()))?;
    record.smallest(from, resumed.at + 0.5 * record.rtt)
}

fn persistent_resumes(lab: &Lab<'_>) -> Measured {
    let (record, from, to) = outage(lab, 50, 8.0, 20.0)?;
    let resumed = record.between(to, f64::INFINITY).find(|look| look.delivered > record.at(to).delivered);
    let resumed = resumed.ok_or_else(|| Unfit::Absent("nothing arrives after the outage".to_string()))?.at;
    let before = record.sent(from - record.rtt, from);
    need(before > 40, "too little is sent before the outage")?;
    let after = resumed + 25.0 * record.rtt;
    Ok(record.sent(after, after + record.rtt) as f64 / before as f64)
}

fn tail_loss(lab: &Lab<'_>) -> Measured {
    const SIZE: u64 = 60;
    let whole = lab.course(100, 50, 20_000, 10.0).with(|setup| setup.flows[0].source = Source::Packets(SIZE));
    let lossless = lab.run(&whole)?;
    let sent: Vec<f64> = lossless.data.iter().map(|sent| sent.at as f64 / 1e9).collect();
    let [.., first, _, _] = sent.as_slice() else {
        return Err(Unfit::Unclear("too little is sent".to_string()));
    };
    let record = lab.run(&whole.lose(first - 1e-6, 3))?;
    let flow = &record.trace.flows[0];
    let completed = flow.completed.ok_or_else(|| Unfit::Absent("the transfer is not completed".to_string()))?;
    Ok(completed as f64 / 1e9 + flow.start as f64 / 1e9 - first)
}

fn burst(lab: &Lab<'_>) -> Measured {
    let (from, to) = (0.45, 4.45);
    let record = lab.run(&lab.course(1000, 50, 20_000, to + 0.5).pause(from, to))?;
    need(record.sent(from - 0.05, from) > 20, "too little is sent before the pause")?;
    let after: Vec<u64> = record.data.iter().map(|sent| sent.at).filter(|at| *at as f64 >= to * 1e9).collect();
    let gap = after.windows(2).position(|pair| pair[1] - pair[0] > TWO_PACKETS);
    must(!after.is_empty(), "nothing is sent after the pause")?;
    Ok(gap.map_or(after.len(), |gap| gap + 1) as f64)
}

fn pace_limited(lab: &Lab<'_>) -> Measured {
    const WRITE: f64 = 40.0;
    const WRITES: u64 = 14;
    // Longer than a timeout of a second, after which RFC 5681 lets no more than the initial window leave at once.
    const EVERY: f64 = 2.5;
    // A packet each 25 us for a millisecond.
    let rate = (WRITE * PACKET.bits() / 1e-3) as u64;
    let end = WRITES as f64 * EVERY;
    let course = lab.course(1000, 50, 20_000, end + 0.5);
    let course = course.with(|setup| setup.flows[0].source = Source::Rate(RateSchedule::constant(rate)));
    let record = lab.run(&course.trickle(0.0, end, 1, (EVERY * 1e3) as u64))?;
    let share = |write: u64| {
        let seconds = record.data.iter().map(|sent| sent.at as f64 / 1e9);
        let of_write = || seconds.clone().filter(|at| (at / EVERY) as u64 == write);
        let first = of_write().next()?;
        let early = of_write().filter(|at| *at < first + 0.1 * record.rtt).count();
        Some(early as f64 / of_write().count() as f64)
    };
    // The first writes are slow start, which sends what the window allows.
    let mut shares: Vec<f64> = (WRITES - 10..WRITES).filter_map(share).collect();
    need(shares.len() == 10, "a write is not sent")?;
    shares.sort_by(f64::total_cmp);
    Ok(f64::midpoint(shares[4], shares[5]))
}

fn underused(lab: &Lab<'_>) -> Measured {
    // Three packets per round trip of 50 ms.
    let rate = (3.0 * PACKET.bits() / 0.05) as u64;
    let course = lab.course(1000, 50, 20_000, 11.0);
    let record = lab.run(&course.with(|setup| setup.flows[0].source = Source::Rate(RateSchedule::constant(rate))))?;
    Ok(record.window(10.9)? / record.window(1.0)?)
}

fn paced(lab: &Lab<'_>) -> Measured {
    let record = lab.run(&wide(lab, 100, 1.0).with(|setup| setup.flows[0].paced = true))?;
    let begin = record.slow_start();
    per_packet(&record, begin + 0.5 * record.rtt, begin + 3.5 * record.rtt)
}

/// Nanoseconds that two packets take at 1 Gbit/s.
const TWO_PACKETS: u64 = 24_000;
