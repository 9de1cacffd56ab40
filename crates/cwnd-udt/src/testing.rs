//! What must hold for any datagram. Behind the feature `testing`, for the tests, the fuzz target and the replay of its corpus.

use crate::wire::Packet;

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
