//! Keeps packets of messages until their message is complete.

use std::collections::BTreeMap;

use crate::receive_buffer::Piece;

/// Payloads by the numbers of their packets.
#[derive(Debug, Default)]
pub(super) struct MessageReassembly {
    packets: BTreeMap<u64, Box<[u8]>>,
}

impl MessageReassembly {
    /// Adds the payload of packet `number`.
    pub(super) fn insert(&mut self, number: u64, payload: &[u8]) {
        self.packets.insert(number, payload.into());
    }

    /// Removes the message that consists of these packets.
    pub(super) fn remove(&mut self, numbers: impl Iterator<Item = u64>) -> Piece {
        let mut message = Piece::default();
        for number in numbers {
            message.packets += 1;
            let Some(packet) = self.packets.remove(&number) else { continue };
            message.bytes.extend_from_slice(&packet);
        }
        message
    }

    /// Drops the packets below `number`, which belong to messages that will never be complete.
    pub(super) fn drop_below(&mut self, number: u64) {
        while let Some(first) = self.packets.first_entry().filter(|first| *first.key() < number) {
            first.remove();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_joined_and_packets_of_others_dropped() {
        let mut reassembly = MessageReassembly::default();
        for number in [0, 2, 1, 5] {
            reassembly.insert(number, &[number as u8; 2]);
        }
        let message = reassembly.remove([1, 2].into_iter());
        assert_eq!((message.bytes, message.packets), (vec![1, 1, 2, 2], 2));
        reassembly.drop_below(5);
        assert_eq!(reassembly.packets.keys().copied().collect::<Vec<_>>(), [5]);
    }
}
