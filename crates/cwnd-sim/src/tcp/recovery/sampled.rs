//! Delivery-rate samples with any scheme (draft-ietf-ccwg-bbr section 4.1), for algorithms that ask for them.

use std::collections::VecDeque;
use std::ops::Range;

use cwnd::estimate::{DeliveryRate, Departure};
use cwnd::{Packets, RateSample, Span, Time};

use super::{AckOutcome, Rack, Recovery};
use crate::net::packet::Ack;

/// The scheme `S`, and the samples of what it sends.
///
/// Without selective acknowledgements the rates are estimates, as the draft allows: a duplicate counts as a delivery of a packet that is
/// not known.
#[derive(Debug)]
pub(crate) struct Sampled<S> {
    scheme: S,
    /// The scheme reads selective acknowledgements.
    selective: bool,
    samples: Samples,
}

/// The state in which each outstanding packet left, and the rates at which packets arrived.
#[derive(Debug)]
pub(crate) struct Samples {
    rate: DeliveryRate,
    /// From the cumulative acknowledgement to the next new packet.
    records: VecDeque<Record>,
    /// Found lost last, in order.
    lost: VecDeque<(u64, RateSample)>,
}

/// The newest transmission of a packet.
#[derive(Clone, Copy, Debug)]
struct Record {
    departure: Departure,
    /// It was found lost.
    lost: bool,
    /// It was sent again.
    again: bool,
}

impl Samples {
    fn new() -> Self {
        Self { rate: DeliveryRate::new(), records: VecDeque::new(), lost: VecDeque::new() }
    }

    /// The sample of the newest acknowledgement; `min_rtt` is the shortest round trip.
    pub(crate) fn take(&mut self, min_rtt: Option<Span>) -> Option<RateSample> {
        self.rate.sample(min_rtt)
    }

    /// The next packet of those found lost last, with the state it left with. None after the last one.
    pub(crate) fn take_lost(&mut self) -> Option<(u64, RateSample)> {
        self.lost.pop_front()
    }

    /// Nothing more may leave now, because of source or receiver.
    pub(crate) fn on_limited(&mut self, in_flight: u64) {
        self.rate.on_limited(in_flight);
    }

    /// Counts the next `count` packets, of which none was known to have arrived.
    #[inline(always)]
    fn deliver_plainly(&mut self, now: Time, count: u64) {
        for _ in 0..count {
            if let Some(record) = self.records.pop_front() {
                self.rate.on_delivered(now, &record.departure);
            }
        }
    }

    /// Takes back the losses of packets that were not lost: they are in flight for the first time again, and may be
    /// found lost once more.
    fn undo_losses(&mut self) {
        self.records.iter_mut().for_each(|record| record.lost &= record.again);
    }

    /// The next packet has left while `in_flight` others were in the network.
    fn sent(&mut self, now: Time, in_flight: u64, again: bool) -> Record {
        Record { departure: self.rate.on_send(now, in_flight), lost: false, again }
    }
}

impl<S: Recovery> Sampled<S> {
    /// Samples what `scheme`, which has sent nothing yet, sends; `selective` if it reads selective acknowledgements.
    pub(crate) fn new(scheme: S, selective: bool) -> Self {
        Self { scheme, selective, samples: Samples::new() }
    }

    /// The first missing packet.
    fn first(&self) -> u64 {
        self.scheme.outstanding().start
    }

    /// Counts `count` packets that were found lost, the first of them `first` or above.
    fn lose(&mut self, first: u64, count: u64) {
        let acked = self.first();
        let Self { scheme, samples, .. } = self;
        let mut left = count;
        let mut from = first.max(acked);
        while left > 0
            && let Some(number) = scheme.next_waiting(from)
        {
            let record = &mut samples.records[(number - acked) as usize];
            if !record.lost {
                record.lost = true;
                samples.lost.push_back((number, samples.rate.on_lost(&record.departure)));
                left -= 1;
            }
            from = number + 1;
        }
    }
}

#[deny(clippy::missing_trait_methods, reason = "the scheme inside does it unless said otherwise here")]
impl<S: Recovery> Recovery for Sampled<S> {
    #[inline(always)]
    fn outstanding(&self) -> Range<u64> {
        self.scheme.outstanding()
    }

    fn in_flight(&self) -> u64 {
        self.scheme.in_flight()
    }

    fn in_recovery(&self) -> bool {
        self.scheme.in_recovery()
    }

    /// Never: each departure is recorded with the packets in the network before it.
    fn is_idle(&self) -> bool {
        false
    }

    #[inline(always)]
    fn on_ack_in_order(&mut self, now: Time, ack: &Ack) -> Option<u64> {
        let from = self.first();
        let newly = self.scheme.on_ack_in_order(now, ack)?;
        self.samples.deliver_plainly(now, self.first() - from);
        Some(newly)
    }

    fn on_ack(&mut self, now: Time, ack: &Ack, mut arrived: impl FnMut(u64, u64)) -> AckOutcome {
        let before = self.first();
        let Self { scheme, samples: Samples { rate, records, .. }, .. } = self;
        let outcome = scheme.on_ack(now, ack, |first, end| {
            // Mostly it is one packet, for which an iterator over a part of the ring would take longer.
            for number in first..end {
                rate.on_delivered(now, &records[(number - before) as usize].departure);
            }
            arrived(first, end);
        });
        let passed = scheme.outstanding().start - before;
        let gone = records.drain(..passed as usize);
        if self.selective {
            drop(gone);
        } else {
            let reported = passed.saturating_sub(outcome.newly) as usize;
            gone.skip(reported).for_each(|record| rate.on_delivered(now, &record.departure));
            if outcome.unnamed {
                rate.on_unnamed(now);
            }
        }
        if outcome.spurious {
            self.samples.undo_losses();
        }
        if outcome.lost > 0 {
            self.lose(outcome.first_lost, outcome.lost);
        }
        outcome
    }

    fn leave(&mut self, outcome: &AckOutcome) -> bool {
        self.scheme.leave(outcome)
    }

    /// Nothing: the window itself decides, see [`room`](Self::room).
    fn on_window(&mut self, _outcome: &AckOutcome, _window: Packets) {}

    fn on_timeout(&mut self, now: Time) -> u64 {
        let lost = self.scheme.on_timeout(now);
        self.lose(self.first(), lost);
        lost
    }

    #[inline(always)]
    fn rack(&mut self) -> Option<&mut Rack> {
        self.scheme.rack()
    }

    fn on_deadline(&mut self, now: Time, new_data: bool) -> AckOutcome {
        let outcome = self.scheme.on_deadline(now, new_data);
        if outcome.lost > 0 {
            self.lose(outcome.first_lost, outcome.lost);
        }
        outcome
    }

    fn urgent(&self) -> bool {
        self.scheme.urgent()
    }

    /// An algorithm that follows samples controls a recovery itself, by its window at each acknowledgement: there is no proportional rate
    /// reduction. Without selective acknowledgements the number of packets in the network is an estimate of the scheme.
    fn room(&self, window: u64) -> u64 {
        if self.selective { window.saturating_sub(self.scheme.in_flight()) } else { self.scheme.room(window) }
    }

    fn waiting(&self) -> bool {
        self.scheme.waiting()
    }

    fn resend(&mut self, now: Time) -> Option<u64> {
        let in_flight = self.scheme.in_flight();
        let number = self.scheme.resend(now)?;
        let place = (number - self.first()) as usize;
        self.samples.records[place] = self.samples.sent(now, in_flight, true);
        Some(number)
    }

    fn send(&mut self, now: Time, count: u64) -> u64 {
        let in_flight = self.scheme.in_flight();
        let first = self.scheme.send(now, count);
        for before in 0..count {
            let record = self.samples.sent(now, in_flight + before, false);
            self.samples.records.push_back(record);
        }
        first
    }

    fn next_waiting(&self, number: u64) -> Option<u64> {
        self.scheme.next_waiting(number)
    }

    #[inline(always)]
    fn samples(&mut self) -> Option<&mut Samples> {
        Some(&mut self.samples)
    }
}

#[cfg(test)]
mod tests {
    use cwnd::Packets;

    use super::super::{Rack, Sack};
    use super::*;
    use crate::era::Era;
    use crate::net::packet::Block;

    #[test]
    fn in_a_recovery_the_window_decides_what_leaves() {
        follows_its_window(Rack::default());
        follows_its_window(Sack::new(&Era::MODERN));
    }

    /// Ten packets of which the first is lost: nine have arrived and nothing is in the network, so that a window of 16 has room for 16,
    /// of which proportional rate reduction would release nine.
    fn follows_its_window(scheme: impl Recovery) {
        let mut sampled = Sampled::new(scheme, true);
        sampled.send(Time::ZERO, 10);
        let sack = [Block { first: 1, end: 10 }, Block::default(), Block::default()];
        let ack = Ack { sack, ..Ack::of(0, Time::ZERO) };
        let outcome = sampled.on_ack(Time::ZERO + Span::from_millis(40), &ack, |_, _| ());
        assert!(outcome.begun && sampled.in_recovery(), "{outcome:?}");
        sampled.scheme.on_window(&outcome, Packets(16.0));
        assert_eq!((sampled.in_flight(), sampled.room(16)), (0, 16));
        assert!(sampled.scheme.room(16) < 16, "the scheme alone reduces");
    }

    #[test]
    fn a_record_stays_small() {
        // Of each outstanding packet, for algorithms that ask for samples.
        assert!(size_of::<Record>() <= 64, "{} bytes", size_of::<Record>());
    }
}
