//! Packets: small values without payload.

use cwnd::{Bytes, Span, Time};
use cwnd_udt::Message;

use super::setup::Class;
use crate::agent::message;

/// A packet on its way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Packet {
    /// When it leaves the line it is on; the line sets it.
    pub(crate) due: Time,
    /// The flow it belongs to.
    pub(crate) flow: u32,
    /// Where on its route it is: an index into the table of all routes.
    pub(crate) hop: u32,
    /// On the wire.
    pub(crate) size: Bytes,
    /// Congestion notification (RFC 3168).
    pub(crate) ecn: Ecn,
    /// For RIO queues.
    pub(crate) class: Class,
    /// Its content.
    pub(crate) body: Body,
}

/// The ECN field of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ecn {
    /// The sender does not take part.
    NotCapable,
    /// The sender takes part, and halves its window for a mark: ECT(0).
    Capable,
    /// The sender takes part, and answers marks in proportion to their number: ECT(1), RFC 9331.
    Scalable,
    /// A router met congestion.
    Congestion,
}

/// The echo of congestion marks by a receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AckEcho {
    /// Every acknowledgement carries the echo until the sender confirms its reaction (RFC 3168 section 6.1.3).
    Latch,
    /// An acknowledgement carries the echo if its newest packet was marked, and covers packets with marks or packets without: where one
    /// follows the other, a held acknowledgement leaves at once, and so does that of the newest packet (RFC 8257 section 3.2).
    PerPacket,
    /// As [`PerPacket`](Self::PerPacket), and packets leave with ECT(1), which a dual queue takes for those of a scalable sender (RFC 9331
    /// section 4.1).
    Scalable,
    /// Every acknowledgement carries the number of marked packets modulo 8, and a sender assumes the largest number that fits (RFC 9768,
    /// without its option).
    AccEcn,
    /// As [`AccEcn`](Self::AccEcn), with ECT(1).
    AccEcnScalable,
    /// Every acknowledgement carries the number of marked packets, and whether the packets with ECT and the marked ones are all that have
    /// arrived (ECN counts of RFC 9000 section 19.3.2). If not, the sender sends no ECT any more (section 13.4.2).
    Counts,
    /// As [`Counts`](Self::Counts), with ECT(1).
    CountsScalable,
}

impl AckEcho {
    /// All ways.
    pub const ALL: [Self; 7] = [
        Self::Latch,
        Self::PerPacket,
        Self::Scalable,
        Self::AccEcn,
        Self::AccEcnScalable,
        Self::Counts,
        Self::CountsScalable,
    ];

    /// Its name in scenarios.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Latch => "latch",
            Self::PerPacket => "per-packet",
            Self::Scalable => "l4s",
            Self::AccEcn => "accecn",
            Self::AccEcnScalable => "accecn-l4s",
            Self::Counts => "counts",
            Self::CountsScalable => "counts-l4s",
        }
    }

    /// The way called `name`.
    #[must_use]
    pub fn find(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|echo| echo.name() == name)
    }

    /// Whether a sender learns the share of its packets that were marked.
    #[must_use]
    pub fn tells_each_mark(self) -> bool {
        !matches!(self, Self::Latch)
    }

    /// Whether packets leave with ECT(1).
    #[must_use]
    pub fn is_scalable(self) -> bool {
        matches!(self, Self::Scalable | Self::AccEcnScalable | Self::CountsScalable)
    }

    /// Whether acknowledgements carry a counter.
    #[must_use]
    pub fn counts(self) -> bool {
        self.counts_modulo_8() || self.counts_all()
    }

    /// Whether that counter has three bits, so that a sender may assume marks that there are not.
    #[must_use]
    pub fn counts_modulo_8(self) -> bool {
        matches!(self, Self::AccEcn | Self::AccEcnScalable)
    }

    /// Whether that counter has all marks, and shows whether packets keep their ECT.
    #[must_use]
    pub fn counts_all(self) -> bool {
        matches!(self, Self::Counts | Self::CountsScalable)
    }

    /// The echo by which a classic sender of the same kind takes part, with ECT(0).
    #[must_use]
    pub fn classic(self) -> Self {
        match self {
            Self::Scalable => Self::Latch,
            Self::AccEcnScalable => Self::AccEcn,
            Self::CountsScalable => Self::Counts,
            other => other,
        }
    }
}

impl Ecn {
    /// The field of a data packet as it leaves a sender whose marks come back by `echo`, if the flow takes part at all.
    ///
    /// RFC 3168 section 6.1.5 keeps ECT off retransmissions: a mark on it could be lost with the retransmission. With echoes per packet
    /// it stays on, as in Linux for algorithms that need ECN (`tcp_ecn_send`) and as RFC 8311 section 4.3 permits: a step that marks for them
    /// drops everything else.
    #[inline(always)]
    pub(crate) fn of_data(echo: Option<AckEcho>, data: &Data) -> Self {
        match echo {
            Some(AckEcho::Scalable | AckEcho::AccEcnScalable) => Self::Scalable,
            Some(AckEcho::PerPacket | AckEcho::AccEcn) => Self::Capable,
            Some(AckEcho::CountsScalable) if !data.bare => Self::Scalable,
            Some(AckEcho::Counts) if !data.bare => Self::Capable,
            Some(AckEcho::Latch) if !data.retransmission => Self::Capable,
            Some(AckEcho::Latch | AckEcho::Counts | AckEcho::CountsScalable) | None => Self::NotCapable,
        }
    }
}

/// The content of a packet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Body {
    /// Data.
    Data(Data),
    /// A TCP-like acknowledgement.
    Ack(Ack),
    /// A message of UDT's receiver.
    ToSender(Message),
    /// A message of UDT's sender.
    ToReceiver(Message),
    /// Messages of the author's UDT agents that the wire protocol does not have.
    Agent(message::Message),
    /// Data with a header for the routers or for the receiver's half of an algorithm.
    Headed(Data, Header),
    /// A report of a receiver that hosts its half of an algorithm.
    Report(Report),
    /// An acknowledgement that brings back what routers wrote.
    Reply(Reply),
    /// A datagram of a whole stack.
    Datagram(Datagram),
    /// A packet of a handshake, of either end.
    Handshake(HandshakePacket),
}

/// A handshake packet of either end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HandshakePacket {
    /// When the sender's packet of this round trip left.
    pub(crate) sent_at: Time,
    /// Round trips to come, this one included.
    pub(crate) left: u32,
    /// It goes to the receiver.
    pub(crate) to_receiver: bool,
}

impl Body {
    /// Whether it goes from a sender to a receiver with data.
    pub(crate) fn is_data(&self) -> bool {
        matches!(self, Self::Data(_) | Self::Headed(..) | Self::Datagram(Datagram { to_receiver: true, .. }))
    }
}

/// A datagram of a whole stack, whose content lies at its flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Datagram {
    /// The number of packets that its end had sent before.
    pub(crate) number: u64,
    /// Where its content is.
    pub(crate) slot: u32,
    /// On the wire, headers included.
    pub(crate) bytes: u32,
    /// The sender of the flow has sent it.
    pub(crate) to_receiver: bool,
    /// It is ECN-capable.
    pub(crate) capable: bool,
    /// It has arrived with a mark.
    pub(crate) marked: bool,
}

impl Datagram {
    /// The field of its packet as it leaves: the stack decides, of whatever it sends.
    pub(crate) fn ecn(&self) -> Ecn {
        if self.capable { Ecn::Capable } else { Ecn::NotCapable }
    }
}

/// The contents of a packet besides its data.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Header {
    /// The sender's round-trip time (RFC 5348 section 3.2.1); nothing before the first sample.
    Rtt(Span),
    /// XCP's congestion header.
    Congestion {
        /// The sender's window, packets.
        window: f32,
        /// Its round-trip time, seconds; 0 before the first sample.
        rtt: f32,
        /// The change of window it requests, until routers grant less, packets.
        feedback: f32,
        /// One has.
        answered: bool,
    },
    /// The load of the routers: VCP's code, DECbit's bit.
    Load(u8),
}

/// A report.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Report {
    /// The newest packet that has arrived, and when it left.
    pub(crate) newest: u64,
    pub(crate) echo: Time,
    /// Time since that packet arrived, nanoseconds.
    pub(crate) held: u32,
    /// Packets that have arrived, modulo 2^32.
    pub(crate) arrivals: u32,
    /// Arrival rate, loss event rate, capacity and window, as in [`Remote`](cwnd::Remote); NaN where there is none.
    pub(crate) measured: [f32; 4],
}

/// A data packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Data {
    /// Its number.
    pub(crate) number: u64,
    /// When it left.
    pub(crate) sent_at: Time,
    /// It was sent before.
    pub(crate) retransmission: bool,
    /// The sender has reacted to a mark (CWR, RFC 3168).
    pub(crate) reacted: bool,
    /// It follows its predecessor at once: the second of a probe pair.
    pub(crate) pair: bool,
    /// The spin bit of the newest acknowledgement: what a receiver measures the round trip by.
    pub(crate) spin: bool,
    /// It leaves without ECT, since counts have shown that the path does not carry it.
    pub(crate) bare: bool,
}

impl Data {
    /// The first transmission of a packet.
    pub(crate) const fn new(number: u64, sent_at: Time) -> Self {
        Self { number, sent_at, retransmission: false, reacted: false, pair: false, spin: false, bare: false }
    }
}

/// An acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ack {
    /// All packets below have arrived.
    pub(crate) cumulative: u64,
    /// When the packet left that made the receiver send this, or the oldest of those that it was held back for (RFC 7323 section 4.3).
    pub(crate) echo: Time,
    /// Up to three ranges above `cumulative` that have arrived, the one with the newest packet first (RFC 2018). Nothing is missing while
    /// an acknowledgement is held back, so that such a one seldom uses more than the first; a third that is unused holds
    /// how much later than `echo` the [newest](Self::newest) packet left, nanoseconds. Where all marks are counted the third is no range,
    /// and holds their number too.
    pub(crate) sack: [Block; 3],
    /// A mark is echoed (ECE, RFC 3168).
    pub(crate) marked: bool,
    /// The packet that made the receiver send this had arrived before (DSACK, RFC 2883): its number, relative to `cumulative`, which is
    /// still missing; 0 if it had not. A number too far away to be written is left out.
    pub(crate) duplicate: i32,
    /// The packets from `cumulative` on for which the receiver has room; 0 where it grants what the setup says.
    pub(crate) window: u16,
    /// The [spin bit](Self::spin), above it the three bits of the [counter](Self::ace) of marks, and [`SHORT`] and [`TOTALS`].
    pub(crate) bits: u8,
}

/// The packets with ECT and the marked ones are fewer than all that have arrived.
const SHORT: u8 = 1 << 6;
/// The last range of an acknowledgement holds the number of all marked packets.
const TOTALS: u8 = 1 << 7;

impl Ack {
    /// The acknowledgement of all packets below `cumulative` and of nothing else, for the packet that left at `echo`.
    #[inline(always)]
    pub(crate) fn of(cumulative: u64, echo: Time) -> Self {
        let sack = [Block::default(); 3];
        Self { cumulative, echo, sack, marked: false, duplicate: 0, window: 0, bits: 0 }
    }

    /// The spin bit: inverted once in a round trip by receivers that measure it (as RFC 9000 section 17.4 has it).
    #[inline]
    pub(crate) fn spin(&self) -> bool {
        self.bits & 1 != 0
    }

    /// Sets the spin bit.
    #[inline]
    pub(crate) fn set_spin(&mut self, spin: bool) {
        self.bits = self.bits & !1 | u8::from(spin);
    }

    /// The number of marked packets modulo 8 (ACE, RFC 9768 section 3.2.2); 0 where the receiver does not count.
    #[inline]
    pub(crate) fn ace(&self) -> u8 {
        self.bits >> 1 & 7
    }

    /// Sets that number, below 8.
    pub(crate) fn set_ace(&mut self, ace: u8) {
        self.bits = self.bits & !(7 << 1) | ace << 1;
    }

    /// Whether it counts all marks.
    #[inline]
    pub(crate) fn has_totals(&self) -> bool {
        self.bits & TOTALS != 0
    }

    /// The number of marked packets that have arrived, modulo 2^32; of one that counts all.
    pub(crate) fn marks(&self) -> u32 {
        self.sack[2].end
    }

    /// Whether packets have arrived that the counts lack.
    pub(crate) fn falls_short(&self) -> bool {
        self.bits & SHORT != 0
    }

    /// Sets the counts. It reports two ranges at most.
    pub(crate) fn set_totals(&mut self, marks: u32, short: bool) {
        self.bits |= TOTALS | if short { SHORT } else { 0 };
        self.sack[2] = Block { first: 0, end: marks };
    }

    /// Sets the delay from the echo to the departure of the newest acknowledged packet, nanoseconds, for an acknowledgement that was held back. One that
    /// reports three ranges has no room for it.
    #[inline]
    pub(crate) fn set_later(&mut self, nanos: u32) {
        let totals = self.has_totals();
        let third = &mut self.sack[2];
        if third.is_empty() || totals {
            third.first = nanos;
        }
    }

    /// When the newest packet left that this acknowledges for the first time.
    #[inline]
    pub(crate) fn newest(&self) -> Time {
        let last = self.sack[2];
        if last.is_empty() || self.has_totals() { self.echo + Span::from_nanos(last.first.into()) } else { self.echo }
    }

    /// The ranges above `cumulative` that have arrived.
    pub(crate) fn blocks(&self) -> impl Iterator<Item = &Block> {
        let most = if self.has_totals() { 2 } else { 3 };
        self.sack[..most].iter().filter(|block| !block.is_empty())
    }

    /// All its ranges, unused ones too.
    pub(crate) fn ranges(&self) -> [Block; 3] {
        let [first, second, third] = self.sack;
        [first, second, if self.has_totals() { Block::default() } else { third }]
    }

    /// The packet that arrived twice.
    pub(crate) fn duplicate(&self) -> Option<u64> {
        let number = self.cumulative.checked_add_signed(self.duplicate.into());
        number.filter(|_| self.duplicate != 0)
    }
}

/// A range of packets, relative to the cumulative acknowledgement; empty if unused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Block {
    /// The first one.
    pub(crate) first: u32,
    /// One past the last one.
    pub(crate) end: u32,
}

impl Block {
    /// Whether it is unused.
    #[inline]
    pub(crate) fn is_empty(self) -> bool {
        self.end == 0
    }
}

/// An acknowledgement that brings back what routers wrote.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Reply {
    /// All packets below have arrived.
    pub(crate) cumulative: u64,
    /// When the packet left that made the receiver send this.
    pub(crate) echo: Time,
    /// Up to two ranges above `cumulative` that have arrived; the headers leave no room for a third. A second that is unused holds
    /// what an unused third one holds in [`Ack`], and so does any second where all marks are counted.
    pub(crate) sack: [Block; 2],
    /// A mark is echoed.
    pub(crate) marked: bool,
    /// As in [`Ack`].
    pub(crate) bits: u8,
    /// The sum of XCP's grants or the highest load since the last one; NaN where no router has written.
    pub(crate) feedback: f32,
}

impl Reply {
    /// As in [`Ack`].
    pub(crate) fn has_totals(&self) -> bool {
        self.bits & TOTALS != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_stays_small() {
        // Rings of packets in flight are what a fast long path spends its memory traffic on.
        assert!(size_of::<Packet>() <= 72, "{} bytes", size_of::<Packet>());
    }
}
