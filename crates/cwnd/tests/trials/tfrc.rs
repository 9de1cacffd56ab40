//! TFRC, both halves: RFC 5348, in packets instead of bytes, with t_RTO = 4R and b = 1.

use std::collections::VecDeque;

use cwnd::{
    Ack, Arrival, Bytes, Congestion, CongestionControl, Control, Pacing, Packets, Rate, ReceiverSide, Remote, Span,
    Time, View,
};

use crate::{ack, at, close, rate, view};

/// The rate of a TCP at this loss event rate (section 3.1).
fn equation(p: f64, rtt: Span) -> f64 {
    let r = rtt.as_secs_f64();
    let recovery = 4.0 * r * 3.0 * (3.0 * p / 8.0).sqrt() * p * (1.0 + 32.0 * p * p);
    1.0 / (r * (2.0 * p / 3.0).sqrt() + recovery)
}

#[derive(Clone, Debug)]
struct Sender {
    rate: f64,
    /// The equation's rate, which the receiver's reports limit (X_Bps).
    allowed: f64,
    /// What the receiver reported in the last two round trips (X_recv_set).
    received: Vec<(Time, f64)>,
    doubled: Option<Time>,
    no_feedback: Option<Time>,
}

impl Sender {
    /// One packet per second until the first feedback (section 4.2).
    fn new() -> Self {
        Self { rate: 1.0, allowed: f64::INFINITY, received: Vec::new(), doubled: None, no_feedback: None }
    }

    fn most_received(&self) -> f64 {
        self.received.iter().map(|(_, rate)| *rate).fold(0.0, f64::max)
    }

    fn set(&mut self, now: Time, rate: f64, rtt: Span) {
        self.rate = rate.max(1.0 / 64.0); // s / t_mbi
        let silence = (rtt * 4).max(Packets(2.0) / Rate(self.rate));
        self.no_feedback = Some(now + silence);
    }
}

impl CongestionControl for Sender {
    /// The rate alone holds a TFRC sender.
    fn control(&self) -> Control {
        Control {
            pacing: Pacing::At(Rate(self.rate)),
            wake: self.no_feedback,
            ..Control::window(Packets(f64::INFINITY))
        }
    }

    /// Section 4.3. A report is an acknowledgement that carries a loss event rate.
    fn on_ack(&mut self, view: &View, ack: &Ack) {
        let (Some(p), Some(rtt)) = (ack.remote.loss_event_rate, view.rtt) else { return };
        let (now, rtt) = (view.now, rtt.smoothed);
        let arrived = ack.remote.arrival_rate.map_or(0.0, |rate| rate.0);
        self.received.retain(|(then, _)| now.since(*then) < rtt * 2);
        self.received.push((now, arrived));
        let limit = 2.0 * self.most_received();
        if p > 0.0 {
            self.allowed = equation(p, rtt);
            self.set(now, self.allowed.min(limit), rtt);
        } else if self.doubled.is_none_or(|then| now.since(then) >= rtt) {
            let initial = INITIAL_WINDOW / rtt;
            let doubled = (2.0 * self.rate).min(limit).max(initial.0);
            self.doubled = Some(now);
            self.set(now, doubled, rtt);
        }
    }

    /// TFRC's receiver counts the losses, not its sender.
    fn on_congestion(&mut self, _view: &View, _event: &Congestion) {}

    /// The no-feedback timer (section 4.4): what may be received is halved.
    fn on_wake(&mut self, view: &View) {
        let (now, rtt) = (view.now, view.rtt.map_or(Span::from_millis(500), |rtt| rtt.smoothed));
        if self.no_feedback.is_none_or(|due| now < due) {
            return;
        }
        if self.allowed.is_infinite() {
            self.set(now, self.rate / 2.0, rtt);
        } else {
            let limit = self.most_received().min(self.allowed / 2.0);
            self.received = vec![(now, limit / 2.0)];
            self.set(now, self.allowed.min(limit), rtt);
        }
    }

    fn boxed_clone(&self) -> Box<dyn CongestionControl> {
        Box::new(self.clone())
    }
}

#[derive(Debug, Default)]
struct Receiver {
    newest: Option<Arrival>,
    /// Packets not here yet: number, when they should have come, and how many later ones came since.
    missing: Vec<(u64, Time, u32)>,
    /// The first packet of the present loss event, and when it was lost.
    event: Option<(u64, Time)>,
    /// Lengths of the loss intervals before it, newest first.
    intervals: VecDeque<f64>,
    arrivals: u64,
    reported_at: Time,
    due: Option<Time>,
}

impl Receiver {
    /// Section 5.4: the weighted mean of up to eight intervals, counting the open one where that makes it longer.
    fn loss_event_rate(&self) -> f64 {
        let (Some((first, _)), Some(newest)) = (self.event, self.newest) else { return 0.0 };
        let open = (newest.number - first) as f64;
        let closed = self.intervals.iter().copied();
        let mean = |intervals: &mut dyn Iterator<Item = f64>| {
            let (sum, weights) = intervals
                .zip(WEIGHTS)
                .fold((0.0, 0.0), |(sum, all), (length, weight)| (sum + length * weight, all + weight));
            sum / weights
        };
        let with_open = mean(&mut [open].into_iter().chain(closed.clone()).take(self.intervals.len()));
        1.0 / with_open.max(mean(&mut closed.clone()))
    }

    fn lost(&mut self, number: u64, when: Time, now: Time, rtt: Span) {
        match self.event {
            // Losses within a round trip of the first are one event.
            Some((_, since)) if when.since(since) <= rtt => return,
            Some((first, _)) => self.intervals.push_front((number - first) as f64),
            // Section 6.3.1: the interval before the first loss is the one that makes the equation yield half of what arrives.
            None => {
                let target = self.rate(now) / 2.0;
                let (mut low, mut high) = (1e-8_f64, 1.0_f64);
                while high / low > 1.0 + 1e-12 {
                    let middle = (low * high).sqrt();
                    if equation(middle, rtt) > target { low = middle } else { high = middle }
                }
                self.intervals.push_front(1.0 / high);
            }
        }
        self.intervals.truncate(8);
        self.event = Some((number, when));
        self.due = Some(now);
    }

    fn rate(&self, now: Time) -> f64 {
        let since = now.since(self.reported_at).as_secs_f64();
        if since > 0.0 { self.arrivals as f64 / since } else { 0.0 }
    }
}

impl ReceiverSide for Receiver {
    fn on_packet(&mut self, arrival: &Arrival) {
        let rtt = arrival.rtt.expect("a TFRC packet carries the sender's round-trip time");
        self.arrivals += 1;
        self.due = self.due.or(Some(arrival.at + rtt));
        let newest = *self.newest.get_or_insert(*arrival);
        self.missing.retain(|(number, ..)| *number != arrival.number);
        for (_, _, later) in &mut self.missing {
            *later += 1;
        }
        if arrival.number > newest.number {
            let (gap, steps) = (arrival.at.since(newest.at), arrival.number - newest.number);
            let holes = 1..steps;
            self.missing.extend(holes.map(|n| (newest.number + n, newest.at + gap * n / steps, 1)));
            self.newest = Some(*arrival);
        }
        // Three later packets make a loss (section 5.1).
        while let Some(index) = self.missing.iter().position(|(.., later)| *later >= 3) {
            let (number, when, _) = self.missing.remove(index);
            self.lost(number, when, arrival.at, rtt);
        }
    }

    fn report(&mut self, now: Time) -> Remote {
        let remote = Remote {
            arrival_rate: Some(Rate(self.rate(now))),
            loss_event_rate: Some(self.loss_event_rate()),
            ..Remote::default()
        };
        self.arrivals = 0;
        self.reported_at = now;
        self.due = None;
        remote
    }

    fn due(&self) -> Option<Time> {
        self.due
    }
}

/// Section 5.4.
const WEIGHTS: [f64; 8] = [1.0, 1.0, 1.0, 1.0, 0.8, 0.6, 0.4, 0.2];
/// min(4 s, max(2 s, 4380 bytes)) with packets of 1000 bytes (section 4.2).
const INITIAL_WINDOW: Packets = Packets(4.0);

#[test]
fn the_equation_agrees_with_published_values() {
    // Packets per round trip at R = 0.1 s and t_RTO = 0.4 s, as SIMD's equation 8 gives them for TCP.
    for (p, window) in [(0.001, 38.3844), (0.005, 16.5741), (0.01, 11.2332), (0.05, 3.6859)] {
        close(equation(p, Span::from_millis(100)), window * 10.0);
    }
}

#[test]
fn the_sender_doubles_then_obeys_the_equation_and_what_arrives() {
    let mut sender = Sender::new();
    assert_eq!(rate(&sender.control()), 1.0);
    // When, packets/s received and loss event rate; then the rate.
    let script = [
        (1000, 1.0, 0.0, 40.0),  // 4 packets per round trip
        (1100, 40.0, 0.0, 80.0), // doubled
        (1150, 80.0, 0.0, 80.0), // not twice in a round trip
        (1200, 80.0, 0.0, 160.0),
        (1300, 160.0, 0.01, 112.332), // the equation; at most 2 * 160
        (1400, 100.0, 0.001, 320.0),  // 383.844, but at most 2 * 160: the best of two round trips
        (1500, 110.0, 0.001, 220.0),  // 160 is two round trips old
        (1600, 220.0, 0.001, 383.844),
    ];
    for (millis, received, p, expected) in script {
        let remote = Remote { arrival_rate: Some(Rate(received)), loss_event_rate: Some(p), ..Remote::default() };
        sender.on_ack(&view(millis), &ack(1, remote));
        close(rate(&sender.control()), expected);
    }

    // Silence: the timer runs for four round trips. The rate falls to half of the equation's, as more was received; then by halves.
    assert_eq!(sender.control().wake, Some(at(2000)));
    for (millis, expected) in [(2000, 191.922), (2400, 95.961), (2800, 47.9805)] {
        sender.on_wake(&view(millis));
        close(rate(&sender.control()), expected);
        assert_eq!(sender.control().wake, Some(at(millis + 400)));
    }
}

/// Packet `number` of a flow of 100 packets/s over 100 ms.
fn packet(number: u64) -> Arrival {
    Arrival {
        at: at(10 * number),
        number,
        sent_at: Some(at(10 * number)),
        rtt: Some(Span::from_millis(100)),
        packet: Bytes(1000),
        pair: false,
        marked: false,
        retransmission: false,
    }
}

/// Receives packets of `numbers` but for `lost`, reporting when due. Answers the reports.
fn receive(receiver: &mut Receiver, numbers: std::ops::Range<u64>, lost: &[u64]) -> Vec<(Time, Remote)> {
    let mut reports = Vec::new();
    for arrival in numbers.filter(|number| !lost.contains(number)).map(packet) {
        receiver.on_packet(&arrival);
        if receiver.due().is_some_and(|due| due <= arrival.at) {
            reports.push((arrival.at, receiver.report(arrival.at)));
        }
    }
    reports
}

#[test]
fn the_receiver_reports_each_round_trip_and_a_new_loss_at_once() {
    let mut receiver = Receiver::default();
    let reports = receive(&mut receiver, 0..30, &[24, 26]);
    let times: Vec<_> = reports.iter().map(|(at, _)| at.as_nanos() / 1_000_000).collect();
    // Packets 0, 11 and 22 start a round trip each; 24 is lost once 25, 27 and 28 are there. 26 belongs to the same event.
    assert_eq!(times, [100, 210, 280]);
    assert_eq!(reports[1].1.loss_event_rate, Some(0.0));
    assert_eq!(reports[1].1.arrival_rate, Some(Rate(100.0)));
    // Five packets in 70 ms when the loss is seen; the equation yields half of that at the rate reported.
    let p = reports[2].1.loss_event_rate.expect("reported");
    close(equation(p, Span::from_millis(100)), 0.5 * 5.0 / 0.07);
}

#[test]
fn the_loss_event_rate_is_that_of_the_last_eight_intervals() {
    let mut receiver = Receiver::default();
    let losses: Vec<u64> = (1..=9).map(|n| 100 * n).collect();
    let last = |reports: Vec<(Time, Remote)>| reports.last().and_then(|(_, report)| report.loss_event_rate);
    let p = last(receive(&mut receiver, 0..950, &losses)).expect("reported");
    // Eight intervals of 100; the open one is shorter and does not count.
    close(p, 0.01);
    // The open interval grows to about 400: (400 + 100 (1 + 1 + 1 + 0.8 + 0.6 + 0.4 + 0.2)) / 6 = 150.
    let p = last(receive(&mut receiver, 950..1301, &[])).expect("reported");
    assert!((1.0 / 150.5..1.0 / 148.0).contains(&p), "{p}");
}
