//! Binomial(k, l, a, b): increase by `a / w^k` per round trip, decrease by `b w^l`. IIAD and SQRT are two of them.
//!
//! Bansal and Balakrishnan, INFOCOM 2001. A binomial control can be TCP-friendly if `k + l = 1`. The simd paper compares with
//! IIAD (`k = 1`, `l = 0`).

use super::{Window, WindowRule};
use crate::entry::{Basis, Entry, Family, Transport};
use crate::parameter::{Parameter, Values};
use crate::signal::{Start, View};

/// The rule: `w += a / w^(k+1)` per acknowledged packet, `w -= b w^l` on congestion.
#[derive(Clone, Debug)]
pub struct Binomial {
    k: f64,
    l: f64,
    increase: f64,
    decrease: f64,
}

/// The increase with which IIAD and SQRT get TCP's throughput: `3b / 2`, to first order in the relative decrease.
#[must_use]
pub fn friendly_increase(b: f64) -> f64 {
    1.5 * b
}

impl WindowRule for Binomial {
    fn grow(&mut self, w: f64, _view: &View) -> f64 {
        self.increase / power(w, self.k + 1.0)
    }

    fn cut(&mut self, w: f64, _view: &View) -> f64 {
        w - self.decrease * power(w, self.l)
    }
}

/// `w` to the `exponent`. The exponents of the named controls do without logarithms, for this is called per packet.
fn power(w: f64, exponent: f64) -> f64 {
    match exponent {
        0.0 => 1.0,
        0.5 => libm::sqrt(w),
        1.0 => w,
        1.5 => w * libm::sqrt(w),
        2.0 => w * w,
        _ => libm::pow(w, exponent),
    }
}

/// Registered as `binomial`.
pub const BINOMIAL: Entry<Window<Binomial>> = Entry {
    name: "binomial",
    title: "binomial control: increase a/w^k per round trip, decrease b w^l",
    family: Family::Baseline,
    transport: Transport::Acked,
    basis: Basis::Losses,
    source: "Bansal and Balakrishnan, INFOCOM 2001; simd section 2",
    deviations: &["The papers give no floor: congestion leaves as many packets as it leaves Reno."],
    parameters: &[
        Parameter::number("k", 1.0, "exponent of the increase").at_least(-1.0).at_most(4.0),
        Parameter::number("l", 0.0, "exponent of the decrease").at_least(0.0).at_most(1.0),
        INCREASE,
        DECREASE,
    ],
    build: |values, start| Ok(start_with(values, start, values.number("k"), values.number("l"))),
    receiver: None,
};

/// Registered as `iiad`.
pub const IIAD: Entry<Window<Binomial>> = Entry {
    name: "iiad",
    title: "inverse increase, additive decrease: the binomial control with k = 1, l = 0",
    parameters: &[INCREASE, DECREASE],
    build: |values, start| Ok(start_with(values, start, 1.0, 0.0)),
    ..BINOMIAL
};

/// Registered as `sqrt`.
pub const SQRT: Entry<Window<Binomial>> = Entry {
    name: "sqrt",
    title: "square root: the binomial control with k = l = 1/2",
    family: Family::Named,
    parameters: &[INCREASE, DECREASE],
    build: |values, start| Ok(start_with(values, start, 0.5, 0.5)),
    ..BINOMIAL
};

fn start_with(values: &Values, start: &Start, k: f64, l: f64) -> Window<Binomial> {
    let decrease = values.number("b");
    let increase = values.given("a").unwrap_or_else(|| friendly_increase(decrease));
    Window::new(Binomial { k, l, increase, decrease }, start)
}

const INCREASE: Parameter =
    Parameter::derived("a", "3b/2, TCP-friendly where k + l = 1", "increase per round trip, times w^k")
        .above(0.0)
        .at_most(1e6);
const DECREASE: Parameter = Parameter::number("b", 2.0 / 3.0, "decrease on congestion, over w^l").above(0.0).below(1.0);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponents_without_logarithms_agree_with_those_with() {
        for exponent in [0.0, 0.5, 1.0, 1.5, 2.0] {
            let close = libm::pow(37.3, exponent);
            assert!((power(37.3, exponent) / close - 1.0).abs() < 1e-15, "exponent {exponent}");
        }
    }

    #[test]
    fn the_friendly_increase_of_the_paper() {
        assert_eq!(friendly_increase(2.0 / 3.0), 1.0);
    }
}
