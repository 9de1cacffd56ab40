//! The pages of a site about papers: one for each figure, table or claim, with its scenarios as links that run them, and their index.

use std::collections::{BTreeMap, BTreeSet};

use askama::Template;
use cwnd::quantity::{exact, span};
use cwnd_papers::{Assumption, MOST, Paper, Published, PublishedRow, Recorded, ResultCells, Scale, Verdict};
use cwnd_run::VERSION;
use cwnd_run::scenario::{Document, Scenario};
use cwnd_text::capitalised;

use super::assets::render;
use super::link::Link;
use crate::plot::colour::Palette;
use crate::plot::paper::palette;

/// The files of the pages about the results of `papers`, and their HTML: first the index, which is the file `index`, then the page of each result of which a
/// run has a link. Links run the scenario on the page `index.html` of the directory, which has its name in the link because a browser that opens files lists a directory. `record` has the values at the published lengths; `others` are
/// further pages: file and title.
#[must_use]
pub fn figures_html(
    papers: &[(Published, Vec<ResultCells>)],
    record: &Recorded,
    index: &str,
    others: &[(&str, &str)],
) -> Vec<(String, String)> {
    let papers = papers.iter().map(|(published, results)| {
        let results = results.iter().map(|cells| OfResult::of(published, cells, record));
        let (figures, without): (Vec<_>, Vec<_>) = results.partition(OfResult::runs);
        let without = without.iter().filter(|result| result.others > 0).map(|result| result.place).collect();
        OfPaper { paper: &published.paper, figures, without }
    });
    let papers: Vec<OfPaper<'_>> =
        papers.filter(|paper| !(paper.figures.is_empty() && paper.without.is_empty())).collect();
    let (palette, revision) = (&palette(), VERSION);
    let all: Vec<(&Paper, &OfResult<'_>)> =
        papers.iter().flat_map(|one| one.figures.iter().map(|figure| (one.paper, figure))).collect();
    let step = |nth: Option<usize>| {
        nth.and_then(|nth| all.get(nth))
            .map(|(paper, figure)| (&*figure.file, format!("{} of {}", figure.place, paper.id)))
    };
    let page = |(nth, (paper, figure)): (usize, &(&Paper, &OfResult<'_>))| {
        let (before, after) = (step(nth.checked_sub(1)), step(Some(nth + 1)));
        let page = FigurePage { title: &figure.heading, palette, revision, index, paper, figure, before, after };
        (figure.file.clone(), render(&page))
    };
    let pages: Vec<(String, String)> = all.iter().enumerate().map(page).collect();
    let most = PACKETS * 1e-6;
    let first = render(&FiguresPage { title: "Papers and models", palette, revision, papers: &papers, others, most });
    [(index.to_string(), first)].into_iter().chain(pages).collect()
}

/// The most data packets of a run that has a link: a browser takes a second or two for them.
const PACKETS: f64 = 2e6;
/// The most seeds of a link.
const SEEDS: u32 = 5;
/// The most settings in the name of a link, unless names would be equal.
const NAMED: usize = 3;
/// The most characters of a value with parameters in the name of a link, unless it needs more to differ.
const LONGEST: usize = 40;

#[derive(Template)]
#[template(path = "figures.html")]
struct FiguresPage<'a> {
    title: &'a str,
    palette: &'a Palette,
    revision: &'a str,
    papers: &'a [OfPaper<'a>],
    others: &'a [(&'a str, &'a str)],
    /// The most data packets of a run with a link, millions.
    most: f64,
}

#[derive(Template)]
#[template(path = "figure.html")]
struct FigurePage<'a> {
    title: &'a str,
    palette: &'a Palette,
    revision: &'a str,
    /// The file of the index.
    index: &'a str,
    paper: &'a Paper,
    figure: &'a OfResult<'a>,
    /// The pages before and after it: file and name.
    before: Option<(&'a str, String)>,
    after: Option<(&'a str, String)>,
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
    file: String,
    place: &'a str,
    title: &'a str,
    heading: String,
    source: &'a str,
    /// The files of its scenarios, and what each says of the experiment.
    notes: Vec<(&'a str, String)>,
    /// Why it is not compared.
    why: Option<&'a str>,
    rows: Vec<OfRow>,
    assumptions: Vec<(&'a str, String, &'a Assumption)>,
    links: Vec<(String, Link)>,
    /// The number of scenarios without a link.
    others: usize,
    /// Whether it has more scenarios than are known here.
    cut: bool,
    command: String,
}

/// A published row, and ours on record.
struct OfRow {
    name: String,
    published: String,
    ours: String,
    /// Which values match; empty if none is compared.
    tolerance: String,
    verdict: Option<Verdict>,
    /// Why ours differs, where it does.
    reason: String,
}

impl<'a> OfResult<'a> {
    fn of(published: &'a Published, cells: &'a ResultCells, record: &Recorded) -> Self {
        let (paper, result) = (&published.paper, &cells.result);
        let documents: Vec<&Document> = cells.scenarios.iter().map(|scenario| scenario.document()).collect();
        let short = |(scenario, name): (&Scenario, String)| {
            let document = scenario.document();
            let title = format!("{} of {}: {name}", result.place(), paper.id);
            let document = Document { title: Some(title), seeds: document.seeds.min(SEEDS), ..document.clone() };
            let link = Link::of(&document, false, None).filter(|_| scenario.packets() <= PACKETS);
            link.map(|link| (name, link))
        };
        let scenarios = cells.scenarios.iter().map(|scenario| &**scenario);
        let links: Vec<(String, Link)> = scenarios.zip(names(&documents)).filter_map(short).collect();
        let row = |row: &PublishedRow| {
            let recorded = record.entry(&paper.id, &result.id, &row.id);
            let verdict = recorded.map(|recorded| recorded.verdict);
            OfRow {
                name: published.row_name(result, &row.id),
                published: row.published_with_unit(),
                ours: recorded.map(|recorded| recorded.ours.clone()).unwrap_or_default(),
                tolerance: row.tolerance.as_ref().map(ToString::to_string).unwrap_or_default(),
                verdict,
                reason: row.reason_text().filter(|_| verdict == Some(Verdict::Miss)).unwrap_or_default(),
            }
        };
        let of_result = |assumption: &&Assumption| assumption.results.contains(&result.id);
        let assumptions = published.assumption.iter().filter(of_result);
        let id = format!("{}-{}", paper.id, result.id);
        Self {
            file: format!("{id}.html"),
            id,
            place: result.place(),
            title: &result.title,
            heading: format!("{} of {}: {}", capitalised(result.place()), paper.id, result.title),
            source: &result.source,
            notes: cells.notes.iter().map(|(file, note)| (&**file, capitalised(note))).collect(),
            why: result.why.as_deref(),
            rows: result.rows.iter().map(row).collect(),
            assumptions: assumptions.map(|one| (&*one.key, one.text(Scale::Full), one)).collect(),
            others: documents.len() - links.len(),
            cut: documents.len() == MOST,
            links,
            command: format!("cwnd paper {} {} --full", paper.id, result.id),
        }
    }

    fn runs(&self) -> bool {
        !self.links.is_empty()
    }

    fn has_reasons(&self) -> bool {
        self.rows.iter().any(|row| !row.reason.is_empty())
    }
}

/// The name of each scenario: the settings in which it differs from the others, or its title.
fn names(documents: &[&Document]) -> Vec<String> {
    let settings: Vec<BTreeMap<String, String>> = documents.iter().map(|document| settings(document)).collect();
    let keys: BTreeSet<&String> = settings.iter().flat_map(BTreeMap::keys).collect();
    let differs = |key: &&String| settings.iter().any(|one| one.get(*key) != settings[0].get(*key));
    let differing: Vec<&String> = keys.into_iter().filter(differs).collect();
    let last = |key: &str| key.rsplit('.').next().unwrap_or(key).to_string();
    let mut values: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    for (key, value) in settings.iter().flatten() {
        values.entry(last(key)).or_default().insert(value);
    }
    let name = |most: usize, whole: bool, nth: usize| {
        let mut said: Vec<String> = Vec::new();
        for key in &differing {
            let Some(value) = settings[nth].get(*key) else { continue };
            let shown = if whole { (*key).clone() } else { last(key) };
            let one = format!("{shown} {}", shortened(value, &values[&last(key)]));
            said.extend(Some(one).filter(|one| !said.contains(one)));
        }
        said.truncate(most);
        match (said.is_empty(), &documents[nth].title) {
            (true, Some(title)) => title.clone(),
            (true, None) => "the scenario".to_string(),
            (false, _) => said.join(", "),
        }
    };
    // Two flows that change places differ only by their whole keys.
    let ways = [(NAMED, false), (usize::MAX, false), (usize::MAX, true)];
    let named = ways.map(|(most, whole)| (0..settings.len()).map(|nth| name(most, whole, nth)).collect::<Vec<_>>());
    let are_distinct = |names: &&Vec<String>| names.iter().collect::<BTreeSet<_>>().len() == names.len();
    named.iter().find(are_distinct).unwrap_or(&named[2]).clone()
}

/// A value, of a long list of parameters only those by which it differs from all of `values` with the same name.
fn shortened(value: &str, values: &BTreeSet<&str>) -> String {
    let Some((name, list)) = value.split_once(':').filter(|_| value.len() > LONGEST) else { return readable(value) };
    let lists = values.iter().filter(|other| **other != value).filter_map(|other| other.split_once(':'));
    let others: Vec<Vec<&str>> =
        lists.filter(|(other, _)| *other == name).map(|(_, list)| list.split(',').collect()).collect();
    let mut kept: Vec<&str> = Vec::new();
    for parameter in list.split(',').filter(|one| others.iter().any(|other| !other.contains(one))) {
        kept.push(parameter);
        if others.iter().all(|other| kept.iter().any(|one| !other.contains(one))) {
            break;
        }
    }
    let kept: String = kept.iter().map(|parameter| format!("{parameter},")).collect();
    format!("{name}:{kept}…")
}

/// A time or a rate in the largest unit of which it is a whole number; other text as it is.
fn readable(text: &str) -> String {
    if let Ok(time) = span(text) {
        return exact(time);
    }
    let Some(bits) = text.strip_suffix("bit").and_then(|bits| bits.parse::<u64>().ok()) else {
        return text.to_string();
    };
    let units = [(1_000_000_000, "gbit"), (1_000_000, "mbit"), (1_000, "kbit")];
    let (size, unit) = units.into_iter().find(|(size, _)| bits.is_multiple_of(*size)).unwrap_or((1, "bit"));
    format!("{}{unit}", bits / size)
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

#[cfg(test)]
mod tests {
    use super::*;

    fn named(flows: &[&str]) -> Vec<String> {
        let documents = flows.iter().map(|flows| {
            let text = format!("title = \"t\"\n[dumbbell]\n{flows}");
            Scenario::read("test.toml", &text, &[]).unwrap_or_else(|error| panic!("{error}")).document().clone()
        });
        let documents: Vec<Document> = documents.collect();
        names(&documents.iter().collect::<Vec<_>>())
    }

    #[test]
    fn a_link_is_named_after_what_differs() {
        let reno = |start: &str| format!("[[flow]]\nalgorithm = \"reno\"\nstart = \"{start}\"\n");
        assert_eq!(named(&[&reno("1s"), &reno("1500ms")]), ["start 1s", "start 1500ms"]);
        assert_eq!(named(&[&reno("2000000000ns"), &reno("3s")]), ["start 2s", "start 3s"]);
        // Two flows in places of each other.
        let first = "[[flow]]\nalgorithm = \"reno\"\n";
        let (after, before) = (first.to_string() + &reno("9s"), reno("9s") + first);
        assert_eq!(named(&[&after, &before]), ["flow.1.start 9s", "flow.0.start 9s"]);
        assert_eq!(named(&[first]), ["t"]);
    }

    #[test]
    fn long_lists_of_parameters_are_named_by_those_that_differ() {
        let values = [
            "udt:profile=paper,lambda=0.875,decrease=per-nak,start=slow-start",
            "udt:profile=ns2-2.2,lambda=0.875,decrease=once",
            "udt:profile=paper,lambda=0.875,decrease=per-nak,start=none,naks=once",
            "cubic",
            "exp-tcp:gamma=0.05,beta=0.125,small_window=off,pacing=on",
        ];
        let all: BTreeSet<&str> = values.into_iter().collect();
        let short = values.map(|value| shortened(value, &all));
        assert_eq!(
            short,
            [
                "udt:profile=paper,decrease=per-nak,start=slow-start,…",
                "udt:profile=ns2-2.2,…",
                "udt:profile=paper,decrease=per-nak,start=none,…",
                "cubic",
                "exp-tcp:…"
            ]
        );
        assert_eq!(
            ["40000000bit", "1500bit", "7bit", "0.1mbit", "droptail:1bdp"].map(readable),
            ["40mbit", "1500bit", "7bit", "0.1mbit", "droptail:1bdp"]
        );
    }
}
