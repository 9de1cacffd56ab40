//! Reports of comparisons and runs.

use super::json;
use crate::page::Report;
use crate::plot::Shown;
use cwnd_lab::compare::Compared;
use cwnd_run::VERSION;
use cwnd_run::run::Runs;
use cwnd_run::scenario::Scenario;

/// The page of a comparison: every algorithm alone, then every pair.
pub(super) fn comparison(command: &str, summary: &json::Comparison, compared: &Compared) -> String {
    let alone = compared.rows.iter().map(|row| (row.algorithm.clone(), &row.alone));
    let versus = compared.rows.iter().filter_map(|row| {
        let versus = row.versus.as_ref()?;
        Some((format!("{} and {}", row.algorithm, versus.opponent), &versus.runs))
    });
    let algorithms: Vec<&str> = compared.rows.iter().map(|row| row.algorithm.as_str()).collect();
    let title = match algorithms.as_slice() {
        [one] => (*one).to_string(),
        [some @ .., last] if some.len() < 4 => format!("{} and {last}", some.join(", ")),
        all => format!("{} algorithms", all.len()),
    };
    page(title, command, summary.warnings.clone(), &alone.chain(versus).collect::<Vec<_>>())
}

/// The page of one scenario.
pub(super) fn run(command: &str, summary: &json::Run, runs: &Runs) -> String {
    let mut algorithms: Vec<String> = summary.flows.iter().map(|flow| flow.algorithm.clone()).collect();
    algorithms.sort_unstable();
    algorithms.dedup();
    let label = algorithms.join(" and ");
    let title = summary.origin.scenario.title.clone().unwrap_or_else(|| label.clone());
    page(title, command, summary.warnings.clone(), &[(label, runs)])
}

fn page(title: String, command: &str, warnings: Vec<String>, parts: &[(String, &Runs)]) -> String {
    let Some(scenario) = parts.first().map(|(_, runs)| &runs.scenario) else { return String::new() };
    let estimates: Vec<_> = parts.iter().map(|(_, runs)| runs.estimates()).collect();
    let report = Report {
        title,
        command: command.to_string(),
        revision: VERSION.to_string(),
        seeds: scenario.seeds().collect(),
        warmup_s: scenario.warmup().as_secs_f64(),
        scenario_toml: scenario.to_toml(),
        bottleneck: scenario.bottleneck(),
        warnings,
        algorithms: specs(parts.iter().map(|(_, runs)| &runs.scenario)),
        shown: parts
            .iter()
            .zip(&estimates)
            .filter_map(|((label, runs), measures)| {
                Some(Shown { label: label.clone(), measures, trace: runs.traces.first()? })
            })
            .collect(),
    };
    report.html()
}

/// Every algorithm once, in the order of appearance.
fn specs<'a>(scenarios: impl Iterator<Item = &'a Scenario>) -> Vec<cwnd::Spec> {
    let mut specs: Vec<cwnd::Spec> = Vec::new();
    for group in scenarios.flat_map(|scenario| &scenario.document().flow) {
        let spec = group.algorithm.value();
        if specs.iter().all(|seen| seen.label() != spec.label()) {
            specs.push(spec.clone());
        }
    }
    specs
}
