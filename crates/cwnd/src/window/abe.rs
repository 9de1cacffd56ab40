//! The parameter for the answer to marks of RFC 8511 (ABE).

use crate::entry::InvalidParameter;
use crate::parameter::{Parameter, Values};

/// The parameter of algorithms that may answer marks by RFC 8511, through [`Window::with_ecn_beta`](super::Window::with_ecn_beta).
pub(super) const ECN_BETA: Parameter = Parameter::derived(
    "ecn_beta",
    "as for a loss",
    "fraction of the window kept for a mark in congestion avoidance, at least that for a loss (RFC 8511: 0.8 for Reno, 0.85 for CUBIC)",
)
.above(0.0)
.below(1.0);

/// Its value, where a loss keeps the fraction `kept`: RFC 8511 never takes more for a mark than for a loss.
pub(super) fn ecn_beta(values: &Values, kept: f64) -> Result<Option<f64>, InvalidParameter> {
    let given = values.given(ECN_BETA.name);
    if given.is_some_and(|factor| factor < kept) {
        let reason = alloc::format!("at least {kept}, which a loss keeps, and below 1");
        return Err(InvalidParameter::new(ECN_BETA.name, reason));
    }
    Ok(given)
}
