//! Flows of the synchronous-feedback model.

use cwnd::{Packets, Spec};
use cwnd_model::rounds::FlowSetup;

/// An algorithm that a runner names itself.
///
/// # Panics
/// `text` names no algorithm of the registry.
pub(super) fn registered(text: &str) -> Spec {
    Spec::parse(text).expect("runners name algorithms of the registry")
}

/// A flow per window, in packets, all under one algorithm.
pub(super) fn flows(algorithm: &str, windows: &[f64]) -> Vec<FlowSetup> {
    let flow = |window: &f64| FlowSetup { algorithm: registered(algorithm), window: Packets(*window), rtt: None };
    windows.iter().map(flow).collect()
}
