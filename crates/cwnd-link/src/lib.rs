//! A link in user space between UDP ports.
//!
//! Clients send to the port where a [`Relay`] listens, it sends on to a target, and the other way round. On both ways the
//! datagrams cross a link of the simulator ([`cwnd_sim::emulate`]): its rate, its delay, its queue, its loss. One thread does it
//! all, for hosts where the kernel has no such queues or the user no right to set them up.
//!
//! A datagram has arrived when the kernel took it in, not when this program was woken to read it. Each is released at an instant
//! of its own, never early; how late, is measured and told ([`Report`]). What a relay does not do: read what it carries.
//! Start reading at [`Relay::run`].
//!
//! A [`Wire`] is the same between two devices that hand out whole packets, such as TUN interfaces: it carries what any program of two
//! networks sends, TCP too.

mod clients;
mod clock;
mod payloads;
mod relay;
mod report;
mod socket;
mod way;
mod wire;

pub use relay::{Plan, Relay, RelayError};
pub use report::{Report, Sample, WayReport};
pub use wire::{Wire, WireReport};
