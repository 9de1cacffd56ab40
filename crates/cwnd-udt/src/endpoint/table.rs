//! The table of an endpoint's connections.

use super::state::Entry;
use crate::number::SocketId;
use crate::socket_ids::{PLACES, SocketIds};

/// A connection of an endpoint, for its host. It is not given out again for another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Handle {
    place: u32,
    serial: u32,
}

impl Handle {
    /// Its place among the connections there are: small, for a table of the host's own. Others may have it later, and had it.
    #[must_use]
    pub fn place(self) -> usize {
        self.place as usize
    }
}

/// Connections by place, and by the ids that lead there.
#[derive(Debug)]
pub(super) struct Table {
    ids: SocketIds,
    places: Vec<Place>,
    free: Vec<u32>,
    max: u32,
    /// The place of the last packet, which is mostly that of the next one.
    recent: u32,
}

#[derive(Debug, Default)]
struct Place {
    /// Counts the connections that have been here.
    serial: u32,
    /// It is in the queue of turns.
    queued: bool,
    entry: Option<Entry>,
}

impl Table {
    pub(super) fn new(key: [u8; 16], max: u32) -> Self {
        Self { ids: SocketIds::new(key), places: Vec::new(), free: Vec::new(), max: max.min(PLACES), recent: 0 }
    }

    /// A free place and an id for it; it must be filled or released.
    pub(super) fn reserve(&mut self, salt: u32) -> Option<(u32, SocketId)> {
        let place = match self.free.pop() {
            Some(place) => place,
            None => {
                let place = u32::try_from(self.places.len()).ok().filter(|place| *place < self.max)?;
                self.places.push(Place::default());
                place
            }
        };
        Some((place, self.ids.id(place, salt)))
    }

    pub(super) fn release(&mut self, place: u32) {
        self.free.push(place);
    }

    pub(super) fn fill(&mut self, place: u32, entry: Entry) {
        self.places[place as usize].entry = Some(entry);
    }

    pub(super) fn remove(&mut self, place: u32) -> Option<Entry> {
        let slot = self.places.get_mut(place as usize)?;
        let entry = slot.entry.take()?;
        slot.serial = slot.serial.wrapping_add(1);
        self.free.push(place);
        Some(entry)
    }

    /// The place of the connection that has this id.
    pub(super) fn find(&mut self, id: SocketId) -> Option<u32> {
        let has = |place: &u32| self.get(*place).is_some_and(|entry| entry.id == id);
        let place = Some(self.recent).filter(has).or_else(|| self.ids.place(id).filter(has))?;
        self.recent = place;
        Some(place)
    }

    pub(super) fn get(&self, place: u32) -> Option<&Entry> {
        self.places.get(place as usize)?.entry.as_ref()
    }

    pub(super) fn get_mut(&mut self, place: u32) -> Option<&mut Entry> {
        self.places.get_mut(place as usize)?.entry.as_mut()
    }

    pub(super) fn len(&self) -> usize {
        self.places.len() - self.free.len()
    }

    pub(super) fn handle(&self, place: u32) -> Handle {
        Handle { place, serial: self.places[place as usize].serial }
    }

    /// The place of a connection, while it is there.
    pub(super) fn place(&self, handle: Handle) -> Option<u32> {
        let place = self.places.get(handle.place as usize)?;
        (place.serial == handle.serial && place.entry.is_some()).then_some(handle.place)
    }

    /// Marks a place as queued; whether it was not.
    pub(super) fn queue(&mut self, place: u32) -> bool {
        !std::mem::replace(&mut self.places[place as usize].queued, true)
    }

    pub(super) fn unqueue(&mut self, place: u32) {
        self.places[place as usize].queued = false;
    }
}
