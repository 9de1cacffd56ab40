//! TCP congestion control, and the recovery around it.

use cwnd::Span;
use cwnd_sim::{HoldBack, Reordering};

use super::{
    Measured, cut, first, growth, later_cut, need, outage, per_packet, scattered, threshold_floor, timeout_threshold,
    timeout_window, wide,
};
use crate::check::{Absence, Applies, Check, Level, Looks, Range, Suite};
use crate::lab::{Lab, Unfit};
use crate::subject::Law;

const BASE: Check = Check {
    id: "",
    suite: Suite::Rfc5681,
    section: "",
    level: Level::Must,
    requirement: "",
    looks: Looks::Window,
    applies: Applies::Law(Law::Reno),
    measured: "",
    accepted: Range::within(0.97, 1.03),
    basis: "",
    absence: Absence::Departs,
    assumes: "",
    measure: halve,
};

pub(crate) const CHECKS: &[Check] = &[
    Check {
        id: "5681-initial",
        section: "3.1, RFC 6928 section 2",
        requirement: "the first flight has ten packets at most",
        looks: Looks::Wire,
        applies: Applies::All,
        measured: "packets in the first half round trip of data",
        accepted: Range::at_most(11.0),
        basis: "one more for a handshake that ends in the same flight",
        measure: first_flight,
        ..BASE
    },
    Check {
        id: "5681-slow-start",
        section: "3.1",
        requirement: "slow start grows by one packet at most for each one acknowledged",
        applies: Applies::Plain,
        measured: "growth of the window per packet acknowledged in the first three round trips, packets",
        accepted: Range::within(0.5, 1.02),
        basis: "half as much is allowed; a fiftieth for rounding",
        measure: slow_start,
        ..BASE
    },
    Check {
        id: "5681-slow-start-wire",
        section: "3.1",
        requirement: "so that what is sent at most doubles with each round trip",
        looks: Looks::Wire,
        applies: Applies::Loss,
        measured: "packets sent in the fourth round trip over those in the third",
        accepted: Range::within(1.5, 2.15),
        basis: "round trips are counted from the first packet and vary by a few in a hundred",
        measure: doubling,
        ..BASE
    },
    Check {
        id: "5681-avoidance",
        section: "3.1",
        requirement: "congestion avoidance grows by one packet per round trip",
        measured: "growth over twenty round trips, packets per round trip",
        accepted: Range::within(0.45, 1.05),
        basis: "a tenth less for rules that count whole packets; half where the peer acknowledges each second packet and the rule counts acknowledgements",
        measure: avoidance,
        ..BASE
    },
    Check {
        id: "5681-halve",
        section: "3.1, equation 4",
        requirement: "a loss leaves half of the window",
        measured: "window after the cut over the one before",
        accepted: Range::within(0.49, 0.51),
        basis: "whole packets at windows of a hundred and more",
        measure: halve,
        ..BASE
    },
    Check {
        id: "5681-timeout-window",
        section: "3.1",
        requirement: "a timeout leaves one packet, whatever the initial window (two in QUIC)",
        measured: "least window during an outage of 8 s, packets",
        accepted: Range::at_most(2.0),
        basis: "exact",
        measure: timeout_window,
        ..BASE
    },
    Check {
        id: "5681-timeout-threshold",
        section: "3.1, equation 4",
        requirement: "after a timeout slow start ends at half of what was in flight, and more expiries for the same packet change nothing",
        measured: "threshold after the outage over the largest window before",
        accepted: Range::within(0.45, 0.55),
        basis: "losses found before the timer expires cut a window that is a little smaller",
        measure: timeout_threshold,
        ..BASE
    },
    Check {
        id: "5681-slow-start-after-timeout",
        section: "3.1",
        requirement: "below the threshold slow start takes the window back, and not beyond it",
        applies: Applies::Loss,
        measured: "largest growth per round trip above the threshold, as a factor",
        accepted: Range::at_most(1.2),
        basis: "the round trip in which slow start ends is not counted",
        measure: after_timeout,
        ..BASE
    },
    Check {
        id: "5681-threshold-floor",
        section: "3.1, equation 4",
        requirement: "the threshold is at least two packets",
        applies: Applies::Loss,
        measured: "packets by which the threshold falls below two while three of ten packets are lost for 20 s",
        accepted: Range::at_most(0.0),
        basis: "exact",
        measure: threshold_floor,
        ..BASE
    },
    Check {
        id: "5681-duplicates",
        section: "3.2",
        level: Level::Should,
        requirement: "packets that one or two others overtake are no losses",
        looks: Looks::Wire,
        applies: Applies::All,
        measured: "packets that the sender found lost, per thousand",
        accepted: Range::at_most(5.0),
        basis: "nothing is lost, and ten in a thousand are overtaken; a sender that skips packet numbers may find a few of them lost",
        measure: duplicates,
        ..BASE
    },
    Check {
        id: "5681-restart",
        section: "4.1",
        level: Level::Should,
        requirement: "after a pause longer than the timeout no more than the initial window leaves at once",
        looks: Looks::Wire,
        applies: Applies::Loss,
        measured: "packets in the first half round trip after a pause of 4 s at 50 ms",
        accepted: Range::at_most(12.0),
        basis: "a sender that paces sends the window over the round trip, and begins with less",
        measure: restart,
        ..BASE
    },
    Check {
        id: "5681-restart-threshold",
        section: "4.1",
        level: Level::Should,
        requirement: "a restart leaves the threshold: slow start takes back what it allows, and no more",
        applies: Applies::Loss,
        measured: "window twenty round trips after a pause of 4 s at 50 ms over the one before",
        accepted: Range::within(0.5, 1.4),
        basis: "half of it by slow start, and a packet per round trip; by hand 0.3 at most where the threshold is the restart window, and a thousand where there is none",
        assumes: "a timeout below 4 s, or no restart",
        measure: restart_threshold,
        ..BASE
    },
    Check {
        id: "6298-backoff",
        section: "RFC 6298 section 5.5, RFC 9002 section 6.2.1",
        requirement: "each expiry of the timer doubles it",
        looks: Looks::Wire,
        applies: Applies::All,
        measured: "the last interval between probes in an outage over the one before",
        accepted: Range::within(1.8, 2.2),
        basis: "a timer may have a granularity",
        assumes: "the last three probes of 40 s; the first three after a second where the least timeout is below a second",
        measure: backoff,
        ..BASE
    },
    Check {
        id: "6582-one-cut",
        section: "RFC 6582 section 3.2",
        level: Level::Step,
        requirement: "several losses in one window are one congestion event",
        measured: "window after losses of an eighth of a window over the one before",
        accepted: Range::within(0.46, 0.54),
        basis: "one cut; two would leave a quarter. What one acknowledgement adds in slow start may hide two packets of the window before",
        measure: one_cut,
        ..BASE
    },
    Check {
        id: "6675-repair",
        section: "RFC 6675 section 5",
        level: Level::Step,
        requirement: "five losses of one window are repaired without a timeout",
        looks: Looks::Wire,
        applies: Applies::All,
        measured: "round trips from the first loss until all that was sent before it has arrived",
        accepted: Range::at_most(5.0),
        basis: "a round trip to find them, one to repair them, and whoever paces takes more",
        measure: repair,
        ..BASE
    },
    Check {
        id: "6675-recovery-rate",
        section: "RFC 6675 section 5",
        level: Level::Step,
        requirement: "in recovery no more is sent than the reduced window allows",
        looks: Looks::Wire,
        measured: "packets sent in the second round trip after the loss was found over those in the one before",
        applies: Applies::Loss,
        accepted: Range::within(0.3, 0.85),
        basis: "0.5 for Reno and 0.7 for CUBIC, with growth of a round trip and a tenth for where round trips begin",
        measure: recovery_rate,
        ..BASE
    },
];

fn first_flight(lab: &Lab<'_>) -> Measured {
    let record = lab.run(&wide(lab, 100, 1.0))?;
    let begin = record.slow_start();
    Ok(record.sent(begin - 0.001, begin + 0.5 * record.rtt) as f64)
}

fn slow_start(lab: &Lab<'_>) -> Measured {
    let record = lab.run(&wide(lab, 100, 1.0))?;
    let begin = record.slow_start();
    per_packet(&record, begin + 0.5 * record.rtt, begin + 3.5 * record.rtt)
}

fn doubling(lab: &Lab<'_>) -> Measured {
    let record = lab.run(&wide(lab, 100, 1.0))?;
    let (begin, rtt) = (record.slow_start() - 0.25 * record.rtt, record.rtt);
    let third = record.sent(begin + 2.0 * rtt, begin + 3.0 * rtt);
    let fourth = record.sent(begin + 3.0 * rtt, begin + 4.0 * rtt);
    need(third > 0, "nothing is sent")?;
    Ok(fourth as f64 / third as f64)
}

fn avoidance(lab: &Lab<'_>) -> Measured {
    let (record, cut) = cut(lab, 50, 2.0)?;
    let from = cut.at + 4.0 * record.rtt;
    lab.formula(cut.at, cut.at + 2.0, |at| cut.after + (at - cut.at) / record.rtt);
    record.slope(from, from + 20.0 * record.rtt)
}

fn halve(lab: &Lab<'_>) -> Measured {
    Ok(later_cut(lab, 100, 1.5)?.ratio())
}

fn after_timeout(lab: &Lab<'_>) -> Measured {
    lab.timeout()?;
    let (record, _, to) = outage(lab, 50, 8.0, 12.0)?;
    let threshold = record.threshold(to)?;
    let above = record.between(to, f64::INFINITY).find(|look| look.window >= threshold);
    let above = above.ok_or_else(|| Unfit::Absent("the window does not get back to the threshold".to_string()))?.at;
    growth(&record, above + record.rtt, above + 8.0 * record.rtt)
}

fn duplicates(lab: &Lab<'_>) -> Measured {
    // Slow start is over before the queue is full.
    let course = wide(lab, 50, 0.25).with(|setup| {
        // A packet takes 12 us on the line: two overtake, while a flight lasts.
        let by = HoldBack::Time(Span::from_micros(30));
        setup.links[0].impairments.reordering = Some(Reordering { probability: 0.01, by });
    });
    let record = lab.run(&course.with(|setup| setup.flows[0].max_window = Some(200.0)))?;
    let last = record.at(f64::INFINITY);
    Ok(1e3 * last.lost as f64 / last.sent as f64)
}

fn restart(lab: &Lab<'_>) -> Measured {
    lab.timeout()?;
    let (from, to) = (0.45, 4.45);
    let record = lab.run(&lab.course(1000, 50, 20_000, to + 0.5).pause(from, to))?;
    need(record.sent(from - 0.05, from) > 20, "too little is sent before the pause")?;
    // Retransmissions and probes of the pause are over by then.
    Ok(record.sent(to, to + 0.5 * record.rtt) as f64)
}

fn restart_threshold(lab: &Lab<'_>) -> Measured {
    let at = first(lab, 50);
    let from = at + 1.0;
    let to = from + 4.0;
    let record = lab.run(&lab.course(1000, 50, 20_000, to + 1.5).lose(at, 1).pause(from, to))?;
    record.cut(at)?;
    Ok(record.window(to + 20.0 * record.rtt)? / record.window(from)?)
}

fn backoff(lab: &Lab<'_>) -> Measured {
    let (record, from, to) = outage(lab, 50, 40.0, 0.5)?;
    let inside = ((from + 1.0) * 1e9) as u64..(to * 1e9) as u64;
    let mut at: Vec<u64> = record.data.iter().map(|sent| sent.at).filter(|at| inside.contains(at)).collect();
    // Probes of two packets are one.
    at.dedup_by(|later, earlier| *later - *earlier < 10_000_000);
    // A bound of a minute or more is allowed (RFC 6298 section 2.5), and 64 timeouts, as this program's hosts have it, are less where
    // the least is below a second.
    let short = lab.subject().host().least_timeout < Span::from_secs(1);
    let three = if short { at.first_chunk::<3>() } else { at.last_chunk::<3>() };
    let [a, b, c] = three.ok_or_else(|| Unfit::Absent("fewer than three probes".to_string()))?;
    Ok((c - b) as f64 / (b - a) as f64)
}

fn one_cut(lab: &Lab<'_>) -> Measured {
    let (record, at) = scattered(lab, 100)?;
    let cut = record.cut(at)?;
    Ok(record.smallest(cut.at, cut.at + 3.0 * record.rtt)? / cut.before)
}

fn repair(lab: &Lab<'_>) -> Measured {
    let at = first(lab, 100);
    let course =
        [0.0, 0.01, 0.02, 0.03, 0.04].iter().fold(wide(lab, 100, 2.0), |course, late| course.lose(at + late, 1));
    let record = lab.run(&course)?;
    let last = at + 0.05;
    let sent = record.data.iter().filter(|sent| (sent.at as f64) < last * 1e9 && !sent.again).count() as u64;
    need(record.losses() >= 5, "too little is sent")?;
    let arrived = record.between(last, f64::INFINITY).find(|look| look.delivered >= sent);
    let arrived = arrived.ok_or_else(|| Unfit::Absent("it does not arrive".to_string()))?;
    Ok((arrived.at - at) / record.rtt)
}

fn recovery_rate(lab: &Lab<'_>) -> Measured {
    let at = first(lab, 100);
    let record = lab.run(&wide(lab, 100, 1.0).lose(at, 1))?;
    let found = record.looks.iter().find(|look| look.lost > 0);
    if found.is_none() && record.window(at).is_err() {
        return Err(Unfit::NotApplicable("it shows no losses"));
    }
    let found = found.ok_or_else(|| Unfit::Absent("the loss is not found".to_string()))?.at;
    let before = record.sent(found - record.rtt, found);
    need(before > 40, "too little is sent")?;
    Ok(record.sent(found + record.rtt, found + 2.0 * record.rtt) as f64 / before as f64)
}
