//! The sending end: packets leave at the algorithm's rate while fewer than its window are unacknowledged, lost ones first.

use cwnd::{Ack, Algorithm, Congestion, CongestionControl, Control, Limit, Packets, Remote, Rtt, Span, Time, View};

use super::SYN;
use crate::endpoint::SenderConfig;
use crate::facts::{Facts, Pacer};
use crate::net::packet::{Data, Report};
use crate::ranges::Ranges;
use crate::traffic::source::Backlog;

/// A sender of what an application hands over.
#[derive(Debug)]
pub(crate) struct Sender {
    algorithm: Algorithm,
    control: Control,
    facts: Facts,
    acked: u64,
    next: u64,
    /// Lost packets that wait to be sent again, and how many they are.
    again: Ranges,
    waiting: u64,
    /// Recovery lasts until all below has arrived.
    recover: u64,
    pacer: Pacer,
    /// When the receiver counts as silent, while anything is outstanding, and how often it has been silent in a row.
    deadline: Option<Time>,
    silences: u32,
    backlog: Backlog,
    paced: bool,
}

impl Sender {
    /// A sender that starts at `now`.
    pub(crate) fn new(config: SenderConfig, now: Time) -> Self {
        let control = config.algorithm.control();
        Self {
            algorithm: config.algorithm,
            control,
            facts: Facts::new(now, config.max_window, config.packet, config.payload),
            acked: 0,
            next: 0,
            again: Ranges::default(),
            waiting: 0,
            recover: 0,
            pacer: Pacer::new(now),
            deadline: None,
            silences: 0,
            backlog: config.backlog,
            paced: config.paced,
        }
    }

    /// Takes in a report.
    pub(crate) fn on_report(&mut self, now: Time, report: &Report) {
        self.facts.rtt.on_sample(now.since(report.echo), Span::ZERO);
        self.heard(now);
        let cumulative = report.cumulative.min(self.next);
        if cumulative <= self.acked {
            return;
        }
        let view = self.view(now);
        let newly = cumulative - self.acked;
        self.waiting -= self.again.count_in(self.acked, cumulative);
        self.again.remove_below(cumulative);
        self.acked = cumulative;
        self.facts.counts.delivered += newly;
        self.facts.advance_round(self.acked, self.next);
        let ack = Ack {
            acks: 1,
            newly: u32::try_from(newly).unwrap_or(u32::MAX),
            marked: 0,
            sent_at: report.echo,
            sample: None,
            remote: Remote {
                arrival_rate: Some(report.arrival_rate).filter(|rate| rate.0 > 0.0),
                capacity: Some(report.capacity).filter(|rate| rate.0 > 0.0),
                window: Some(report.window).filter(|window| window.0 > 0.0),
                ..Remote::default()
            },
        };
        self.algorithm.on_ack(&View { rtt: self.facts.rtt.get(), ..view }, &ack);
        if view.in_recovery && self.acked >= self.recover {
            self.algorithm.on_recovered(&self.view(now));
        }
        self.control = self.algorithm.control();
        if self.acked == self.next {
            self.deadline = None;
            self.backlog.rest(now);
        }
    }

    /// The receiver misses packets `first..end`.
    pub(crate) fn on_missing(&mut self, now: Time, first: u64, end: u64) {
        self.heard(now);
        let (first, end) = (first.max(self.acked), end.min(self.next));
        if first >= end {
            return;
        }
        let lost = self.queue_again(first, end);
        let view = self.view(now);
        self.recover = self.next;
        self.algorithm.on_congestion(&view, &Congestion::loss(first, u32::try_from(lost).unwrap_or(u32::MAX)));
        self.control = self.algorithm.control();
    }

    /// The receiver may have fallen silent: everything outstanding is sent again.
    pub(crate) fn on_deadline(&mut self, now: Time) {
        if self.deadline.is_none_or(|deadline| now < deadline) {
            return;
        }
        let view = self.view(now);
        self.algorithm.on_congestion(&view, &Congestion::timeout(self.acked, self.silences > 0));
        self.control = self.algorithm.control();
        self.facts.counts.timeouts += 1;
        self.queue_again(self.acked, self.next);
        self.recover = self.next;
        self.silences += 1;
        self.deadline = Some(now + self.patience());
    }

    /// The time the algorithm asked to be woken at may have come.
    pub(crate) fn on_wake(&mut self, now: Time) {
        if self.control.wake.is_some_and(|wake| wake <= now) {
            self.algorithm.on_wake(&self.view(now));
            self.control = self.algorithm.control();
        }
    }

    /// The next packet to leave now, if one may.
    pub(crate) fn poll(&mut self, now: Time) -> Option<Data> {
        self.pacer.pass();
        let lost = self.again.front().map(|range| range.first);
        if lost.is_none() {
            let unacknowledged = self.next - self.acked;
            let limit = if !self.backlog.has(now, self.next) {
                Some(Limit::Source)
            } else if unacknowledged as f64 + 1.0 > self.facts.max_window {
                Some(Limit::Peer)
            } else {
                (unacknowledged >= self.control.window.whole().max(1)).then_some(Limit::Window)
            };
            if let Some(limit) = limit {
                self.facts.limits.set(now, limit);
                return None;
            }
        }
        if self.pacer.holds(now, self.control.pacing, &mut self.facts.limits) {
            return None;
        }
        let number = lost.unwrap_or(self.next);
        if lost.is_some() {
            self.again.remove_below(number + 1);
            self.waiting -= 1;
            self.facts.counts.retransmitted += 1;
        } else {
            self.restart(now);
            self.next += 1;
        }
        self.facts.counts.sent += 1;
        if self.deadline.is_none() {
            self.deadline = Some(now + self.patience());
        }
        let fresh = lost.is_none().then_some(number);
        let pair = self.pacer.sent(now, self.spacing(), self.control.probe, fresh);
        let rtt = self.facts.rtt.get().map_or(Span::ZERO, |rtt| rtt.smoothed);
        Some(Data { number, sent_at: now, retransmission: lost.is_some(), reacted: false, pair, rtt })
    }

    /// When it wants to be asked again without hearing from its receiver: pacing, the algorithm's wake-up, or new data.
    pub(crate) fn next_release(&self) -> Time {
        let release = self.pacer.next().min(self.control.wake.unwrap_or(Time::MAX));
        if self.facts.limits.current() == Limit::Source { release.min(self.backlog.due()) } else { release }
    }

    /// When the receiver counts as silent.
    pub(crate) fn next_deadline(&self) -> Time {
        self.deadline.unwrap_or(Time::MAX)
    }

    /// All packets below have been acknowledged.
    pub(crate) fn acked(&self) -> u64 {
        self.acked
    }

    /// What it knows.
    pub(crate) fn facts(&self) -> &Facts {
        &self.facts
    }

    /// Its algorithm.
    pub(crate) fn algorithm(&self) -> &Algorithm {
        &self.algorithm
    }

    /// The window its algorithm asks for.
    pub(crate) fn window(&self) -> Packets {
        self.control.window
    }

    /// Packets it counts as in the network: unacknowledged, and not known to be lost.
    pub(crate) fn in_flight(&self) -> u64 {
        self.next - self.acked - self.waiting
    }

    /// The time between two packets, while departures are spaced.
    pub(crate) fn spacing(&self) -> Option<Span> {
        self.facts.spacing(self.control.window, self.control.pacing, self.paced)
    }

    /// A new packet is about to leave, maybe after a time without any in the network.
    fn restart(&mut self, now: Time) {
        if self.acked == self.next
            && let Some(idle) = self.backlog.resume(now)
        {
            self.algorithm.on_restart(&self.view(now), idle);
            self.control = self.algorithm.control();
        }
    }

    fn view(&self, now: Time) -> View {
        self.facts.view(now, self.next, self.in_flight(), self.acked < self.recover)
    }

    /// Marks `first..end` as lost; how many were not already.
    fn queue_again(&mut self, first: u64, end: u64) -> u64 {
        let mut added = 0;
        self.again.insert(first, end, |first, end| added += end - first);
        self.waiting += added;
        self.facts.counts.lost += added;
        added
    }

    fn heard(&mut self, now: Time) {
        self.silences = 0;
        if self.deadline.is_some() {
            self.deadline = Some(now + self.patience());
        }
    }

    /// libudt's EXP interval: longer with every silence.
    fn patience(&self) -> Span {
        let rtt = self.facts.rtt.get().map_or(SYN * 30, |Rtt { smoothed, variation, .. }| smoothed + variation * 4);
        let times = u64::from(self.silences.min(MAX_SILENCES)) + 1;
        (rtt * times + SYN).max(MIN_PATIENCE * times)
    }
}

/// libudt: a receiver silent for less than this is never taken for gone.
const MIN_PATIENCE: Span = Span::from_millis(300);
/// libudt gives up after this many; a simulated sender keeps trying at that pace.
const MAX_SILENCES: u32 = 16;
