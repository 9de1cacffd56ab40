//! The number of a check between the limits of the accepted range.

use serde_json::json;

use super::axis::Axis;
use super::spec::{DataSet, Group, Plot, number};

/// A judged number, with the ends of its interval and of the accepted range.
pub(crate) struct Checked<'a> {
    /// Unique on the page.
    pub(crate) id: String,
    /// The measured quantity, with its unit.
    pub(crate) measured: &'a str,
    /// The value, and the ends of what the verdict looks at.
    pub(crate) value: [f64; 3],
    /// The least and the most accepted; infinite for no bound.
    pub(crate) accepted: (f64, f64),
    /// The colour of the value, as CSS writes it.
    pub(crate) colour: String,
    /// The finding, its clause, and the likely causes, in sentences.
    pub(crate) caption: String,
    /// The content of the plot, for readers who cannot see it.
    pub(crate) alternative: &'a str,
}

impl Checked<'_> {
    /// The value as a point on a line whose accepted part is shaded.
    pub(crate) fn plot(self) -> Plot {
        let ([value, low, high], (from, to)) = (self.value, self.accepted);
        let known = [value, low, high, from, to].into_iter().filter(|end| end.is_finite());
        let (least, most) =
            known.fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), end| (least.min(end), most.max(end)));
        let beyond = (0.25 * (most - least)).max(0.1 * most.abs()).max(1e-3);
        // Counts and times are never below zero.
        let start = match least < 0.0 {
            true => least - beyond,
            false if from.is_infinite() => 0.0,
            false => (least - beyond).max(0.0),
        };
        let axis = Axis::new("value", self.measured).within(start, most + beyond);
        let (from, to) = (from.max(start), to.min(most + beyond));
        let band = DataSet::new(
            "accepted",
            ["from", "to"],
            vec![Group { texts: vec![], numbers: vec![vec![from], vec![to]] }],
        );
        let numbers = [value, low, high].map(|number| vec![number]).into();
        let table = DataSet::new("table", ["value", "low", "high"], vec![Group { texts: vec![], numbers }]);
        let accepted = json!({ "name": "accepted" });
        let mut layers = vec![json!({
            "data": accepted,
            "mark": { "type": "rect", "color": "var(--match)", "opacity": 0.22 },
            "encoding": { "x": axis.channel_of("from"), "x2": { "field": "to" } },
        })];
        let ends = [("from", self.accepted.0), ("to", self.accepted.1)].into_iter().filter(|(_, end)| end.is_finite());
        layers.extend(ends.map(|(field, _)| {
            json!({
                "data": accepted,
                "mark": { "type": "rule", "color": "var(--match)", "strokeWidth": 2 },
                "encoding": { "x": axis.channel_of(field) },
            })
        }));
        let label = json!({ "type": "text", "dy": -16, "fontSize": 12, "color": "var(--text)", "text": number(value).to_string() });
        layers.extend([
            json!({
                "mark": { "type": "rule", "strokeWidth": 2, "color": "var(--text)" },
                "encoding": { "x": axis.channel_of("low"), "x2": { "field": "high" } },
            }),
            json!({
                "mark": { "type": "point", "filled": true, "size": 110, "opacity": 1, "color": self.colour, "tooltip": { "content": "data" } },
                "encoding": { "x": axis.channel() },
            }),
            json!({ "mark": label, "encoding": { "x": axis.channel() } }),
        ]);
        let caption = format!(
            "{} Dot: the mean over the seeds. Line: the 95 % interval by which it is judged, below three seeds from the lowest to the highest. \
             Shaded: the accepted range.",
            self.caption
        );
        let words = ("The number that is checked", "", caption.as_str());
        let plot = Plot::new(self.id, words, (json!("container"), HEIGHT), &layers, vec![table, band]);
        Plot { alternative: self.alternative.to_string(), ..plot }
    }
}

/// Pixels.
const HEIGHT: u32 = 64;
