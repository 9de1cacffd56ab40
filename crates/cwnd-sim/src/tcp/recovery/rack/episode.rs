//! Detects spurious loss recoveries: the packets declared lost were only late.
//!
//! Each packet taken for lost since the recovery began is a suspect until the receiver shows that it has arrived as it left first: an
//! acknowledgement that left before it was sent again covers it (Eifel detection, RFC 3522), or it arrives twice (RFC 3708). If that is
//! true of all of them, the response is undone (RFC 4015, RFC 9438 section 4.9).

use std::collections::BTreeMap;

use cwnd::Time;

use super::board::Record;

/// The newest recovery.
#[derive(Clone, Debug, Default)]
pub(super) struct Episode {
    /// How often each was taken for lost: one that was retransmitted twice must be shown to be spurious twice, since a single
    /// duplicate comes also of a lost packet whose retransmission was repeated (RFC 3708 section 3).
    suspects: BTreeMap<u64, u32>,
    /// No suspect was proven lost.
    open: bool,
}

impl Episode {
    /// A recovery begins.
    pub(super) fn begin(&mut self) {
        self.suspects.clear();
        self.open = true;
    }

    /// `number` is declared lost.
    #[inline]
    pub(super) fn suspect(&mut self, number: u64) {
        if self.open {
            *self.suspects.entry(number).or_default() += 1;
        }
    }

    /// The retransmission of `number` was spurious; whether that was the last suspect.
    pub(super) fn remove_suspect(&mut self, number: u64) -> bool {
        let Some(times) = self.suspects.get_mut(&number) else { return false };
        *times -= 1;
        if *times == 0 {
            self.suspects.remove(&number);
        }
        let last = self.open && self.suspects.is_empty();
        self.open &= !last;
        last
    }

    /// The recovery was undone, or its end is not to be judged.
    pub(super) fn close(&mut self) {
        self.suspects.clear();
        self.open = false;
    }
}

/// Whether a packet that was taken for lost has arrived as it left first: the packet that made the receiver say so left at `echo`.
///
/// Where an acknowledgement covers several packets, `echo` belongs to the first of them.
pub(super) fn is_late_original(record: &Record, echo: Time) -> bool {
    match record.resends {
        0 => record.lost,
        1 => !record.lost && echo < record.sent_at,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_suspects_must_have_arrived() {
        let mut episode = Episode::default();
        episode.suspect(3);
        assert!(!episode.remove_suspect(3), "there is no recovery");
        episode.begin();
        [4, 6].into_iter().for_each(|number| episode.suspect(number));
        assert!(!episode.remove_suspect(6));
        assert!(!episode.remove_suspect(6), "once is enough");
        assert!(episode.remove_suspect(4));
        assert!(!episode.remove_suspect(4), "it was undone");
    }

    #[test]
    fn a_packet_sent_again_twice_must_arrive_three_times() {
        let mut episode = Episode::default();
        episode.begin();
        [4, 4].into_iter().for_each(|number| episode.suspect(number));
        assert!(!episode.remove_suspect(4), "the first copy may have been lost, and the third have been spurious");
        assert!(episode.remove_suspect(4));
    }

    #[test]
    fn the_echo_tells_an_original_from_what_was_sent_again() {
        let at = |millis| Time::ZERO + cwnd::Span::from_millis(millis);
        let record = |resends, lost| Record { sent_at: at(50), resends, lost, arrived: false };
        assert!(is_late_original(&record(0, true), at(10)));
        assert!(is_late_original(&record(1, false), at(10)));
        assert!(!is_late_original(&record(1, false), at(50)));
        assert!(!is_late_original(&record(0, false), at(50)), "it was never taken for lost");
        assert!(!is_late_original(&record(2, false), at(10)), "it may be the first copy");
    }
}
