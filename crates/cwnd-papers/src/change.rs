//! Changes that many runners make to a scenario.

use cwnd::{BitRate, Span, Spec};

use super::bench::Bench;
use super::error::{PaperError, Result};
use cwnd_run::scenario::{Document, Dumbbell, FlowGroup, Threshold, Written};
use cwnd_sim::RedSetup;
use cwnd_sim::notation::DEFAULT_RED;

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

/// Random early detection between two shares of the limit, gentle and waiting as in ns-2, with the assumptions about bytes and marks.
pub(crate) fn early_detection(bench: &Bench<'_>, [min, max]: [f64; 2], mark: bool) -> Result<RedSetup<Threshold>> {
    let byte_mode = counts_bytes(bench)?;
    let (min, max) = (Threshold::Share(min), Threshold::Share(max));
    let (max_p, weight, mark_limit) = (0.1, 0.002, bench.assumed_as("mark-limit")?);
    Ok(RedSetup { min, max, max_p, weight, gentle: true, wait: true, byte_mode, mark, mark_limit, ..DEFAULT_RED })
}

/// Whether random early detection counts bytes, as assumed.
pub(crate) fn counts_bytes(bench: &Bench<'_>) -> Result<bool> {
    let mode = bench.assumed("red-mode")?;
    match mode.as_str() {
        "yes" => Ok(true),
        "no" => Ok(false),
        _ => {
            let (key, reason) = ("red-mode".to_string(), "accepted is `yes` or `no`".to_string());
            Err(PaperError::Assumption { key, value: mode, reason })
        }
    }
}
