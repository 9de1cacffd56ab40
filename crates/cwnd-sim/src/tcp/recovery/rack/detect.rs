//! Which packets are lost: RACK (RFC 8985 section 6.2).

use cwnd::{Span, Time};

use super::board::{Board, Record};
use super::reorder::Reordering;

/// The newest packet known to have arrived, and what follows for those that left before it.
#[derive(Clone, Debug)]
pub(super) struct Detector {
    /// When it left and its number (`RACK.xmit_ts`, `RACK.end_seq`).
    newest: (Time, u64),
    /// The newest round-trip time (`RACK.rtt`).
    rtt: Span,
    /// The shortest round trip of a packet that was sent once (`RACK.min_RTT`); none before the first.
    min_rtt: Option<Span>,
    pub(super) reordering: Reordering,
    /// When the last packet that others have overtaken is lost; [`Time::MAX`] if there is none.
    deadline: Time,
}

/// The inputs of the reordering window besides its own state.
#[derive(Clone, Copy, Debug)]
pub(super) struct RackInput {
    pub(super) now: Time,
    /// Fast recovery or that after a timeout is under way.
    pub(super) repairing: bool,
    /// The smoothed round-trip time.
    pub(super) smoothed: Span,
}

impl Default for Detector {
    fn default() -> Self {
        Self {
            newest: (Time::ZERO, 0),
            rtt: Span::ZERO,
            min_rtt: None,
            reordering: Reordering::default(),
            deadline: Time::MAX,
        }
    }
}

impl Detector {
    /// When [`detect`](Self::detect) may find more without an acknowledgement.
    #[inline]
    pub(super) fn deadline(&self) -> Time {
        self.deadline
    }

    /// Steps 1 to 3: `number` has arrived; the packet that made the receiver say so left at `echo`.
    #[inline]
    pub(super) fn on_delivered(&mut self, now: Time, echo: Time, number: u64, record: &Record) {
        let rtt = now.since(record.sent_at);
        self.reordering.on_delivered(number, record.resends > 0);
        if record.resends == 0 {
            self.min_rtt = Some(self.min_rtt.map_or(rtt, |min| min.min(rtt)));
        } else if record.lost || echo < record.sent_at || self.min_rtt.is_some_and(|min| rtt < min) {
            // The packet that arrived is not the last one sent.
            return;
        }
        self.rtt = rtt;
        self.newest = self.newest.max((record.sent_at, number));
    }

    /// Step 5: hands to `found` each packet that is lost now, as it left, and marks it. The timer then runs until the last of those that
    /// have been overtaken is lost; acknowledgements find the others before.
    pub(super) fn detect(&mut self, at: &RackInput, board: &mut Board, mut found: impl FnMut(u64, &Record)) {
        let timeout = self.timeout(at, board);
        for first in [Board::first_fresh, Board::first_resent] {
            while let Some((sent_at, number)) = first(board).filter(|packet| *packet < self.newest) {
                if sent_at + timeout > at.now {
                    break;
                }
                if let Some(record) = board.record(number).copied() {
                    found(number, &record);
                }
                board.mark_lost(number);
            }
        }
        self.deadline = board.last_overtaken(self.newest).map_or(Time::MAX, |sent_at| sent_at + timeout);
    }

    /// The packets that an expiry of the retransmission timer marks as lost (section 6.3): the first, and those that are overdue.
    pub(super) fn on_timeout(&mut self, at: &RackInput, board: &mut Board, mut found: impl FnMut(u64, &Record)) {
        self.deadline = Time::MAX;
        let timeout = self.timeout(at, board);
        for number in board.acked()..board.next() {
            let Some(record) = board.record(number).copied() else { continue };
            let overdue = record.sent_at + timeout <= at.now;
            if !record.lost && (overdue || number == board.acked()) {
                found(number, &record);
                board.mark_lost(number);
            }
        }
    }

    /// For how long after its departure a packet that others have overtaken may still arrive.
    fn timeout(&self, at: &RackInput, board: &Board) -> Span {
        let min_rtt = self.min_rtt.unwrap_or(at.smoothed);
        self.rtt + self.reordering.window(at.repairing, board.arrived(), min_rtt, at.smoothed)
    }
}
