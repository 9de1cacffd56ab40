//! The sending end of an agent.

use std::collections::BTreeSet;

use cwnd::host::Facts;
use cwnd::rate::udt::{self, Agent, Counts, Nak, Report};
use cwnd::signal::Limit;
use cwnd::{CongestionControl, Packets, Span, Time};
use cwnd_udt::Message;

use super::{Lists, after_syn, seconds, smoothed};
use crate::agent;
use crate::net::packet::{Body, Data};
use crate::protocol::{SenderProtocol, SenderState, Timers, collected};
use crate::setup::FlowSetup;
use crate::traffic::source::Backlog;

/// The end that sends data.
#[derive(Debug)]
pub(crate) struct Sender {
    pub(super) rule: Agent,
    facts: Facts,
    backlog: Backlog,
    lists: Lists,
    next: u64,
    /// All packets below are acknowledged.
    acked: u64,
    /// To be sent again, the lowest first.
    lost: BTreeSet<u64>,
    /// Reported missing and not acknowledged, and the highest of them; kept where the window is held against packets in flight.
    reported: BTreeSet<u64>,
    highest: Option<u64>,
    /// Packets that the receiver lets be unacknowledged. The agents know no such limit; flows of every kind may be given one.
    peer_window: f64,
    /// Seconds.
    pub(super) rtt: f64,
    /// When the sending timer is due; [`Time::MAX`] where it waits for an ACK or a NAK.
    send_at: Time,
    /// Nothing may leave: the timer goes on, but is not looked at until something changes.
    blocked: bool,
    syn_at: Time,
    timeout_at: Time,
    timeout: Span,
}

impl Sender {
    pub(super) fn new(setup: &FlowSetup, rule: Agent, (backlog, lists): (Backlog, Lists), now: Time) -> Self {
        let peer_window = setup.max_window.unwrap_or(f64::INFINITY);
        let first_rtt = rule.habits().constants.rtt();
        let (timeout_at, timeout) = match rule.habits().constants.timeouts() {
            Some((first, _)) => (now + seconds(first), seconds(first)),
            None => {
                let every = seconds(2.0 * first_rtt) + udt::SYN;
                (Time::ZERO + every * (now.as_nanos() / every.as_nanos() + 1), every)
            }
        };
        Self {
            rule,
            facts: Facts::new(now, Packets(peer_window).whole(), setup.packet, setup.payload),
            backlog,
            lists,
            next: 0,
            acked: 0,
            lost: BTreeSet::new(),
            reported: BTreeSet::new(),
            highest: None,
            peer_window,
            rtt: first_rtt,
            send_at: now,
            blocked: false,
            syn_at: after_syn(now),
            timeout_at,
            timeout,
        }
    }

    /// Serves the sender as [`SenderProtocol::serve`] does, and appends departing packets to `sent`.
    #[inline(never)]
    fn send_to(&mut self, now: Time, body: Option<&Body>, sent: &mut Vec<Body>) -> Timers {
        // Timers are due before what arrives at the same instant.
        self.skip_ticks(now);
        self.expire(now, sent);
        match body {
            Some(Body::ToSender(Message::Ack(ack))) => {
                sent.push(Body::ToReceiver(Message::Ack2(ack.number)));
                let rates = ack.rates.map_or((0, 0), |rates| (rates.arrival, rates.capacity));
                self.on_ack(now, u64::from(ack.next.get()), f64::from(ack.rtt_us) / 1e6, rates);
            }
            Some(Body::Agent(agent::Message::Nak { list, first, count, repeated })) => {
                let nak = Nak { first: *first, count: u64::from(*count), repeated: *repeated, next: self.next };
                let numbers = self.lists.take(*list);
                self.on_nak(now, &nak, &numbers);
            }
            Some(Body::Agent(agent::Message::DelayWarning)) => self.rule.on_delay_warning(self.next),
            _ => {}
        }
        self.expire(now, sent);
        Timers { release: self.next_release(now), deadline: Time::MAX }
    }

    /// Lets the timers expire that are due.
    fn expire(&mut self, now: Time, sent: &mut Vec<Body>) {
        if self.syn_at <= now {
            self.rule.on_syn();
            self.syn_at = after_syn(now);
        }
        if self.timeout_at <= now {
            self.on_timeout(now);
        }
        while self.send_at <= now {
            self.send(now, sent);
        }
    }

    fn on_ack(&mut self, now: Time, acked: u64, rtt: f64, (arrivals, capacity): (u32, u32)) {
        if acked <= self.acked {
            return;
        }
        self.facts.counts.delivered += acked - self.acked;
        self.acked = acked;
        self.remove_acknowledged();
        self.rtt = smoothed(self.rtt, rtt);
        self.facts.rtt.on_sample(seconds(rtt), Span::ZERO);
        self.facts.advance_round(acked, self.next);
        let report = Report { acked, arrivals: f64::from(arrivals), capacity: f64::from(capacity) };
        let leaves = self.rule.on_report(&report, self.rtt);
        self.timeout_at = expiry(now, self.timeout);
        if leaves {
            self.send_at = now;
        }
        if self.acked == self.next {
            self.backlog.become_idle(now);
        }
    }

    /// Takes from the list of lost packets those up to the first that is not acknowledged.
    fn remove_acknowledged(&mut self) {
        let step = if self.rule.habits().skips_entries { 2 } else { 1 };
        let gone: Vec<u64> = self.lost.iter().step_by(step).take_while(|lost| **lost <= self.acked).copied().collect();
        for lost in gone {
            self.lost.remove(&lost);
        }
        self.reported = self.reported.split_off(&self.acked);
    }

    fn on_nak(&mut self, now: Time, nak: &Nak, numbers: &[u64]) {
        let Some(leaves) = self.rule.on_nak(nak, self.rtt) else { return };
        let lists = self.rule.habits().lists_numbers;
        // Of a range that begins below, the last packet alone is taken; the part of a list that does not arrive reads as zeros.
        let below = self.rule.habits().takes_last_of_old && numbers.first().is_some_and(|first| *first < self.acked);
        let accepted = if below { &numbers[numbers.len() - 1..] } else { numbers };
        let zero = (lists && nak.count > numbers.len() as u64).then_some(&0);
        let before = self.lost.len();
        self.lost.extend(accepted.iter().chain(zero).filter(|number| **number >= self.acked));
        self.facts.counts.lost += (self.lost.len() - before) as u64;
        if self.rule.habits().counts == Counts::InFlight {
            self.reported.extend(accepted.iter().filter(|number| **number >= self.acked));
            self.highest = self.highest.max(numbers.last().copied());
        }
        self.timeout_at = expiry(now, self.timeout);
        if leaves {
            self.send_at = now;
        }
    }

    /// No acknowledgement and no NAK came for `timeout`: everything unacknowledged counts as lost.
    fn on_timeout(&mut self, now: Time) {
        if self.next > self.acked {
            let before = self.lost.len();
            self.lost.extend(self.acked..self.next);
            self.facts.counts.lost += (self.lost.len() - before) as u64;
            self.facts.counts.timeouts += 1;
        }
        if let Some((_, later)) = self.rule.habits().constants.timeouts() {
            self.timeout = seconds(later);
            self.send_at = now;
        } else {
            self.timeout = seconds(2.0 * self.rtt) + udt::SYN;
        }
        self.timeout_at = expiry(now, self.timeout);
    }

    /// The sending timer is due.
    fn send(&mut self, now: Time, sent: &mut Vec<Body>) {
        let interval = seconds(self.rule.interval()).max(Span::from_nanos(1));
        let again = self.lost.pop_first();
        let number = match again {
            Some(number) => number,
            None if self.has_room() && self.backlog.has(now, self.next) => {
                if self.next == self.acked {
                    self.backlog.resume(now);
                }
                self.next += 1;
                self.next - 1
            }
            None => {
                let full = !self.has_room();
                let limit = match full {
                    true if self.counted() as f64 >= self.peer_window => Limit::Peer,
                    true => Limit::Window,
                    false => Limit::Source,
                };
                self.facts.limits.set(now, limit);
                if full && self.rule.habits().stops_when_full {
                    self.send_at = Time::MAX;
                } else {
                    self.blocked = true;
                    self.send_at = now + interval + self.pause();
                }
                return;
            }
        };
        self.blocked = false;
        self.facts.counts.sent += 1;
        self.facts.counts.retransmitted += u64::from(again.is_some());
        self.facts.limits.set(now, Limit::Rate);
        self.rule.on_sent();
        let pair = again.is_none() && number % PAIR_EVERY == 1;
        let data = Data { retransmission: again.is_some(), pair, ..Data::new(number, now) };
        sent.push(Body::Data(data));
        let first_of_pair = again.is_none() && number.is_multiple_of(PAIR_EVERY);
        self.send_at = if first_of_pair { now } else { now + interval + self.pause() };
    }

    fn pause(&mut self) -> Span {
        if self.rule.take_pause() { udt::SYN } else { Span::ZERO }
    }

    /// Whether the window (daimd section III) and the receiver let another new packet leave.
    fn has_room(&self) -> bool {
        let counted = self.counted() as f64;
        counted <= self.rule.window() && counted < self.peer_window
    }

    /// Packets that the window is held against.
    fn counted(&self) -> u64 {
        match self.rule.habits().counts {
            Counts::Unacknowledged => self.next - self.acked,
            Counts::InFlight => {
                // Whoever misses packets up to some number has the one after it, and all below that it does not miss.
                let known = self.highest.map_or(0, |highest| highest + 2).clamp(self.acked, self.next);
                let repaired = (self.reported.len() as u64).saturating_sub(self.lost.len() as u64);
                self.next - known + repaired
            }
        }
    }

    /// Moves the sending timer on to its first time not before `now`, where it was not looked at.
    fn skip_ticks(&mut self, now: Time) {
        if self.blocked && self.send_at < now {
            let interval = seconds(self.rule.interval()).max(Span::from_nanos(1));
            self.send_at += interval * now.since(self.send_at).as_nanos().div_ceil(interval.as_nanos());
        }
    }

    fn next_release(&mut self, now: Time) -> Time {
        let mut send_at = self.send_at;
        if self.blocked && self.lost.is_empty() && !self.rule.pauses() {
            if !self.has_room() {
                send_at = Time::MAX;
            } else if !self.backlog.has(now, self.next) {
                if self.next == self.acked {
                    // Idle: none of the timers has anything to do.
                    return self.backlog.due();
                }
                send_at = self.backlog.due();
            }
        }
        send_at.min(self.syn_at).min(self.timeout_at)
    }
}

impl SenderProtocol for Sender {
    #[inline(always)]
    fn serve(&mut self, now: Time, body: Option<&Body>, send: impl FnMut(Body) -> bool) -> Timers {
        collected(send, |sent| self.send_to(now, body, sent))
    }
}

impl SenderState for Sender {
    fn facts(&self) -> Option<&Facts> {
        Some(&self.facts)
    }

    fn inspect(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        self.rule.inspect(visit);
    }

    fn acked(&self) -> u64 {
        self.acked
    }

    fn window(&self) -> Packets {
        Packets(self.rule.window())
    }

    fn in_flight(&self) -> u64 {
        self.counted()
    }

    fn spacing(&self) -> Option<Span> {
        Some(seconds(self.rule.interval()))
    }
}

/// When a timer of `timeout` started at `now` expires. The early agents wait for 30 ms, and acknowledgements arrive in a raster
/// of 10 ms: which of both comes first at one instant is decided in ns-2 by the rounding of times in floating point, and so it is here.
fn expiry(now: Time, timeout: Span) -> Time {
    let at = now + timeout;
    let late = now.as_secs_f64() + timeout.as_secs_f64() > at.as_secs_f64();
    if late { at + Span::from_nanos(1) } else { at }
}

/// Every 16th packet is followed by its successor at once.
const PAIR_EVERY: u64 = 16;
