//! Released transport stacks with BoringSSL as flows of the simulator.
//!
//! `docs/foreign.md` lists the parts that are not the stack's (sockets, the processor). Nothing of a stack is copied or changed.

#![expect(clippy::duplicate_mod, reason = "two releases of quiche have one adapter")]

mod before;
mod current;
#[path = "../../src/draws.rs"]
mod draws;
mod host;
mod system;
mod tquic;
#[path = "../../src/unseeded.rs"]
mod unseeded;

use cwnd::Spec;

/// All stacks of this program, by their names.
#[must_use]
pub fn stacks() -> Vec<Spec> {
    let mended = current::adapter::stacks("quiche", &["cubic", "reno", "bbr2"], |_| ());
    let unmended = current::adapter::stacks("quiche-idle", &["cubic"], current::unmended);
    let before = before::adapter::stacks("quiche-0.26.0", &["cubic", "reno", "bbr2"], |_| ());
    [mended, unmended, before, tquic::stacks("tquic")].concat()
}
