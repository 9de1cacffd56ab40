//! Released transport stacks as flows of the simulator.
//!
//! Each module is the adapter of one: [`cwnd_stack::Endpoint`] over the stack's own types. Nothing of a stack is copied or changed. What
//! is not the stack's (TLS, sockets, the processor) is listed in `docs/foreign.md`.

mod entropy;
mod noq;
mod quinn;
mod smoltcp;

use cwnd::Spec;

/// All stacks of this program, by their names.
#[must_use]
pub fn stacks() -> Vec<Spec> {
    [quinn::stacks("quinn"), noq::stacks("noq"), smoltcp::stacks("smoltcp")].concat()
}
