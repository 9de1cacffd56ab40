//! Released transport stacks as flows of the simulator.
//!
//! Each module is the adapter of one: [`cwnd_stack::Endpoint`] over the stack's own types. Nothing of a stack is copied or changed.
//! `docs/foreign.md` lists the parts that are not the stack's (TLS, sockets, the processor).

mod draws;
mod entropy;
mod noq;
mod quinn;
#[cfg(not(feature = "known-bad"))]
mod s2n;
mod smoltcp;

use cwnd::Spec;

/// All stacks of this program, by their names.
#[must_use]
pub fn stacks() -> Vec<Spec> {
    let [quinn, noq, smoltcp] = NAMES;
    [
        quinn::stacks(quinn),
        noq::stacks(noq),
        smoltcp::stacks(smoltcp),
        #[cfg(not(feature = "known-bad"))]
        s2n::controllers("s2n"),
    ]
    .concat()
}

/// noq with an algorithm of `cwnd` as its controller, called `… in noq`.
///
/// # Errors
/// The algorithm needs more of its transport than acknowledgements.
#[cfg(not(feature = "known-bad"))]
pub fn noq_with(spec: &Spec) -> Result<Spec, cwnd_quic::Unsupported> {
    noq::with(spec)
}

/// quinn with an algorithm of ours as its controller.
///
/// # Errors
/// The algorithm sets a rate, or needs more of its transport than acknowledgements.
#[cfg(not(feature = "known-bad"))]
pub fn quinn_with(spec: &Spec) -> Result<Spec, cwnd_quic::Unsupported> {
    quinn::with(spec)
}

/// quinn's CUBIC, whose senders write their qlog into `directory`.
#[cfg(not(feature = "known-bad"))]
#[must_use]
pub fn quinn_logged(directory: &std::path::Path) -> Spec {
    quinn::logged(directory)
}

/// The names of the stacks before the colon. `known-bad/` builds the same adapters with releases that are known to be wrong.
const NAMES: [&str; 3] = if cfg!(feature = "known-bad") {
    ["quinn-0.11.14", "noq-1.1.0", "smoltcp-0.12.0"]
} else {
    ["quinn", "noq", "smoltcp"]
};
