//! Selective acknowledgements: RFC 6675, with ns-2's `pipe` or proportional rate reduction as the era has it.

use std::ops::Range;

use cwnd::{Packets, Time};

use super::proportional::ProportionalReduction;
use super::scoreboard::Scoreboard;
use super::{AckOutcome, Recovery};
use crate::era::{self, Era};
use crate::net::packet::Ack;

/// What a sender knows of its packets, and the state of its loss recovery.
#[derive(Clone, Debug)]
pub(crate) struct Sack {
    board: Scoreboard,
    phase: Phase,
    /// Unless open: it lasts until all below, everything sent before the loss was found, has arrived.
    until: u64,
    urgent: bool,
    limited_transmit: bool,
    rule: era::Recovery,
}

#[derive(Clone, Debug)]
enum Phase {
    Open,
    /// Fast recovery, and how much may leave in it: none where ns-2's pipe decides that.
    Recovery(Option<Box<ProportionalReduction>>),
    /// Recovery by the timer; slow start goes on meanwhile.
    AfterTimeout,
}

impl Sack {
    /// Nothing sent yet.
    pub(crate) fn new(era: &Era) -> Self {
        Self {
            board: Scoreboard::default(),
            phase: Phase::Open,
            until: 0,
            urgent: false,
            limited_transmit: era.limited_transmit,
            rule: era.recovery,
        }
    }

    /// Whether the losses in `outcome` begin a recovery.
    fn enters(&self, outcome: &AckOutcome) -> bool {
        match self.phase {
            Phase::Open => true,
            Phase::Recovery(_) => false,
            // Losses of packets sent before the timeout belong to it.
            Phase::AfterTimeout => outcome.first_lost >= self.until,
        }
    }

    #[inline(always)]
    fn count_sent(&mut self, count: u64) {
        self.urgent = false;
        if let Phase::Recovery(Some(reduction)) = &mut self.phase {
            reduction.sent(count);
        }
    }
}

impl Recovery for Sack {
    #[inline(always)]
    fn outstanding(&self) -> Range<u64> {
        self.board.acked()..self.board.next()
    }

    #[inline(always)]
    fn in_flight(&self) -> u64 {
        match self.phase {
            // Without limited transmit the first duplicate acknowledgements release nothing: what they stand for still counts.
            Phase::Open if !self.limited_transmit => self.board.next() - self.board.acked(),
            Phase::Recovery(None) => self.board.sack1_pipe(),
            _ => self.board.in_flight(),
        }
    }

    #[inline(always)]
    fn in_recovery(&self) -> bool {
        matches!(self.phase, Phase::Recovery(_))
    }

    #[inline(always)]
    fn is_idle(&self) -> bool {
        // An urgent packet leaves at the instant that makes it urgent, so that there is none.
        matches!(self.phase, Phase::Open) && !self.waiting()
    }

    #[inline(always)]
    fn on_ack_in_order(&mut self, _now: Time, ack: &Ack) -> Option<u64> {
        if matches!(self.phase, Phase::Open) { self.board.on_ack_in_order(ack) } else { None }
    }

    #[inline]
    fn on_ack(&mut self, _now: Time, ack: &Ack, arrived: impl FnMut(u64, u64)) -> AckOutcome {
        let mut outcome = self.board.on_ack(ack, arrived);
        outcome.rearm = outcome.advanced;
        if outcome.lost > 0 && self.enters(&outcome) {
            self.phase = Phase::Recovery(match self.rule {
                era::Recovery::Sack1 => None,
                era::Recovery::Proportional => {
                    Some(Box::new(ProportionalReduction::new(self.board.missing() + outcome.newly)))
                }
            });
            self.until = self.board.next();
            self.urgent = true;
            outcome.begun = true;
            outcome.rearm = true;
        }
        outcome
    }

    #[inline(always)]
    fn leave(&mut self, _news: &AckOutcome) -> bool {
        if matches!(self.phase, Phase::Open) || self.board.acked() < self.until {
            return false;
        }
        let repaired = self.in_recovery();
        self.phase = Phase::Open;
        repaired
    }

    #[inline(always)]
    fn on_window(&mut self, outcome: &AckOutcome, window: Packets) {
        if let Phase::Recovery(Some(reduction)) = &mut self.phase {
            let safe = outcome.advanced && outcome.lost == 0;
            reduction.on_ack(outcome.newly, self.board.in_flight(), window.whole(), safe);
        }
    }

    fn on_timeout(&mut self, _now: Time) -> u64 {
        self.phase = Phase::AfterTimeout;
        self.until = self.board.next();
        self.urgent = true;
        self.board.lose_all()
    }

    #[inline]
    fn urgent(&self) -> bool {
        self.urgent
    }

    #[inline(always)]
    fn room(&self, window: u64) -> u64 {
        match &self.phase {
            Phase::Recovery(Some(reduction)) => reduction.allowance(),
            _ => window.saturating_sub(self.in_flight()),
        }
    }

    #[inline(always)]
    fn waiting(&self) -> bool {
        self.board.waiting() > 0
    }

    #[inline]
    fn resend(&mut self, _now: Time) -> Option<u64> {
        let number = self.board.resend()?;
        self.count_sent(1);
        Some(number)
    }

    #[inline(always)]
    fn send(&mut self, _now: Time, count: u64) -> u64 {
        self.count_sent(count);
        self.board.send(count)
    }

    fn next_waiting(&self, number: u64) -> Option<u64> {
        self.board.next_waiting(number)
    }
}
