//! Windows over time, one panel per algorithm, both sides in each, as SVG.

use std::fmt::Write;

use serde::{Deserialize, Serialize};

/// A window over time.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub(crate) struct Series {
    /// Seconds.
    pub(crate) at_s: Vec<f64>,
    pub(crate) packets: Vec<f64>,
}

/// An algorithm: the first flow of each side.
pub(crate) struct Panel<'a> {
    pub(crate) title: String,
    pub(crate) ours: &'a Series,
    pub(crate) theirs: &'a Series,
}

impl Series {
    /// What a plot shows of (seconds, packets): some sawteeth from the end of the warm-up on, to a tenth of a packet.
    pub(crate) fn plotted(points: impl Iterator<Item = (f64, f64)>, from_s: f64) -> Self {
        let shown = points.filter(|(at, packets)| (from_s..=from_s + PLOTTED_S).contains(at) && packets.is_finite());
        let (at_s, packets) = shown.map(|(at, packets)| (at, (packets * 10.0).round() / 10.0)).unzip();
        Self { at_s, packets }
    }
}

/// Draws panels over the time their curves cover. `names` are those of the two sides, theirs first.
pub(crate) fn draw(names: [&str; 2], panels: &[Panel<'_>]) -> String {
    let ends = || panels.iter().flat_map(|panel| [panel.ours, panel.theirs]).flat_map(|series| &series.at_s).copied();
    let (from_s, to_s) = (ends().fold(f64::INFINITY, f64::min), ends().fold(f64::NEG_INFINITY, f64::max));
    let rows = panels.len().div_ceil(COLUMNS);
    let (width, height) = (WIDTH * COLUMNS as f64, HEIGHT * rows as f64 + LEGEND);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" font-size=\"11\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
    );
    for (index, (name, colour)) in names.into_iter().zip([THEIRS, OURS]).enumerate() {
        let x = LEFT + 110.0 * index as f64;
        let _ = writeln!(svg, "<path d=\"M{x} 14h20\" stroke=\"{colour}\" stroke-width=\"2\"/>");
        let _ = writeln!(svg, "<text x=\"{}\" y=\"18\">{name}</text>", x + 26.0);
    }
    for (index, panel) in panels.iter().enumerate() {
        let (x, y) = ((index % COLUMNS) as f64 * WIDTH, (index / COLUMNS) as f64 * HEIGHT + LEGEND);
        let _ = writeln!(svg, "<g transform=\"translate({x} {y})\">");
        panel.draw(&mut svg, from_s, to_s);
        svg.push_str("</g>\n");
    }
    svg.push_str("</svg>\n");
    svg
}

impl Panel<'_> {
    fn draw(&self, svg: &mut String, from_s: f64, to_s: f64) {
        let sides = [(self.theirs, THEIRS), (self.ours, OURS)];
        let highest = sides.iter().flat_map(|(series, _)| &series.packets).copied().fold(1.0, f64::max);
        let step = nice_step(highest);
        let top = (highest / step).ceil() * step;
        let (right, bottom) = (WIDTH - RIGHT, HEIGHT - BOTTOM);
        let x = |at: f64| LEFT + (at - from_s) / (to_s - from_s) * (right - LEFT);
        let y = |window: f64| bottom - window / top * (bottom - TOP);

        let _ = writeln!(svg, "<text x=\"{LEFT}\" y=\"{}\" font-weight=\"bold\">{}</text>", TOP - 6.0, self.title);
        let mut tick = 0.0;
        while tick <= top {
            let at = y(tick);
            let _ = writeln!(svg, "<path d=\"M{LEFT} {at:.1}H{right}\" stroke=\"#ddd\"/>");
            let _ = writeln!(svg, "<text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{tick}</text>", LEFT - 5.0, at + 4.0);
            tick += step;
        }
        let step = nice_step(to_s - from_s);
        let mut tick = (from_s / step).ceil() * step;
        while tick <= to_s {
            let (at, below) = (x(tick), bottom + 15.0);
            let _ = writeln!(svg, "<text x=\"{at:.1}\" y=\"{below}\" text-anchor=\"middle\">{tick} s</text>");
            tick += step;
        }
        for (series, colour) in sides {
            let mut path = String::new();
            for (at, window) in series.at_s.iter().zip(&series.packets) {
                let command = if path.is_empty() { 'M' } else { 'L' };
                let _ = write!(path, "{command}{:.1} {:.1}", x(*at), y(*window));
            }
            let _ = writeln!(svg, "<path d=\"{path}\" fill=\"none\" stroke=\"{colour}\"/>");
        }
    }
}

/// A step of 1, 2 or 5 times a power of ten that divides `range` into three to eight parts.
fn nice_step(range: f64) -> f64 {
    let power = 10.0_f64.powf((range / 4.0).log10().floor());
    let ratio = range / 4.0 / power;
    power
        * if ratio < 1.5 {
            1.0
        } else if ratio < 3.5 {
            2.0
        } else if ratio < 7.5 {
            5.0
        } else {
            10.0
        }
}

/// Long enough for a few sawteeth of every algorithm.
const PLOTTED_S: f64 = 60.0;
const COLUMNS: usize = 2;
/// A panel and the margins in it, pixels.
const WIDTH: f64 = 420.0;
const HEIGHT: f64 = 210.0;
const LEFT: f64 = 45.0;
const RIGHT: f64 = 15.0;
const TOP: f64 = 24.0;
const BOTTOM: f64 = 26.0;
const LEGEND: f64 = 26.0;
/// Dark and light enough to be told apart without colour.
const OURS: &str = "#1a5fb4";
const THEIRS: &str = "#e5a50a";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_round_and_few() {
        for (range, step) in [(60.0, 20.0), (80.0, 20.0), (430.0, 100.0), (1.0, 0.2), (9000.0, 2000.0)] {
            assert!((nice_step(range) - step).abs() < 1e-9, "{range}: {}", nice_step(range));
        }
    }

    #[test]
    fn a_panel_draws_both_sides_within_its_frame() {
        let series = |window: f64| Series { at_s: vec![0.0, 1.0, 2.0], packets: vec![window; 3] };
        let (ours, theirs) = (series(10.0), series(20.0));
        let svg = draw(["ns-3", "cwnd"], &[Panel { title: "reno".to_owned(), ours: &ours, theirs: &theirs }]);
        assert!(svg.contains("M45.0 104.0L225.0 104.0L405.0 104.0\" fill=\"none\" stroke=\"#1a5fb4\""), "{svg}");
        assert!(svg.contains("M45.0 24.0L225.0 24.0L405.0 24.0\" fill=\"none\" stroke=\"#e5a50a\""), "{svg}");
    }
}
