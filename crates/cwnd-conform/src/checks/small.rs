//! Windows below the initial one, and pauses.

use super::{Measured, first, must};
use crate::lab::Lab;
use crate::testbed::Testbed;
use crate::unfit::Unfit;

/// A path of 100 ms on which a packet of the first flight is lost, and another each four round trips after it: how it goes on, and when the
/// last is over.
fn reduced(lab: &Lab<'_>, seconds: f64) -> Result<(Testbed, f64), Unfit> {
    const LOSSES: u32 = 8;
    let last = lab.handshake(100) + 0.4 * f64::from(LOSSES);
    let testbed = lab.testbed(1000, 100, 20_000, last + seconds);
    let begin = lab.run(&lab.testbed(1000, 100, 20_000, lab.handshake(100) + 0.3))?.slow_start() + 1e-6;
    let testbed = (0..LOSSES).fold(testbed, |testbed, nth| testbed.lose(begin + 0.4 * f64::from(nth), 1));
    Ok((testbed, last))
}

/// The least window that a loss leaves, packets.
pub(super) fn small_window(lab: &Lab<'_>) -> Measured {
    let (testbed, _) = reduced(lab, 0.2)?;
    let record = lab.run(&testbed)?;
    record.cut(0.0)?;
    // A timeout leaves one packet, or two.
    let least = record.cuts().iter().map(|cut| cut.after).filter(|after| *after > 2.5).fold(f64::INFINITY, f64::min);
    must(least.is_finite(), "only timeouts reduce the window")?;
    Ok(least)
}

/// The largest window at the begin of the flight after a pause over the one before it, where that is smaller than the initial window.
pub(super) fn restart_window(lab: &Lab<'_>) -> Measured {
    const PAUSE: f64 = 4.0;
    let (testbed, from) = reduced(lab, PAUSE + 0.5)?;
    let to = from + PAUSE;
    let record = lab.run(&testbed.pause(from, to))?;
    // All that was under way is acknowledged by then.
    let before = record.window(from + 1.0)?;
    if before >= 9.0 {
        // `5681-small-window` judges that.
        return Err(Unfit::NotApplicable("eight losses leave a window above the initial one"));
    }
    Ok(record.largest(from + 1.0, to + 0.5 * record.rtt)? / before)
}

/// The window after the application has had nothing for some milliseconds, less than a timeout, over the one before.
pub(super) fn short_pause(lab: &Lab<'_>) -> Measured {
    let testbed = lab.testbed(1000, 50, 20_000, first(lab, 50) + 2.0).lose(first(lab, 50), 1);
    let record = lab.run(&testbed)?;
    let begin = record.cut(first(lab, 50))?.at + 10.0 * record.rtt;
    let sent = record.data.iter().map(|sent| sent.at as f64 / 1e9);
    let sent: Vec<f64> = sent.filter(|at| (begin..begin + 2.0 * record.rtt).contains(at)).collect();
    // The end of a flight; a sender that paces has none.
    let flight = sent.windows(2).find(|pair| pair[1] - pair[0] > 0.3 * record.rtt);
    let last = flight.map_or(begin + record.rtt, |pair| pair[0]);
    // Its last packet is acknowledged a round trip later, and no timer of RFC 6298 is as short as that and ten milliseconds more.
    let to = last + record.rtt + 0.006;
    let paused = lab.run(&testbed.pause(last + 0.001, to))?;
    Ok(paused.window(to + 0.3 * record.rtt)? / paused.window(last + 0.001)?)
}
