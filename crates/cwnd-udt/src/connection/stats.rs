//! Counters and measurements of a connection.

use cwnd::host::Spent;
use cwnd::{BitRate, Bytes, Limit, Packets, Span, Time};

use super::Connection;

/// Counters and measurements of a connection, with the names of `ss -ti` where it has them. Bytes are payload, without headers.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Stats {
    /// Smoothed round-trip time and its mean deviation; none before the first sample.
    pub rtt: Option<Span>,
    /// See `rtt`.
    pub rttvar: Option<Span>,
    /// The least round-trip time.
    pub minrtt: Option<Span>,
    /// The congestion control's window, packets.
    pub cwnd: Packets,
    /// The rate at which packets are spaced, with headers; none if they are not.
    pub pacing_rate: Option<BitRate>,
    /// Packets of data sent, with those sent again.
    pub data_segs_out: u64,
    /// New packets of data received.
    pub data_segs_in: u64,
    /// Payload sent, with that sent again.
    pub bytes_sent: u64,
    /// Payload sent again.
    pub bytes_retrans: u64,
    /// Payload that was acknowledged or given up.
    pub bytes_acked: u64,
    /// New payload received.
    pub bytes_received: u64,
    /// Packets sent again.
    pub retrans: u64,
    /// Packets that the peer reported missing, or that a timeout marked lost.
    pub lost: u64,
    /// Packets sent and not acknowledged.
    pub unacked: u64,
    /// Outstanding packets that count as in the network.
    pub in_flight: u64,
    /// Bytes written and not sent.
    pub notsent: u64,
    /// Bytes written, sent or not, and not acknowledged or given up.
    pub undelivered: u64,
    /// Packets the peer has room for beyond what it acknowledged.
    pub snd_wnd: u64,
    /// Packets there is room for here: what the path and the application need, within the receive buffer.
    pub rcv_space: u64,
    /// Expirations of the EXP timer.
    pub timeouts: u64,
    /// Times the newest packet was retransmitted because nothing was acknowledged.
    pub tail_probes: u64,
    /// Messages that expired before they had arrived.
    pub expired: u64,
    /// Packets received that had been received before.
    pub duplicates: u64,
    /// Packets found missing when a later one arrived.
    pub missing: u64,
    /// Packets of messages that the peer gave up.
    pub given_up: u64,
    /// Packets received beyond the granted window.
    pub no_room: u64,
    /// Messages received that were larger than the buffer.
    pub oversized: u64,
    /// Packets and reports of the peer that cannot be true, and were ignored.
    pub refused: u64,
    /// The current limit of the sender.
    pub limit: Limit,
    /// The time for which each limit held the sender: `rwnd_limited` is `peer`, `sndbuf_limited` is `source`.
    pub limited: Spent,
    /// Time since the last packet was sent.
    pub lastsnd: Span,
    /// Time since the last packet was received.
    pub lastrcv: Span,
}

impl Stats {
    pub(super) fn new(connection: &Connection, now: Time) -> Self {
        let Connection { sender, receiver, .. } = connection;
        let (facts, sent, received) = (&sender.host.facts, &sender.counts, &receiver.counts);
        let rtt = facts.rtt.get();
        let packet = Bytes(connection.payload as u32 + HEADERS);
        let spacing = connection.spacing().filter(|spacing| *spacing > Span::ZERO);
        Self {
            rtt: rtt.map(|rtt| rtt.smoothed),
            rttvar: rtt.map(|rtt| rtt.variation),
            minrtt: rtt.map(|rtt| rtt.min),
            cwnd: connection.control().window,
            pacing_rate: spacing.map(|spacing| (Packets(1.0) / spacing).to_bits(packet)),
            data_segs_out: facts.counts.sent,
            data_segs_in: received.received,
            bytes_sent: sent.bytes_sent,
            bytes_retrans: sent.bytes_retransmitted,
            bytes_acked: connection.released(),
            bytes_received: received.bytes_received,
            retrans: facts.counts.retransmitted,
            lost: facts.counts.lost,
            unacked: sender.outstanding.len(),
            in_flight: sender.outstanding.in_flight(),
            notsent: sender.packetizer.written() - sender.packetizer.cut_to(),
            undelivered: sender.packetizer.written() - connection.released(),
            snd_wnd: sender.peer_window,
            rcv_space: (receiver.buffer.base() + receiver.room()).saturating_sub(receiver.buffer.next()),
            timeouts: facts.counts.timeouts,
            tail_probes: sent.probes,
            expired: sent.abandoned + sender.packetizer.expired(),
            duplicates: received.duplicates,
            missing: received.missing,
            given_up: received.given_up,
            no_room: received.no_room,
            oversized: receiver.buffer.oversized,
            refused: sent.refused + received.refused,
            limit: facts.limits.current(),
            limited: facts.limits.spent(now),
            lastsnd: now.since(connection.sent_at),
            lastrcv: now.since(connection.received_at),
        }
    }
}

/// Bytes of IPv4, UDP and UDT headers, which an algorithm counts as part of a packet.
pub(super) const HEADERS: u32 = 44;
