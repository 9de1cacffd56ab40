//! The UDT protocol, version 4, as a state machine: datagrams and times go in, datagrams and times come out.
//!
//! What this crate is not: it opens no socket, reads no clock, starts no thread, and never touches a payload byte. It knows
//! sequence numbers, lengths, offsets in a stream, and instants that its host hands in. The same code therefore runs with phantom
//! data in the packet simulator and with real data on UDP sockets. It interoperates with libudt 4.11; where the Internet draft
//! (draft-gg-udt-03) and that library differ, it follows the library.
//!
//! Where to start: [`wire`] has the packets, as values that cannot be wrong once they are parsed; [`Settings`] is what a user
//! chooses; [`handshake`] results in [`Agreed`], the negotiated values; [`Connection`] is an established connection; [`Endpoint`]
//! is all connections of a UDP port, which most hosts drive.

pub mod connection;
pub mod endpoint;
pub mod handshake;
pub mod number;
pub mod places;
pub mod quota;
pub mod settings;
mod socket_ids;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
mod timers;
pub mod wire;

pub use connection::Connection;
pub use endpoint::{Datagram, Endpoint, EndpointConfig, Handle};
pub use handshake::{Agreed, Refusal};
pub use number::{AckNumber, MessageNumber, Seq, SocketId};
pub use quota::Quota;
pub use settings::{Mode, Settings, SettingsError};
pub use wire::{Control, DataHeader, Message, Packet};
