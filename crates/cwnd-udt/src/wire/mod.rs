//! Packets as they are on the wire, and as values.
//!
//! A datagram is a header of four 32-bit words and a body. A value of these types has been checked: numbers have their bits, lists
//! are complete, ranges run forwards. What a connection does with it is another matter and is decided where the state is.

mod ack;
mod data;
mod handshake;
mod loss;
mod message;

pub use ack::{FullAck, Rates};
pub use data::{DataHeader, Position};
pub use handshake::{Handshake, Request};
pub use loss::{LossList, LossRange, Losses};
pub use message::{DropRequest, Message};

use crate::number::{AckNumber, Seq, SocketId};

/// A datagram.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Packet<'a> {
    /// A packet of data and its payload, of at least one byte.
    Data(DataHeader, &'a [u8]),
    /// Everything else.
    Control {
        /// The connection it is for; none for whoever listens or waits on the port.
        to: Option<SocketId>,
        /// Microseconds since the sender's socket was opened; libudt always says 0.
        timestamp_us: u32,
        /// What it says.
        control: Control<'a>,
    },
}

/// What a control packet says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Control<'a> {
    /// Type 0: connection set-up.
    Handshake(Handshake),
    /// Type 1: still here.
    KeepAlive,
    /// Type 2 with a body of one word: everything before has arrived. No answer is expected.
    LightAck(Seq),
    /// Type 2: everything before has arrived, and what the receiver measured. Answered by an ACK2.
    Ack(FullAck),
    /// Type 3: these packets are missing.
    Nak(LossList<'a>),
    /// Type 4: the delay grows. libudt obeys it and never sends it.
    Warning,
    /// Type 5: the peer is gone.
    Shutdown,
    /// Type 6: a full acknowledgement has come in.
    Ack2(AckNumber),
    /// Type 7: a message has outlived its time.
    DropRequest(DropRequest),
    /// Type 8: the peer's application failed to use what it received; with an error code of libudt.
    PeerError(u32),
    /// Type 0x7fff: for the congestion control of the far end.
    User {
        /// What the header's reserved half word says.
        subtype: u16,
        /// What the header's second word says.
        info: u32,
        /// Whatever follows.
        body: &'a [u8],
    },
    /// A type this version of the protocol does not have.
    Unknown(u16),
}
