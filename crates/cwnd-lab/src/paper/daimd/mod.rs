//! An Analysis of AIMD Algorithms with Decreasing Increases (Gu, Hong and Grossman 2004): DAIMD and UDT.

use super::files::{Files, paper_file};

pub(super) const FILES: Files =
    Files { id: "daimd", published: paper_file!("daimd/published.toml"), scenarios: &[], runners: &[] };
