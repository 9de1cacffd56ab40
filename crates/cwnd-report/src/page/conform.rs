//! The page of `cwnd conform`: each check with its number between the limits of the accepted range, and the windows behind it.

use askama::Template;
use cwnd_conform::text::{causes, found as number_found, place};
use cwnd_conform::{Conformance, Curve, Judged, Verdict, span};
use cwnd_run::VERSION;
use cwnd_text::{capitalised, counted};
use serde_json::{Value, json};

use super::assets::{data, render};
use super::link::Link;
use super::names;
use super::parts::Top;
use crate::plot::colour::{self, Palette};
use crate::plot::{Axis, Checked, Line, Lines, Plot};

/// The page. `command` repeats it, `text` is what it printed.
#[must_use]
pub fn conformance_html(results: &[Conformance], command: &str, text: &str) -> String {
    let palette = Palette::new(results.iter().map(|result| result.subject.as_str()).chain(["cwnd", "formula"]));
    let subjects: Vec<&str> = results.iter().map(|result| result.subject.as_str()).collect();
    let mut checks: Vec<CheckSection<'_>> = results
        .iter()
        .flat_map(|result| result.checks.iter().map(|judged| CheckSection::of(&result.subject, judged, &palette)))
        .collect();
    checks.sort_by_key(|check| order(check.judged.verdict));
    let plots: Vec<&Plot> = checks.iter().flat_map(|check| &check.plots).collect();
    let ids: Vec<&str> = checks.iter().map(|check| check.judged.id).collect();
    names::check(&names::of_checks(&subjects, ids), plots.iter().copied());
    let page = ConformPage {
        title: "Conformance",
        top: Top {
            question: format!("Does {} do what the RFCs ask of a sender, clause by clause?", subjects.join(", ")),
            path: "A path of its own for each check, in the simulator".to_string(),
            command,
        },
        answers: results.iter().map(answer).collect(),
        revision: VERSION,
        text,
        data: data(plots, &[]),
        palette: &palette,
        checks: &checks,
    };
    render(&page)
}

#[derive(Template)]
#[template(path = "conform.html")]
struct ConformPage<'a> {
    title: &'a str,
    top: Top<'a>,
    /// The outcome, a sentence for each subject.
    answers: Vec<String>,
    revision: &'a str,
    palette: &'a Palette,
    /// Deviations first, then unclear checks.
    checks: &'a [CheckSection<'a>],
    /// The output of the command.
    text: &'a str,
    data: String,
}

impl ConformPage<'_> {
    /// Whether a check has nothing to draw.
    fn has_bare(&self) -> bool {
        self.checks.iter().any(|check| check.plots.is_empty())
    }
}

/// A check with its number and its windows.
struct CheckSection<'a> {
    judged: &'a Judged,
    id: String,
    /// The verdict: `cubic conforms: 5681-initial`.
    heading: String,
    /// The number and the accepted range, or why there is no number.
    found: String,
    /// The clause, and the likely causes of a deviation.
    clause: String,
    /// Runs the path of a deviation again.
    link: Option<Link>,
    plots: Vec<Plot>,
}

impl<'a> CheckSection<'a> {
    fn of(subject: &'a str, judged: &'a Judged, palette: &Palette) -> Self {
        let [number_id, id] = names::of_check(subject, judged.id);
        let found = found(judged);
        let clause = format!("{}, {}", place(judged.suite, judged.section), judged.level.name());
        let causes = causes(judged).map_or(String::new(), |causes| format!(" {}.", capitalised(&causes)));
        let number = judged.value.as_ref().map(|value| Checked {
            id: number_id,
            measured: judged.measured,
            value: {
                let (low, high) = span(value);
                [value.mean, low, high]
            },
            accepted: judged.accepted.ends(),
            colour: palette.variable(subject),
            alternative: &found,
            caption: format!("{found} By {clause}.{causes}"),
        });
        let plots = number.map(Checked::plot).into_iter().chain(windows(&id, subject, judged, palette)).collect();
        Self {
            judged,
            heading: format!("{subject} {}: {}", verb(judged.verdict), judged.id),
            clause: format!("{clause}: {}.{causes}", judged.requirement),
            found,
            link: judged.link.clone().map(Link::to),
            plots,
            id,
        }
    }

    /// The class of the verdict in the style sheet.
    fn class(&self) -> &'static str {
        match self.judged.verdict {
            Verdict::Meets => "match",
            Verdict::Deviates => "miss",
            Verdict::Unclear => "undecided",
            Verdict::NotApplicable => "uncounted",
        }
    }
}

/// The outcome of all checks of a subject, as a sentence.
fn answer(result: &Conformance) -> String {
    let count = |verdict| counted(result.count(verdict), "check");
    let mut text = format!("{} conforms in {}", result.subject, count(Verdict::Meets));
    for (verdict, words) in [(Verdict::Deviates, "deviates in"), (Verdict::Unclear, "is unclear in")] {
        if result.count(verdict) > 0 {
            text.push_str(&format!(", {words} {}", count(verdict)));
        }
    }
    match result.count(Verdict::NotApplicable) {
        0 => {}
        1 => text.push_str("; one check does not apply to it"),
        many => text.push_str(&format!("; {} do not apply to it", counted(many, "check"))),
    }
    text.push_str(&format!(" ({}).", counted(result.seeds.len(), "seed")));
    for few in &result.too_few {
        text.push_str(&format!(" Too few: {few}."));
    }
    text
}

/// The number with the accepted range: `First flight, packets: 10, accepted 2 to 10`.
fn found(judged: &Judged) -> String {
    match (&judged.value, &judged.note) {
        (Some(value), note) => {
            let note = note.as_ref().map_or_else(String::new, |note| format!("; {note}"));
            format!("{}: {}, accepted {}{note}.", capitalised(judged.measured), number_found(value), judged.accepted)
        }
        (None, Some(note)) if judged.verdict == Verdict::NotApplicable => format!("No number: {note}."),
        (None, Some(note)) => {
            format!("{}: no number, accepted {}: {note}.", capitalised(judged.measured), judged.accepted)
        }
        (None, None) => String::new(),
    }
}

/// The window of the subject, of this program's sender of the same law, and by formula; none where the subject shows no window.
fn windows(id: &str, subject: &str, judged: &Judged, palette: &Palette) -> Option<Plot> {
    if judged.verdict == Verdict::NotApplicable {
        return None;
    }
    let curves = &judged.curves;
    let reference = if subject == "cwnd" { "reference" } else { "cwnd" };
    let named = [(subject, &curves.subject, 0), (reference, &curves.reference, 1), ("formula", &curves.formula, 2)];
    let lines: Vec<(Line, Value)> = named
        .into_iter()
        .filter_map(|(name, curve, nth)| Some((line(name, curve.as_ref()?, nth, palette), json!(WIDTHS[nth]))))
        .filter(|(line, _)| !line.x.is_empty())
        .collect();
    lines.first()?;
    let (lines, widths): (Vec<Line>, Vec<Value>) = lines.into_iter().unzip();
    let names: Vec<String> = lines.iter().map(|line| line.name.clone()).collect();
    let end = lines.iter().filter_map(|line| line.x.last().copied()).fold(0.0, f64::max);
    let lines =
        Lines::new("The window behind it", Axis::time(end), Axis::new("window_packets", "Window (packets)"), lines);
    let caption =
        "Congestion window in the run of the first seed; where curves coincide, the narrow one lies on the wide one.";
    let mut plot = lines.captioned(id, caption);
    // Equal curves can be seen as two: the wide one lies below.
    if let Some(Value::Array(layers)) = plot.spec.get_mut("layer") {
        let each = names.iter().zip(widths).map(|(name, width)| {
            let mut layer = layers[0].clone();
            layer["transform"] = json!([{ "filter": { "field": "flow", "equal": name } }]);
            layer["mark"]["strokeWidth"] = width;
            layer
        });
        *layers = each.collect();
    }
    Some(plot)
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

fn order(verdict: Verdict) -> u8 {
    match verdict {
        Verdict::Deviates => 0,
        Verdict::Unclear => 1,
        Verdict::Meets => 2,
        Verdict::NotApplicable => 3,
    }
}

fn verb(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Meets => "conforms",
        Verdict::Deviates => "deviates",
        Verdict::Unclear => "is unclear",
        Verdict::NotApplicable => "is not asked",
    }
}

/// Pixels of the subject, the reference and the formula, drawn in this order.
const WIDTHS: [f64; 3] = [4.0, 1.6, 1.6];
/// The maximum number of points of a line.
const MOST_POINTS: usize = 400;
