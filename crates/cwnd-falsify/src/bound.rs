//! The bounds that a property can have.

use cwnd_text::exact;

/// On which side of the bound a number has to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Above it.
    Above,
    /// Below it.
    Below,
}

impl Side {
    /// The side as an operator: `>` or `<`.
    #[must_use]
    pub const fn sign(self) -> char {
        match self {
            Self::Above => '>',
            Self::Below => '<',
        }
    }
}

/// Whether some number from `low` to `high` keeps a property with this bound, and another breaks it; if not, the accepted bounds.
pub(crate) fn accepts(side: Side, [low, high]: [f64; 2], bound: f64) -> Result<(), String> {
    if low == high {
        return Err(format!("none, because each run has {} or says nothing", exact(low)));
    }
    // The bound itself breaks a property.
    let (fits, low_words, high_words) = match side {
        Side::Above => {
            (low <= bound && bound < high, format!("{} and more", exact(low)), format!("below {}", exact(high)))
        }
        Side::Below => {
            (low < bound && bound <= high, format!("above {}", exact(low)), format!("up to {}", exact(high)))
        }
    };
    let words = [(low, low_words), (high, high_words)].into_iter().filter(|(end, _)| end.is_finite());
    if fits { Ok(()) } else { Err(words.map(|(_, words)| words).collect::<Vec<_>>().join(", ")) }
}
