//! Reproduction of papers: published numbers, those computed here, and verdicts.
//!
//! `papers/ID/published.toml` has every table, figure and checkable claim of a paper as rows with a tolerance fixed beforehand
//! ([`Published`]), and assumptions for whatever the paper leaves open. Its scenarios are in the same directory. A runner computes the
//! values of a result; [`Selection::run`] matches them with the listed rows and judges them.
//!
//! To add a result: list its rows in `published.toml`, put its scenario into the same directory, write a function from `Bench` to
//! `Findings`, and name it in the `runners` of its paper. A test compares the rows of runners with the listed ones.

mod ablation;
mod aiad;
mod alternatives;
mod bbr3;
mod bench;
mod cells;
mod change;
mod computed;
mod cross;
mod daimd;
mod differences;
mod error;
mod exptcp;
mod files;
mod findings;
mod grid;
mod l4s_tests;
mod max_error;
mod model;
mod newaimd;
mod ns2;
mod over_time;
mod place;
mod printed_table;
mod provenance;
mod published;
mod quantity;
mod record_file;
mod recorded;
mod register;
mod reproduction;
mod row;
mod selection;
mod settings;
mod simd;
mod starvation;
mod summary;
#[cfg(test)]
mod tests;
mod tolerance;
mod verdict;

pub use ablation::{Ablation, Variant, variants};
pub use alternatives::{Alternative, Alternatives, Outcome, alternatives};
pub use bench::RunLog;
pub use cells::{MOST, ResultCells, cells};
pub use cross::{
    Answer, Asked, Compare, CrossAlgorithm, CrossClaim, CrossExperiment, CrossMeasure, CrossTable, Crossing, Plan,
    Score, cross,
};
pub use daimd::Profile;
pub use differences::Difference;
pub use error::PaperError;
pub use findings::{Curve, Figure};
pub use grid::Grid;
pub use ns2::InNs2;
pub use printed_table::{Heading, PrintedLine, PrintedTable};
pub use provenance::{Made, Provenance};
pub use published::{Assumption, Confidence, Experiment, Kind, Paper, Published, PublishedResult, PublishedRow, Value};
pub use quantity::Quantity;
pub use record_file::RecordFile;
pub use recorded::{Recorded, RecordedRow};
pub use register::{Change, Register};
pub use reproduction::Reproduction;
pub use row::{JudgedRow, OrderedValue};
pub use selection::{PAPERS, PaperRun, ResultRun, Selection};
pub use settings::{Scale, Settings};
pub use summary::sentence;
pub use tolerance::Tolerance;
pub use verdict::{Basis, Counts, Verdict};

use bench::Bench;
use computed::Computed;
use error::Result;
use findings::Findings;
use max_error::MaxError;
use over_time::OverTime;
