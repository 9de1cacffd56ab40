//! Segments that are sent by one system call.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, PoisonError};

use cwnd_udt::connection::DataPacket;
use cwnd_udt::wire::HEADER;
use quinn_udp::Transmit;

use crate::send_buffer::{Chunk, SendBuffer, Slot};
use crate::udp::Udp;

/// Packets of one connection in consecutive slots, all of them full but for the last. One system call sends them: as one buffer
/// where the socket can segment it (GSO), otherwise as a list of datagrams.
#[derive(Debug)]
pub(super) struct GsoBatch {
    destination: SocketAddr,
    src_ip: Option<IpAddr>,
    /// The place of the connection in the table of its port.
    place: usize,
    chunk: Chunk,
    /// Where the first segment begins in the chunk, and the length of a full one.
    start: usize,
    segment_size: usize,
    /// The length of the last segment.
    last: usize,
    /// Written in front of the payloads when the batch is sent, in their order.
    headers: Vec<[u8; HEADER]>,
    /// One past the last payload byte, an offset in what the application wrote.
    end: u64,
}

impl GsoBatch {
    /// A batch of one packet, whose payload lies in `slot`. `headers` is memory to be used again.
    pub(super) fn new(
        destination: SocketAddr,
        src_ip: Option<IpAddr>,
        place: usize,
        packet: &DataPacket,
        slot: Slot,
        mut headers: Vec<[u8; HEADER]>,
    ) -> Self {
        headers.clear();
        headers.push(packet.header.encode());
        let Slot { chunk, at: start, stride: segment_size } = slot;
        let (last, end) = (segment_len(packet), packet.bytes.end);
        Self { destination, src_ip, place, chunk, start, segment_size, last, headers, end }
    }

    /// Adds a packet of the connection at `place` if it follows the last one and may be sent by the same system call; whether it was
    /// added.
    pub(super) fn try_push<M>(
        &mut self,
        place: usize,
        packet: &DataPacket,
        buffer: &SendBuffer<M>,
        max_segments: usize,
    ) -> bool {
        let fits = self.ends_at(place, packet.bytes.start)
            && self.last == self.segment_size
            && self.headers.len() < max_len(max_segments, self.segment_size)
            && buffer.is_followed(self.last_start());
        if fits {
            self.headers.push(packet.header.encode());
            self.last = segment_len(packet);
            self.end = packet.bytes.end;
        }
        fits
    }

    /// Whether its last packet ends before byte `offset` of the connection at `place`.
    pub(super) fn ends_at(&self, place: usize, offset: u64) -> bool {
        self.place == place && self.end == offset
    }

    /// Removes the last of several packets, as a batch of its own.
    pub(super) fn split_last(&mut self) -> Option<Self> {
        let start = self.last_start();
        let header = (self.headers.len() > 1).then(|| self.headers.pop())??;
        let last = Self { chunk: Arc::clone(&self.chunk), start, headers: vec![header], ..*self };
        self.end -= (self.last - HEADER) as u64;
        self.last = self.segment_size;
        Some(last)
    }

    /// How many packets it has.
    pub(super) fn len(&self) -> usize {
        self.headers.len()
    }

    /// Sends its packets. After an error those that were not sent are still part of it.
    pub(super) fn send(&mut self, udp: &Udp) -> io::Result<()> {
        let size = self.segment_size;
        let mut chunk = self.chunk.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes = &mut chunk[self.start..][..(self.headers.len() - 1) * size + self.last];
        for (segment, header) in bytes.chunks_mut(size).zip(&self.headers) {
            segment[..HEADER].copy_from_slice(header);
        }
        let (mut sent, mut rest) = (0, &bytes[..]);
        let outcome = loop {
            if rest.is_empty() {
                break Ok(());
            }
            let max_segments = udp.segments();
            let (destination, src_ip) = (self.destination, self.src_ip);
            let segment_size = (rest.len() > size).then_some(size);
            match udp.send(&Transmit { destination, ecn: None, contents: rest, segment_size, src_ip }) {
                // The device turned out not to support GSO.
                Err(_) if udp.segments() < max_segments => {}
                Err(error) => break Err(error),
                Ok(segments) => {
                    rest = rest.get(segments * size..).unwrap_or_default();
                    sent += segments;
                }
            }
        };
        self.start += sent * size;
        self.headers.drain(..sent);
        outcome
    }

    /// The memory of its headers, to be used again.
    pub(super) fn into_headers(self) -> Vec<[u8; HEADER]> {
        self.headers
    }

    fn last_start(&self) -> usize {
        self.start + (self.headers.len() - 1) * self.segment_size
    }
}

fn segment_len(packet: &DataPacket) -> usize {
    HEADER + (packet.bytes.end - packet.bytes.start) as usize
}

/// How many segments a batch may have.
fn max_len(max_segments: usize, segment_size: usize) -> usize {
    match max_segments {
        // Without GSO a list of datagrams still shares the lock and the system call.
        1 => MAX_DATAGRAMS,
        more => more.min(MAX_GSO_BYTES / segment_size).max(1),
    }
}

/// The kernel refuses buffers longer than the longest UDP payload over IPv4, even if they are to be segmented.
const MAX_GSO_BYTES: usize = 65_507;
/// As many as the kernel segments at most.
const MAX_DATAGRAMS: usize = 64;

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use cwnd_udt::wire::Position;
    use cwnd_udt::{DataHeader, MessageNumber, Seq, SocketId};

    use super::*;
    use crate::clock::Deadline;
    use crate::udp::RecvBuffers;
    use crate::wait::Wait;

    const PAYLOAD: usize = 100;

    fn udp(offload: bool) -> Udp {
        Udp::bind("127.0.0.1:0".parse().unwrap(), 1 << 20, offload).unwrap()
    }

    fn packet(number: u64, length: u64) -> DataPacket {
        let header = DataHeader {
            seq: Seq::new(number as u32).unwrap(),
            position: Position::Only,
            in_order: true,
            message: MessageNumber::FIRST,
            timestamp_us: 0,
            to: SocketId::new(1).unwrap(),
        };
        let start = number * PAYLOAD as u64;
        DataPacket { header, number, bytes: start..start + length, retransmission: false, pair: false }
    }

    /// A buffer with `bytes` bytes that were submitted; byte `i` is `i / 100`.
    fn buffer(bytes: usize) -> SendBuffer<()> {
        let buffer = SendBuffer::new(100, PAYLOAD);
        let content: Vec<u8> = (0..bytes).map(|at| (at / PAYLOAD) as u8).collect();
        buffer.write(&content, Wait::Until(Deadline::after(Some(Duration::ZERO)))).unwrap();
        buffer.submit(0, true);
        buffer.submit(0, true);
        buffer
    }

    /// The buffers of datagrams that come in, each as (number, length, first byte).
    fn arrivals(udp: &Udp) -> Vec<Vec<(u8, usize, u8)>> {
        let mut buffers = RecvBuffers::new(1_500, true);
        let filled = udp.receive(&mut buffers).unwrap();
        let seen = |datagram: &[u8]| (datagram[3], datagram.len(), datagram[HEADER]);
        buffers.filled(filled).map(|received| received.datagrams().map(seen).collect()).collect()
    }

    /// A batch of the first packet of a buffer.
    fn batch(destination: SocketAddr, buffer: &SendBuffer<()>) -> GsoBatch {
        let first = packet(0, 100);
        let slot = buffer.slot(&first.bytes).unwrap();
        GsoBatch::new(destination, None, 0, &first, slot, Vec::new())
    }

    #[test]
    fn consecutive_packets_are_sent_together_up_to_a_short_one() {
        for (offload, expected) in [
            (true, vec![vec![(0, 116, 0), (1, 116, 1), (2, 66, 2)]]),
            (false, vec![vec![(0, 116, 0)], vec![(1, 116, 1)], vec![(2, 66, 2)]]),
        ] {
            let (here, there) = (udp(offload), udp(true));
            let buffer = buffer(250);
            let mut batch = batch(there.local(), &buffer);
            assert!(!batch.try_push(0, &packet(2, 50), &buffer, here.segments()), "one is missing between");
            assert!(batch.try_push(0, &packet(1, 100), &buffer, here.segments()));
            assert!(batch.try_push(0, &packet(2, 50), &buffer, here.segments()));
            assert!(!batch.try_push(0, &packet(3, 50), &buffer, here.segments()), "the last one is short");
            batch.send(&here).unwrap();
            assert_eq!(arrivals(&there), expected, "offload: {offload}");
        }
    }

    #[test]
    fn the_last_packet_can_be_split_off() {
        let (here, there) = (udp(true), udp(true));
        let buffer = buffer(300);
        let mut batch = batch(there.local(), &buffer);
        assert!(batch.split_last().is_none(), "it is the only one");
        for number in 1..3 {
            assert!(batch.try_push(0, &packet(number, 100), &buffer, here.segments()));
        }
        let mut last = batch.split_last().unwrap();
        batch.send(&here).unwrap();
        last.send(&here).unwrap();
        assert_eq!(arrivals(&there), [vec![(0, 116, 0), (1, 116, 1)], vec![(2, 116, 2)]]);
    }

    #[test]
    fn no_batch_is_longer_than_the_kernel_accepts() {
        assert_eq!(max_len(64, 1_472), 44);
        assert_eq!(max_len(64, 100), 64);
        assert_eq!(max_len(64, 65_000), 1);
    }
}
