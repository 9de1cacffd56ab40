//! The connections of a port.

use std::net::SocketAddr;

use cwnd_udt::{Handle, Settings};

use super::established::Established;
use crate::error::Ended;
use crate::port::ConnectSender;

/// Connections by their place in the endpoint.
#[derive(Debug, Default)]
pub(super) struct Connections {
    places: Vec<Option<State>>,
    len: usize,
}

/// A connection, or an attempt at one.
#[derive(Debug)]
pub(super) enum State {
    Connecting(Connecting),
    Established(Box<Established>),
}

/// An attempt at a connection.
#[derive(Debug)]
pub(super) struct Connecting {
    pub(super) handle: Handle,
    pub(super) peer: SocketAddr,
    pub(super) settings: Box<Settings>,
    pub(super) outcome: ConnectSender,
}

impl Connections {
    /// How many there are, attempts included.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn insert(&mut self, handle: Handle, state: State) {
        let place = handle.place();
        if self.places.len() <= place {
            self.places.resize_with(place + 1, || None);
        }
        self.len += usize::from(self.places[place].replace(state).is_none());
    }

    pub(super) fn remove(&mut self, handle: Handle) -> Option<State> {
        let state = self.places.get_mut(handle.place())?.take_if(|state| state.handle() == handle)?;
        self.len -= 1;
        Some(state)
    }

    /// The established connection at `place`.
    pub(super) fn at(&mut self, place: usize) -> Option<&mut Established> {
        match self.places.get_mut(place)? {
            Some(State::Established(connection)) => Some(connection),
            _ => None,
        }
    }

    /// The established connection with this handle.
    pub(super) fn get(&mut self, handle: Handle) -> Option<&mut Established> {
        self.at(handle.place()).filter(|connection| connection.shared.handle == handle)
    }
}

/// No application keeps waiting when the thread of the port ends.
impl Drop for Connections {
    fn drop(&mut self) {
        for state in self.places.iter().flatten() {
            if let State::Established(connection) = state {
                connection.shared.end(Ended::Port);
            }
        }
    }
}

impl State {
    fn handle(&self) -> Handle {
        match self {
            Self::Connecting(connecting) => connecting.handle,
            Self::Established(connection) => connection.shared.handle,
        }
    }
}
