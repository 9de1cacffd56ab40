//! The size of a figure, and its effect on a specification.

use std::str::FromStr;

use serde_json::{Value, json};

use crate::FigureError;

/// The appearance of a figure.
#[derive(Clone, Debug, Default)]
pub struct Look {
    /// The width of the whole figure; none for that of a column of a paper.
    pub width: Option<Length>,
    /// Its height; none for six tenths of the width, or that of the plot where its rows need it.
    pub height: Option<Length>,
    /// The family of the font; none for one that is installed.
    pub font: Option<String>,
    /// The size of all text; none for 8 pt.
    pub font_size: Option<Length>,
}

/// A length on paper or on a screen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Length {
    /// At 96 to the inch, as CSS and SVG count.
    dots: f64,
    is_pixels: bool,
}

impl Length {
    const fn points(points: f64) -> Self {
        Self { dots: points * DOTS_PER_INCH / 72.0, is_pixels: false }
    }
}

impl FromStr for Length {
    type Err = FigureError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = || FigureError::Length(text.to_string());
        let trimmed = text.trim();
        let end = trimmed.find(|letter: char| letter.is_ascii_alphabetic()).ok_or_else(wrong)?;
        let (number, unit) = trimmed.split_at(end);
        let number: f64 = number.trim().parse().ok().filter(|number: &f64| *number > 0.0).ok_or_else(wrong)?;
        let (_, dots) = UNITS.iter().find(|(known, _)| *known == unit).ok_or_else(wrong)?;
        let length = Self { dots: number * dots, is_pixels: unit == "px" };
        if length.dots.is_finite() { Ok(length) } else { Err(wrong()) }
    }
}

impl Look {
    /// Refuses sizes that are too small or too large, with their flag.
    ///
    /// # Errors
    /// A length is too small or too large to draw in.
    pub fn check(&self) -> Result<(), (&'static str, FigureError)> {
        let range = |flag, length: Option<Length>, low: f64, high: f64, accepted: &'static str| match length {
            Some(length) if !(low..=high).contains(&length.dots) => {
                let unit = if length.is_pixels { "px" } else { "pt" };
                let number = if length.is_pixels { length.dots } else { length.dots * 72.0 / DOTS_PER_INCH };
                Err((flag, FigureError::Range { given: format!("{number:.1}{unit}"), accepted }))
            }
            _ => Ok(()),
        };
        range("--width", self.width, 75.0, 7_560.0, "2cm to 2m (76px to 7559px)")?;
        range("--height", self.height, 56.0, 7_560.0, "1.5cm to 2m (57px to 7559px)")?;
        range("--font-size", self.font_size, 4.0, 80.0, "3pt to 60pt")
    }

    fn width(&self) -> f64 {
        self.width.map_or(COLUMN, |width| width.dots)
    }

    /// The specification in this size; `measure` gives the width of a text in a size.
    pub(crate) fn apply(&self, spec: &Value, family: &str, measure: impl Fn(&str, f64) -> f64) -> Value {
        let size = self.font_size.unwrap_or(Length::points(8.0)).dots;
        let mut spec = spec.clone();
        let natural = (number(&spec["width"]), number(&spec["height"]));
        let width = self.width();
        // A plot of a fixed shape keeps it, and one of many rows the height of each.
        let height = match (self.height, natural) {
            (Some(height), _) => height.dots,
            (None, (Some(wide), Some(high))) => width * (high / wide).max(0.3),
            (None, (None, Some(high))) if high > USUAL_HEIGHT => high * size / PAGE_SIZE,
            (None, _) => width * 0.6,
        };
        spec["width"] = json!(width);
        spec["height"] = json!(height);
        spec["autosize"] = json!({ "type": "fit", "contains": "padding" });
        spec["padding"] = json!(2);
        if let Some(spec) = spec.as_object_mut() {
            spec.remove("title");
        }
        let config = &mut spec["config"];
        config["background"] = "white".into();
        config["font"] = family.into();
        for part in ["axis", "legend", "header"] {
            config[part]["labelFontSize"] = json!(size);
            config[part]["titleFontSize"] = json!(size);
            config[part]["labelFont"] = family.into();
            config[part]["titleFont"] = family.into();
            config[part]["titleFontWeight"] = "normal".into();
        }
        config["axis"]["labelSeparation"] = json!(size * 0.6);
        config["text"] = json!({ "font": family, "fontSize": size });
        config["legend"]["columnPadding"] = json!(size);
        let stretch = Stretch { size, factor: size / PAGE_SIZE, room: width - BESIDE_PLOT * size, measure: &measure };
        stretch.walk(&mut spec);
        spec
    }

    /// The picture with exactly the size that `spec` asks for, in points where `on_paper`, which pixels of a screen are not.
    pub(crate) fn sized(&self, svg: &str, spec: &Value, on_paper: bool) -> String {
        let head = svg.find('>').unwrap_or(0);
        let mut text = svg[..head].to_string();
        for name in ["width", "height"] {
            let key = format!(" {name}=\"");
            let Some(begin) = text.find(&key).map(|at| at + key.len()) else { continue };
            let Some(end) = text[begin..].find('"').map(|length| begin + length) else { continue };
            let dots = number(&spec[name]).unwrap_or(0.0);
            let size = match on_paper && !self.is_in_pixels() {
                true => format!("{:.3}pt", dots * 72.0 / DOTS_PER_INCH),
                false => format!("{dots:.3}"),
            };
            text.replace_range(begin..end, &size);
        }
        text + &svg[head..]
    }

    fn is_in_pixels(&self) -> bool {
        self.width.is_some_and(|width| width.is_pixels)
    }

    /// Pixels of a PNG for each 1/96 inch.
    pub(crate) fn pixels_per_dot(&self) -> f64 {
        if self.is_in_pixels() { 1.0 } else { 300.0 / DOTS_PER_INCH }
    }
}

/// What a specification says in pixels of a page becomes as large as the text.
struct Stretch<'a, M> {
    size: f64,
    factor: f64,
    /// The width of a legend, and of the title of a horizontal axis.
    room: f64,
    measure: &'a M,
}

impl<M: Fn(&str, f64) -> f64> Stretch<'_, M> {
    fn walk(&self, value: &mut Value) {
        match value {
            Value::Object(map) => {
                if let Some(legend) = map.get("legend").filter(|legend| legend.is_object()).cloned() {
                    let names = map.get("scale").and_then(|scale| scale["domain"].as_array()).cloned();
                    map.insert("legend".to_string(), self.legend(legend, &names.unwrap_or_default()));
                }
                for (key, inner) in map.iter_mut() {
                    if key == "x" {
                        self.wrap_title(inner);
                    }
                    match key.as_str() {
                        "datasets" | "values" | "config" => {}
                        "fontSize" | "labelFontSize" | "titleFontSize" if inner.is_number() => {
                            *inner = json!(self.size);
                        }
                        "labelLineHeight" | "lineHeight" if inner.is_number() => {
                            *inner = json!(self.size * 1.15);
                        }
                        _ => self.walk(inner),
                    }
                }
            }
            Value::Array(all) => all.iter_mut().for_each(|one| self.walk(one)),
            _ => {}
        }
    }

    /// Breaks the title of a horizontal axis into lines that have room.
    fn wrap_title(&self, channel: &mut Value) {
        for place in ["/title", "/axis/title"] {
            let Some(title) = channel.pointer_mut(place) else { continue };
            let lines = title.as_str().map(|text| self.lines(text)).unwrap_or_default();
            if lines.len() > 1 {
                *title = json!(lines);
            }
        }
    }

    /// A text in lines that have room, as far as its words do.
    fn lines(&self, text: &str) -> Vec<String> {
        let mut lines: Vec<String> = Vec::new();
        for word in text.split(' ') {
            match lines.last_mut() {
                Some(line) if (self.measure)(&format!("{line} {word}"), self.size) <= self.room => {
                    line.push(' ');
                    line.push_str(word);
                }
                _ => lines.push(word.to_string()),
            }
        }
        lines
    }

    /// A legend with as many columns as there is room for its names.
    fn legend(&self, mut legend: Value, names: &[Value]) -> Value {
        let symbol = (number(&legend["symbolSize"]).unwrap_or(100.0) * self.factor * self.factor).sqrt();
        if legend.get("symbolSize").is_some() {
            legend["symbolSize"] = json!(symbol * symbol);
        }
        let widest =
            names.iter().filter_map(Value::as_str).map(|name| (self.measure)(name, self.size)).fold(0.0, f64::max);
        if widest > 0.0 && legend.get("columns").is_some() {
            let each = widest + symbol + 2.0 * self.size;
            legend["columns"] = json!(((self.room / each).floor() as usize).clamp(1, 4).min(names.len()));
            legend["labelLimit"] = json!((self.room - symbol - self.size).max(10.0));
        }
        legend
    }
}

fn number(value: &Value) -> Option<f64> {
    value.as_f64()
}

/// The vertical axis with its labels and its title, and the margins, in sizes of the text.
const BESIDE_PLOT: f64 = 6.5;

/// Of CSS and SVG.
pub(crate) const DOTS_PER_INCH: f64 = 96.0;
/// 8.5 cm: a column of a paper in two columns.
const COLUMN: f64 = 8.5 / 2.54 * DOTS_PER_INCH;
/// Pixels of text on a page, and the height above which a plot there has rows.
const PAGE_SIZE: f64 = 11.0;
const USUAL_HEIGHT: f64 = 400.0;

const UNITS: [(&str, f64); 5] = [
    ("cm", DOTS_PER_INCH / 2.54),
    ("mm", DOTS_PER_INCH / 25.4),
    ("in", DOTS_PER_INCH),
    ("pt", DOTS_PER_INCH / 72.0),
    ("px", 1.0),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_have_units() {
        let dots = |text: &str| text.parse::<Length>().map(|length| length.dots);
        for (text, expected) in [("2.54cm", 96.0), ("25.4 mm", 96.0), ("1in", 96.0), ("72pt", 96.0), ("400px", 400.0)] {
            assert!((dots(text).expect(text) - expected).abs() < 1e-9, "{text}");
        }
        for text in ["", "8.5", "cm", "-1cm", "0cm", "nancm", "infpt", "1em", "1cm2", "1e400cm"] {
            assert!(dots(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_figure_is_as_wide_as_it_is_to_be_and_its_legend_too() {
        let names = ["a long name of a flow", "another long name of a flow"];
        let legend = json!({ "orient": "top", "columns": 4 });
        let colour = json!({ "scale": { "domain": names }, "legend": legend });
        let spec = json!({ "title": "Window", "width": "container", "height": 210, "layer": [{ "encoding": { "color": colour } }] });
        let look = Look { width: "300px".parse().ok(), ..Look::default() };
        let made = look.apply(&spec, "Font", |text, size| text.len() as f64 * size * 0.5);
        assert_eq!((&made["width"], &made["height"], &made["title"]), (&json!(300.0), &json!(180.0), &Value::Null));
        assert_eq!(made["layer"][0]["encoding"]["color"]["legend"]["columns"], 1);
        let title = "the threshold after a loss over the packets that were sent in the round trip before it";
        let spec = json!({ "encoding": { "x": { "title": title }, "y": { "axis": { "title": title } } } });
        let made = look.apply(&spec, "Font", |text, size| text.len() as f64 * size * 0.5);
        let lines = made["encoding"]["x"]["title"].as_array().expect("several lines");
        assert!(lines.iter().all(|line| line.as_str().is_some_and(|line| line.len() < 50)), "{lines:?}");
        assert_eq!(made["encoding"]["y"]["axis"]["title"], title);
        let square = json!({ "width": 300, "height": 300 });
        assert_eq!(look.apply(&square, "Font", |_, _| 0.0)["height"], 300.0);
    }

    #[test]
    fn what_cannot_be_drawn_is_refused() {
        let refused = |look: Look| look.check().err().map(|(flag, error)| format!("{flag}: {error}"));
        let wide = Look { width: "6m".parse().ok().or("600cm".parse().ok()), ..Look::default() };
        assert_eq!(
            refused(wide).as_deref(),
            Some("--width: cannot be `17007.9pt`: accepted is 2cm to 2m (76px to 7559px)")
        );
        assert_eq!(refused(Look::default()), None);
    }
}
