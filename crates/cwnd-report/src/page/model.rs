//! The pages of results on paper: plots, the table as it was printed, and how it was made.

use askama::Template;
use cwnd::Spec;
use cwnd_lab::model::{Convergences, Paths, Responses, Setup, Stages, Walk};
use cwnd_run::VERSION;

use super::assets::data;
use super::link::Link;
use super::names;
use super::parts::{Algorithm, Top};
use crate::plot::colour::Palette;
use crate::plot::{Plot, model};

/// The texts of a page besides its plots.
#[derive(Clone, Copy, Debug)]
pub struct Printed<'a> {
    /// The command that repeats it.
    pub command: &'a str,
    /// Its output.
    pub text: &'a str,
    /// The algorithms, each with its parameters.
    pub algorithms: &'a [&'a Spec],
    /// Other pages of its directory: file and name of each.
    pub pages: &'a [(&'a str, &'a str)],
}

/// The page of `cwnd model response`.
#[must_use]
pub fn response(document: &Responses, printed: Printed<'_>) -> String {
    let looks = model::Looks::of(printed.algorithms);
    let plots: Vec<Plot> = model::response(document, printed.algorithms, &looks).into_iter().collect();
    let random = document.rows.iter().any(|row| row.random_window_packets.is_some());
    let points = if random { "; points are of the algorithms under random loss" } else { "" };
    let kind = format!("Closed forms: each number follows from an equation{points}.");
    let question = "How large a window does each algorithm keep at a given loss?";
    names::check(names::OF_RESPONSES, &plots);
    page(("Windows against loss", question, ""), &kind, &plots, &looks.palette, printed, None)
}

/// The page of `cwnd model convergence`; `walks` are of the same algorithms in the same order.
#[must_use]
pub fn convergence(document: &Convergences, walks: &[Walk], printed: Printed<'_>) -> String {
    let looks = model::Looks::of(printed.algorithms);
    let rtt_s = Setup::default().rtt.as_secs_f64();
    let plots = model::Walks { looks: &looks, capacity: document.capacity_packets, rtt_s }.plots(walks);
    let kind = "Closed forms and, in the plots, the synchronous-feedback model.";
    let question = "How long do two flows of each algorithm take until their windows are equal?";
    names::check(names::OF_WALKS, &plots);
    page(("Convergence of two flows", question, ""), kind, &plots, &looks.palette, printed, None)
}

/// The page of `cwnd model rounds`; `walks` are of the same algorithms in the same order.
#[must_use]
pub fn rounds(document: &Paths, walks: &[Walk], printed: Printed<'_>) -> String {
    let looks = model::Looks::of(printed.algorithms);
    let plots = model::Walks { looks: &looks, capacity: document.capacity_packets, rtt_s: document.rtt_s }.plots(walks);
    let kind = "The synchronous-feedback model: algorithms without packets.";
    let question = "How do windows move where all flows learn of congestion in the same round trip?";
    names::check(names::OF_WALKS, &plots);
    page(("Windows under synchronous feedback", question, ""), kind, &plots, &looks.palette, printed, None)
}

/// The page of `cwnd model udt`.
#[must_use]
pub fn udt(document: &Stages, printed: Printed<'_>) -> String {
    let kind = "Closed forms; the plot over round trips is of the fluid model.";
    let question = "How fast does UDT's rate grow, at which rate does loss hold it, and how much does it lose?";
    let plots = model::udt(document);
    names::check(names::OF_UDT, &plots);
    page(("UDT's rate control", question, ""), kind, &plots, &Palette::new(["udt"].into_iter()), printed, None)
}

/// A page with its title, its question and its path, which is empty where there is none. `link` is that of its scenario, if it has one.
pub(super) fn page(
    (title, question, path): (&str, &str, &str),
    kind: &str,
    plots: &[Plot],
    palette: &Palette,
    printed: Printed<'_>,
    link: Option<&Link>,
) -> String {
    let page = ModelPage {
        title,
        top: Top { question: question.to_string(), path: path.to_string(), command: printed.command },
        kind,
        revision: VERSION,
        palette,
        plots,
        printed,
        algorithms: printed.algorithms.iter().map(|spec| Algorithm::of(spec)).collect(),
        data: data(plots, &[]),
        link,
    };
    super::assets::render(&page)
}

#[derive(Template)]
#[template(path = "model.html")]
struct ModelPage<'a> {
    title: &'a str,
    top: Top<'a>,
    kind: &'a str,
    revision: &'a str,
    palette: &'a Palette,
    plots: &'a [Plot],
    printed: Printed<'a>,
    algorithms: Vec<Algorithm<'a>>,
    data: String,
    link: Option<&'a Link>,
}

/// Plots that fill a row together.
const FEW: usize = 3;
