//! Windows that are not used: draft-ietf-ccwg-ratelimited-increase, by its text of August 2026 (-11).
//!
//! Where the text has two readings, a check accepts both; `docs/ratelimited.md` lists them.

use cwnd::Span;
use cwnd_sim::{RateChange, RateSchedule, Source};

use super::{Measured, marked, must, need};
use crate::check::{Absence, Applies, Check, Level, Looks, Range, Suite};
use crate::lab::Lab;
use crate::record::Record;
use crate::subject::Law;
use crate::testbed::{PACKET, Testbed};
use crate::unfit::Unfit;

const BASE: Check = Check {
    id: "",
    suite: Suite::RateLimited,
    section: "3",
    level: Level::Must,
    requirement: "",
    looks: Looks::Window,
    applies: Applies::RateLimited,
    measured: "",
    accepted: Range::at_most(1.06),
    basis: "a packet of the flight or the window that is not whole, and acknowledgements between two counts",
    absence: Absence::Deviates,
    assumes: "",
    measure: start_grows,
};

pub(crate) const CHECKS: &[Check] = &[
    Check {
        id: "limited-start-grows",
        section: "3, appendix A",
        level: Level::Step,
        requirement: "slow start grows with flights smaller than the initial window, up to twice the initial window",
        measured: "window after 3 s at four packets per round trip over the initial one",
        accepted: Range::within(1.9, 2.06),
        measure: start_grows,
        ..BASE
    },
    Check {
        id: "limited-start-twice",
        requirement: "slow start ends its growth at twice the largest flight",
        measured: "window after 5 s at thirty packets per round trip over twice the largest flight",
        measure: start_twice,
        ..BASE
    },
    Check {
        id: "limited-start-reaches",
        level: Level::Step,
        requirement: "and grows as far",
        measured: "window after 5 s at thirty packets per round trip over the largest flight",
        accepted: Range::at_least(1.8),
        measure: start_reaches,
        ..BASE
    },
    Check {
        id: "limited-departures",
        section: "3, appendix A",
        level: Level::Step,
        requirement: "maxFS is taken when packets leave, not when they are acknowledged",
        measured: "window after a burst of a window over the one before, as the mean of three bursts",
        accepted: Range::within(1.97, 2.03),
        basis: "a flight that is counted after its first acknowledgement makes 1.9 of the initial window",
        measure: departures,
        ..BASE
    },
    Check {
        id: "limited-then-full",
        section: "3.2",
        level: Level::Step,
        requirement: "a window that is used in a round trip may grow in the next, however long it was not used",
        measured: "growth of the window in the first 2.5 round trips after 4 s at thirty packets per round trip",
        accepted: Range::at_least(3.0),
        basis: "fourfold after two round trips",
        measure: then_full,
        ..BASE
    },
    Check {
        id: "limited-receiver",
        section: "1",
        requirement: "the receiver's window is a limit as the application is",
        measured: "window after 5 s over twice the receiver's window of 24 packets",
        measure: receiver,
        ..BASE
    },
    Check {
        id: "limited-avoidance",
        requirement: "Reno's congestion avoidance stops a packet above the largest flight",
        measured: "packets of the window above the larger of the largest flight since the loss and what the cut left, 8 s after it",
        accepted: Range::at_most(1.5),
        measure: avoidance,
        ..BASE
    },
    Check {
        id: "limited-still",
        requirement: "a window larger than its limit does not grow",
        measured: "window after eight seconds at a fifth of the packets over the one before",
        accepted: Range::at_most(1.02),
        measure: super::limited::unused,
        ..BASE
    },
    Check {
        id: "limited-epoch",
        level: Level::Step,
        requirement: "congestion avoidance continues unchanged after a long limited time: no clock and no estimate runs behind the limit",
        measured: "largest growth of the window over a round trip in the ten after 39 s at a hundred packets per round trip",
        accepted: Range::at_most(1.1),
        basis: "by hand 1.03 for CUBIC at its steepest here; a curve that is 30 s ahead grows by half",
        measure: epoch,
        ..BASE
    },
    Check {
        id: "limited-after-loss",
        requirement: "a loss resets maxFS: the flights before it no longer count",
        measured: "window 4 s after a loss at a fifth of the packets over the larger of what the cut left and the limit by the flights since",
        measure: after_loss,
        ..BASE
    },
    Check {
        id: "limited-after-mark",
        requirement: "a mark resets maxFS",
        measured: "window 4 s after a mark at a fifth of the packets over the larger of what the cut left and the limit by the flights since",
        measure: after_mark,
        ..BASE
    },
    Check {
        id: "limited-after-timeout",
        requirement: "a timeout resets maxFS",
        measured: "window 6 s after a timeout at a fifth of the packets over the limit of slow start by the flights since",
        measure: after_timeout,
        ..BASE
    },
    Check {
        id: "limited-after-restart",
        requirement: "a restart after an idle time resets maxFS",
        measured: "window 4 s after a pause of 5 s at a fifth of the packets over the limit of slow start by the flights since",
        measure: after_restart,
        ..BASE
    },
    Check {
        id: "limited-no-collapse",
        requirement: "maxFS of zero, between a reduction and the next flight, takes nothing from the window",
        measured: "smallest window in the two seconds from a loss on over the one before",
        accepted: Range::at_least(0.4),
        basis: "half, of a flight that is smaller than the window where a sender paces",
        measure: no_collapse,
        ..BASE
    },
    Check {
        id: "limited-rate",
        section: "3.2.1",
        requirement: "after a limited time no sender, of whatever kind, exceeds what the rule lets a slow start send",
        looks: Looks::Wire,
        applies: Applies::LimitsGrowth,
        measured: "packets sent in the first one to four round trips after 4 s at thirty packets per round trip, over the rule's, at most",
        basis: "by hand: the window may be twice the largest flight at once and grows by the flight then under way; after that it doubles",
        measure: rate,
        ..BASE
    },
    Check {
        id: "limited-curve",
        section: "3.2.1",
        requirement: "after a limited time congestion avoidance sends a round trip's growth more than before",
        looks: Looks::Wire,
        measured: "packets sent per round trip in the first five after 35 s at a hundred per round trip over the largest flight since the last loss, at most",
        accepted: Range::at_most(1.1),
        basis: "1.01 for Reno and 1.03 for CUBIC at its steepest here, in each of five round trips, and packets that are not whole",
        measure: curve,
        ..BASE
    },
];

/// `packets` per round trip of 100 ms for `limited` seconds, on a wide path, and a thousand afterwards.
fn starting(lab: &Lab<'_>, packets: f64, limited: f64, seconds: f64) -> Testbed {
    let rate = |packets: f64| (packets * PACKET.bits() / 0.1) as u64;
    let change = RateChange::Square(rate(5000.0));
    let schedule = RateSchedule::stepping(rate(packets), Span::from_secs_f64(limited), change);
    super::wide(lab, 100, seconds).with(|setup| setup.flows[0].source = Source::Rate(schedule))
}

/// A path of 20 ms: for `limited` seconds the application offers `packets` per round trip, then `after`. One is lost after a second.
fn avoiding(lab: &Lab<'_>, [packets, after]: [f64; 2], limited: u64, seconds: f64) -> Testbed {
    let rate = |packets: f64| (packets * PACKET.bits() / 0.02) as u64;
    let schedule = RateSchedule::stepping(rate(packets), Span::from_secs(limited), RateChange::Square(rate(after)));
    let testbed = lab.testbed(1000, 20, 20_000, seconds).lose(1.0 + 0.02 * lab.phase(), 1);
    testbed.with(|setup| setup.flows[0].source = Source::Rate(schedule))
}

/// A hundred packets per round trip for ten seconds, and twenty for as long.
fn a_fifth(lab: &Lab<'_>) -> Testbed {
    avoiding(lab, [100.0, 20.0], 10, 20.0)
}

/// The most packets in flight between two times.
fn flight(record: &Record, from: f64, to: f64) -> f64 {
    let most = record.between(from, to).map(|look| look.sent.saturating_sub(look.delivered + look.lost)).max();
    most.unwrap_or(0).max(1) as f64
}

fn start_grows(lab: &Lab<'_>) -> Measured {
    let record = lab.run(&starting(lab, 4.0, 30.0, 3.0))?;
    need(flight(&record, 0.0, 9.0) <= 8.0, "more is in flight than the application sends")?;
    // A whole stack shows its window from the handshake on.
    let initial = record.looks.iter().map(|look| look.window).find(|window| window.is_finite());
    Ok(record.window(2.9)? / initial.unwrap_or(f64::NAN))
}

/// A run at thirty packets per round trip from the start, and its largest flight, with that of ten packets of the initial window.
fn thirty(lab: &Lab<'_>) -> Result<(f64, f64), Unfit> {
    let record = lab.run(&starting(lab, 30.0, 30.0, 5.0))?;
    Ok((record.window(4.9)?, flight(&record, 0.0, 4.9)))
}

fn start_twice(lab: &Lab<'_>) -> Measured {
    let (window, flight) = thirty(lab)?;
    Ok(window / (2.0 * flight))
}

fn start_reaches(lab: &Lab<'_>) -> Measured {
    let (window, flight) = thirty(lab)?;
    Ok(window / flight)
}

fn departures(lab: &Lab<'_>) -> Measured {
    // A window leaves within a millisecond; the next burst comes when it is acknowledged. The flow may begin after the first millisecond.
    let record = lab.run(&super::wide(lab, 100, 1.0).trickle(0.0, 1.0, 1, 200))?;
    let [before, one, two, three] = [0.19, 0.39, 0.59, 0.79].map(|at| record.window(at));
    let (before, one, two, three) = (before?, one?, two?, three?);
    need(flight(&record, 0.0, 0.79) < 90.0, "it sends more than a window in a burst")?;
    Ok((one / before + two / one + three / two) / 3.0)
}

/// When a run on a path of `rtt_ms` stops to be limited: the application of a whole stack begins with the handshake.
fn unlimited(lab: &Lab<'_>, record: &Record, rtt_ms: u64, limited: f64) -> f64 {
    record.slow_start() - lab.handshake(rtt_ms) + limited
}

fn then_full(lab: &Lab<'_>) -> Measured {
    let record = lab.run(&starting(lab, 30.0, 4.0, 5.0))?;
    let from = unlimited(lab, &record, 100, 4.0);
    Ok(record.window(from + 2.5 * record.rtt)? / record.window(from - 0.5 * record.rtt)?)
}

fn receiver(lab: &Lab<'_>) -> Measured {
    if lab.subject().spec().as_stack().is_some() {
        return Err(Unfit::NotApplicable("the receiver of a whole stack chooses its window"));
    }
    let testbed = super::wide(lab, 100, 5.0).with(|setup| setup.flows[0].max_window = Some(24.0));
    Ok(lab.run(&testbed)?.window(4.9)? / 48.0)
}

fn avoidance(lab: &Lab<'_>) -> Measured {
    if lab.subject().law() != Law::Reno {
        return Err(Unfit::NotApplicable("it does not follow Reno"));
    }
    let record = lab.run(&avoiding(lab, [100.0, 20.0], 10, 10.0))?;
    let cut = record.cut(1.0)?;
    // The rule ends growth; a window that was larger when the flights shrank stays.
    Ok(record.window(9.9)? - flight(&record, cut.at + 2.0 * record.rtt, 9.9).max(cut.after))
}

fn epoch(lab: &Lab<'_>) -> Measured {
    let record = lab.run(&avoiding(lab, [100.0, 2000.0], 40, 41.0))?;
    record.cut(1.0)?;
    super::growth(&record, 40.0, 40.0 + 10.0 * record.rtt)
}

/// The window at a time over the larger of the window `left` at `from` and the limit of congestion avoidance by the flights since `from`.
fn over_limit(lab: &Lab<'_>, record: &Record, left: f64, from: f64, at: f64) -> Measured {
    let flight = flight(record, from + 2.0 * record.rtt, at);
    let limit = if lab.subject().law() == Law::Cubic { 1.5 * flight } else { flight + 1.0 };
    Ok(record.window(at)? / left.max(limit))
}

fn after_loss(lab: &Lab<'_>) -> Measured {
    let at = 15.0 + 0.02 * lab.phase();
    let record = lab.run(&a_fifth(lab).lose(at, 1))?;
    let cut = record.cut(at)?;
    over_limit(lab, &record, cut.after, cut.at, 19.5)
}

fn after_mark(lab: &Lab<'_>) -> Measured {
    let at = 15.0 + 0.02 * lab.phase();
    let record = lab.run(&a_fifth(lab).mark(at, 1))?;
    marked(&record)?;
    let cut = record.cut(at)?;
    over_limit(lab, &record, cut.after, cut.at, 19.5)
}

fn after_timeout(lab: &Lab<'_>) -> Measured {
    lab.timeout()?;
    let from = 11.0 + 0.02 * lab.phase();
    let to = 13.6;
    // The application pauses, so that little waits when the path is back.
    let record = lab.run(&a_fifth(lab).pause(from + 0.02, to).lose_share(from, to, 1000))?;
    must(record.smallest(from, to)? <= 2.0, "the timeout does not reduce the window to its least")?;
    Ok(record.window(19.5)? / (2.0 * flight(&record, to, 19.5)))
}

fn after_restart(lab: &Lab<'_>) -> Measured {
    let record = lab.run(&a_fifth(lab).pause(10.5, 15.5))?;
    let (before, after) = (record.window(10.4)?, record.window(15.55)?);
    if after > 0.5 * before {
        return Err(Unfit::NotApplicable("it keeps more than half of its window over a pause"));
    }
    Ok(record.window(19.5)? / (2.0 * flight(&record, 15.45, 19.5)))
}

fn rate(lab: &Lab<'_>) -> Measured {
    let record = lab.run(&starting(lab, 30.0, 4.0, 5.0))?;
    let from = unlimited(lab, &record, 100, 4.0);
    // The largest flight is that of the begin, where the application's first packets have gathered behind the initial window.
    let before = from - EARLY * record.rtt;
    let (most, last) = (flight(&record, 0.0, before), flight(&record, before - 2.0 * record.rtt, before));
    need(last < 60.0, "more is in flight than the application sends")?;
    let over = |rounds: u32| {
        let sent = record.sent(from - EARLY * record.rtt, from + (f64::from(rounds) - EARLY) * record.rtt) as f64;
        sent / ((2.0 * most + last) * f64::from((1_u32 << rounds) - 1))
    };
    Ok((1..=4).map(over).fold(0.0, f64::max))
}

fn curve(lab: &Lab<'_>) -> Measured {
    // After one loss CUBIC may have a window of many flights, which the rule lets it keep: more losses bring it below the flight.
    let losses = (1..=MORE_LOSSES).map(|n| 1.0 + 0.5 * f64::from(n) + 0.02 * lab.phase());
    let testbed = losses.clone().fold(avoiding(lab, [100.0, 2000.0], 40, 41.0), |path, at| path.lose(at, 1));
    let record = lab.run(&testbed)?;
    let from = unlimited(lab, &record, 20, 40.0) - EARLY * record.rtt;
    let most = flight(&record, losses.fold(0.0, f64::max) + 4.0 * record.rtt, from);
    let begins = (0..5).map(|round| from + f64::from(round) * record.rtt);
    Ok(begins.map(|begin| record.sent(begin, begin + record.rtt) as f64 / most).fold(0.0, f64::max))
}

fn no_collapse(lab: &Lab<'_>) -> Measured {
    let (record, cut) = super::cut(lab, 50, 3.0)?;
    record.untimed(cut.at + 2.0)?;
    Ok(record.smallest(cut.at, cut.at + 2.0)? / cut.before)
}

/// Round trips before the end of one, so that what the next one begins with is not counted.
const EARLY: f64 = 0.1;
/// Losses that bring a window of the begin, ten flights large, below a flight: 0.7⁸ is 0.06.
const MORE_LOSSES: u32 = 7;
