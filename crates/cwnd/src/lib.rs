//! Congestion-control algorithms, each written once as a small value.
//!
//! An algorithm here has no clock, socket or random device: a host passes it what happened ([`signal`]) and reads what it
//! requests ([`control`]). The same value runs in a model, a packet simulator and a real transport. This crate does not know any of
//! these hosts, allocates nothing per signal, and is `no_std`.
//!
//! Start reading at [`control::CongestionControl`], then [`window`] for the shell that window algorithms share, then any file
//! named after an algorithm. [`registry`] lists them all with their parameters.

#![no_std]

extern crate alloc;
#[cfg(test)]
extern crate std;

#[macro_use]
pub mod control;
pub mod builtin;
mod entry;
pub mod estimate;
pub mod host;
pub mod mutants;
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
pub use registry::{ALGORITHMS, Entry, Maker, Spec};
pub use signal::{Ack, Arrival, Cause, Congestion, Limit, RateSample, Remote, Rtt, Signal, Start, View};
pub use units::{BitRate, Bytes, Packets, Rate, Span, Time};
pub use wrapper::{Wrapped, Wrapper};
