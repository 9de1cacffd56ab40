//! The measures of the checks of RFC 9002.

use cwnd_sim::{RateSchedule, Source};

use crate::checks::{
    Measured, TWO_PACKETS, cut, first, growth, later_cut, markable, must, need, outage, per_packet, scattered, wide,
};
use crate::lab::Lab;
use crate::record::Record;
use crate::testbed::PACKET;
use crate::unfit::Unfit;

pub(super) fn initial(lab: &Lab<'_>) -> Measured {
    let record = lab.run(&wide(lab, 100, 0.5))?;
    record.window(record.slow_start())
}

pub(super) fn in_flight(lab: &Lab<'_>) -> Measured {
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

pub(super) fn paced_start(lab: &Lab<'_>) -> Measured {
    let record = lab.run(&wide(lab, 100, 1.0))?;
    let begin = record.slow_start();
    used(&record, begin + 4.0 * record.rtt, begin + 6.0 * record.rtt)
}

pub(super) fn slow_start(lab: &Lab<'_>) -> Measured {
    let record = lab.run(&wide(lab, 100, 1.0))?;
    let begin = record.slow_start();
    per_packet(&record, begin + 0.5 * record.rtt, begin + 3.5 * record.rtt)
}

pub(super) fn slow_start_acks(lab: &Lab<'_>) -> Measured {
    let after = |packets| {
        let record = lab.run(&wide(lab, 100, 0.5).acks_of(packets))?;
        record.window(record.slow_start() + 3.5 * record.rtt)
    };
    let alone: f64 = after(1)?;
    let together: f64 = after(4)?;
    Ok(together / alone)
}

pub(super) fn exit_on_loss(lab: &Lab<'_>) -> Measured {
    let (record, cut) = cut(lab, 50, 1.0)?;
    let end = cut.at + 11.0 * record.rtt;
    record.untimed(end)?;
    growth(&record, cut.at + record.rtt, end)
}

pub(super) fn exit_on_mark(lab: &Lab<'_>) -> Measured {
    markable(lab)?;
    let at = first(lab, 50);
    let record = lab.run(&wide(lab, 50, 1.0).mark(at, 1))?;
    // Where a mark changes nothing there is no cut: the growth is that of slow start.
    growth(&record, at + 2.5 * record.rtt, at + 10.0 * record.rtt)
}

pub(super) fn halve(lab: &Lab<'_>) -> Measured {
    Ok(later_cut(lab, 100, 1.5)?.ratio())
}

/// The remaining window, and not the number of cuts: those of a sender that paces follow one another so closely that they look like one.
pub(super) fn recovery_once(lab: &Lab<'_>) -> Measured {
    let left = |losses| {
        let (record, at) = scattered(lab, 100, losses)?;
        record.smallest_from(at, at + 4.0 * record.rtt)
    };
    let one: f64 = left(1)?;
    Ok(left(usize::MAX)? / one)
}

pub(super) fn recovery_still(lab: &Lab<'_>) -> Measured {
    // In the first flight, so that a packet more is a tenth of the window.
    let testbed = wide(lab, 100, 1.0);
    let record = lab.run(&testbed)?;
    let begin = record.slow_start();
    let end = begin + 0.5 * record.rtt;
    // No larger ones: losing a probe of the MTU should cut nothing (RFC 9000 section 14.4). Not its first packets: losing the end of a
    // handshake may be no congestion.
    let usual = record.usual_bytes(begin, end);
    let flight: Vec<_> = record.between_data(begin, end).filter(|sent| sent.bytes == usual).collect();
    need(flight.len() > 2, "too little is sent")?;
    let record = lab.run(&testbed.lose_numbers(&[flight[flight.len() / 4].number]))?;
    let cut = record.cut(begin)?;
    let end = cut.at + 0.9 * record.rtt;
    record.untimed(end)?;
    let (mut least, mut most) = (f64::INFINITY, 1.0_f64);
    for look in record.between(cut.at, end) {
        least = least.min(look.window);
        most = most.max(look.window / least);
    }
    Ok(most)
}

pub(super) fn recovery_ends(lab: &Lab<'_>) -> Measured {
    let at = first(lab, 100);
    let testbed = wide(lab, 100, 1.3).lose(at, 1);
    let once = lab.run(&testbed)?.cut(at)?;
    let record = lab.run(&testbed.lose(once.at + 0.3, 1))?;
    need(record.losses() == 2, "too little is sent")?;
    Ok(record.cuts().len() as f64)
}

/// The window four round trips after the cut for a packet lost in slow start, where another one is lost too, over the one where it is not.
/// The other was sent `after` packets later than the last one before the loss was found.
fn recovery_edge(lab: &Lab<'_>, after: u64) -> Measured {
    if lab.subject().spec().as_stack().is_some() {
        return Err(Unfit::NotApplicable("a whole stack numbers its packets itself"));
    }
    let at = first(lab, 100);
    let testbed = wide(lab, 100, 1.0).lose(at, 1);
    let once = lab.run(&testbed)?;
    let cut = once.cut(at)?;
    let sent = once.sent_before_loss().ok_or(Unfit::NotApplicable("it shows no losses"))?;
    let twice = lab.run(&testbed.lose_numbers(&[sent.saturating_sub(1) + after]))?;
    need(twice.losses() == 2, "too little is sent")?;
    let late = cut.at + 4.0 * once.rtt;
    Ok(twice.window(late)? / once.window(late)?)
}

pub(super) fn recovery_last(lab: &Lab<'_>) -> Measured {
    recovery_edge(lab, 0)
}

pub(super) fn recovery_first(lab: &Lab<'_>) -> Measured {
    recovery_edge(lab, 1)
}

pub(super) fn avoidance(lab: &Lab<'_>) -> Measured {
    let (record, cut) = cut(lab, 50, 2.0)?;
    let from = cut.at + 4.0 * record.rtt;
    lab.formula(cut.at, cut.at + 2.0, |at| cut.after + (at - cut.at) / record.rtt);
    record.slope(from, from + 20.0 * record.rtt)
}

pub(super) fn acks(lab: &Lab<'_>) -> Measured {
    let mut grown = Vec::new();
    for packets in [1, 2, 5, 10] {
        let at = lab.handshake(50) + 0.15 + 0.05 * lab.phase();
        let record = lab.run(&lab.testbed(1000, 50, 20_000, 3.0).lose(at, 1).acks_of(packets))?;
        let cut = record.cut(at)?;
        let from = cut.at + 4.0 * record.rtt;
        grown.push(record.window(from + 2.0)? - record.window(from)?);
    }
    let (least, most) = grown.iter().fold((f64::INFINITY, 0.0_f64), |(least, most), w| (least.min(*w), most.max(*w)));
    Ok(most / least)
}

pub(super) fn persistent(lab: &Lab<'_>) -> Measured {
    let (record, from, to) = outage(lab, 50, 8.0, 20.0)?;
    // QUIC learns of it with the first acknowledgement, which may be many seconds late.
    let resumed = record.between(to, f64::INFINITY).find(|look| look.delivered > record.at(to).delivered);
    let resumed = resumed.ok_or_else(|| Unfit::Absent("nothing arrives after the outage".to_string()))?;
    record.smallest(from, resumed.at + 0.5 * record.rtt)
}

/// Two round trips later than other outages, so that the window before is far above what congestion avoidance gains from the least one.
pub(super) fn persistent_resumes(lab: &Lab<'_>) -> Measured {
    let from = first(lab, 50) + 0.1;
    let to = from + 8.0;
    let record = lab.run(&wide(lab, 50, 28.1).lose_share(from, to, 1000))?;
    let resumed = record.between(to, f64::INFINITY).find(|look| look.delivered > record.at(to).delivered);
    let resumed = resumed.ok_or_else(|| Unfit::Absent("nothing arrives after the outage".to_string()))?.at;
    let before = record.sent(from - record.rtt, from);
    need(before > 40, "too little is sent before the outage")?;
    let after = resumed + 25.0 * record.rtt;
    Ok(record.sent(after, after + record.rtt) as f64 / before as f64)
}

pub(super) fn tail_loss(lab: &Lab<'_>) -> Measured {
    const SIZE: u64 = 60;
    let whole = lab.testbed(100, 50, 20_000, 10.0).with(|setup| setup.flows[0].source = Source::Packets(SIZE));
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

/// Six flights before the pause: the pacer's packets of a larger window would follow one another as closely as those of a burst.
pub(super) fn burst(lab: &Lab<'_>) -> Measured {
    let from = lab.handshake(50) + 0.3;
    let to = from + 4.0;
    let record = lab.run(&lab.testbed(1000, 50, 20_000, to + 0.5).pause(from, to))?;
    need(record.sent(from - 0.05, from) > 20, "too little is sent before the pause")?;
    let after: Vec<u64> = record.data.iter().map(|sent| sent.at).filter(|at| *at as f64 >= to * 1e9).collect();
    let gap = after.windows(2).position(|pair| pair[1] - pair[0] > TWO_PACKETS);
    must(!after.is_empty(), "nothing is sent after the pause")?;
    Ok(gap.map_or(after.len(), |gap| gap + 1) as f64)
}

pub(super) fn pace_limited(lab: &Lab<'_>) -> Measured {
    const WRITE: f64 = 40.0;
    const WRITES: u64 = 14;
    // Longer than a timeout of a second, after which RFC 5681 lets no more than the initial window leave at once.
    const EVERY: f64 = 2.5;
    // A packet each 25 us for a millisecond.
    let rate = (WRITE * PACKET.bits() / 1e-3) as u64;
    let end = WRITES as f64 * EVERY;
    let testbed = lab.testbed(1000, 50, 20_000, end + 0.5);
    let testbed = testbed.with(|setup| setup.flows[0].source = Source::Rate(RateSchedule::constant(rate)));
    let record = lab.run(&testbed.trickle(0.0, end, 1, (EVERY * 1e3) as u64))?;
    let share = |write: u64| {
        let seconds = record.data.iter().map(|sent| sent.at as f64 / 1e9);
        let of_write = || seconds.clone().filter(|at| (at / EVERY) as u64 == write);
        let first = of_write().next()?;
        let early = of_write().filter(|at| *at < first + 0.1 * record.rtt).count();
        Some(early as f64 / of_write().count() as f64)
    };
    // The first writes are slow start, which fills the window.
    let mut shares: Vec<f64> = (WRITES - 10..WRITES).filter_map(share).collect();
    need(shares.len() == 10, "a write is not sent")?;
    shares.sort_by(f64::total_cmp);
    Ok(f64::midpoint(shares[4], shares[5]))
}

pub(super) fn underused(lab: &Lab<'_>) -> Measured {
    // Three packets per round trip of 50 ms.
    let rate = (3.0 * PACKET.bits() / 0.05) as u64;
    let testbed = lab.testbed(1000, 50, 20_000, 11.0);
    let record = lab.run(&testbed.with(|setup| setup.flows[0].source = Source::Rate(RateSchedule::constant(rate))))?;
    Ok(record.window(10.9)? / record.largest(record.slow_start(), 1.0)?)
}

pub(super) fn paced(lab: &Lab<'_>) -> Measured {
    let record = lab.run(&wide(lab, 100, 1.0).with(|setup| setup.flows[0].paced = true))?;
    let begin = record.slow_start();
    per_packet(&record, begin + 0.5 * record.rtt, begin + 3.5 * record.rtt)
}
