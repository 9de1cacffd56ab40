//! The sending end: it owns the facts (clock, packets in flight, losses, round-trip time) and asks its algorithm for a window.

use cwnd::{Ack as AckSignal, Algorithm, Congestion, CongestionControl, Control, Limit, Remote, Span, Time, View};

use super::proportional::ProportionalReduction;
use super::scoreboard::{News, Scoreboard};
use super::timer::RetransmissionTimer;
use crate::endpoint::SenderConfig;
use crate::era::Recovery;
use crate::facts::{Facts, Pacer};
use crate::net::packet::{Ack, Data};

/// A sender of bulk data.
#[derive(Clone, Debug)]
pub(crate) struct Sender {
    algorithm: Algorithm,
    control: Control,
    facts: Facts,
    board: Scoreboard,
    phase: Phase,
    timer: RetransmissionTimer,
    pacer: Pacer,
    /// The timer expires then; none while nothing is outstanding.
    deadline: Option<Time>,
    /// The timer expired and nothing has been acknowledged since.
    expired: bool,
    /// The first retransmission of a recovery leaves whatever the window says (RFC 6675 section 5, step 4.3).
    urgent: bool,
    /// The next new packet tells the receiver that a mark was acted upon.
    confirm_mark: bool,
    /// The next new packet when that was last decided.
    confirm_from: u64,
    stop: Time,
    limited_transmit: bool,
    recovery: Recovery,
    paced: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Open,
    /// Until everything sent before the loss was found has arrived.
    Recovery {
        until: u64,
        reduction: Option<ProportionalReduction>,
    },
    /// The same, after the timer expired; slow start goes on meanwhile.
    AfterTimeout {
        until: u64,
    },
}

impl Sender {
    /// A sender that starts at `now`.
    pub(crate) fn new(config: SenderConfig, now: Time) -> Self {
        let control = config.algorithm.control();
        Self {
            algorithm: config.algorithm,
            control,
            facts: Facts::new(now, config.max_window, config.packet, config.payload),
            board: Scoreboard::default(),
            phase: Phase::Open,
            timer: RetransmissionTimer::new(&config.era),
            pacer: Pacer::new(now),
            deadline: None,
            expired: false,
            urgent: false,
            confirm_mark: false,
            confirm_from: 0,
            stop: config.stop,
            limited_transmit: config.era.limited_transmit,
            recovery: config.era.recovery,
            paced: config.paced,
        }
    }

    /// Takes in an acknowledgement.
    #[inline]
    pub(crate) fn on_ack(&mut self, now: Time, ack: &Ack) {
        let in_flight = self.in_flight();
        let news = self.board.on_ack(ack);
        if news.newly > 0 {
            let sample = now.since(ack.echo);
            self.timer.sample(sample);
            self.facts.rtt.on_sample(sample, Span::ZERO);
            self.facts.counts.delivered += news.newly;
        }
        if news.advanced {
            self.expired = false;
            self.deadline = Some(now + self.timer.timeout());
            self.facts.advance_round(self.board.acked(), self.board.next());
        }
        if news.lost > 0 {
            self.on_loss(now, in_flight, &news);
        }
        if ack.marked {
            let event = Congestion::mark(self.board.acked().saturating_sub(1));
            self.algorithm.on_congestion(&self.view(now, in_flight), &event);
            // Once per window, whether the algorithm cut for this mark or for a loss just before: without it the receiver would
            // echo for ever, and no window grows on an echo.
            if self.board.acked() >= self.confirm_from {
                self.confirm_mark = true;
                self.confirm_from = self.board.next();
            }
        }
        if news.newly > 0 {
            let signal = AckSignal {
                acks: 1,
                newly: u32::try_from(news.newly).unwrap_or(u32::MAX),
                marked: u32::from(ack.marked),
                sent_at: ack.echo,
                sample: None,
                remote: Remote::default(),
            };
            self.algorithm.on_ack(&self.view(now, in_flight), &signal);
        }
        self.leave_phase(now);
        self.control = self.algorithm.control();
        if let Phase::Recovery { reduction: Some(reduction), .. } = &mut self.phase {
            let safe = news.advanced && news.lost == 0;
            reduction.on_ack(news.newly, self.board.in_flight(), self.control.window.whole(), safe);
        }
        if self.board.outstanding() == 0 {
            self.deadline = None;
        }
    }

    /// The timer may have expired.
    pub(crate) fn on_deadline(&mut self, now: Time) {
        if self.deadline.is_none_or(|deadline| now < deadline) {
            return;
        }
        let view = self.view(now, self.in_flight());
        self.algorithm.on_congestion(&view, &Congestion::timeout(self.board.acked(), self.expired));
        self.control = self.algorithm.control();
        self.facts.counts.timeouts += 1;
        self.facts.counts.lost += self.board.lose_all();
        self.phase = Phase::AfterTimeout { until: self.board.next() };
        self.expired = true;
        self.urgent = true;
        self.timer.back_off();
        self.deadline = Some(now + self.timer.timeout());
    }

    /// The time the algorithm asked to be woken at may have come.
    pub(crate) fn on_wake(&mut self, now: Time) {
        if self.control.wake.is_some_and(|wake| wake <= now) {
            self.algorithm.on_wake(&self.view(now, self.in_flight()));
            self.control = self.algorithm.control();
        }
    }

    /// The next packet to leave now, if one may.
    #[inline]
    pub(crate) fn poll(&mut self, now: Time) -> Option<Data> {
        self.pacer.pass();
        if !self.urgent {
            if !self.room() {
                self.facts.limits.set(now, Limit::Window);
                return None;
            }
            if self.pacer.holds(now, &self.control, &mut self.facts.limits) {
                return None;
            }
        }
        let waiting = self.board.resend();
        let retransmission = waiting.is_some();
        let number = match waiting {
            Some(number) => number,
            None if now >= self.stop => {
                self.facts.limits.set(now, Limit::Source);
                return None;
            }
            None if self.board.outstanding() as f64 + 1.0 > self.facts.max_window => {
                self.facts.limits.set(now, Limit::Peer);
                return None;
            }
            None => self.board.send(),
        };
        self.urgent = false;
        if let Phase::Recovery { reduction: Some(reduction), .. } = &mut self.phase {
            reduction.sent();
        }
        self.facts.counts.sent += 1;
        self.facts.counts.retransmitted += u64::from(retransmission);
        if self.deadline.is_none() {
            self.deadline = Some(now + self.timer.timeout());
        }
        let fresh = (!retransmission).then_some(number);
        let pair = self.pacer.sent(now, self.spacing(), self.control.probe, fresh);
        let reacted = !retransmission && std::mem::take(&mut self.confirm_mark);
        Some(Data { number, sent_at: now, retransmission, reacted, pair, rtt: Span::ZERO })
    }

    /// When it wants to be asked again without an acknowledgement: pacing, or the algorithm's wake-up.
    pub(crate) fn next_release(&self) -> Time {
        self.pacer.next().min(self.control.wake.unwrap_or(Time::MAX))
    }

    /// When the retransmission timer expires.
    pub(crate) fn next_deadline(&self) -> Time {
        self.deadline.unwrap_or(Time::MAX)
    }

    /// What it knows.
    pub(crate) fn facts(&self) -> &Facts {
        &self.facts
    }

    /// The algorithm inside.
    pub(crate) fn algorithm(&self) -> &Algorithm {
        &self.algorithm
    }

    /// What the algorithm asks for now.
    pub(crate) fn control(&self) -> &Control {
        &self.control
    }

    /// Packets it counts as in the network.
    #[inline]
    pub(crate) fn in_flight(&self) -> u64 {
        match (self.phase, self.recovery) {
            // Without limited transmit the first duplicate acknowledgements release nothing: what they stand for still counts.
            (Phase::Open, _) if !self.limited_transmit => self.board.outstanding(),
            (Phase::Recovery { .. }, Recovery::Sack1) => self.board.sack1_pipe(),
            _ => self.board.in_flight(),
        }
    }

    /// The time between two packets, while departures are spaced.
    pub(crate) fn spacing(&self) -> Option<Span> {
        self.facts.spacing(&self.control, self.paced)
    }

    /// Whether the window, or the rule of the recovery, has room for a packet.
    #[inline]
    fn room(&self) -> bool {
        match &self.phase {
            Phase::Recovery { reduction: Some(reduction), .. } => reduction.allows(),
            _ => self.in_flight() < self.control.window.whole().max(1),
        }
    }

    #[inline]
    fn view(&self, now: Time, in_flight: u64) -> View {
        self.facts.view(now, self.board.next(), in_flight, matches!(self.phase, Phase::Recovery { .. }))
    }

    fn on_loss(&mut self, now: Time, in_flight: u64, news: &News) {
        self.facts.counts.lost += news.lost;
        let event = Congestion::loss(news.first_lost, u32::try_from(news.lost).unwrap_or(u32::MAX));
        self.algorithm.on_congestion(&self.view(now, in_flight), &event);
        // After a time-out, losses among what was sent before it belong to that time-out.
        let enters = match self.phase {
            Phase::Open => true,
            Phase::Recovery { .. } => false,
            Phase::AfterTimeout { until } => news.first_lost >= until,
        };
        if enters {
            let proportional = self.recovery == Recovery::Proportional;
            let reduction = proportional.then(|| ProportionalReduction::new(self.board.missing() + news.newly));
            self.phase = Phase::Recovery { until: self.board.next(), reduction };
            self.urgent = true;
            self.deadline = Some(now + self.timer.timeout());
        }
    }

    fn leave_phase(&mut self, now: Time) {
        match self.phase {
            Phase::Recovery { until, .. } if self.board.acked() >= until => {
                self.phase = Phase::Open;
                self.algorithm.on_recovered(&self.view(now, self.in_flight()));
            }
            Phase::AfterTimeout { until } if self.board.acked() >= until => self.phase = Phase::Open,
            _ => {}
        }
    }
}
