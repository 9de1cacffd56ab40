//! Decoupling End-to-End Efficiency and Fairness Control in High Bandwidth-Delay Product Networks (Jin and Liu, about 2006).

mod bottleneck;
mod future;
mod growth;
mod staged;
mod sweep;

use cwnd::Spec;

use super::bench::Bench;
use super::error::Result;
use super::files::paper_files;
use super::reproduction::Reproduction;
use crate::change;
use cwnd_run::scenario::{Queue, QueueSize, Written};
use cwnd_sim::Discipline;

pub(super) const PAPER: Reproduction = Reproduction {
    files: paper_files!("exptcp": "change", "dumbbell", "parking-lot", "staged-droptail", "staged-red", "web"),
    runners: &[
        ("text-growth", growth::closed_forms),
        ("text-synchronous", growth::synchronous),
        ("text-hstcp", growth::highspeed),
        ("fig-1", growth::figure_1),
        ("fig-2", bottleneck::figure_2),
        ("text-ecn", bottleneck::marks),
        ("fig-3", bottleneck::figure_3),
        ("fig-4", bottleneck::figure_4),
        ("fig-5", staged::figure_5),
        ("fig-6", staged::figure_6),
        ("fig-7", staged::figure_7),
        ("appendix-friendliness", future::appendix),
        ("beyond-red-bytes", bottleneck::red_bytes),
        ("beyond-pacing", bottleneck::pacing),
        ("beyond-small-window", bottleneck::small_window),
        ("future-rtt", future::round_trips),
        ("future-bottlenecks", future::several),
        ("future-friendliness", future::friendliness),
        ("future-others", future::others),
    ],
};

/// The four algorithms as assumed: name and text.
fn algorithms(bench: &Bench<'_>) -> Result<[(&'static str, String); 4]> {
    Ok([
        ("TCP", bench.assumed("tcp")?),
        ("HSTCP", bench.assumed("hstcp")?),
        ("STCP", bench.assumed("stcp")?),
        ("EXP-TCP", bench.assumed("exp-tcp")?),
    ])
}

/// The queue of the paper, `products` bandwidth-delay products long.
fn red(bench: &Bench<'_>, products: f64, marks: bool) -> Result<Written<Queue>> {
    let discipline = Discipline::Red(change::early_detection(bench, [0.1, 0.3], marks)?);
    Ok(Queue { limit: QueueSize::Bdp(products), discipline }.into())
}

/// An algorithm with one of its parameters set.
fn with(algorithm: &str, name: &str, value: &str) -> Result<String> {
    let spec = Spec::parse(algorithm)?;
    let others = spec.parameters().filter(|(parameter, _)| parameter.name != name);
    let others: String = others.map(|(parameter, text)| format!("{}={text},", parameter.name)).collect();
    Ok(format!("{}:{others}{name}={value}", spec.entry().name))
}
