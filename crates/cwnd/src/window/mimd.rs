//! MIMD(a, b): multiplicative increase, multiplicative decrease.
//!
//! One of the four linear controls of Chiu and Jain, Computer Networks and ISDN Systems 17 (1989); the ranges are those of the
//! aiad paper, section 3.2. It keeps the ratios between flows: it is not fair by itself.

use super::{Window, WindowRule};
use crate::entry::{Basis, Entry, Family, Transport};
use crate::parameter::Parameter;
use crate::signal::View;

/// The rule: `w += a` per acknowledged packet, which is `w *= 1 + a` per round trip; `w -= b w` on congestion.
#[derive(Clone, Debug)]
pub struct Mimd {
    increase: f64,
    decrease: f64,
}

impl WindowRule for Mimd {
    fn grow(&mut self, _w: f64, _view: &View) -> f64 {
        self.increase
    }

    fn cut(&mut self, w: f64, _view: &View) -> f64 {
        w - self.decrease * w
    }
}

/// Registered as `mimd`.
pub const MIMD: Entry<Window<Mimd>> = Entry {
    name: "mimd",
    title: "multiplicative increase, multiplicative decrease",
    family: Family::Baseline,
    transport: Transport::Acked,
    basis: Basis::Losses,
    source: "Chiu and Jain 1989; parameters: aiad section 3.2",
    deviations: &["The paper does not write the rule down: this is the usual one."],
    parameters: &[
        Parameter::number("a", 0.125, "growth per round trip, as a fraction of the window").above(0.0).at_most(1.0),
        Parameter::number("b", 0.125, "fraction of the window removed on congestion").above(0.1).below(1.0),
    ],
    build: |values, start| Ok(Window::new(Mimd { increase: values.number("a"), decrease: values.number("b") }, start)),
    receiver: None,
};
