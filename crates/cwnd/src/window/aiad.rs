//! AIAD(a, d): additive increase, additive decrease, and an optional small multiplicative part in the decrease.
//!
//! Akella, Seshan, Shenker and Stoica, CMU-CS-02-139, as compared by Reddy, Sireesha and Kumar (the aiad paper). Under common
//! feedback AIAD keeps the differences between flows: it is not fair by itself.

use super::{Window, WindowRule};
use crate::entry::{Basis, Entry, Family, Transport};
use crate::parameter::Parameter;
use crate::signal::View;

/// The rule: `w += a/w` per acknowledged packet, `w -= d + c w` on congestion.
#[derive(Clone, Debug)]
pub struct Aiad {
    increase: f64,
    decrease: f64,
    fraction: f64,
}

impl WindowRule for Aiad {
    fn grow(&mut self, w: f64, _view: &View) -> f64 {
        self.increase / w
    }

    fn cut(&mut self, w: f64, _view: &View) -> f64 {
        w - self.decrease - self.fraction * w
    }
}

/// Registered as `aiad`.
pub const AIAD: Entry<Window<Aiad>> = Entry {
    name: "aiad",
    title: "additive increase, additive decrease",
    family: Family::Core,
    transport: Transport::Acked,
    basis: Basis::Losses,
    source: "aiad section 3 (AIAD(1,3)) and section 6 (the multiplicative part)",
    deviations: &["The paper gives no floor: congestion leaves as many packets as it leaves Reno."],
    parameters: &[
        Parameter::number("a", 1.0, "increase per round trip").unit("packets").above(0.0).at_most(1e6),
        Parameter::number("d", 3.0, "decrease on congestion").unit("packets").above(0.0).at_most(1e6),
        Parameter::number("c", 0.0, "fraction of the window removed besides d").at_least(0.0).below(1.0),
    ],
    build: |values, start| {
        let rule = Aiad { increase: values.number("a"), decrease: values.number("d"), fraction: values.number("c") };
        Ok(Window::new(rule, start))
    },
    receiver: None,
};
