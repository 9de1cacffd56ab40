//! A meeting place for two ends behind NAT: each receives the address at which the other is seen, so that they can
//! connect directly by a rendezvous of UDT; where that fails, their datagrams pass through.
//!
//! What this crate does not do: it has no sockets and reads no clock, encrypts nothing, and does not connect. Its callers own the sockets,
//! and encrypt the forwarded data first (`cwnd-secure`).
//!
//! # How they meet
//!
//! Every message has 64 bytes ([`Message`]), and every answer is as long as what it answers, so that nobody can use the relay to
//! send more to a victim than to the relay. Both ends send [`Message::Join`], which names a [`Room`] and a [`Role`]. The relay answers with a
//! cookie and remembers nothing; only an end that sends the cookie back, and so receives at its address, gets a place
//! in the room. The answer then says that it is alone, or names the address of the other one.
//!
//! A datagram of a member that is no message goes to the other member of its room, unchanged. So a rendezvous with the address of
//! the relay is one with the other end. While both do so, nobody takes the place of either; a third one learns that the room is busy.
//!
//! Where to start: [`Rooms`] is the relay, [`Client`] an end.

mod client;
mod message;
mod pair;
mod rooms;

pub use client::{Client, Response};
pub use message::{Cookie, LENGTH, Message, Role, Room};
pub use rooms::{Handled, Limits, Rooms};
