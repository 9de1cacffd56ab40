//! Lines on common axes.

use serde::Serialize;
use serde_json::{Value, json};

use super::axis::Axis;
use super::spec::{DataSet, Group, Plot, by_text};

/// Lines on common axes: values over time, or distributions.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Lines {
    /// A few words.
    pub title: String,
    /// The kind of lines: the column of the data that has their names.
    pub series: &'static str,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// The lines; a legend names them where there are several.
    pub lines: Vec<Line>,
    /// The warm-up is shaded from 0 up to here, in the unit of the horizontal axis; 0 for none.
    pub warmup: f64,
    /// Levels to compare with.
    pub rules: Vec<Rule>,
    /// Whether a value holds until the next, as in a distribution; otherwise values are connected.
    pub steps: bool,
}

/// One line.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Line {
    /// Its name in the legend.
    pub name: String,
    /// Its colour as CSS writes it.
    pub colour: String,
    /// Pixels drawn and left out, see [`dash`](super::colour::dash).
    pub dash: &'static [u8],
    /// Horizontal values, ascending, in the unit of the column.
    pub x: Vec<f64>,
    /// Vertical values, one for each of `x`; NaN and infinities are gaps.
    pub y: Vec<f64>,
}

/// A dashed line across the plot.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Rule {
    /// Where, in the unit of the vertical column.
    pub at: f64,
    /// The kind of event.
    pub name: String,
}

impl Lines {
    /// Lines of flows, without shade or rules.
    #[must_use]
    pub fn new(title: impl Into<String>, x: Axis, y: Axis, lines: Vec<Line>) -> Self {
        Self { title: title.into(), series: "flow", x, y, lines, warmup: 0.0, rules: Vec::new(), steps: false }
    }

    /// The plot, 400 by 210 pixels; `id` is its name in files and on pages.
    #[must_use]
    pub fn plot(&self, id: impl Into<String>) -> Plot {
        let words = (self.title.as_str(), "", "");
        Plot::new(id.into(), words, (WIDTH.into(), HEIGHT), &self.layers(), vec![self.data()])
    }

    /// The plot as wide as its column on a page, with a caption.
    pub(crate) fn captioned(&self, id: impl Into<String>, caption: &str) -> Plot {
        let words = (self.title.as_str(), "", caption);
        Plot::new(id.into(), words, (json!("container"), HEIGHT), &self.layers(), vec![self.data()])
    }

    /// The layers: shade, lines, rules. They draw the data set `table`.
    pub(crate) fn layers(&self) -> Vec<Value> {
        let names: Vec<String> = self.lines.iter().map(|line| line.name.clone()).collect();
        let colours: Vec<Value> = self.lines.iter().map(|line| line.colour.clone().into()).collect();
        let dashes: Vec<Value> = self.lines.iter().map(|line| json!(line.dash)).collect();
        let mut mark = json!({ "type": "line", "strokeWidth": 1.2, "strokeJoin": "round" });
        if self.steps {
            mark["interpolate"] = "step-after".into();
        }
        let lines = json!({
            "mark": mark,
            "encoding": {
                "x": self.x.channel(),
                "y": self.y.channel(),
                "color": by_text(self.series, &names, &colours),
                "strokeDash": by_text(self.series, &names, &dashes),
            },
        });
        let mut layers: Vec<Value> = (self.warmup > 0.0).then(|| self.shade()).into_iter().collect();
        layers.push(lines);
        layers.extend(self.rules.iter().map(|rule| self.rule(rule)));
        layers
    }

    /// The data set `table`: a group of rows for each line.
    pub(crate) fn data(&self) -> DataSet {
        let groups = self
            .lines
            .iter()
            .map(|line| Group { texts: vec![line.name.clone()], numbers: vec![line.x.clone(), line.y.clone()] });
        DataSet::new("table", [self.series, &self.x.field, &self.y.field], groups.collect())
    }

    fn shade(&self) -> Value {
        json!({
            "data": { "values": [{ "from": 0, "to": self.warmup }] },
            "mark": { "type": "rect", "color": "var(--shade)", "opacity": 1 },
            "encoding": { "x": { "field": "from", "type": "quantitative", "title": self.x.title }, "x2": { "field": "to" } },
        })
    }

    fn rule(&self, rule: &Rule) -> Value {
        let field = &self.y.field;
        json!({
            "data": { "values": [{ field: rule.at }] },
            "mark": { "type": "rule", "color": "var(--muted)", "strokeDash": [4, 3] },
            "encoding": { "y": { "field": field, "type": "quantitative" } },
        })
    }
}

/// Pixels of a plot that stands alone.
const WIDTH: u32 = 400;
const HEIGHT: u32 = 210;
