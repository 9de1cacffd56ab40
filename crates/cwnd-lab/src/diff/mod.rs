//! Two traces compared over time: where the window, the rate, the round-trip time or the state of one leaves the band around the other.
//!
//! A [`Series`] is the flow of a trace of any kind that [`overlay`](crate::overlay) reads, with times since its first packet. [`Bands`] are the
//! accepted differences. [`diff`] compares at each instant of the first trace until the earlier end of both. A [`Reference`] is a scenario
//! to compare other stacks with, and its bands.

mod band;
mod reference;
mod series;

pub use band::{Band, BandError, Bands};
pub use reference::Reference;
pub use series::{Series, SeriesError, flow};

use serde::Deserialize;

/// A quantity of a flow over time.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Quantity {
    /// The congestion window, packets.
    Window,
    /// Payload acknowledged per second, the mean of the last [`RATE_SPAN`](Series::RATE_SPAN), Mbit/s.
    Rate,
    /// The smoothed round-trip time, ms.
    Rtt,
    /// Slow start, or congestion avoidance.
    State,
}

impl Quantity {
    /// Every quantity, in the order of tables.
    pub const ALL: [Self; 4] = [Self::Window, Self::Rate, Self::Rtt, Self::State];

    /// Its name in band files and tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Window => "window",
            Self::Rate => "rate",
            Self::Rtt => "rtt",
            Self::State => "state",
        }
    }

    /// Its unit, behind a space; empty for a state.
    #[must_use]
    pub const fn unit(self) -> &'static str {
        match self {
            Self::Window => " packets",
            Self::Rate => " Mbit/s",
            Self::Rtt => " ms",
            Self::State => "",
        }
    }

    /// A value as text, with its unit.
    #[must_use]
    pub fn shown(self, value: f64) -> String {
        match self {
            Self::State if value < series::AVOIDANCE => "slow start".to_string(),
            Self::State => "congestion avoidance".to_string(),
            _ => format!("{value:.2}{}", self.unit()),
        }
    }
}

/// The comparison of a quantity.
#[derive(Clone, Debug, PartialEq)]
pub struct Compared {
    /// The quantity.
    pub quantity: Quantity,
    /// Instants at which both traces know a value and a band holds.
    pub instants: usize,
    /// Instants of these at which the difference is not accepted.
    pub outside: usize,
    /// The first of them.
    pub first: Option<Difference>,
    /// The largest difference over the accepted one; above 1 it lies outside.
    pub largest: f64,
}

/// A difference that no band accepts.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// Nanoseconds since the first packet of either flow.
    pub at: u64,
    /// The value of the first trace.
    pub ours: f64,
    /// The smallest and the largest value of the second trace within the time of the band.
    pub theirs: (f64, f64),
    /// The band.
    pub band: Band,
}

/// Compares `theirs` with `ours` by `bands`, an entry for each quantity that has a band.
#[must_use]
pub fn diff(ours: &Series, theirs: &Series, bands: &Bands) -> Vec<Compared> {
    let end = ours.end().min(theirs.end());
    let of = |quantity| {
        let mut compared = Compared { quantity, instants: 0, outside: 0, first: None, largest: 0.0 };
        for &(at, value) in ours.values(quantity).iter().take_while(|(at, _)| *at <= end) {
            let Some(band) = bands.at(quantity, at) else { continue };
            let Some((low, high)) = theirs.range(quantity, at, band.within) else { continue };
            compared.instants += 1;
            let share = band.share(value, (low, high));
            compared.largest = compared.largest.max(share);
            if share > 1.0 {
                compared.outside += 1;
                compared.first.get_or_insert_with(|| Difference {
                    at,
                    ours: value,
                    theirs: (low, high),
                    band: band.clone(),
                });
            }
        }
        compared
    };
    Quantity::ALL.into_iter().filter(|quantity| bands.has(*quantity)).map(of).collect()
}

#[cfg(test)]
mod tests;
