//! The algorithms of `cwnd` as congestion controllers of QUIC stacks: [`noq::Factory`] and [`quinn::Factory`].
//!
//! Either is handed to the stack's `TransportConfig::congestion_controller_factory`. noq's pacer follows a rate, so that algorithms that set
//! one work there; quinn's does not, and they are refused. A stack reports less to its controller than the contract of `cwnd` promises:
//!
//! - it has no timers, so that a wake-up comes with the next packet that is sent or acknowledged;
//! - acknowledgements come before the loss that the same packet from the receiver shows;
//! - quinn reports neither which packets were lost nor which acknowledged, but when the newest of them left.

mod driver;
pub mod noq;
pub mod quinn;

use cwnd::registry::Transport;
use cwnd::{CongestionControl, Pacing, Spec, Start};
use thiserror::Error;

/// An algorithm that a stack cannot have.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum Unsupported {
    /// It sets a rate.
    #[error("`{0}` sets a rate, and quinn's pacer follows the window alone; noq's follows rates")]
    Rate(String),
    /// It needs more of its transport than acknowledgements.
    #[error("`{0}` needs reports of its receiver or headers for routers, which QUIC does not carry")]
    Transport(String),
}

/// Refuses what needs more than acknowledgements.
fn check_transport(spec: &Spec) -> Result<(), Unsupported> {
    let acked = spec.entry().transport == Transport::Acked;
    if acked { Ok(()) } else { Err(Unsupported::Transport(spec.label().to_string())) }
}

/// Refuses what sets a rate.
fn check_window(spec: &Spec) -> Result<(), Unsupported> {
    check_transport(spec)?;
    let by_rate = matches!(spec.start(&Start::default()).control().pacing, Pacing::At(_));
    if by_rate { Err(Unsupported::Rate(spec.label().to_string())) } else { Ok(()) }
}
