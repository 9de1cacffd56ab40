//! The receiving end of an agent.

use std::collections::{BTreeMap, VecDeque};

use cwnd::rate::udt::{Acknowledge, Habits, Naks, SYN};
use cwnd::{Bytes, Span, Time};
use cwnd_udt::wire::{FullAck, Rates};
use cwnd_udt::{AckNumber, Message, Seq};

use super::gaps::AgentIntervals;
use super::trend::Trend;
use super::{Lists, after_syn, seconds, smoothed};
use crate::agent;
use crate::net::packet::{Body, Data};
use crate::protocol::{Received, ReceiverProtocol};

/// The end that receives data.
#[derive(Debug)]
pub(crate) struct Receiver {
    habits: Habits,
    lists: Lists,
    list: u32,
    gaps: AgentIntervals,
    trend: Trend,
    /// All packets above are new.
    next: u64,
    /// Packets missing, and when they were named last.
    missing: BTreeMap<u64, Time>,
    /// The last acknowledged number, its time, and the number up to which it is confirmed.
    acked: u64,
    acked_at: Time,
    confirmed: u64,
    /// Acknowledgements that may be confirmed, by their numbers, with what they acknowledged and when they left.
    history: VecDeque<(u32, u64, Time)>,
    next_ack: u32,
    /// Seconds.
    rtt: f64,
    /// When missing packets are looked through, and how far apart that is.
    nak_at: Time,
    nak_every: Span,
    warned_at: Time,
    /// The message that leaves at once.
    pending: VecDeque<Body>,
    /// The last instant at which it did something, and at which its clock of acknowledgements was looked at.
    now: Time,
    ticked: Time,
}

impl Receiver {
    pub(super) fn new(habits: Habits, lists: Lists) -> Self {
        Self {
            gaps: AgentIntervals::new(&habits),
            rtt: habits.constants.rtt(),
            habits,
            lists,
            list: 0,
            trend: Trend::default(),
            next: 0,
            missing: BTreeMap::new(),
            acked: 0,
            acked_at: Time::ZERO,
            confirmed: 0,
            history: VecDeque::new(),
            next_ack: 0,
            nak_at: Time::ZERO,
            nak_every: SYN,
            warned_at: Time::ZERO,
            pending: VecDeque::new(),
            now: Time::ZERO,
            ticked: Time::ZERO,
        }
    }

    /// The size of a control packet of either end, bytes; none for an ACK.
    pub(crate) fn size(&self, body: &Body) -> Option<Bytes> {
        super::size(&self.habits, body)
    }

    /// The packet that an acknowledgement would name now.
    fn acknowledged(&self) -> u64 {
        match self.habits.acknowledge {
            Acknowledge::Cumulative => self.missing.keys().next().copied().unwrap_or(self.next),
            Acknowledge::OverHoles => self.next,
        }
    }

    /// Whether its clock may send an acknowledgement.
    fn owes_ack(&self) -> bool {
        self.acknowledged() > self.acked || self.acked > self.confirmed
    }

    /// The acknowledgement of a tick of the clock.
    fn acknowledge(&mut self, now: Time) -> Option<Body> {
        let next = self.acknowledged();
        if next > self.acked {
            self.acked = next;
            if self.habits.acknowledge == Acknowledge::OverHoles {
                self.missing.clear();
            }
        } else if now.since(self.acked_at).as_secs_f64() < 2.0 * self.rtt {
            return None;
        }
        if self.acked <= self.confirmed {
            return None;
        }
        let number = self.next_ack;
        self.next_ack += 1;
        self.history.push_back((number, self.acked, now));
        if self.history.len() > HISTORY {
            self.history.pop_front();
        }
        self.acked_at = now;
        let arrival = self.gaps.arrival_rate();
        Some(Body::ToSender(Message::Ack(FullAck {
            number: AckNumber::new(number)?,
            next: START + self.acked,
            rtt_us: (self.rtt * 1e6) as u32,
            rtt_var_us: 0,
            window: 0,
            rates: Some(Rates { arrival, capacity: self.gaps.capacity() }),
        })))
    }

    /// An acknowledgement is confirmed.
    fn confirm(&mut self, now: Time, number: u32) {
        let Some(at) = self.history.iter().position(|(known, ..)| *known == number) else { return };
        let Some((_, acked, sent_at)) = self.history.drain(..=at).next_back() else { return };
        // Times in floating point, as in ns-2: round trips that are equal are longer or shorter by their rounding, which the test of
        // their trend counts.
        let rtt = now.as_secs_f64() - sent_at.as_secs_f64();
        if rtt <= 0.0 {
            return;
        }
        if self.habits.delay_warnings {
            self.trend.on_sample(rtt);
            if self.trend.rises() && now.since(self.warned_at).as_secs_f64() > 2.0 * self.rtt {
                self.warned_at = now;
                self.pending.push_back(Body::Agent(agent::Message::DelayWarning));
            }
        }
        self.rtt = smoothed(self.rtt, rtt);
        self.pass_idle_naks(now);
        self.nak_every = seconds(self.rtt).max(SYN);
        self.confirmed = self.confirmed.max(acked);
    }

    /// Moves the timer of NAKs on over the times at which nothing was missing.
    fn pass_idle_naks(&mut self, now: Time) {
        if self.missing.is_empty() && self.nak_at < now {
            let missed = now.since(self.nak_at).as_nanos().div_ceil(self.nak_every.as_nanos());
            self.nak_at += self.nak_every * missed;
        }
    }

    /// A NAK of `numbers`.
    fn nak(&mut self, numbers: Vec<u64>, repeated: bool) -> Option<Body> {
        let first = *numbers.first()?;
        let count = numbers.len() as u32;
        self.list = self.list.wrapping_add(1);
        let mut whole = numbers;
        if self.habits.lists_numbers {
            whole.truncate(WHOLE);
        }
        self.lists.put(self.list, whole);
        Some(Body::Agent(agent::Message::Nak { list: self.list, first, count, repeated }))
    }

    /// The NAK of a tick of the timer.
    fn name_again(&mut self, now: Time) -> Option<Body> {
        let rtt = self.rtt;
        let due = self.missing.iter_mut().filter(|(_, named)| now.since(**named).as_secs_f64() > rtt);
        let numbers = due.take(LISTED).map(|(number, named)| {
            *named = now;
            *number
        });
        let numbers = numbers.collect();
        self.nak(numbers, true)
    }

    fn repeats(&self) -> bool {
        self.habits.naks != Naks::Once && !self.missing.is_empty()
    }
}

impl ReceiverProtocol for Receiver {
    fn handle_data(&mut self, now: Time, data: &Data, _marked: bool, _answer: &mut Body) -> Received {
        self.now = now;
        let number = data.number;
        self.gaps.on_packet(number, now);
        if number >= self.acked {
            if number > self.next {
                self.pass_idle_naks(now);
                let gap = self.next..number;
                let most = if self.habits.lists_numbers { LISTED } else { usize::MAX };
                let named: Vec<u64> = gap.clone().take(most).collect();
                let nak = self.nak(named, false);
                self.nak_at = now + self.nak_every;
                self.pending.extend(nak);
                if self.habits.acknowledge == Acknowledge::Cumulative || self.habits.naks != Naks::Once {
                    self.missing.extend(gap.map(|number| (number, now)));
                }
            } else {
                self.missing.remove(&number);
            }
            self.next = self.next.max(number + 1);
        }
        // Its answers are sent by its timers, which may be due at once.
        Received { new: true, answered: false }
    }

    fn handle_message(&mut self, now: Time, message: &Message) {
        self.now = now;
        if let Message::Ack2(number) = message {
            self.confirm(now, number.get());
        }
    }

    fn handle_timeout(&mut self, now: Time) -> Option<Body> {
        self.now = now;
        if let Some(body) = self.pending.pop_front() {
            return Some(body);
        }
        if now.as_nanos().is_multiple_of(SYN.as_nanos()) && self.ticked < now {
            self.ticked = now;
            if let Some(body) = self.acknowledge(now) {
                return Some(body);
            }
        }
        if self.repeats() && self.nak_at <= now {
            self.nak_at += self.nak_every;
            return self.name_again(now);
        }
        None
    }

    fn next_timeout(&self) -> Time {
        let tick = if self.owes_ack() { after_syn(self.now) } else { Time::MAX };
        if self.repeats() { tick.min(self.nak_at) } else { tick }
    }
}

/// Numbers start at 0, so that pairs begin with the multiples of 16.
const START: Seq = match Seq::new(0) {
    Some(start) => start,
    None => Seq::MAX,
};
/// The numbers a NAK of 1.1 and 2.0 names, and those of them that are copied, 300 bytes of 4 each.
const LISTED: usize = 300;
const WHOLE: usize = 75;
/// Acknowledgements that are remembered.
const HISTORY: usize = 1024;
