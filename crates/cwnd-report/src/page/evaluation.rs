//! The page of an evaluation: four plots, then the headings with their numbers.

use askama::Template;
use cwnd::Spec;
use cwnd_lab::evaluate::{Evaluation, EvaluationRow, LeftOut, Section};
use cwnd_run::VERSION;
use cwnd_run::execute::failed;
use cwnd_run::measure::digits::{cell, legend};

use super::assets::{data, render};
use super::link::Link;
use super::names;
use super::parts::{Algorithm, Top, listed};
use crate::plot::Plot;
use crate::plot::colour::Palette;
use crate::plot::evaluation::{Contenders, plots};

/// The page as one HTML document that refers to nothing outside itself. `command` repeats it.
#[must_use]
pub fn evaluation_html(evaluation: &Evaluation, algorithm: &Spec, command: &str) -> String {
    let contenders = Contenders::of(evaluation);
    let palette = Palette::new(contenders.names.iter().map(String::as_str));
    let plots = plots(evaluation, &contenders, &palette);
    names::check(names::OF_EVALUATIONS, &plots);
    let question = evaluation.question();
    let page = EvaluationPage {
        title: format!("{} {question}", evaluation.algorithm),
        top: Top {
            question: format!(
                "How does {} behave {question}, compared with {} in its place?",
                evaluation.algorithm,
                listed(&contenders.names[1..])
            ),
            path: "On a grid of paths, each named where its numbers stand".to_string(),
            command,
        },
        revision: VERSION,
        question,
        runs: evaluation.runs(),
        evaluation,
        warnings: warnings(evaluation),
        note: legend(evaluation.seeds as usize),
        sections: evaluation.sections.iter().map(|section| Heading::of(section, &contenders)).collect(),
        algorithms: vec![Algorithm::of(algorithm)],
        data: data(&plots, &[]),
        contenders: &contenders.names,
        palette: &palette,
        plots: &plots,
    };
    render(&page)
}

#[derive(Template)]
#[template(path = "evaluation.html")]
struct EvaluationPage<'a> {
    title: String,
    top: Top<'a>,
    revision: &'a str,
    question: &'a str,
    runs: String,
    palette: &'a Palette,
    evaluation: &'a Evaluation,
    warnings: Vec<String>,
    /// How to read the cells.
    note: String,
    plots: &'a [Plot],
    contenders: &'a [String],
    sections: Vec<Heading<'a>>,
    algorithms: Vec<Algorithm<'a>>,
    data: String,
}

/// A heading of the RFC with its numbers.
struct Heading<'a> {
    id: String,
    number: &'a str,
    title: &'a str,
    reading: &'a str,
    covered: bool,
    settings: Vec<Setting<'a>>,
}

/// The measures on a path, with a cell for each contender.
struct Setting<'a> {
    /// The id of its row.
    id: String,
    path: String,
    traffic: &'a str,
    measure: String,
    cells: Vec<String>,
    /// The scenario with the algorithm in its place.
    link: Option<Link>,
}

impl<'a> Heading<'a> {
    fn of(section: &'a Section, contenders: &Contenders) -> Self {
        let id = format!("section-{}", section.number.replace('.', "-"));
        let setting = |(nth, row)| Setting::of(format!("{id}-{}", nth + 1), row, contenders);
        Self {
            settings: section.rows.iter().enumerate().map(setting).collect(),
            number: section.number,
            title: section.title,
            reading: section.reading,
            covered: section.covered,
            id,
        }
    }
}

impl<'a> Setting<'a> {
    fn of(id: String, row: &'a EvaluationRow, contenders: &Contenders) -> Self {
        Self {
            id,
            path: format!("{}, {}, {}", row.rate, row.rtt, row.queue),
            traffic: &row.traffic,
            measure: row.heading(),
            cells: contenders.estimates(row).map(|(_, estimate)| cell(estimate, row.shown.scale)).collect(),
            link: row.scenario.as_ref().and_then(|scenario| Link::without_curves(scenario.document(), row.digest)),
        }
    }
}

fn warnings(evaluation: &Evaluation) -> Vec<String> {
    let mut warnings = Vec::new();
    if evaluation.quick {
        warnings.push("Quick: few settings at reduced length. Differences may turn around at full length.".to_string());
    }
    let failed = failed(evaluation.cells, &evaluation.failures);
    warnings.extend(failed.map(|failed| format!("No number has the cells that failed: {failed}")));
    let left_out = |one: &LeftOut| format!("{} left out ({}): {}", one.section, one.traffic, one.reason);
    warnings.extend(evaluation.left_out.iter().map(left_out));
    warnings.extend(evaluation.warnings.iter().cloned());
    warnings
}
