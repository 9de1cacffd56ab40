//! Window algorithms, and the shell they share.
//!
//! The shell owns what is the same for all of them: slow start, timeouts, floors, one decrease per window of data, undo, and
//! the behaviour of an era. What is left to an algorithm is a [`WindowRule`]: how far to grow on one acknowledged packet, where
//! to cut to, and what to remember when an epoch starts.

pub mod aiad;
pub mod aild;
pub mod aimd;
pub mod bic;
pub mod binomial;
pub mod cubic;
pub mod dctcp;
pub mod exp_tcp;
pub mod fast;
pub mod highspeed;
pub mod htcp;
mod hystart;
pub mod miad;
pub mod mimd;
pub mod new_aimd;
mod policy;
pub mod scalable;
mod shell;
pub mod simd;
pub mod vegas;
pub mod westwood;

use crate::entry::Refusal;
use crate::parameter::{Parameter, Values};

pub use policy::{FirstCut, Policy, SlowStart};
pub use shell::{Window, WindowRule};

/// The parameter of algorithms that may answer marks by RFC 8511, through [`Window::with_ecn_beta`].
const ECN_BETA: Parameter = Parameter::derived(
    "ecn_beta",
    "as for a loss",
    "fraction of the window kept for a mark in congestion avoidance, at least that for a loss (RFC 8511: 0.8 for Reno, 0.85 for CUBIC)",
)
.above(0.0)
.below(1.0);

/// Its value, where a loss keeps the fraction `kept`: RFC 8511 never takes more for a mark than for a loss.
fn ecn_beta(values: &Values, kept: f64) -> Result<Option<f64>, Refusal> {
    let given = values.given(ECN_BETA.name);
    if given.is_some_and(|factor| factor < kept) {
        let reason = alloc::format!("at least {kept}, which a loss keeps, and below 1");
        return Err(Refusal::new(ECN_BETA.name, reason));
    }
    Ok(given)
}
