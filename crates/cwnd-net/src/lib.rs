//! UDT over UDP sockets: streams, listeners and messengers, with any congestion control of [`cwnd`].
//!
//! What this crate does not do: `cwnd-udt` implements the protocol, and nothing is encrypted or authenticated. Use it where that does not
//! matter, or below a protocol that encrypts.
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
//! It needs a Unix system, and is tested on Linux.
//!
//! # Where to start
//!
//! [`UdtStream`] and [`UdtListener`] are used like their TCP namesakes of the standard library; [`UdtMessenger`] preserves
//! message boundaries. [`UdtPort`] lets many connections share a UDP port and its thread, and a [`UdtBundle`] is one stream over several
//! connections. With the feature `tokio`, `AsyncUdtStream` and `AsyncUdtListener` are for tasks. [`Stats`] has the current limit of a
//! connection. The directory `examples` has an echo server and a copy of a file, for threads and for tasks.
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
//!     .idle_timeout(Span::from_secs(5));
//! let listener: UdtListener = UdtListener::bind("127.0.0.1:0".parse()?)?;
//! let stream = UdtStream::connect_with(listener.local_addr(), &options)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Each side has its own congestion control, rates and buffers. Only the kind of connection and the largest packet are negotiated.
//!
//! # What errors mean
//!
//! Each operation has an enum of its own. [`Read`](std::io::Read) and [`Write`](std::io::Write) carry [`Ended`] inside their
//! [`io::Error`](std::io::Error), whose kind is:
//!
//! | kind | meaning |
//! | --- | --- |
//! | `BrokenPipe` | written after the peer had closed |
//! | `ConnectionReset` | the peer aborted the connection, and data is lost |
//! | `TimedOut` | nothing was received from the peer for [`idle_timeout`](Options::idle_timeout), or it did not acknowledge everything in time |
//! | `NotConnected` | written after this side had closed |
//! | `ConnectionAborted` | this side aborted it, or the peer acknowledged data that had not been sent |
//! | `WouldBlock` | nothing was read or written within the timeout; the call can be repeated |
//!
//! Only [`UdtStream::close`] reports that everything has arrived in the receive buffer of the peer. An application that must know more,
//! for example that it is on a disk, needs a confirmation of its own.
//!
//! # Limits
//!
//! A connection is closed in both directions at once. There is no path MTU discovery ([`Options::mss`]). A port has up to
//! 2<sup>18</sup> connections, or [`Options::max_clients`] of clients, and one thread. [`Options::memory`] bounds the memory that its peers
//! can make it hold. Answers to handshakes without a cookie are limited to 25,000 a second.
//!
//! Inside, `service` is the thread of a port, and `send_buffer` and `receive_buffer` connect it to the applications.

#[cfg(feature = "tokio")]
mod asynchronous;
mod backlog;
mod bundle;
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

// Types of options, statistics and errors.
pub use {cwnd, cwnd_udt};

#[cfg(feature = "tokio")]
pub use asynchronous::{AsyncUdtListener, AsyncUdtStream};
pub use bundle::{Bundles, MAX_STREAMS, UdtBundle};
pub use cwnd_udt::connection::MessageOptions;
pub use cwnd_udt::endpoint::OpenError;
pub use cwnd_udt::handshake::Refusal;
pub use cwnd_udt::{Settings, SettingsError};
pub use error::{AcceptError, BindError, CloseError, ConnectError, Ended, ReceiveError, SendError};
pub use listener::{Incoming, UdtListener, UdtMessageListener};
pub use messenger::UdtMessenger;
pub use options::Options;
pub use socket::Socket;
pub use stats::{Stats, limit_in_words};
pub use stream::UdtStream;
pub use udt_port::UdtPort;
