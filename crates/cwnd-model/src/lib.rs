//! Models of congestion control without packets.
//!
//! Closed forms of the papers, as functions of numbers: throughput against loss ([`response`], [`friendly`],
//! [`highspeed`]), convergence under synchronous feedback ([`convergence`]), UDT's stages ([`udt`]), EXP-TCP's epochs
//! ([`exp_tcp`]) and New AIMD's cycles ([`new_aimd`]). The algorithms themselves run under synchronous feedback
//! ([`rounds`]), random loss ([`bernoulli`]) or none ([`growth`]), their properties there ([`card`]), and DAIMD as a fluid
//! ([`fluid`]).
//!
//! The crate knows the algorithms of `cwnd` and no other host. Windows are packets, times round trips, rates packets or bits per
//! second, as stated at each function; loss is a probability per packet. Arguments outside the stated ranges give numbers without
//! meaning, never a panic.

pub mod bernoulli;
pub mod card;
pub mod convergence;
pub mod exp_tcp;
pub mod fluid;
pub mod friendly;
pub mod growth;
pub mod highspeed;
mod host;
pub mod new_aimd;
pub mod response;
mod roots;
pub mod rounds;
pub mod udt;

/// Asked now and then by long computations whether to continue. A stopped computation returns a partial result or nothing, which
/// its caller ignores.
pub type ShouldContinue<'a> = &'a (dyn Fn() -> bool + Sync);
