//! The seam through which a transport stack of any origin runs in the simulator, both ends real, in virtual time.
//!
//! A stack implements [`Endpoint`] for one end of a connection and [`Stack`] for what makes a pair of them. It has no socket and no
//! clock: datagrams and the time are arguments. The host, `cwnd-sim`, puts the datagrams on links with their sizes, brings back those
//! that arrive, and calls the timeouts. This crate knows the units of `cwnd` and nothing else; adapters of released stacks live in the
//! workspace `foreign/`.
//!
//! A stack takes the place of an algorithm: [`StackSpec::into_spec`] makes what a flow of the simulator takes. The example is a
//! stop-and-wait protocol, which has one datagram in flight and sends it again after a second.
//!
//! ```
//! use cwnd::{Bytes, Span, Time};
//! use cwnd_sim::{Dumbbell, Era, QueueLimit, Variation};
//! use cwnd_stack::{Connection, Ecn, Endpoint, Pair, Shown, Stack, StackSpec, Transmit};
//!
//! /// Either end: data is a number and zeros, an acknowledgement is the number alone.
//! #[derive(Default)]
//! struct StopAndWait {
//!     payload: usize,
//!     /// Bytes submitted and not yet acknowledged.
//!     left: u64,
//!     number: u64,
//!     resend_at: Option<Time>,
//!     delivered: u64,
//!     pending: Option<Vec<u8>>,
//! }
//!
//! impl StopAndWait {
//!     fn send(&mut self, now: Time) {
//!         let bytes = self.left.min(self.payload as u64) as usize;
//!         let mut datagram = self.number.to_be_bytes().to_vec();
//!         datagram.resize(8 + bytes, 0);
//!         self.pending = Some(datagram);
//!         self.resend_at = Some(now + Span::from_secs(1));
//!     }
//! }
//!
//! impl Endpoint for StopAndWait {
//!     fn submit(&mut self, now: Time, bytes: u64) {
//!         let idle = self.left == 0;
//!         self.left += bytes;
//!         if idle {
//!             self.send(now);
//!         }
//!     }
//!
//!     fn handle_datagram(&mut self, now: Time, datagram: &[u8], _ecn: Ecn) {
//!         let number = u64::from_be_bytes(datagram[..8].try_into().expect("both ends write 8 bytes"));
//!         let bytes = datagram.len() - 8;
//!         if bytes > 0 {
//!             if number == self.number {
//!                 self.number += 1;
//!                 self.delivered += bytes as u64;
//!             }
//!             self.pending = Some(number.to_be_bytes().to_vec());
//!         } else if number == self.number {
//!             self.left -= self.left.min(self.payload as u64);
//!             self.number += 1;
//!             self.resend_at = None;
//!             if self.left > 0 {
//!                 self.send(now);
//!             }
//!         }
//!     }
//!
//!     fn poll_transmit(&mut self, _now: Time, buffer: &mut Vec<u8>) -> Option<Transmit> {
//!         buffer.extend(self.pending.take()?);
//!         Some(Transmit::new(Ecn::NotCapable, None))
//!     }
//!
//!     fn next_timeout(&mut self, _now: Time) -> Option<Time> {
//!         self.resend_at
//!     }
//!
//!     fn handle_timeout(&mut self, now: Time) {
//!         self.send(now);
//!     }
//!
//!     fn delivered(&self) -> u64 {
//!         self.delivered
//!     }
//!
//!     fn shown(&self) -> Shown {
//!         let mut shown = Shown::default();
//!         shown.window = Some(1.0);
//!         shown
//!     }
//! }
//!
//! #[derive(Debug)]
//! struct Toy;
//!
//! impl Stack for Toy {
//!     fn headers(&self) -> Bytes {
//!         Bytes(28) // IPv4 and UDP
//!     }
//!
//!     fn connect(&self, connection: &Connection) -> Pair {
//!         let payload = connection.datagram as usize - 8;
//!         let end = || Box::new(StopAndWait { payload, ..StopAndWait::default() });
//!         Pair { sender: end(), receiver: end() }
//!     }
//! }
//!
//! // One datagram per round trip of 100 ms and what the line takes to send it and its answer: 120 and 3 µs.
//! let path = Dumbbell::new(100_000_000, Span::from_millis(100), QueueLimit::Packets(10));
//! let stack = StackSpec::new("toy", Toy).into_spec();
//! let mut setup = path.setup(&[stack], Era::MODERN, Span::from_secs(10), Span::ZERO, 1);
//! setup.variation = Variation { start: Some(Span::ZERO), rtt: 0.0, jitter: 0.0 };
//! let trace = cwnd_sim::run(&setup, &mut |_| true).expect("a valid setup");
//! assert_eq!(trace.flows[0].sent.last(), Some(&100));
//! ```

// A new field or variant breaks no other crate. Each exception has its reason.
#![warn(clippy::exhaustive_enums, clippy::exhaustive_structs)]

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use cwnd::{Bytes, Span, Spec, Time};

/// Makes connections.
pub trait Stack: fmt::Debug + Send + Sync {
    /// Bytes that the network adds to each datagram: 28 of IPv4 and UDP if datagrams are UDP payloads, 0 if they are whole IP packets.
    fn headers(&self) -> Bytes;

    /// Both ends of a new connection. Its handshake, if it has one, takes place over the network, between the two.
    fn connect(&self, connection: &Connection) -> Pair;
}

/// The two ends of a connection.
#[expect(clippy::exhaustive_structs, reason = "a connection has two ends")]
pub struct Pair {
    /// The end whose application sends data.
    pub sender: Box<dyn Endpoint>,
    /// The end whose application reads all data at once.
    pub receiver: Box<dyn Endpoint>,
}

/// The parameters of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Connection {
    /// When it starts.
    pub start: Time,
    /// The longest datagram that the path carries, without the [`headers`](Stack::headers), bytes.
    pub datagram: u16,
    /// Everything random comes from this; equal seeds are equal connections.
    pub seed: u64,
    /// Whether the path carries ECN codepoints; if not, they are cleared on the way.
    pub ecn: bool,
}

impl Connection {
    /// A connection from `start` on, with datagrams of at most `datagram` bytes without the [`headers`](Stack::headers).
    #[must_use]
    pub const fn new(start: Time, datagram: u16, seed: u64, ecn: bool) -> Self {
        Self { start, datagram, seed, ecn }
    }
}

/// One end of a connection.
///
/// Time never runs backwards. After each call of [`submit`](Self::submit), [`handle_datagram`](Self::handle_datagram) or
/// [`handle_timeout`](Self::handle_timeout) the host calls [`poll_transmit`](Self::poll_transmit) until there is nothing, and then
/// [`next_timeout`](Self::next_timeout). A host that gathers arrivals does so after the last of several datagrams of one instant. A panic ends the run, which reports its message, the flow and the seed.
pub trait Endpoint: Send {
    /// The application has `bytes` more to send. The host submits [`u64::MAX`]`/ 4` once for an application that always has more.
    fn submit(&mut self, now: Time, bytes: u64);

    /// A datagram has arrived.
    fn handle_datagram(&mut self, now: Time, datagram: &[u8], ecn: Ecn);

    /// Appends the next datagram that may leave now to `buffer`, which is empty, or several at once as a GSO batch.
    fn poll_transmit(&mut self, now: Time, buffer: &mut Vec<u8>) -> Option<Transmit>;

    /// When [`handle_timeout`](Self::handle_timeout) is to be called; none for never. A host asks again when that time has come, and calls only
    /// if the answer is `now` or earlier: a later one postpones the timeout.
    fn next_timeout(&mut self, now: Time) -> Option<Time>;

    /// The time of [`next_timeout`](Self::next_timeout) has come.
    fn handle_timeout(&mut self, now: Time);

    /// Bytes that the application at this end has read so far, in order.
    fn delivered(&self) -> u64;

    /// Submitted bytes that the other end is known to have; none if this end does not show it.
    fn acknowledged(&self) -> Option<u64> {
        None
    }

    /// The visible state of the congestion controller.
    fn shown(&self) -> Shown;
}

/// A datagram that a stack has written into a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Transmit {
    /// The codepoint of the datagrams.
    pub ecn: Ecn,
    /// The length of each datagram of a batch but the last, which may be shorter; none for a single datagram.
    pub segment: Option<usize>,
}

impl Transmit {
    /// A datagram with this codepoint, or a batch of datagrams of `segment` bytes each.
    #[must_use]
    pub const fn new(ecn: Ecn, segment: Option<usize>) -> Self {
        Self { ecn, segment }
    }
}

/// The ECN codepoint of a datagram (RFC 3168 section 5, RFC 9331).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "two bits have four values")]
pub enum Ecn {
    /// Not-ECT.
    #[default]
    NotCapable,
    /// ECT(0).
    Ect0,
    /// ECT(1).
    Ect1,
    /// CE: a router met congestion.
    Ce,
}

/// The visible state of the congestion controller of an end; none if the stack does not show it.
///
/// The default shows nothing; a stack assigns the fields that it has.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Shown {
    /// Congestion window, packets of full size.
    pub window: Option<f64>,
    /// Slow-start threshold, packets; infinite before the first congestion.
    pub ssthresh: Option<f64>,
    /// Packets that it counts as in flight. Those sent that are neither in flight nor lost count as delivered.
    pub in_flight: Option<u64>,
    /// The rate at which it paces, packets per second.
    pub rate: Option<f64>,
    /// Smoothed round-trip time.
    pub rtt: Option<Span>,
    /// Packets found lost so far: all that have left the flight without an acknowledgement, those that a timeout takes out of it too.
    pub lost: Option<u64>,
}

/// A stack by its name, as scenarios and the command line write it.
#[derive(Clone, Debug)]
pub struct StackSpec {
    name: String,
    stack: Arc<dyn Stack>,
}

impl StackSpec {
    /// `stack`, called `name`: `quinn:cubic`.
    pub fn new(name: &str, stack: impl Stack + 'static) -> Self {
        Self { name: name.to_string(), stack: Arc::new(stack) }
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// A stack that takes the place of an algorithm in a flow.
    #[must_use]
    pub fn into_spec(self) -> Spec {
        let name = self.name.clone();
        Spec::stack(&name, Arc::new(self))
    }

    /// The stack of `spec`, if it is one that [`into_spec`](Self::into_spec) made.
    #[must_use]
    pub fn of(spec: &Spec) -> Option<&dyn Stack> {
        let any: &(dyn Any + Send + Sync) = spec.as_stack()?;
        any.downcast_ref::<Self>().map(|found| &*found.stack)
    }
}
