//! Keeps packets of messages until their message is complete.

use std::collections::BTreeMap;

use crate::receive_buffer::Piece;

/// Payloads by the numbers of their packets.
#[derive(Debug)]
pub(super) struct MessageReassembly {
    packets: BTreeMap<u64, Vec<u8>>,
    /// A packet that is further behind the newest belongs to a message that will never be complete.
    max_distance: u64,
    /// Memory for packets, to be used again.
    spare: Vec<Vec<u8>>,
}

impl MessageReassembly {
    /// For a window of `window` packets.
    pub(super) fn new(window: u64) -> Self {
        // Receivers never grant less than two packets, so that two more than the window may arrive.
        Self { packets: BTreeMap::new(), max_distance: window + 2, spare: Vec::new() }
    }

    /// Adds the payload of packet `number`.
    pub(super) fn insert(&mut self, number: u64, payload: &[u8]) {
        let mut packet = self.spare.pop().unwrap_or_default();
        packet.clear();
        packet.extend_from_slice(payload);
        self.packets.insert(number, packet);
        while let Some(oldest) = self.packets.first_entry()
            && oldest.key() + self.max_distance < number
        {
            self.spare.push(oldest.remove());
        }
    }

    /// Frees memory of an idle connection.
    pub(super) fn release_memory(&mut self) {
        self.spare = Vec::new();
    }

    /// Removes the message that consists of these packets.
    pub(super) fn remove(&mut self, numbers: impl Iterator<Item = u64>) -> Piece {
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

/// Packets' worth of memory kept while there are no packets.
const SPARE: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_joined_and_packets_behind_the_window_dropped() {
        let mut reassembly = MessageReassembly::new(4);
        for number in [0, 2, 1, 5] {
            reassembly.insert(number, &[number as u8; 2]);
        }
        let message = reassembly.remove([1, 2].into_iter());
        assert_eq!((message.bytes, message.packets), (vec![1, 1, 2, 2], 2));
        reassembly.insert(6, &[6]);
        assert!(reassembly.packets.contains_key(&0));
        reassembly.insert(7, &[7]);
        assert!(!reassembly.packets.contains_key(&0), "it is behind the window");
    }
}
