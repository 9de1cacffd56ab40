//! The full acknowledgements that await their ACK2.

use std::collections::VecDeque;

use cwnd::{Span, Time};

use crate::number::AckNumber;

/// When each full acknowledgement was sent.
#[derive(Clone, Debug)]
pub(super) struct AckHistory {
    sent: VecDeque<(AckNumber, Time)>,
    next: AckNumber,
}

impl AckHistory {
    /// Before the first acknowledgement.
    pub(super) const fn new() -> Self {
        Self { sent: VecDeque::new(), next: AckNumber::FIRST }
    }

    /// Records that an acknowledgement is sent now, and returns its number.
    pub(super) fn send(&mut self, now: Time) -> AckNumber {
        let number = self.next;
        self.next = number.next();
        if self.sent.len() == HISTORY {
            self.sent.pop_front();
        }
        self.sent.push_back((number, now));
        number
    }

    /// Acknowledgement `number` has been confirmed: how long that took, and whether it was the newest. None if it is not awaited.
    pub(super) fn confirm(&mut self, now: Time, number: AckNumber) -> Option<(Span, bool)> {
        let (oldest, _) = self.sent.front()?;
        // Numbers follow each other, so the place is their distance.
        let place = (number.get().wrapping_sub(oldest.get()) & MASK) as usize;
        let (_, sent_at) = *self.sent.get(place)?;
        self.sent.drain(..=place);
        Some((now.since(sent_at), self.sent.is_empty()))
    }

    /// Frees memory that is not used.
    pub(super) fn shrink(&mut self) {
        self.sent.shrink_to_fit();
    }
}

/// libudt remembers as many.
const HISTORY: usize = 1024;
/// Numbers have 31 bits.
const MASK: u32 = 0x7fff_ffff;

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    #[test]
    fn an_acknowledgement_is_confirmed_once() {
        let mut history = AckHistory::new();
        let numbers: Vec<_> = (0..3).map(|n| history.send(at(10 * n))).collect();
        assert_eq!(history.confirm(at(45), numbers[1]), Some((Span::from_millis(35), false)));
        assert_eq!(history.confirm(at(46), numbers[1]), None);
        assert_eq!(history.confirm(at(46), numbers[0]), None, "older ones are forgotten");
        assert_eq!(history.confirm(at(50), numbers[2].next()), None, "never sent");
        assert_eq!(history.confirm(at(50), numbers[2]), Some((Span::from_millis(30), true)));
    }

    #[test]
    fn numbers_wrap() {
        let mut history = AckHistory { sent: VecDeque::new(), next: AckNumber::new(0x7fff_ffff).expect("31 bits") };
        history.send(at(0));
        let wrapped = history.send(at(1));
        assert_eq!(wrapped.get(), 0);
        assert_eq!(history.confirm(at(3), wrapped), Some((Span::from_millis(2), true)));
    }

    #[test]
    fn the_history_is_bounded() {
        let mut history = AckHistory::new();
        let first = history.send(at(0));
        for _ in 0..HISTORY {
            history.send(at(1));
        }
        assert_eq!(history.sent.len(), HISTORY);
        assert_eq!(history.confirm(at(2), first), None);
    }
}
