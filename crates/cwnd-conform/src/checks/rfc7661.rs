//! Rate-limited senders: the window of those who do not use it.

use cwnd_sim::{RateSchedule, Source};

use super::{Measured, first, wide};
use crate::check::{Absence, Applies, Check, Level, Looks, Range, Suite};
use crate::lab::Lab;
use crate::testbed::PACKET;

const BASE: Check = Check {
    id: "",
    suite: Suite::Rfc7661,
    section: "",
    level: Level::Must,
    requirement: "",
    looks: Looks::Window,
    applies: Applies::Loss,
    measured: "",
    accepted: Range::at_most(1.05),
    basis: "whole packets",
    absence: Absence::Deviates,
    assumes: "",
    measure: not_validated,
};

pub(crate) const CHECKS: &[Check] = &[
    Check {
        id: "7661-not-validated",
        section: "4.4",
        requirement: "a window of which less than half is used does not grow",
        measured: "window after 12 s at a third of the initial window per round trip over the one after 1 s",
        ..BASE
    },
    Check {
        id: "7661-after-pause",
        section: "4.4",
        requirement: "an idle time does not let the window grow",
        measured: "largest window in a pause of 30 s over the one a second after its begin",
        basis: "exact",
        measure: after_pause,
        ..BASE
    },
    Check {
        id: "7661-five-minutes",
        section: "4.4.3",
        requirement: "after five minutes of idleness at most half of the window is left, or the initial one",
        measured: "window at the first packet after 330 s over the one before",
        accepted: Range::at_most(0.5),
        basis: "exact; a restart window is smaller still, and one of twelve packets or less counts as half",
        measure: five_minutes,
        ..BASE
    },
    Check {
        id: "7661-five-minutes-threshold",
        section: "4.4.3",
        level: Level::Step,
        requirement: "and slow start may take three quarters of it back",
        measured: "threshold at the first packet after 330 s over the window before",
        accepted: Range::at_least(0.74),
        basis: "whole packets",
        measure: five_minutes_threshold,
        ..BASE
    },
];

fn not_validated(lab: &Lab<'_>) -> Measured {
    let rate = (10.0 / 3.0 * PACKET.bits() / 0.1) as u64;
    let testbed = wide(lab, 100, 12.0);
    let record = lab.run(&testbed.with(|setup| setup.flows[0].source = Source::Rate(RateSchedule::constant(rate))))?;
    Ok(record.window(12.0)? / record.window(1.0)?)
}

fn after_pause(lab: &Lab<'_>) -> Measured {
    let from = first(lab, 50);
    let record = lab.run(&lab.testbed(1000, 50, 20_000, from + 30.5).pause(from, from + 30.0))?;
    let begin = from + SETTLED;
    Ok(record.largest(begin, from + 29.9)? / record.window(begin)?)
}

fn five_minutes(lab: &Lab<'_>) -> Measured {
    lab.timeout()?;
    let from = first(lab, 50);
    let to = from + 330.0;
    let record = lab.run(&lab.testbed(1000, 50, 20_000, to + 0.1).pause(from, to))?;
    let after = record.window(to + 0.01)?;
    // The initial window is allowed, however small the one before was.
    let share = after / record.window(from + SETTLED)?;
    Ok(if after <= 12.0 { share.min(0.5) } else { share })
}

fn five_minutes_threshold(lab: &Lab<'_>) -> Measured {
    lab.timeout()?;
    let at = first(lab, 50);
    let (from, to) = (at + 1.0, at + 331.0);
    let record = lab.run(&lab.testbed(1000, 50, 20_000, to + 0.1).lose(at, 1).pause(from, to))?;
    // More is allowed, and its share says nothing.
    Ok((record.threshold(to + 0.01)? / record.window(from + SETTLED)?).min(0.75))
}

/// Seconds after the begin of a pause at which all that had been handed over is acknowledged, also by a stack that buffers.
const SETTLED: f64 = 1.0;
