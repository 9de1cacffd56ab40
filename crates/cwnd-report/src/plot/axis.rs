//! The axes of plots: which column of the data they show, and in which unit.

use cwnd_run::measure::{MEASURES, Measure, Scale};
use cwnd_text::capitalised;
use serde::Serialize;
use serde_json::{Value, json};

use super::spec::number;

/// An axis: a column of the data, its title and its ends.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Axis {
    /// The column of the data.
    pub field: String,
    /// The quantity, with the unit of the labels.
    pub title: String,
    /// The factor from the numbers of the column to the unit of the labels.
    pub scale: f64,
    /// The ends, in the unit of the column; none for those of the data.
    pub domain: Option<[f64; 2]>,
    /// The least and the largest value that the quantity can have, in the unit of the column; null for no bound.
    pub bounds: [Option<f64>; 2],
}

impl Axis {
    /// An axis labelled in the unit of its column, as long as the data want it.
    #[must_use]
    pub fn new(field: impl Into<String>, title: impl Into<String>) -> Self {
        let field = field.into();
        let bounds = bounds(&field);
        Self { field, title: title.into(), scale: 1.0, domain: None, bounds }
    }

    /// Time from 0 to `end_s`, in the column `time_s`.
    #[must_use]
    pub fn time(end_s: f64) -> Self {
        Self::new("time_s", "Time (s)").within(0.0, end_s)
    }

    /// A column in bit/s, labelled in Mbit/s.
    #[must_use]
    pub(crate) fn bit_rate(field: &str, title: &str) -> Self {
        Self { scale: 1e-6, ..Self::new(field, format!("{title} (Mbit/s)")) }
    }

    /// A column in seconds, labelled in milliseconds.
    #[must_use]
    pub fn delay(field: &str, title: &str) -> Self {
        Self { scale: 1e3, ..Self::new(field, format!("{title} (ms)")) }
    }

    /// A share of 1 in any column, labelled in per cent.
    #[must_use]
    pub(crate) fn share(field: &str, title: &str) -> Self {
        Self { scale: 1e2, ..Self::new(field, format!("{title} (%)")) }.bounded(Some(0.0), Some(1.0))
    }

    /// The axis of a measure, or of a column of a trace, titled by its name, which ends in its unit. Internals of algorithms have none.
    #[must_use]
    pub fn of_column(name: &str) -> Self {
        if let Some(measure) = measure(name) {
            return Self { scale: measure.scale.factor(), ..Self::new(name, measure.label()) };
        }
        if let Some((_, title, scale)) = TITLES.iter().find(|(known, ..)| *known == name) {
            return Self { scale: *scale, ..Self::new(name, *title) };
        }
        let unit = UNITS.iter().find_map(|(ending, unit, scale)| Some((name.strip_suffix(ending)?, unit, scale)));
        match unit {
            Some((stem, unit, scale)) => {
                Self { scale: *scale, ..Self::new(name, format!("{} ({unit})", capitalised(&stem.replace('_', " ")))) }
            }
            None => Self::new(name, name),
        }
    }

    /// The axis with fixed ends, in the unit of the column.
    #[must_use]
    pub fn within(self, low: f64, high: f64) -> Self {
        Self { domain: Some([low, high]), ..self }
    }

    /// The axis of a quantity with these bounds, in the unit of the column.
    #[must_use]
    pub(crate) fn bounded(self, low: Option<f64>, high: Option<f64>) -> Self {
        Self { bounds: [low, high], ..self }
    }

    /// A value moved to the nearest one that the quantity can have: an interval may reach beyond.
    pub(crate) fn possible(&self, value: f64) -> f64 {
        let [low, high] = self.bounds;
        value.max(low.unwrap_or(f64::NEG_INFINITY)).min(high.unwrap_or(f64::INFINITY))
    }

    /// The title without its unit.
    pub(crate) fn words(&self) -> &str {
        self.title.split(" (").next().unwrap_or_default()
    }

    /// The channel of a Vega-Lite encoding.
    pub(crate) fn channel(&self) -> Value {
        self.channel_of(&self.field)
    }

    /// The channel of another column on this axis, such as the end of an interval.
    pub(crate) fn channel_of(&self, field: &str) -> Value {
        let mut channel = json!({ "field": field, "type": "quantitative", "title": in_lines(&self.title) });
        match (self.domain, self.bounds) {
            (Some([low, high]), _) => {
                channel["scale"] = json!({ "domain": [number(low), number(high)], "nice": false });
            }
            (None, [_, Some(high)]) => channel["scale"] = json!({ "domainMax": number(high) }),
            (None, _) => {}
        }
        let factor = match self.scale {
            scale if scale > 1.0 => format!("* {scale}"),
            scale if scale < 1.0 => format!("/ {}", 1.0 / scale),
            _ => return channel,
        };
        channel["axis"] = json!({ "labelExpr": format!("format(datum.value {factor}, '~g')") });
        channel
    }
}

/// A title that the narrowest plot has room for: text, or a list of lines.
fn in_lines(title: &str) -> Value {
    let mut lines = vec![String::new()];
    for word in title.split(' ') {
        let line = lines.last_mut().expect("there is one from the beginning on");
        if line.is_empty() {
            line.push_str(word);
        } else if line.chars().count() + 1 + word.chars().count() <= LETTERS {
            line.push(' ');
            line.push_str(word);
        } else {
            lines.push(word.to_string());
        }
    }
    if lines.len() == 1 { title.into() } else { lines.into() }
}

/// Letters of a line of a title.
const LETTERS: usize = 40;

/// The bounds of a column by its name: nothing that is counted or timed is below zero, and no share above 1.
fn bounds(name: &str) -> [Option<f64>; 2] {
    let is_share = SHARES.contains(&name) || measure(name).is_some_and(|measure| measure.scale == Scale::Share);
    let is_amount = UNITS.iter().any(|(ending, ..)| name.ends_with(ending)) || name == "timeouts";
    match (is_share, is_amount) {
        (true, _) => [Some(0.0), Some(1.0)],
        (_, true) => [Some(0.0), None],
        _ => [None, None],
    }
}

/// The measure that a column has the name of.
fn measure(name: &str) -> Option<&'static Measure> {
    MEASURES.iter().copied().find(|measure| measure.key == name)
}

/// Columns of shares and of similar values of at most 1 that are not measures in per cent.
const SHARES: [&str; 3] = ["share", "jain", "loss"];

/// Endings of the names of columns, the unit of their axes, and the factor to it.
const UNITS: [(&str, &str, f64); 6] = [
    ("_packets_per_s", "packets/s", 1.0),
    ("_packets", "packets", 1.0),
    ("_bytes", "bytes", 1.0),
    ("_bps", "Mbit/s", 1e-6),
    ("_ns", "s", 1e-9),
    ("_s", "ms", 1e3),
];

/// Columns whose names say too little.
const TITLES: [(&str, &str, f64); 2] = [("srtt_s", "Round-trip time (ms)", 1e3), ("timeouts", "Time-outs", 1.0)];

/// The scale and the ticks of values on one axis. Those of several orders of magnitude get a logarithmic one, since the small ones would
/// all be at the edge of a linear one; it is linear below the smallest above zero where some are zero.
pub(super) fn scale(values: impl Iterator<Item = f64> + Clone) -> (Value, Value) {
    let least = values.clone().fold(f64::INFINITY, f64::min);
    let most = values.clone().fold(f64::NEG_INFINITY, f64::max);
    let least_positive = values.filter(|value| *value > 0.0).fold(f64::INFINITY, f64::min);
    if least < 0.0 || most < least_positive * 100.0 {
        return (json!({ "zero": false, "padding": 8 }), json!({}));
    }
    let powers = (least_positive.log10().floor() as i32..=most.log10().ceil() as i32).map(|power| 10_f64.powi(power));
    let ticks: Vec<f64> = (least == 0.0).then_some(0.0).into_iter().chain(powers).collect();
    let scale = match least > 0.0 {
        true => json!({ "type": "log", "padding": 8 }),
        // Rounded ends would lie orders of magnitude below zero.
        false => json!({ "type": "symlog", "constant": least_positive, "padding": 8, "nice": false }),
    };
    (scale, json!({ "values": ticks, "format": "~g" }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_titles_are_broken_between_words() {
        assert_eq!(in_lines("Time (s)"), "Time (s)");
        let long = in_lines("growth of the window per packet acknowledged in the first three round trips, packets");
        assert_eq!(
            long,
            json!(["growth of the window per packet", "acknowledged in the first three round", "trips, packets"])
        );
        assert_eq!(in_lines(&"x".repeat(90)), "x".repeat(90));
    }

    #[test]
    fn columns_are_titled_by_their_names() {
        let titled = |name| {
            let Axis { title, scale, .. } = Axis::of_column(name);
            (title, scale)
        };
        assert_eq!(titled("window_packets"), ("Window (packets)".to_string(), 1.0));
        assert_eq!(titled("pacing_rate_packets_per_s"), ("Pacing rate (packets/s)".to_string(), 1.0));
        assert_eq!(titled("srtt_s"), ("Round-trip time (ms)".to_string(), 1e3));
        assert_eq!(titled("w0"), ("w0".to_string(), 1.0));
    }

    #[test]
    fn labels_are_in_the_unit_of_the_title() {
        let labels = |axis: Axis| axis.channel()["axis"]["labelExpr"].clone();
        assert_eq!(labels(Axis::bit_rate("goodput_bps", "Goodput")), "format(datum.value / 1000000, '~g')");
        assert_eq!(labels(Axis::delay("srtt_s", "RTT")), "format(datum.value * 1000, '~g')");
        assert_eq!(labels(Axis::time(5.0)), Value::Null);
        assert_eq!(Axis::time(5.0).channel()["scale"]["domain"], json!([0, 5]));
    }
}
