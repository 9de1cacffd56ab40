//! The exports of a page: the command line that does what the page does, and the address of the scenario.

use std::sync::Arc;

use cwnd_run::address::{Linked, MOST};
use cwnd_run::scenario::Scenario;

/// The fragment of an address of the scenario; empty where it would be too long to be read.
pub(crate) fn address(toml: &str, apart: bool) -> String {
    if toml.len() > MOST {
        return String::new();
    }
    let fragment = Linked { toml: toml.to_string(), apart, ..Linked::default() }.fragment();
    if fragment.len() > MOST { String::new() } else { fragment }
}

/// The command that runs these scenarios: those of a comparison on a dumbbell together, everything else from a file.
pub(crate) fn command(scenarios: &[(String, Arc<Scenario>)]) -> String {
    comparison(scenarios).unwrap_or_else(|| RUN.to_string())
}

/// The command for a scenario in its file.
pub(crate) const RUN: &str = "cwnd run live.toml";

/// `cwnd compare`, where that says all that the scenarios do.
fn comparison(scenarios: &[(String, Arc<Scenario>)]) -> Option<String> {
    let [(_, first), _, ..] = scenarios else { return None };
    let document = first.document();
    let dumbbell = document.dumbbell.as_ref()?;
    let groups: Vec<_> = scenarios.iter().filter_map(|(_, scenario)| scenario.document().flow.first()).collect();
    let count = groups.first()?.count;
    let algorithms = groups.iter().map(|group| quoted(group.algorithm.text())).collect::<Vec<_>>().join(" ");
    let mut command = format!(
        "cwnd compare {algorithms} --rate {} --rtt {} --queue {} --loss {} --flows {count} --era {} --duration {} --warmup {} --seeds {}",
        dumbbell.rate,
        dumbbell.rtt,
        dumbbell.queue,
        dumbbell.loss,
        document.era,
        document.duration,
        document.warmup,
        document.seeds,
    );
    if let Some(ecn) = &groups[0].ecn {
        command.push_str(&format!(" --ecn {ecn}"));
    }
    if let Some(reorder) = dumbbell.impairments.as_ref().and_then(|impairments| impairments.reorder.as_ref()) {
        command.push_str(&format!(" --reorder {reorder}"));
    }
    let says_all = scenarios.iter().all(|(_, scenario)| is_plain(scenario, count));
    says_all.then_some(command)
}

/// Whether nothing but what [`comparison`] writes differs from the defaults: its document is the one that the command would make.
fn is_plain(scenario: &Scenario, count: u32) -> bool {
    use cwnd_run::scenario::{Document, Dumbbell, FlowGroup, Impairments};
    let document = scenario.document();
    let (Some(dumbbell), [group]) = (&document.dumbbell, document.flow.as_slice()) else { return false };
    let reorder = dumbbell.impairments.as_ref().and_then(|impairments| impairments.reorder.clone());
    let impairments = reorder.map(|reorder| Impairments { reorder: Some(reorder), ..Impairments::default() });
    let plain = Document {
        directory: document.directory.clone(),
        title: document.title.clone(),
        duration: document.duration.clone(),
        warmup: document.warmup.clone(),
        seeds: document.seeds,
        era: document.era.clone(),
        sampling: document.sampling.clone(),
        dumbbell: Some(Dumbbell {
            rate: dumbbell.rate.clone(),
            rtt: dumbbell.rtt.clone(),
            queue: dumbbell.queue.clone(),
            loss: dumbbell.loss.clone(),
            impairments,
            ..Dumbbell::default()
        }),
        flow: vec![FlowGroup { ecn: group.ecn.clone(), ..FlowGroup::new(group.algorithm.clone(), count) }],
        ..Document::default()
    };
    plain.to_toml() == document.to_toml()
}

/// A word of a shell.
fn quoted(text: &str) -> String {
    let text = text.trim();
    let plain = text.chars().all(|c| c.is_ascii_alphanumeric() || "-_:=.,/+".contains(c));
    if plain { text.to_string() } else { format!("'{text}'") }
}
