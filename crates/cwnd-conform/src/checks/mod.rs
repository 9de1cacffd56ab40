//! The checks, a file for each document. Every range was written down before the first run that it judged.

mod limited;
mod ratelimited;
mod rfc3168;
mod rfc5681;
mod rfc7661;
mod rfc9002;
mod rfc9331;
mod rfc9406;
mod rfc9438;
mod situations;
mod small;
mod timer;

use cwnd::Span;
use cwnd_sim::Schedule;

use crate::bbr;
use crate::check::Check;
use crate::lab::Lab;
use crate::record::{Cut, Record};
use crate::testbed::Testbed;
use crate::unfit::Unfit;

/// All of them, in the order of [`Suite::ALL`](crate::Suite::ALL).
pub(crate) static CHECKS: &[&[Check]] = &[
    rfc5681::CHECKS,
    rfc9438::CHECKS,
    rfc9002::CHECKS,
    rfc9406::CHECKS,
    rfc3168::CHECKS,
    rfc9331::CHECKS,
    rfc7661::CHECKS,
    ratelimited::CHECKS,
    bbr::CHECKS,
    situations::CHECKS,
];

type Measured = Result<f64, Unfit>;

/// A wide path: nothing queues and nothing is lost but what a check loses. Seconds are those after the loss of [`WIDE_LOSS`].
fn wide(lab: &Lab<'_>, rtt_ms: u64, seconds: f64) -> Testbed {
    let rtt = rtt_ms as f64 / 1e3;
    lab.testbed(1000, rtt_ms, 20_000, lab.handshake(rtt_ms) + WIDE_LOSS * rtt + seconds)
}

/// When something first happens on a path of `rtt_ms`: in the fifth round trip, at 150 to 300 packets.
fn first(lab: &Lab<'_>, rtt_ms: u64) -> f64 {
    lab.handshake(rtt_ms) + (WIDE_LOSS - 1.0 + lab.phase()) * rtt_ms as f64 / 1e3
}

/// A wide path where a packet is lost in slow start, and the cut that follows.
fn cut(lab: &Lab<'_>, rtt_ms: u64, seconds: f64) -> Result<(Record, Cut), Unfit> {
    let at = first(lab, rtt_ms);
    let record = lab.run(&wide(lab, rtt_ms, seconds).lose(at, 1))?;
    let cut = record.cut(at)?;
    Ok((record, cut))
}

/// A wide path where every eighth packet of the flight is lost that is under way in the fifth round trip, `most` at most, and when that is.
fn scattered(lab: &Lab<'_>, rtt_ms: u64, most: usize) -> Result<(Record, f64), Unfit> {
    let at = first(lab, rtt_ms);
    let testbed = wide(lab, rtt_ms, 1.0);
    let record = lab.run(&testbed)?;
    let begin = record.slow_start() - 0.1 * record.rtt;
    let flight = begin + ((at - begin) / record.rtt).floor() * record.rtt;
    let numbers: Vec<u64> = record.numbers(flight, flight + 0.9 * record.rtt).step_by(8).collect();
    need(numbers.len() > 1, "too little is sent")?;
    Ok((lab.run(&testbed.lose_numbers(&numbers[..most.min(numbers.len())]))?, flight))
}

/// The record of a run with a second packet lost `after` seconds after the first cut, and both cuts.
fn two_cuts(lab: &Lab<'_>, rtt_ms: u64, after: f64, seconds: f64) -> Result<(Record, [Cut; 2]), Unfit> {
    let at = first(lab, rtt_ms);
    let once = lab.run(&wide(lab, rtt_ms, ONE_CUT * rtt_ms as f64 / 1e3).lose(at, 1))?.cut(at)?;
    let testbed = wide(lab, rtt_ms, after + seconds).lose(at, 1);
    let record = lab.run(&testbed.lose(once.at + after, 1))?;
    let second = record.cut(once.at + after)?;
    Ok((record, [once, second]))
}

/// A wide path where everything is lost for `outage` seconds from a time in slow start on, and the window after it; the time is the
/// end of the outage.
fn outage(lab: &Lab<'_>, rtt_ms: u64, outage: f64, seconds: f64) -> Result<(Record, f64, f64), Unfit> {
    let from = first(lab, rtt_ms);
    let to = from + outage;
    let record = lab.run(&wide(lab, rtt_ms, outage + seconds).lose_share(from, to, 1000))?;
    Ok((record, from, to))
}

/// A loss in congestion avoidance, where the window before it is known to a part of a packet: so long after one in slow start.
fn later_cut(lab: &Lab<'_>, rtt_ms: u64, after: f64) -> Result<Cut, Unfit> {
    let (_, [_, second]) = two_cuts(lab, rtt_ms, after, 1.0)?;
    Ok(second)
}

/// The record of two cuts at 100 ms, with `seconds` after them, where the window was above its last maximum: no fast convergence.
fn cut_above(lab: &Lab<'_>, seconds: f64) -> Result<(Record, Cut), Unfit> {
    let (record, [once, second]) = two_cuts(lab, 100, ABOVE, seconds)?;
    must(second.before > once.before, "the window is not above its last maximum 10 s after a cut")?;
    Ok((record, second))
}

/// The cut of a mark in place of the second loss, at 100 ms.
fn marked_cut(lab: &Lab<'_>, after: f64) -> Result<Cut, Unfit> {
    let at = first(lab, 100);
    let once = lab.run(&wide(lab, 100, 0.1 * ONE_CUT).ecn().lose(at, 1))?.cut(at)?;
    let record = lab.run(&wide(lab, 100, after + 1.0).ecn().lose(at, 1).mark(once.at + after, 1))?;
    marked(&record)?;
    record.cut(once.at + after)
}

/// A few round trips show whether packets can be marked. On a longer run of a wide path the window of a sender without ECN overruns the queue.
fn markable(lab: &Lab<'_>) -> Result<(), Unfit> {
    marked(&lab.run(&wide(lab, 50, 0.1).mark(first(lab, 50), 1))?)
}

/// A run in which packets were marked.
fn marked(record: &Record) -> Result<(), Unfit> {
    if record.trace.flows[0].marked.last() == Some(&0) {
        return Err(Unfit::NotApplicable("it sends no packet that could be marked"));
    }
    Ok(())
}

/// The smallest window while everything is lost for longer than a timeout, packets.
fn timeout_window(lab: &Lab<'_>) -> Measured {
    lab.timeout()?;
    let (record, from, to) = outage(lab, 50, 8.0, 1.0)?;
    record.smallest(from, to)
}

/// The threshold after a timeout over the window before; ten at most, where there is none.
fn timeout_threshold(lab: &Lab<'_>) -> Measured {
    lab.timeout()?;
    let (record, from, to) = outage(lab, 50, 8.0, 1.0)?;
    Ok((record.threshold(to)? / record.largest(from, to)?).min(10.0))
}

/// The largest growth of the window over a round trip between two times, as a factor.
fn growth(record: &Record, from: f64, to: f64) -> Measured {
    let mut most = 1.0_f64;
    let mut at = from;
    while at + record.rtt <= to {
        most = most.max(record.window(at + record.rtt)? / record.window(at)?);
        at += 0.25 * record.rtt;
    }
    Ok(most)
}

/// The increase of the window per packet acknowledged between two times.
fn per_packet(record: &Record, from: f64, to: f64) -> Measured {
    let (first, last) = (record.at(from), record.at(to));
    let acked = last.delivered.saturating_sub(first.delivered);
    must(acked > 0, "nothing is acknowledged")?;
    Ok((record.window(to)? - record.window(from)?) / acked as f64)
}

/// Packets for which an acknowledgement is, on the mean, between two times; at least 1.
fn packets_per_ack(record: &Record, from: f64, to: f64) -> f64 {
    let first = record.at(from).delivered;
    let (mut acks, mut last) = (0_u32, first);
    for look in record.between(from, to).filter(|look| look.at > from) {
        acks += u32::from(look.delivered > last);
        last = look.delivered;
    }
    ((last - first) as f64 / f64::from(acks.max(1))).max(1.0)
}

/// The window when a sender has found out that a loss was none, over the one before the cut.
fn undone(lab: &Lab<'_>) -> Measured {
    let Undone { record, cut, undo, .. } = undoing(lab, 50, 0.0)?;
    Ok(record.window(undo)? / cut.before)
}

/// The threshold when a sender has found out that a loss was none, over the one before the cut.
fn undone_threshold(lab: &Lab<'_>) -> Measured {
    let Undone { record, undo, late, .. } = undoing(lab, 50, 0.0)?;
    Ok(record.threshold(undo)? / record.threshold(late)?)
}

/// A cut that was undone.
struct Undone {
    record: Record,
    /// For a packet that was lost.
    once: Cut,
    /// For packets that were late.
    cut: Cut,
    /// When they became late.
    late: f64,
    /// When the cut was undone.
    undo: f64,
}

/// A packet is lost `rounds` round trips after [`first`], and 1.5 s later the path stalls for 1.5 s or longer. Packets are late, are
/// treated as lost and arrive after all.
fn undoing(lab: &Lab<'_>, rtt_ms: u64, rounds: f64) -> Result<Undone, Unfit> {
    let lost = first(lab, rtt_ms) + rounds * rtt_ms as f64 / 1e3;
    let late = lost + 1.5;
    // A tail-loss probe starts the timer of a second anew.
    let stall = Span::from_millis(1500.max(12 * rtt_ms));
    let record = lab.run(&wide(lab, rtt_ms, 6.0 + 2.0 * rounds).lose(lost, 1).with(|setup| {
        // Packets stay in order: those sent later wait behind the late ones.
        let link = &mut setup.links[0];
        let delay = link.delay;
        let at = Span::from_secs_f64(late);
        let detour = vec![(at, delay + stall), (at + Span::from_millis(rtt_ms.max(100)), delay)];
        link.delay_steps = Schedule { steps: detour, repeat: None };
    }))?;
    let once = record.cut(lost)?;
    let cut = record.cuts().into_iter().find(|cut| cut.at >= late);
    let cut = cut.ok_or_else(|| Unfit::Absent("it takes nothing for lost that is late".to_string()))?;
    // Back at once: no growth of congestion avoidance doubles the window after a cut within a round trip.
    let after: Vec<_> = record.between(cut.at, cut.at + 4.0).collect();
    let undo = after.windows(2).find(|pair| pair[1].window > 1.2 * pair[0].window && pair[1].window > 0.9 * cut.before);
    let undo = undo.ok_or_else(|| Unfit::Absent("it undoes no cut".to_string()))?[1].at;
    Ok(Undone { record, once, cut, late, undo })
}

/// By how much the threshold falls below two packets while three of ten packets are lost.
fn threshold_floor(lab: &Lab<'_>) -> Measured {
    let at = first(lab, 50);
    let record = lab.run(&wide(lab, 50, 20.0).lose_share(at, at + 20.0, 300))?;
    let least = record.between(at, f64::INFINITY).map(|look| look.threshold).fold(f64::INFINITY, f64::min);
    if least.is_infinite() { Err(Unfit::NotApplicable("it shows no threshold")) } else { Ok((2.0 - least).max(0.0)) }
}

/// Refuses to go on where a sender did not do what it should on this path.
fn must(happened: bool, otherwise: &str) -> Result<(), Unfit> {
    if happened { Ok(()) } else { Err(Unfit::Absent(otherwise.to_string())) }
}

/// Refuses to go on where the path did not raise the question.
fn need(happened: bool, otherwise: &str) -> Result<(), Unfit> {
    if happened { Ok(()) } else { Err(Unfit::Unclear(otherwise.to_string())) }
}

/// Seconds after a cut of 300 packets until CUBIC's window is above its last maximum at 100 ms: K is 6.1 s.
const ABOVE: f64 = 10.0;
/// Nanoseconds that two packets take at 1 Gbit/s.
const TWO_PACKETS: u64 = 24_000;
/// Round trips until the first loss is over.
const WIDE_LOSS: f64 = 5.0;
/// Round trips of a run that shows one cut after it, also of a window that falls over two of them.
const ONE_CUT: f64 = 8.0;
