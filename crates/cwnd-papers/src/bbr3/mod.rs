//! BBRv3 against CUBIC: BBR's Sharing Behavior with CUBIC and Reno (Sarpkaya, Srivastava, Fund and Panwar 2025), and Promises and
//! Potential of BBRv3 (Zeynali, Weyulu, Fathalli, Chandrasekaran and Feldmann 2024).

mod pairs;
mod shares;

use super::files::paper_files;
use super::reproduction::Reproduction;
use super::{Bench, Result};

pub(super) const PAPER: Reproduction = Reproduction {
    files: paper_files!("bbr3": "beside-cubic", "two"),
    runners: &[
        ("figure-5a", shares::figure_5a),
        ("figure-5b", shares::figure_5b),
        ("figure-2a", shares::figure_2a),
        ("figure-2b", shares::figure_2b),
        ("abstract-cubic", shares::room),
        ("abstract-round-trips", pairs::round_trips),
        ("abstract-convergence", pairs::convergence),
        ("beyond-100mbit", shares::beyond),
    ],
};

/// BBRv3 with what offload keeps under way as assumed.
fn version_3(bench: &Bench<'_>) -> Result<String> {
    Ok(format!("bbr3:offload={}", bench.assumed("offload")?))
}
