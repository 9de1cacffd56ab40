//! The sending end: it owns the facts (clock, packets in flight, losses, round-trip time) and asks its algorithm for a window.

use cwnd::{
    Ack as AckSignal, Algorithm, Bytes, Congestion, CongestionControl, Control, Limit, Pacing, Packets, Probe, Remote,
    Rtt, Span, Time, View,
};

use super::proportional::ProportionalReduction;
use super::scoreboard::{News, Scoreboard};
use super::timer::RetransmissionTimer;
use crate::era::{Era, Recovery};
use crate::limits::Limits;
use crate::net::packet::{Ack, Data};

/// A sender of bulk data.
#[derive(Clone, Debug)]
pub(crate) struct Sender {
    algorithm: Algorithm,
    control: Control,
    board: Scoreboard,
    phase: Phase,
    timer: RetransmissionTimer,
    rtt: Option<Rtt>,
    limits: Limits,
    counts: Counts,
    /// The timer expires then; none while nothing is outstanding.
    deadline: Option<Time>,
    /// The timer expired and nothing has been acknowledged since.
    expired: bool,
    /// Pacing lets the next packet go from here on.
    release: Time,
    /// Only pacing held the last packet asked for.
    spaced: bool,
    /// The first retransmission of a recovery leaves whatever the window says (RFC 6675 section 5, step 4.3).
    urgent: bool,
    /// The next new packet tells the receiver that a mark was acted upon.
    confirm_mark: bool,
    /// A round trip ends when this packet is acknowledged.
    round_end: u64,
    round: u64,
    stop: Time,
    max_window: f64,
    packet: Bytes,
    payload: Bytes,
    limited_transmit: bool,
    recovery: Recovery,
    paced: bool,
}

/// What a sender counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) sent: u64,
    pub(crate) retransmitted: u64,
    pub(crate) delivered: u64,
    pub(crate) lost: u64,
    pub(crate) timeouts: u64,
}

/// What a sender is made of.
pub(crate) struct Config {
    pub(crate) algorithm: Algorithm,
    pub(crate) era: Era,
    pub(crate) stop: Time,
    pub(crate) max_window: f64,
    pub(crate) packet: Bytes,
    pub(crate) payload: Bytes,
    pub(crate) paced: bool,
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
    pub(crate) fn new(config: Config, now: Time) -> Self {
        let control = config.algorithm.control();
        Self {
            algorithm: config.algorithm,
            control,
            board: Scoreboard::default(),
            phase: Phase::Open,
            timer: RetransmissionTimer::new(&config.era),
            rtt: None,
            limits: Limits::new(now),
            counts: Counts::default(),
            deadline: None,
            expired: false,
            release: now,
            spaced: false,
            urgent: false,
            confirm_mark: false,
            round_end: 0,
            round: 0,
            stop: config.stop,
            max_window: config.max_window,
            packet: config.packet,
            payload: config.payload,
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
            self.measure(now.since(ack.echo));
            self.counts.delivered += news.newly;
        }
        if news.advanced {
            self.expired = false;
            self.deadline = Some(now + self.timer.timeout());
            if self.board.acked() > self.round_end {
                self.round += 1;
                self.round_end = self.board.next();
            }
        }
        if news.lost > 0 {
            self.on_loss(now, in_flight, &news);
        }
        if ack.marked {
            let event = Congestion::mark(self.board.acked().saturating_sub(1));
            let window = self.control.window;
            self.algorithm.on_congestion(&self.view(now, in_flight), &event);
            self.confirm_mark |= self.algorithm.control().window < window;
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
        self.counts.timeouts += 1;
        self.counts.lost += self.board.lose_all();
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
        self.spaced = false;
        if !self.urgent {
            if !self.room() {
                self.limits.set(now, Limit::Window);
                return None;
            }
            if now < self.release {
                self.spaced = true;
                self.limits.set(now, self.pacing_limit());
                return None;
            }
        }
        let waiting = self.board.resend();
        let retransmission = waiting.is_some();
        let number = match waiting {
            Some(number) => number,
            None if now >= self.stop => {
                self.limits.set(now, Limit::Source);
                return None;
            }
            None if self.board.outstanding() as f64 + 1.0 > self.max_window => {
                self.limits.set(now, Limit::Peer);
                return None;
            }
            None => self.board.send(),
        };
        self.urgent = false;
        if let Phase::Recovery { reduction: Some(reduction), .. } = &mut self.phase {
            reduction.sent();
        }
        self.counts.sent += 1;
        self.counts.retransmitted += u64::from(retransmission);
        if self.deadline.is_none() {
            self.deadline = Some(now + self.timer.timeout());
        }
        let pair = self.pace(now, number, retransmission);
        let reacted = !retransmission && std::mem::take(&mut self.confirm_mark);
        Some(Data { number, sent_at: now, retransmission, reacted, pair })
    }

    /// When it wants to be asked again without an acknowledgement: pacing, or the algorithm's wake-up.
    pub(crate) fn next_release(&self) -> Time {
        let release = if self.spaced { self.release } else { Time::MAX };
        release.min(self.control.wake.unwrap_or(Time::MAX))
    }

    /// When the retransmission timer expires.
    pub(crate) fn next_deadline(&self) -> Time {
        self.deadline.unwrap_or(Time::MAX)
    }

    /// What it counted.
    pub(crate) fn counts(&self) -> Counts {
        self.counts
    }

    /// What held it back so far.
    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }

    /// The algorithm inside.
    pub(crate) fn algorithm(&self) -> &Algorithm {
        &self.algorithm
    }

    /// What the algorithm asks for now.
    pub(crate) fn control(&self) -> &Control {
        &self.control
    }

    /// The round-trip time, once known.
    pub(crate) fn rtt(&self) -> Option<Rtt> {
        self.rtt
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
        let gain = match self.control.pacing {
            Pacing::At(rate) => return Some(rate.interval()),
            Pacing::Spread { gain } => gain,
            Pacing::Off if self.paced => 1.0,
            Pacing::Off => return None,
        };
        self.rtt.map(|rtt| rtt.smoothed.mul_f64(1.0 / (gain * self.control.window.0)))
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
        View {
            now,
            next: self.board.next(),
            in_flight,
            in_recovery: matches!(self.phase, Phase::Recovery { .. }),
            delivered: self.counts.delivered,
            lost: self.counts.lost,
            rtt: self.rtt,
            round: self.round,
            limit: self.limits.current(),
            peer_window: Packets(self.max_window),
            packet: self.packet,
            payload: self.payload,
        }
    }

    fn on_loss(&mut self, now: Time, in_flight: u64, news: &News) {
        self.counts.lost += news.lost;
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

    /// RFC 6298 section 2, at full resolution for the algorithm and in ticks for the timer.
    #[inline]
    fn measure(&mut self, latest: Span) {
        self.timer.sample(latest);
        self.rtt = Some(match self.rtt {
            None => Rtt { latest, smoothed: latest, variation: latest / 2, min: latest, ack_delay: Span::ZERO },
            Some(rtt) => Rtt {
                latest,
                smoothed: (rtt.smoothed * 7 + latest) / 8,
                variation: (rtt.variation * 3 + rtt.smoothed.abs_diff(latest)) / 4,
                min: rtt.min.min(latest),
                ack_delay: Span::ZERO,
            },
        });
    }

    /// Moves the release on by one packet; whether the packet is the second of a probe pair.
    #[inline]
    fn pace(&mut self, now: Time, number: u64, retransmission: bool) -> bool {
        let (opens, closes) = match self.control.probe {
            Probe::PairEvery(n) if !retransmission => {
                let place = number % u64::from(n.max(2));
                (place == 0, place == 1)
            }
            _ => (false, false),
        };
        if let Some(spacing) = self.spacing() {
            // The first of a pair leaves its successor's turn where its own was; the successor pays for both.
            let turns = if opens { 0 } else { 1 + u64::from(closes) };
            self.release = self.release.max(now) + spacing * turns;
        }
        closes
    }

    /// Spreading a window over a round trip is not a limit of its own.
    fn pacing_limit(&self) -> Limit {
        if matches!(self.control.pacing, Pacing::At(_)) { Limit::Rate } else { Limit::Window }
    }
}
