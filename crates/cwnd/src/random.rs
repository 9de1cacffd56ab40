//! What every generator of random numbers in the workspace has in common.

/// A uniform number from 0 (included) to 1 (excluded), of 64 random bits.
///
/// The upper 53 bits fill the mantissa of a double exactly, so that the result is the same on every machine.
#[inline]
#[must_use]
pub fn uniform(bits: u64) -> f64 {
    (bits >> 11) as f64 / (1_u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_never_reached() {
        assert_eq!(uniform(0), 0.0);
        assert_eq!(uniform(1 << 63), 0.5);
        assert_eq!(uniform(u64::MAX), 1.0 - f64::EPSILON / 2.0);
    }
}
