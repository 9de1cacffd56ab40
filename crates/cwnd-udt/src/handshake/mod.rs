//! Handshakes: of a client with a listener, or of two ends of a rendezvous.
//!
//! The state machines here have no socket and no table of connections. They handle received handshakes, and are polled for handshakes
//! to send; [`Endpoint`](crate::Endpoint) holds them.

mod client;
mod cookie;
mod listener;
mod offer;
mod rendezvous;

pub(crate) use client::Client;
pub(crate) use listener::{Answer, Listener, rejection};
pub(crate) use offer::Offer;
pub use offer::{Agreed, Refusal};
pub(crate) use rendezvous::Rendezvous;
