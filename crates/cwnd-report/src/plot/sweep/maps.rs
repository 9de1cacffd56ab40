//! Maps over two keys of a sweep: of the best contender, and of the measure.

use std::collections::BTreeMap;

use cwnd_lab::sweep::{Axis as Key, Ranked};
use cwnd_text::capitalised;
use serde_json::{Value, json};

use super::{CHARACTERS, SweepFrame, SweepPlots};
use crate::plot::heatmap::short;
use crate::plot::spec::{DataSet, Group, Plot, number};

/// Two keys and, for each setting of the others, its cells.
struct Pair<'a> {
    x: &'a Key,
    y: &'a Key,
    panels: Vec<Panel<'a>>,
}

/// A map: the setting of the other keys in words, and the points at each place on the axes.
struct Panel<'a> {
    fixed: String,
    cells: Vec<(usize, usize, &'a [Ranked])>,
}

impl SweepFrame<'_> {
    /// Maps of every pair of keys, those of fewest maps first.
    pub(super) fn maps(&self, plots: &mut SweepPlots) {
        let axes = &self.ranking.axes;
        let mut pairs: Vec<Pair<'_>> = (0..axes.len())
            .flat_map(|first| (first + 1..axes.len()).map(move |second| (first, second)))
            .map(|(first, second)| self.pair(first, second))
            .collect();
        pairs.sort_by_key(|pair| pair.panels.len());
        let all: usize = pairs.iter().map(|pair| pair.panels.len()).sum();
        let of_pairs = pairs.iter().flat_map(|pair| pair.panels.iter().map(move |panel| (pair, panel)));
        let drawn: Vec<(&Pair<'_>, &Panel<'_>)> = of_pairs.take(MOST_MAPS).collect();
        if all > drawn.len() {
            plots.left_out.push(format!(
                "{} of {all} maps are drawn, those of the pairs of keys with the fewest settings of the others first; the table has every point.",
                drawn.len()
            ));
        }
        if self.ranking.contender.is_none() {
            let maps = drawn.iter().enumerate();
            plots.values = maps.map(|(nth, (pair, panel))| self.values(nth, pair, panel, None)).collect();
            return;
        }
        plots.best = drawn.iter().enumerate().map(|(nth, (pair, panel))| self.winners(nth, pair, panel)).collect();
        // The measure itself once: over the pair of keys that needs the fewest maps for it.
        let Some(pair) = pairs.first() else { return };
        let each = pair.panels.iter().flat_map(|panel| (0..self.names.len()).map(move |contender| (panel, contender)));
        let count = pair.panels.len() * self.names.len();
        plots.values = each
            .take(MOST_MAPS)
            .enumerate()
            .map(|(nth, (panel, contender))| self.values(nth, pair, panel, Some(contender)))
            .collect();
        if count > plots.values.len() {
            let drawn = plots.values.len();
            plots.left_out.push(format!("{drawn} of {count} maps of values are drawn; the table has every point."));
        }
    }

    fn pair(&self, first: usize, second: usize) -> Pair<'_> {
        let key = |nth: usize| &self.ranking.keys[self.ranking.axes[nth]];
        // Numbers and the longer list lie along the horizontal axis, which has more room.
        let wide = |nth: usize| (key(nth).is_numeric(), key(nth).values.len());
        let (across, down) = if wide(second) > wide(first) { (second, first) } else { (first, second) };
        let mut panels: BTreeMap<Vec<usize>, Panel<'_>> = BTreeMap::new();
        for (at, ranked) in &self.places {
            let others: Vec<usize> = (0..at.len()).filter(|nth| *nth != first && *nth != second).collect();
            let fixed = || {
                let words = others.iter().map(|nth| {
                    let (key, value) = (key(*nth), &key(*nth).values[at[*nth]].label);
                    format!("{} {value} {}", key.name, key.unit).trim_end().to_string()
                });
                words.collect::<Vec<_>>().join(", ")
            };
            let panel = panels.entry(others.iter().map(|nth| at[*nth]).collect());
            let panel = panel.or_insert_with(|| Panel { fixed: fixed(), cells: Vec::new() });
            panel.cells.push((at[across], at[down], ranked));
        }
        Pair { x: key(across), y: key(down), panels: panels.into_values().collect() }
    }

    /// The contender of the best mean in each cell, coloured where it alone has the first place.
    fn winners(&self, nth: usize, pair: &Pair<'_>, panel: &Panel<'_>) -> Plot {
        let mut alone: Vec<usize> = Vec::new();
        let mut shared = false;
        let mut groups = Vec::new();
        for (x, y, ranked) in &panel.cells {
            let Some((best, estimate)) = ranked.first().and_then(|one| Some((one, one.estimate?))) else { continue };
            let firsts: Vec<&str> = ranked
                .iter()
                .filter(|one| one.rank == Some(1))
                .map(|one| self.names[self.contender(one)].as_str())
                .collect();
            let contender = self.contender(best);
            let (drawn, note) = match best.rank {
                None => ("no other value", "no other".to_string()),
                Some(_) if best.tied => ("tied", format!("{} tied", firsts.len())),
                Some(_) => (self.names[contender].as_str(), "alone".to_string()),
            };
            if best.rank.is_some() && !best.tied && !alone.contains(&contender) {
                alone.push(contender);
            }
            shared |= best.tied;
            let names = [self.names[contender].as_str(), drawn, &note].map(String::from);
            let ends = [estimate.mean, estimate.low, estimate.high].map(|value| vec![value]);
            groups.push(Group {
                texts: [pair.x.values[*x].label.clone(), pair.y.values[*y].label.clone()]
                    .into_iter()
                    .chain(names)
                    .collect(),
                numbers: ends.into(),
            });
        }
        alone.sort_unstable();
        let mut domain: Vec<String> = alone.iter().map(|contender| self.names[*contender].clone()).collect();
        let mut range: Vec<String> = alone.iter().map(|contender| self.colour(*contender)).collect();
        if shared {
            domain.push("tied".to_string());
            range.push("var(--grid)".to_string());
        }
        let key = self.ranking.by.measure().key;
        let table = DataSet::new("table", ["x", "y", "best", "first_place", "shared_by", key, "low", "high"], groups);
        let map = Map::of(pair);
        let legend =
            json!({ "orient": "top", "title": null, "columns": 4, "symbolType": "square", "symbolStrokeWidth": 0 });
        let scale = json!({ "domain": domain, "range": range });
        let colour = json!({ "field": "first_place", "type": "nominal", "scale": scale, "legend": legend });
        let opacity = if map.labelled { 0.45 } else { 0.9 };
        let mut layers = vec![map.layer(
            &json!({ "type": "rect", "opacity": opacity, "tooltip": { "content": "data" } }),
            [("color", colour)],
        )];
        if map.labelled {
            let text = |dy: i32, size: u32| json!({ "type": "text", "dy": dy, "fontSize": size, "color": "var(--text)", "limit": map.limit() });
            layers.push(map.layer(&text(-6, 11), [("text", json!({ "field": "best", "type": "nominal" }))]));
            layers.push(map.layer(&text(8, 9), [("text", json!({ "field": "shared_by", "type": "nominal" }))]));
        }
        let better = self.ranking.by.direction();
        let caption = format!(
            "The {} with the best {} ({better} is better) in each cell, in its colour where it alone has the first place; grey where \
             intervals overlap, or fewer than 3 seeds were run.",
            self.contender_name(),
            self.ranking.by.measure().title
        );
        map.plot(format!("best-{}", nth + 1), &panel.title(pair), &caption, &layers, table)
    }

    /// The measure in each cell: of a contender, or of the points themselves with a frame around the best.
    fn values(&self, nth: usize, pair: &Pair<'_>, panel: &Panel<'_>, contender: Option<usize>) -> Plot {
        let measure = self.ranking.by.measure();
        let (key, scale) = (measure.key, measure.scale.factor());
        let own = |ranked: &&[Ranked]| {
            ranked.iter().find(|one| contender.is_none_or(|own| self.contender(one) == own)).copied()
        };
        let groups = panel.cells.iter().filter_map(|(x, y, ranked)| {
            let one = own(ranked)?;
            let estimate = one.estimate?;
            let rank = one.rank.map_or(f64::NAN, |rank| rank as f64);
            Some(Group {
                texts: vec![
                    pair.x.values[*x].label.clone(),
                    pair.y.values[*y].label.clone(),
                    short(estimate.mean * scale),
                ],
                numbers: [estimate.mean, estimate.low, estimate.high, rank].map(|value| vec![value]).into(),
            })
        });
        let table = DataSet::new("table", ["x", "y", "shown", key, "low", "high", "rank"], groups.collect());
        let map = Map::of(pair);
        let means = || self.places.values().flatten().filter_map(|one| Some(one.estimate?.mean));
        let (low, high) = (means().fold(f64::INFINITY, f64::min), means().fold(f64::NEG_INFINITY, f64::max));
        let log = low > 0.0 && high > 20.0 * low;
        // A scale needs two ends.
        let (low, high) =
            if low < high { (low, high) } else { (low - 0.5 * low.abs() - 1e-9, high + 0.5 * high.abs() + 1e-9) };
        let from_dark = if log { low * libm::pow(high / low, 0.6) } else { low + 0.6 * (high - low) };
        let domain = [number(low), number(high)];
        let kind = if log { "log" } else { "linear" };
        let labels = format!("format(datum.value * {scale}, '.3~g')");
        let middle = if log { libm::sqrt(low * high) } else { 0.5 * (low + high) };
        let colour = json!({
            "field": key, "type": "quantitative",
            "scale": { "type": kind, "scheme": "viridis", "domain": domain },
            "legend": { "orient": "top", "title": null, "gradientLength": 180, "gradientThickness": 8, "labelExpr": labels, "values": [number(low), number(middle), number(high)] },
        });
        let mut layers =
            vec![map.layer(&json!({ "type": "rect", "tooltip": { "content": "data" } }), [("color", colour)])];
        if map.labelled {
            let bright = json!({ "test": { "field": key, "gte": from_dark }, "value": "#16191d" });
            let text = json!({ "type": "text", "fontSize": 11, "limit": map.limit() });
            let shown = json!({ "field": "shown", "type": "nominal" });
            layers
                .push(map.layer(&text, [("text", shown), ("color", json!({ "condition": bright, "value": "white" }))]));
        }
        let mut caption = format!(
            "{}, mean over seeds; {} is better; all maps in the same colours{}. ",
            capitalised(&self.measure()),
            self.ranking.by.direction(),
            if log { ", by powers of ten" } else { "" }
        );
        if contender.is_none() {
            let mut frame = map
                .layer(&json!({ "type": "rect", "fillOpacity": 0, "stroke": "var(--drop)", "strokeWidth": 2.5 }), []);
            frame["transform"] = json!([{ "filter": "datum.rank === 1" }]);
            layers.push(frame);
            caption.push_str("Framed: the best point, or those that share the first place. ");
        }
        if table.groups.len() < pair.x.values.len() * pair.y.values.len() {
            caption.push_str("An empty cell has no value.");
        }
        let title = match contender {
            Some(own) if panel.fixed.is_empty() => self.names[own].clone(),
            Some(own) => format!("{}, {}", self.names[own], panel.fixed),
            None => panel.title(pair),
        };
        map.plot(format!("values-{}", nth + 1), &title, caption.trim_end(), &layers, table)
    }
}

impl Panel<'_> {
    fn title(&self, pair: &Pair<'_>) -> String {
        let keys = format!("{} by {}", pair.y.name, pair.x.name);
        if self.fixed.is_empty() { keys } else { format!("{keys}, {}", self.fixed) }
    }
}

/// The axes of a map.
struct Map {
    x: Value,
    y: Value,
    size: (usize, usize),
    /// Whether its cells have room for words.
    labelled: bool,
}

impl Map {
    fn of(pair: &Pair<'_>) -> Self {
        let size = (pair.x.values.len(), pair.y.values.len());
        let channel = |key: &Key, field: &str, upwards: bool| {
            let mut labels: Vec<&str> = key.values.iter().map(|value| value.label.as_str()).collect();
            if upwards && key.is_numeric() {
                labels.reverse();
            }
            let longest = labels.iter().map(|label| label.chars().count()).max().unwrap_or(0);
            let crowded = field == "x" && longest * labels.len() > CHARACTERS;
            let angle = if crowded { -40 } else { 0 };
            json!({
                "field": field, "type": "ordinal", "title": key.title(),
                "sort": null, "scale": { "domain": labels, "padding": if labels.len() > 30 { 0.0 } else { 0.04 } },
                "axis": { "labelAngle": angle, "labelOverlap": "greedy", "labelLimit": 130, "ticks": false, "domain": false },
            })
        };
        let labelled = size.0 <= MOST_LABELLED && size.1 <= MOST_LABELLED;
        Self { x: channel(pair.x, "x", false), y: channel(pair.y, "y", true), size, labelled }
    }

    fn layer<const N: usize>(&self, mark: &Value, more: [(&str, Value); N]) -> Value {
        let mut encoding = json!({ "x": self.x, "y": self.y });
        more.into_iter().for_each(|(channel, value)| encoding[channel] = value);
        json!({ "mark": mark, "encoding": encoding })
    }

    /// The width of a cell, beyond which words are cut.
    fn limit(&self) -> Value {
        json!({ "expr": format!("max(12, width / {} - 4)", self.size.0) })
    }

    fn plot(&self, id: String, title: &str, caption: &str, layers: &[Value], table: DataSet) -> Plot {
        let rows = self.size.1 as u32;
        let row = if self.labelled { (210 / rows).clamp(36, 84) } else { (420 / rows).clamp(3, 24) };
        let size = ("container".into(), (row * rows).clamp(120, 900));
        Plot::new(id, (title, "a sweep", caption), size, layers, vec![table])
    }
}

/// The maximum of each kind, so that the page is drawn in a few seconds.
const MOST_MAPS: usize = 12;
/// Columns or rows of a map whose cells have words in them.
const MOST_LABELLED: usize = 10;
