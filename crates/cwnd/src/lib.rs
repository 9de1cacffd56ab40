//! Congestion-control algorithms, each written once as a small value.
//!
//! An algorithm here has no clock, socket or random device: a host passes it what happened ([`signal`]) and reads what it
//! requests ([`control`]). The same value runs in a model, a packet simulator and a real transport. This crate does not know any of
//! these hosts, allocates nothing per signal, and is `no_std`.
//!
//! Start reading at [`control::CongestionControl`], then [`window`] for the shell that window algorithms share, then any file
//! named after an algorithm. [`registry`] lists them all with their parameters.
//!
//! A host that acknowledges a packet and then loses one:
//!
//! ```
//! use cwnd::host::{Facts, Moment};
//! use cwnd::{Ack, Bytes, Congestion, CongestionControl, Limit, Packets, Span, Spec, Start, Time};
//!
//! let mut algorithm = Spec::parse("reno")?.start(&Start::default());
//! assert_eq!(algorithm.control().window, Packets(10.0));
//!
//! let mut facts = Facts::new(Time::ZERO, u64::MAX, Bytes(1500), Bytes(1460));
//! let now = Time::ZERO + Span::from_millis(40);
//! facts.limits.set(now, Limit::Window);
//! facts.rtt.on_sample(Span::from_millis(40), Span::ZERO);
//! facts.counts.delivered += 1;
//! let view = facts.view(&Moment::new(now, 10, 10));
//! algorithm.on_ack(&view, &Ack::fluid(&view, Packets(1.0)));
//! assert_eq!(algorithm.control().window, Packets(11.0), "slow start");
//!
//! facts.counts.lost += 1;
//! let view = facts.view(&Moment::new(now, 12, 11));
//! algorithm.on_congestion(&view, &Congestion::loss(1, 1));
//! assert_eq!(algorithm.control().window, Packets(5.5));
//! # Ok::<(), cwnd::registry::SpecError>(())
//! ```

#![no_std]
// A new field or variant breaks no other crate. Each exception has its reason.
#![warn(clippy::exhaustive_enums, clippy::exhaustive_structs)]

extern crate alloc;
#[cfg(test)]
extern crate std;

#[macro_use]
pub mod control;
mod bounded;
pub mod builtin;
mod entry;
pub mod estimate;
pub mod host;
mod nearest;
pub mod notation;
mod parameter;
pub mod quantity;
pub mod random;
pub mod rate;
pub mod registry;
pub mod router;
#[cfg(test)]
mod script;
pub mod signal;
#[cfg(feature = "testing")]
pub mod testing;
pub mod units;
pub mod window;
mod wrapper;

pub use builtin::{Algorithm, Visitor};
pub use control::{CongestionControl, Control, Pacing, Probe, ReceiverSide, Stamp};
pub use nearest::nearest;
pub use registry::{ALGORITHMS, Entry, Maker, Spec};
pub use signal::{Ack, Arrival, Cause, Congestion, Limit, RateSample, Remote, Resume, Rtt, Signal, Start, View};
pub use units::{BitRate, Bytes, Packets, Rate, Span, Time};
pub use wrapper::{Wrapped, Wrapper};
