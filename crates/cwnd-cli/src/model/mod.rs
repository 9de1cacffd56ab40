//! `cwnd model`

mod convergence;
mod response;
mod rounds;
mod udt;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use cwnd::units::Span;
use cwnd::{Spec, quantity};
use cwnd_lab::model::{self, Idle, Origin, Setup};
use cwnd_live::{EXERCISES, FIGURES};
use cwnd_report::page::model::Printed;
use cwnd_report::write_model;
use cwnd_run::files::Directory;
use cwnd_run::files::to_json;
use cwnd_run::scenario::Written;
use serde::Serialize;

use crate::arguments::checked;
use crate::failure::Failure;
use crate::figure::Figure;
use crate::{files, progress};

/// The models.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Windows against loss, in closed form
    Response(response::Response),
    /// Times until two flows are efficient and fair under synchronous feedback
    Convergence(convergence::Convergence),
    /// The paths of windows under synchronous feedback
    Rounds(rounds::Rounds),
    /// UDT's stages and equilibria
    Udt(udt::Udt),
}

/// The options for results.
#[derive(Args, Debug)]
struct Output {
    /// Print one JSON document and nothing else
    #[arg(long)]
    json: bool,
    /// A new directory for report.html, with plots, and summary.json
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    #[command(flatten)]
    figure: Figure,
}

impl Output {
    /// Starts the directory of a page with such plots, if one is wanted. Done before the work, so that it fails early.
    fn directory(&self, plots: &[&str]) -> Result<Option<Directory>, Failure> {
        // A model computes without asking whether to go on.
        progress::end_when_interrupted()?;
        self.figure.check(plots)?;
        Ok(self.out.as_deref().map(Directory::start).transpose()?)
    }

    /// Fills the directory with the document and its page, and chooses what to print of `document` and `text`.
    fn finish(
        &self,
        directory: Option<Directory>,
        document: &impl Serialize,
        text: String,
        algorithms: &[&Spec],
        page: impl FnOnce(Printed<'_>) -> String,
    ) -> Result<String, Failure> {
        if directory.is_some() || self.figure.is_wanted() {
            let page = page(Printed { command: &files::command(), text: &text, algorithms, pages: &[] });
            if let Some(directory) = directory {
                files::publish(directory, |path| write_model(path, document, &page))?;
            }
            self.figure.write(&page)?;
        }
        Ok(if self.json { to_json(document) } else { text })
    }
}

pub(crate) fn run(command: &Command) -> Result<String, Failure> {
    match command {
        Command::Response(arguments) => arguments.run(),
        Command::Convergence(arguments) => arguments.run(),
        Command::Rounds(arguments) => arguments.run(),
        Command::Udt(arguments) => arguments.run(),
    }
}

/// A page of a site.
pub(crate) struct Page {
    pub(crate) file: &'static str,
    pub(crate) title: &'static str,
    pub(crate) html: String,
}

/// The pages of a site about models: response functions, and the phase planes of two flows.
pub(crate) fn pages() -> Result<[Page; 2], Failure> {
    let responses: response::Response = parsed(RESPONSES)?;
    let convergence: convergence::Convergence = parsed(CONVERGENCE)?;
    Ok([
        Page { file: "model-response.html", title: "Response functions", html: responses.page(RESPONSES, &PAGES) },
        Page { file: "model-convergence.html", title: "Phase planes", html: convergence.page(CONVERGENCE, &PAGES)? },
    ])
}

/// The arguments of a command, whose first two words are `cwnd model`.
fn parsed<T: Args>(command: &str) -> Result<T, Failure> {
    let words = command.split(' ').skip(2);
    Line::try_parse_from(words).map(|Line { arguments }| arguments).map_err(|error| Failure::input(error.to_string()))
}

#[derive(Debug, Parser)]
struct Line<T: Args> {
    #[command(flatten)]
    arguments: T,
}

/// The pages of a site to which those about models link.
const PAGES: [(&str, &str); 3] =
    [("index.html", "The simulator"), (FIGURES, "Papers and models"), (EXERCISES, "Exercises")];
const RESPONSES: &str = "cwnd model response reno aimd:b=1/8 iiad simd exp-tcp highspeed scalable udt";
const CONVERGENCE: &str = "cwnd model convergence reno aimd:b=1/8 iiad simd exp-tcp udt";

/// Warns of parameters on which no printed number depends.
fn warn(algorithms: &[&Spec], origin: Origin) {
    model::unread(algorithms, origin).iter().for_each(|warning| say!("warning: {warning}"));
}

/// Warns of flags on which no printed number of an algorithm depends.
fn warn_of(idle: &[Idle]) {
    for Idle { setting, algorithm, why } in idle {
        say!("warning: --{setting} has no effect on {algorithm}: {why}");
    }
}

/// Refuses algorithms that have no meaning under synchronous feedback.
fn synchronous(algorithms: &[Written<Spec>]) -> Result<Vec<&Spec>, Failure> {
    let specs = specs(algorithms);
    model::synchronous(&specs).map_err(|error| Failure::input(error.to_string()))?;
    Ok(specs)
}

/// Refuses a --start that an algorithm does not accept.
fn started(algorithms: &[&Spec], setup: &Setup) -> Result<(), Failure> {
    model::started(algorithms, setup).map_err(|error| Failure::input(format!("--start: {error}")))
}

fn specs(algorithms: &[Written<Spec>]) -> Vec<&Spec> {
    algorithms.iter().map(Written::value).collect()
}

/// `loads`: packets per round trip.
fn check_sum(loads: &[f64], capacity: f64) -> Result<(), Failure> {
    if loads.iter().sum::<f64>() <= capacity {
        return Ok(());
    }
    Err(Failure::input(format!("--start: the windows add up to more than the capacity of {capacity} packets")))
}

fn probability(text: &str) -> Result<f64, String> {
    checked(text, "a probability above 0 and at most 1, such as `1e-3`", |p| p > 0.0 && p <= 1.0)
}

fn window(text: &str) -> Result<f64, String> {
    checked(text, "a number of packets, 1 to 1e9", |w| (1.0..=1e9).contains(&w))
}

fn round_trip(text: &str) -> Result<Span, String> {
    match quantity::span(text) {
        Ok(span) if span >= Span::from_millis(1) && span <= Span::from_secs(100) => Ok(span),
        Ok(_) => Err("expected a time from 1ms to 100s".to_string()),
        Err(error) => Err(error.to_string()),
    }
}
