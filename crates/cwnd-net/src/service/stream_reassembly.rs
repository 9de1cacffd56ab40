//! Puts packets of a stream in order.

use std::collections::BTreeMap;

use crate::receive_buffer::{Piece, ReceiveBuffer};

/// Arrived data that is not yet in the receive buffer. The protocol bounds how far ahead a packet may be.
#[derive(Debug, Default)]
pub(super) struct StreamReassembly {
    /// The number of the next packet in order.
    next: u64,
    /// In order, to be pushed into the receive buffer.
    piece: Piece,
    /// Packets above `next` that arrived out of order. A packet far ahead costs no more than a near one.
    out_of_order: BTreeMap<u64, Box<[u8]>>,
}

impl StreamReassembly {
    /// Adds the payload of packet `number`, which has not arrived before.
    pub(super) fn insert(&mut self, number: u64, payload: &[u8], buffer: &ReceiveBuffer) {
        if number > self.next {
            self.out_of_order.insert(number, payload.into());
        }
        if number != self.next {
            return;
        }
        self.append(payload, buffer);
        while let Some(next) = self.out_of_order.first_entry().filter(|first| *first.key() == self.next) {
            let packet = next.remove();
            self.append(&packet, buffer);
        }
    }

    /// Pushes the data that is in order into the receive buffer.
    pub(super) fn flush(&mut self, buffer: &ReceiveBuffer) {
        if !self.piece.bytes.is_empty() {
            self.piece = buffer.push(std::mem::take(&mut self.piece));
        }
    }

    /// Frees memory of an idle connection.
    pub(super) fn release_memory(&mut self) {
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
}

/// Bytes of a piece at most: a reader begins with the first while the next are put in order.
const MAX_PIECE: usize = 64 * 1024;

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
