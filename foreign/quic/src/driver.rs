//! An algorithm with what its contract wants, made from what QUIC stacks report.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use cwnd::estimate::{DeliveryRate, Departure};
use cwnd::host::{Facts, Moment};
use cwnd::{
    Ack, Algorithm, Bytes, Congestion, CongestionControl, Control, Limit, Pacing, Packets, Span, Spec, Start, Time,
    View,
};

/// An algorithm on one path.
#[derive(Clone, Debug)]
pub(crate) struct Driver {
    algorithm: Exclusive,
    control: Control,
    facts: Facts,
    epoch: Instant,
    /// The time of the last signal.
    now: Time,
    mtu: u16,
    /// Bytes that the stack counts as in flight, and before the acknowledgement under way.
    in_flight: u64,
    before: u64,
    /// The number of the next packet.
    next: u64,
    /// Packets sent and neither acknowledged nor lost, by number; old ones are forgotten.
    sent: VecDeque<(u64, Departure)>,
    rate: DeliveryRate,
    /// The acknowledgement in progress: its packets, and when the newest of them left.
    newly: u32,
    newest: Option<Time>,
    /// Fast recovery ends when this packet is acknowledged.
    recovery: Option<u64>,
    /// Since when nothing is in flight.
    idle_since: Option<Time>,
}

/// An algorithm that only whoever may change it looks at: stacks share their controllers between threads.
#[derive(Debug)]
struct Exclusive(Mutex<Algorithm>);

impl Exclusive {
    fn get(&mut self) -> &mut Algorithm {
        self.0.get_mut().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Clone for Exclusive {
    fn clone(&self) -> Self {
        Self(Mutex::new(self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()))
    }
}

impl Driver {
    /// `spec` on a path of datagrams of `mtu` bytes, which starts now.
    pub(crate) fn new(spec: &Spec, seed: u64, now: Instant, mtu: u16) -> Self {
        let (packet, payload) = (Bytes(u32::from(mtu) + HEADERS), Bytes(u32::from(mtu) - OVERHEAD));
        let algorithm = spec.start(&Start::default().with_packet(packet, payload).with_seed(seed));
        Self {
            control: algorithm.control(),
            algorithm: Exclusive(Mutex::new(algorithm)),
            facts: Facts::new(Time::ZERO, u64::MAX, packet, payload),
            epoch: now,
            now: Time::ZERO,
            mtu,
            in_flight: 0,
            before: 0,
            next: 0,
            sent: VecDeque::new(),
            rate: DeliveryRate::new(),
            newly: 0,
            newest: None,
            recovery: None,
            idle_since: None,
        }
    }

    /// A packet leaves.
    pub(crate) fn on_sent(&mut self, now: Instant, bytes: u64, number: u64) {
        let now = self.time(now);
        self.wake(now);
        if self.in_flight == 0
            && let Some(since) = self.idle_since.take()
        {
            let view = self.view(now, 0);
            self.algorithm.get().on_restart(&view, now.since(since));
        }
        let departure = self.rate.on_send(now, self.packets(self.in_flight));
        self.sent.push_back((number, departure));
        if self.sent.len() > MOST_SENT {
            self.sent.pop_front();
        }
        self.facts.counts.sent += 1;
        self.next = self.next.max(number + 1);
        self.in_flight += bytes;
        self.control = self.algorithm.get().control();
    }

    /// A packet is acknowledged; `number` is none where the stack does not report it. [`Self::on_end_acks`] follows.
    pub(crate) fn on_ack(&mut self, now: Instant, sent: Instant, number: Option<u64>) {
        let (now, sent) = (self.time(now), self.time(sent));
        if self.newly == 0 {
            self.before = self.in_flight;
        }
        self.newly += 1;
        self.newest = self.newest.max(Some(sent));
        self.facts.counts.delivered += 1;
        match number {
            Some(number) => {
                if let Some(departure) = self.take(number) {
                    self.rate.on_delivered(now, &departure);
                }
            }
            // Packets found lost left before the newest packet acknowledged, by two round trips at most.
            None => {
                let kept = self.facts.rtt.get().map_or(Span::MAX, |rtt| rtt.smoothed.mul_f64(2.0));
                while self.sent.front().is_some_and(|(_, departure)| sent.since(departure.sent_at) > kept) {
                    self.sent.pop_front();
                }
            }
        }
    }

    /// All of the acknowledgement has been reported; `largest` is the newest packet acknowledged.
    pub(crate) fn on_end_acks(&mut self, now: Instant, in_flight: u64, app_limited: bool, largest: Option<u64>) {
        let now = self.time(now);
        let Some(sent_at) = self.newest.take() else { return };
        self.facts.rtt.on_sample(now.since(sent_at), Span::ZERO);
        self.facts.advance_round(largest.map_or(0, |largest| largest + 1), self.next);
        self.facts.limits.set(now, if app_limited { Limit::Source } else { Limit::Window });
        if app_limited {
            self.rate.on_limited(self.packets(in_flight));
        }
        self.wake(now);
        let min = self.facts.rtt.get().map(|rtt| rtt.min);
        let sample = if self.algorithm.get().wants_samples() { self.rate.sample(min) } else { None };
        let newly = std::mem::take(&mut self.newly);
        let view = self.view(now, self.packets(self.before));
        self.algorithm.get().on_ack(&view, &Ack::new(newly, sent_at).with_sample(sample));
        self.in_flight = in_flight;
        if self.recovery.is_some_and(|end| largest.is_some_and(|largest| largest >= end)) {
            self.recovery = None;
            let view = self.view(now, self.packets(in_flight));
            self.algorithm.get().on_recovered(&view);
        }
        self.idle_since = if in_flight == 0 { Some(now) } else { None };
        self.control = self.algorithm.get().control();
    }

    /// The packets `numbers` are lost, in ascending order.
    pub(crate) fn on_lost(&mut self, now: Instant, numbers: &[u64], persistent: bool) {
        if !self.algorithm.get().wants_samples() {
            let lost = u32::try_from(numbers.len()).unwrap_or(u32::MAX);
            return self.on_congestion(now, numbers.first().copied().unwrap_or(0), lost, persistent);
        }
        let at = self.time(now);
        self.wake(at);
        for number in numbers {
            self.facts.counts.lost += 1;
            let sample = self.take(*number).map(|departure| self.rate.on_lost(&departure));
            self.signal(at, &Congestion::loss(*number, 1).with_sample(sample));
        }
        if persistent && let Some(last) = numbers.last() {
            self.signal(at, &Congestion::timeout(*last, false));
        }
    }

    /// `lost` packets are lost, or packets marked where that is 0; `first` is one of them.
    pub(crate) fn on_congestion(&mut self, now: Instant, first: u64, lost: u32, persistent: bool) {
        let now = self.time(now);
        self.wake(now);
        self.facts.counts.lost += u64::from(lost);
        let mut event = match (lost, persistent) {
            (_, true) => Congestion::timeout(first, false),
            (0, false) => Congestion::mark(first),
            (_, false) => Congestion::loss(first, lost),
        };
        event.lost = lost;
        self.signal(now, &event);
    }

    /// Packets that counted as lost had been delayed.
    pub(crate) fn on_spurious(&mut self) {
        let view = self.view(self.now, self.packets(self.in_flight));
        self.algorithm.get().on_spurious(&view);
        self.control = self.algorithm.get().control();
    }

    /// The number of the newest packet that left by `sent`: for stacks that report times.
    pub(crate) fn number_at(&self, sent: Instant) -> u64 {
        let sent = self.time(sent);
        let newest = self.sent.iter().rev().find(|(_, departure)| departure.sent_at <= sent);
        newest.map_or(0, |(number, _)| *number)
    }

    /// Datagrams have `mtu` bytes from now on.
    pub(crate) fn set_mtu(&mut self, mtu: u16) {
        self.mtu = mtu;
    }

    /// The window, bytes.
    pub(crate) fn window(&self) -> u64 {
        Packets(self.control.window.0.clamp(1.0, MOST_PACKETS)).whole() * u64::from(self.mtu)
    }

    /// The rate at which packets are to leave, bytes per second; none where the stack is to spread its window as it does by itself.
    pub(crate) fn pacing_rate(&self) -> Option<u64> {
        let rate = match self.control.pacing {
            Pacing::At(rate) => rate.0,
            Pacing::Spread { gain } => gain * self.control.window.0 / self.facts.rtt.get()?.smoothed.as_secs_f64(),
            Pacing::Off => return None,
        };
        Some((rate * f64::from(self.mtu)).max(1.0) as u64)
    }

    /// The largest burst, bytes.
    pub(crate) fn quantum(&self) -> Option<u64> {
        self.control.quantum.map(|bytes| u64::from(bytes.0))
    }

    fn signal(&mut self, now: Time, event: &Congestion) {
        let view = self.view(now, self.packets(self.in_flight));
        self.algorithm.get().on_congestion(&view, event);
        self.recovery.get_or_insert(self.next);
        self.control = self.algorithm.get().control();
    }

    /// Forgets a packet that has been acknowledged or lost.
    fn take(&mut self, number: u64) -> Option<Departure> {
        let place = self.sent.binary_search_by_key(&number, |(number, _)| *number).ok()?;
        self.sent.remove(place).map(|(_, departure)| departure)
    }

    fn wake(&mut self, now: Time) {
        self.now = now;
        if self.control.wake.is_some_and(|wake| wake <= now) {
            let view = self.view(now, self.packets(self.in_flight));
            self.algorithm.get().on_wake(&view);
            self.control = self.algorithm.get().control();
        }
    }

    fn view(&self, now: Time, in_flight: u64) -> View {
        self.facts.view(&Moment::new(now, self.next, in_flight).with_recovery(self.recovery.is_some()))
    }

    fn packets(&self, bytes: u64) -> u64 {
        bytes.div_ceil(u64::from(self.mtu))
    }

    fn time(&self, instant: Instant) -> Time {
        let since = instant.saturating_duration_since(self.epoch).as_nanos();
        Time::from_nanos(u64::try_from(since).unwrap_or(u64::MAX))
    }
}

/// IPv4 and UDP, bytes.
const HEADERS: u32 = 28;
/// The overhead of QUIC in a datagram with stream data: header, packet number, frame and tag, bytes.
const OVERHEAD: u32 = 38;
/// A window that nothing on a path comes near, packets.
const MOST_PACKETS: f64 = 1e6;
/// Packets whose departure is kept: what a stack never reports again would be kept for ever.
const MOST_SENT: usize = 1 << 20;
