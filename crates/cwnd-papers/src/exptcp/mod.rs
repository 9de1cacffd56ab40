//! Decoupling End-to-End Efficiency and Fairness Control in High Bandwidth-Delay Product Networks (Jin and Liu, about 2006).

mod bottleneck;
mod future;
mod growth;
mod staged;
mod sweep;

use super::bench::Bench;
use super::error::PaperError;
use super::files::{Files, paper_file};

pub(super) const FILES: Files = Files {
    id: "exptcp",
    published: paper_file!("exptcp/published.toml"),
    scenarios: &[
        ("change", paper_file!("exptcp/change.toml")),
        ("dumbbell", paper_file!("exptcp/dumbbell.toml")),
        ("parking-lot", paper_file!("exptcp/parking-lot.toml")),
        ("staged-droptail", paper_file!("exptcp/staged-droptail.toml")),
        ("staged-red", paper_file!("exptcp/staged-red.toml")),
        ("web", paper_file!("exptcp/web.toml")),
    ],
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
fn algorithms(bench: &Bench<'_>) -> Result<[(&'static str, String); 4], PaperError> {
    Ok([
        ("TCP", bench.assumed("tcp")?),
        ("HSTCP", bench.assumed("hstcp")?),
        ("STCP", bench.assumed("stcp")?),
        ("EXP-TCP", bench.assumed("exp-tcp")?),
    ])
}

/// The queue of the paper, so many bandwidth-delay products long.
fn red(bench: &Bench<'_>, products: f64, marks: bool) -> Result<String, PaperError> {
    Ok(format!(
        "red:{products}bdp,min=0.1,max=0.3,max_p=0.1,weight=0.002,gentle=yes,wait=yes,bytes={},ecn={},mark_limit={}",
        bench.assumed("red-mode")?,
        if marks { "yes" } else { "no" },
        bench.assumed("mark-limit")?,
    ))
}
