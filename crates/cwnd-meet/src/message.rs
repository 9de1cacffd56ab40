//! Messages between a relay and the ends that meet there.
//!
//! | bytes | |
//! | --- | --- |
//! | 0..6 | [`MAGIC`] |
//! | 6 | the version, 1 |
//! | 7 | the kind |
//! | 8..24 | the room |
//! | 24..40 | a cookie |
//! | 40 | the role: 0 or 1 |
//! | 41 | the family of the address, 4 or 6 |
//! | 42..58 | the address; one of IPv4 fills the first four bytes |
//! | 58..60 | the port, big-endian |
//!
//! Fields that a kind does not have are zero, and so is the rest of the message.

use std::net::{IpAddr, SocketAddr};

/// The secret that the two ends of a transfer share and others cannot guess.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Room(pub [u8; 16]);

/// Which of the two ends one is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The end that lets the other in.
    Host,
    /// The end that comes.
    Guest,
}

/// The bytes that an end returns to prove that it receives at its address.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cookie(pub [u8; 16]);

/// A message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Message {
    /// To the relay: this end wants a place. The cookie is that of the last [`Challenge`](Self::Challenge), zero before.
    Join {
        /// The room.
        room: Room,
        /// Which place.
        role: Role,
        /// The proof of the address.
        cookie: Cookie,
    },
    /// From the relay: join again with this cookie.
    Challenge {
        /// The room that was named.
        room: Room,
        /// The cookie.
        cookie: Cookie,
    },
    /// From the relay: the other end is not there yet.
    Waiting {
        /// The room.
        room: Room,
    },
    /// From the relay: where the other end is seen.
    Peer {
        /// The room.
        room: Room,
        /// Its address.
        address: SocketAddr,
    },
    /// From the relay: two others are in the room, and send to each other through the relay.
    Busy {
        /// The room that was named.
        room: Room,
    },
    /// From the relay: a limit does not allow for this.
    Full {
        /// The room that was named.
        room: Room,
    },
}

impl Role {
    /// The other one.
    #[must_use]
    pub fn other(self) -> Self {
        match self {
            Self::Host => Self::Guest,
            Self::Guest => Self::Host,
        }
    }

    pub(crate) fn place(self) -> usize {
        match self {
            Self::Host => 0,
            Self::Guest => 1,
        }
    }
}

impl Message {
    /// The bytes of a datagram.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; LENGTH] {
        let mut bytes = [0; LENGTH];
        bytes[..6].copy_from_slice(&MAGIC);
        bytes[6] = VERSION;
        let (kind, room) = match self {
            Self::Join { room, role, cookie } => {
                bytes[24..40].copy_from_slice(&cookie.0);
                bytes[40] = role.place() as u8;
                (1, room)
            }
            Self::Challenge { room, cookie } => {
                bytes[24..40].copy_from_slice(&cookie.0);
                (2, room)
            }
            Self::Waiting { room } => (3, room),
            Self::Peer { room, address } => {
                match address.ip() {
                    IpAddr::V4(ip) => {
                        bytes[41] = 4;
                        bytes[42..46].copy_from_slice(&ip.octets());
                    }
                    IpAddr::V6(ip) => {
                        bytes[41] = 6;
                        bytes[42..58].copy_from_slice(&ip.octets());
                    }
                }
                bytes[58..60].copy_from_slice(&address.port().to_be_bytes());
                (4, room)
            }
            Self::Full { room } => (5, room),
            Self::Busy { room } => (6, room),
        };
        bytes[7] = kind;
        bytes[8..24].copy_from_slice(&room.0);
        bytes
    }

    /// Reads a datagram; none if it is no message of this version in the one form that it has.
    #[must_use]
    pub fn read(datagram: &[u8]) -> Option<Self> {
        let bytes: &[u8; LENGTH] = datagram.try_into().ok()?;
        let room = Room(*bytes[8..].first_chunk()?);
        let cookie = Cookie(*bytes[24..].first_chunk()?);
        let message = match bytes[7] {
            1 => Self::Join { room, role: if bytes[40] == 0 { Role::Host } else { Role::Guest }, cookie },
            2 => Self::Challenge { room, cookie },
            3 => Self::Waiting { room },
            4 => {
                let ip: IpAddr = match bytes[41] {
                    4 => IpAddr::from(*bytes[42..].first_chunk::<4>()?),
                    _ => IpAddr::from(*bytes[42..].first_chunk::<16>()?),
                };
                Self::Peer { room, address: SocketAddr::new(ip, u16::from_be_bytes([bytes[58], bytes[59]])) }
            }
            5 => Self::Full { room },
            6 => Self::Busy { room },
            _ => return None,
        };
        (message.to_bytes() == *bytes).then_some(message)
    }
}

/// Whether a datagram is meant for a relay, though perhaps for one of another version. None of UDT is: the first two bytes would be those
/// of a control packet of a type that does not exist.
pub(crate) fn is_message(datagram: &[u8]) -> bool {
    datagram.starts_with(&MAGIC)
}

/// The length of every message in bytes.
pub const LENGTH: usize = 64;
const MAGIC: [u8; 6] = *b"\xffmeet\xff";
const VERSION: u8 = 1;

#[cfg(test)]
mod tests {
    use cwnd_udt::wire::{Control, Packet};
    use proptest::prelude::*;

    use super::*;

    fn messages() -> impl Strategy<Value = Message> {
        let room = any::<[u8; 16]>().prop_map(Room);
        (room, any::<[u8; 16]>().prop_map(Cookie), any::<bool>(), any::<SocketAddr>(), 0..6).prop_map(
            |(room, cookie, host, address, kind)| match kind {
                0 => Message::Join { room, role: if host { Role::Host } else { Role::Guest }, cookie },
                1 => Message::Challenge { room, cookie },
                2 => Message::Waiting { room },
                3 => Message::Peer { room, address: SocketAddr::new(address.ip(), address.port()) },
                4 => Message::Full { room },
                _ => Message::Busy { room },
            },
        )
    }

    proptest! {
        #[test]
        fn a_message_is_read_as_it_was_written_and_is_no_packet_of_udt(message in messages()) {
            let bytes = message.to_bytes();
            prop_assert_eq!(Message::read(&bytes), Some(message));
            prop_assert!(is_message(&bytes));
            let packet = Packet::parse(&bytes);
            let unknown = matches!(packet, Err(_) | Ok(Packet::Control { control: Control::Unknown(_), .. }));
            prop_assert!(unknown, "{packet:?}");
        }

        #[test]
        fn bytes_are_a_message_in_one_form_alone(message in messages(), at in 0..LENGTH, by in 1_u8.., cut in 0..LENGTH) {
            let mut bytes = message.to_bytes();
            bytes[at] ^= by;
            if let Some(read) = Message::read(&bytes) {
                prop_assert!(read != message && read.to_bytes() == bytes);
            }
            prop_assert_eq!(Message::read(&bytes[..cut]), None);
        }

        #[test]
        fn no_bytes_are_too_strange(bytes in prop::collection::vec(any::<u8>(), 0..100)) {
            prop_assert!(Message::read(&bytes).is_none_or(|message| message.to_bytes()[..] == bytes[..]));
        }
    }
}
