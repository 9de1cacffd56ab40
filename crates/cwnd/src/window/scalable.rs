//! Scalable TCP: multiplicative increase per acknowledgement, so that the time between losses does not depend on the window.
//!
//! Kelly, "Scalable TCP: improving performance in highspeed wide area networks", ACM CCR 33 (2003).

use super::{Window, WindowRule};
use crate::entry::{Basis, Entry, Family, Transport};
use crate::parameter::Parameter;
use crate::signal::View;

/// The rule: `w += a` per acknowledged packet, `w -= b w` on congestion; Reno up to `low_window`.
#[derive(Clone, Debug)]
pub struct Scalable {
    increase: f64,
    decrease: f64,
    low_window: f64,
}

impl WindowRule for Scalable {
    fn grow(&mut self, w: f64, _view: &View) -> f64 {
        if w <= self.low_window { 1.0 / w } else { self.increase }
    }

    fn cut(&mut self, w: f64, _view: &View) -> f64 {
        if w <= self.low_window { w / 2.0 } else { w - self.decrease * w }
    }
}

/// Registered as `scalable`.
pub const SCALABLE: Entry<Window<Scalable>> = Entry {
    name: "scalable",
    title: "Scalable TCP: one percent per round trip, an eighth off on congestion",
    family: Family::Baseline,
    transport: Transport::Acked,
    basis: Basis::Losses,
    source: "Kelly, ACM CCR 33 (2003)",
    deviations: &[
        "Reno below 16 packets, which Kelly proposes, is off: the papers that compare with Scalable TCP do not mention it.",
    ],
    parameters: &[
        Parameter::number("a", 0.01, "growth per round trip, as a fraction of the window").above(0.0).at_most(1.0),
        Parameter::number("b", 0.125, "fraction of the window removed on congestion").above(0.0).below(1.0),
        Parameter::number("low_window", 0.0, "Reno up to this window; 0 for never, 16 in Kelly's proposal")
            .unit("packets")
            .at_least(0.0)
            .at_most(1e6),
    ],
    build: |values, start| {
        let (increase, decrease) = (values.number("a"), values.number("b"));
        Ok(Window::new(Scalable { increase, decrease, low_window: values.number("low_window") }, start))
    },
    receiver: None,
};
