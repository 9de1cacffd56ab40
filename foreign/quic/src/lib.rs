//! The algorithms of `cwnd` as congestion controllers of QUIC stacks: [`noq::Factory`] and [`quinn::Factory`].
//!
//! Either is handed to the stack's `TransportConfig::congestion_controller_factory`. noq's pacer follows a rate, so that algorithms that set
//! one work there; quinn's does not, and they are refused. A stack reports less to its controller than the contract of `cwnd` promises:
//!
//! - it has no timers, so that a wake-up comes with the next packet that is sent or acknowledged;
//! - acknowledgements come before the loss that the same packet from the receiver shows;
//! - quinn reports neither which packets were lost nor which acknowledged, but when the newest of them left.
//!
//! An algorithm of your own on quinn, whose `quinn::TransportConfig` is that of `quinn_proto`:
//!
//! ```
//! use std::sync::Arc;
//!
//! use cwnd::window::{Window, WindowRule};
//! use cwnd::{CongestionControl, Maker, Spec, Start, View};
//!
//! #[derive(Clone, Debug)]
//! struct Gentle;
//!
//! impl WindowRule for Gentle {
//!     fn grow(&mut self, w: f64, _view: &View) -> f64 {
//!         1.0 / w
//!     }
//!     fn cut(&mut self, w: f64, _view: &View) -> f64 {
//!         0.75 * w
//!     }
//! }
//!
//! impl Maker for Gentle {
//!     fn start(&self, start: &Start) -> Box<dyn CongestionControl> {
//!         Box::new(Window::new(self.clone(), start))
//!     }
//! }
//!
//! let factory = cwnd_quic::quinn::Factory::new(Spec::outside("gentle", Arc::new(Gentle)), 1)?;
//! let mut transport = quinn_proto::TransportConfig::default();
//! transport.congestion_controller_factory(Arc::new(factory));
//! # Ok::<(), cwnd_quic::Unsupported>(())
//! ```

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
