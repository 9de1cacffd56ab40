//! Explicit congestion notification.

use super::{Measured, first, later_cut, marked, marked_cut, need, wide};
use crate::check::{Absence, Applies, Check, Level, Looks, Range, Suite};
use crate::lab::Lab;
use crate::record::Record;
use crate::subject::Law;
use crate::testbed::Testbed;

const BASE: Check = Check {
    id: "",
    suite: Suite::Rfc3168,
    section: "5, 6.1.2",
    level: Level::Must,
    requirement: "",
    looks: Looks::Window,
    applies: Applies::Loss,
    measured: "",
    accepted: Range::within(0.4, 0.9),
    basis: "0.5 for Reno, 0.7 for CUBIC, and up to 0.85 by RFC 8511",
    absence: Absence::Deviates,
    assumes: "",
    measure: reacts,
};

pub(crate) const CHECKS: &[Check] = &[
    Check {
        id: "3168-reacts",
        requirement: "an echo of a mark reduces the window as a loss would",
        measured: "window after the cut over the one before",
        ..BASE
    },
    Check {
        id: "3168-reacts-wire",
        requirement: "and the sent data with it",
        looks: Looks::Wire,
        measured: "packets sent in the third round trip after a mark in congestion avoidance over those in the one before it",
        accepted: Range::at_most(0.92),
        basis: "0.5 for Reno, 0.7 for CUBIC, up to 0.85 by RFC 8511, and growth of two round trips",
        measure: reacts_wire,
        ..BASE
    },
    Check {
        id: "3168-once",
        section: "6.1.2",
        level: Level::Should,
        requirement: "marks on the packets of one window are one congestion event",
        measured: "window left by ten marks of a window over the one left by one mark that is echoed once",
        basis: "1 for one cut; a second leaves 0.5 or 0.7 of it",
        accepted: Range::at_least(0.85),
        measure: once,
        ..BASE
    },
    Check {
        id: "3168-mark-and-loss",
        section: "6.1.2",
        level: Level::Should,
        requirement: "a mark and a loss in one window are one congestion event",
        measured: "window left by both over the smaller of those that a mark and a loss leave",
        basis: "1 for one cut; a second leaves 0.5 or 0.7 of it",
        accepted: Range::at_least(0.85),
        measure: mark_and_loss,
        ..BASE
    },
    Check {
        id: "3168-again",
        requirement: "a mark in a later window is another congestion event",
        measured: "cuts for two marks four round trips apart",
        accepted: Range::within(2.0, 2.0),
        basis: "exact",
        measure: again,
        ..BASE
    },
    Check {
        id: "8511-no-deeper",
        section: "RFC 8511 section 3",
        level: Level::May,
        requirement: "a mark takes no more of the window than a loss does",
        measured: "window left by a mark less the one left by a loss, as parts of the one before",
        accepted: Range::at_least(-0.01),
        basis: "whole packets",
        measure: no_deeper,
        ..BASE
    },
    Check {
        id: "8511-reno",
        section: "6.1.2, RFC 8511 section 3",
        level: Level::May,
        requirement: "Reno halves for a mark, or leaves eight tenths by RFC 8511",
        applies: Applies::Law(Law::Reno),
        measured: "window after the cut over the one before",
        accepted: Range::within(0.4, 0.81),
        basis: "whole packets at windows of a hundred and more; half of the flight is less than half of the window where a sender paces",
        measure: reacts,
        ..BASE
    },
];

fn reacts(lab: &Lab<'_>) -> Measured {
    let at = first(lab, 100);
    let record = lab.run(&wide(lab, 100, 1.0).mark(at, 1))?;
    marked(&record)?;
    record.smallest_from(at, at + 3.0 * record.rtt)
}

fn reacts_wire(lab: &Lab<'_>) -> Measured {
    let at = first(lab, 100);
    let mark = at + 1.5;
    let record = lab.run(&wide(lab, 100, 2.0).lose(at, 1).mark(mark, 1))?;
    marked(&record)?;
    let rtt = record.rtt;
    let before = record.sent(mark - rtt, mark);
    // Windows of a sender whose growth counts acknowledgements, each of eight packets, are small: about ten here.
    need(before >= 8, "too little is sent")?;
    Ok(record.sent(mark + 2.0 * rtt, mark + 3.0 * rtt) as f64 / before as f64)
}

/// The one mark is echoed once: where an echo lasts until it is confirmed, a sender that heeds each echo would cut as often for one mark.
fn once(lab: &Lab<'_>) -> Measured {
    let at = first(lab, 100);
    let left = |testbed: Testbed| {
        let record = lab.run(&testbed)?;
        marked(&record)?;
        record.smallest_from(at, at + 3.0 * record.rtt)
    };
    // An acknowledgement of many packets has the echo of the newest alone.
    let per_ack = lab.subject().host().acks;
    let one: f64 = left(wide(lab, 100, 1.0).mark(at, per_ack).echoed_once())?;
    Ok(left(wide(lab, 100, 1.0).mark(at, 10))? / one)
}

fn mark_and_loss(lab: &Lab<'_>) -> Measured {
    let at = first(lab, 100);
    let left = |record: &Record| record.smallest_from(at, at + 3.0 * record.rtt);
    let loss = wide(lab, 100, 1.0).lose(at, 1);
    let alone = left(&lab.run(&loss)?)?.min(reacts(lab)?);
    Ok(left(&lab.run(&loss.mark(at, 1))?)? / alone)
}

fn again(lab: &Lab<'_>) -> Measured {
    let at = first(lab, 100);
    let record = lab.run(&wide(lab, 100, 1.0).mark(at, 1).mark(at + 0.4, 1))?;
    marked(&record)?;
    record.window(at)?;
    Ok(record.cuts().len() as f64)
}

fn no_deeper(lab: &Lab<'_>) -> Measured {
    Ok(marked_cut(lab, 1.5)?.ratio() - later_cut(lab, 100, 1.5)?.ratio())
}
