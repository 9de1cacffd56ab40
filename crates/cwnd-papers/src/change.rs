//! Changes that many runners make to a scenario.

use cwnd::{BitRate, Span, Spec};

use super::error::Result;
use cwnd_run::scenario::{Document, Dumbbell, FlowGroup, Written};

/// Runs `algorithm` in these groups of flows.
pub(super) fn set_algorithm(flows: &mut [FlowGroup], algorithm: &str) -> Result {
    let algorithm: Written<Spec> = algorithm.parse()?;
    flows.iter_mut().for_each(|flow| flow.algorithm = algorithm.clone());
    Ok(())
}

/// The bottleneck of a scenario that has a dumbbell.
pub(super) fn dumbbell(document: &mut Document) -> &mut Dumbbell {
    document.dumbbell.get_or_insert_default()
}

/// A rate in bit/s, exactly.
pub(super) fn bit_rate(rate: f64) -> Result<Written<BitRate>> {
    Ok(format!("{rate}bit").parse()?)
}

/// A time, exactly.
pub(super) fn span(span: Span) -> Result<Written<Span>> {
    Ok(format!("{}ns", span.as_nanos()).parse()?)
}
