//! TFRC: the rate that TCP's throughput equation gives for the loss event rate the receiver reports (RFC 5348).
//!
//! The sender is here, sections 3 and 4 of the RFC; [`Receiver`] is sections 5 and 6.

mod equation;
mod receiver;

use alloc::boxed::Box;

pub use equation::equation;
pub use receiver::Receiver;

use super::{bounded, measured, within};
use crate::control::{CongestionControl, Control, Pacing};
use crate::entry::{Basis, Entry, Family, InvalidParameter, Transport};
use crate::parameter::Parameter;
use crate::signal::{Ack, Congestion, Limit, Start, View};
use crate::units::{Packets, Rate, Span, Time};

/// TFRC's sender.
#[derive(Clone, Debug)]
pub struct Tfrc {
    /// X, the allowed rate.
    rate: Rate,
    /// p as last reported.
    loss: f64,
    /// R, none before the first report.
    rtt: Option<Span>,
    received: Received,
    /// tld: when slow start last doubled the rate.
    doubled: Option<Time>,
    /// When the no-feedback timer expires.
    no_feedback_at: Option<Time>,
    /// W_init (section 4.2).
    initial_window: Packets,
}

/// X_recv_set: the rates reported within the last two round trips (section 4.3).
#[derive(Clone, Copy, Debug)]
struct Received {
    /// Newest first.
    reports: [Option<(Time, f64)>; 4],
}

impl Tfrc {
    /// A sender of one packet per second until the first report.
    #[must_use]
    pub fn new(start: &Start) -> Self {
        let segment = f64::from(start.packet.0.max(1));
        Self {
            rate: Rate(1.0),
            loss: 0.0,
            rtt: None,
            received: Received::only(Time::ZERO, f64::INFINITY),
            doubled: None,
            no_feedback_at: None,
            initial_window: Packets((INITIAL_BYTES / segment).clamp(2.0, 4.0)),
        }
    }

    /// The equation's rate at the last report; none before a loss.
    fn equation(&self) -> Option<f64> {
        let rtt = self.rtt.filter(|_| self.loss > 0.0)?;
        Some(equation(self.loss, rtt).0)
    }

    /// Section 4.3, step 4, with `limit` (recv_limit) in force.
    fn update(&mut self, now: Time, limit: f64, rtt: Span) {
        if let Some(equation) = self.equation() {
            self.rate = allowed(equation.min(limit));
        } else if self.doubled.is_none_or(|then| now.since(then) >= rtt) {
            let initial = self.initial_window / rtt;
            self.rate = allowed((2.0 * self.rate.0).min(limit).max(initial.0));
            self.doubled = Some(now);
        }
    }

    /// Section 4.3, step 6.
    fn time_out_after(&self, rtt: Span) -> Span {
        (rtt * 4).max(Packets(2.0) / self.rate).max(SHORTEST)
    }

    /// Section 4.4: a sender without data may keep a rate that it could have at once anyway.
    fn may_keep(&self, view: &View) -> bool {
        let Some(rtt) = self.rtt.filter(|_| view.limit == Limit::Source) else { return false };
        let recover = (self.initial_window / rtt).0;
        if self.loss > 0.0 { self.received.most() < recover } else { self.rate.0 < 2.0 * recover }
    }

    /// Section 4.4: no report came until `at`.
    fn expire_no_feedback_timer(&mut self, at: Time) {
        let most = self.received.most();
        match self.equation() {
            None => self.rate = allowed(self.rate.0 / 2.0),
            Some(equation) => {
                // Half of what the reports allowed, or half of what the equation does if that is what held the rate.
                let limit = if equation > 2.0 * most { most } else { equation / 2.0 };
                let limit = within(limit, LEAST, f64::MAX);
                self.received = Received::only(at, limit / 2.0);
                self.rate = allowed(equation.min(limit));
            }
        }
    }
}

impl CongestionControl for Tfrc {
    /// The rate alone holds the sender.
    fn control(&self) -> Control {
        Control { pacing: Pacing::At(self.rate), wake: self.no_feedback_at, ..Control::window(Packets(f64::INFINITY)) }
    }

    /// Section 4.3. What carries a loss event rate is a report.
    fn on_ack(&mut self, view: &View, ack: &Ack) {
        let (Some(loss), Some(known)) = (ack.remote.loss_event_rate, view.rtt) else { return };
        let sample = known.latest - known.ack_delay;
        let rtt = self.rtt.map_or(sample, |old| old.mul_f64(SMOOTHING) + sample.mul_f64(1.0 - SMOOTHING));
        self.rtt = Some(rtt);
        let before = core::mem::replace(&mut self.loss, within(loss, 0.0, 1.0));
        let arrived = measured(ack.remote.arrival_rate).map_or(0.0, |rate| rate.0);
        let limit = if view.limit == Limit::Source && self.loss > before {
            self.received.halve();
            self.received.maximize(view.now, 0.85 * arrived)
        } else if view.limit == Limit::Source {
            2.0 * self.received.maximize(view.now, arrived)
        } else {
            2.0 * self.received.add(view.now, arrived, rtt)
        };
        self.update(view.now, limit, rtt);
        self.no_feedback_at = Some(view.now + self.time_out_after(rtt));
    }

    /// TFRC's receiver counts the losses, not its sender.
    fn on_congestion(&mut self, _view: &View, _event: &Congestion) {}

    /// The no-feedback timer, as often as it has expired.
    fn on_wake(&mut self, view: &View) {
        let rtt = self.rtt.unwrap_or(Span::ZERO);
        while let Some(due) = self.no_feedback_at.filter(|due| *due <= view.now) {
            let keeps = self.may_keep(view);
            if !keeps {
                self.expire_no_feedback_timer(due);
            }
            self.no_feedback_at = Some(if keeps { view.now } else { due } + self.time_out_after(rtt));
        }
    }

    fn inspect(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("p", self.loss);
        visit("x_recv", self.received.most());
    }

    fn boxed_clone(&self) -> Box<dyn CongestionControl> {
        Box::new(self.clone())
    }
}

impl Received {
    fn only(now: Time, rate: f64) -> Self {
        Self { reports: [Some((now, rate)), None, None, None] }
    }

    fn most(&self) -> f64 {
        self.reports.iter().flatten().map(|(_, rate)| *rate).fold(0.0, f64::max)
    }

    /// Adds a report and drops those older than two round trips, but not the one before it: the most of them.
    fn add(&mut self, now: Time, rate: f64, rtt: Span) -> f64 {
        let [first, second, third, _] = self.reports;
        let fresh = |report: Option<(Time, f64)>| report.filter(|(then, _)| now.since(*then) < rtt * 2);
        self.reports = [Some((now, rate)), fresh(first), fresh(second), fresh(third)];
        self.most()
    }

    /// Keeps the most of all there is and `rate`: where the sender had little to send, less has arrived than could have.
    fn maximize(&mut self, now: Time, rate: f64) -> f64 {
        let known = self.reports.iter().flatten().map(|(_, rate)| *rate).filter(|rate| rate.is_finite());
        let most = known.fold(rate, f64::max);
        *self = Self::only(now, most);
        most
    }

    fn halve(&mut self) {
        self.reports.iter_mut().flatten().for_each(|(_, rate)| *rate /= 2.0);
    }
}

/// Section 4.3: never less than a packet in 64 seconds.
fn allowed(rate: f64) -> Rate {
    bounded(rate.max(LEAST))
}

/// Registered as `tfrc`.
pub const TFRC: Entry<Tfrc> = Entry {
    name: "tfrc",
    title: "TCP-friendly rate control: the throughput equation at the loss event rate the receiver measures",
    family: Family::Named,
    transport: Transport::Datagram,
    basis: Basis::Losses,
    source: "RFC 5348",
    deviations: &[
        "no history discounting (section 5.5) and no reduction of oscillations (section 4.5), which are optional",
        "the rate received is counted since the newest report that is a round trip old; the RFC counts one round trip back",
        "an interval counts as limited by data if the sender lacks data when the report of it arrives",
        "a receiver that has no round-trip time yet reports on every packet; the no-feedback timer starts with the first report",
        "a congestion mark is no loss",
    ],
    parameters: &[Parameter::number("intervals", 8.0, "loss intervals that the receiver averages, a whole number")
        .at_least(2.0)
        .at_most(256.0)],
    build: |values, start| {
        if libm::floor(values.number("intervals")) == values.number("intervals") {
            Ok(Tfrc::new(start))
        } else {
            Err(InvalidParameter::new("intervals", "a whole number"))
        }
    },
    receiver: Some(|values, _start| Box::new(Receiver::new(values.number("intervals") as usize))),
};

/// Bytes of the initial window, of at least two packets and at most four (section 4.2).
const INITIAL_BYTES: f64 = 4380.0;
/// q, the share of the old round-trip time (section 4.3, step 2).
const SMOOTHING: f64 = 0.9;
/// A packet in t_mbi = 64 s (section 4.3).
const LEAST: f64 = 1.0 / 64.0;
/// The no-feedback timer at least; only a host that reports a round trip of zero would cause shorter ones.
const SHORTEST: Span = Span::from_micros(1);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::{ack, at, close, view};
    use crate::signal::Remote;
    use crate::units::Bytes;

    fn report(tfrc: &mut Tfrc, view: &View, received: f64, p: f64) -> f64 {
        let remote = Remote { arrival_rate: Some(Rate(received)), loss_event_rate: Some(p), ..Remote::default() };
        tfrc.on_ack(view, &ack(1, remote));
        tfrc.rate.0
    }

    fn starved(millis: u64) -> View {
        View { limit: Limit::Source, ..view(millis) }
    }

    fn started() -> Tfrc {
        Tfrc::new(&Start { packet: Bytes(1000), ..Start::default() })
    }

    #[test]
    fn slow_start_doubles_then_the_equation_and_what_arrives_hold() {
        let mut tfrc = started();
        assert_eq!(tfrc.rate, Rate(1.0));
        // When, packets/s received and loss event rate; then the rate.
        let script = [
            (1000, 1.0, 0.0, 40.0),  // 4 packets per round trip
            (1100, 40.0, 0.0, 80.0), // doubled; nothing is known yet that would hold it
            (1150, 80.0, 0.0, 80.0), // not twice in a round trip
            (1200, 80.0, 0.0, 160.0),
            (1300, 160.0, 0.01, 112.332), // the equation; at most 2 * 160
            (1400, 100.0, 0.001, 320.0),  // 383.844, but at most 2 * 160: the best of two round trips
            (1500, 110.0, 0.001, 220.0),  // 160 is two round trips old
            (1600, 220.0, 0.001, 383.844),
        ];
        for (millis, received, p, expected) in script {
            close(report(&mut tfrc, &view(millis), received, p), expected);
        }
        // No feedback: the timer runs for four round trips. The rate falls to half of the equation's, as more was received; then by halves.
        assert_eq!(tfrc.control().wake, Some(at(2000)));
        for (millis, expected) in [(2000, 191.922), (2400, 95.961), (2800, 47.9805)] {
            tfrc.on_wake(&view(millis));
            close(tfrc.rate.0, expected);
            assert_eq!(tfrc.control().wake, Some(at(millis + 400)));
        }
        // A wake-up that comes late makes good for two: 3200 and 3600 ms.
        tfrc.on_wake(&view(3700));
        close(tfrc.rate.0, 47.9805 / 4.0);
    }

    #[test]
    fn who_has_nothing_to_send_keeps_what_was_allowed() {
        let mut tfrc = started();
        for millis in [1000, 1100, 1200] {
            report(&mut tfrc, &view(millis), 160.0, 0.0);
        }
        close(report(&mut tfrc, &view(1300), 160.0, 0.01), 112.332);
        // Little arrives, as little was sent: the most received stays 160, and the equation holds.
        close(report(&mut tfrc, &starved(1400), 5.0, 0.01), 112.332);
        // A new loss on top: the set is halved, and the limit is 80.
        close(report(&mut tfrc, &starved(1500), 5.0, 0.0101), 80.0);
        // An expiry halves what the equation allows, since 80 is more than a restart may have at once, 40.
        tfrc.on_wake(&starved(1900));
        close(tfrc.rate.0, 55.8408);
    }
}
