//! The page of a comparison or of the runs of a scenario.

use askama::Template;
use cwnd::Spec;
use cwnd_run::measure::digits::legend;

use super::assets::{data, render};
use super::link::Link;
use super::measures::{self, Cell, columns, headline};
use super::names;
use super::parts::{Algorithm, Top, seed_text};
use crate::plot::colour::Palette;
use crate::plot::{Frame, Plot, Shown, over_time, overview, traffic};
use cwnd_run::measure::Measure;

/// The content of the page.
#[derive(Clone, Debug, Default)]
pub struct Report<'a> {
    /// A short title of the comparison or run: the heading of the page.
    pub title: String,
    /// The question that it answers.
    pub question: String,
    /// The path in one line; empty where there is none.
    pub path: String,
    /// The command that repeats it.
    pub command: String,
    /// The revision of the program, and whatever else identifies it.
    pub revision: String,
    /// The seeds; the traces are those of the first.
    pub seeds: Vec<u64>,
    /// When measuring started, seconds.
    pub warmup_s: f64,
    /// The scenario as text; shown as it is.
    pub scenario_toml: String,
    /// The scenario as a link; none if a browser cannot run it.
    pub link: Option<Link>,
    /// Indexes the link of every trace that is the bottleneck.
    pub bottleneck: usize,
    /// Warnings to read before the numbers, a sentence each.
    pub warnings: Vec<String>,
    /// The algorithms, each with its parameters, described once on the page.
    pub algorithms: Vec<Spec>,
    /// The algorithms or mixtures of the page, one section each.
    pub shown: Vec<Shown<'a>>,
}

impl Report<'_> {
    /// The page as one HTML document that refers to nothing outside itself.
    #[must_use]
    pub fn html(&self) -> String {
        let frame = Frame::of(&self.shown, self.bottleneck, self.seeds.len());
        let columns = columns(&frame);
        let overview = overview(&frame);
        let sections: Vec<Section<'_>> =
            (0..self.shown.len()).map(|index| Section::of(&frame, &columns, index)).collect();
        let plots = overview.iter().chain(sections.iter().flat_map(|section| &section.plots));
        names::check(names::OF_RUNS, plots.clone());
        render(&ReportPage {
            title: &self.title,
            top: Top {
                question: self.question.clone(),
                path: if self.path.is_empty() { String::new() } else { format!("On {}", self.path) },
                command: &self.command,
            },
            report: self,
            seeds: seed_text(&self.seeds),
            first_seed: seed_text(self.seeds.get(..1).unwrap_or_default()),
            note: self.note(),
            data: data(plots, &[measures::data(&frame)]),
            algorithms: self.algorithms.iter().map(Algorithm::of).collect(),
            palette: &frame.palette,
            overview: &overview,
            sections: &sections,
            columns,
        })
    }

    fn note(&self) -> String {
        let legend = legend(self.seeds.len());
        format!(
            "{legend} Where these overlap, no difference is shown. Measured from {} s to the end of the run.",
            self.warmup_s
        )
    }
}

#[derive(Template)]
#[template(path = "report.html")]
struct ReportPage<'a> {
    title: &'a str,
    top: Top<'a>,
    report: &'a Report<'a>,
    seeds: String,
    first_seed: String,
    /// How to read the table of results.
    note: String,
    palette: &'a Palette,
    overview: &'a [Plot],
    sections: &'a [Section<'a>],
    columns: Vec<&'static Measure>,
    algorithms: Vec<Algorithm<'a>>,
    data: String,
}

/// The section of one algorithm or mixture.
struct Section<'a> {
    label: &'a str,
    colour: String,
    headline: String,
    plots: Vec<Plot>,
    cells: Vec<Option<Cell>>,
}

impl<'a> Section<'a> {
    fn of(frame: &'a Frame<'_>, columns: &[&Measure], index: usize) -> Self {
        let measures = frame.shown[index].measures;
        Self {
            label: &frame.labels[index],
            colour: frame.colour(index),
            headline: headline(measures),
            plots: [over_time(frame, index), traffic(frame, index)].concat(),
            cells: columns.iter().map(|column| Cell::of_measure(column, measures, frame.seeds)).collect(),
        }
    }
}
