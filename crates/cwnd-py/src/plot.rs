//! Plots as Python has them: the numbers they draw, and their Vega-Lite.

use cwnd_report::plot::{Axis, Heatmap, Lines, PlotError, RunPlots, colour as colours};
use cwnd_run::files::to_json;
use cwnd_trace::Trace;
use pyo3::prelude::*;
use serde::Serialize;

use crate::failure::Failure;

/// The numbers of a plot, and its Vega-Lite with them in it; both JSON.
pub(crate) type Drawn = (String, String);

/// The options of a plot of a run.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct View {
    kind: String,
    column: Option<String>,
    flows: Option<Vec<String>>,
    interval: Option<f64>,
}

impl View {
    /// The plot of a run whose bottleneck is the link at that index.
    pub(crate) fn of(&self, trace: &Trace, bottleneck: usize) -> Result<Drawn, Failure> {
        let run = RunPlots::new(trace, bottleneck);
        let (column, flows) = (self.column.as_deref().unwrap_or_default(), self.flows.as_deref());
        let found = match self.kind.as_str() {
            "cdf" => run.cdf(column, flows),
            "fairness" => run.fairness(self.interval.unwrap_or(1.0)),
            "goodput" => run.goodput(self.interval, flows),
            "phase" => {
                let pair = flows.map(<&[String; 2]>::try_from).transpose();
                let pair = pair.map_err(|_| Failure::Argument("flows: expected two of them".to_string()))?;
                let phase = run.phase(pair.map(|pair| pair.each_ref().map(String::as_str)), self.interval)?;
                return Ok(drawn(&phase, &phase.plot("phase")));
            }
            "series" => run.series(column, flows),
            "utilisation" => run.utilisation(self.interval),
            unknown => return Err(Failure::Unexpected(format!("no plot is called `{unknown}`"))),
        };
        Ok(lines(&found?, &self.kind))
    }
}

/// Lines, and the plot of them.
pub(crate) fn lines(lines: &Lines, id: &str) -> Drawn {
    drawn(lines, &lines.plot(id))
}

fn drawn(numbers: &impl Serialize, plot: &cwnd_report::plot::Plot) -> Drawn {
    (to_json(numbers), to_json(&plot.specification()))
}

/// The title of the axis of a column, with its unit, and the factor from the unit of the column to it.
#[pyfunction]
pub(crate) fn axis(column: &str) -> (String, f64) {
    let Axis { title, scale, .. } = Axis::of_column(column);
    (title, scale)
}

/// The colour of an algorithm on white.
#[pyfunction]
pub(crate) fn colour(algorithm: &str) -> String {
    colours::of(algorithm).light
}

/// The Vega-Lite of a grid, both JSON.
#[pyfunction]
pub(crate) fn heatmap(grid: &str) -> Result<String, Failure> {
    let grid: Heatmap = serde_json::from_str(grid).map_err(|error| Failure::Argument(error.to_string()))?;
    Ok(to_json(&grid.plot("heatmap").specification()))
}

impl From<PlotError> for Failure {
    fn from(error: PlotError) -> Self {
        Self::Argument(error.to_string())
    }
}
