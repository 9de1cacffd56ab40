//! The ways in which a first slow start ends before the queue overflows.

use alloc::boxed::Box;

use super::hystart::HyStart;
use super::policy::SlowStart;
use super::search::Search;
use crate::signal::View;

/// The detector of a full path.
#[derive(Clone, Debug)]
pub(super) enum Exit {
    HyStart(HyStart),
    /// Boxed: its bins are larger than all else that a flow has.
    Search(Box<Search>),
}

impl Exit {
    /// The detector of `slow_start`; none where losses alone end it.
    pub(super) fn of(slow_start: SlowStart) -> Option<Self> {
        match slow_start {
            SlowStart::Standard | SlowStart::Limited { .. } => None,
            SlowStart::HyStart => Some(Self::HyStart(HyStart::default())),
            SlowStart::Search => Some(Self::Search(Box::default())),
        }
    }

    /// The divisor of the growth of slow start.
    pub(super) fn divisor(&self) -> f64 {
        match self {
            Self::HyStart(hystart) => hystart.divisor(),
            Self::Search(_) => 1.0,
        }
    }

    /// The packets that an acknowledgement counts for at most where departures are not paced; none for no bound.
    pub(super) fn most_per_ack(&self) -> Option<u32> {
        match self {
            Self::HyStart(_) => Some(HyStart::MOST_PER_ACK),
            Self::Search(_) => None,
        }
    }

    /// Takes in an acknowledgement; whether slow start ends now.
    pub(super) fn on_ack(&mut self, view: &View) -> bool {
        match self {
            Self::HyStart(hystart) => hystart.on_ack(view),
            Self::Search(search) => search.on_ack(view),
        }
    }
}
