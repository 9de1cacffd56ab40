//! Roots of rising functions.

/// Where the rising function `f` reaches `target`, between `low` and wherever doubling leads; none where it does not get there.
pub(crate) fn solve(low: f64, target: f64, f: impl Fn(f64) -> f64) -> Option<f64> {
    let mut high = low.max(1.0);
    while f(high) < target {
        high *= 2.0;
        if high > GREATEST {
            return None;
        }
    }
    let mut low = low;
    for _ in 0..BISECTIONS {
        let middle = 0.5 * (low + high);
        if f(middle) < target {
            low = middle;
        } else {
            high = middle;
        }
    }
    Some(high)
}

/// No window is larger.
const GREATEST: f64 = 1e30;
/// A double has 53 bits, and the bracket is at most a factor of two wide, or starts at one packet.
const BISECTIONS: usize = 100;
