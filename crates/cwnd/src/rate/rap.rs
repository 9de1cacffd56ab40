//! RAP: AIMD of a rate, step by step.
//!
//! Rejaie, Handley and Estrin, "RAP: An end-to-end rate-based congestion control mechanism for realtime streams in the Internet",
//! INFOCOM 1999, and the authors' ns-2 agent.

use alloc::boxed::Box;

use super::{GREATEST_WINDOW, bounded, bounded_window, cut};
use crate::control::{CongestionControl, Control, Pacing};
use crate::entry::{Basis, Entry, Family, Transport};
use crate::parameter::Parameter;
use crate::signal::{Ack, Cause, Congestion, Start, View};
use crate::units::{Packets, Rate, Span, Time};

/// RAP's sender.
#[derive(Clone, Debug)]
pub struct Rap {
    alpha: f64,
    beta: f64,
    rate: Rate,
    /// The host knew the rate at the start.
    known: bool,
    /// When the step ends; none before the first round-trip sample.
    step: Option<Time>,
    /// The application or the receiver held the sender during the step.
    underused: bool,
    /// The next new packet at the last decrease: losses before it are of its cluster.
    epoch_from: u64,
    window: Packets,
    max_window: f64,
}

impl Rap {
    /// Ends the steps that have passed: `IPG' = IPG C / (IPG + C)`, which is `alpha` packets per round trip more.
    fn pass(&mut self, view: &View) {
        self.underused |= view.is_underused();
        let Some(rtt) = view.rtt.map(|rtt| rtt.smoothed.max(SHORTEST)) else { return };
        match self.step {
            None if self.known => {}
            // The inter-packet gap begins as a round trip.
            None => self.rate = bounded((Packets(1.0) / rtt).0),
            Some(end) if view.now < end => return,
            // A sender that has nothing to send learns nothing of the path.
            Some(_) if self.underused => {}
            Some(_) => self.rate = bounded(self.rate.0 + (Packets(self.alpha) / rtt).0),
        }
        self.step = Some(view.now + rtt);
        self.underused = false;
        self.bound(rtt);
    }

    fn bound(&mut self, rtt: Span) {
        self.window = bounded_window((2.0 * (self.rate * rtt).0).max(LEAST_WINDOW), self.max_window);
    }
}

impl CongestionControl for Rap {
    fn control(&self) -> Control {
        Control { pacing: Pacing::At(self.rate), wake: self.step, ..Control::window(self.window) }
    }

    fn on_ack(&mut self, view: &View, _ack: &Ack) {
        self.pass(view);
    }

    fn on_congestion(&mut self, view: &View, event: &Congestion) {
        let cluster = event.first < self.epoch_from && !event.separate && event.cause != Cause::Timeout;
        if cluster {
            return;
        }
        self.rate = cut(self.rate, self.rate.0 * self.beta);
        self.epoch_from = view.next;
        if let Some(rtt) = view.rtt.map(|rtt| rtt.smoothed.max(SHORTEST)) {
            self.step = Some(view.now + rtt);
            self.bound(rtt);
        }
    }

    fn on_wake(&mut self, view: &View) {
        self.pass(view);
        // Without a round trip there is nothing to wait for.
        self.step = self.step.filter(|end| *end > view.now);
    }

    fn boxed_clone(&self) -> Box<dyn CongestionControl> {
        Box::new(self.clone())
    }
}

/// Registered as `rap`.
pub const RAP: Entry<Rap> = Entry {
    name: "rap",
    title: "RAP: AIMD of a rate, one packet per round trip more in each",
    family: Family::Named,
    transport: Transport::Acked,
    basis: Basis::Losses,
    source: "Rejaie, Handley and Estrin, INFOCOM 1999, and the authors' ns-2 agent",
    deviations: &[
        "lost packets are sent again; RAP leaves that to the application",
        "losses and timeouts are the transport's; RAP has a timer per packet",
        "no fine-grain adaptation of the gap to the short-term round trip",
        "a window of twice the rate times the round trip, at least four packets, stops a sender without feedback",
    ],
    parameters: &[
        Parameter::number("alpha", 1.0, "increase per round trip, in packets per round trip").above(0.0).at_most(1e6),
        Parameter::number("beta", 0.5, "fraction of the rate kept on a loss").above(0.0).below(1.0),
    ],
    build: |values, start| Ok(new(values.number("alpha"), values.number("beta"), start)),
    receiver: None,
};

fn new(alpha: f64, beta: f64, start: &Start) -> Rap {
    let max_window = bounded_window(start.max_window.0, GREATEST_WINDOW).0;
    // A rate that the host knows is that of the window in a round trip.
    let window = if start.rate.is_some() { (2.0 * start.window.0).max(LEAST_WINDOW) } else { start.window.0 };
    let window = bounded_window(window, max_window);
    let rate = start.rate.map_or(FIRST_RATE, |rate| bounded(rate.0));
    let known = start.rate.is_some();
    Rap { alpha, beta, rate, known, step: None, underused: false, epoch_from: 0, window, max_window }
}

/// A packet in two seconds until a round trip is known (ns-2).
const FIRST_RATE: Rate = Rate(0.5);
/// So that three packets can follow a lost one.
const LEAST_WINDOW: f64 = 4.0;
/// A shorter round trip only a host would report that has none.
const SHORTEST: Span = Span::from_micros(1);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::{ack, view};
    use crate::signal::Remote;

    #[test]
    fn ten_steps_by_hand() {
        let mut rap = new(1.0, 0.5, &Start::default());
        // When, whether packet 100 n is lost, then the rate: a round trip of 100 ms is a step, and 10 packets/s.
        let script = [
            (0, None, 10.0),
            (90, None, 10.0),
            (100, None, 20.0),
            (200, None, 30.0),
            (300, None, 40.0),
            (350, Some(3), 20.0), // half, and the step begins anew
            (360, Some(2), 20.0), // sent before that
            (440, None, 20.0),
            (450, None, 30.0),
            (550, None, 40.0),
            (560, Some(6), 20.0),
        ];
        for (millis, lost, rate) in script {
            let view = View { next: millis, ..view(millis) };
            match lost {
                None => rap.on_ack(&view, &ack(1, Remote::default())),
                Some(n) => rap.on_congestion(&view, &Congestion::loss(100 * n + 50, 1)),
            }
            assert_eq!(rap.rate.0, rate, "at {millis} ms");
        }
        assert_eq!(rap.window, Packets(4.0));
    }
}
