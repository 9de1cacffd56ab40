//! Invariants, and packets of unknown senders. Behind the feature `testing`, for tests, the fuzz targets and the replay of their corpora, and
//! measurements.

mod messages;
mod server;

pub use messages::check_messages;
pub use server::check_server;

use crate::number::{MessageNumber, Seq, SocketId};
use crate::wire::{Control, DataHeader, Handshake, Packet, Position, Request};

/// Reads `datagram`. If it is a packet, writes it and reads it again.
///
/// # Panics
/// If reading panics, or the written bytes read as another packet or are written differently again.
pub fn check_datagram(datagram: &[u8]) {
    let Ok(packet) = Packet::parse(datagram) else { return };
    let (mut once, mut twice) = (Vec::new(), Vec::new());
    packet.encode(&mut once);
    let again = Packet::parse(&once);
    assert_eq!(again.as_ref(), Ok(&packet), "{datagram:?}");
    packet.encode(&mut twice);
    assert_eq!(once, twice);
}

/// The first datagram of a client to a listener, without a cookie. Tests flood listeners with it.
#[must_use]
pub fn first_handshake() -> Vec<u8> {
    handshake(Request::Regular, 1, 0)
}

/// A handshake of client `id` to a listener.
#[must_use]
pub fn handshake(request: Request, id: u32, cookie: u32) -> Vec<u8> {
    let handshake = Handshake {
        version: 4,
        socket_type: 1,
        isn: FIRST,
        mss: 1500,
        window: 8192,
        request,
        id: SocketId::new(id),
        cookie,
        address: [0; 16],
    };
    encoded(&Packet::Control { timestamp_us: 0, to: None, control: Control::Handshake(handshake) })
}

/// Packet `number` of a stream that began with [`handshake`], from 0, with `len` bytes of payload, all zero.
#[must_use]
pub fn data(to: SocketId, number: u32, len: usize) -> Vec<u8> {
    let header = DataHeader {
        seq: FIRST + u64::from(number),
        position: Position::Only,
        in_order: true,
        message: MessageNumber::FIRST,
        timestamp_us: 0,
        to,
    };
    encoded(&Packet::Data(header, &vec![0; len]))
}

/// A control packet to the connection `to`.
#[must_use]
pub fn control(to: SocketId, control: Control<'_>) -> Vec<u8> {
    encoded(&Packet::Control { timestamp_us: 0, to: Some(to), control })
}

fn encoded(packet: &Packet<'_>) -> Vec<u8> {
    let mut datagram = Vec::new();
    packet.encode(&mut datagram);
    datagram
}

/// The number of the first packet, so that the next one wraps.
const FIRST: Seq = Seq::MAX;

/// The bytes from which a list of operations is read; all zero at their end.
struct Input<'a>(&'a [u8]);

impl Input<'_> {
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        *first
    }

    fn word(&mut self) -> u16 {
        u16::from_be_bytes([self.byte(), self.byte()])
    }

    /// An offset that is mostly small, and sometimes far from anything.
    fn offset(&mut self) -> u64 {
        match self.byte() {
            byte @ 0..240 => byte.into(),
            byte => u64::from(self.word()) << (byte - 240),
        }
    }
}
