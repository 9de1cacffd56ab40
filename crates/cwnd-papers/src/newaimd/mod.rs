//! The New AIMD Congestion Control Algorithm (Jasem, Zukarnain, Othman and Subramaniam 2009).

mod cycles;
mod dumbbell;

use super::files::{Files, paper_file};

pub(super) const FILES: Files = Files {
    id: "newaimd",
    published: paper_file!("newaimd/published.toml"),
    scenarios: &[
        ("capacity", paper_file!("newaimd/capacity.toml")),
        ("dumbbell", paper_file!("newaimd/dumbbell.toml")),
        ("loss", paper_file!("newaimd/loss.toml")),
        ("newcomer", paper_file!("newaimd/newcomer.toml")),
        ("transfer", paper_file!("newaimd/transfer.toml")),
    ],
    runners: &[
        ("equations", cycles::equations),
        ("fairness-monotone", cycles::fairness),
        ("average-throughput", cycles::average),
        ("text-efficiency", cycles::efficiency),
        ("metrics", cycles::metrics),
        ("example", cycles::example),
        ("table-1", dumbbell::table),
        ("figs-4-7", dumbbell::figures),
        ("variants", dumbbell::variants),
        ("beyond-capacity", dumbbell::capacity),
        ("beyond-newcomer", dumbbell::newcomer),
        ("beyond-loss", dumbbell::loss),
    ],
};
