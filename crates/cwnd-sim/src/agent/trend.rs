//! The trend of round trips by which release 1.1 warns of a rising delay.

/// The last 16 round trips: how many were longer than the one before, and the net change as a share of all changes.
#[derive(Clone, Debug, Default)]
pub(super) struct Trend {
    rtts: [f64; RING],
    rises: [f64; RING],
    steps: [f64; RING],
    next: usize,
}

impl Trend {
    /// A round trip of `rtt` seconds.
    pub(super) fn on_sample(&mut self, rtt: f64) {
        let before = self.rtts[(self.next + RING - 1) % RING];
        self.rtts[self.next] = rtt;
        self.rises[self.next] = f64::from(u8::from(rtt > before));
        self.steps[self.next] = libm::fabs(rtt - before);
        self.next = (self.next + 1) % RING;
    }

    /// Whether round trips rise: by the pairwise comparison test above 0.66 and the pairwise difference test above 0.45, or above 0.54
    /// and 0.55.
    pub(super) fn rises(&self) -> bool {
        // The oldest is compared with one that is gone.
        let sum = |ring: &[f64; RING]| (0..RING).filter(|at| *at != self.next).map(|at| ring[at]).sum::<f64>();
        let compared = sum(&self.rises) / (RING - 1) as f64;
        let way = sum(&self.steps);
        let moved = self.rtts[(self.next + RING - 1) % RING] - self.rtts[self.next];
        let differed = if way == 0.0 { 0.0 } else { moved / way };
        (compared > 0.66 && differed > 0.45) || (compared > 0.54 && differed > 0.55)
    }
}

const RING: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;

    fn after(rtts: impl IntoIterator<Item = f64>) -> bool {
        let mut trend = Trend::default();
        rtts.into_iter().for_each(|rtt| trend.on_sample(rtt));
        trend.rises()
    }

    #[test]
    fn a_ramp_rises_and_a_level_does_not() {
        assert!(after((0..16).map(|n| 0.01 + 1e-4 * f64::from(n))));
        assert!(!after((0..32).map(|_| 0.01)));
        assert!(!after((0..16).map(|n| 0.02 - 1e-4 * f64::from(n))));
        // Up and down by turns: 8 of 15 rise, which is below 0.54.
        assert!(!after((0..32).map(|n| if n % 2 == 0 { 0.010 } else { 0.011 })));
    }
}
