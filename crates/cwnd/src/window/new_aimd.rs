//! New AIMD: a cut halves the window a flow began with and keeps its later increments.
//!
//! Jasem, Zukarnain, Othman and Subramaniam, "The New AIMD congestion control algorithm" (2009). The window is `base + inc`:
//! the base the flow entered congestion avoidance with, and one packet for every round trip since. The paper states three
//! different algorithms: its equations (1)-(4), its pseudo-code, and its conclusion. All three are here.

use super::{Window, WindowRule};
use crate::entry::{Basis, Entry, Family, Transport};
use crate::parameter::Parameter;
use crate::signal::View;

/// The rule: `inc += 1/w` per acknowledged packet; on congestion one of `base` and `inc` is halved.
#[derive(Clone, Debug)]
pub struct NewAimd {
    variant: Variant,
    floor: f64,
    /// The rest of the window is increments, so the window itself keeps count of them.
    base: f64,
}

/// Which of the paper's three statements holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Variant {
    /// The base is halved, the increments are kept (eqs. 1-4).
    Equations,
    /// As printed: the same, but the counter of increments runs on through a round trip with congestion.
    PseudoCode,
    /// The base is kept, the increments are halved ("x + k, then x + k/2").
    Conclusion,
}

impl NewAimd {
    /// New AIMD before its first epoch. Where the base is below `floor`, a cut is AIMD's and starts a new base.
    #[must_use]
    pub fn new(variant: Variant, floor: f64) -> Self {
        Self { variant, floor, base: 0.0 }
    }

    /// The part of window `w` that is base: all of it where the host had less in the network than the base.
    fn base(&self, w: f64) -> f64 {
        self.base.min(w)
    }
}

impl WindowRule for NewAimd {
    fn grow(&mut self, w: f64, _view: &View) -> f64 {
        1.0 / w
    }

    fn cut(&mut self, w: f64, _view: &View) -> f64 {
        let base = self.base(w);
        match self.variant {
            _ if base < self.floor => w / 2.0,
            Variant::Equations => w - base / 2.0,
            Variant::PseudoCode => w - base / 2.0 + 1.0,
            Variant::Conclusion => base + (w - base) / 2.0,
        }
    }

    fn epoch(&mut self, before: Option<f64>, after: f64, _view: &View) {
        let Some(before) = before else {
            self.base = after;
            return;
        };
        let base = self.base(before);
        self.base = match self.variant {
            _ if base < self.floor => after,
            Variant::Conclusion => base.min(after),
            // A cut below the kept increments was not this rule's: none of them are left.
            _ if after < before - base => after,
            _ => base / 2.0,
        };
    }

    fn inspect(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("base", self.base);
    }
}

/// Registered as `new-aimd`.
pub const NEW_AIMD: Entry<Window<NewAimd>> = Entry {
    name: "new-aimd",
    title: "AIMD that halves only the window it began with",
    family: Family::Core,
    transport: Transport::Acked,
    basis: Basis::Losses,
    source: "Jasem, Zukarnain, Othman and Subramaniam 2009, eqs. 1-4, pseudo-code and conclusion. It is also called `aimd-fc` here: \
             AIMD-FC (Lahanas and Tsaoussidis, Networks 2002), on which it builds, was not available, and eqs. 1-4 state its idea",
    deviations: &[
        "The paper knows round trips only: here a packet acknowledged adds 1/w.",
        "The decrease of the paper tends to nothing: with a base below `floor` a cut is AIMD's and starts a new base (0: never).",
        "The window at the end of slow start is the base; the paper does not say.",
    ],
    parameters: &[
        Parameter::choice(
            "variant",
            &["E", "P", "C"],
            "which statement holds: equations, pseudo-code as printed, conclusion",
        ),
        Parameter::number("floor", 1.0, "below this base a cut is AIMD's").unit("packets").at_least(0.0).at_most(1e6),
    ],
    build: |values, start| {
        let variant = match values.choice("variant") {
            "P" => Variant::PseudoCode,
            "C" => Variant::Conclusion,
            _ => Variant::Equations,
        };
        Ok(Window::new(NewAimd::new(variant, values.number("floor")), start))
    },
    receiver: None,
};
