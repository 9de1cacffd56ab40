//! Packets of messages, until their message is complete.

use std::collections::BTreeMap;

use crate::receive_buffer::Piece;

/// Payloads by the numbers of their packets.
#[derive(Debug)]
pub(super) struct Shelf {
    packets: BTreeMap<u64, Vec<u8>>,
    /// A packet that lies further behind the newest is of a message that will never be complete.
    reach: u64,
    /// Room for packets, to be used again.
    spare: Vec<Vec<u8>>,
}

impl Shelf {
    /// For a window of `window` packets.
    pub(super) fn new(window: u64) -> Self {
        // Receivers never grant less than two packets, so two more than the window may come.
        Self { packets: BTreeMap::new(), reach: window + 2, spare: Vec::new() }
    }

    pub(super) fn put(&mut self, number: u64, payload: &[u8]) {
        let mut packet = self.spare.pop().unwrap_or_default();
        packet.clear();
        packet.extend_from_slice(payload);
        self.packets.insert(number, packet);
        while let Some(oldest) = self.packets.first_entry()
            && oldest.key() + self.reach < number
        {
            self.spare.push(oldest.remove());
        }
    }

    /// Gives memory back while nothing happens.
    pub(super) fn rest(&mut self) {
        self.spare = Vec::new();
    }

    /// The message of these packets.
    pub(super) fn take(&mut self, numbers: impl Iterator<Item = u64>) -> Piece {
        let mut message = Piece::default();
        for number in numbers {
            message.packets += 1;
            let Some(packet) = self.packets.remove(&number) else { continue };
            message.bytes.extend_from_slice(&packet);
            self.spare.push(packet);
        }
        if self.packets.is_empty() {
            self.spare.truncate(SPARE);
        }
        message
    }
}

/// Packets' worth of memory kept while there are none.
const SPARE: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_come_together_and_hopeless_packets_go() {
        let mut shelf = Shelf::new(4);
        for number in [0, 2, 1, 5] {
            shelf.put(number, &[number as u8; 2]);
        }
        let message = shelf.take([1, 2].into_iter());
        assert_eq!((message.bytes, message.packets), (vec![1, 1, 2, 2], 2));
        shelf.put(6, &[6]);
        assert!(shelf.packets.contains_key(&0));
        shelf.put(7, &[7]);
        assert!(!shelf.packets.contains_key(&0), "its window is past");
    }
}
