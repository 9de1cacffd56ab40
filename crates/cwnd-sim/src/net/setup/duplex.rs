//! Channels that links share.

use std::fmt;

use cwnd::{Span, quantity};

use super::{Discipline, LinkSetup};
use crate::error::{SetupError, SetupPart, in_range};

/// Whether the two directions of a link transmit at the same time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Duplex {
    /// They do.
    #[default]
    Full,
    /// They share one channel, in turns.
    Half(Sharing),
}

/// How links share a channel. They take turns, in the order of the setup; a link in which no packet waits is passed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sharing {
    /// What each turn costs before its first packet, for contention or a grant; at most 1 s.
    pub access: Span,
    /// Most packets of a turn; at least 1. Fewer if the queue becomes empty.
    pub burst: u32,
}

/// A link that transmits only while no other one of its channel does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HalfDuplex {
    /// The number of the channel, which all its links have.
    pub channel: u32,
    /// Turns and access, equal for all links of a channel.
    pub sharing: Sharing,
}

impl Sharing {
    /// The longest access.
    pub const MOST: Span = Span::from_secs(1);
}

impl Default for Sharing {
    /// Turns of a packet without overhead.
    fn default() -> Self {
        Self { access: Span::ZERO, burst: 1 }
    }
}

/// A text that [`DUPLEXES`](crate::notation::DUPLEXES) reads as this.
impl fmt::Display for Duplex {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full => out.write_str("full"),
            Self::Half(Sharing { access, burst }) => {
                write!(out, "half:access={},burst={burst}", quantity::exact(*access))
            }
        }
    }
}

impl LinkSetup {
    /// Checks the link as one of a channel.
    pub(super) fn check_half_duplex(&self, part: &SetupPart) -> Result<(), SetupError> {
        let Some(HalfDuplex { sharing, .. }) = self.half_duplex else { return Ok(()) };
        let accepted = "`full` for a link without a `rate`";
        in_range(self.rate.is_some(), part, "duplex", accepted)?;
        let ranges = sharing.burst > 0 && sharing.access <= Sharing::MOST;
        in_range(ranges, part, "duplex", "`half` with an `access` of at most 1 s and a `burst` of at least 1")?;
        let pulls = matches!(
            self.discipline,
            Discipline::DropTail
                | Discipline::Drr(_)
                | Discipline::CoDel(_)
                | Discipline::FqCoDel(_)
                | Discipline::Cake(_)
                | Discipline::DualPi2(_)
        );
        let accepted = "`full` with this queue; `half` with `droptail`, `drr`, `codel`, `fq_codel`, `cake` or `dualpi2`, which do not \
                        decide before the channel is free";
        in_range(pulls, part, "duplex", accepted)?;
        let always = self.deliveries.is_none() && self.impairments.shaper.is_none();
        in_range(always, part, "duplex", "`full` with a `shaper` or a `trace` of deliveries, which let a channel rest")
    }
}
