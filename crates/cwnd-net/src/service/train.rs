//! Datagrams that leave together.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::ops::Range;
use std::sync::{Arc, PoisonError};

use cwnd_udt::DataHeader;
use cwnd_udt::wire::HEADER;

use crate::send_buffer::{Chunk, SendBuffer, Slot};
use crate::udp::{Outgoing, Udp};

/// Packets of one connection in slots that follow one another, all of them full but for the last. They leave by one system call:
/// as one buffer where the socket can cut it, otherwise one after the other.
#[derive(Debug)]
pub(super) struct Train {
    to: SocketAddr,
    from: Option<IpAddr>,
    /// The place of the connection in the table of its port.
    owner: usize,
    chunk: Chunk,
    /// Where the first datagram lies in the chunk, how far apart they are, and how long the last is.
    start: usize,
    stride: usize,
    last: usize,
    /// What the packets lack yet, in their order.
    headers: Vec<[u8; HEADER]>,
    /// Behind the last byte of all, counted as the connection counts.
    end: u64,
}

/// A packet of data that may join a train.
#[derive(Debug)]
pub(super) struct Wagon {
    pub(super) to: SocketAddr,
    pub(super) from: Option<IpAddr>,
    pub(super) owner: usize,
    pub(super) header: DataHeader,
    pub(super) bytes: Range<u64>,
}

impl Train {
    /// A train of one, whose packet lies in `slot`. `headers` is used to keep headers in.
    pub(super) fn new(wagon: &Wagon, slot: Slot, stride: usize, mut headers: Vec<[u8; HEADER]>) -> Self {
        headers.clear();
        headers.push(wagon.header.encode());
        Self {
            to: wagon.to,
            from: wagon.from,
            owner: wagon.owner,
            chunk: slot.chunk,
            start: slot.at,
            stride,
            last: wagon.length(),
            headers,
            end: wagon.bytes.end,
        }
    }

    /// Whether `wagon` follows right behind and may leave in the same system call; if so it joins.
    pub(super) fn couple<M>(&mut self, wagon: &Wagon, buffer: &SendBuffer<M>, segments: usize) -> bool {
        let fits = self.ends_at(wagon.owner, wagon.bytes.start)
            && self.last == self.stride
            && self.headers.len() < longest(segments, self.stride)
            && buffer.is_followed(self.last_place());
        if fits {
            self.headers.push(wagon.header.encode());
            self.last = wagon.length();
            self.end = wagon.bytes.end;
        }
        fits
    }

    /// Whether its last packet ends before byte `offset` of the connection at `owner`.
    pub(super) fn ends_at(&self, owner: usize, offset: u64) -> bool {
        self.owner == owner && self.end == offset
    }

    /// Makes the last of several packets a train of its own.
    pub(super) fn detach_last(&mut self) -> Option<Self> {
        let start = self.last_place();
        let header = (self.headers.len() > 1).then(|| self.headers.pop())??;
        let rest = Self { chunk: Arc::clone(&self.chunk), start, headers: vec![header], ..*self };
        self.end -= (self.last - HEADER) as u64;
        self.last = self.stride;
        Some(rest)
    }

    /// How many packets it has.
    pub(super) fn len(&self) -> usize {
        self.headers.len()
    }

    /// Sends its packets. After an error those that have not left are still part of it.
    pub(super) fn depart(&mut self, udp: &Udp) -> io::Result<()> {
        let mut chunk = self.chunk.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes = &mut chunk[self.start..][..(self.headers.len() - 1) * self.stride + self.last];
        for (datagram, header) in bytes.chunks_mut(self.stride).zip(&self.headers) {
            datagram[..HEADER].copy_from_slice(header);
        }
        let (mut sent, mut rest) = (0, &bytes[..]);
        let outcome = loop {
            if rest.is_empty() {
                break Ok(());
            }
            let segments = udp.segments();
            match udp.send(Outgoing { to: self.to, from: self.from, bytes: rest, segment: self.stride }) {
                // The socket has learnt that its device cannot do it at once.
                Err(_) if udp.segments() < segments => {}
                Err(error) => break Err(error),
                Ok(datagrams) => {
                    rest = rest.get(datagrams * self.stride..).unwrap_or_default();
                    sent += datagrams;
                }
            }
        };
        self.start += sent * self.stride;
        self.headers.drain(..sent);
        outcome
    }

    /// What headers were kept in, to be used again.
    pub(super) fn into_headers(self) -> Vec<[u8; HEADER]> {
        self.headers
    }

    fn last_place(&self) -> usize {
        self.start + (self.headers.len() - 1) * self.stride
    }
}

impl Wagon {
    fn length(&self) -> usize {
        HEADER + (self.bytes.end - self.bytes.start) as usize
    }
}

/// How many packets may leave together.
fn longest(segments: usize, stride: usize) -> usize {
    match segments {
        // Nothing is glued, but locks and system calls are shared.
        1 => TOGETHER,
        more => more.min(MAX_DATAGRAM / stride).max(1),
    }
}

/// The kernel refuses buffers longer than the longest UDP payload over IPv4, even if they are to be cut.
const MAX_DATAGRAM: usize = 65_507;
/// As many as the kernel glues at most.
const TOGETHER: usize = 64;

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use cwnd_udt::wire::Position;
    use cwnd_udt::{MessageNumber, Seq, SocketId};

    use super::*;
    use crate::clock::Deadline;
    use crate::udp::Inbox;
    use crate::waiting::Patience;

    const PAYLOAD: usize = 100;

    fn udp(offload: bool) -> Udp {
        Udp::bind("127.0.0.1:0".parse().unwrap(), 1 << 20, offload).unwrap()
    }

    fn wagon(to: SocketAddr, packet: u64, length: u64) -> Wagon {
        let header = DataHeader {
            seq: Seq::new(packet as u32).unwrap(),
            position: Position::Only,
            in_order: true,
            message: MessageNumber::FIRST,
            timestamp_us: 0,
            to: SocketId::new(1).unwrap(),
        };
        let start = packet * PAYLOAD as u64;
        Wagon { to, from: None, owner: 0, header, bytes: start..start + length }
    }

    /// A buffer with `bytes` bytes that the protocol knows of; byte `i` is `i / 100`.
    fn buffer(bytes: usize) -> SendBuffer<()> {
        let buffer = SendBuffer::new(100, PAYLOAD);
        let content: Vec<u8> = (0..bytes).map(|at| (at / PAYLOAD) as u8).collect();
        buffer.write(&content, Patience::Until(Deadline::after(Some(Duration::ZERO)))).unwrap();
        buffer.tell(false);
        buffer.tell(true);
        buffer
    }

    /// The buffers of datagrams that come in, each as (number, length, first byte).
    fn arrivals(udp: &Udp) -> Vec<Vec<(u8, usize, u8)>> {
        let mut inbox = Inbox::new(1_500, true);
        let filled = udp.receive(&mut inbox).unwrap();
        let seen = |datagram: &[u8]| (datagram[3], datagram.len(), datagram[HEADER]);
        inbox.filled(filled).map(|glued| glued.datagrams().map(seen).collect()).collect()
    }

    fn train(buffer: &SendBuffer<()>, wagon: &Wagon) -> Train {
        let slot = buffer.slot(&wagon.bytes).unwrap();
        Train::new(wagon, slot, buffer.stride(), Vec::new())
    }

    #[test]
    fn packets_in_a_row_leave_together_up_to_a_short_one() {
        for (offload, expected) in [
            (true, vec![vec![(0, 116, 0), (1, 116, 1), (2, 66, 2)]]),
            (false, vec![vec![(0, 116, 0)], vec![(1, 116, 1)], vec![(2, 66, 2)]]),
        ] {
            let (here, there) = (udp(offload), udp(true));
            let buffer = buffer(250);
            let mut train = train(&buffer, &wagon(there.local(), 0, 100));
            assert!(!train.couple(&wagon(there.local(), 2, 50), &buffer, here.segments()), "one is missing between");
            assert!(train.couple(&wagon(there.local(), 1, 100), &buffer, here.segments()));
            assert!(train.couple(&wagon(there.local(), 2, 50), &buffer, here.segments()));
            assert!(!train.couple(&wagon(there.local(), 3, 50), &buffer, here.segments()), "the last one is short");
            train.depart(&here).unwrap();
            assert_eq!(arrivals(&there), expected, "offload: {offload}");
        }
    }

    #[test]
    fn the_last_packet_can_be_made_to_leave_alone() {
        let (here, there) = (udp(true), udp(true));
        let buffer = buffer(300);
        let mut train = train(&buffer, &wagon(there.local(), 0, 100));
        assert!(train.detach_last().is_none(), "there is but one");
        for packet in 1..3 {
            assert!(train.couple(&wagon(there.local(), packet, 100), &buffer, here.segments()));
        }
        let mut last = train.detach_last().unwrap();
        train.depart(&here).unwrap();
        last.depart(&here).unwrap();
        assert_eq!(arrivals(&there), [vec![(0, 116, 0), (1, 116, 1)], vec![(2, 116, 2)]]);
    }

    #[test]
    fn no_train_is_longer_than_the_kernel_takes() {
        assert_eq!(longest(64, 1_472), 44);
        assert_eq!(longest(64, 100), 64);
        assert_eq!(longest(64, 65_000), 1);
    }
}
