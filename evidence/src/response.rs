//! The simulator under random loss against the response functions.

use std::collections::BTreeMap;
use std::fmt::Write;

use cwnd::registry::{ALGORITHMS, Transport};
use cwnd::{Span, Spec};
use cwnd_lab::model::{ResponseRow, responses};
use cwnd_run::measure::{Domain, Estimate, Window, wire_throughput};
use cwnd_run::run::{Runs, run as run_all};
use cwnd_run::scenario::Scenario;
use cwnd_trace::Trace;
use serde::Deserialize;

use crate::page::{put, shown};
use crate::provenance::Provenance;
use crate::{Error, root};

/// `cases.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Cases {
    /// Losses in a run, on average.
    losses: f64,
    level: Vec<Level>,
    #[serde(default)]
    longer: Vec<Longer>,
    #[serde(default)]
    note: Vec<Note>,
}

/// A loss rate.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Level {
    /// Probability per packet.
    loss: f64,
    /// Relative difference of the means.
    tolerance: f64,
}

/// Runs in which more is forgotten than a tenth.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Longer {
    algorithms: Vec<String>,
    loss: f64,
    /// Losses in a run, on average.
    losses: f64,
    /// The losses among them before measuring starts.
    after: f64,
}

/// Why rows are outside.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Note {
    algorithms: Vec<String>,
    losses: Vec<f64>,
    /// In place of the tolerance, for each of the losses: from where to where the difference may lie.
    differences: BTreeMap<String, Vec<[f64; 2]>>,
    /// The bounds for the rows of longer runs.
    #[serde(default)]
    longer: BTreeMap<String, [f64; 2]>,
    /// Whether the model is run with a round trip in which a loss is found and one of recovery, too.
    #[serde(default)]
    with_recovery: bool,
    text: String,
}

/// An algorithm at a loss rate.
#[derive(Clone)]
struct Compared {
    level: Level,
    /// Losses in a run on average, and those before measuring starts.
    losses: f64,
    after: f64,
    model: ResponseRow,
    /// Packets sent per round trip; none where the model has no reference.
    simulated: Option<Estimate>,
}

/// Runs everything and writes the part of the page; whether every difference is within its tolerance or explained.
pub(crate) fn validate() -> Result<bool, Error> {
    // Before the runs, during which the sources may change.
    let sources = Provenance::of_record(root())?;
    let cases = Cases::read()?;
    let specs: Vec<Spec> = windowed().collect();
    let mut compared = rows(&specs, &cases.level, cases.losses)?;
    for longer in &cases.longer {
        let known = compared.iter().filter(|one| one.level.loss == longer.loss);
        let chosen = known.filter(|one| longer.algorithms.contains(&one.model.algorithm)).cloned();
        let again = chosen.map(|one| Compared { losses: longer.losses, after: longer.after, ..one });
        compared.extend(again.collect::<Vec<_>>());
    }
    simulate(&mut compared)?;
    let (text, unexplained) = page(&cases, &compared, &sources)?;
    put(root(), "model", &text)?;
    Ok(unexplained == 0)
}

/// Every registered algorithm that sets a window, with its defaults.
fn windowed() -> impl Iterator<Item = Spec> {
    let acked = ALGORITHMS.iter().filter(|entry| entry.transport == Transport::Acked);
    acked.filter_map(|entry| Spec::parse(entry.name).ok())
}

/// Each algorithm at each loss rate by the model, and with `losses` losses per simulated run on average.
fn rows(specs: &[Spec], levels: &[Level], losses: f64) -> Result<Vec<Compared>, Error> {
    let scenario = scenario(&[])?;
    let packet = scenario.setup(0).flows[0].packet;
    let algorithms: Vec<&Spec> = specs.iter().collect();
    let of = |level: &Level| {
        let rows = responses(
            &algorithms,
            &[level.loss],
            round_trip(&scenario),
            packet,
            scenario.seeds().len() as u32,
            &|| true,
        )
        .rows;
        let level = *level;
        rows.into_iter().map(move |model| Compared { level, losses, after: losses / 10.0, model, simulated: None })
    };
    Ok(levels.iter().flat_map(of).collect())
}

/// Fills in what the simulator gives, where the model has a reference.
fn simulate(compared: &mut [Compared]) -> Result<(), Error> {
    let rtt = round_trip(&scenario(&[])?).as_secs_f64();
    let mut scenarios = Vec::new();
    for one in compared.iter() {
        let Some(reference) = one.model.random_window_packets else { continue };
        let seconds = |losses: f64| losses / (one.level.loss * reference.mean) * rtt;
        scenarios.push(scenario(&[
            format!("flow.0.algorithm={}", one.model.algorithm),
            format!("dumbbell.loss={}", one.level.loss),
            format!("duration={:.3}s", seconds(one.losses)),
            format!("warmup={:.3}s", seconds(one.after)),
        ])?);
    }
    let mut runs = run_all(scenarios, &())?.into_iter();
    for one in compared.iter_mut().filter(|one| one.model.random_window_packets.is_some()) {
        one.simulated = runs.next().and_then(|runs| window(&runs));
    }
    Ok(())
}

fn round_trip(scenario: &Scenario) -> Span {
    let setup = scenario.setup(0);
    setup.links.iter().map(|link| link.delay).fold(setup.flows[0].access_rtt, |sum, delay| sum + delay)
}

fn scenario(overrides: &[String]) -> Result<Scenario, Error> {
    let path = root().join("evidence/model/loss.toml");
    let text = std::fs::read_to_string(&path).map_err(|source| Error::File { path: path.clone(), source })?;
    Scenario::read(&path.display().to_string(), &text, overrides).map_err(|error| Error::Scenario(Box::new(error)))
}

/// Packets sent per round trip over the runs of all seeds.
fn window(runs: &Runs) -> Option<Estimate> {
    let of = |trace: &Trace| {
        let flow = trace.flows.first()?;
        let rate = wire_throughput(trace, flow, Window::measured(trace))?;
        Some(rate / (8.0 * f64::from(flow.packet)) * flow.base_rtt as f64 * 1e-9)
    };
    Estimate::over(&runs.traces.iter().filter_map(of).collect::<Vec<_>>(), Domain::POSITIVE)
}

impl Cases {
    fn read() -> Result<Self, Error> {
        let path = root().join("evidence/model/cases.toml");
        let text = std::fs::read_to_string(&path).map_err(|source| Error::File { path: path.clone(), source })?;
        toml::from_str(&text).map_err(|source| Error::Cases { path, source })
    }

    /// The note on a row, and where its difference may lie.
    fn note(&self, one: &Compared) -> Option<(&Note, [f64; 2])> {
        self.note.iter().find_map(|note| Some((note, note.range(one)?)))
    }
}

impl Note {
    fn range(&self, one: &Compared) -> Option<[f64; 2]> {
        let at = self.losses.iter().position(|loss| *loss == one.level.loss)?;
        if one.is_longer() {
            return self.longer.get(&one.model.algorithm).copied();
        }
        self.differences.get(&one.model.algorithm)?.get(at).copied()
    }
}

impl Compared {
    /// Whether more is forgotten than a tenth.
    fn is_longer(&self) -> bool {
        self.after > self.losses / 10.0
    }

    /// The window of the model in which a loss takes two round trips.
    fn with_recovery(&self, rtt: Span, seeds: u64) -> Option<Estimate> {
        let spec = Spec::parse(&self.model.algorithm).ok()?;
        let packets = (MODEL_LOSSES / self.level.loss) as u64;
        let mean = |seed| cwnd_model::bernoulli::mean_window_with_recovery(&spec, self.level.loss, packets, rtt, seed);
        Estimate::over(&(1..=seeds).filter_map(mean).collect::<Vec<f64>>(), Domain::POSITIVE)
    }

    /// The simulator's mean over the model's, less one; none where one of them is missing.
    fn difference(&self) -> Option<f64> {
        Some(self.simulated?.mean / self.model.random_window_packets?.mean - 1.0)
    }
}

/// The part of the page, and how many rows are outside without a reason.
fn page(cases: &Cases, compared: &[Compared], sources: &Provenance) -> Result<(String, usize), Error> {
    let mut rows = String::new();
    let mut notes: Vec<&Note> = Vec::new();
    let (mut judged, mut outside, mut unexplained) = (0, 0, 0);
    for one in compared {
        let [model, simulated] = [one.model.random_window_packets, one.simulated]
            .map(|cell| cell.map_or("not defined".into(), |cell| shown(&cell)));
        let closed = one.model.window_packets.map_or("not defined".into(), |mean| format!("{mean:.4}"));
        let difference = one.difference();
        let note = cases.note(one);
        let outside_of = |difference: f64| match note {
            None => "**differs**",
            Some((_, [low, high])) if (low..=high).contains(&difference) => "**differs**, see below",
            Some(_) => "**differs**, and not as below",
        };
        let verdict = match difference {
            None => "",
            Some(difference) if difference.abs() <= one.level.tolerance => "agrees",
            Some(difference) => outside_of(difference),
        };
        judged += usize::from(difference.is_some());
        if verdict.starts_with("**") {
            outside += 1;
            unexplained += usize::from(!verdict.ends_with("see below"));
            let note = note.map(|(note, _)| note);
            notes.extend(note.filter(|note| !notes.iter().any(|known| std::ptr::eq(*known, *note))));
        }
        let known = note
            .filter(|_| verdict.starts_with("**"))
            .map(|(_, [low, high])| format!("; known: {:+.0} to {:+.0} %", 100.0 * low, 100.0 * high));
        let difference = difference.map_or(String::new(), |difference| format!("{:+.1} %", 100.0 * difference));
        let Level { loss, tolerance } = one.level;
        let after = if one.is_longer() { format!(", after {} losses", one.after) } else { String::new() };
        let _ = writeln!(
            rows,
            "| {}{after} | {loss:e} | {closed} | {model} | {simulated} | {difference} | ± {:.0} %{} | {verdict} |",
            one.model.algorithm,
            100.0 * tolerance,
            known.unwrap_or_default()
        );
    }
    let verdict = format!("{judged} comparisons: {outside} outside the tolerance, {unexplained} of these unexplained.");
    println!("{verdict}");
    let mut text = format!(
        "Packets sent per round trip by one flow that only random losses limit. *Closed form*: for one loss in every 1/p packets. \
         *Model*: the\nrule alone under random loss, by renewal Monte Carlo; it is the reference. *Simulated*: the packet simulator. \
         Both are means over\n5 seeds with 95 % t intervals. [evidence/model](README.md) describes the method and the tolerances, which were\n\
         fixed before the first run.\n\n\
         Written by `cargo xtask validate model` at {sources}.\n\n{verdict}\n\n\
         | algorithm | loss | closed form | model | simulated | difference | tolerance | verdict |\n\
         | --- | --- | --- | --- | --- | --- | --- | --- |\n{rows}"
    );
    for note in &notes {
        let _ = writeln!(text, "\n{}: {}", note.algorithms.join(", "), note.text);
    }
    recoveries(&mut text, cases, compared)?;
    Ok((text, unexplained))
}

/// The model in which a loss takes two round trips, next to the simulator, where a note attributes the difference to them.
fn recoveries(text: &mut String, cases: &Cases, compared: &[Compared]) -> Result<(), Error> {
    let scenario = scenario(&[])?;
    let (rtt, seeds) = (round_trip(&scenario), scenario.seeds().len() as u64);
    text.push_str(
        "\nThe model in which a loss is found a round trip after it happened, what is lost in between cuts nothing, and nothing grows in \
         the round trip of the recovery:\n\n| algorithm | loss | model | with recovery | simulated | difference |\n\
         | --- | --- | --- | --- | --- | --- |\n",
    );
    for one in compared.iter().filter(|one| !one.is_longer()) {
        let noted = cases.note(one).is_some_and(|(note, _)| note.with_recovery);
        let (Some(model), Some(simulated)) = (one.model.random_window_packets.filter(|_| noted), one.simulated) else {
            continue;
        };
        let Some(with) = one.with_recovery(rtt, seeds) else { continue };
        let _ = writeln!(
            text,
            "| {} | {:e} | {} | {} | {} | {:+.1} % |",
            one.model.algorithm,
            one.level.loss,
            shown(&model),
            shown(&with),
            shown(&simulated),
            100.0 * (simulated.mean / with.mean - 1.0)
        );
    }
    Ok(())
}

/// Losses of a run of the model, as in that without recovery.
const MODEL_LOSSES: f64 = 3000.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_runs_agree_with_the_response_functions() -> Result<(), Error> {
        let cases = Cases::read()?;
        let specs: Vec<Spec> = windowed().collect();
        let (frequent, rare): (Vec<Level>, Vec<Level>) = cases.level.iter().partition(|level| level.loss > 5e-4);
        let mut compared = rows(&specs, &frequent, FEW)?;
        simulate(&mut compared)?;
        assert!(compared.iter().filter(|one| one.difference().is_some()).count() >= 2 * 13);
        // A rule with a note differs, or needs more losses than these to come down from slow start.
        let noted = |one: &&Compared| cases.note.iter().any(|note| note.algorithms.contains(&one.model.algorithm));
        for one in compared.iter().filter(|one| !noted(one)) {
            let within = one.level.tolerance + CHANCE;
            let good = one.difference().is_none_or(|difference| difference.abs() <= within);
            assert!(good, "{} at {}: {:?} for {:?}", one.model.algorithm, one.level.loss, one.simulated, one.model);
        }
        // Slow start ends at some ten thousand packets: these come down from there within a few losses.
        let quick: Vec<Spec> =
            ["reno", "highspeed", "cubic"].iter().filter_map(|name| Spec::parse(name).ok()).collect();
        let mut compared = rows(&quick, &rare, RARE)?;
        compared.iter_mut().for_each(|one| one.after = RARE / 2.0);
        simulate(&mut compared)?;
        assert_eq!(compared.iter().filter(|one| one.difference().is_some()).count(), 3 * rare.len());
        for one in &compared {
            let good = one.difference().is_some_and(|difference| difference.abs() <= one.level.tolerance + RARE_CHANCE);
            assert!(good, "{} at {}: {:?} for {:?}", one.model.algorithm, one.level.loss, one.simulated, one.model);
        }
        Ok(())
    }

    #[test]
    fn a_row_with_a_note_has_a_range_for_each_loss() -> Result<(), Error> {
        for note in &Cases::read()?.note {
            for algorithm in &note.algorithms {
                let ranges = note.differences.get(algorithm).map(Vec::as_slice).unwrap_or_default();
                assert_eq!(ranges.len(), note.losses.len(), "{algorithm}");
                assert!(ranges.iter().chain(note.longer.get(algorithm)).all(|[low, high]| low < high), "{algorithm}");
            }
        }
        Ok(())
    }

    /// Losses of a run where they are rare; half of them come before it is measured.
    const RARE: f64 = 40.0;
    /// Five standard deviations of a mean over five such runs, as [`CHANCE`].
    const RARE_CHANCE: f64 = 0.28;
    /// Losses of a run.
    const FEW: f64 = 200.0;
    /// Five standard deviations of a mean over five such runs: 200 losses leave each about 4 % of a window.
    const CHANCE: f64 = 0.1;
}
