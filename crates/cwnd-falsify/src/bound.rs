//! The bounds that a property can have.

use cwnd_run::measure::Domain;
use cwnd_text::exact;

use crate::property::Side;

/// Whether some number of `domain` keeps a property with this bound, and another breaks it; if not, the accepted bounds.
pub(crate) fn accepts(side: Side, domain: Domain, bound: f64) -> Result<(), String> {
    let [low, high] = domain.ends();
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
