//! TEAR: the receiver plays a TCP, and reports its window averaged over epochs.
//!
//! Rhee, Ozdemir and Yi, "TEAR: TCP emulation at receivers - flow control for multimedia streaming", NCSU 2000.

use alloc::boxed::Box;
use alloc::collections::VecDeque;

use super::no_feedback::NoFeedbackTimer;
use super::{GREATEST_WINDOW, bounded};
use crate::control::{CongestionControl, Control, Pacing, ReceiverSide};
use crate::entry::{Basis, Entry, Family, Transport};
use crate::signal::{Ack, Arrival, Congestion, Remote, View};
use crate::units::{Packets, Rate, Span, Time};

/// TEAR's sender: what the receiver reports, spread over a round trip.
#[derive(Clone, Debug)]
pub struct Tear {
    rate: Rate,
    timer: NoFeedbackTimer,
    /// Bound while the sender uses less than the receiver reports, and until the used rate has doubled often enough.
    most: Option<Rate>,
    validate: bool,
}

/// TEAR's receiver: an arrival is what an acknowledgement is to a TCP.
#[derive(Debug)]
pub struct Receiver {
    window: f64,
    threshold: f64,
    /// The number expected next; holes below it, of which the oldest begins there, and the number of packets seen above it.
    next: u64,
    hole: Option<(u64, u32)>,
    /// Losses below this belong to the last one.
    recover: u64,
    /// Arrivals left of the present round, of how many, and when it began.
    left: f64,
    counted: f64,
    began: Option<Time>,
    /// The last round took so much longer than the reported window does that the sender cannot have used it: none grows.
    unused: bool,
    /// The windows of the present epoch's rounds: their sum and number.
    sum: f64,
    rounds: f64,
    /// Means of the epochs before, newest first.
    epochs: VecDeque<f64>,
    /// The last report and its time.
    reported: f64,
    reported_at: Option<Time>,
    /// When the first report left.
    first_report_at: Option<Time>,
    due: Option<Time>,
    validate: bool,
}

impl CongestionControl for Tear {
    fn control(&self) -> Control {
        let wake = self.timer.wake();
        Control { pacing: Pacing::At(self.rate), wake, ..Control::window(Packets(f64::INFINITY)) }
    }

    fn on_ack(&mut self, view: &View, ack: &Ack) {
        if let (Some(window), Some(rtt)) = (ack.remote.window, view.rtt) {
            let reported = bounded((Packets(window.0.max(1.0)) / rtt.smoothed.max(SHORTEST)).0);
            let most =
                if self.validate && view.is_underused() { Some(self.rate) } else { self.most.map(|most| most * 2.0) };
            self.most = most.filter(|most| *most < reported);
            self.rate = self.most.unwrap_or(reported);
        }
        self.timer.on_report(view, self.rate);
    }

    /// The receiver finds losses itself and reports a window that accounts for them.
    fn on_congestion(&mut self, _view: &View, _event: &Congestion) {}

    fn on_wake(&mut self, view: &View) {
        self.rate = self.timer.on_wake(view, self.rate);
    }

    fn boxed_clone(&self) -> Box<dyn CongestionControl> {
        Box::new(self.clone())
    }
}

impl Receiver {
    fn new(validate: bool) -> Self {
        let window = FIRST_WINDOW;
        Self {
            window,
            threshold: f64::INFINITY,
            next: 0,
            hole: None,
            recover: 0,
            left: window,
            counted: window,
            began: None,
            unused: false,
            sum: 0.0,
            rounds: 0.0,
            epochs: VecDeque::new(),
            reported: window,
            reported_at: None,
            first_report_at: None,
            due: None,
            validate,
        }
    }

    /// One packet of slow start, or of congestion avoidance (the document's SLOW-START and CONGESTION-AVOIDANCE states).
    fn grow(&mut self) {
        let step = if self.window < self.threshold { 1.0 } else { 1.0 / self.window };
        self.window = (self.window + step).min(GREATEST_WINDOW);
    }

    /// A round of a window of arrivals, that began at `began`, ends.
    fn end_round(&mut self, arrival: &Arrival, began: Time) {
        // The sender spreads the window reported to it over a round trip; it has one a round after the first report.
        let reported = |rtt: Span| self.first_report_at.is_some_and(|then| then + rtt * 2 <= began);
        let expected =
            arrival.rtt.filter(|rtt| reported(*rtt)).map(|rtt| rtt.mul_f64(self.counted / self.reported.max(1.0)));
        self.unused = self.validate && expected.is_some_and(|expected| arrival.at.since(began) > expected * UNUSED);
        if !self.unused {
            self.sum += self.window;
            self.rounds += 1.0;
        }
        (self.left, self.counted, self.began) = (self.window, self.window, Some(arrival.at));
    }

    /// An epoch ends with a loss: its mean joins the history, and the window halves.
    fn lose(&mut self) {
        let mean = if self.rounds > 0.0 { self.sum / self.rounds } else { self.window };
        self.epochs.push_front(mean);
        self.epochs.truncate(WEIGHTS.len());
        self.threshold = (self.window / 2.0).max(FIRST_WINDOW);
        self.window = self.threshold;
        (self.sum, self.rounds, self.left, self.counted) = (0.0, 0.0, self.window, self.window);
        self.unused = false;
    }

    /// The window over the newest eight epochs, weighted; the present one counts where that makes it more.
    fn mean(&self) -> f64 {
        let weighted = |epochs: &mut dyn Iterator<Item = f64>| {
            let (sum, all) =
                epochs.zip(WEIGHTS).fold((0.0, 0.0), |(sum, all), (mean, weight)| (sum + mean * weight, all + weight));
            if all > 0.0 { sum / all } else { 0.0 }
        };
        let present = (self.rounds > 0.0).then(|| self.sum / self.rounds);
        let past = || self.epochs.iter().copied();
        let with = weighted(&mut present.into_iter().chain(past()));
        if self.epochs.is_empty() { present.unwrap_or(self.window) } else { with.max(weighted(&mut past())) }
    }

    /// Whether a loss is found: three packets above a hole have come, and it was sent after the last loss was found.
    fn finds_loss(&mut self, number: u64) -> bool {
        if number > self.next {
            self.hole.get_or_insert((self.next, 0));
        }
        self.next = self.next.max(number.saturating_add(1));
        let Some((first, later)) = &mut self.hole else { return false };
        *later += 1;
        if *later < DUPLICATES {
            return false;
        }
        let fresh = *first >= self.recover;
        self.hole = None;
        if fresh {
            self.recover = self.next;
        }
        fresh
    }
}

impl ReceiverSide for Receiver {
    fn on_packet(&mut self, arrival: &Arrival) {
        let lost = self.finds_loss(arrival.number);
        let began = *self.began.get_or_insert(arrival.at);
        if lost {
            self.lose();
            self.began = Some(arrival.at);
        } else {
            if !self.unused {
                self.grow();
            }
            self.left -= 1.0;
            if self.left <= 0.0 {
                self.end_round(arrival, began);
            }
        }
        let falls = lost && self.mean() < self.reported;
        let rtt = arrival.rtt.unwrap_or(Span::ZERO);
        let turn = self.reported_at.map_or(arrival.at, |then| (then + rtt).max(arrival.at));
        self.due = Some(if falls { arrival.at } else { self.due.unwrap_or(turn) });
    }

    fn report(&mut self, now: Time) -> Remote {
        (self.due, self.reported_at) = (None, Some(now));
        self.first_report_at.get_or_insert(now);
        self.reported = self.mean();
        Remote { window: Some(Packets(self.reported)), ..Remote::default() }
    }

    fn due(&self) -> Option<Time> {
        self.due
    }
}

/// Registered as `tear`.
pub const TEAR: Entry<Tear> = Entry {
    name: "tear",
    title: "TEAR: the receiver plays a TCP and reports its window, averaged over eight epochs",
    family: Family::Named,
    transport: Transport::Datagram,
    basis: Basis::Losses,
    source: "Rhee, Ozdemir and Yi, NCSU technical report, 2000",
    deviations: &[
        "a rate held by application or receiver does not grow, and doubles per report afterwards; no window grows on a round that took four times \
         as long as the report; except in eras of ns-2",
        "the receiver emulates no timeouts: where nothing comes, the sender halves its rate for each four round trips",
        "a report leaves once per round trip, and at once where a loss lowers the average",
        "the round trip that turns the window into a rate is the sender's",
    ],
    parameters: &[],
    build: |_values, start| {
        Ok(Tear {
            rate: Rate(1.0),
            timer: NoFeedbackTimer::new(SHORTEST),
            most: None,
            validate: start.policy.holds_rates(),
        })
    },
    receiver: Some(|_values, start| Box::new(Receiver::new(start.policy.holds_rates()))),
};

/// Of the newest epochs, newest first.
const WEIGHTS: [f64; 8] = [1.0, 1.0, 1.0, 1.0, 0.8, 0.6, 0.4, 0.2];
/// Packets; also the least threshold (RFC 5681 equation 4).
const FIRST_WINDOW: f64 = 2.0;
/// How many times as long as the reported window a round takes that was not used: losses and a growing queue make rounds longer too.
const UNUSED: u64 = 4;
/// As many packets above one make it lost.
const DUPLICATES: u32 = 3;
/// A shorter round trip only a host would report that has none.
const SHORTEST: Span = Span::from_millis(1);

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use super::*;
    use crate::script::{ack, at, close, view};
    use crate::units::Bytes;

    #[test]
    fn ten_steps_by_hand() {
        let mut receiver = Receiver::new(true);
        let mut window_after = |numbers: &[u64]| {
            for number in numbers {
                let rtt = Some(Span::from_millis(100));
                let (at, packet) = (at(10 * number), Bytes(1000));
                let (pair, marked, retransmission) = (false, false, false);
                receiver.on_packet(&Arrival {
                    at,
                    number: *number,
                    sent_at: None,
                    rtt,
                    packet,
                    pair,
                    marked,
                    retransmission,
                });
            }
            (receiver.window, receiver.mean())
        };
        // Slow start: rounds of 2, 4 and 8 arrivals end at windows of 4, 8 and 16; their mean.
        assert_eq!(window_after(&[0, 1]), (4.0, 4.0));
        assert_eq!(window_after(&[2, 3, 4, 5]), (8.0, 6.0));
        assert_eq!(window_after(&(6..14).collect::<Vec<_>>()), (16.0, 28.0 / 3.0));
        // 14 is lost: two arrivals later 18 packets of window, halved with the third.
        assert_eq!(window_after(&[15, 16]), (18.0, 28.0 / 3.0));
        assert_eq!(window_after(&[17]), (9.0, 28.0 / 3.0));
        // Packets sent from 18 on make a new loss.
        assert_eq!(window_after(&[19, 20]).1, 28.0 / 3.0);
        let (w, _) = window_after(&[21]);
        // 9 + 1/9 + 1/9.111 = 9.220867, halved; an epoch without a round counts as its last window.
        close(w, 9.220_867 / 2.0);
        close(window_after(&[]).1, (9.220_867 + 28.0 / 3.0) / 2.0);
        // A round of 4.61 arrivals is five: 4.610434 + 1/4.61 + … = 5.608566.
        let (w, mean) = window_after(&[22, 23, 24, 25, 26]);
        close(w, 5.608_566);
        // The present epoch would lower the mean of the others, and does not count.
        close(mean, (9.220_867 + 28.0 / 3.0) / 2.0);
    }

    #[test]
    fn the_sender_spreads_the_window_over_a_round_trip() {
        let mut tear = Tear { rate: Rate(1.0), timer: NoFeedbackTimer::new(SHORTEST), most: None, validate: true };
        tear.on_ack(&view(0), &ack(1, Remote { window: Some(Packets(12.5)), ..Remote::default() }));
        assert_eq!(tear.rate, Rate(125.0));
        tear.on_wake(&view(400));
        assert_eq!(tear.rate, Rate(62.5));
    }
}
