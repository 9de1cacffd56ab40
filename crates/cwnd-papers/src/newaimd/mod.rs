//! The New AIMD Congestion Control Algorithm (Jasem, Zukarnain, Othman and Subramaniam 2009).

mod cycles;
mod dumbbell;

use super::files::paper_files;
use super::reproduction::Reproduction;

pub(super) const PAPER: Reproduction = Reproduction {
    files: paper_files!("newaimd": "capacity", "dumbbell", "loss", "newcomer", "transfer"),
    runners: &[
        ("equations", cycles::equations),
        ("fairness-monotone", cycles::fairness),
        ("average-throughput", cycles::average),
        ("text-efficiency", cycles::efficiency),
        ("metrics", cycles::metrics),
        ("example", cycles::example),
        ("table-1", dumbbell::table),
        ("figs-4-7", dumbbell::figures),
        ("text-headline", dumbbell::headline),
        ("variants", dumbbell::variants),
        ("beyond-capacity", dumbbell::capacity),
        ("beyond-newcomer", dumbbell::newcomer),
        ("beyond-loss", dumbbell::loss),
    ],
};
