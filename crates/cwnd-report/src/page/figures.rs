//! The page of a site with the figures and tables of papers: each with its scenarios as links that run them.

use std::collections::{BTreeMap, BTreeSet};

use askama::Template;
use cwnd_papers::{Paper, Published, PublishedRow, ResultCells};
use cwnd_run::VERSION;
use cwnd_run::scenario::{Document, Scenario};

use super::assets::render;
use super::link::Link;
use crate::plot::colour::Palette;
use crate::plot::paper::palette;

/// The page with the links to run the results of `papers` on the page `./` of its directory. `others` are further pages: file and title.
#[must_use]
pub fn figures_html(papers: &[(Published, Vec<ResultCells>)], others: &[(&str, &str)]) -> String {
    let papers = papers.iter().map(|(published, results)| {
        let results = results.iter().map(|cells| OfResult::of(&published.paper, cells));
        let (figures, without): (Vec<_>, Vec<_>) = results.partition(OfResult::runs);
        let without = without.iter().filter(|result| result.others > 0).map(|result| result.place).collect();
        OfPaper { paper: &published.paper, figures, without }
    });
    let papers = papers.filter(|paper| !(paper.figures.is_empty() && paper.without.is_empty())).collect();
    let most = PACKETS * 1e-6;
    render(&FiguresPage { title: "Papers and models", palette: palette(), revision: VERSION, papers, others, most })
}

/// The most data packets of a run that has a link: a browser takes a second or two for them.
const PACKETS: f64 = 2e6;
/// The most seeds of a link.
const SEEDS: u32 = 5;
/// The most links and published rows of a result: the first ones.
const LINKS: usize = 12;
const ROWS: usize = 3;
/// The most settings in the name of a link.
const NAMED: usize = 3;

#[derive(Template)]
#[template(path = "figures.html")]
struct FiguresPage<'a> {
    title: &'a str,
    palette: Palette,
    revision: &'a str,
    papers: Vec<OfPaper<'a>>,
    others: &'a [(&'a str, &'a str)],
    /// The most data packets of a run with a link, millions.
    most: f64,
}

/// A paper.
struct OfPaper<'a> {
    paper: &'a Paper,
    figures: Vec<OfResult<'a>>,
    /// Places of the results of which no run has a link.
    without: BTreeSet<&'a str>,
}

/// A figure, table or claim.
struct OfResult<'a> {
    id: String,
    place: &'a str,
    title: &'a str,
    rows: Vec<&'a PublishedRow>,
    links: Vec<(String, Link)>,
    /// The number of scenarios without a link.
    others: usize,
    command: String,
}

impl<'a> OfResult<'a> {
    fn of(paper: &Paper, cells: &'a ResultCells) -> Self {
        let result = &cells.result;
        let documents: Vec<&Document> = cells.scenarios.iter().map(|scenario| scenario.document()).collect();
        let short = |(scenario, name): (&Scenario, String)| {
            let document = scenario.document();
            let title = format!("{} of {}: {name}", result.place(), paper.id);
            let document = Document { title: Some(title), seeds: document.seeds.min(SEEDS), ..document.clone() };
            let link = Link::of(&document, false, None).filter(|_| scenario.packets() <= PACKETS);
            link.map(|link| (name, link))
        };
        let scenarios = cells.scenarios.iter().map(|scenario| &**scenario);
        let links: Vec<(String, Link)> = scenarios.zip(names(&documents)).filter_map(short).take(LINKS).collect();
        Self {
            id: format!("{}-{}", paper.id, result.id),
            place: result.place(),
            title: &result.title,
            rows: result.rows.iter().take(ROWS).collect(),
            others: documents.len() - links.len(),
            links,
            command: format!("cwnd paper {} {}", paper.id, result.id),
        }
    }

    fn runs(&self) -> bool {
        !self.links.is_empty()
    }
}

/// The name of each scenario: the settings in which it differs from the others, or its title.
fn names(documents: &[&Document]) -> Vec<String> {
    let settings: Vec<BTreeMap<String, String>> = documents.iter().map(|document| settings(document)).collect();
    let keys: BTreeSet<&String> = settings.iter().flat_map(BTreeMap::keys).collect();
    let differs = |key: &&String| settings.iter().any(|one| one.get(*key) != settings[0].get(*key));
    let differing: Vec<&String> = keys.into_iter().filter(differs).collect();
    let name = |(nth, own): (usize, &BTreeMap<String, String>)| {
        let mut said: Vec<String> = Vec::new();
        for key in &differing {
            let last = key.rsplit('.').next().unwrap_or(key);
            let one = own.get(*key).map(|value| format!("{last} {value}"));
            said.extend(one.filter(|one| !said.contains(one)));
        }
        said.truncate(NAMED);
        match (said.is_empty(), &documents[nth].title) {
            (true, Some(title)) => title.clone(),
            (true, None) => "the scenario".to_string(),
            (false, _) => said.join(", "),
        }
    };
    settings.iter().enumerate().map(name).collect()
}

/// Each setting of a scenario by its key.
fn settings(document: &Document) -> BTreeMap<String, String> {
    let mut settings = BTreeMap::new();
    if let Ok(table) = document.to_toml().parse::<toml::Table>() {
        flatten("", &toml::Value::Table(table), &mut settings);
    }
    settings
}

fn flatten(key: &str, value: &toml::Value, into: &mut BTreeMap<String, String>) {
    let below = |name: &str| if key.is_empty() { name.to_string() } else { format!("{key}.{name}") };
    match value {
        toml::Value::Table(table) => table.iter().for_each(|(name, value)| flatten(&below(name), value, into)),
        toml::Value::Array(values) => {
            values.iter().enumerate().for_each(|(nth, value)| flatten(&below(&nth.to_string()), value, into));
        }
        toml::Value::String(text) => {
            into.insert(key.to_string(), text.clone());
        }
        other => {
            into.insert(key.to_string(), other.to_string());
        }
    }
}
