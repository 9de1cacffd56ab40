//! The pages of reproduced papers: one per paper, and an index with the counts of verdicts.

use askama::Template;
use cwnd_papers::{
    Assumption, Basis, Confidence, Counts, JudgedRow, Paper, PaperRun, PrintedTable, Published, ResultRun, Scale,
    Settings, Verdict,
};

use super::assets::{data, render};
use super::link::Link;
use super::names;
use super::parts::{Top, listed, seed_text};
use crate::plot::Plot;
use crate::plot::colour::Palette;
use crate::plot::paper::{data_of_rows, palette, plots};
use cwnd_text::counted;

/// The content of a page of a paper besides the runs.
#[derive(Clone, Copy, Debug)]
pub struct PaperPage<'a> {
    /// How the papers were run.
    pub settings: &'a Settings,
    /// The command that repeats it.
    pub command: &'a str,
    /// The revision of the program.
    pub revision: &'a str,
}

/// The page of a paper: for each result published and ours on the same axes, the table of rows and the configuration, those with misses
/// first and those with undecided rows next; then the assumptions, and how the page was made.
#[must_use]
pub(crate) fn paper_html(run: &PaperRun, page: PaperPage<'_>) -> String {
    let paper = &run.published.paper;
    let palette = palette();
    let mut results: Vec<ResultSection<'_>> =
        run.results.iter().map(|result| ResultSection::of(run, result, &palette)).collect();
    results.sort_by_key(|result| (result.misses == 0, result.open.is_empty()));
    let plots: Vec<&Plot> = results.iter().flat_map(|result| &result.plots).collect();
    let ids = run.results.iter().map(|result| run.published.result[result.index].id.as_str());
    names::check(&names::of_results(ids), plots.clone());
    render(&OnePaper {
        title: &paper.title,
        top: Top {
            question: "Which numbers and claims of this paper come out again in this simulator?".to_string(),
            path: "Paths as the paper gives them, each with its result".to_string(),
            command: page.command,
        },
        answer: answer(std::slice::from_ref(run)),
        sentence: run.sentence(),
        authors: paper.authors.join(", "),
        counts: run.counts(),
        length: length(page.settings.scale),
        data: data(plots, &[data_of_rows(run.rows())]),
        assumptions: run
            .published
            .assumption
            .iter()
            .map(|one| AssumptionText::of(one, &run.published, page.settings))
            .collect(),
        palette: &palette,
        paper,
        results,
        page,
    })
}

/// The page over all papers. It links to the page of each as `ID.html` in its directory.
#[must_use]
pub(crate) fn index_html(runs: &[PaperRun], page: PaperPage<'_>) -> String {
    let palette = palette();
    let row = |run: &PaperRun| Counted {
        id: run.published.paper.id.clone(),
        title: run.published.paper.title.clone(),
        counts: run.counts(),
        sentence: run.sentence(),
        plot: first_figure(run, &palette),
    };
    let papers: Vec<Counted> = runs.iter().map(row).collect();
    let names: Vec<&str> = papers.iter().map(|paper| paper.id.as_str()).collect();
    render(&AllPapers {
        title: "Papers",
        top: Top {
            question: format!(
                "Which numbers and claims of {} come out again in this simulator?",
                match names.as_slice() {
                    [one] => (*one).to_string(),
                    all => counted(all.len(), "paper"),
                }
            ),
            path: format!("{}: paths as each paper gives them", listed(&names)),
            command: page.command,
        },
        answer: answer(runs),
        length: length(page.settings.scale),
        palette: &palette,
        data: data(papers.iter().filter_map(|paper| paper.plot.as_ref()), &[]),
        papers,
        page,
    })
}

#[derive(Template)]
#[template(path = "paper.html")]
struct OnePaper<'a> {
    title: &'a str,
    top: Top<'a>,
    /// The outcome of the reproduction, in words.
    answer: String,
    /// Where it did, and where it did not.
    sentence: String,
    palette: &'a Palette,
    page: PaperPage<'a>,
    paper: &'a Paper,
    authors: String,
    counts: Counts,
    length: &'static str,
    results: Vec<ResultSection<'a>>,
    assumptions: Vec<AssumptionText<'a>>,
    data: String,
}

#[derive(Template)]
#[template(path = "papers.html")]
struct AllPapers<'a> {
    title: &'a str,
    top: Top<'a>,
    /// The outcome of the reproduction, in words.
    answer: String,
    palette: &'a Palette,
    page: PaperPage<'a>,
    length: &'static str,
    papers: Vec<Counted>,
    data: String,
}

/// A paper in the index.
struct Counted {
    id: String,
    title: String,
    counts: Counts,
    /// The reproduced and the missed values.
    sentence: String,
    /// The first of its figures that were run.
    plot: Option<Plot>,
}

/// Whether the author's own code was run in ns-2 for any of these rows.
pub(crate) fn has_ns2(rows: &[&JudgedRow]) -> bool {
    rows.iter().any(|row| row.ns2.is_some())
}

/// A result with its plots and rows.
struct ResultSection<'a> {
    id: &'a str,
    /// Where the paper has it, in short.
    place: &'a str,
    title: &'a str,
    source: &'a str,
    /// The table as the paper prints it, for each profile.
    tables: Vec<PrintedTable<'a>>,
    plots: Vec<Plot>,
    /// The rows that miss, then those that are undecided.
    open: Vec<&'a JudgedRow>,
    misses: usize,
    matches: Vec<&'a JudgedRow>,
    /// The rows that cannot be reproduced, then those with nothing to compare with.
    uncounted: Vec<&'a JudgedRow>,
    /// How much was run; none for results without runs.
    ran: Option<String>,
    /// The scenarios: name, text, and the link that runs it.
    scenarios: Vec<(&'a String, &'a String, Option<Link>)>,
}

/// An assumption as the table has it.
struct AssumptionText<'a> {
    key: &'a str,
    value: String,
    missing: &'a str,
    basis: &'a str,
    confidence: &'static str,
    results: String,
}

impl<'a> ResultSection<'a> {
    fn of(run: &'a PaperRun, result: &'a ResultRun, palette: &Palette) -> Self {
        let published = &run.published.result[result.index];
        let seeds: Vec<u64> = result.log.seeds.iter().copied().collect();
        let of = |verdict| result.rows.iter().filter(move |row| row.verdict == verdict);
        Self {
            id: &published.id,
            place: published.place(),
            tables: run.tables(result),
            title: &published.title,
            source: &published.source,
            plots: plots(run, result, palette),
            open: of(Verdict::Miss).chain(of(Verdict::Undecided)).collect(),
            misses: of(Verdict::Miss).count(),
            matches: of(Verdict::Match).collect(),
            uncounted: of(Verdict::NotReproducible).chain(of(Verdict::Illustration)).collect(),
            ran: (result.log.cells > 0)
                .then(|| format!("{}, {}.", counted(result.log.cells, "run"), seed_text(&seeds))),
            scenarios: result.log.scenarios.iter().map(|(name, toml)| (name, toml, Link::of_toml(toml))).collect(),
        }
    }
}

impl<'a> AssumptionText<'a> {
    fn of(assumption: &'a Assumption, published: &Published, settings: &Settings) -> Self {
        let Assumption { key, missing, basis, confidence, results, .. } = assumption;
        let replaced = settings.assumptions.iter().rev().find(|(replaced, _)| replaced == key);
        Self {
            key,
            value: replaced.map_or_else(|| assumption.text(settings.scale), |(_, value)| format!("{value} (--set)")),
            missing,
            basis,
            confidence: match confidence {
                Confidence::Sourced => "sourced",
                Confidence::Inferred => "inferred",
                Confidence::Guess => "guess",
            },
            results: results.iter().filter_map(|id| Some(published.result(id)?.place())).collect::<Vec<_>>().join(", "),
        }
    }
}

/// The first figure of a paper that was run, with the paper's name before its id: pages have several papers.
fn first_figure(run: &PaperRun, palette: &Palette) -> Option<Plot> {
    let result = run.results.iter().find(|result| !result.figures.is_empty())?;
    let plot = plots(run, result, palette).into_iter().next()?;
    Some(Plot { id: format!("{}-{}", run.published.paper.id, plot.id), ..plot })
}

/// The outcomes of a comparison, the worst first.
pub(crate) const DECIDED: [Verdict; 3] = [Verdict::Miss, Verdict::Undecided, Verdict::Match];

/// Over how many rows the reason of each stretches: the same reason stands once for rows that follow each other. None where it stands above.
pub(crate) fn spans(rows: &[&JudgedRow]) -> Vec<Option<usize>> {
    stretches(rows.iter().map(|row| row.reason.as_deref()))
}

fn stretches<'a>(reasons: impl Iterator<Item = Option<&'a str>>) -> Vec<Option<usize>> {
    let (mut spans, mut above) = (Vec::new(), None);
    for (index, reason) in reasons.enumerate() {
        match above {
            Some((first, known)) if reason == Some(known) => {
                spans[first] = Some(index + 1 - first);
                spans.push(None);
            }
            _ => {
                above = reason.map(|reason| (index, reason));
                spans.push(Some(1));
            }
        }
    }
    spans
}

/// The sign of a verdict, so that colour is not all that tells them apart.
pub(crate) fn sign(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Match => "✓",
        Verdict::Miss => "✗",
        Verdict::Undecided => "?",
        Verdict::NotReproducible => "∅",
        Verdict::Illustration => "·",
    }
}

/// The class of a verdict in the style sheet.
pub(crate) fn class(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Match => "match",
        Verdict::Miss => "miss",
        Verdict::Undecided => "undecided",
        Verdict::NotReproducible | Verdict::Illustration => "uncounted",
    }
}

/// The reproduced and missed values, in words: the printed numbers with the results in which they miss, then the rest.
fn answer(runs: &[PaperRun]) -> String {
    let rows = |basis: Basis, verdict: Option<Verdict>| {
        let all = runs.iter().flat_map(|run| run.rows().map(move |row| (run, row)));
        all.filter(move |(_, row)| {
            row.basis == basis && verdict.map_or(DECIDED.contains(&row.verdict), |one| row.verdict == one)
        })
    };
    let mut sentences = Vec::new();
    for basis in Basis::ALL {
        let count = |verdict| rows(basis, verdict).count();
        let (all, matches) = (count(None), count(Some(Verdict::Match)));
        if all == 0 {
            continue;
        }
        let mut sentence = match matches == all && all > 1 {
            true => format!("All {all} {} match", basis.plural()),
            false => format!("{matches} of {all} {} match", basis.plural()),
        };
        let mut misses: Vec<(String, usize)> = Vec::new();
        for (run, row) in rows(basis, Some(Verdict::Miss)) {
            let place = match run.published.result(&row.result) {
                Some(result) if runs.len() == 1 => result.place(),
                _ => &run.published.paper.id,
            };
            match misses.iter_mut().find(|(known, _)| known == place) {
                Some((_, count)) => *count += 1,
                None => misses.push((place.to_string(), 1)),
            }
        }
        if !misses.is_empty() {
            let places: Vec<String> = misses.iter().map(|(place, count)| format!("{count} in {place}")).collect();
            sentence.push_str(&format!("; {} missed: {}", count(Some(Verdict::Miss)), listed(&places)));
        }
        match count(Some(Verdict::Undecided)) {
            0 => {}
            open => sentence.push_str(&format!("; {open} undecided")),
        }
        sentences.push(sentence + ".");
    }
    if sentences.is_empty() {
        return "Nothing was compared.".to_string();
    }
    sentences.join(" ")
}

fn length(scale: Scale) -> &'static str {
    match scale {
        Scale::Quick => "Runs of reduced length: a verdict may differ at full length.",
        Scale::Full => "Runs of the published length.",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_stands_once_for_rows_that_follow_each_other() {
        let spans = |reasons: &[Option<&str>]| stretches(reasons.iter().copied());
        let (a, b) = (Some("a"), Some("b"));
        assert_eq!(spans(&[a, a, b, None, None, a]), [Some(2), None, Some(1), Some(1), Some(1), Some(1)]);
        assert_eq!(spans(&[]), []);
    }
}
