//! Tail loss probes (RFC 8985 section 7): after two round trips without an acknowledgement one packet leaves, so that a loss at the
//! end of a flight is found by what it makes the receiver say, not by the retransmission timer.

use cwnd::{Rtt, Span, Time};

/// The probe timer, and the probe under way.
#[derive(Clone, Debug)]
pub(super) struct Probe {
    /// When the next probe leaves (PTO); [`Time::MAX`] for never.
    deadline: Time,
    /// Something was sent or acknowledged since the timer was set.
    stale: bool,
    /// The next new packet after the probe that has not been answered (`TLP.end_seq`).
    end: Option<u64>,
    /// It repeated the last packet (`TLP.is_retrans`).
    repeated: bool,
    /// Nothing has been acknowledged for the first time since the last probe, so that there is no new sample of the round-trip time:
    /// another probe may not be sent (section 7.3).
    unsampled: bool,
}

/// What an acknowledgement says of the probe under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// Nothing that matters.
    None,
    /// The last packet was lost, and the probe has repaired that without anybody noticing (section 7.4.1, case 2).
    Repaired,
}

impl Default for Probe {
    fn default() -> Self {
        Self { deadline: Time::MAX, stale: false, end: None, repeated: false, unsampled: false }
    }
}

impl Probe {
    /// When a probe is due.
    #[inline]
    pub(super) fn deadline(&self) -> Time {
        self.deadline
    }

    /// Whether a probe is under way.
    #[inline]
    pub(super) fn is_under_way(&self) -> bool {
        self.end.is_some()
    }

    /// The timer is to be set anew.
    #[inline]
    pub(super) fn touch(&mut self) {
        self.stale = true;
    }

    /// Whether it is.
    #[inline]
    pub(super) fn is_stale(&self) -> bool {
        self.stale
    }

    /// Sets the timer, where one `may` run (section 7.2): `outstanding` packets are, and the retransmission timer expires at `timeout`.
    #[inline]
    pub(super) fn set(&mut self, now: Time, may: bool, outstanding: u64, rtt: Option<Rtt>, timeout: Time) {
        self.stale = false;
        self.deadline = if may && self.end.is_none() && !self.unsampled && outstanding > 0 {
            let wait = rtt.map_or(FIRST, |rtt| {
                let delayed = if outstanding == 1 { MAX_ACK_DELAY } else { Span::ZERO };
                rtt.smoothed * 2 + delayed
            });
            (now + wait).min(timeout)
        } else {
            Time::MAX
        };
    }

    /// There is a new sample of the round-trip time.
    #[inline]
    pub(super) fn sample(&mut self) {
        self.unsampled = false;
    }

    /// Losses are being repaired: no probe is to be sent, and the answer to the one under way says nothing (section 7.1).
    pub(super) fn reset(&mut self) {
        (self.end, self.repeated, self.deadline) = (None, false, Time::MAX);
    }

    /// A probe left; `repeated` if it was the last packet, not a new one. The next new packet is `next`.
    pub(super) fn sent(&mut self, next: u64, repeated: bool) {
        (self.end, self.repeated, self.deadline) = (Some(next), repeated, Time::MAX);
        self.unsampled = true;
    }

    /// Section 7.4: all below `acked` have arrived; `duplicate` is a packet that arrived twice; `selective` if others have arrived above.
    pub(super) fn on_ack(&mut self, acked: u64, advanced: bool, duplicate: Option<u64>, selective: bool) -> Answer {
        let Some(end) = self.end.filter(|end| acked >= *end) else { return Answer::None };
        let spurious = !self.repeated || duplicate.is_some_and(|number| number + 1 == end);
        if spurious {
            self.end = None;
        } else if acked > end {
            self.end = None;
            return Answer::Repaired;
        } else if !advanced && !selective {
            // Case 3: a duplicate acknowledgement without a report of what arrived twice.
            self.end = None;
        }
        Answer::None
    }
}

/// Section 7.2: before the first sample of the round-trip time.
const FIRST: Span = Span::from_secs(1);
/// Section 7.2: the longest that receivers delay an acknowledgement.
const MAX_ACK_DELAY: Span = Span::from_millis(200);

#[cfg(test)]
mod tests {
    use super::*;

    fn rtt(millis: u64) -> Option<Rtt> {
        let span = Span::from_millis(millis);
        Some(Rtt::fixed(span))
    }

    fn at(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    #[test]
    fn two_round_trips_and_no_later_than_the_retransmission_timer() {
        let mut probe = Probe::default();
        let mut due = |outstanding, rtt, timeout| {
            probe.set(at(10), true, outstanding, rtt, timeout);
            probe.deadline()
        };
        assert_eq!(due(5, rtt(40), at(1000)), at(90));
        assert_eq!(due(1, rtt(40), at(1000)), at(290), "its acknowledgement may be delayed");
        assert_eq!(due(5, None, at(5000)), at(1010));
        assert_eq!(due(5, rtt(400), at(700)), at(700));
        assert_eq!(due(0, rtt(40), at(1000)), Time::MAX);
    }

    /// Section 7.3: "a new RTT sample since the last probe"; section 7.1: recovery forgets the probe under way.
    #[test]
    fn a_second_probe_needs_a_sample_and_recovery_forgets_the_first() {
        let mut probe = Probe::default();
        let due = |probe: &mut Probe| {
            probe.set(at(10), true, 5, rtt(40), at(1000));
            probe.deadline()
        };
        probe.sent(10, true);
        assert_eq!(due(&mut probe), Time::MAX, "one is under way");
        probe.reset();
        assert_eq!((probe.is_under_way(), due(&mut probe)), (false, Time::MAX));
        assert_eq!(probe.on_ack(11, true, None, false), Answer::None, "its answer says nothing any more");
        probe.sample();
        assert_eq!(due(&mut probe), at(90));
    }

    #[test]
    fn what_its_answer_tells() {
        let after = |repeated| {
            let mut probe = Probe::default();
            probe.sent(10, repeated);
            probe
        };
        let mut new = after(false);
        assert_eq!((new.on_ack(10, true, None, false), new.is_under_way()), (Answer::None, false));
        // The last packet arrived twice: it was not lost.
        let mut vain = after(true);
        assert_eq!((vain.on_ack(10, true, None, false), vain.is_under_way()), (Answer::None, true));
        assert_eq!((vain.on_ack(10, false, Some(9), false), vain.is_under_way()), (Answer::None, false));
        // Nothing arrived twice, and later data has arrived: the probed packet was lost.
        let mut repaired = after(true);
        assert_eq!(repaired.on_ack(9, true, None, true), Answer::None);
        assert_eq!(repaired.on_ack(10, true, None, false), Answer::None);
        assert_eq!((repaired.on_ack(11, true, None, false), repaired.is_under_way()), (Answer::Repaired, false));
    }
}
