//! What makes flows send: applications, schedules of rates, and the arrivals and sizes of short flows.

pub(crate) mod arrivals;
mod cbr;
mod clock;
mod rate;
mod size;
pub(crate) mod source;
mod video;
pub(crate) mod web;

pub use arrivals::Interarrival;
pub use cbr::CbrSetup;
pub use rate::{RateChange, RateSchedule};
pub use size::Sizes;
pub use source::{Pause, Source};
pub use video::Video;
pub use web::Pages;
