//! What makes flows send: applications behind congestion-controlled senders, senders without congestion control, and crowds of
//! short flows that come and go.

mod arrivals;
pub(crate) mod cbr;
mod clock;
pub(crate) mod crowd;
mod rate;
mod size;
pub(crate) mod source;
mod web;

pub use arrivals::Gap;
pub use cbr::CbrSetup;
pub use crowd::CrowdSetup;
pub use rate::{RateChange, RateSchedule};
pub use size::Sizes;
pub use source::{Pause, Source};
pub use web::Pages;
