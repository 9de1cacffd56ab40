//! UDT's three profiles and what each leaves to choose.

use crate::rate::Decrease;
use crate::units::{BitRate, Bytes, Packets};

/// Which UDT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Profile {
    /// The equations of daimd: 2, 8 and 21.
    Paper,
    /// The author's ns-2 agent of January 2006.
    Ns2,
    /// The library libudt 4.11.
    Udt4,
}

/// A profile with its choices.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// Which UDT.
    pub profile: Profile,
    /// The capacity of the path, or what is wished of it; measured by packet pairs if none.
    pub capacity: Option<BitRate>,
    /// Which negative feedback cuts.
    pub decrease: Decrease,
    /// The window grows by the packets acknowledged, without pacing, until the first loss.
    pub slow_start: bool,
    /// The window at the start.
    pub initial_window: Packets,
    /// The rate at the start, where that is not slow start; one packet per SYN if none.
    pub initial_rate: Option<BitRate>,
    /// The least increase per SYN, packets.
    pub floor: Packets,
    /// The share of the old window in eq. 21, above 0 and below 1.
    pub lambda: f64,
}

impl Settings {
    /// What `profile` does by itself, with packets of size `packet` on the wire.
    #[must_use]
    pub fn new(profile: Profile, packet: Bytes) -> Self {
        let (decrease, initial_window, floor) = match profile {
            Profile::Paper => (Decrease::PerInterval, 16.0, 0.0),
            Profile::Ns2 => (Decrease::Ns2, 2.0, 1.0 / f64::from(packet.0.max(1))),
            Profile::Udt4 => (Decrease::Udt4, 16.0, 0.01),
        };
        Self {
            profile,
            capacity: None,
            decrease,
            slow_start: true,
            initial_window: Packets(initial_window),
            initial_rate: None,
            floor: Packets(floor),
            lambda: 0.875,
        }
    }
}
