//! Curves of two sides as Vega-Lite, a panel per algorithm or quantity. `cargo xtask validate` draws them for docs/.

use std::path::Path;

use cwnd_report::plot::{Axis, Line, Lines, Plot, colour, document, panels};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Error;

/// A quantity over time.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub(crate) struct Series {
    /// Seconds.
    pub(crate) at_s: Vec<f64>,
    /// Packets, or the unit of the panel.
    pub(crate) packets: Vec<f64>,
}

/// A panel: the first flow of each side.
pub(crate) struct Panel<'a> {
    pub(crate) title: String,
    pub(crate) axis: Axis,
    pub(crate) ours: &'a Series,
    pub(crate) theirs: &'a Series,
}

impl Series {
    /// The plotted points (seconds, value): some sawteeth from the end of the warm-up on, to a tenth.
    pub(crate) fn plotted(points: impl Iterator<Item = (f64, f64)>, from_s: f64) -> Self {
        let shown = points.filter(|(at, value)| (from_s..=from_s + PLOTTED_S).contains(at) && value.is_finite());
        let (at_s, packets) = shown.map(|(at, value)| (at, (value * 10.0).round() / 10.0)).unzip();
        Self { at_s, packets }
    }
}

/// Writes the specification of panels over the time their curves cover. `names` are those of the two sides, theirs first.
pub(crate) fn write(path: &Path, names: [&str; 2], panels: &[Panel<'_>]) -> Result<(), Error> {
    let text = specification(names, panels).to_string();
    let directory = path.parent().unwrap_or(path);
    let written = std::fs::create_dir_all(directory).and_then(|()| std::fs::write(path, text));
    written.map_err(|source| Error::File { path: path.to_owned(), source })
}

fn specification(names: [&str; 2], all: &[Panel<'_>]) -> Value {
    let ends = || all.iter().flat_map(|panel| [panel.ours, panel.theirs]).flat_map(|series| &series.at_s).copied();
    let (from_s, to_s) = (ends().fold(f64::INFINITY, f64::min), ends().fold(f64::NEG_INFINITY, f64::max));
    let time = Axis::time(to_s).within(from_s, to_s);
    let plots: Vec<Plot> = all.iter().zip(1..).map(|(panel, nth)| panel.plot(names, &time, nth)).collect();
    document(panels(&plots, COLUMNS))
}

impl Panel<'_> {
    fn plot(&self, names: [&str; 2], time: &Axis, nth: usize) -> Plot {
        let sides = names.into_iter().zip([self.theirs, self.ours]).zip([THEIRS, OURS]);
        let lines = sides.map(|((name, series), colour)| Line {
            name: name.to_owned(),
            colour: colour.to_owned(),
            dash: colour::dash(0),
            x: series.at_s.clone(),
            y: series.packets.clone(),
        });
        Lines { series: "side", ..Lines::new(&self.title, time.clone(), self.axis.clone(), lines.collect()) }
            .plot(format!("panel-{nth}"))
    }
}

/// Long enough for a few sawteeth of every algorithm.
const PLOTTED_S: f64 = 60.0;
const COLUMNS: usize = 2;
/// Dark and light enough to be told apart without colour.
const OURS: &str = "#1a5fb4";
const THEIRS: &str = "#e5a50a";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panel_has_both_sides_over_the_time_they_cover() {
        let series = |from: f64, window: f64| Series { at_s: vec![from, from + 1.0], packets: vec![window; 2] };
        let (ours, theirs) = (series(20.0, 10.0), series(21.0, 20.0));
        let axis = Axis::new("window_packets", "Window (packets)");
        let panel = Panel { title: "reno".to_owned(), axis, ours: &ours, theirs: &theirs };
        let drawn = specification(["ns-3", "cwnd"], &[panel]);
        let rows = drawn["datasets"]["table-1"].as_array().expect("a table");
        for (name, window) in [("ns-3", 20.0), ("cwnd", 10.0)] {
            let of_side = rows.iter().filter(|row| row["side"] == name);
            assert_eq!(of_side.map(|row| row["window_packets"].as_f64()).collect::<Vec<_>>(), [Some(window); 2]);
        }
        let time = &drawn["concat"][0]["layer"][0]["encoding"]["x"]["scale"]["domain"];
        assert_eq!(*time, serde_json::json!([20, 22]));
    }
}
