//! `report.html`: one page that shows a set of runs and needs nothing but itself.
//!
//! [`html`] turns a [`Report`] into the page: plots first, then the table of results, then what is needed to judge and repeat
//! them. The plots are Vega-Lite specifications built here and drawn by the libraries that the page carries along; under each are
//! its numbers, as a table and as CSV, from the same data. The page makes no request, and its content policy forbids any.
//!
//! [`evaluation_html`], [`paper_html`] and [`index_html`] are the pages of reproduced papers, made of the same parts.
//!
//! Curves are thinned for the screen so that their extremes survive; measures are never taken from thinned curves.

mod evaluation;
mod html;
pub mod model;
mod paper;
mod results;
mod sheet;

use cwnd::Spec;

use crate::plot::Shown;

pub use evaluation::evaluation_html;
pub use html::html;
pub use paper::{PaperPage, index_html, paper_html};

/// What a report shows.
#[derive(Clone, Debug, Default)]
pub struct Report<'a> {
    /// What was compared or run, in a few words: the heading of the page.
    pub title: String,
    /// The command that repeats it.
    pub command: String,
    /// The revision of the program, and whatever else identifies it.
    pub revision: String,
    /// The seeds; the traces are those of the first.
    pub seeds: Vec<u64>,
    /// When measuring started, seconds.
    pub warmup_s: f64,
    /// The scenario as text; shown as it is.
    pub scenario_toml: String,
    /// Indexes the link of every trace that is the bottleneck.
    pub bottleneck: usize,
    /// What a reader must know before believing the numbers, a sentence each.
    pub warnings: Vec<String>,
    /// The algorithms, each with its parameters, described once on the page.
    pub algorithms: Vec<Spec>,
    /// What is compared, one section each.
    pub shown: Vec<Shown<'a>>,
}
