//! The pages of a comparison and of one scenario, from their documents and the first run of each.

use cwnd::Spec;
use cwnd_run::scenario::Document;
use cwnd_text::counted;
use cwnd_trace::Trace;

use super::link::Link;
use super::parts::listed;
use super::report::Report;
use crate::json;
use crate::plot::Shown;

/// The page of a comparison: every algorithm alone, then every pair. `traces` are of the first seed, in the same order. `command`
/// repeats it.
#[must_use]
pub fn comparison_html(document: &json::Comparison, traces: &[&Trace], command: &str) -> String {
    let names: Vec<&str> = document.algorithms.iter().map(|row| row.algorithm.as_str()).collect();
    let title = if names.len() < 5 { listed(&names) } else { format!("{} algorithms", names.len()) };
    let alone = document.algorithms.iter().map(|row| (Some(row.algorithm.clone()), &row.measures));
    let versus = document.algorithms.iter().filter_map(|row| {
        let versus = row.versus.as_ref()?;
        // An algorithm against itself is a section above with twice the flows.
        let label = (row.algorithm != versus.algorithm).then(|| format!("{} and {}", row.algorithm, versus.algorithm));
        Some((label, &versus.measures))
    });
    let sections = alone.chain(versus).zip(traces);
    let shown = sections.filter_map(|((label, measures), trace)| Some(Shown { label: label?, measures, trace }));
    let mut against: Vec<&str> =
        document.algorithms.iter().filter_map(|row| row.versus.as_ref()).map(|versus| &*versus.algorithm).collect();
    against.sort_unstable();
    against.dedup();
    let question = match (names.as_slice(), against.is_empty()) {
        ([_], true) => format!("How does {title} use this path?"),
        ([_], false) => format!("How does {title} use this path, alone and against {}?", listed(&against)),
        (_, true) => format!("How do {title} differ on this path?"),
        (_, false) => format!("How do {title} differ on this path, alone and against {}?", listed(&against)),
    };
    let opponents = document.algorithms.iter().filter_map(|row| row.versus.as_ref()).map(|versus| &*versus.algorithm);
    let specs = names.iter().copied().chain(opponents).filter_map(|name| Spec::parse(name).ok());
    let too_short = document.too_short().map(|reason| format!("Too short a window: {reason}"));
    let failed = document.failures.iter().map(|failure| format!("Failed: {}", failure.line()));
    let report = Report {
        title,
        question,
        warnings: failed.chain(document.warnings.iter().cloned()).chain(too_short).collect(),
        bottleneck: position(&document.bottleneck, traces),
        algorithms: once_each(specs),
        shown: shown.collect(),
        ..about(&document.origin, command)
    };
    let scenario = document.algorithms.first().map(|first| document.scenario_of(first));
    let flow = document.algorithms.iter().flat_map(|algorithm| document.scenario_of(algorithm).flow).collect();
    // Where a run failed, the first trace may be of another seed.
    let first = traces.first().filter(|_| document.failures.is_empty()).map(|trace| trace.digest);
    let linked = Document { flow, ..document.origin.scenario.clone() };
    let alone = &traces[..traces.len().min(names.len())];
    let link = Link::of(&linked, true, first).or_else(|| Link::replaced(&linked, true, alone));
    Report { scenario_toml: scenario.as_ref().map(Document::to_toml).unwrap_or_default(), link, ..report }.html()
}

/// The page of one scenario. `trace` is of the first seed, `command` repeats it.
#[must_use]
pub fn run_html(document: &json::Run, trace: &Trace, command: &str) -> String {
    let mut algorithms: Vec<String> = document.flows.iter().map(|flow| flow.algorithm.clone()).collect();
    algorithms.sort_unstable();
    algorithms.dedup();
    let label = listed(&algorithms);
    let scenario = &document.origin.scenario;
    let report = Report {
        question: match document.flows.as_slice() {
            [] => "What happens on this path?".to_string(),
            [one] => format!("What does one flow of {} do on this path?", one.algorithm),
            all => format!("How do {} of {} share this path?", counted(all.len(), "flow"), listed(&algorithms)),
        },
        title: scenario.title.clone().unwrap_or_else(|| label.clone()),
        warnings: document.warnings.clone(),
        bottleneck: position(&document.bottleneck, &[trace]),
        algorithms: once_each(scenario.flow.iter().map(|group| group.algorithm.value().clone())),
        scenario_toml: scenario.to_toml(),
        link: Link::of(scenario, false, Some(trace.digest)).or_else(|| Link::replaced(scenario, false, &[trace])),
        shown: vec![Shown { label, measures: &document.measures, trace }],
        ..about(&document.origin, command)
    };
    report.html()
}

/// How a result came about, as the page says it.
fn about<'a>(origin: &json::Origin, command: &str) -> Report<'a> {
    Report {
        command: command.to_string(),
        path: origin.path.clone(),
        revision: origin.version.to_string(),
        seeds: (0..origin.seeds).map(|nth| origin.first_seed.wrapping_add(u64::from(nth))).collect(),
        warmup_s: origin.warmup_s,
        ..Report::default()
    }
}

/// Where the link called `name` stands among those of every trace.
fn position(name: &str, traces: &[&Trace]) -> usize {
    traces.first().and_then(|trace| trace.links.iter().position(|link| link.name == name)).unwrap_or(0)
}

/// Every algorithm once, in the order of appearance.
fn once_each(all: impl Iterator<Item = Spec>) -> Vec<Spec> {
    let mut specs: Vec<Spec> = Vec::new();
    for spec in all {
        if specs.iter().all(|seen| seen.label() != spec.label()) {
            specs.push(spec);
        }
    }
    specs
}
