//! Senders in congestion avoidance whose application holds them back.

use cwnd::Span;
use cwnd_sim::{RateChange, RateSchedule, Source};

use super::{Measured, must, need};
use crate::lab::Lab;
use crate::testbed::{PACKET, Testbed};
use crate::unfit::Unfit;

/// A path of 20 ms. For ten seconds the application offers a hundred packets per round trip, and one of them is lost; then twenty for ten
/// seconds, and a hundred again.
fn limited(lab: &Lab<'_>, seconds: f64) -> Testbed {
    let rate = |packets: f64| (packets * PACKET.bits() / 0.02) as u64;
    let schedule = RateSchedule::stepping(rate(100.0), Span::from_secs(10), RateChange::Square(rate(20.0)));
    let testbed = lab.testbed(1000, 20, 20_000, seconds).lose(1.0 + 0.02 * lab.phase(), 1);
    testbed.with(|setup| setup.flows[0].source = Source::Rate(schedule))
}

/// The window after eight seconds in which a part of it is used, over the one before them.
pub(super) fn unused(lab: &Lab<'_>) -> Measured {
    let record = lab.run(&limited(lab, 20.0))?;
    record.cut(1.0)?;
    Ok(record.window(19.5)? / record.window(11.5)?)
}

/// The threshold that a loss leaves while a part of the window is used, over the packets sent in the round trip before it; the window where
/// no threshold is shown.
pub(super) fn flight_size(lab: &Lab<'_>) -> Measured {
    if !lab.subject().has_timeout() {
        return Err(Unfit::NotApplicable("as a sender of QUIC it halves its window (RFC 9002 section 7.3.2)"));
    }
    let at = 15.0 + 0.02 * lab.phase();
    let record = lab.run(&limited(lab, 17.0).lose(at, 1))?;
    let flight = record.sent(at - record.rtt, at) as f64;
    need(flight > 10.0, "too little is sent")?;
    need(record.window(at)? > 2.0 * flight, "more than half of the window is used")?;
    let after = at + 3.0 * record.rtt;
    let threshold = record.threshold(after).or_else(|_| record.window(after))?;
    Ok(threshold / flight)
}

/// The part of the window that is left after the loss of a new packet in the slow start after a timeout.
pub(super) fn loss_after_timeout(lab: &Lab<'_>) -> Measured {
    lab.timeout()?;
    let from = 18.0 + 0.02 * lab.phase();
    let to = 20.6;
    // The application pauses, so that few packets are to be repaired before new ones leave.
    let testbed = limited(lab, 30.0).pause(from + 0.02, to).lose_share(from, to, 1000);
    let record = lab.run(&testbed)?;
    must(record.smallest(from, to)? <= 2.0, "the timeout does not reduce the window to its least")?;
    let late = |at: u64| at as f64 / 1e9 >= to;
    let newest = record.data.iter().filter(|sent| !late(sent.at)).map(|sent| sent.number).max();
    let wide = |at: u64| record.window(at as f64 / 1e9).is_ok_and(|window| window >= ENOUGH);
    let new = record.data.iter().find(|sent| late(sent.at) && Some(sent.number) > newest && wide(sent.at));
    let new = new.ok_or_else(|| Unfit::Absent(format!("the window does not get back to {ENOUGH} packets")))?;
    let at = new.at as f64 / 1e9 - 1e-6;
    Ok(lab.run(&testbed.lose(at, 1))?.cut(at)?.ratio())
}

/// Packets: enough for duplicate acknowledgements, and below every threshold of a window that has carried a hundred.
const ENOUGH: f64 = 24.0;
