//! New AIMD's cycles under synchronous feedback (Jasem, Zukarnain, Othman and Subramaniam 2009, section II).
//!
//! Two flows start at `x1 < x2` with a capacity of W packets. A cycle adds one packet per flow and round trip until the sum is W,
//! then one round trip halves what is left of the first windows; the increments stay. The paper's efficiency, responsiveness and
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

/// The average efficiency over the first cycles as the paper prints it, with its two slips one by one and together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Printed {
    /// Divided by the increments alone, without the round trips of the decreases.
    pub divisor: f64,
    /// The packets with the bracket of the sum of increments around k_1 too: `(k_1 + (W - 2 k_1)/2)(1 - 2^-(m-1))`.
    pub bracket: f64,
    /// Both.
    pub both: f64,
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

    /// Mean load over W in cycle `cycle`: 1 - k_i/W. The paper prints 0.9973 for its example, which does not follow.
    #[must_use]
    pub fn efficiency(&self, cycle: u32) -> f64 {
        1.0 - self.increments(cycle) / self.capacity
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
        self.sum(cycles, |cycle| self.increments(cycle))
    }

    /// What the paper's own formulas give for the average efficiency over the first `cycles`, at least 1. [`totals`](Self::totals)
    /// has the corrected one.
    #[must_use]
    pub fn average_efficiency_as_printed(&self, cycles: u32) -> Printed {
        let Totals { packets, rounds, .. } = self.totals(cycles);
        let increments = rounds - f64::from(cycles);
        let k1 = self.increments(1);
        let misplaced = (k1 + (self.capacity - 2.0 * k1) / 2.0) * (1.0 - 1.0 / power_of_two(cycles.max(1) - 1));
        // sum (1 + k)(W - k) = m W + (W - 1) sum k - sum k^2, where only the sum of increments is misprinted.
        let printed = packets + (self.capacity - 1.0) * (misplaced - increments);
        Printed {
            divisor: packets / (self.capacity * increments),
            bracket: printed / (self.capacity * rounds),
            both: printed / (self.capacity * increments),
        }
    }

    /// The first `cycles` of AIMD(1, 1/2) from the same start, which has W/4 increments in every cycle but the first.
    #[must_use]
    pub fn aimd_totals(&self, cycles: u32) -> Totals {
        self.sum(cycles, |cycle| if cycle <= 1 { self.increments(1) } else { self.capacity / 4.0 })
    }

    fn sum(&self, cycles: u32, increments: impl Fn(u32) -> f64) -> Totals {
        let (mut packets, mut rounds) = (0.0, 0.0);
        for cycle in 1..=cycles {
            let k = increments(cycle);
            packets += (1.0 + k) * (self.capacity - k);
            rounds += 1.0 + k;
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
        assert!((EXAMPLE.efficiency(8) - 0.999_023_4).abs() < 1e-6);
    }

    #[test]
    fn packets_and_round_trips_to_equilibrium() {
        let close = |found: f64, expected: f64| (found / expected - 1.0).abs() < 1e-4;
        let new = EXAMPLE.totals(8);
        assert!(close(new.packets, 131_649.14) && close(new.rounds, 307.414), "{new:?}");
        assert!(close(new.average_efficiency, 0.7137), "{new:?}");
        let aimd = EXAMPLE.aimd_totals(8);
        assert!(close(aimd.packets, 560_400.0) && close(aimd.rounds, 1283.0), "{aimd:?}");
        assert!(close(aimd.average_efficiency, 0.7280), "{aimd:?}");
        assert!(close((1..=8).map(|cycle| EXAMPLE.packets(cycle)).sum(), new.packets));
    }

    #[test]
    fn the_average_efficiency_as_printed() {
        let Printed { divisor, bracket, both } = EXAMPLE.average_efficiency_as_printed(8);
        for (found, expected) in [(divisor, 0.7328), (bracket, 0.7080), (both, 0.7270)] {
            assert!((found / expected - 1.0).abs() < 1e-3, "{found} for {expected}");
        }
    }
}
