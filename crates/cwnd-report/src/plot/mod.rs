//! Plots as Vega-Lite specifications with their data: those of the pages, of the Python package and of the documentation.
//!
//! [`Lines`] are lines on common axes, [`Phase`] is a phase plane; [`RunPlots`] makes them of a run,
//! [`ComparisonPlots`] of compared algorithms, [`Heatmap`] of a grid. Their `plot` is a [`Plot`], and [`Plot::specification`] its Vega-Lite
//! with the data in it; [`panels`] sets several side by side, [`document`] makes a file that any tool for Vega-Lite draws.
//!
//! ```
//! use cwnd_report::plot::{Axis, Line, Lines, colour, document, panels};
//!
//! let line = |name: &str, colour: &str, nth| Line {
//!     name: name.to_string(),
//!     colour: colour.to_string(),
//!     dash: colour::dash(nth),
//!     x: vec![0.0, 1.0, 2.0],
//!     y: vec![1.0, 2.0, 4.0],
//! };
//! let window = Axis::new("window_packets", "Window (packets)");
//! let lines = vec![line("ns-3", "#e5a50a", 0), line("cwnd", "#1a5fb4", 0)];
//! let plot = Lines::new("reno", Axis::time(2.0), window, lines).plot("reno");
//! let file = document(panels(&[plot.clone(), plot], 2));
//! assert_eq!(file["concat"][1]["title"], "reno");
//! assert_eq!(file["datasets"]["table-1"][3]["flow"], "cwnd");
//! ```

mod axis;
mod bands;
pub mod colour;
mod column;
mod comparison;
mod downsample;
mod error;
pub(crate) mod evaluation;
mod flows;
mod frame;
mod heatmap;
mod lines;
pub(crate) mod model;
mod names;
mod orders;
mod over_time;
pub(crate) mod overlay;
mod overview;
pub(crate) mod paper;
mod phase;
mod run;
mod shares;
mod spec;
pub(crate) mod sweep;
mod time;
mod traffic;
mod verdict;

pub use axis::Axis;
pub use comparison::ComparisonPlots;
pub use error::PlotError;
pub use frame::Shown;
pub use heatmap::Heatmap;
pub use lines::{Line, Lines, Rule};
pub use phase::Phase;
pub use run::RunPlots;
pub use spec::{Plot, document, panels};

pub(crate) use frame::Frame;
pub(crate) use spec::{DataSet, Group, SCHEMA, config};
pub(crate) use verdict::Checked;
pub(crate) use {over_time::plots as over_time, overview::plots as overview, traffic::plots as traffic};
