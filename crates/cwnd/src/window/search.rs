//! SEARCH: slow start ends where the path delivers less than was sent a round trip before.
//!
//! draft-chung-ccwg-search-09, after its implementation in neqo (`neqo-transport/src/cc/search.rs`): packets sent and delivered are counted in bins
//! of 0.35 round trips. At the end of each bin the packets that the last ten bins delivered are compared with those that ten bins sent one round
//! trip earlier. While the path has room these are equal. Slow start ends where a quarter of them is missing.

use crate::signal::View;
use crate::units::{Span, Time};

/// The state of a first slow start.
#[derive(Clone, Debug, Default)]
pub(super) struct Search {
    /// BIN_DURATION; zero before the first round-trip time.
    bin: Span,
    /// The end of the bin under way.
    end: Time,
    /// Bins that have ended.
    index: usize,
    /// Packets delivered up to the ends of the last bins.
    delivered: [u64; WINDOW + 1],
    /// Packets sent up to the ends of more of them.
    sent: [u64; WINDOW + EXTRA + 1],
}

impl Search {
    /// Takes in an acknowledgement; whether slow start ends now.
    pub(super) fn on_ack(&mut self, view: &View) -> bool {
        let Some(rtt) = view.rtt else { return false };
        if self.bin == Span::ZERO {
            self.begin(view, rtt.latest);
            return false;
        }
        if view.now <= self.end {
            return false;
        }
        let passed = 1 + view.now.since(self.end).as_nanos() / self.bin.as_nanos();
        if passed > WINDOW as u64 {
            // Section "Handling missed bins": what the bins hold is too old.
            self.begin(view, rtt.latest);
            return false;
        }
        let [delivered, sent] = [self.delivered(self.index), self.sent(self.index)];
        for skipped in 1..passed as usize {
            self.store(self.index + skipped, delivered, sent);
        }
        self.index += passed as usize;
        self.end += self.bin * passed;
        self.store(self.index, view.delivered, view.next);
        self.misses(rtt.latest)
    }

    fn begin(&mut self, view: &View, rtt: Span) {
        *self = Self { bin: rtt * BIN_PERCENT / 100, ..Self::default() };
        self.end = view.now + self.bin;
        self.store(0, view.delivered, view.next);
    }

    fn store(&mut self, index: usize, delivered: u64, sent: u64) {
        self.delivered[index % (WINDOW + 1)] = delivered;
        self.sent[index % (WINDOW + EXTRA + 1)] = sent;
    }

    fn delivered(&self, index: usize) -> u64 {
        self.delivered[index % (WINDOW + 1)]
    }

    fn sent(&self, index: usize) -> u64 {
        self.sent[index % (WINDOW + EXTRA + 1)]
    }

    /// Whether too few of the packets have arrived that were sent up to one round trip of `rtt` ago.
    fn misses(&self, rtt: Span) -> bool {
        let [rtt, bin] = [rtt, self.bin].map(Span::as_nanos);
        // The oldest bin of the interpolation is the one before the first of the window. It has to exist, and still to be kept.
        let back = rtt / bin;
        if back >= EXTRA as u64 || self.index <= WINDOW + back as usize {
            return false;
        }
        let newest = self.index - back as usize;
        let between = |at: usize| self.sent(at).saturating_sub(self.sent(at - WINDOW)) as f64;
        let older = (rtt % bin) as f64 / bin as f64;
        let sent = between(newest - 1) * older + between(newest) * (1.0 - older);
        let delivered = self.delivered(self.index).saturating_sub(self.delivered(self.index - WINDOW)) as f64;
        sent - delivered >= THRESH * sent && sent > 0.0
    }
}

/// W: bins that are compared.
const WINDOW: usize = 10;
/// EXTRA_BINS: bins that a round trip may span.
const EXTRA: usize = 15;
/// WINDOW_SIZE is 3.5 times the first round-trip time: a bin in percent of that time.
const BIN_PERCENT: u64 = 35;
/// THRESH.
const THRESH: f64 = 0.26;

#[cfg(test)]
mod tests {
    use core::f64::consts::LN_2;

    use super::*;
    use crate::script::view;
    use crate::signal::Rtt;

    /// Slow start as a fluid, in round trips of the empty path and in bandwidth-delay products, from an early time on. At 0 the acknowledgements
    /// begin to arrive at the rate of the link.
    struct Fluid;

    impl Fluid {
        /// Delivered at `t`: the rate doubles per round trip up to the link's.
        fn delivered(t: f64) -> f64 {
            if t < 0.0 { libm::exp2(t) / LN_2 } else { 1.0 / LN_2 + t }
        }

        /// Sent at `t`: two packets per acknowledgement.
        fn sent(t: f64) -> f64 {
            2.0 * Self::delivered(t)
        }

        /// The round trip of the packet acknowledged at `t`.
        fn rtt(t: f64) -> f64 {
            let full = 1.0 / LN_2;
            let left = match t {
                t if t < 0.0 => t - 1.0,
                t if t < full => libm::log2(1.0 + LN_2 * t) - 1.0,
                _ => (t - full) / 2.0,
            };
            t - left
        }

        /// When SEARCH leaves slow start where the bins begin `phase` round trips late.
        fn exit(phase: f64) -> f64 {
            let mut search = Search::default();
            let mut t = -9.0 + phase;
            loop {
                let rtt = Span::from_secs_f64(0.1 * Self::rtt(t));
                let mut view = view((100.0 * (t + 10.0)) as u64);
                view.now = Time::ZERO + Span::from_secs_f64(0.1 * (t + 10.0));
                view.rtt = Some(Rtt::fixed(rtt));
                (view.delivered, view.next) = ((1e6 * Self::delivered(t)) as u64, (1e6 * Self::sent(t)) as u64);
                if search.on_ack(&view) {
                    return t;
                }
                t += 0.001;
            }
        }
    }

    /// While ten bins deliver 3.5 products at the rate of the link, slow start ends once ten bins have sent 3.5/(1 - 0.26) = 4.73, one round trip
    /// earlier. In the fluid those bins have sent `1/ln 2 + x - 2^((x - 1/ln 2)/2 - 2.5)/ln 2` at `x` round trips, which is 4.73 at 3.88. The
    /// window is `1/ln 2 + x` = 5.3 products then, and grows by another 0.35 until the bin ends.
    #[test]
    fn it_ends_slow_start_almost_four_round_trips_after_the_link_is_full() {
        for phase in [0.0, 0.1, 0.2, 0.3] {
            let exit = Fluid::exit(phase);
            assert!((3.87..3.88 + 0.36).contains(&exit), "{exit} round trips, bins {phase} late");
            let window = Fluid::sent(exit) - Fluid::delivered(exit);
            assert!((5.3..5.7).contains(&window), "{window} bandwidth-delay products");
        }
    }
}
