//! New AIMD's cycles under synchronous feedback (Jasem, Zukarnain, Othman and Subramaniam 2009, section II).
//!
//! Two flows start at `x1 < x2` with a capacity of W packets. A cycle adds one packet per flow and round trip until the sum is W,
//! then one round trip halves the rest of the first windows; the increments stay. The paper's efficiency, responsiveness and
//! smoothness are not those of simd, which uses the same words; the names here differ.

/// Two flows and a capacity, packets; 0 < x1 <= x2, x1 + x2 < capacity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Start {
    /// W.
    pub capacity: f64,
    /// The smaller window.
    pub x1: f64,
    /// The larger window.
    pub x2: f64,
}

/// The totals over the first cycles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Totals {
    /// Packets sent.
    pub packets: f64,
    /// Round trips: each cycle's increments, and one for its decrease. The paper's responsiveness is this up to equilibrium.
    pub rounds: f64,
    /// Packets over what the capacity would have carried in these round trips: the paper's average efficiency with its divisor
    /// and bracket corrected (it divides by the increments alone).
    pub average_efficiency: f64,
}

impl Start {
    /// k_i: increments in cycle `cycle`, counted from 1. (W - x1 - x2)/2, then (x1 + x2)/4, then half as many each time.
    #[must_use]
    pub fn increments(&self, cycle: u32) -> f64 {
        let sum = self.x1 + self.x2;
        if cycle <= 1 { (self.capacity - sum) / 2.0 } else { sum / 4.0 / power_of_two(cycle - 2) }
    }

    /// The two windows when congestion ends cycle `cycle`: (1 - n/...) of the paper's fairness is their ratio.
    #[must_use]
    pub fn windows(&self, cycle: u32) -> [f64; 2] {
        let gap = (self.x2 - self.x1) / power_of_two(cycle.max(1) - 1);
        [(self.capacity - gap) / 2.0, (self.capacity + gap) / 2.0]
    }

    /// f_i = x1/x2 when congestion ends cycle `cycle`. AIMD(1, 1/2) has the same.
    #[must_use]
    pub fn fairness(&self, cycle: u32) -> f64 {
        let [smaller, larger] = self.windows(cycle);
        smaller / larger
    }

    /// By how many packets congestion at the end of cycle `cycle` lowers the sum: (x1 + x2)/2^i. The paper calls it smoothness.
    #[must_use]
    pub fn decrease(&self, cycle: u32) -> f64 {
        (self.x1 + self.x2) / power_of_two(cycle)
    }

    /// Packets sent in cycle `cycle`: (1 + k_i)(W - k_i).
    #[must_use]
    pub fn packets(&self, cycle: u32) -> f64 {
        let k = self.increments(cycle);
        (1.0 + k) * (self.capacity - k)
    }

    /// Cycles until the windows differ by about a packet: 1 + log2(x2 - x1), rounded to whole cycles. The paper does not print the
    /// base; 2 follows from the halving.
    #[must_use]
    pub fn cycles_to_equilibrium(&self) -> u32 {
        let cycles = 1.0 + libm::log2((self.x2 - self.x1).max(1.0));
        libm::round(cycles) as u32
    }

    /// The first `cycles` of New AIMD.
    #[must_use]
    pub fn totals(&self, cycles: u32) -> Totals {
        let (mut packets, mut rounds) = (0.0, 0.0);
        for cycle in 1..=cycles {
            packets += self.packets(cycle);
            rounds += 1.0 + self.increments(cycle);
        }
        Totals { packets, rounds, average_efficiency: packets / (self.capacity * rounds) }
    }
}

fn power_of_two(exponent: u32) -> f64 {
    libm::exp2(f64::from(exponent))
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXAMPLE: Start = Start { capacity: 600.0, x1: 10.0, x2: 140.0 };

    #[test]
    fn the_papers_example() {
        let k = [225.0, 37.5, 18.75, 9.375, 4.6875, 2.34375, 1.171_875, 0.585_937_5];
        let fairness = [0.64384, 0.80451, 0.89723, 0.94726, 0.97328, 0.98655, 0.99325, 0.99662];
        let smoothness = [75.0, 37.5, 18.75, 9.375, 4.6875, 2.34375, 1.171_875, 0.585_937_5];
        for cycle in 1..=8 {
            let at = cycle as usize - 1;
            assert!((EXAMPLE.increments(cycle) - k[at]).abs() < 1e-9);
            assert!((EXAMPLE.fairness(cycle) - fairness[at]).abs() < 1e-5);
            assert!((EXAMPLE.decrease(cycle) - smoothness[at]).abs() < 1e-6);
        }
        assert_eq!(EXAMPLE.windows(1), [235.0, 365.0]);
        assert_eq!(EXAMPLE.windows(5), [295.9375, 304.0625]);
        assert_eq!(EXAMPLE.cycles_to_equilibrium(), 8);
    }

    #[test]
    fn packets_and_round_trips_to_equilibrium() {
        let close = |found: f64, expected: f64| (found / expected - 1.0).abs() < 1e-4;
        let new = EXAMPLE.totals(8);
        assert!(close(new.packets, 131_649.14) && close(new.rounds, 307.414), "{new:?}");
        assert!(close(new.average_efficiency, 0.7137), "{new:?}");
        assert!(close((1..=8).map(|cycle| EXAMPLE.packets(cycle)).sum(), new.packets));
    }
}
