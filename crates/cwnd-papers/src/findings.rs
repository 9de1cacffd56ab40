//! The results of a runner: values for rows, and curves.

use super::computed::Computed;

/// The results of a runner.
#[derive(Clone, Debug, Default)]
pub(crate) struct Findings {
    /// By the id of a listed row.
    pub(super) values: Vec<(String, Computed)>,
    /// The subject of the row, its unit and its value.
    pub(super) extra: Vec<(String, &'static str, Computed)>,
    /// Curves to draw.
    pub(super) figures: Vec<Figure>,
}

/// Curves on common axes.
#[derive(Clone, Debug)]
pub struct Figure {
    /// A few words.
    pub title: &'static str,
    /// Its content and method.
    pub caption: String,
    /// The horizontal axis with its unit.
    pub x: &'static str,
    /// The vertical axis with its unit.
    pub y: &'static str,
    /// Whether the axes are logarithmic.
    pub log: (bool, bool),
    /// The curves.
    pub curves: Vec<Curve>,
}

/// A curve.
#[derive(Clone, Debug)]
pub struct Curve {
    /// The name of the value.
    pub name: String,
    /// Printed in the paper, or computed here.
    pub published: bool,
    /// Its points.
    pub points: Vec<(f64, f64)>,
}

impl Findings {
    /// A value for a row that `published.toml` lists.
    pub(crate) fn value(&mut self, row: impl Into<String>, value: impl Into<Computed>) {
        self.values.push((row.into(), value.into()));
    }

    /// The values of an ordering that `published.toml` lists.
    pub(crate) fn order<N: Into<String>>(
        &mut self,
        row: impl Into<String>,
        parts: impl IntoIterator<Item = (N, Computed)>,
    ) {
        let parts = parts.into_iter().map(|(name, value)| (name.into(), value)).collect();
        self.value(row, Computed::Ordered(parts));
    }

    /// A value for which the paper has nothing to compare with.
    pub(crate) fn extra(&mut self, row: impl Into<String>, unit: &'static str, value: impl Into<Computed>) {
        self.extra.push((row.into(), unit, value.into()));
    }

    /// A figure for the page.
    pub(crate) fn figure(&mut self, figure: Figure) {
        self.figures.push(figure);
    }
}

impl Curve {
    /// A curve that is computed here.
    pub(crate) fn new(name: impl Into<String>, points: impl IntoIterator<Item = (f64, f64)>) -> Self {
        Self { name: name.into(), published: false, points: points.into_iter().collect() }
    }

    /// A curve of the paper.
    pub(crate) fn printed(name: impl Into<String>, points: impl IntoIterator<Item = (f64, f64)>) -> Self {
        Self { published: true, ..Self::new(name, points) }
    }
}
