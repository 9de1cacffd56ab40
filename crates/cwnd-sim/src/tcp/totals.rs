//! Cumulative ECN counts, as an ACK frame of QUIC carries them (RFC 9000 section 19.3.2), and their validation (section 13.4.2.1).

use crate::net::packet::Ack;

/// The receiver's counts. Of the packets that arrive with the sender's ECT matters only whether they and the marked ones are all that
/// arrived.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Totals {
    /// Packets with CE.
    marks: u32,
    /// A packet has arrived with neither the sender's ECT nor CE: the sum of both counts is less than the number of packets.
    short: bool,
}

impl Totals {
    /// A packet arrives, with a mark or without.
    pub(super) fn count(&mut self, marked: bool) {
        self.marks = self.marks.wrapping_add(u32::from(marked));
    }

    /// A packet arrives that is in neither count, though it left with ECT.
    pub(super) fn fall_short(&mut self) {
        self.short = true;
    }

    /// Writes the counts into an acknowledgement.
    pub(super) fn write(self, ack: &mut Ack) {
        ack.set_totals(self.marks, self.short);
    }
}

/// What a sender knows of the counts.
#[derive(Clone, Debug, Default)]
pub(super) struct TotalDecoder {
    /// The largest count of marked packets.
    marks: u32,
    /// Marks that the algorithm has not heard of, since their acknowledgements acknowledged nothing new.
    untold: u64,
    /// One past the largest packet that was acknowledged.
    largest: u64,
    failed: bool,
}

impl TotalDecoder {
    /// The marked packets since the last acknowledgement. One that was overtaken has counted fewer, and tells of none.
    ///
    /// Counts that do not add up are not used, nor any later ones. An acknowledgement that does not increase the largest acknowledged packet
    /// is not judged.
    pub(super) fn on_ack(&mut self, ack: &Ack) -> u64 {
        let largest = ack.cumulative + ack.blocks().map(|block| u64::from(block.end)).max().unwrap_or(0);
        if largest > self.largest {
            self.largest = largest;
            self.failed |= ack.falls_short();
        }
        let rise = ack.marks().wrapping_sub(self.marks);
        if self.failed || rise > u32::MAX / 2 {
            return 0;
        }
        self.marks = ack.marks();
        self.untold += u64::from(rise);
        rise.into()
    }

    /// The number of `newly` acknowledged packets that were marked, for the algorithm.
    pub(super) fn tell(&mut self, newly: u64) -> u64 {
        let told = self.untold.min(newly);
        self.untold -= told;
        told
    }

    /// Whether validation has failed: the sender must not send ECT any more (section 13.4.2.2).
    pub(super) fn has_failed(&self) -> bool {
        self.failed
    }
}

#[cfg(test)]
mod tests {
    use cwnd::Time;

    use super::*;
    use crate::net::packet::Block;

    fn ack(cumulative: u64, marks: u32, short: bool) -> Ack {
        let mut ack = Ack::of(cumulative, Time::ZERO);
        ack.set_totals(marks, short);
        ack
    }

    #[test]
    fn lost_and_overtaken_acknowledgements_change_no_count() {
        let mut decoder = TotalDecoder::default();
        assert_eq!(decoder.on_ack(&ack(2, 1, false)), 1);
        assert_eq!(decoder.tell(2), 1);
        // The acknowledgements of 998 packets are lost, of which 700 are marked.
        assert_eq!(decoder.on_ack(&ack(1000, 701, false)), 700);
        assert_eq!(decoder.on_ack(&ack(900, 650, false)), 0, "it left before the one with 701");
        assert_eq!(decoder.on_ack(&ack(1001, 701, false)), 0);
        assert_eq!(decoder.on_ack(&ack(1002, 702, false)), 1);
        assert_eq!((decoder.tell(500), decoder.tell(500), decoder.tell(1)), (500, 201, 0));
        assert!(!decoder.has_failed());
    }

    #[test]
    fn a_count_may_wrap() {
        let mut decoder = TotalDecoder { marks: u32::MAX - 1, ..TotalDecoder::default() };
        assert_eq!(decoder.on_ack(&ack(9, 3, false)), 5);
    }

    /// Acknowledgements may arrive out of order, and the counts of an older one are smaller (section 13.4.2.1).
    #[test]
    fn counts_fall_short_where_the_largest_acknowledged_packet_increases() {
        let mut decoder = TotalDecoder::default();
        let mut beyond = ack(5, 2, false);
        beyond.sack[0] = Block { first: 3, end: 5 };
        assert_eq!(decoder.on_ack(&beyond), 2);
        assert_eq!(decoder.on_ack(&ack(10, 3, true)), 1, "packet 9 was the largest before");
        assert!(!decoder.has_failed());
        assert_eq!(decoder.on_ack(&ack(11, 4, true)), 0);
        assert!(decoder.has_failed());
        assert_eq!(decoder.on_ack(&ack(20, 9, true)), 0);
    }
}
