//! A report of packets above a gap, read by the sender.

use std::ops::Range;

use crate::number::Seq;
use crate::wire::{Missing, Reported};

/// The packets that a report is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Covered {
    packets: Range<u64>,
    /// The missing packets among them; the rest of the array is empty.
    missing: [Range<u64>; Missing::CAPACITY],
}

impl Covered {
    /// Reads `report`, where packets below `acked` are acknowledged and those below `next` have a number. None if it cannot be true:
    /// it is about packets without a number, or its ranges are out of order, outside of it, or more than fit.
    pub(super) fn read(report: &Reported<'_>, isn: Seq, acked: u64, next: u64) -> Option<Self> {
        let number = |seq: Seq| seq.number(isn, acked);
        let (from, end) = (number(report.from)?, number(report.next)?);
        if from > end || end > next {
            return None;
        }
        let mut missing = [const { 0..0 }; Missing::CAPACITY];
        let (mut gaps, mut least) = (missing.iter_mut(), from);
        for range in report.missing.ranges() {
            let (first, last) = (number(range.first())?, number(range.last())?);
            if first < least || last < first || last >= end {
                return None;
            }
            least = last + 1;
            *gaps.next()? = first.max(acked)..last + 1;
        }
        Some(Self { packets: from.max(acked)..end.max(acked), missing })
    }

    /// One past the last packet.
    pub(super) fn end(&self) -> u64 {
        self.packets.end
    }

    /// Whether packet `number` has arrived.
    pub(super) fn has(&self, number: u64) -> bool {
        self.packets.contains(&number) && !self.missing.iter().any(|gap| gap.contains(&number))
    }

    /// The packets that have arrived, in order.
    pub(super) fn arrived(&self) -> impl Iterator<Item = u64> + '_ {
        self.packets.clone().filter(|number| self.has(*number))
    }

    /// The packets that have not, in order.
    pub(super) fn missing(&self) -> impl Iterator<Item = u64> + '_ {
        self.missing.iter().flat_map(Clone::clone)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{LossRange, Report};

    fn seq(number: u32) -> Seq {
        Seq::new(1000 + number).expect("31 bits")
    }

    fn read(from: u32, next: u32, gaps: &[(u32, u32)]) -> Option<Covered> {
        let mut missing = Missing::empty();
        for (first, last) in gaps {
            assert!(missing.push(LossRange::new(seq(*first), seq(*last)).expect("forwards")));
        }
        Covered::read(&Report { from: seq(from), next: seq(next), missing }.reported(), seq(0), 10, 20)
    }

    #[test]
    fn a_report_names_what_has_arrived() {
        let covered = read(12, 18, &[(13, 14), (16, 16)]).expect("possible");
        assert_eq!(covered.arrived().collect::<Vec<_>>(), [12, 15, 17]);
        assert_eq!(covered.missing().collect::<Vec<_>>(), [13, 14, 16]);
        // Acknowledged packets are skipped.
        let covered = read(5, 14, &[(8, 11)]).expect("possible");
        assert_eq!(covered.arrived().collect::<Vec<_>>(), [12, 13]);
        assert_eq!(read(3, 7, &[]).map(|covered| covered.arrived().count()), Some(0));
    }

    #[test]
    fn a_report_that_cannot_be_true_is_none() {
        assert_eq!(read(12, 21, &[]), None, "beyond what was sent");
        assert_eq!(read(12, 11, &[]), None, "backwards");
        assert_eq!(read(12, 18, &[(11, 13)]), None, "before its start");
        assert_eq!(read(12, 18, &[(17, 18)]), None, "beyond its end");
        assert_eq!(read(12, 18, &[(15, 15), (14, 14)]), None, "out of order");
    }
}
