//! AILD: additive increase, loss-proportional decrease.
//!
//! Cited by the aiad paper (section 2) from a poster: on congestion the window falls by a constant times the loss ratio.

use super::{Window, WindowRule};
use crate::entry::{Basis, Entry, Family, Transport};
use crate::parameter::Parameter;
use crate::signal::View;

/// The rule: `w += a/w` per acknowledged packet, `w -= min(d l, 1/2) w` on congestion, where `l` of the packets since the last one
/// were lost.
#[derive(Clone, Debug)]
pub struct Aild {
    increase: f64,
    decrease: f64,
    /// Packets lost and delivered when the epoch began.
    lost: u64,
    delivered: u64,
}

impl WindowRule for Aild {
    fn grow(&mut self, w: f64, _view: &View) -> f64 {
        self.increase / w
    }

    fn cut(&mut self, w: f64, view: &View) -> f64 {
        // Congestion that lost nothing, by a mark, counts as one packet lost.
        let lost = view.lost.saturating_sub(self.lost).max(1) as f64;
        let delivered = view.delivered.saturating_sub(self.delivered) as f64;
        w - (self.decrease * lost / (lost + delivered)).min(0.5) * w
    }

    fn epoch(&mut self, _before: Option<f64>, _after: f64, view: &View) {
        (self.lost, self.delivered) = (view.lost, view.delivered);
    }
}

/// Registered as `aild`.
pub const AILD: Entry<Window<Aild>> = Entry {
    name: "aild",
    title: "additive increase, loss-proportional decrease",
    family: Family::Named,
    transport: Transport::Acked,
    basis: Basis::Losses,
    source: "named in the aiad paper, section 2, from a poster",
    deviations: &[
        "the loss ratio is taken since the last decrease; the text gives no time",
        "the constant is not given: with 50 one loss in a hundred halves the window, and no more than half is ever taken",
    ],
    parameters: &[
        Parameter::number("a", 1.0, "increase per round trip").unit("packets").above(0.0).at_most(1e6),
        Parameter::number("d", 50.0, "decrease, times the loss ratio, as a fraction of the window")
            .above(0.0)
            .at_most(1e6),
    ],
    build: |values, start| {
        let [increase, decrease] = ["a", "d"].map(|name| values.number(name));
        Ok(Window::new(Aild { increase, decrease, lost: 0, delivered: 0 }, start))
    },
    receiver: None,
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::{close, view};

    #[test]
    fn ten_steps_by_hand() {
        let mut aild = Aild { increase: 1.0, decrease: 50.0, lost: 0, delivered: 0 };
        let mut w = 20.0;
        // Delivered and lost so far at a cut, the window before it, and after.
        let script = [
            (99, 1, 20.0, 10.0),   // 1 of 100 is 0.01: half
            (1098, 2, 20.0, 19.0), // 1 of 1000: 0.05
            (1497, 3, 20.0, 17.5), // 1 of 400: 0.125
            (1501, 7, 20.0, 10.0), // 4 of 8: no more than half
            (6500, 8, 40.0, 39.6), // 1 of 5001 is nearly 1 of 5000: 0.01
        ];
        aild.epoch(None, w, &view(0));
        for (delivered, lost, before, after) in script {
            let view = View { delivered, lost, ..view(0) };
            w = aild.cut(before, &view);
            assert!((w - after).abs() < 1e-3, "{w}, not {after}");
            aild.epoch(Some(before), w, &view);
        }
        // Growth: 39.6 + 1/39.6, and so on.
        let mut grown = 40.0;
        for expected in [40.025, 40.049_984, 40.074_953, 40.099_907, 40.124_844] {
            grown += aild.grow(grown, &view(0));
            close(grown, expected);
        }
    }
}
