//! Algorithms that set a rate.
//!
//! They pace departures themselves, and the window they show only bounds what may be outstanding. Time is cut into control
//! intervals ([`Intervals`]); [`Decrease`] chooses the negative feedback that cuts the rate.

pub mod bbr;
pub mod bbr3;
pub mod copa;
pub mod daimd;
mod decrease;
mod interval;
pub mod lda;
mod no_feedback;
mod random;
pub mod rap;
pub mod sabul;
pub mod tear;
pub mod tfrc;
pub mod udt;

pub use decrease::Decrease;
pub use interval::Intervals;

use crate::units::{Packets, Rate};

/// `rate` within what a host can pace; an undefined rate becomes the least.
fn bounded(rate: f64) -> Rate {
    Rate(within(rate, LEAST_RATE, GREATEST_RATE))
}

/// The rate after a cut to `after`: never below one packet a second, so that feedback keeps arriving, unless it was slower than
/// that before.
fn cut(before: Rate, after: f64) -> Rate {
    bounded(after.max(before.0.min(CUT_FLOOR)))
}

/// `window` as a host can use it: at least one packet and finite; an undefined window becomes the smallest.
pub(crate) fn bounded_window(window: f64, greatest: f64) -> Packets {
    Packets(within(window, 1.0, greatest))
}

/// Unlike `clamp`, this returns `least` for an undefined value.
fn within(value: f64, least: f64, greatest: f64) -> f64 {
    value.max(least).min(greatest)
}

/// The rate a host reported, if it is one.
fn measured(rate: Option<Rate>) -> Option<Rate> {
    rate.filter(|rate| (LEAST_RATE..=GREATEST_RATE).contains(&rate.0))
}

/// A packet in about three years: the contract only requires a rate above zero.
const LEAST_RATE: f64 = 1e-8;
/// A packet per picosecond: beyond any link, and its products with spans of years stay finite.
pub(crate) const GREATEST_RATE: f64 = 1e12;
/// Packets per second. UDT's and DAIMD's cuts have no lower end of their own.
const CUT_FLOOR: f64 = 1.0;
/// 2^40 packets: more than a bandwidth-delay product on Earth, and every whole number below it is exact.
pub(crate) const GREATEST_WINDOW: f64 = 1_099_511_627_776.0;
