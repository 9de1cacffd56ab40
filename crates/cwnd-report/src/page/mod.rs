//! `report.html` and the pages of models, evaluations and papers: each needs nothing but itself.
//!
//! `comparison_html` and `run_html` make a page of runs from the document that `--json` prints, and the traces for the curves;
//! [`Report`] is its content. Plots come first, then the table of results, then the data needed to judge and repeat them. The plots
//! are Vega-Lite specifications drawn by the libraries that the page carries along; under each are its numbers, as a table and as
//! CSV, from the same data. The page makes no request, and its content policy forbids any.
//!
//! [`model`], [`evaluation_html`], [`sweep_html`], [`figures_html`], [`exercises_html`], `paper_html` and `index_html` are made of the same parts. Templates are in `templates/`; what
//! they insert is escaped unless it says `safe`.
//!
//! Curves are thinned for the screen so that their extremes survive; measures are never taken from thinned curves.

mod assets;
mod conform;
mod crossed;
mod drawn;
mod evaluation;
mod exercises;
mod figures;
pub mod link;
mod measures;
pub mod model;
pub mod names;
mod overlay;
mod paper;
mod parts;
mod report;
mod runs;
mod sweep;

pub use assets::vega as libraries;
pub use assets::{LICENCES, scripts, scripts_apart};
pub use conform::conformance_html;
pub(crate) use crossed::{claims_html, tables_html};
pub use drawn::specifications;
pub use evaluation::evaluation_html;
pub use exercises::exercises_html;
pub use figures::figures_html;
pub use overlay::overlay_html;
pub use paper::PaperPage;
pub(crate) use paper::index_html;
pub(crate) use paper::paper_html;
pub use report::Report;
pub use runs::{comparison_html, run_html};
pub use sweep::sweep_html;
