//! Decoupling End-to-End Efficiency and Fairness Control (Jin and Liu 2006): EXP-TCP.

use super::files::{Files, paper_file};

pub(super) const FILES: Files =
    Files { id: "exptcp", published: paper_file!("exptcp/published.toml"), scenarios: &[], runners: &[] };
