//! A plot as the page carries it: a Vega-Lite specification and the tables it draws.

use serde_json::{Value, json};

/// A plot with everything that is written beside it.
#[derive(Debug)]
pub(crate) struct Plot {
    /// Unique on the page: element ids and file names are made of it.
    pub(crate) id: String,
    /// A few words.
    pub(crate) title: &'static str,
    /// What it shows and how it was made.
    pub(crate) caption: String,
    /// The text alternative of the picture: what it shows of what.
    pub(crate) alternative: String,
    /// Vega-Lite, without its data sets.
    pub(crate) spec: Value,
    /// The data sets, each under its name.
    pub(crate) tables: Vec<Table>,
}

/// One data set: rows of named columns, the same names in the plot, the table below it and the CSV file.
#[derive(Debug)]
pub(crate) struct Table {
    /// Its name in the specification.
    pub(crate) name: &'static str,
    /// The columns of text, then those of numbers.
    pub(crate) columns: Vec<&'static str>,
    /// Rows that have their texts in common.
    pub(crate) groups: Vec<Group>,
}

/// Rows that have their texts in common.
#[derive(Debug)]
pub(crate) struct Group {
    /// One text per text column.
    pub(crate) texts: Vec<String>,
    /// One list of numbers per number column, all of one length; what is not finite is an empty cell.
    pub(crate) numbers: Vec<Vec<f64>>,
}

/// The title of a plot, what it is a plot of, and its caption.
pub(crate) type Words<'a> = (&'static str, &'a str, &'a str);

impl Plot {
    /// A plot of layers over the data set `table`, of the given width and height in pixels.
    pub(crate) fn new(id: String, words: Words<'_>, size: (Value, u32), layers: &[Value], tables: Vec<Table>) -> Self {
        let (title, subject, caption) = words;
        let alternative = format!("{title}, {subject}. {caption}");
        let (width, height) = size;
        let data = json!({ "name": "table" });
        let spec =
            json!({ "description": alternative, "width": width, "height": height, "data": data, "layer": layers });
        Self { id, title, caption: caption.to_string(), alternative, spec, tables }
    }

    /// What the script of the page reads.
    pub(crate) fn json(&self) -> Value {
        let tables: Vec<Value> = self.tables.iter().map(Table::json).collect();
        json!({ "id": self.id, "spec": self.spec, "tables": tables })
    }
}

impl Table {
    pub(crate) fn json(&self) -> Value {
        let groups = self.groups.iter().map(|group| {
            let numbers = group.numbers.iter().map(|column| column.iter().copied().map(number).collect::<Vec<_>>());
            json!({ "texts": group.texts, "numbers": numbers.collect::<Vec<_>>() })
        });
        json!({ "name": self.name, "columns": self.columns, "groups": groups.collect::<Vec<_>>() })
    }

    /// Whether there is nothing in it.
    pub(crate) fn is_empty(&self) -> bool {
        self.groups.iter().all(|group| group.numbers.first().is_none_or(Vec::is_empty))
    }
}

/// The x axis of a plot over time.
pub(crate) fn time_axis(end_s: f64) -> Value {
    json!({ "field": "time_s", "type": "quantitative", "title": "Time (s)", "scale": { "domain": [0, number(end_s)], "nice": false } })
}

/// A field in bit/s on an axis that is labelled in Mbit/s.
pub(crate) fn bit_rate_axis(field: &str, title: &str, largest: f64) -> Value {
    json!({
        "field": field, "type": "quantitative", "title": format!("{title} (Mbit/s)"),
        "scale": { "domain": [0, number(largest)], "nice": false },
        "axis": { "labelExpr": "format(datum.value / 1e6, '~g')" },
    })
}

/// A field in seconds on an axis that is labelled in milliseconds.
pub(crate) fn delay_axis(field: &str, title: &str) -> Value {
    json!({
        "field": field, "type": "quantitative", "title": format!("{title} (ms)"),
        "axis": { "labelExpr": "format(datum.value * 1000, '~g')" },
    })
}

/// Colour, dash or another channel that follows the texts of a column, with the legend above the plot. A single text needs none.
pub(crate) fn by_text(field: &str, texts: &[String], range: &[Value]) -> Value {
    let legend = if texts.len() > 1 {
        json!({ "orient": "top", "title": null, "columns": 4, "symbolType": "stroke", "symbolSize": 500 })
    } else {
        Value::Null
    };
    json!({ "field": field, "type": "nominal", "scale": { "domain": texts, "range": range }, "legend": legend })
}

/// A number with six significant digits: finer than any screen, and a third of the bytes.
pub(crate) fn number(value: f64) -> Value {
    let rounded = format!("{value:.5e}").parse::<f64>().unwrap_or(f64::NAN);
    // Whole numbers are written without a fraction.
    if rounded.fract() == 0.0 && rounded.abs() < 9e15 { Value::from(rounded as i64) } else { Value::from(rounded) }
}

/// The labels made unique: those that occur twice, or say nothing, get their position in front.
pub(crate) fn unique(labels: &[String]) -> Vec<String> {
    let repeated =
        |label: &String| label.trim().is_empty() || labels.iter().filter(|other| *other == label).count() > 1;
    let numbered = labels.iter().enumerate();
    numbered
        .map(|(index, label)| if repeated(label) { format!("{}. {label}", index + 1) } else { label.clone() })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_whole_ones_whole() {
        assert_eq!(number(12.0).to_string(), "12");
        assert_eq!(number(1.0 / 3.0).to_string(), "0.333333");
        assert_eq!(number(99_999_999.0).to_string(), "100000000");
        assert_eq!(number(f64::NAN), Value::Null);
        assert_eq!(number(f64::INFINITY), Value::Null);
    }

    #[test]
    fn labels_become_unique() {
        let labels = ["a", "b", "a", " "].map(str::to_string);
        assert_eq!(unique(&labels), ["1. a", "b", "3. a", "4.  "]);
    }
}
