//! Packets of a stream, put in order.

use std::collections::VecDeque;

use crate::receive_buffer::{Piece, ReceiveBuffer};

/// What has arrived and is not yet in the hands of the application. The protocol bounds how far ahead a packet may lie.
#[derive(Debug, Default)]
pub(crate) struct Reassembly {
    /// The number of the packet that comes next.
    next: u64,
    /// In order, about to be handed over.
    piece: Piece,
    /// Packets from `next` on that came early.
    early: VecDeque<Option<Vec<u8>>>,
    /// Room for such packets, to be used again.
    spare: Vec<Vec<u8>>,
}

impl Reassembly {
    /// Takes the payload of packet `number`, which has not come before.
    pub(crate) fn take(&mut self, number: u64, payload: &[u8], buffer: &ReceiveBuffer) {
        let Some(ahead) = number.checked_sub(self.next) else { return };
        if ahead > 0 {
            self.keep(ahead as usize, payload);
            return;
        }
        self.append(payload, buffer);
        self.early.pop_front();
        while let Some(Some(early)) = self.early.front_mut().map(Option::take) {
            self.early.pop_front();
            self.append(&early, buffer);
            self.spare.push(early);
        }
        if self.early.is_empty() {
            self.spare.truncate(SPARE);
        }
    }

    /// Hands over what is in order.
    pub(crate) fn flush(&mut self, buffer: &ReceiveBuffer) {
        if !self.piece.bytes.is_empty() {
            self.piece = buffer.put(std::mem::take(&mut self.piece));
        }
    }

    /// Gives memory back while nothing happens.
    pub(crate) fn rest(&mut self) {
        self.spare = Vec::new();
        self.early.shrink_to_fit();
        self.piece.bytes.shrink_to_fit();
    }

    fn append(&mut self, payload: &[u8], buffer: &ReceiveBuffer) {
        if self.piece.bytes.len() + payload.len() > PIECE {
            self.flush(buffer);
        }
        self.piece.bytes.extend_from_slice(payload);
        self.piece.packets += 1;
        self.next += 1;
    }

    fn keep(&mut self, ahead: usize, payload: &[u8]) {
        if self.early.len() <= ahead {
            self.early.resize_with(ahead + 1, || None);
        }
        let mut early = self.spare.pop().unwrap_or_default();
        early.clear();
        early.extend_from_slice(payload);
        self.early[ahead] = Some(early);
    }
}

/// Bytes that are handed over together at most: a reader begins with the first while the next are put in order.
const PIECE: usize = 64 * 1024;
/// Packets' worth of memory kept while nothing is early.
const SPARE: usize = 16;

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::clock::Deadline;
    use crate::waiting::Patience;

    fn read(buffer: &ReceiveBuffer) -> Vec<u8> {
        let mut out = [0; 100];
        let read = buffer.read(&mut out, Patience::Until(Deadline::after(Some(Duration::ZERO)))).unwrap();
        out[..read.map_or(0, |(size, _)| size)].to_vec()
    }

    #[test]
    fn packets_in_any_order_come_out_in_order() {
        let buffer = ReceiveBuffer::new();
        let mut reassembly = Reassembly::default();
        for number in [2, 0, 5, 1] {
            reassembly.take(number, &[number as u8; 2], &buffer);
        }
        reassembly.flush(&buffer);
        assert_eq!(read(&buffer), [0, 0, 1, 1, 2, 2]);
        assert_eq!(buffer.tell(), 3);
        for number in [4, 3, 1] {
            reassembly.take(number, &[number as u8], &buffer);
        }
        reassembly.flush(&buffer);
        assert_eq!(read(&buffer), [3, 4, 5, 5]);
        assert_eq!(buffer.tell(), 3);
    }
}
