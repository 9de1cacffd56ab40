//! A transport stack of one's own, and its tests, one for each clause: `cargo test`.
//!
//! A sliding window with cumulative acknowledgements, the timer of RFC 6298, and the congestion control of RFC 5681 with RFC 6582. It knows
//! neither sockets nor a clock, so that it runs in the simulator as it would over UDP. A datagram of data is a number and content; an
//! acknowledgement is the number of the first datagram that is missing.

use std::collections::{BTreeMap, VecDeque};

use cwnd::{Bytes, Spec, Time};
use cwnd_stack::{Connection, Ecn, Endpoint, Pair, Shown, Stack, StackSpec, Transmit};

mod timer;

use timer::Timer;

/// What makes connections.
#[derive(Debug)]
struct Sliding;

impl Stack for Sliding {
    fn headers(&self) -> Bytes {
        Bytes(28) // IPv4 and UDP
    }

    fn connect(&self, connection: &Connection) -> Pair {
        let payload = connection.datagram as usize - NUMBER;
        Pair { sender: Box::new(Sender::new(payload)), receiver: Box::<Receiver>::default() }
    }
}

/// What runs, is compared and is judged.
#[must_use]
pub fn sliding() -> Spec {
    StackSpec::new("sliding:reno", Sliding).into_spec()
}

/// The end that sends data.
struct Sender {
    payload: usize,
    /// Bytes submitted that are in no datagram yet.
    waiting: u64,
    /// The first datagram that is not acknowledged, the next to be sent, and the next that was never sent.
    oldest: u64,
    next: u64,
    new: u64,
    /// From the oldest on: how long each is, when it was sent first, and whether that was the only time.
    sent: VecDeque<(usize, Time, bool)>,
    timer: Timer,
    window: f64,
    ssthresh: f64,
    duplicates: u32,
    /// In fast recovery, the first datagram that had not been sent when it began (RFC 6582).
    recover: Option<u64>,
    /// A datagram that is to be sent again at once.
    resend: Option<u64>,
    lost: u64,
    acknowledged: u64,
    last_sent: Time,
}

impl Sender {
    fn new(payload: usize) -> Self {
        Self {
            payload,
            waiting: 0,
            oldest: 0,
            next: 0,
            new: 0,
            sent: VecDeque::new(),
            timer: Timer::default(),
            window: INITIAL_WINDOW,
            ssthresh: f64::INFINITY,
            duplicates: 0,
            recover: None,
            resend: None,
            lost: 0,
            acknowledged: 0,
            last_sent: Time::from_nanos(0),
        }
    }

    fn in_flight(&self) -> u64 {
        self.next - self.oldest
    }

    /// Half of the packets in flight (RFC 5681 equation 4).
    fn halved(&self) -> f64 {
        (self.in_flight() as f64 / 2.0).max(2.0)
    }

    fn handle_ack(&mut self, now: Time, missing: u64) {
        if missing == self.oldest {
            self.handle_duplicate();
        } else if (self.oldest..=self.new).contains(&missing) {
            // Growth is for a window that was full: one that the application does not fill was not tried (RFC 7661).
            let full = self.in_flight() as f64 + 1.0 >= self.window.floor();
            let newly = missing - self.oldest;
            for (length, at, once) in self.sent.drain(..newly as usize) {
                self.acknowledged += length as u64;
                if once {
                    self.timer.sample(now.since(at));
                }
            }
            self.oldest = missing;
            self.next = self.next.max(missing);
            self.duplicates = 0;
            match self.recover {
                Some(end) if missing < end => {
                    // A partial acknowledgement: the next hole.
                    self.window = (self.window - newly as f64 + 1.0).max(1.0);
                    self.resend = Some(missing);
                }
                Some(_) => {
                    self.recover = None;
                    self.window = self.ssthresh;
                }
                None if full && self.window < self.ssthresh => {
                    self.window = (self.window + newly as f64).min(self.ssthresh.max(self.window + 1.0));
                }
                None if full => self.window += newly as f64 / self.window,
                None => {}
            }
            self.timer.restart(now, self.in_flight() > 0);
        }
    }

    fn handle_duplicate(&mut self) {
        if self.in_flight() == 0 {
            return;
        }
        self.duplicates += 1;
        if self.recover.is_some() {
            self.window += 1.0;
        } else if self.duplicates == 3 {
            self.ssthresh = self.halved();
            self.window = self.ssthresh + 3.0;
            self.recover = Some(self.new);
            self.resend = Some(self.oldest);
        }
    }

    /// The length of the next datagram that may leave, and its number.
    fn take_next(&mut self, now: Time) -> Option<(u64, usize)> {
        if let Some(number) = self.resend.take() {
            let (length, _, once) = self.sent.get_mut((number - self.oldest) as usize)?;
            (*once, self.lost) = (false, self.lost + 1);
            return Some((number, *length));
        }
        if self.in_flight() as f64 + 1.0 > self.window {
            return None;
        }
        let number = self.next;
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
        self.next += 1;
        Some((number, length))
    }
}

impl Endpoint for Sender {
    fn submit(&mut self, now: Time, bytes: u64) {
        // After a pause nobody knows how much the path carries (RFC 5681 section 4.1).
        if self.in_flight() == 0 && self.new > 0 && now.since(self.last_sent) > self.timer.interval() {
            self.window = self.window.min(INITIAL_WINDOW);
        }
        self.waiting += bytes;
    }

    fn handle_datagram(&mut self, now: Time, datagram: &[u8], _ecn: Ecn) {
        if let Some(number) = datagram.first_chunk() {
            self.handle_ack(now, u64::from_be_bytes(*number));
        }
    }

    fn poll_transmit(&mut self, now: Time, buffer: &mut Vec<u8>) -> Option<Transmit> {
        let (number, length) = self.take_next(now)?;
        buffer.extend(number.to_be_bytes());
        buffer.resize(NUMBER + length, 0);
        self.timer.start(now);
        self.last_sent = now;
        Some(Transmit::new(Ecn::NotCapable, None))
    }

    fn next_timeout(&mut self, _now: Time) -> Option<Time> {
        self.timer.deadline()
    }

    fn handle_timeout(&mut self, now: Time) {
        // Once for a datagram: what expires again says nothing new of the path.
        if !self.timer.has_backed_off() {
            self.ssthresh = self.halved();
        }
        self.window = 1.0;
        (self.recover, self.duplicates, self.resend) = (None, 0, None);
        // All of it is lost, and is sent again as the window opens.
        self.lost += self.in_flight();
        self.next = self.oldest;
        self.timer.back_off(now);
    }

    fn delivered(&self) -> u64 {
        0
    }

    fn acknowledged(&self) -> Option<u64> {
        Some(self.acknowledged)
    }

    fn shown(&self) -> Shown {
        let mut shown = Shown::default();
        // In fast recovery it is inflated by the packets that have left the network.
        shown.window = Some(if self.recover.is_some() { self.ssthresh } else { self.window });
        shown.ssthresh = Some(self.ssthresh);
        shown.in_flight = Some(self.in_flight());
        shown.rtt = self.timer.rtt();
        shown.lost = Some(self.lost);
        shown
    }
}

/// The end that receives data.
#[derive(Default)]
struct Receiver {
    /// The first datagram that is missing, and the lengths of those behind it that are here.
    missing: u64,
    early: BTreeMap<u64, usize>,
    delivered: u64,
    /// Acknowledgements to be sent.
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
            self.missing += 1;
            self.delivered += length as u64;
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

/// Packets (RFC 6928).
const INITIAL_WINDOW: f64 = 10.0;

// It has no ECN and no selective acknowledgements; the baseline lists what it deviates from.
#[cfg(test)]
cwnd_conform::conform!(
    cwnd_conform::Subject::new("sliding:reno", cwnd_conform::Law::Reno, sliding()),
    suites = ["rfc5681", "rfc7661"],
    baseline = "conform.txt"
);
