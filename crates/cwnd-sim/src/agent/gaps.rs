//! The rings of gaps from which an agent's receiver estimates rates.

use cwnd::Time;
use cwnd::rate::udt::Habits;

/// The last 16 gaps between arrivals, and between the packets of a pair, in seconds. An estimate sorts a half of a ring in its place.
#[derive(Clone, Debug)]
pub(super) struct AgentIntervals {
    arrivals: [f64; RING],
    pairs: [f64; RING],
    /// Where the next gap goes.
    arrival: usize,
    pair: usize,
    /// Fewer than 16 arrivals so far.
    first_round: bool,
    last: Time,
    first_of_pair: Time,
    mixes: bool,
}

impl AgentIntervals {
    pub(super) fn new(habits: &Habits) -> Self {
        let (arrivals, pairs) = habits.constants.gaps();
        Self {
            arrivals: [arrivals; RING],
            pairs: [pairs; RING],
            arrival: 0,
            pair: 0,
            first_round: true,
            last: Time::ZERO,
            first_of_pair: Time::ZERO,
            mixes: habits.mixes_gaps,
        }
    }

    /// Packet `number` arrived.
    pub(super) fn on_packet(&mut self, number: u64, now: Time) {
        self.arrivals[self.arrival] = now.since(self.last).as_secs_f64();
        self.arrival = (self.arrival + 1) % RING;
        self.first_round &= self.arrival != 0;
        self.last = now;
        match number % RING as u64 {
            0 => self.first_of_pair = now,
            1 => {
                self.pairs[self.pair] = now.since(self.first_of_pair).as_secs_f64();
                self.pair = (self.pair + 1) % RING;
            }
            _ => {}
        }
    }

    /// The arrival rate, packets per second; 0 where gaps differ too much.
    pub(super) fn arrival_rate(&mut self) -> u32 {
        if self.first_round && self.arrival > 0 {
            let [before, newest] = match self.arrival {
                1 => return 0,
                filled => [self.arrivals[filled - 2], self.arrivals[filled - 1]],
            };
            return if newest < 2.0 * before { whole(newest) } else { 0 };
        }
        for i in 0..=RING / 2 {
            for j in i..RING {
                if self.arrivals[i] > self.arrivals[j] {
                    self.arrivals.swap(i, j);
                }
            }
        }
        let median = self.arrivals[RING / 2];
        let near = self.arrivals.iter().filter(|gap| **gap < median * 2.0 && **gap > median / 2.0);
        let (count, sum) = near.fold((0, 0.0), |(count, sum), gap| (count + 1, sum + gap));
        if count > RING / 2 { whole(sum / count as f64) } else { 0 }
    }

    /// The capacity by the median of pairs, packets per second; 0 where nothing is known. To be asked after the arrival rate.
    pub(super) fn capacity(&mut self) -> u32 {
        for i in 0..=RING / 2 {
            for j in i..RING {
                if self.pairs[i] > self.pairs[j] {
                    let larger = if self.mixes { self.arrivals[i] } else { self.pairs[i] };
                    self.pairs[i] = self.pairs[j];
                    self.pairs[j] = larger;
                }
            }
        }
        let median = self.pairs[RING / 2];
        if median == 0.0 { 0 } else { whole(median) }
    }
}

/// Packets per second with a gap of `secs`, rounded up.
fn whole(secs: f64) -> u32 {
    // The agents' numbers are signed.
    (libm::ceil(1.0 / secs) as u32).min(i32::MAX as u32)
}

const RING: usize = 16;
