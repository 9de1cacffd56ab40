//! Packets that a receiver takes as one segment: generic receive offload (GRO) behind an interface that interrupts for several
//! packets at once.

use cwnd::Span;

/// The segment that is being merged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Merging {
    /// It is handed over so long after its first packet.
    pub(super) within: Span,
    /// The most packets in it.
    most: u64,
    /// Packets in it so far.
    count: u64,
    /// Its acknowledgement is not to be delayed: a packet before it is not acknowledged yet, or the mark has changed.
    owed: bool,
}

impl Merging {
    /// Segments of up to `most` packets that arrive `within` a time.
    pub(super) fn new(within: Span, most: u64) -> Self {
        Self { within, most, count: 0, owed: false }
    }

    /// Another packet in order.
    pub(super) fn add(&mut self) {
        self.count += 1;
    }

    /// The segment begins with the packet added last.
    pub(super) fn begins(&self) -> bool {
        self.count == 1
    }

    /// The segment takes no more.
    pub(super) fn is_full(&self) -> bool {
        self.count >= self.most
    }

    /// The segment is one packet, and nothing else is to be acknowledged: receivers that delay acknowledgements wait for a second.
    pub(super) fn may_be_delayed(&self) -> bool {
        self.count == 1 && !self.owed
    }

    /// The acknowledgement of the packet is delayed.
    pub(super) fn delay(&mut self) {
        (self.count, self.owed) = (0, true);
    }

    /// The acknowledgement of the segment is not to be delayed.
    pub(super) fn hasten(&mut self) {
        self.owed = true;
    }

    /// All packets are acknowledged.
    pub(super) fn acknowledge(&mut self) {
        (self.count, self.owed) = (0, false);
    }
}
