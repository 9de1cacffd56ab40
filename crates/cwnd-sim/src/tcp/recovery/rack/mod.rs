//! RACK-TLP: losses found by time (RFC 8985), also those of packets sent again, with tail loss probes, proportional rate reduction
//! (RFC 9937), F-RTO (RFC 5682), and an undo of spurious responses (RFC 3522, RFC 3708, RFC 4015).

mod board;
mod detect;
mod episode;
mod frto;
mod probe;
mod reorder;

use std::ops::Range;

use cwnd::{Packets, Rtt, Span, Time};

use self::board::Board;
use self::detect::{Detector, RackInput};
use self::episode::Episode;
use self::frto::{Evidence, Frto};
use self::probe::{Answer, Probe};
use super::proportional::ProportionalReduction;
use super::{AckOutcome, Recovery};
use crate::net::packet::Ack;

/// The sender's record of its packets, and the state of its loss recovery.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rack {
    board: Board,
    detector: Detector,
    probe: Probe,
    episode: Episode,
    frto: Frto,
    phase: Phase,
    /// Unless open: it lasts until all below, everything sent before the loss was found, has arrived.
    until: u64,
    /// The present acknowledgement has shown that a recovery was spurious.
    undone: bool,
    urgent: bool,
    /// The last packet leaves again, as a probe.
    repeats_last: bool,
    /// The smoothed round-trip time, as the sender knows it.
    smoothed: Span,
    /// The cumulative acknowledgement when the retransmission timer last expired.
    acked_at_timeout: u64,
}

#[derive(Clone, Debug, Default)]
enum Phase {
    #[default]
    Open,
    /// Fast recovery, and how much may leave in it.
    Recovery(Box<ProportionalReduction>),
    /// Recovery by the timer; slow start goes on meanwhile.
    AfterTimeout,
}

/// The packets that an acknowledgement delivered, as far as errors depend on them.
#[derive(Clone, Copy, Debug, Default)]
struct Delivered {
    count: u64,
    /// The first that was sent only once.
    original: Option<u64>,
    /// The recovery has no suspect left: it was spurious.
    spurious: bool,
}

impl Rack {
    /// When [`on_deadline`](Recovery::on_deadline) is to be called; [`Time::MAX`] for never.
    #[inline]
    pub(crate) fn deadline(&self) -> Time {
        self.detector.deadline().min(self.probe.deadline())
    }

    /// The timer for probes is to be set anew.
    #[inline]
    pub(crate) fn is_probe_stale(&self) -> bool {
        self.probe.is_stale()
    }

    /// Sets it; the retransmission timer expires at `timeout`.
    #[inline]
    pub(crate) fn set_probe(&mut self, now: Time, rtt: Option<Rtt>, timeout: Time) {
        self.smoothed = rtt.map_or(Span::ZERO, |rtt| rtt.smoothed);
        let may = self.is_open() && self.board.arrived() == 0;
        self.probe.set(now, may, self.board.next() - self.board.acked(), rtt, timeout);
    }

    /// New packets are to leave before those that wait to be sent again.
    #[inline]
    pub(crate) fn prefers_new(&self) -> bool {
        self.frto.is_probing()
    }

    /// No new packet can leave before the repairs.
    pub(crate) fn repair_at_once(&mut self) {
        self.frto = Frto::Off;
    }

    fn is_open(&self) -> bool {
        matches!(self.phase, Phase::Open)
    }

    fn circumstances(&self, now: Time) -> RackInput {
        RackInput { now, repairing: !self.is_open(), smoothed: self.smoothed }
    }

    /// Takes in what `ack` delivers, and hands each packet of it to `arrived`.
    fn deliver(&mut self, now: Time, ack: &Ack, mut arrived: impl FnMut(u64, u64)) -> Delivered {
        let Self { board, detector, episode, .. } = self;
        let (first, cumulative) = (board.acked(), ack.cumulative);
        let mut delivered = Delivered::default();
        board.on_ack_with(ack, |number, record| {
            arrived(number, number + 1);
            delivered.count += 1;
            detector.on_delivered(now, ack.echo, number, record);
            if record.resends == 0 {
                delivered.original.get_or_insert(number);
            }
            // The echo is that of the first packet covered, or of one that was reported at once.
            let echoed = number == first || number >= cumulative || record.resends == 0;
            if echoed && episode::is_late_original(record, ack.echo) {
                detector.reordering.on_late_original();
                delivered.spurious |= episode.remove_suspect(number);
            }
        });
        delivered
    }

    /// Declares packets lost.
    fn detect(&mut self, now: Time, outcome: &mut AckOutcome) {
        let at = self.circumstances(now);
        let Self { board, detector, episode, .. } = self;
        let mut first_lost = u64::MAX;
        detector.detect(&at, board, |number, _| {
            if outcome.lost == 0 && !at.repairing {
                episode.begin();
            }
            outcome.lost += 1;
            first_lost = first_lost.min(number);
            episode.suspect(number);
        });
        if outcome.lost > 0 {
            outcome.first_lost = first_lost;
            self.enter(outcome);
        }
    }

    /// Begins a recovery, unless the losses in `outcome` belong to one that is under way.
    fn enter(&mut self, outcome: &mut AckOutcome) {
        let begins = match self.phase {
            Phase::Open => true,
            Phase::Recovery(_) => false,
            // Losses of packets sent before the timeout belong to it.
            Phase::AfterTimeout => outcome.first_lost >= self.until,
        };
        if begins {
            let reduction = ProportionalReduction::new(self.board.missing() + outcome.newly);
            self.phase = Phase::Recovery(Box::new(reduction));
            self.until = self.board.next();
            self.frto = Frto::Off;
            self.probe.reset();
            self.urgent = true;
            outcome.begun = true;
            outcome.rearm = true;
        }
    }

    /// Nothing that was taken for lost had been lost.
    fn undo(&mut self, outcome: &mut AckOutcome) {
        outcome.spurious = true;
        self.undone = self.in_recovery();
        if !self.is_open() {
            self.phase = Phase::Open;
            self.detector.reordering.on_recovered();
        }
        self.episode.close();
        self.frto = Frto::Off;
        self.board.unmark_lost();
    }

    fn count_sent(&mut self, count: u64) {
        self.urgent = false;
        if let Phase::Recovery(reduction) = &mut self.phase {
            reduction.sent(count);
        }
    }
}

impl Recovery for Rack {
    #[inline]
    fn outstanding(&self) -> Range<u64> {
        self.board.acked()..self.board.next()
    }

    #[inline]
    fn in_flight(&self) -> u64 {
        self.board.in_flight()
    }

    #[inline]
    fn in_recovery(&self) -> bool {
        matches!(self.phase, Phase::Recovery(_))
    }

    #[inline]
    fn is_idle(&self) -> bool {
        self.is_open() && !self.urgent && !self.waiting()
    }

    #[inline]
    fn on_ack_in_order(&mut self, now: Time, ack: &Ack) -> Option<u64> {
        let plain = ack.sack[0].end == 0
            && ack.duplicate == 0
            && ack.cumulative > self.board.acked()
            && ack.cumulative <= self.board.next()
            && self.board.is_plain()
            && self.is_open()
            && !self.probe.is_under_way();
        plain.then(|| {
            let newly = ack.cumulative - self.board.acked();
            let last = self.board.advance_plainly(ack.cumulative);
            self.detector.on_delivered(now, ack.echo, ack.cumulative - 1, &last);
            self.detector.reordering.on_ack(ack.cumulative, self.board.next(), false);
            self.probe.touch();
            self.probe.sample();
            newly
        })
    }

    fn on_ack(&mut self, now: Time, ack: &Ack, arrived: impl FnMut(u64, u64)) -> AckOutcome {
        let mut outcome = AckOutcome::default();
        let before = self.board.acked();
        let delivered = self.deliver(now, ack, arrived);
        let (acked, next) = (self.board.acked(), self.board.next());
        let duplicate = ack.duplicate();
        let selective = ack.sack[0].end > 0;
        outcome.newly = delivered.count;
        outcome.advanced = acked > before;
        outcome.rearm = outcome.advanced;
        if outcome.newly > 0 {
            self.probe.sample();
        }
        // Section 7.2: what neither advances nor shows a packet above a missing one does not delay a probe.
        if outcome.advanced || selective {
            self.probe.touch();
        }

        // A spurious retransmission by a probe is no sign of reordering.
        let by_probe = self.probe.is_under_way();
        self.detector.reordering.on_ack(acked, next, duplicate.is_some() && !by_probe);
        let spurious = duplicate.is_some_and(|number| self.episode.remove_suspect(number)) || delivered.spurious;
        let evidence = Evidence { original: delivered.original, acked, advanced: outcome.advanced, selective, next };
        if self.frto.on_ack(&evidence) || spurious {
            self.undo(&mut outcome);
        }
        let answer = self.probe.on_ack(acked, outcome.advanced, duplicate, selective);
        self.detect(now, &mut outcome);
        if outcome.lost == 0 && answer == Answer::Repaired && self.is_open() {
            // It was repaired already, and only the algorithm has still to be notified.
            (outcome.lost, outcome.first_lost) = (1, before.max(1) - 1);
        }
        outcome
    }

    fn leave(&mut self, _outcome: &AckOutcome) -> bool {
        if std::mem::take(&mut self.undone) && self.is_open() {
            return true;
        }
        if self.is_open() || self.board.acked() < self.until {
            return false;
        }
        let repaired = self.in_recovery();
        self.phase = Phase::Open;
        self.frto = Frto::Off;
        self.detector.reordering.on_recovered();
        repaired
    }

    fn on_window(&mut self, outcome: &AckOutcome, window: Packets) {
        if let Phase::Recovery(reduction) = &mut self.phase {
            if outcome.newly == 0 && !outcome.begun {
                reduction.on_lost(outcome.lost);
            } else {
                let safe = outcome.advanced && outcome.lost == 0;
                reduction.on_ack(outcome.newly, self.board.in_flight(), window.whole(), safe);
            }
        }
    }

    fn on_timeout(&mut self, now: Time) -> u64 {
        let at = self.circumstances(now);
        // RFC 5682 section 3.1, step 1: not where losses were being repaired, since retransmissions could be mistaken for originals;
        // but again where the timer expires again for the same packet, as Linux does.
        let again = self.acked_at_timeout == self.board.acked();
        let first = matches!(self.phase, Phase::Open) || matches!(self.phase, Phase::AfterTimeout) && again;
        self.frto = if first { Frto::begin(self.board.next()) } else { Frto::Off };
        self.acked_at_timeout = self.board.acked();
        self.episode.begin();
        let Self { board, detector, episode, .. } = self;
        let mut lost = 0;
        detector.on_timeout(&at, board, |number, _| {
            lost += 1;
            episode.suspect(number);
        });
        self.phase = Phase::AfterTimeout;
        self.until = self.board.next();
        self.urgent = true;
        self.probe.reset();
        lost
    }

    #[inline(always)]
    fn rack(&mut self) -> Option<&mut Rack> {
        Some(self)
    }

    fn on_deadline(&mut self, now: Time, new_data: bool) -> AckOutcome {
        let mut outcome = AckOutcome::default();
        if self.detector.deadline() <= now {
            self.detect(now, &mut outcome);
        }
        if self.probe.deadline() <= now {
            // Section 7.3: a probe leaves whatever the window, and the retransmission timer starts anew.
            self.urgent = true;
            self.repeats_last = !new_data;
            self.probe.sent(self.board.next() + u64::from(new_data), !new_data);
            outcome.rearm = true;
        }
        outcome
    }

    #[inline]
    fn urgent(&self) -> bool {
        self.urgent
    }

    #[inline]
    fn room(&self, window: u64) -> u64 {
        match &self.phase {
            Phase::Recovery(reduction) => reduction.allowance(),
            _ => window.saturating_sub(self.in_flight()),
        }
    }

    #[inline]
    fn waiting(&self) -> bool {
        self.repeats_last || self.board.waiting() && !self.prefers_new()
    }

    #[inline]
    fn resend(&mut self, now: Time) -> Option<u64> {
        let number = if std::mem::take(&mut self.repeats_last) {
            self.board.resend_last(now)?
        } else if self.waiting() {
            self.board.resend(now)?
        } else {
            return None;
        };
        self.count_sent(1);
        self.probe.touch();
        Some(number)
    }

    #[inline]
    fn send(&mut self, now: Time, count: u64) -> u64 {
        self.count_sent(count);
        self.probe.touch();
        self.board.send(now, count)
    }

    fn next_waiting(&self, number: u64) -> Option<u64> {
        self.board.next_waiting(number)
    }
}

#[cfg(test)]
mod tests;
