//! The state of a sender without selective acknowledgements: the cumulative acknowledgement, and how often it was repeated.
//!
//! The schemes built on it differ at the third duplicate and at the next new acknowledgement. `tahoe`, `reno`
//! and `newreno` define only that; the shared part is here.

use std::fmt::Debug;
use std::ops::Range;

use cwnd::Time;

use super::{AckOutcome, DUPLICATE_THRESHOLD, Recovery};
use crate::era::Era;
use crate::net::packet::Ack;

/// The reaction of a scheme to duplicate acknowledgements.
pub(crate) trait DuplicateRule: Debug + Sync {
    /// The third duplicate in a row has arrived while nothing was being repaired.
    fn on_third_duplicate(&self, sender: &mut Cumulative, outcome: &mut AckOutcome);

    /// A new acknowledgement has passed `passed` packets in fast recovery.
    fn on_progress(&self, _sender: &mut Cumulative, _passed: u64, _news: &mut AckOutcome) {}

    /// Whether a new acknowledgement ends fast recovery.
    fn is_done(&self, _sender: &Cumulative) -> bool {
        true
    }
}

/// The sender's record of its packets, and the state of its loss recovery.
///
/// `acked <= resume <= next`. Packets below `resume` are outstanding; from there to `next` they were sent once and count as
/// lost, after a step back to the first missing one.
#[derive(Clone, Debug)]
pub(crate) struct Cumulative {
    rule: &'static dyn DuplicateRule,
    acked: u64,
    next: u64,
    resume: u64,
    /// Duplicate acknowledgements since the last new one.
    duplicates: u64,
    /// Packets above `acked` that duplicates reported: counted as delivered then, and not again once they are acknowledged.
    arrived: u64,
    /// The next new packet when a loss was last acted upon; none before the first.
    recover: Option<u64>,
    phase: Phase,
    urgent: bool,
    limited_transmit: bool,
    impatient_rto: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Nothing is being repaired.
    Open,
    /// Fast recovery: the window counts as larger by `inflation`, a packet for each that has left the network.
    Fast {
        /// Below zero where an acknowledgement passed more packets than duplicates had reported.
        inflation: i64,
        /// A new acknowledgement has come, but not the last one.
        partial: bool,
    },
    /// Slow start from the first missing packet on, until something sent after the step back has arrived. A spurious
    /// retransmission makes duplicates too, so they mean nothing meanwhile (ns-2's `bugFix_`, RFC 6582 section 4.1).
    Restart,
}

impl Cumulative {
    /// Nothing sent yet.
    pub(crate) fn new(rule: &'static dyn DuplicateRule, era: &Era) -> Self {
        Self {
            rule,
            acked: 0,
            next: 0,
            resume: 0,
            duplicates: 0,
            arrived: 0,
            recover: None,
            phase: Phase::Open,
            urgent: false,
            limited_transmit: era.limited_transmit,
            impatient_rto: era.impatient_rto,
        }
    }

    /// Something sent after the last loss was acted upon has arrived, or there was none.
    pub(super) fn recovered(&self) -> bool {
        self.recover.is_none_or(|recover| self.acked > recover)
    }

    /// Everything outstanding when the last loss was acted upon has arrived.
    pub(super) fn repaired(&self) -> bool {
        self.recover.is_none_or(|recover| self.acked >= recover)
    }

    /// The first missing packet is lost and leaves again at once.
    pub(super) fn repair(&mut self, outcome: &mut AckOutcome) {
        outcome.lost = 1;
        outcome.first_lost = self.acked;
        outcome.rearm = true;
        self.urgent = true;
    }

    /// Fast recovery begins, with a packet of inflation for each duplicate (RFC 5681 section 3.2, step 3).
    pub(super) fn enter_fast(&mut self, outcome: &mut AckOutcome) {
        outcome.begun = true;
        self.recover = Some(self.next);
        self.phase = Phase::Fast { inflation: DUPLICATE_THRESHOLD.cast_signed(), partial: false };
    }

    /// Gives up all outstanding packets: sending continues at the first missing packet.
    pub(super) fn step_back(&mut self) {
        self.recover = Some(self.next);
        self.resume = self.acked;
        self.phase = Phase::Restart;
    }

    /// A new acknowledgement that does not end fast recovery takes back the inflation for what it passed, all but one packet.
    /// Whether the timer starts anew with it.
    pub(super) fn deflate(&mut self, passed: u64) -> bool {
        let Phase::Fast { inflation, partial } = &mut self.phase else { return true };
        *inflation -= passed.cast_signed() - 1;
        let first = !std::mem::replace(partial, true);
        first || !self.impatient_rto
    }

    /// The number of packets sent and not yet acknowledged.
    #[inline]
    fn unacked(&self) -> u64 {
        self.next - self.acked
    }

    fn advance(&mut self, cumulative: u64) -> AckOutcome {
        let passed = cumulative - self.acked;
        let reported = self.arrived.min(passed - 1);
        self.acked = cumulative;
        self.resume = self.resume.max(cumulative);
        self.arrived = (self.arrived - reported).min(self.unacked().saturating_sub(1));
        self.duplicates = 0;
        let mut outcome = AckOutcome { newly: passed - reported, advanced: true, rearm: true, ..AckOutcome::default() };
        if self.in_recovery() {
            self.rule.on_progress(self, passed, &mut outcome);
        }
        outcome
    }

    fn duplicate(&mut self) -> AckOutcome {
        let mut outcome = AckOutcome::default();
        self.duplicates += 1;
        if self.arrived + 1 < self.unacked() {
            self.arrived += 1;
            outcome.unnamed = true;
        }
        match &mut self.phase {
            Phase::Open if self.duplicates == DUPLICATE_THRESHOLD => self.rule.on_third_duplicate(self, &mut outcome),
            Phase::Fast { inflation, .. } => *inflation += 1,
            Phase::Open | Phase::Restart => {}
        }
        outcome
    }
}

impl Recovery for Cumulative {
    #[inline]
    fn outstanding(&self) -> Range<u64> {
        self.acked..self.next
    }

    #[inline]
    fn in_flight(&self) -> u64 {
        match self.phase {
            // RFC 3042: the first two duplicates each release a new packet.
            Phase::Open if self.limited_transmit => self.unacked().saturating_sub(self.duplicates.min(2)),
            Phase::Open => self.unacked(),
            Phase::Fast { inflation, .. } => self.unacked().saturating_add_signed(-inflation),
            Phase::Restart => self.resume - self.acked,
        }
    }

    #[inline]
    fn in_recovery(&self) -> bool {
        matches!(self.phase, Phase::Fast { .. })
    }

    #[inline]
    fn is_idle(&self) -> bool {
        self.phase == Phase::Open && self.duplicates == 0 && !self.waiting()
    }

    #[inline]
    fn on_ack(&mut self, _now: Time, ack: &Ack, _arrived: impl FnMut(u64, u64)) -> AckOutcome {
        let cumulative = ack.cumulative.min(self.next);
        if cumulative > self.acked {
            self.advance(cumulative)
        } else if cumulative == self.acked && self.unacked() > 0 {
            self.duplicate()
        } else {
            AckOutcome::default()
        }
    }

    #[inline]
    fn leave(&mut self, outcome: &AckOutcome) -> bool {
        match self.phase {
            Phase::Fast { .. } if outcome.advanced && self.rule.is_done(self) => {
                self.phase = Phase::Open;
                true
            }
            Phase::Restart if self.recovered() => {
                self.phase = Phase::Open;
                false
            }
            _ => false,
        }
    }

    fn on_timeout(&mut self, _now: Time) -> u64 {
        let lost = (self.resume - self.acked).saturating_sub(self.arrived).max(1);
        self.step_back();
        self.duplicates = 0;
        self.urgent = true;
        lost
    }

    #[inline]
    fn urgent(&self) -> bool {
        self.urgent
    }

    #[inline]
    fn room(&self, window: u64) -> u64 {
        window.saturating_sub(self.in_flight())
    }

    #[inline]
    fn waiting(&self) -> bool {
        self.urgent || self.resume < self.next
    }

    #[inline]
    fn resend(&mut self, _now: Time) -> Option<u64> {
        if self.resume < self.next {
            self.urgent = false;
            self.resume += 1;
            Some(self.resume - 1)
        } else {
            std::mem::take(&mut self.urgent).then_some(self.acked)
        }
    }

    #[inline]
    fn send(&mut self, _now: Time, count: u64) -> u64 {
        let first = self.next;
        self.next += count;
        self.resume = self.next;
        first
    }

    fn next_waiting(&self, number: u64) -> Option<u64> {
        if self.urgent && number <= self.acked {
            return Some(self.acked);
        }
        let first = number.max(self.resume);
        (first < self.next).then_some(first)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{NewReno, Reno, Tahoe};
    use super::*;

    fn sent(rule: &'static dyn DuplicateRule, packets: u64) -> Cumulative {
        let mut sender = Cumulative::new(rule, &Era::MODERN);
        sender.send(Time::ZERO, packets);
        sender
    }

    /// An acknowledgement of all below `cumulative`, `times` times; what the last one changed.
    fn ack(sender: &mut Cumulative, cumulative: u64, times: u64) -> AckOutcome {
        let ack = Ack::of(cumulative, Time::ZERO);
        let mut outcome = AckOutcome::default();
        for _ in 0..times {
            outcome = sender.on_ack(Time::ZERO, &ack, |_, _| ());
            sender.leave(&outcome);
        }
        outcome
    }

    #[test]
    fn the_first_two_duplicates_release_a_packet_each() {
        let mut sender = sent(&Reno, 10);
        assert_eq!(sender.in_flight(), 10);
        ack(&mut sender, 0, 2);
        assert_eq!((sender.in_flight(), sender.waiting()), (8, false));
        let mut early = Cumulative { limited_transmit: false, ..sent(&Reno, 10) };
        ack(&mut early, 0, 2);
        assert_eq!(early.in_flight(), 10);
    }

    #[test]
    fn each_further_duplicate_inflates_by_a_packet() {
        let mut sender = sent(&Reno, 10);
        let outcome = ack(&mut sender, 0, 3);
        assert_eq!((outcome.lost, outcome.first_lost, outcome.begun, outcome.separate), (1, 0, true, false));
        assert_eq!((sender.in_flight(), sender.resend(Time::ZERO), sender.resend(Time::ZERO)), (7, Some(0), None));
        ack(&mut sender, 0, 6);
        assert_eq!(sender.in_flight(), 1);
        // The nine duplicates reported nine packets: the tenth is all that is new.
        assert_eq!(ack(&mut sender, 10, 1).newly, 1);
        assert!(!sender.in_recovery());
        assert_eq!(sender.in_flight(), 0);
    }

    #[test]
    fn reno_takes_the_second_loss_of_a_window_for_another_event() {
        let mut sender = sent(&Reno, 10);
        ack(&mut sender, 0, 3);
        sender.resend(Time::ZERO);
        ack(&mut sender, 4, 1);
        assert!(!sender.in_recovery(), "any new acknowledgement ends it");
        let outcome = ack(&mut sender, 4, 3);
        assert_eq!((outcome.first_lost, outcome.separate, sender.resend(Time::ZERO)), (4, true, Some(4)));
        // Data sent after the cut is a window of its own, whatever the scheme.
        sender.send(Time::ZERO, 1);
        ack(&mut sender, 10, 1);
        assert!(!ack(&mut sender, 10, 3).separate);
    }

    #[test]
    fn newreno_deflates_by_what_a_partial_acknowledgement_passed() {
        let mut sender = sent(&NewReno, 10);
        ack(&mut sender, 0, 8);
        assert_eq!((sender.resend(Time::ZERO), sender.in_flight()), (Some(0), 2));
        let outcome = ack(&mut sender, 5, 1);
        assert_eq!((outcome.lost, outcome.first_lost, outcome.begun, outcome.rearm), (1, 5, false, true));
        // Four packets acknowledged besides the one put back: 5 outstanding, an inflation of 8 - 4.
        assert_eq!((sender.in_flight(), sender.resend(Time::ZERO), sender.in_recovery()), (1, Some(5), true));
        assert!(!ack(&mut sender, 6, 1).rearm, "impatient_rto: the timer started anew with the first partial one only");
        ack(&mut sender, 10, 1);
        assert!(!sender.in_recovery());
    }

    #[test]
    fn newreno_waits_for_something_sent_after_the_recovery() {
        let mut sender = sent(&NewReno, 10);
        ack(&mut sender, 0, 3);
        sender.send(Time::ZERO, 5);
        ack(&mut sender, 10, 1);
        assert_eq!(ack(&mut sender, 10, 3).lost, 0, "10 may have been sent before 0 was repaired");
        ack(&mut sender, 11, 1);
        assert_eq!(ack(&mut sender, 11, 3).first_lost, 11);
    }

    #[test]
    fn tahoe_steps_back_and_skips_what_an_acknowledgement_passes() {
        let mut sender = sent(&Tahoe, 10);
        ack(&mut sender, 2, 1);
        let outcome = ack(&mut sender, 2, 3);
        assert_eq!((outcome.first_lost, outcome.restart, sender.in_recovery()), (2, true, false));
        assert_eq!((sender.in_flight(), sender.resend(Time::ZERO)), (0, Some(2)));
        ack(&mut sender, 6, 1);
        assert_eq!((sender.resend(Time::ZERO), sender.resend(Time::ZERO), sender.in_flight()), (Some(6), Some(7), 2));
        assert_eq!(ack(&mut sender, 8, 4).lost, 0, "duplicates of spurious retransmissions");
    }

    #[test]
    fn a_timeout_forgets_the_recovery_it_falls_into() {
        for rule in [&Tahoe as &'static dyn DuplicateRule, &Reno, &NewReno] {
            let mut sender = sent(rule, 10);
            ack(&mut sender, 0, 5);
            sender.resend(Time::ZERO);
            sender.on_timeout(Time::ZERO);
            assert!(!sender.in_recovery() && sender.urgent(), "{rule:?}");
            assert_eq!(
                (sender.in_flight(), sender.resend(Time::ZERO), sender.in_flight()),
                (0, Some(0), 1),
                "{rule:?}"
            );
            assert_eq!(ack(&mut sender, 0, 5).lost, 0, "{rule:?}: these are of before");
            assert_eq!(
                std::iter::from_fn(|| sender.resend(Time::ZERO)).collect::<Vec<_>>(),
                (1..10).collect::<Vec<_>>()
            );
        }
    }
}
