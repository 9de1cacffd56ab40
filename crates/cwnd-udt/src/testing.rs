//! An invariant of the parser, and a handshake packet. Behind the feature `testing`, for tests, the fuzz target and the replay of its
//! corpus, and measurements.

use crate::number::{Seq, SocketId};
use crate::wire::{Control, Handshake, Packet, Request};

/// Reads `datagram`. If it is a packet, writes it and reads it again.
///
/// # Panics
/// If reading panics, or what was written reads as another packet or is written differently again.
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
    let handshake = Handshake {
        version: 4,
        socket_type: 1,
        isn: Seq::MAX,
        mss: 1500,
        window: 8192,
        request: Request::Regular,
        id: SocketId::new(1),
        cookie: 0,
        address: [0; 16],
    };
    let mut datagram = Vec::new();
    Packet::Control { timestamp_us: 0, to: None, control: Control::Handshake(handshake) }.encode(&mut datagram);
    datagram
}
