//! Sweeps: which contender is best over each pair of keys, and the measure over them.
//!
//! Nothing is averaged over keys: the ones that are not on the axes of a map are fixed, with a map for each of their settings.

mod maps;

use std::collections::BTreeMap;

use cwnd_lab::sweep::{Axis as Key, Place, PointResult, Ranked, Ranking, Sweep};
use cwnd_run::measure::Measure;
use cwnd_run::measure::digits::whiskers;
use cwnd_text::capitalised;
use serde_json::{Value, json};

use super::axis::Axis;
use super::colour::{self, Palette};
use super::names;
use super::spec::{DataSet, Group, Plot, by_text, number};
use crate::table;

/// The common properties of the plots of a sweep.
pub(crate) struct SweepFrame<'a> {
    sweep: &'a Sweep,
    points: &'a [PointResult],
    ranking: &'a Ranking,
    pub(crate) palette: Palette,
    /// The contenders as plots show them.
    names: Vec<String>,
    /// The points by their setting of [`Ranking::axes`].
    places: BTreeMap<Vec<usize>, Vec<Ranked>>,
    /// The least and the largest end of an interval.
    ends: (f64, f64),
}

/// The plots of a sweep.
#[derive(Default)]
pub(crate) struct SweepPlots {
    /// Which contender is best; none without contenders, or over fewer than two keys.
    pub(crate) best: Vec<Plot>,
    /// The measure itself.
    pub(crate) values: Vec<Plot>,
    /// The omissions of the plot, a sentence each.
    pub(crate) left_out: Vec<String>,
}

impl<'a> SweepFrame<'a> {
    pub(crate) fn of(sweep: &'a Sweep, points: &'a [PointResult], ranking: &'a Ranking) -> Self {
        let contenders = ranking.contender.map(|key| &ranking.keys[key]);
        let labels = || contenders.into_iter().flat_map(|key| key.values.iter().map(|value| value.label.as_str()));
        let mut places: BTreeMap<Vec<usize>, Vec<Ranked>> = BTreeMap::new();
        for Place { at, ranked } in &ranking.settings {
            if contenders.is_some() {
                places.insert(at.clone(), ranked.clone());
                continue;
            }
            for one in ranked {
                let of = |axis: &usize| ranking.keys[*axis].place(sweep, points[one.point].point);
                // Points that are the same have one place, and equal values.
                places.entry(ranking.axes.iter().map(of).collect()).or_insert_with(|| vec![*one]);
            }
        }
        let estimates = || places.values().flatten().filter_map(|one| one.estimate);
        let low = estimates().map(|estimate| estimate.low).fold(f64::INFINITY, f64::min);
        let high = estimates().map(|estimate| estimate.high).fold(f64::NEG_INFINITY, f64::max);
        let names = table::short(labels(), NAME);
        Self { sweep, points, ranking, palette: Palette::new(labels()), names, places, ends: (low, high) }
    }

    pub(crate) fn plots(&self) -> SweepPlots {
        let mut plots = SweepPlots::default();
        if self.ends.0 > self.ends.1 {
            return plots;
        }
        match self.ranking.axes.as_slice() {
            [] => plots.values.extend(self.dots()),
            [axis] => plots.values.push(self.line(&self.ranking.keys[*axis])),
            _ => self.maps(&mut plots),
        }
        plots
    }

    /// The place of a point among the contenders.
    pub(crate) fn contender(&self, one: &Ranked) -> usize {
        let key = self.ranking.contender.map(|key| &self.ranking.keys[key]);
        key.map_or(0, |key| key.place(self.sweep, self.points[one.point].point))
    }

    /// The colour of a contender.
    pub(crate) fn colour(&self, contender: usize) -> String {
        let key = self.ranking.contender.and_then(|key| self.ranking.keys[key].values.get(contender));
        key.map_or("var(--link)".to_string(), |value| self.palette.variable(&value.label))
    }

    /// The measure over one key.
    fn line(&self, key: &Key) -> Plot {
        let measure = self.ranking.by.measure();
        let field = column_name(key);
        let numeric = key.is_numeric();
        let mut groups = Vec::new();
        for contender in 0..self.names.len().max(1) {
            for (at, ranked) in &self.places {
                let own = ranked.iter().find(|one| self.contender(one) == contender);
                let Some(estimate) = own.and_then(|one| one.estimate) else { continue };
                let value = &key.values[at[0]];
                let ends = [estimate.mean, estimate.low, estimate.high];
                let numbers = value.number.filter(|_| numeric).into_iter().chain(ends).map(|value| vec![value]);
                let word = (!numeric).then(|| value.label.clone());
                groups.push(Group {
                    texts: [self.series(contender)].into_iter().chain(word).collect(),
                    numbers: numbers.collect(),
                });
            }
        }
        let table = DataSet::new("table", ["series", &field, measure.key, "low", "high"], groups);
        let names: Vec<String> = (0..self.names.len().max(1)).map(|contender| self.series(contender)).collect();
        let colours: Vec<Value> = (0..names.len()).map(|contender| self.colour(contender).into()).collect();
        let dashes: Vec<Value> = (0..names.len()).map(|contender| json!(colour::dash(contender))).collect();
        let (colours, dashes) = (by_text("series", &names, &colours), by_text("series", &names, &dashes));
        let (x, y) = (horizontal(key, &field), self.vertical().channel());
        let mut low = y.clone();
        low["field"] = "low".into();
        let layer = |mark: Value, y: &Value, more: &[(&str, Value)]| {
            let mut encoding = json!({ "x": x, "y": y, "color": colours });
            if !numeric && names.len() > 1 {
                encoding["xOffset"] = json!({ "field": "series", "type": "nominal", "sort": names });
            }
            more.iter().for_each(|(channel, value)| encoding[channel] = value.clone());
            json!({ "mark": mark, "encoding": encoding })
        };
        let high = [("y2", json!({ "field": "high" }))];
        let mut layers = vec![layer(json!({ "type": "rule", "strokeWidth": 1.2 }), &low, &high)];
        if numeric {
            layers.push(layer(json!({ "type": "line", "strokeWidth": 1.5 }), &y, &[("strokeDash", dashes)]));
        }
        layers.push(layer(
            json!({ "type": "point", "filled": true, "size": 45, "opacity": 1, "tooltip": { "content": "data" } }),
            &y,
            &[],
        ));
        let title = format!("{} over {}", capitalised(self.ranking.by.measure().title), key.name);
        self.finish("values-1", &title, 300, &layers, table)
    }

    /// The measure of each contender, where nothing else varies.
    fn dots(&self) -> Option<Plot> {
        let ranked = self.places.values().next().filter(|_| self.ranking.contender.is_some())?;
        let groups: Vec<Group> = ranked
            .iter()
            .filter_map(|one| {
                let estimate = one.estimate?;
                let numbers = [estimate.mean, estimate.low, estimate.high].map(|value| vec![value]).into();
                Some(Group { texts: vec![self.names[self.contender(one)].clone()], numbers })
            })
            .collect();
        let names: Vec<String> = groups.iter().map(|group| group.texts[0].clone()).collect();
        let colours: Vec<String> =
            ranked.iter().filter(|one| one.estimate.is_some()).map(|one| self.colour(self.contender(one))).collect();
        let table = DataSet::new("table", ["series", self.ranking.by.measure().key, "low", "high"], groups);
        let (y, height) = names::axis("series", &names);
        let x = self.vertical().channel();
        let mut low = x.clone();
        low["field"] = "low".into();
        let scale = json!({ "domain": names, "range": colours });
        let colour = json!({ "field": "series", "type": "nominal", "scale": scale, "legend": null });
        let layers = [
            json!({ "mark": { "type": "rule", "strokeWidth": 1.4 },
                "encoding": { "x": low, "x2": { "field": "high" }, "y": y, "color": colour } }),
            json!({ "mark": { "type": "point", "filled": true, "size": 70, "opacity": 1, "tooltip": { "content": "data" } },
                "encoding": { "x": x, "y": y, "color": colour } }),
        ];
        Some(self.finish("values-1", &capitalised(self.ranking.by.measure().title), height.max(180), &layers, table))
    }

    fn finish(&self, id: &str, title: &str, height: u32, layers: &[Value], table: DataSet) -> Plot {
        let seeds = self.places.values().flatten().filter_map(|one| one.estimate).map(|estimate| estimate.n).max();
        let better = self.ranking.by.direction();
        let measure = capitalised(&self.measure());
        let caption = format!("{measure}, mean over seeds; {better} is better. {}", whiskers(seeds.unwrap_or(0)));
        Plot::new(id.to_string(), (title, "a sweep", &caption), ("container".into(), height), layers, vec![table])
    }

    /// The name of a line: that of its contender.
    fn series(&self, contender: usize) -> String {
        self.names.get(contender).cloned().unwrap_or_else(|| self.ranking.by.measure().title.to_string())
    }

    fn contender_name(&self) -> &str {
        self.ranking.contender.map_or("point", |key| self.ranking.keys[key].name.as_str())
    }

    /// The measure with its unit.
    fn measure(&self) -> String {
        let Measure { title, scale, .. } = self.ranking.by.measure();
        if scale.unit().is_empty() { (*title).to_string() } else { format!("{title} in {}", scale.unit()) }
    }

    /// The axis of the measure, with room around all intervals.
    fn vertical(&self) -> Axis {
        let (low, high) = self.ends;
        let beyond = (0.06 * (high - low)).max(0.01 * high.abs()).max(1e-9);
        Axis::of_column(self.ranking.by.measure().key).within((low - beyond).max(0.0), high + beyond)
    }
}

/// The horizontal axis of a line plot: by powers of ten where the values are far apart.
fn horizontal(key: &Key, field: &str) -> Value {
    let numbers: Vec<f64> = key.values.iter().filter_map(|value| value.number).collect();
    let (Some(low), Some(high), true) = (numbers.first(), numbers.last(), key.is_numeric()) else {
        let labels: Vec<&str> = key.values.iter().map(|value| value.label.as_str()).collect();
        let crowded = labels.iter().map(|label| label.chars().count()).max().unwrap_or(0) * labels.len() > CHARACTERS;
        return json!({
            "field": field, "type": "nominal", "title": key.title(), "sort": null, "scale": { "domain": labels },
            "axis": { "labelAngle": if crowded { -40 } else { 0 }, "labelOverlap": "greedy", "labelLimit": 130 },
        });
    };
    let scale = if *low > 0.0 && high / low >= 8.0 {
        json!({ "type": "log", "domain": [number(low / 1.15), number(high * 1.15)], "nice": false })
    } else {
        let beyond = 0.04 * (high - low);
        json!({ "domain": [number(low - beyond), number(high + beyond)], "zero": false, "nice": false })
    };
    let mut axis = json!({ "labelOverlap": "greedy", "format": "~g" });
    if numbers.len() <= 12 {
        axis["values"] = numbers.into();
    }
    json!({ "field": field, "type": "quantitative", "title": key.title(), "scale": scale, "axis": axis })
}

/// The name of a key's column: its name and its unit, without what Vega takes for a path.
fn column_name(key: &Key) -> String {
    let words = format!("{} {}", key.name, key.unit);
    let plain: String = words.trim_end().chars().map(|c| if c.is_alphanumeric() { c } else { '_' }).collect();
    plain
}

/// Characters of the name of a contender.
const NAME: usize = 22;
/// Characters that fit side by side below a plot.
const CHARACTERS: usize = 44;
