//! DCTCP: the window is cut by how much of it was marked, not by half.
//!
//! RFC 8257; section numbers are its own. It needs queues that mark every packet beyond a threshold, and a receiver that echoes
//! marks packet by packet (section 3.2).

use super::{Window, WindowRule};
use crate::entry::{Basis, Entry, Family, Transport};
use crate::parameter::Parameter;
use crate::signal::{Ack, View};

/// The rule: Reno, but for marks `w -= alpha/2 w`, with alpha the filtered share of packets marked.
#[derive(Clone, Debug)]
pub struct Dctcp {
    g: f64,
    floor: f64,
    alpha: f64,
    /// DCTCP.BytesAcked and DCTCP.BytesMarked, in packets.
    acked: f64,
    marked: f64,
    /// The observation window: a round trip by the host's count.
    round: u64,
}

impl WindowRule for Dctcp {
    /// Section 3.3, steps 1 to 8.
    fn observe(&mut self, view: &View, ack: &Ack) {
        let newly = f64::from(ack.newly);
        self.acked += newly;
        self.marked += newly * (f64::from(ack.marked) / f64::from(ack.acks.max(1))).min(1.0);
        if view.round == self.round || self.acked == 0.0 {
            return;
        }
        self.alpha = (1.0 - self.g) * self.alpha + self.g * self.marked / self.acked;
        (self.acked, self.marked, self.round) = (0.0, 0.0, view.round);
    }

    fn grow(&mut self, w: f64, _view: &View) -> f64 {
        1.0 / w
    }

    fn cut(&mut self, w: f64, _view: &View) -> f64 {
        w / 2.0
    }

    /// Section 3.3, step 9.
    fn cut_for_marks(&mut self, w: f64, _view: &View) -> f64 {
        w * (1.0 - self.alpha / 2.0)
    }

    fn floor(&self) -> Option<f64> {
        Some(self.floor)
    }

    fn needs_marks(&self) -> bool {
        true
    }

    fn inspect(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("alpha", self.alpha);
    }
}

/// Registered as `dctcp`.
pub const DCTCP: Entry<Window<Dctcp>> = Entry {
    name: "dctcp",
    title: "DCTCP: cuts by the share of packets marked",
    family: Family::Named,
    transport: Transport::Acked,
    basis: Basis::MarkedShare,
    source: "RFC 8257 section 3",
    deviations: &[
        "The acknowledgement whose mark cuts the window counts for alpha only afterwards.",
        "Without marks (a flow without ECN) it is Reno.",
    ],
    parameters: &[
        Parameter::number("g", 0.0625, "weight of the newest window's marks in alpha (1/16 as in Linux)")
            .above(0.0)
            .at_most(1.0),
        Parameter::number(
            "floor",
            2.0,
            "least window that a mark or a loss leaves (2 as in Linux: one packet waits for the delayed acknowledgement)",
        )
        .unit("packets")
        .at_least(1.0)
        .at_most(1000.0),
    ],
    build: |values, start| {
        // As in Linux alpha is 1 at first, so that a mark before there is an estimate halves.
        let [g, floor] = ["g", "floor"].map(|name| values.number(name));
        let rule = Dctcp { g, floor, alpha: 1.0, acked: 0.0, marked: 0.0, round: 0 };
        Ok(Window::new(rule, start))
    },
    receiver: None,
};
