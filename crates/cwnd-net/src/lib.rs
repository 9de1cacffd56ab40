//! UDT over UDP sockets: blocking streams, listeners and messengers, any congestion control of [`cwnd`] below them.
//!
//! What this crate is not: it knows nothing of the protocol, which is `cwnd-udt`'s, and nothing is encrypted or authenticated: use it
//! where that does not matter, or below something that does it.
//!
//! ```
//! use std::io::{Read, Write};
//! use cwnd_net::{UdtListener, UdtStream};
//!
//! let listener: UdtListener = UdtListener::bind("127.0.0.1:0".parse()?)?;
//! let address = listener.local_addr();
//! let server = std::thread::spawn(move || {
//!     let (mut stream, _from) = listener.accept().unwrap();
//!     let mut request = [0; 4];
//!     stream.read_exact(&mut request).unwrap();
//!     stream.write_all(&request.repeat(1_000)).unwrap();
//!     stream.close()
//! });
//! let mut stream = UdtStream::connect(address)?;
//! stream.write_all(b"data")?;
//! let mut answer = Vec::new();
//! stream.read_to_end(&mut answer)?;
//! assert_eq!(answer, b"data".repeat(1_000));
//! server.join().unwrap()?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Where to start
//!
//! [`UdtStream`] and [`UdtListener`] are used like their TCP namesakes of the standard library; [`UdtMessenger`] keeps the bounds of
//! messages. [`UdtPort`] lets many connections share a UDP port and the one thread that serves it. With the feature `tokio`,
//! `AsyncUdtStream` and `AsyncUdtListener` are for tasks. [`Stats`] answers what limits a connection now. The folder `examples` has an
//! echo and a copy of a file, for threads and for tasks.
//!
//! # Options
//!
//! ```
//! use cwnd::{BitRate, Span, Spec};
//! use cwnd_net::{Options, UdtListener, UdtStream};
//!
//! let options = Options::default()
//!     .algorithm(Spec::parse("cubic")?)
//!     .max_rate(BitRate(100e6))
//!     .dead_after(Span::from_secs(5));
//! let listener: UdtListener = UdtListener::bind("127.0.0.1:0".parse()?)?;
//! let stream = UdtStream::connect_with(listener.local_addr(), &options)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The congestion control, the rates and the buffers are those of the side that sets them: a sender's algorithm is its own. Only the
//! kind of connection and the largest packet are agreed on.
//!
//! # What errors mean
//!
//! Each operation has an enum of its own. [`Read`](std::io::Read) and [`Write`](std::io::Write) carry [`Ended`] inside their
//! [`io::Error`](std::io::Error), whose kind is:
//!
//! | kind | meaning |
//! | --- | --- |
//! | `BrokenPipe` | written after the peer had closed |
//! | `ConnectionReset` | the peer gave the connection up, and something is lost |
//! | `TimedOut` | nothing was heard of the peer for [`dead_after`](Options::dead_after), or it did not take everything in time |
//! | `NotConnected` | written after this side had closed |
//! | `ConnectionAborted` | this side gave it up |
//! | `WouldBlock` | nothing happened within the timeout that was set; go on as if nothing had been asked |
//!
//! That everything has arrived is known only when [`UdtStream::close`] says so. An application that must know more than that the
//! peer's protocol took it (that it is on a disk, say) lets its peer confirm it.
//!
//! # Limits
//!
//! A connection is closed in both directions at once. Nothing finds out the largest packet a path carries ([`Options::mss`]). A port
//! has up to 2<sup>18</sup> connections, and one thread. Answers to handshakes of strangers are rationed to 25,000 a second.
//!
//! Inside, `service` is the thread of a port; `send_buffer` and `receive_buffer` are where it meets the applications.

#[cfg(feature = "tokio")]
mod asynchronous;
mod backlog;
mod clock;
mod connection;
mod error;
mod listener;
mod messenger;
mod oneshot;
mod options;
mod owned_connection;
mod port;
mod receive_buffer;
mod send_buffer;
mod service;
mod socket;
mod stats;
mod stream;
mod udp;
mod udt_port;
mod wait;
mod waker;

// What options, statistics and errors are made of.
pub use {cwnd, cwnd_udt};

#[cfg(feature = "tokio")]
pub use asynchronous::{AsyncUdtListener, AsyncUdtStream};
pub use cwnd_udt::connection::MessageOptions;
pub use cwnd_udt::endpoint::OpenError;
pub use cwnd_udt::handshake::Refusal;
pub use cwnd_udt::{Settings, SettingsError};
pub use error::{AcceptError, BindError, CloseError, ConnectError, Ended, ReceiveError, SendError};
pub use listener::{Incoming, UdtListener, UdtMessageListener};
pub use messenger::UdtMessenger;
pub use options::Options;
pub use socket::Socket;
pub use stats::Stats;
pub use stream::UdtStream;
pub use udt_port::UdtPort;
