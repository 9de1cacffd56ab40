//! How long RACK waits for a packet that others have overtaken (RFC 8985 section 6.2, steps 3 and 4).

use cwnd::Span;

use super::super::DUPLICATE_THRESHOLD;

/// The reordering window, and what it adapts to.
#[derive(Clone, Debug)]
pub(super) struct Reordering {
    /// `RACK.reordering_seen`.
    seen: bool,
    /// One above the highest packet that has arrived (`RACK.fack`).
    forward: u64,
    /// `RACK.reo_wnd_mult`, in quarters of the shortest round trip.
    quarters: u32,
    /// Recoveries until the window is narrow again, unless a packet is retransmitted spuriously before (`RACK.reo_wnd_persist`).
    persist: u32,
    /// The round in which the window last grew ends when all below have arrived (`RACK.dsack_round`).
    grown_until: Option<u64>,
}

impl Default for Reordering {
    fn default() -> Self {
        Self { seen: false, forward: 0, quarters: 1, persist: 0, grown_until: None }
    }
}

impl Reordering {
    /// Step 3: packet `number` has arrived, `resent` if it was sent again.
    pub(super) fn on_delivered(&mut self, number: u64, resent: bool) {
        if number >= self.forward {
            self.forward = number + 1;
        } else if !resent {
            self.seen = true;
        }
    }

    /// A packet that was taken for lost has arrived as it left first. Not in the RFC, which sees reordering only in packets that were
    /// not sent again; as Linux does.
    pub(super) fn on_late_original(&mut self) {
        self.seen = true;
    }

    /// Step 4: all below `acked` have arrived; `duplicate` if the receiver reports that a packet arrived twice. That this shows
    /// reordering too is an addition: in the RFC a sender that has seen none has no window in a recovery, however many duplicates are
    /// reported.
    /// The next new packet is `next`.
    pub(super) fn on_ack(&mut self, acked: u64, next: u64, duplicate: bool) {
        if self.grown_until.is_some_and(|end| acked >= end) {
            self.grown_until = None;
        }
        self.seen |= duplicate;
        if duplicate && self.grown_until.is_none() {
            self.grown_until = Some(next);
            self.quarters = self.quarters.saturating_add(1);
            self.persist = PERSIST;
        }
    }

    /// Step 4: a recovery has ended.
    pub(super) fn on_recovered(&mut self) {
        self.persist = self.persist.saturating_sub(1);
        if self.persist == 0 {
            self.quarters = 1;
        }
    }

    /// The window now. `repairing`: fast recovery or that after a timeout is under way; `arrived` packets have, above a missing one.
    pub(super) fn window(&self, repairing: bool, arrived: u64, min_rtt: Span, smoothed: Span) -> Span {
        if !self.seen && (repairing || arrived >= DUPLICATE_THRESHOLD) {
            return Span::ZERO;
        }
        (min_rtt * u64::from(self.quarters) / 4).min(smoothed)
    }
}

/// RFC 8985 section 6.2, step 4.
const PERSIST: u32 = 16;

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: Span = Span::from_millis(40);

    fn window(reordering: &Reordering) -> Span {
        reordering.window(false, 3, RTT, RTT)
    }

    #[test]
    fn without_reordering_three_packets_above_make_a_loss() {
        let mut reordering = Reordering::default();
        assert_eq!(reordering.window(false, 2, RTT, RTT), RTT / 4);
        assert_eq!(window(&reordering), Span::ZERO);
        reordering.on_delivered(5, false);
        reordering.on_delivered(3, true);
        assert_eq!(window(&reordering), Span::ZERO, "3 was sent again: that says nothing");
        reordering.on_delivered(4, false);
        assert_eq!(window(&reordering), RTT / 4);
    }

    #[test]
    fn the_window_grows_once_a_round_and_is_narrow_again_after_sixteen_recoveries() {
        let mut reordering = Reordering { seen: true, ..Reordering::default() };
        for (acked, next, quarters) in [(10, 20, 2), (15, 25, 2), (20, 30, 3), (35, 40, 4), (40, 50, 5)] {
            reordering.on_ack(acked, next, true);
            assert_eq!(reordering.window(true, 0, RTT, RTT * 9), RTT * quarters / 4, "all below {acked}");
        }
        assert_eq!(window(&reordering), RTT, "no longer than a smoothed round trip");
        (0..15).for_each(|_| reordering.on_recovered());
        assert_eq!(window(&reordering), RTT);
        reordering.on_recovered();
        assert_eq!(window(&reordering), RTT / 4);
    }
}
