//! From a rate to packets.

use cwnd::{Bytes, Span, Time};

use super::rate::{RateSchedule, Rates};
use crate::random::Stream;

/// Makes a packet due whenever the integral of a rate has grown by a packet: exact over any number of packets and changes of rate.
#[derive(Clone, Debug)]
pub(super) struct Clock {
    rates: Rates,
    /// A packet, in billionths of a bit: bit/s times nanoseconds.
    packet: u128,
    /// What of the next packet has come together by `since`, in the same unit.
    credit: u128,
    since: Time,
    due: Time,
}

impl Clock {
    /// A clock whose first packet is due part `delay` (0..=1) of a packet's time after `start`.
    pub(super) fn new(schedule: RateSchedule, packet: Bytes, start: Time, (delay, stream): (f64, Stream)) -> Self {
        let packet = u128::from(packet.0) * 8 * 1_000_000_000;
        let credit = (packet as f64 * (1.0 - delay)) as u128;
        let mut clock = Self { rates: Rates::new(schedule, start, stream), packet, credit, since: start, due: start };
        clock.due = clock.next();
        clock
    }

    /// When the next packet is due, or the rate changes before.
    pub(super) fn due(&self) -> Time {
        self.due
    }

    /// The rate now, bit/s.
    pub(super) fn rate(&self) -> u64 {
        self.rates.rate()
    }

    /// The time that was due has come: whether a packet is due.
    pub(super) fn pass(&mut self) -> bool {
        let now = self.due;
        self.credit += u128::from(self.rates.rate()) * u128::from(now.since(self.since).as_nanos());
        self.since = now;
        let packet = self.credit >= self.packet;
        if packet {
            self.credit -= self.packet;
        }
        if now == self.rates.step_end() {
            self.rates.next_step();
        }
        self.due = self.next();
        packet
    }

    /// Starts anew at `now` with a packet at once; what happened to the rate since it was last asked is made up for.
    pub(super) fn restart(&mut self, now: Time) {
        while self.rates.step_end() <= now {
            self.rates.next_step();
        }
        self.credit = self.packet;
        self.since = now;
        self.due = self.next();
    }

    fn next(&self) -> Time {
        let missing = self.packet.saturating_sub(self.credit);
        let packet = match u128::from(self.rates.rate()) {
            _ if missing == 0 => self.since,
            0 => Time::MAX,
            rate => self.since + Span::from_nanos(u64::try_from(missing.div_ceil(rate)).unwrap_or(u64::MAX)),
        };
        packet.min(self.rates.step_end())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traffic::RateChange;

    fn clock(schedule: RateSchedule) -> Clock {
        Clock::new(schedule, Bytes(1500), Time::ZERO, (0.0, Stream::new(1, "clock")))
    }

    /// The nanoseconds at which packets are due, up to and with `until`.
    fn packets(clock: &mut Clock, until: u64) -> Vec<u64> {
        let mut due = Vec::new();
        while clock.due().as_nanos() <= until {
            let at = clock.due().as_nanos();
            if clock.pass() {
                due.push(at);
            }
        }
        due
    }

    #[test]
    fn intervals_are_exact_over_many_packets() {
        // 1500 bytes at 7 Mbit/s are 1714285.71... ns: 7000 packets take 12 s to the nanosecond.
        let mut clock = clock(RateSchedule::constant(7_000_000));
        let due = packets(&mut clock, 12_000_000_000);
        assert_eq!((due[0], due[1], due[2]), (0, 1_714_286, 3_428_572));
        assert_eq!((due.len(), due[7000]), (7001, 12_000_000_000));
    }

    #[test]
    fn a_change_of_rate_counts_from_its_instant_on() {
        // 12 Mbit/s: a packet per ms. The step ends at 2.5 ms; half a packet is left, which takes 2 ms at 3 Mbit/s.
        let schedule = RateSchedule::stepping(12_000_000, Span::from_nanos(2_500_000), RateChange::Square(3_000_000));
        assert_eq!(
            packets(&mut clock(schedule), 7_000_000),
            [0, 1_000_000, 2_000_000, 4_500_000, 5_875_000, 6_875_000]
        );
    }

    #[test]
    fn a_rate_of_zero_sends_nothing_and_a_restart_at_once() {
        let schedule = RateSchedule::stepping(0, Span::from_millis(10), RateChange::Square(12_000_000));
        let mut clock = clock(schedule);
        // The first packet's credit is there from the start.
        assert_eq!(packets(&mut clock, 12_000_000), [0, 11_000_000, 12_000_000]);
        clock.restart(Time::ZERO + Span::from_millis(31));
        assert_eq!(packets(&mut clock, 32_000_000), [31_000_000, 32_000_000]);
        assert_eq!(clock.rate(), 12_000_000);
    }
}
