//! A link in user space between UDP ports.
//!
//! Clients send to the port at which a [`Relay`] listens; it forwards to a target, and back. In both directions the datagrams cross a
//! link of the simulator ([`cwnd_sim::emulate`]) with its rate, delay, queue and loss. A thread for each direction does this, for hosts whose kernel has
//! no such queues or whose user may not configure them.
//!
//! A datagram arrives when the kernel receives it, not when this program reads it. Each is released at its own time, never early; how
//! late is measured ([`Report`]). A relay does not read what it carries. Start reading at [`Relay::run`].
//!
//! A [`Wire`] is the same between two devices that read and write whole packets, such as TUN interfaces: it carries the packets of any
//! program, TCP too. On Linux, a `TunLink` makes two networks with such an interface each.

mod clients;
mod clock;
mod direction;
mod payloads;
mod relay;
mod report;
mod socket;
#[cfg(target_os = "linux")]
mod tun;
mod wait;
mod wire;

pub use relay::{Plan, Relay, RelayError};
pub use report::{DirectionReport, Report, Sample};
#[cfg(target_os = "linux")]
pub use tun::{Side, TunLink};
pub use wire::{Wire, WireReport};
