//! An Analysis of AIMD Algorithms with Decreasing Increases (Gu, Hong and Grossman 2004): DAIMD and UDT.

use super::files::{Files, paper_file};

pub(super) const FILES: Files = Files {
    id: "daimd",
    published: paper_file!("daimd/published.toml"),
    scenarios: &[
        ("alone", paper_file!("daimd/alone.toml")),
        ("beside-tcp", paper_file!("daimd/beside-tcp.toml")),
        ("chain", paper_file!("daimd/chain.toml")),
        ("delay", paper_file!("daimd/delay.toml")),
        ("pairs", paper_file!("daimd/pairs.toml")),
        ("round-trips", paper_file!("daimd/round-trips.toml")),
        ("testbed", paper_file!("daimd/testbed.toml")),
        ("tree", paper_file!("daimd/tree.toml")),
        ("two", paper_file!("daimd/two.toml")),
    ],
    runners: &[],
};
