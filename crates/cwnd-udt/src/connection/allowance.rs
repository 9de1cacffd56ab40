//! How much may be sent to a peer beyond what it has shown to receive.
//!
//! An acknowledgement of a packet that was reported missing before shows nothing: a peer that receives nothing can report everything
//! missing, and then acknowledge everything, without acknowledging one that was withheld and not reported ([`super::proof`]). So only
//! packets that it has, by an acknowledgement or by a report of others, and has never reported missing are credited. Each of them pays for
//! four that are sent, new or again. A peer from which nothing is credited is soon sent a packet now and then; one that has received much and
//! then pretends is sent twice as much at most.

use cwnd::{Span, Time};

/// What may be sent before more is credited.
#[derive(Clone, Copy, Debug)]
pub(super) struct Allowance {
    /// Bytes; below 0 where packets were sent now and then.
    left: i64,
    /// What can be left at most: what may be sent to anybody, and [`AGAIN`] times what was credited so far.
    most: i64,
    /// When one more packet may be sent although nothing is left.
    next_packet: Time,
}

impl Allowance {
    /// Before the first packet.
    pub(super) fn new() -> Self {
        Self { left: UNPROVEN, most: UNPROVEN, next_packet: Time::ZERO }
    }

    /// From when on a packet may be sent: [`Time::ZERO`] while something is left.
    pub(super) fn allows_from(&self) -> Time {
        if self.left > 0 { Time::ZERO } else { self.next_packet }
    }

    /// A packet of `bytes` is sent, new or again.
    pub(super) fn on_send(&mut self, now: Time, bytes: u64) {
        self.left = self.left.saturating_sub_unsigned(bytes);
        self.next_packet = now + PAUSE;
    }

    /// Packets of `bytes` in all show that the peer receives.
    pub(super) fn credit(&mut self, bytes: u64) {
        self.most = self.most.saturating_add_unsigned(bytes.saturating_mul(AGAIN)).min(MOST);
        self.left = self.left.saturating_add_unsigned(PAYS.saturating_mul(bytes)).min(self.most);
    }
}

/// What may be sent to anybody, bytes.
const UNPROVEN: i64 = 400_000;
/// How often what was credited may be sent without more credit: a slow start that overruns a queue may lose as much as has arrived by then, and
/// some of it twice.
const AGAIN: u64 = 2;
/// However much was credited, bytes: more than a path of 10 Gbit/s and 200 ms holds.
const MOST: i64 = 1 << 28;
/// Packets that one pays for: a path may lose three of four.
const PAYS: u64 = 4;
/// Between two packets while nothing is left.
const PAUSE: Span = Span::from_millis(100);

#[cfg(test)]
mod tests {
    use super::*;

    /// Sends packets of 1000 bytes at once as long as it may: how many.
    fn send(allowance: &mut Allowance, now: Time) -> i64 {
        let mut packets = 0;
        while allowance.allows_from() <= now {
            allowance.on_send(now, 1000);
            packets += 1;
        }
        packets
    }

    #[test]
    fn what_is_not_paid_for_is_bounded() {
        let mut allowance = Allowance::new();
        let now = Time::ZERO + Span::from_secs(1);
        assert_eq!(send(&mut allowance, now), UNPROVEN / 1000);
        assert_eq!(send(&mut allowance, now + PAUSE), 1, "then one at a time");
        // One pays for four,
        allowance.credit(10_000);
        assert_eq!(send(&mut allowance, now + PAUSE), 39);
        // but what was credited is sent twice more at most.
        allowance.credit(1_000_000);
        assert_eq!(send(&mut allowance, now + PAUSE), (UNPROVEN + 2_020_000) / 1000);
        allowance.credit(u64::MAX);
        assert_eq!(allowance.left, MOST);
    }
}
