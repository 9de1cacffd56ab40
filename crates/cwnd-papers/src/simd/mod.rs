//! TCP-friendly SIMD Congestion Control and Its Convergence Behavior (Jin, Guo, Matta and Bestavros 2001).

mod compat;
mod convergence;
mod friendliness;
mod growth;
mod synchronous;

use super::files::paper_files;
use super::reproduction::Reproduction;

pub(super) const PAPER: Reproduction = Reproduction {
    files: paper_files!("simd": "compat", "convergence-1", "convergence-2", "friendliness"),
    runners: &[
        ("table-1", synchronous::table_1),
        ("fig-4c", synchronous::regions),
        ("fig-1", growth::figure_1),
        ("fig-2", growth::figure_2),
        ("fig-3", synchronous::paths),
        ("text-eq8", growth::equation_8),
        ("text-alpha", growth::alpha),
        ("text-epochs", synchronous::epochs),
        ("text-intersections", synchronous::intersections),
        ("text-sqrt", synchronous::sqrt),
        ("fig-5", friendliness::figure_5),
        ("text-recovery", friendliness::recovery),
        ("text-friendly-range", friendliness::range),
        ("table-2", compat::table_2),
        ("fig-6", compat::figure_6),
        ("fig-7", compat::figure_7),
        ("fig-8", compat::figure_8),
        ("table-3", convergence::table_3),
        ("fig-10", convergence::figure_10),
        ("fig-11", convergence::figure_11),
        ("beyond-window", compat::window),
        ("beyond-truncation", friendliness::truncation),
        ("future-tfrc", friendliness::equation_based),
    ],
};

/// The algorithms as the paper has them.
const TCP: &str = "reno";
const SIMD: &str = "simd:beta=1/16";
const IIAD: &str = "iiad:a=1,b=2/3";
