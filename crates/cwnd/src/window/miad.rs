//! MIAD(a, d): multiplicative increase, additive decrease.
//!
//! One of the four linear controls of Chiu and Jain, Computer Networks and ISDN Systems 17 (1989), named in the aiad paper. It
//! drives flows apart: here to show just that.

use super::{Window, WindowRule};
use crate::entry::{Basis, Entry, Family, Transport};
use crate::parameter::Parameter;
use crate::signal::View;

/// The rule: `w += a` per acknowledged packet, which is `w *= 1 + a` per round trip; `w -= d` on congestion.
#[derive(Clone, Debug)]
pub struct Miad {
    increase: f64,
    decrease: f64,
}

impl WindowRule for Miad {
    fn grow(&mut self, _w: f64, _view: &View) -> f64 {
        self.increase
    }

    fn cut(&mut self, w: f64, _view: &View) -> f64 {
        w - self.decrease
    }
}

/// Registered as `miad`.
pub const MIAD: Entry<Window<Miad>> = Entry {
    name: "miad",
    title: "multiplicative increase, additive decrease",
    family: Family::Named,
    transport: Transport::Acked,
    basis: Basis::Losses,
    source: "Chiu and Jain 1989; named in aiad section 2",
    deviations: &["The paper does not write the rule down: this is the usual one, with a floor of one packet."],
    parameters: &[
        Parameter::number("a", 0.125, "growth per round trip, as a fraction of the window").above(0.0).at_most(1.0),
        Parameter::number("d", 3.0, "decrease on congestion").unit("packets").above(0.0).at_most(1e6),
    ],
    build: |values, start| Ok(Window::new(Miad { increase: values.number("a"), decrease: values.number("d") }, start)),
    receiver: None,
};
