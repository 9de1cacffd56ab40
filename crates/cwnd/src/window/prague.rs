//! Prague: a scalable controller for L4S, with the share of marks as DCTCP and less dependence on the round-trip time.
//!
//! draft-briscoe-iccrg-prague-congestion-control-04; section numbers are its own.

use alloc::boxed::Box;

use super::{Window, WindowRule};
use crate::control::Pacing;
use crate::entry::{Basis, Entry, Family, Transport};
use crate::parameter::{Measure, Parameter};
use crate::signal::{Ack, View};
use crate::units::{Span, Time};

/// The rule: `w += 1/(m² w)` per packet that was not marked, `w -= alpha/2 w` at most once in a virtual round trip, with alpha the filtered share of
/// packets marked and m the ratio of the virtual round-trip time to the real one.
#[derive(Clone, Debug)]
pub struct Prague {
    /// Boxed, since each flow of a simulation has room for the largest algorithm.
    parameters: Box<Parameters>,
    /// The filtered share; none before the first mark.
    alpha: Option<f64>,
    acked: f64,
    marked: f64,
    /// The instant from which the next share is measured.
    from: Time,
    /// The last cut for a mark.
    cut_at: Option<Time>,
    /// Congestion avoidance has begun.
    avoids: bool,
}

#[derive(Clone, Debug)]
struct Parameters {
    g: f64,
    floor: f64,
    /// The least virtual round-trip time, seconds.
    rtt_ref: f64,
    /// Round trips until it applies.
    after: f64,
}

impl Prague {
    /// The virtual round-trip time, and its ratio to the real one (section 2.4.4); the ratio is 1 on paths with longer round trips, and at the
    /// beginning.
    fn virtual_rtt(&self, view: &View) -> (f64, f64) {
        let real = view.rtt.map_or(0.0, |rtt| rtt.smoothed.as_secs_f64());
        if real > 0.0 && real < self.parameters.rtt_ref && view.round as f64 >= self.parameters.after {
            (self.parameters.rtt_ref, self.parameters.rtt_ref / real)
        } else {
            (real, 1.0)
        }
    }
}

impl WindowRule for Prague {
    /// Section 2.4.2: the share of marks, filtered once per virtual round trip.
    fn observe(&mut self, view: &View, ack: &Ack) {
        let newly = f64::from(ack.newly);
        let marked = newly * (f64::from(ack.marked) / f64::from(ack.acks.max(1))).min(1.0);
        self.acked += newly;
        self.marked += marked;
        if marked > 0.0 && self.alpha.is_none() {
            self.alpha = Some(1.0);
        }
        let (rtt, _) = self.virtual_rtt(view);
        if rtt == 0.0 || view.now.since(self.from) < Span::from_secs_f64(rtt) || self.acked == 0.0 {
            return;
        }
        self.alpha = self.alpha.map(|alpha| alpha + self.parameters.g * (self.marked / self.acked - alpha));
        (self.acked, self.marked, self.from) = (0.0, 0.0, view.now);
    }

    fn grow(&mut self, w: f64, view: &View) -> f64 {
        let (_, ratio) = self.virtual_rtt(view);
        1.0 / (ratio * ratio * w)
    }

    /// Section 2.4.1: a loss is answered as Reno answers it.
    fn cut(&mut self, w: f64, _view: &View) -> f64 {
        w / 2.0
    }

    /// Section 2.4.3: at most once in a virtual round trip.
    fn cut_for_marks(&mut self, w: f64, view: &View) -> f64 {
        let (rtt, _) = self.virtual_rtt(view);
        if self.cut_at.is_some_and(|at| view.now.since(at) < Span::from_secs_f64(rtt)) {
            return w;
        }
        self.cut_at = Some(view.now);
        w * (1.0 - self.alpha.unwrap_or(1.0) / 2.0)
    }

    fn epoch(&mut self, _before: Option<f64>, _after: f64, _view: &View) {
        self.avoids = true;
    }

    fn floor(&self) -> Option<f64> {
        Some(self.parameters.floor)
    }

    fn needs_marks(&self) -> bool {
        true
    }

    /// Section 2.4.5: twice as fast in slow start.
    fn pacing(&self) -> Pacing {
        Pacing::Spread { gain: if self.avoids { 1.0 } else { 2.0 } }
    }

    fn inspect(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("alpha", self.alpha.unwrap_or(1.0));
    }
}

/// Registered as `prague`.
pub const PRAGUE: Entry<Window<Prague>> = Entry {
    name: "prague",
    title: "Prague: DCTCP's share of marks, paced, for L4S queues",
    family: Family::Named,
    transport: Transport::Acked,
    basis: Basis::MarkedShare,
    source: "draft-briscoe-iccrg-prague-congestion-control-04",
    deviations: &[
        "A mark between two cuts of one virtual round trip does not cut, and the packets of its acknowledgement do not grow the window.",
        "No fall-back where a queue of RFC 3168 marks; without marks (a flow without ECN) it is Reno.",
        "A loss halves the window also where a mark has cut it in the same round trip.",
    ],
    parameters: &[
        Parameter::number("g", 0.0625, "weight of the newest share of marks in alpha").above(0.0).at_most(1.0),
        Parameter::quantity(
            "rtt_ref",
            Measure::Span,
            Some(0.025),
            "",
            "the least virtual round-trip time: flows with shorter ones grow and cut as if they had it",
        ),
        Parameter::number("after", 500.0, "round trips before `rtt_ref` applies").unit("rounds").at_least(0.0).whole(),
        Parameter::number("floor", 2.0, "least window that a mark or a loss leaves")
            .unit("packets")
            .at_least(1.0)
            .at_most(1000.0),
    ],
    build: |values, start| {
        let [g, floor, rtt_ref, after] = ["g", "floor", "rtt_ref", "after"].map(|name| values.number(name));
        let rule = Prague {
            parameters: Box::new(Parameters { g, floor, rtt_ref, after }),
            alpha: None,
            acked: 0.0,
            marked: 0.0,
            from: Time::ZERO,
            cut_at: None,
            avoids: false,
        };
        Ok(Window::new(rule, start))
    },
    receiver: None,
};
