//! UDT over UDP sockets: blocking streams, listeners and messengers, any congestion control of [`cwnd`] below them.
//!
//! What this crate is not: it knows nothing of the protocol, which is `cwnd-udt`'s, and nothing is encrypted or authenticated: use it
//! where that does not matter, or below something that does it.
//!
//! Where to start: [`UdtStream`] and [`UdtListener`] are used like their TCP namesakes of the standard library; [`UdtMessenger`] keeps
//! the bounds of messages; [`Options`] are what can be chosen; [`UdtPort`] lets many connections share a UDP port and the one thread
//! that serves it. [`Stats`] answers what limits a connection now.
//!
//! Inside, `service` is the thread of a port; `send_buffer` and `receive_buffer` are where it meets the applications.

#[cfg(feature = "tokio")]
mod asynchronous;
mod clock;
mod connection;
mod error;
mod listener;
mod messenger;
mod options;
mod port;
mod receive_buffer;
mod send_buffer;
mod service;
mod socket;
mod stats;
mod stream;
mod udp;
mod waiting;
mod waker;

#[cfg(feature = "tokio")]
pub use asynchronous::{AsyncUdtListener, AsyncUdtStream};
pub use cwnd_udt::Settings;
pub use cwnd_udt::connection::MessageOptions;
pub use cwnd_udt::handshake::Refusal;
pub use error::{AcceptError, BindError, CloseError, ConnectError, Ended, ReceiveError, SendError};
pub use listener::{Incoming, UdtListener, UdtMessageListener};
pub use messenger::UdtMessenger;
pub use options::Options;
pub use socket::{Socket, UdtPort};
pub use stats::Stats;
pub use stream::UdtStream;
