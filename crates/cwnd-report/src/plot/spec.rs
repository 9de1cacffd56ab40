//! Plots: a Vega-Lite specification, its data, and its texts.

use serde_json::{Map, Value, json};

use super::colour;

/// A plot with its texts.
#[derive(Clone, Debug)]
pub struct Plot {
    /// Unique on a page: element ids and file names are made of it.
    pub(crate) id: String,
    /// A few words.
    pub(crate) title: String,
    /// The content of the plot, and its method.
    pub(crate) caption: String,
    /// The text alternative of the picture: what it shows of what.
    pub(crate) alternative: String,
    /// Vega-Lite, without its data sets; colours may be variables of the report's style sheet.
    pub(crate) spec: Value,
    /// The data sets, each under its name.
    pub(crate) data: Vec<DataSet>,
}

/// One data set: rows of named columns, the same names in the plot, the table below it and the CSV file.
#[derive(Clone, Debug)]
pub(crate) struct DataSet {
    /// Its name in the specification.
    pub(crate) name: &'static str,
    /// The columns of text, then those of numbers.
    pub(crate) columns: Vec<String>,
    /// Its rows.
    pub(crate) groups: Vec<Group>,
}

/// Rows that have their texts in common.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    /// One text per text column.
    pub(crate) texts: Vec<String>,
    /// One list of numbers per number column, all of one length; NaN and infinities are empty cells.
    pub(crate) numbers: Vec<Vec<f64>>,
}

/// The title of a plot, its subject, and its caption.
pub(crate) type Words<'a> = (&'a str, &'a str, &'a str);

impl Plot {
    /// A plot of layers over the data set `table`, of the given width and height in pixels.
    pub(crate) fn new(id: String, words: Words<'_>, size: (Value, u32), layers: &[Value], data: Vec<DataSet>) -> Self {
        let (title, subject, caption) = words;
        let alternative = format!("{title}, {subject}. {caption}");
        let (width, height) = size;
        let table = json!({ "name": "table" });
        let layers: Vec<Value> = layers.iter().cloned().map(clipped).collect();
        let spec =
            json!({ "description": alternative, "width": width, "height": height, "data": table, "layer": layers });
        Self { id, title: title.to_string(), caption: caption.to_string(), alternative, spec, data }
    }

    /// The plot in Vega-Lite with its data and its title, in the colours of the light theme: any tool for Vega-Lite opens it.
    #[must_use]
    pub fn specification(&self) -> Value {
        let mut spec = self.spec.clone();
        spec["title"] = self.title.clone().into();
        if spec["width"] == "container" {
            spec["width"] = WIDTH.into();
        }
        if self.caption.is_empty()
            && let Some(spec) = spec.as_object_mut()
        {
            spec.remove("description");
        }
        spec["datasets"] = self.data.iter().map(|data| (data.name.to_string(), data.records())).collect();
        colour::in_light(&mut spec);
        spec
    }

    /// The input of the script of the page.
    pub(crate) fn json(&self) -> Value {
        let tables: Vec<Value> = self.data.iter().map(DataSet::json).collect();
        json!({ "id": self.id, "spec": self.spec, "tables": tables })
    }
}

impl DataSet {
    pub(crate) fn new(
        name: &'static str,
        columns: impl IntoIterator<Item = impl Into<String>>,
        groups: Vec<Group>,
    ) -> Self {
        Self { name, columns: columns.into_iter().map(Into::into).collect(), groups }
    }

    /// The input of the script of the page: numbers with six significant digits.
    pub(crate) fn json(&self) -> Value {
        let groups = self.groups.iter().map(|group| {
            let numbers = group.numbers.iter().map(|column| column.iter().copied().map(number).collect::<Vec<_>>());
            json!({ "texts": group.texts, "numbers": numbers.collect::<Vec<_>>() })
        });
        json!({ "name": self.name, "columns": self.columns, "groups": groups.collect::<Vec<_>>() })
    }

    /// An object per row, with all digits.
    fn records(&self) -> Value {
        let mut records = Vec::new();
        for group in &self.groups {
            for row in 0..group.numbers.first().map_or(0, Vec::len) {
                let texts = group.texts.iter().map(|text| Value::from(text.as_str()));
                let numbers = group.numbers.iter().map(|column| Value::from(column[row]));
                let cells = self.columns.iter().cloned().zip(texts.chain(numbers));
                records.push(Value::Object(cells.collect::<Map<_, _>>()));
            }
        }
        records.into()
    }

    /// Whether there is nothing in it.
    pub(crate) fn is_empty(&self) -> bool {
        self.groups.iter().all(|group| group.numbers.first().is_none_or(Vec::is_empty))
    }
}

/// A layer that draws nothing outside the axes. Points are whole at an edge.
fn clipped(mut layer: Value) -> Value {
    let mark = &mut layer["mark"];
    if mark.is_string() {
        *mark = json!({ "type": mark });
    }
    if !["point", "text"].iter().any(|kind| mark["type"] == *kind) {
        mark["clip"] = true.into();
    }
    layer
}

/// Plots in rows of `columns`, as one specification.
#[must_use]
pub fn panels(plots: &[Plot], columns: usize) -> Value {
    let mut datasets = Map::new();
    let each: Vec<Value> = plots
        .iter()
        .enumerate()
        .map(|(index, plot)| {
            let mut spec = plot.specification();
            // Data sets of all plots share one name space.
            rename_data(&mut spec, &format!("-{}", index + 1));
            if let Some(Value::Object(own)) = spec.as_object_mut().and_then(|spec| spec.remove("datasets")) {
                datasets.extend(own.into_iter().map(|(name, rows)| (format!("{name}-{}", index + 1), rows)));
            }
            spec
        })
        .collect();
    json!({
        "concat": each,
        "columns": columns,
        "datasets": datasets,
        "resolve": { "scale": { "color": "independent", "strokeDash": "independent" } },
    })
}

/// A specification as a file of its own: with its schema, and in the style of the reports.
#[must_use]
pub fn document(mut specification: Value) -> Value {
    specification["$schema"] = SCHEMA.into();
    specification["config"] = config();
    specification["config"]["background"] = "white".into();
    colour::in_light(&mut specification);
    specification
}

/// Fonts, axes and legends of the reports; colours are variables of their style sheet.
pub(crate) fn config() -> Value {
    let words = json!({
        "labelColor": "var(--muted)", "titleColor": "var(--text)",
        "labelFontSize": 11, "titleFontSize": 12, "titleFontWeight": 500,
    });
    let with = |more: Value| {
        let parts = [&words, &more].into_iter().filter_map(Value::as_object).flatten();
        Value::Object(parts.map(|(key, value)| (key.clone(), value.clone())).collect())
    };
    json!({
        "background": "transparent",
        "font": "system-ui, \"Segoe UI\", Roboto, \"Helvetica Neue\", \"DejaVu Sans\", sans-serif",
        "view": { "stroke": null },
        "axis": with(json!({
            "gridColor": "var(--grid)", "domainColor": "var(--muted)", "tickColor": "var(--muted)",
            "tickCount": 5, "titlePadding": 6,
        })),
        "legend": with(json!({ "labelColor": "var(--text)", "symbolStrokeWidth": 2, "rowPadding": 1 })),
    })
}

/// Appends `ending` to the names of all data sets that a specification refers to.
fn rename_data(spec: &mut Value, ending: &str) {
    match spec {
        Value::Object(map) => {
            for (key, value) in map {
                match value.get_mut("name") {
                    Some(Value::String(name)) if key == "data" => name.push_str(ending),
                    _ => rename_data(value, ending),
                }
            }
        }
        Value::Array(all) => all.iter_mut().for_each(|one| rename_data(one, ending)),
        _ => {}
    }
}

/// The version of Vega-Lite that the specifications are written in.
pub(crate) const SCHEMA: &str = "https://vega.github.io/schema/vega-lite/v6.json";
/// Pixels of a plot that fills its column on a page, where it stands alone.
const WIDTH: u32 = 400;

/// Colour, dash or another channel that follows the texts of a column, with the legend above the plot. A single text needs none.
pub(crate) fn by_text(field: &str, texts: &[String], range: &[Value]) -> Value {
    // As many in a row as the narrowest plot has room for: the rest would be cut off.
    let longest = texts.iter().map(|text| text.chars().count()).max().unwrap_or(0);
    let columns = (LEGEND / (SYMBOL + LETTER * longest.min(LONGEST))).clamp(1, 4);
    let legend = if texts.len() > 1 {
        json!({ "orient": "top", "title": null, "columns": columns, "labelLimit": LETTER * LONGEST, "symbolType": "stroke", "symbolSize": 500 })
    } else {
        Value::Null
    };
    json!({ "field": field, "type": "nominal", "scale": { "domain": texts, "range": range }, "legend": legend })
}

/// Pixels of the legend of the narrowest plot, of the symbol of an entry with its spaces, and of a letter; letters of an entry.
const LEGEND: usize = 300;
const SYMBOL: usize = 44;
const LETTER: usize = 7;
const LONGEST: usize = 36;

/// A number with six significant digits: finer than any screen, and a third of the bytes.
pub(crate) fn number(value: f64) -> Value {
    let rounded = format!("{value:.5e}").parse::<f64>().unwrap_or(f64::NAN);
    // Whole numbers are written without a fraction.
    if rounded.fract() == 0.0 && rounded.abs() < 9e15 { Value::from(rounded as i64) } else { Value::from(rounded) }
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
}
