//! Many flows on common axes: for each algorithm the smallest, the median and the largest value of its flows.

use cwnd_text::counted;
use serde_json::{Value, json};

use super::lines::{Line, Lines};
use super::spec::{DataSet, Group, by_text};

/// The flows of one algorithm, over common instants.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Band {
    name: String,
    colour: String,
    x: Vec<f64>,
    low: Vec<f64>,
    median: Vec<f64>,
    high: Vec<f64>,
}

impl Band {
    /// The flows called `name`, each a curve on its own ascending instants, in `columns` pieces of the time from 0 to `end`. A value holds
    /// until the next; outside of its instants a curve does not exist. None where no curve has a value.
    pub(crate) fn of_curves(
        name: &str,
        colour: String,
        curves: &[(Vec<f64>, Vec<f64>)],
        (end, pieces): (f64, usize),
    ) -> Option<Self> {
        let begin = |piece: usize| end * piece as f64 / pieces as f64;
        let mut band = Self::empty(name, curves.len(), colour);
        // The first instant of each curve that lies behind the pieces so far.
        let mut next = vec![0; curves.len()];
        for piece in 0..pieces {
            let (mut all, mut last) = (Vec::new(), Vec::new());
            for ((x, y), next) in curves.iter().zip(&mut next) {
                let is_last = piece + 1 == pieces;
                let until = if is_last { x.len() } else { x.partition_point(|at| *at < begin(piece + 1)) };
                let is_over = *next == x.len();
                let held = if is_over { *next } else { next.saturating_sub(1) };
                let own = all.len();
                all.extend(y[held..until].iter().copied().filter(|value| value.is_finite()));
                last.extend(all[own..].last());
                *next = until;
            }
            band.push(begin(piece), all.into_iter(), last);
        }
        band.median.iter().any(|value| value.is_finite()).then_some(band)
    }

    /// The largest value.
    pub(crate) fn largest(&self) -> f64 {
        self.high.iter().copied().filter(|value| value.is_finite()).fold(0.0, f64::max)
    }

    fn empty(name: &str, flows: usize, colour: String) -> Self {
        let name = format!("{name}, {}", counted(flows, "flow"));
        Self { name, colour, x: Vec::new(), low: Vec::new(), median: Vec::new(), high: Vec::new() }
    }

    /// Adds a piece with all its values, and one of each flow, whose median is taken.
    fn push(&mut self, at: f64, values: impl Iterator<Item = f64>, mut there: Vec<f64>) {
        let (low, high) =
            values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
        there.sort_unstable_by(f64::total_cmp);
        let known = |value: f64| if value.is_finite() { value } else { f64::NAN };
        self.x.push(at);
        self.low.push(known(low));
        self.median.push(there.get(there.len() / 2).copied().unwrap_or(f64::NAN));
        self.high.push(known(high));
    }

    /// The flows of `algorithm`, whose lines have their instants in common, at no more than `columns` instants.
    pub(crate) fn of(algorithm: &str, colour: String, lines: &[Line], columns: usize) -> Option<Self> {
        let x = &lines.first()?.x;
        let mut band = Self::empty(algorithm, lines.len(), colour);
        let step = x.len().div_ceil(columns.max(1)).max(1);
        for from in (0..x.len()).step_by(step) {
            let until = (from + step).min(x.len());
            let within = lines.iter().flat_map(|line| line.y.get(from..until).into_iter().flatten());
            let there = lines.iter().filter_map(|line| line.y.get(from).copied()).filter(|value| value.is_finite());
            band.push(x[from], within.copied().filter(|value| value.is_finite()), there.collect());
        }
        Some(band)
    }
}

/// The layers of bands, and their data: shade, rules and axes are those of `lines`.
pub(crate) fn layers(lines: &Lines, bands: &[Band]) -> (Vec<Value>, DataSet) {
    let names: Vec<String> = bands.iter().map(|band| band.name.clone()).collect();
    let colours: Vec<Value> = bands.iter().map(|band| band.colour.clone().into()).collect();
    let mut colour = by_text("flow", &names, &colours);
    if names.len() > 1 {
        colour["legend"]["symbolOpacity"] = 1.into();
    }
    let (x, y) = (lines.x.channel(), lines.y.channel());
    let drawn = [
        json!({
            "mark": { "type": "area", "opacity": 0.22 },
            "encoding": { "x": x, "y": lines.y.channel_of("low"), "y2": { "field": "high" }, "color": colour },
        }),
        json!({
            "mark": { "type": "line", "strokeWidth": 1.6, "strokeJoin": "round" },
            "encoding": { "x": x, "y": y, "color": colour },
        }),
    ];
    // Around them what surrounds lines.
    let empty = Lines { lines: Vec::new(), ..lines.clone() };
    let around = empty.layers();
    let at = usize::from(lines.warmup > 0.0);
    let layers = around[..at].iter().cloned().chain(drawn).chain(around[at + 1..].iter().cloned()).collect();
    let groups = bands.iter().map(|band| Group {
        texts: vec![band.name.clone()],
        numbers: vec![band.x.clone(), band.low.clone(), band.high.clone(), band.median.clone()],
    });
    (layers, DataSet::new("table", ["flow", &lines.x.field, "low", "high", &lines.y.field], groups.collect()))
}

/// The text of a caption about bands.
pub(crate) const CAPTION: &str = " Bands: smallest to largest of the flows of an algorithm. Lines: their median.";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curves_with_instants_of_their_own_are_one_band() {
        let curves = [
            (vec![0.0, 0.5, 1.0, 3.9], vec![1.0, 9.0, 2.0, 3.0]),
            (vec![1.5, 2.5], vec![4.0, 8.0]),
            (vec![0.0, 4.0], vec![f64::NAN; 2]),
        ];
        let band = Band::of_curves("a: reno", String::new(), &curves, (4.0, 4)).expect("there are values");
        assert_eq!((band.name.as_str(), band.largest()), ("a: reno, 3 flows", 9.0));
        assert_eq!(band.x, [0.0, 1.0, 2.0, 3.0]);
        // The spike at 0.5 s is kept, and holds into the next piece, which it does not end.
        assert_eq!((&band.low[..], &band.high[..]), (&[1.0, 2.0, 2.0, 2.0][..], &[9.0, 9.0, 8.0, 3.0][..]));
        assert_eq!(band.median, [9.0, 4.0, 8.0, 3.0]);
        assert_eq!(Band::of_curves("a", String::new(), &curves[2..], (4.0, 4)), None);
    }

    #[test]
    fn a_band_has_all_flows_and_gaps_where_there_is_none() {
        let line = |y: &[f64]| Line {
            name: String::new(),
            colour: String::new(),
            dash: &[],
            x: vec![0.0, 1.0, 2.0, 3.0],
            y: y.to_vec(),
        };
        let lines =
            [line(&[1.0, 5.0, f64::NAN, f64::NAN]), line(&[2.0, 9.0, 3.0, f64::NAN]), line(&[4.0, 0.0, 7.0, f64::NAN])];
        let band = Band::of("reno", String::new(), &lines, 4).expect("lines");
        assert_eq!(
            (band.name.as_str(), &band.low[..3], &band.high[..3]),
            ("reno, 3 flows", &[1.0, 0.0, 3.0][..], &[4.0, 9.0, 7.0][..])
        );
        assert_eq!(band.median[..3], [2.0, 5.0, 7.0]);
        assert!(band.low[3].is_nan() && band.median[3].is_nan());
        let half = Band::of("reno", String::new(), &lines, 2).expect("lines");
        assert_eq!((half.x, half.low, half.high), (vec![0.0, 2.0], vec![0.0, 3.0], vec![9.0, 7.0]));
    }
}
