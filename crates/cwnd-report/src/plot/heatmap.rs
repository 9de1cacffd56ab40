//! Means over a grid.

use serde::Deserialize;
use serde_json::{Value, json};

use super::spec::{DataSet, Group, Plot};

/// A measure over two keys, a cell for each pair of their values.
#[derive(Clone, Debug, Deserialize)]
pub struct Heatmap {
    /// The measure with its unit.
    pub title: String,
    /// The key along the horizontal axis.
    pub x: String,
    /// The key along the vertical axis.
    pub y: String,
    /// Its values, from left to right.
    pub across: Vec<String>,
    /// Its values, from the bottom to the top.
    pub down: Vec<String>,
    /// A row for each value of `down`, a number for each of `across`; null for none.
    pub values: Vec<Vec<Option<f64>>>,
    /// The values at the ends of the colours; the least and the largest if not given.
    pub limits: Option<[f64; 2]>,
}

impl Heatmap {
    /// The plot, with the number written into each cell.
    #[must_use]
    pub fn plot(&self, id: impl Into<String>) -> Plot {
        let cells = self.down.iter().zip(&self.values).flat_map(|(y, row)| {
            let known = self.across.iter().zip(row).filter_map(|(x, value)| Some((x, (*value)?)));
            known.map(move |(x, value)| Group {
                texts: vec![x.clone(), y.clone(), short(value)],
                numbers: vec![vec![value]],
            })
        });
        let data = DataSet::new("table", ["x", "y", "shown", "value"], cells.collect());
        let numbers = || self.values.iter().flatten().flatten().copied();
        let [low, high] = self.limits.unwrap_or_else(|| {
            let (low, high) = (numbers().fold(f64::INFINITY, f64::min), numbers().fold(f64::NEG_INFINITY, f64::max));
            if low <= high { [low, high] } else { [0.0, 1.0] }
        });
        let upwards: Vec<&String> = self.down.iter().rev().collect();
        let x = json!({ "field": "x", "type": "nominal", "sort": self.across, "title": self.x, "axis": { "labelAngle": 0 } });
        let y = json!({ "field": "y", "type": "nominal", "sort": upwards, "title": self.y });
        let scale = json!({ "scheme": "viridis", "domain": [low, high] });
        let bright = json!({ "test": { "field": "value", "gte": low + 0.6 * (high - low) }, "value": "var(--text)" });
        let layers: [Value; 2] = [
            json!({ "mark": "rect", "encoding": {
                "x": x, "y": y, "color": { "field": "value", "type": "quantitative", "scale": scale, "title": self.title },
            } }),
            json!({ "mark": { "type": "text", "fontSize": 10 }, "encoding": {
                "x": x, "y": y, "text": { "field": "shown", "type": "nominal" },
                "color": { "condition": bright, "value": "white" },
            } }),
        ];
        let (width, height) = (CELL.0 * self.across.len() as u32, CELL.1 * self.down.len() as u32);
        let size = (width.max(180).into(), height.max(120));
        Plot::new(id.into(), (&self.title, "", ""), size, &layers, vec![data])
    }
}

/// A number with three significant digits.
pub(super) fn short(value: f64) -> String {
    let rounded: f64 = format!("{value:.2e}").parse().unwrap_or(value);
    match rounded.abs() {
        size if size != 0.0 && !(1e-4..1e6).contains(&size) => format!("{rounded:e}"),
        _ => rounded.to_string(),
    }
}

/// Pixels of a cell.
const CELL: (u32, u32) = (60, 36);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_have_their_numbers() {
        let text = r#"{"title": "Share", "x": "rate", "y": "loss", "across": ["5", "10"], "down": ["0", "0.01"],
            "values": [[0.5, null], [0.3333, 0.25]], "limits": null}"#;
        let heatmap: Heatmap = serde_json::from_str(text).expect("a grid");
        let spec = heatmap.plot("share").specification();
        let cells = &spec["datasets"]["table"];
        assert_eq!(cells[0], json!({ "x": "5", "y": "0", "shown": "0.5", "value": 0.5 }));
        assert_eq!((cells.as_array().map(Vec::len), &cells[1]["shown"]), (Some(3), &json!("0.333")));
        assert_eq!(spec["layer"][0]["encoding"]["color"]["scale"]["domain"], json!([0.25, 0.5]));
        assert_eq!((short(1e-7), short(123_456_789.0)), ("1e-7".to_string(), "1.23e8".to_string()));
    }
}
