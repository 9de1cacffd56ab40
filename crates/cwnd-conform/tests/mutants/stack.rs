//! A whole stack with cumulative acknowledgements, for the checks of timers and duplicate acknowledgements: correct, and wrong in some ways.
//!
//! A datagram of data is a number and content, an acknowledgement the number of the first datagram that is missing.

use std::collections::{BTreeMap, VecDeque};

use cwnd::{Bytes, Span, Time};
use cwnd_conform::{Judged, Law, Looks, Plan, Subject, Verdict, checks};
use cwnd_stack::{Connection, Ecn, Endpoint, Pair, Shown, Stack, StackSpec, Transmit};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wrong {
    Nothing,
    /// A loss is found by eight duplicate acknowledgements.
    EightDuplicates,
    /// The first timeout is a tenth of a second.
    FirstTimeout,
    /// The timer stays doubled.
    StaysDoubled,
    /// The timer is never doubled.
    NeverDoubled,
}

#[derive(Debug)]
struct Kind(Wrong);

impl Stack for Kind {
    fn headers(&self) -> Bytes {
        Bytes(28)
    }

    fn connect(&self, connection: &Connection) -> Pair {
        let sender = Sender {
            wrong: self.0,
            payload: connection.datagram as usize - NUMBER,
            waiting: 0,
            oldest: 0,
            next: 0,
            new: 0,
            sent: VecDeque::new(),
            window: 10.0,
            ssthresh: f64::INFINITY,
            duplicates: 0,
            recover: None,
            resend: None,
            estimate: None,
            backoff: 0,
            deadline: None,
            acknowledged: 0,
        };
        Pair { sender: Box::new(sender), receiver: Box::<Receiver>::default() }
    }
}

struct Sender {
    wrong: Wrong,
    payload: usize,
    waiting: u64,
    /// The first datagram that is not acknowledged, the next to be sent, and the next that was never sent.
    oldest: u64,
    next: u64,
    new: u64,
    /// From the oldest on: its length, when it was sent first, and whether that was the only time.
    sent: VecDeque<(usize, Time, bool)>,
    window: f64,
    ssthresh: f64,
    duplicates: u32,
    /// In fast recovery, the first datagram that had not been sent when it began.
    recover: Option<u64>,
    resend: Option<u64>,
    /// The smoothed round trip and its variation, seconds.
    estimate: Option<(f64, f64)>,
    backoff: u32,
    deadline: Option<Time>,
    acknowledged: u64,
}

impl Sender {
    fn interval(&self) -> Span {
        let first = if self.wrong == Wrong::FirstTimeout { 0.3 } else { 1.0 };
        let timeout = self.estimate.map_or(first, |(smoothed, variation)| (smoothed + 4.0 * variation).max(1.0));
        let doublings = if self.wrong == Wrong::NeverDoubled { 0 } else { self.backoff.min(6) };
        Span::from_secs_f64(timeout * f64::from(1 << doublings))
    }

    fn sample(&mut self, rtt: f64) {
        self.estimate = Some(self.estimate.map_or((rtt, rtt / 2.0), |(smoothed, variation)| {
            (0.875 * smoothed + 0.125 * rtt, 0.75 * variation + 0.25 * (smoothed - rtt).abs())
        }));
        if self.wrong != Wrong::StaysDoubled {
            self.backoff = 0;
        }
    }

    fn in_flight(&self) -> u64 {
        self.next - self.oldest
    }

    fn handle_duplicate(&mut self) {
        self.duplicates += 1;
        let enough = if self.wrong == Wrong::EightDuplicates { 8 } else { 3 };
        if self.recover.is_some() {
            self.window += 1.0;
        } else if self.duplicates == enough && self.in_flight() > 0 {
            self.ssthresh = (self.in_flight() as f64 / 2.0).max(2.0);
            self.window = self.ssthresh + 3.0;
            (self.recover, self.resend) = (Some(self.new), Some(self.oldest));
        }
    }

    fn handle_ack(&mut self, now: Time, missing: u64) {
        let newly = missing - self.oldest;
        let acknowledged: Vec<_> = self.sent.drain(..newly as usize).collect();
        for (length, at, once) in acknowledged {
            self.acknowledged += length as u64;
            if once {
                self.sample(now.since(at).as_secs_f64());
            }
        }
        (self.oldest, self.next, self.duplicates) = (missing, self.next.max(missing), 0);
        match self.recover {
            Some(end) if missing < end => {
                self.window = (self.window - newly as f64 + 1.0).max(1.0);
                self.resend = Some(missing);
            }
            Some(_) => (self.recover, self.window) = (None, self.ssthresh),
            None if self.window < self.ssthresh => self.window += newly as f64,
            None => self.window += newly as f64 / self.window,
        }
        self.deadline = (self.in_flight() > 0).then(|| now + self.interval());
    }
}

impl Endpoint for Sender {
    fn submit(&mut self, _now: Time, bytes: u64) {
        self.waiting += bytes;
    }

    fn handle_datagram(&mut self, now: Time, datagram: &[u8], _ecn: Ecn) {
        let Some(missing) = datagram.first_chunk().map(|number| u64::from_be_bytes(*number)) else { return };
        match missing {
            _ if missing == self.oldest => self.handle_duplicate(),
            _ if (self.oldest..=self.new).contains(&missing) => self.handle_ack(now, missing),
            _ => {}
        }
    }

    fn poll_transmit(&mut self, now: Time, buffer: &mut Vec<u8>) -> Option<Transmit> {
        let again = self.resend.take();
        if again.is_none() && self.in_flight() as f64 + 1.0 > self.window {
            return None;
        }
        let number = again.unwrap_or(self.next);
        let length = if number < self.new {
            let (length, _, once) = self.sent.get_mut((number - self.oldest) as usize)?;
            *once = false;
            *length
        } else {
            let length = self.waiting.min(self.payload as u64) as usize;
            if length == 0 {
                return None;
            }
            self.waiting -= length as u64;
            self.new += 1;
            self.sent.push_back((length, now, true));
            length
        };
        self.next = self.next.max(number + 1);
        buffer.extend(number.to_be_bytes());
        buffer.resize(NUMBER + length, 0);
        let deadline = now + self.interval();
        self.deadline.get_or_insert(deadline);
        Some(Transmit::new(Ecn::NotCapable, None))
    }

    fn next_timeout(&mut self, _now: Time) -> Option<Time> {
        self.deadline
    }

    fn handle_timeout(&mut self, now: Time) {
        if self.in_flight() == 0 {
            self.deadline = None;
            return;
        }
        self.ssthresh = (self.in_flight() as f64 / 2.0).max(2.0);
        (self.window, self.recover, self.resend, self.duplicates) = (1.0, None, None, 0);
        self.next = self.oldest;
        self.backoff += 1;
        self.deadline = Some(now + self.interval());
    }

    fn delivered(&self) -> u64 {
        0
    }

    fn acknowledged(&self) -> Option<u64> {
        Some(self.acknowledged)
    }

    fn shown(&self) -> Shown {
        let mut shown = Shown::default();
        shown.in_flight = Some(self.in_flight());
        shown
    }
}

/// The end that receives data.
#[derive(Default)]
struct Receiver {
    missing: u64,
    early: BTreeMap<u64, usize>,
    delivered: u64,
    pending: u32,
}

impl Endpoint for Receiver {
    fn submit(&mut self, _now: Time, _bytes: u64) {}

    fn handle_datagram(&mut self, _now: Time, datagram: &[u8], _ecn: Ecn) {
        let Some((number, content)) = datagram.split_first_chunk() else { return };
        let number = u64::from_be_bytes(*number);
        if number >= self.missing {
            self.early.insert(number, content.len());
        }
        while let Some(length) = self.early.remove(&self.missing) {
            (self.missing, self.delivered) = (self.missing + 1, self.delivered + length as u64);
        }
        self.pending += 1;
    }

    fn poll_transmit(&mut self, _now: Time, buffer: &mut Vec<u8>) -> Option<Transmit> {
        self.pending = self.pending.checked_sub(1)?;
        buffer.extend(self.missing.to_be_bytes());
        Some(Transmit::new(Ecn::NotCapable, None))
    }

    fn next_timeout(&mut self, _now: Time) -> Option<Time> {
        None
    }

    fn handle_timeout(&mut self, _now: Time) {}

    fn delivered(&self) -> u64 {
        self.delivered
    }

    fn shown(&self) -> Shown {
        Shown::default()
    }
}

/// Bytes of a number.
const NUMBER: usize = 8;

/// A fault, and the check of its clause.
const FAULTS: &[(Wrong, &str)] = &[
    (Wrong::EightDuplicates, "5681-fast-retransmit"),
    (Wrong::FirstTimeout, "6298-first"),
    (Wrong::StaysDoubled, "6298-reset"),
    (Wrong::NeverDoubled, "6298-backoff"),
];

fn subject(wrong: Wrong) -> Subject {
    Subject::new("stack", Law::Reno, StackSpec::new(&format!("{wrong:?}"), Kind(wrong)).into_spec())
}

/// The stack shows no window.
#[test]
fn a_check_that_looks_at_the_wire_needs_no_window() {
    let wire = checks().filter(|check| check.looks == Looks::Wire);
    let plan = Plan { only: wire.map(|check| check.id.to_string()).collect(), seeds: 1, ..Plan::default() };
    let blind = |judged: &Judged| judged.note.as_ref().is_some_and(|note| note.contains("shows no window"));
    let judged = plan.judge(&subject(Wrong::Nothing)).checks;
    let blind: Vec<&str> = judged.iter().filter(|judged| blind(judged)).map(|judged| judged.id).collect();
    assert_eq!(blind, [""; 0]);
}

fn judged(wrong: Wrong, id: &str) -> Judged {
    let plan = Plan { only: vec![id.to_string()], ..Plan::default() };
    let [judged] = <[Judged; 1]>::try_from(plan.judge(&subject(wrong)).checks).expect("a check");
    judged
}

#[test]
fn faults_of_timers_deviate_and_what_is_right_does_not() {
    let mut wrong = Vec::new();
    for (fault, id) in FAULTS {
        for (sender, expected) in [(*fault, Verdict::Deviates), (Wrong::Nothing, Verdict::Meets)] {
            let found = judged(sender, id);
            println!("{sender:?} {id} {:?} {:?} {:?}", found.verdict, found.value.map(|value| value.mean), found.note);
            if found.verdict != expected {
                wrong.push(format!("{sender:?} by {id}: {:?} {:?}", found.verdict, found.note));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
