//! Plots of a comparison that stand alone: utilisation against delay, shares, distributions.

use super::axis::Axis;
use super::colour;
use super::error::PlotError;
use super::flows::unique;
use super::frame::{Frame, Shown};
use super::lines::{Line, Lines};
use super::overview;
use super::run::{RunPlots, distributions};
use super::shares;
use super::spec::Plot;

/// Plots that compare algorithms, in the colours of the light theme.
#[derive(Debug)]
pub struct ComparisonPlots<'a> {
    frame: Frame<'a>,
}

impl<'a> ComparisonPlots<'a> {
    /// Plots of `shown`, over `seeds` seeds; `bottleneck` is the index of the drawn link in every trace.
    #[must_use]
    pub fn new(shown: &'a [Shown<'a>], bottleneck: usize, seeds: usize) -> Self {
        Self { frame: Frame::of(shown, bottleneck, seeds) }
    }

    /// Utilisation against the 95th percentile of the queueing delay; none where no run has both.
    #[must_use]
    pub fn trade_off(&self) -> Option<Plot> {
        overview::trade_off(&self.frame).map(|plot| self.standing_alone(plot))
    }

    /// The goodput of each flow; none without flows.
    #[must_use]
    pub fn shares(&self) -> Option<Plot> {
        shares::shares(&self.frame).map(|plot| self.standing_alone(plot))
    }

    /// The distribution of a column for each algorithm, all its flows together.
    ///
    /// # Errors
    /// There is no such column, it holds text, or no number.
    pub fn cdf(&self, column: &str) -> Result<Lines, PlotError> {
        let labels = unique(&self.frame.shown.iter().map(|one| one.label.clone()).collect::<Vec<_>>());
        let mut axis = Axis::of_column(column);
        let mut lines = Vec::new();
        for (index, (one, name)) in self.frame.shown.iter().zip(labels).enumerate() {
            let flows: Vec<String> = one.trace.flows.iter().map(|flow| flow.name.clone()).collect();
            let found = RunPlots::new(one.trace, self.frame.bottleneck).cdf(column, Some(&flows))?;
            let colour = found.lines.first().map_or_else(String::new, |line| line.colour.clone());
            let line = Line { name, colour, dash: colour::dash(index), x: Vec::new(), y: Vec::new() };
            axis = found.x;
            lines.push(line.distribution_of(found.lines.into_iter().flat_map(|line| line.x).collect()));
        }
        Ok(Lines { series: "algorithm", ..distributions(axis, lines) })
    }

    fn standing_alone(&self, mut plot: Plot) -> Plot {
        self.frame.palette.in_light(&mut plot.spec);
        plot
    }
}
