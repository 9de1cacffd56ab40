//! Accurate ECN: the receiver's counter of marked packets, and what a sender infers from its three bits (RFC 9768), without the option.

use cwnd::Time;

use crate::net::packet::Ack;

/// The receiver's count of marked packets, `r.cep` (section 3.2.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MarkCounter(u8);

impl Default for MarkCounter {
    fn default() -> Self {
        Self(FIRST)
    }
}

impl MarkCounter {
    /// A packet arrives, with a mark or without.
    pub(super) fn count(&mut self, marked: bool) {
        self.0 = self.0.wrapping_add(u8::from(marked));
    }

    /// The field that every acknowledgement carries.
    pub(super) fn ace(self) -> u8 {
        self.0 % CYCLE
    }
}

/// The sender's count of marked packets, `s.cep`, of which three bits matter.
#[derive(Clone, Debug)]
pub(super) struct AceDecoder {
    /// The newest field.
    ace: u8,
    /// When the newest packet left that an acknowledgement has echoed, as timestamps tell.
    newest: Time,
    /// Marks that the algorithm has not heard of, since their acknowledgements acknowledged nothing new.
    untold: u64,
    /// The mean number of packets that an acknowledgement acknowledges, in units of 1/64, with a weight of 1/64 for the newest; 0 before the first.
    mean: u64,
}

impl Default for AceDecoder {
    fn default() -> Self {
        Self { ace: FIRST, newest: Time::ZERO, untold: 0, mean: 0 }
    }
}

impl AceDecoder {
    /// The marked packets since the last acknowledgement, for one that acknowledges `newly` packets. One that was superseded, since a later
    /// one arrived before it, tells of none.
    pub(super) fn on_ack(&mut self, ack: &Ack, newly: u64) -> u64 {
        let newest = ack.newest();
        if newly == 0 && newest <= self.newest {
            return 0;
        }
        self.newest = self.newest.max(newest);
        let least = u64::from((ack.ace() + CYCLE - self.ace) % CYCLE);
        self.ace = ack.ace();
        if newly > 0 {
            self.mean = if self.mean == 0 { newly * WEIGHT } else { self.mean - self.mean / WEIGHT + newly };
        }
        let marks = if self.mean > USUAL * WEIGHT { least } else { safe(newly, least) };
        self.untold += marks;
        marks
    }

    /// The number of `newly` acknowledged packets that were marked, for the algorithm.
    pub(super) fn tell(&mut self, newly: u64) -> u64 {
        let told = self.untold.min(newly);
        self.untold -= told;
        told
    }
}

/// The marks to assume where the field rose by `least` and `newly` packets are acknowledged: of all numbers that the field fits, the
/// largest that is possible (appendix A.2.1).
fn safe(newly: u64, least: u64) -> u64 {
    if newly < u64::from(CYCLE) { least } else { newly - (newly - least) % u64::from(CYCLE) }
}

/// With a mean above this many packets, an acknowledgement of eight or more is usual and no sign of others that were lost: the sender assumes
/// the least number of marks (appendix A.2.1; threshold and weight as in Linux, `ACK_COMP_THRESH` and `PKTS_ACKED_WEIGHT`).
const USUAL: u64 = 4;
const WEIGHT: u64 = 64;
/// DIVACE: the field counts modulo this.
const CYCLE: u8 = 8;
/// Both counters at first (section 3.2.1), so that a field of zero shows that something on the path clears it.
const FIRST: u8 = 5;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The two examples of appendix A.2.1; then nine of twelve thinned packets, whose field rises by one: nine is the largest number that
    /// fits, also where it was one.
    #[test]
    fn marks_to_assume_by_hand() {
        assert_eq!(safe(9, 2), 2);
        assert_eq!(safe(10, 2), 10);
        assert_eq!(safe(12, 9 % 8), 9);
        assert_eq!(safe(12, 1), 9);
        assert_eq!(safe(12, 0), 8);
        assert_eq!(safe(8, 0), 8);
        assert_eq!(safe(7, 7), 7);
        assert_eq!(safe(1, 0), 0);
        assert_eq!(safe(64, 3), 59);
        // More marks than packets, of which some had arrived before.
        assert_eq!(safe(0, 2), 2);
    }

    /// Eight packets in one acknowledgement are usual once the mean exceeds four, and a field that stays means no mark.
    #[test]
    fn coalesced_acknowledgements_carry_no_marks_that_there_are_not() {
        let mut decoder = AceDecoder::default();
        assert_eq!(decoder.on_ack(&ack(1, FIRST), 2), 0);
        let assumed = (2..99).map(|nth| decoder.on_ack(&ack(nth, FIRST), 8)).collect::<Vec<_>>();
        // 2 + 6 (1 - (63/64)^n) exceeds 4 from the 26th on; the mean in units of 1/64 does from the 24th.
        assert_eq!(assumed.iter().position(|marks| *marks == 0), Some(23));
        assert!(assumed[23..].iter().all(|marks| *marks == 0));
    }

    fn ack(number: u64, ace: u8) -> Ack {
        let mut ack = Ack::of(number, Time::from_nanos(number));
        ack.set_ace(ace);
        ack
    }

    #[test]
    fn a_superseded_acknowledgement_does_not_turn_the_counter() {
        let mut decoder = AceDecoder::default();
        assert_eq!(decoder.on_ack(&ack(2, 5), 2), 0);
        assert_eq!(decoder.on_ack(&ack(6, 0), 4), 3);
        assert_eq!(decoder.on_ack(&ack(4, 6), 0), 0, "it left before the one with 0");
        assert_eq!(decoder.on_ack(&ack(7, 1), 1), 1);
        assert_eq!(decoder.tell(1), 1, "no more than are newly acknowledged");
        assert_eq!((decoder.tell(9), decoder.tell(9)), (3, 0));
    }

    #[test]
    fn a_mark_on_a_packet_that_had_arrived_is_told_later() {
        let mut decoder = AceDecoder::default();
        assert_eq!(decoder.on_ack(&ack(3, 5), 3), 0);
        assert_eq!((decoder.on_ack(&ack(4, 6), 0), decoder.tell(0)), (1, 0));
        assert_eq!((decoder.on_ack(&ack(5, 6), 1), decoder.tell(1)), (0, 1));
    }

    proptest! {
        /// A receiver acknowledges groups of packets, and some acknowledgements are lost. The estimate fits the field and no more than the
        /// packets. It is exact where an acknowledgement tells of fewer packets than the field counts, and covers all marks unless most tell
        /// of more than four.
        #[test]
        fn an_estimate_is_possible_and_covers_all_marks(
            groups in proptest::collection::vec((proptest::collection::vec(any::<bool>(), 1..20), any::<bool>()), 1..40)
        ) {
            let (mut counter, mut decoder) = (MarkCounter::default(), AceDecoder::default());
            let (mut number, mut newly, mut marks) = (0, 0, 0);
            for (packets, arrives) in groups {
                for marked in packets {
                    counter.count(marked);
                    number += 1;
                    newly += 1;
                    marks += u64::from(marked);
                }
                if !arrives {
                    continue;
                }
                let estimate = decoder.on_ack(&ack(number, counter.ace()), newly);
                prop_assert!(estimate <= newly && estimate % 8 == marks % 8);
                prop_assert!(estimate >= marks || decoder.mean > 4 * 64);
                prop_assert!(newly > 7 || estimate == marks);
                (newly, marks) = (0, 0);
            }
        }
    }
}
