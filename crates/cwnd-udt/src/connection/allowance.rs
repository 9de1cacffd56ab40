//! The limit on data sent to a peer that has not proven to receive it.
//!
//! An acknowledgement of a packet that was reported missing before proves nothing: a peer that receives nothing can report everything
//! missing, and then acknowledge everything, without acknowledging a packet that was withheld and not reported ([`super::proof`]). So a
//! packet is credited only if the peer has it, by an acknowledgement or by a report of others, and has never reported it missing. Each
//! credited packet pays for four sent packets, new or retransmitted. Unpaid packets are bounded for all peers at one address together. A
//! peer that has received much and then only claims to receive is sent at most twice as much.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cwnd::{Span, Time};

/// The data that may be sent to a peer before more is credited.
#[derive(Clone, Debug)]
pub(super) struct Allowance {
    /// Bytes that are paid for and not yet sent; below 0 if credit was revoked after it was spent.
    left: i64,
    /// The maximum of `left`: [`AGAIN`] times the bytes credited so far.
    most: i64,
    /// Bytes that were sent without being paid for, and have not been since.
    borrowed: u64,
    unproven: Arc<Mutex<Unproven>>,
}

/// The unpaid data that may be sent to one address: a token bucket for all connections with it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unproven {
    /// Bytes, as of an instant.
    left: i64,
    as_of: Time,
}

impl Allowance {
    /// Before the first packet.
    pub(super) fn new(unproven: Arc<Mutex<Unproven>>) -> Self {
        Self { left: 0, most: 0, borrowed: 0, unproven }
    }

    /// From when on a packet may be sent: [`Time::ZERO`] while something is left.
    pub(super) fn allows_from(&self) -> Time {
        if self.left > 0 { Time::ZERO } else { self.unproven().allows_from() }
    }

    /// A packet of `bytes` is sent, new or again.
    pub(super) fn on_send(&mut self, now: Time, bytes: u64) {
        if self.left > 0 {
            self.left = self.left.saturating_sub_unsigned(bytes);
        } else {
            self.borrowed = self.borrowed.saturating_add(bytes);
            self.unproven().take(now, bytes);
        }
    }

    /// Packets of `bytes` in all show that the peer receives.
    pub(super) fn credit(&mut self, now: Time, bytes: u64) {
        let pays = PAYS.saturating_mul(bytes);
        let repaid = pays.min(self.borrowed);
        if repaid > 0 {
            self.borrowed -= repaid;
            self.unproven().repay(now, repaid);
        }
        self.most = self.most.saturating_add_unsigned(bytes.saturating_mul(AGAIN)).min(MOST);
        self.left = self.left.saturating_add_unsigned(pays - repaid).min(self.most);
    }

    /// Packets of `bytes` in all that were credited are reported missing.
    pub(super) fn revoke(&mut self, bytes: u64) {
        self.most = self.most.saturating_sub_unsigned(bytes.saturating_mul(AGAIN)).max(0);
        self.left = self.left.saturating_sub_unsigned(bytes.saturating_mul(PAYS));
    }

    /// The peer has acknowledged a packet that was never sent, so that none of the `bytes` that were sent may have arrived.
    pub(super) fn on_lie(&mut self, now: Time, bytes: u64) {
        self.unproven().take(now, bytes.min(GREATEST_DEBT));
    }

    fn unproven(&self) -> MutexGuard<'_, Unproven> {
        self.unproven.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Unproven {
    /// The bucket of an address to which nothing was sent.
    pub(crate) fn new() -> Self {
        Self { left: BURST, as_of: Time::ZERO }
    }

    /// Whether all of it is left.
    pub(crate) fn is_whole(&mut self, now: Time) -> bool {
        self.refill(now);
        self.left == BURST
    }

    fn allows_from(&self) -> Time {
        if self.left > 0 { Time::ZERO } else { self.as_of + BYTE * (1 - self.left).unsigned_abs() }
    }

    fn take(&mut self, now: Time, bytes: u64) {
        self.refill(now);
        self.left = self.left.saturating_sub_unsigned(bytes);
    }

    fn repay(&mut self, now: Time, bytes: u64) {
        self.refill(now);
        self.left = self.left.saturating_add_unsigned(bytes).min(BURST);
    }

    fn refill(&mut self, now: Time) {
        let earned = now.since(self.as_of).as_nanos() / BYTE.as_nanos();
        if earned > 0 {
            self.left = self.left.saturating_add_unsigned(earned).min(BURST);
            self.as_of += BYTE * earned;
        }
    }
}

/// The data that may be sent at once to an address that has proven nothing, bytes.
const BURST: i64 = 400_000;
/// The time in which it may be sent a further byte: 15 kB a second.
const BYTE: Span = Span::from_nanos(66_667);
/// The maximum cost of a lie for an address, bytes: somewhat more than a minute.
const GREATEST_DEBT: u64 = 1_000_000;
/// Packets that one pays for: a path may lose three of four.
const PAYS: u64 = 4;
/// How often the credited bytes may be sent without more credit. A slow start that overruns a queue may lose as many bytes as have arrived
/// by then, and some of them twice.
const AGAIN: u64 = 2;
/// However much was credited, bytes: more than a path of 10 Gbit/s and 200 ms holds.
const MOST: i64 = 1 << 28;

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    fn address() -> Arc<Mutex<Unproven>> {
        Arc::new(Mutex::new(Unproven::new()))
    }

    /// Sends packets of 1000 bytes at once as long as it may: how many.
    fn send(allowance: &mut Allowance, now: Time) -> u64 {
        let mut packets = 0;
        while allowance.allows_from() <= now {
            allowance.on_send(now, 1000);
            packets += 1;
        }
        packets
    }

    #[test]
    fn what_is_not_paid_for_is_bounded() {
        let mut allowance = Allowance::new(address());
        assert_eq!(send(&mut allowance, at(0)), 400);
        assert_eq!(send(&mut allowance, at(500)), 8, "15 kB a second");
        // One pays for four,
        allowance.credit(at(500), 10_000);
        assert_eq!(send(&mut allowance, at(500)), 40);
        // but credited bytes are sent at most twice more.
        allowance.credit(at(500), 1_000_000);
        assert_eq!(send(&mut allowance, at(500)), 400 + 2020);
        allowance.credit(at(500), u64::MAX);
        assert_eq!(allowance.left, MOST);
    }

    #[test]
    fn connections_with_one_address_share_what_is_not_paid_for() {
        let shared = address();
        let [mut one, mut other] = [(); 2].map(|()| Allowance::new(Arc::clone(&shared)));
        assert_eq!(send(&mut one, at(0)), 400);
        assert_eq!(send(&mut other, at(0)), 0);
        one.credit(at(0), 100_000);
        assert_eq!(send(&mut other, at(0)), 400, "one has repaid all of it");
        drop(other);
        let mut third = Allowance::new(Arc::clone(&shared));
        assert_eq!(send(&mut third, at(0)), 0, "who has gone has repaid nothing");
        third.on_lie(at(0), u64::MAX);
        assert_eq!(send(&mut third, at(66_000)), 0);
        assert!(!shared.lock().is_ok_and(|mut unproven| unproven.is_whole(at(93_000))));
        assert!(shared.lock().is_ok_and(|mut unproven| unproven.is_whole(at(94_000))));
    }
}
