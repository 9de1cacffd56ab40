//! Puts packets of a stream in order.

use std::collections::VecDeque;

use crate::receive_buffer::{Piece, ReceiveBuffer};

/// What has arrived and is not yet in the receive buffer. The protocol bounds how far ahead a packet may be.
#[derive(Debug, Default)]
pub(super) struct StreamReassembly {
    /// The number of the next packet in order.
    next: u64,
    /// In order, to be pushed into the receive buffer.
    piece: Piece,
    /// Packets from `next` on that arrived out of order.
    out_of_order: VecDeque<Option<Vec<u8>>>,
    /// Memory for such packets, to be used again.
    spare: Vec<Vec<u8>>,
}

impl StreamReassembly {
    /// Adds the payload of packet `number`, which has not arrived before.
    pub(super) fn insert(&mut self, number: u64, payload: &[u8], buffer: &ReceiveBuffer) {
        let Some(ahead) = number.checked_sub(self.next) else { return };
        if ahead > 0 {
            self.keep(ahead as usize, payload);
            return;
        }
        self.append(payload, buffer);
        self.out_of_order.pop_front();
        while let Some(Some(packet)) = self.out_of_order.front_mut().map(Option::take) {
            self.out_of_order.pop_front();
            self.append(&packet, buffer);
            self.spare.push(packet);
        }
        if self.out_of_order.is_empty() {
            self.spare.truncate(SPARE);
        }
    }

    /// Pushes what is in order into the receive buffer.
    pub(super) fn flush(&mut self, buffer: &ReceiveBuffer) {
        if !self.piece.bytes.is_empty() {
            self.piece = buffer.push(std::mem::take(&mut self.piece));
        }
    }

    /// Frees memory of an idle connection.
    pub(super) fn release_memory(&mut self) {
        self.spare = Vec::new();
        self.out_of_order.shrink_to_fit();
        self.piece.bytes.shrink_to_fit();
    }

    fn append(&mut self, payload: &[u8], buffer: &ReceiveBuffer) {
        if self.piece.bytes.len() + payload.len() > MAX_PIECE {
            self.flush(buffer);
        }
        self.piece.bytes.extend_from_slice(payload);
        self.piece.packets += 1;
        self.next += 1;
    }

    fn keep(&mut self, ahead: usize, payload: &[u8]) {
        if self.out_of_order.len() <= ahead {
            self.out_of_order.resize_with(ahead + 1, || None);
        }
        let mut packet = self.spare.pop().unwrap_or_default();
        packet.clear();
        packet.extend_from_slice(payload);
        self.out_of_order[ahead] = Some(packet);
    }
}

/// Bytes of a piece at most: a reader begins with the first while the next are put in order.
const MAX_PIECE: usize = 64 * 1024;
/// Packets' worth of memory kept while nothing is out of order.
const SPARE: usize = 16;

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::clock::Deadline;
    use crate::wait::Wait;

    fn read(buffer: &ReceiveBuffer) -> Vec<u8> {
        let mut out = [0; 100];
        let read = buffer.read(&mut out, Wait::Until(Deadline::after(Some(Duration::ZERO)))).unwrap();
        out[..read.map_or(0, |(size, _)| size)].to_vec()
    }

    #[test]
    fn packets_in_any_order_come_out_in_order() {
        let buffer = ReceiveBuffer::new();
        let mut reassembly = StreamReassembly::default();
        for number in [2, 0, 5, 1] {
            reassembly.insert(number, &[number as u8; 2], &buffer);
        }
        reassembly.flush(&buffer);
        assert_eq!(read(&buffer), [0, 0, 1, 1, 2, 2]);
        assert_eq!(buffer.report(), 3);
        for number in [4, 3, 1] {
            reassembly.insert(number, &[number as u8], &buffer);
        }
        reassembly.flush(&buffer);
        assert_eq!(read(&buffer), [3, 4, 5, 5]);
        assert_eq!(buffer.report(), 3);
    }
}
