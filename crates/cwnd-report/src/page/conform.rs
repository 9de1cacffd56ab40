//! The page of `cwnd conform`: a plot for each check, and the verdicts as they were printed.

use cwnd_conform::{Conformance, Curve, Judged, Verdict};

use super::model::{Printed, page};
use crate::plot::colour::{self, Palette};
use crate::plot::{Axis, Line, Lines, Plot};
use crate::slug::slug;

/// The page. `command` repeats it, `text` is what it printed.
#[must_use]
pub fn conformance_html(results: &[Conformance], command: &str, text: &str) -> String {
    let palette = Palette::new(results.iter().map(|result| result.subject.as_str()).chain(["cwnd", "formula"]));
    let plots: Vec<Plot> = results
        .iter()
        .flat_map(|result| result.checks.iter().filter_map(|judged| plot(&result.subject, judged, &palette)))
        .collect();
    let kind = "Clauses of RFCs on paths in the simulator; the curves are of the first seed.";
    page("Conformance", kind, &plots, &palette, Printed { command, text, algorithms: &[] })
}

/// The window of the subject, of this program's sender of the same law, and by formula; none where the subject shows no window.
fn plot(subject: &str, judged: &Judged, palette: &Palette) -> Option<Plot> {
    if judged.verdict == Verdict::NotApplicable {
        return None;
    }
    let curves = &judged.curves;
    let named = [(subject, &curves.subject, 0), ("cwnd", &curves.reference, 1), ("formula", &curves.formula, 2)];
    let lines: Vec<Line> = named
        .into_iter()
        .filter_map(|(name, curve, nth)| curve.as_ref().map(|curve| line(name, curve, nth, palette)))
        .filter(|line| !line.x.is_empty())
        .collect();
    lines.first()?;
    let end = lines.iter().filter_map(|line| line.x.last().copied()).fold(0.0, f64::max);
    let title = format!("{subject}: {} {}", judged.id, judged.verdict.name());
    let window = Axis::new("window_packets", "Window (packets)");
    Some(Lines::new(title, Axis::time(end), window, lines).plot(slug(&format!("{subject}-{}", judged.id))))
}

fn line(name: &str, curve: &Curve, nth: usize, palette: &Palette) -> Line {
    // A window that changes with each acknowledgement has far more points than a plot has pixels.
    let step = curve.time_s.len().div_ceil(MOST_POINTS).max(1);
    let thin = |values: &[f64]| values.iter().copied().step_by(step).collect();
    Line {
        name: name.to_string(),
        colour: palette.variable(name),
        dash: colour::dash(nth),
        x: thin(&curve.time_s),
        y: thin(&curve.packets),
    }
}

/// Of a line.
const MOST_POINTS: usize = 400;
