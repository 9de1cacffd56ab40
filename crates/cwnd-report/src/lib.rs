//! Documents and files of results.
//!
//! [`json`] is what `--json` prints and `summary.json` holds, [`text`] what a terminal shows, with [`table`](mod@table) for its
//! columns, `csv` the traces, [`page`] the HTML page, [`formats`] the traces for other tools, [`reference`](mod@reference) and [`reproduced`] the
//! documentation that is generated from the code.

mod completion;
pub mod crossed;
mod csv;
mod diagnosis;
mod directory;
pub mod formats;
pub mod json;
mod made;
pub mod overlay;
pub mod page;
pub mod plot;
pub mod reference;
pub mod reproduced;
mod slug;
pub mod table;
pub mod text;
mod traffic;

pub use directory::{
    write_comparison, write_crossing, write_evaluation, write_model, write_overlay, write_papers, write_run,
    write_sweep,
};
