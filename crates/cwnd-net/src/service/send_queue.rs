//! Datagrams on their way to the socket.

use std::collections::VecDeque;
use std::io;
use std::net::IpAddr;

use cwnd::{Span, Time};
use cwnd_udt::Datagram;
use cwnd_udt::connection::DataPacket;
use cwnd_udt::wire::HEADER;
use quinn_udp::Transmit;

use super::established::Established;
use super::gso_batch::GsoBatch;
use crate::udp::Udp;

/// Datagrams that the protocol has released and the socket has not accepted yet.
#[derive(Debug, Default)]
pub(super) struct SendQueue {
    /// May still grow.
    batch: Option<GsoBatch>,
    /// Complete, in order; more than one only while the socket is blocked, or between the packets of a probe pair.
    complete: VecDeque<GsoBatch>,
    /// Memory for headers, and for control packets.
    headers: Vec<Vec<[u8; HEADER]>>,
    scratch: Vec<u8>,
    blocked: bool,
    /// Datagrams the system refused to send, and the last reason.
    pub(super) errors: u64,
    pub(super) last_error: Option<io::ErrorKind>,
}

impl SendQueue {
    /// Whether the send buffer of the socket is full.
    pub(super) fn is_blocked(&self) -> bool {
        self.blocked
    }

    /// The socket may accept datagrams again.
    pub(super) fn unblock(&mut self) {
        self.blocked = false;
    }

    /// Sends a control packet. If the socket is blocked it is lost, as it could be on the path.
    pub(super) fn send_control(&mut self, datagram: &Datagram, src_ip: Option<IpAddr>, udp: &Udp) {
        self.scratch.clear();
        datagram.encode(&mut self.scratch);
        let contents = &self.scratch;
        let sent = udp.send(&Transmit { destination: datagram.to, ecn: None, contents, segment_size: None, src_ip });
        self.count(sent.map(|_| ()), 1);
    }

    /// Adds a packet of data of an established connection.
    pub(super) fn push(&mut self, now: Time, packet: &DataPacket, connection: &mut Established, udp: &Udp) {
        let place = connection.place();
        let alone = packet.pair && udp.segments() > 1 && connection.next_pair <= now;
        let buffer = &connection.shared.send;
        if !alone && self.batch.as_mut().is_some_and(|batch| batch.try_push(place, packet, buffer, udp.segments())) {
            return;
        }
        // A missing slot would be an error in the protocol's bookkeeping; the peer will ask for the packet again.
        let Some(slot) = buffer.slot(&packet.bytes) else { return };
        if alone {
            connection.next_pair = now + PAIR_INTERVAL;
            let first = self.batch.as_mut().filter(|batch| batch.ends_at(place, packet.bytes.start));
            if let Some(last) = first.and_then(GsoBatch::split_last) {
                self.complete_batch();
                self.batch = Some(last);
            }
        }
        self.complete_batch();
        let headers = self.headers.pop().unwrap_or_default();
        let (destination, src_ip) = (connection.shared.peer, connection.src_ip);
        self.batch = Some(GsoBatch::new(destination, src_ip, place, packet, slot, headers));
        if alone {
            self.complete_batch();
        }
        self.send_complete(udp);
    }

    /// Sends everything.
    pub(super) fn flush(&mut self, udp: &Udp) {
        self.complete_batch();
        self.send_complete(udp);
    }

    fn complete_batch(&mut self) {
        self.complete.extend(self.batch.take());
    }

    fn send_complete(&mut self, udp: &Udp) {
        while !self.blocked
            && let Some(mut batch) = self.complete.pop_front()
        {
            let segments = batch.len();
            let sent = batch.send(udp);
            if matches!(&sent, Err(error) if error.kind() == io::ErrorKind::WouldBlock) {
                self.blocked = true;
                self.complete.push_front(batch);
                return;
            }
            self.count(sent, segments);
            self.headers.push(batch.into_headers());
        }
    }

    fn count(&mut self, sent: io::Result<()>, datagrams: usize) {
        if let Err(error) = sent {
            self.errors += datagrams as u64;
            self.last_error = Some(error.kind());
        }
    }
}

/// The packets of a probe pair are sent alone this often: in one GSO batch they would arrive at one instant and measure nothing. A
/// thousand pairs a second are more than any estimate needs; the others stay in their batches, where the receiver ignores them.
const PAIR_INTERVAL: Span = Span::from_millis(1);
