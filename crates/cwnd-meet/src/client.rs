//! An end that comes to a relay to meet another one.

use std::net::SocketAddr;

use crate::message::{Cookie, LENGTH, Message, Role, Room};

/// An end at a relay: its requests, and what the responses mean. It should send a request a few times a second, from the socket on
/// which it is to be reached, and once more after a [`Response::Challenge`].
#[derive(Debug)]
pub struct Client {
    room: Room,
    role: Role,
    cookie: Cookie,
}

/// A response of the relay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Response {
    /// Two others are there, and send to each other through the relay.
    Busy,
    /// It asks for a proof of the address, which the next request has.
    Challenge,
    /// A limit of the relay is reached.
    Full,
    /// It is no answer to this client.
    Ignored,
    /// The other end is there, and seen at this address.
    Peer(SocketAddr),
    /// The other end is not there yet.
    Waiting,
}

impl Client {
    /// An end that has asked nothing yet.
    #[must_use]
    pub fn new(room: Room, role: Role) -> Self {
        Self { room, role, cookie: Cookie::default() }
    }

    /// The datagram to send to the relay.
    #[must_use]
    pub fn request(&self) -> [u8; LENGTH] {
        Message::Join { room: self.room, role: self.role, cookie: self.cookie }.to_bytes()
    }

    /// Takes a datagram that has come from the relay. A host that does not see this end's requests cannot answer them, since every answer
    /// names the room.
    pub fn handle(&mut self, datagram: &[u8]) -> Response {
        match Message::read(datagram) {
            Some(Message::Challenge { room, cookie }) if room == self.room => {
                self.cookie = cookie;
                Response::Challenge
            }
            Some(Message::Waiting { room }) if room == self.room => Response::Waiting,
            Some(Message::Peer { room, address }) if room == self.room => {
                Response::Peer(SocketAddr::new(address.ip().to_canonical(), address.port()))
            }
            Some(Message::Busy { room }) if room == self.room => Response::Busy,
            Some(Message::Full { room }) if room == self.room => Response::Full,
            _ => Response::Ignored,
        }
    }
}
