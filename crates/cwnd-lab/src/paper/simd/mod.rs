//! TCP-friendly SIMD Congestion Control and Its Convergence Behavior (Jin, Guo, Matta and Bestavros 2001).

use super::files::{Files, paper_file};

pub(super) const FILES: Files =
    Files { id: "simd", published: paper_file!("simd/published.toml"), scenarios: &[], runners: &[] };
