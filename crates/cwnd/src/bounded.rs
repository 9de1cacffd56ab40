//! Bounds of numbers by one comparison.

/// The larger and the smaller of two numbers, where the bound is a number.
///
/// [`f64::max`] also answers for a bound that is NaN. That takes several instructions of x86-64 and a call in WebAssembly, where these take one.
pub(crate) trait Bounded {
    /// This, or `least` if this is smaller or NaN.
    fn at_least(self, least: Self) -> Self;

    /// This, or `most` if this is larger or NaN.
    fn at_most(self, most: Self) -> Self;
}

impl Bounded for f64 {
    #[inline]
    fn at_least(self, least: Self) -> Self {
        if self > least { self } else { least }
    }

    #[inline]
    fn at_most(self, most: Self) -> Self {
        if self < most { self } else { most }
    }
}

#[cfg(test)]
mod tests {
    use super::Bounded;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn bounds_are_those_of_the_standard_library(value in any::<f64>(), bound in any::<f64>()) {
            prop_assume!(!bound.is_nan());
            prop_assert_eq!(value.at_least(bound), value.max(bound));
            prop_assert_eq!(value.at_most(bound), value.min(bound));
        }
    }

    #[test]
    fn a_value_that_is_no_number_becomes_the_bound() {
        assert_eq!((f64::NAN.at_least(2.0), f64::NAN.at_most(2.0)), (2.0, 2.0));
    }
}
