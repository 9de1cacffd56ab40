//! ns-2 as the judge: the author's own agents of UDT, and TCP and queues as ns-2 had them at a date.
//!
//! The experiments are data in `evidence/ns2`: the tables of the paper on UDT for the agents of four releases ([`agents`]), and comparisons
//! of ns-2's TCP with the eras here ([`cases`]). The results of ns-2 are kept in `recorded.json`; `evidence/ns2/results.md` is
//! made from that.

mod agents;
mod build;
mod cases;
mod output;
mod record;
mod script;

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use cwnd_papers::RecordFile;
use cwnd_run::scenario::Scenario;
use rayon::prelude::*;
use serde::de::DeserializeOwned;

use self::agents::{Agent, Agents};
use self::cases::Cases;
use self::output::Run;
use self::record::{Record, Records};
use crate::Error;
use crate::page::put;
use crate::provenance::Provenance;

/// Something that ns-2 runs, with several seeds.
pub(crate) struct Experiment<'a> {
    case: String,
    side: String,
    /// None where all senders are ns-2's own.
    agent: Option<&'a Agent>,
    script: String,
    runs: u32,
}

impl<'a> Experiment<'a> {
    fn new(
        case: String,
        side: &str,
        agent: Option<&'a Agent>,
        scenario: &Scenario,
        switches: &[String],
        runs: u32,
    ) -> Result<Self, Error> {
        let script =
            script::script(scenario, switches).map_err(|reason| Error::BeyondNs2 { case: case.clone(), reason })?;
        Ok(Self { case, side: side.to_owned(), agent, script, runs })
    }

    fn is_of(&self, record: &Record) -> bool {
        (&self.case, &self.side) == (&record.case, &record.side)
    }

    /// The case and the side, as tables of `agents.toml` and words of the command line name it.
    fn name(&self) -> String {
        format!("{}, {}", self.case, self.side)
    }

    /// Runs all seeds, as many at a time as there are cores.
    fn run(&self, root: &Path) -> Result<Vec<Run>, Error> {
        let library = self.agent.map(|agent| build::build(root, agent)).transpose()?;
        let one = |seed: u64| {
            let (printed, wall_s) = timed(|| build::run(root, &self.script, seed, library.as_deref()));
            Run::read(seed, wall_s, &printed?)
                .map_err(|line| Error::Program { command: format!("ns: {}, {}", self.case, self.side), reason: line })
        };
        let seeds: Vec<u64> = (1..=u64::from(self.runs)).collect();
        seeds.into_par_iter().with_max_len(1).map(one).collect()
    }
}

/// Runs the experiments whose names, `CASE, SIDE`, start with a chosen word; without one, those that have no record or one of other
/// settings. Writes the page once all have records but those that are listed as unrecorded. Returns whether that is so, and every
/// difference is within its tolerance or explained.
pub(crate) fn validate(root: &Path, chosen: &[String]) -> Result<bool, Error> {
    // Before the runs, during which the sources may change.
    let (sources, date, version) = (Provenance::of_record(root)?, today()?, build::version()?);
    let agents = Agents::read(root)?;
    let cases = Cases::read(root)?;
    let experiments: Vec<Experiment<'_>> =
        agents.experiments(root)?.into_iter().chain(cases.experiments(root)?).collect();
    let mut records = Records::read(root)?;
    for experiment in &experiments {
        let asked = chosen.iter().any(|word| experiment.name().starts_with(word.as_str()));
        if !asked && (!chosen.is_empty() || records.of(experiment).is_some()) {
            continue;
        }
        let runs = experiment.run(root)?;
        let took: f64 = runs.iter().map(|run| run.wall_s).sum();
        println!("{}, {}: {} runs, {took:.0} s", experiment.case, experiment.side, runs.len());
        let record = Record {
            case: experiment.case.clone(),
            side: experiment.side.clone(),
            commit: experiment.agent.map(|agent| agent.commit.clone()),
            script: experiment.script.clone(),
            ns2: version.clone(),
            sources: sources.clone(),
            date: date.clone(),
            runs,
        };
        records.put(record, &experiments)?;
    }
    let missing = experiments.iter().filter(|experiment| !agents.is_unrecorded(experiment));
    let missing = missing.filter(|experiment| records.of(experiment).is_none()).count();
    if missing > 0 {
        println!(
            "{missing} of {} experiments have no record of their settings yet: the page stays as it is",
            experiments.len()
        );
        return Ok(false);
    }
    let runs = |case: &str, side: &str| {
        let of = |record: &&Record| record.case == case && record.side == side;
        records.records.iter().find(of).map(|record| record.runs.clone()).unwrap_or_default()
    };
    let (tables, in_ns2) = agents.page(root, &runs)?;
    put(root, "ns2", &format!("{}{tables}", preface(&records, &sources)))?;
    let path = root.join("papers/daimd/ns2.toml");
    std::fs::write(&path, in_ns2.to_toml()).map_err(|source| Error::File { path, source })?;
    // Needs runs on this side.
    let (compared, unexplained) = cases.page(root, &runs)?;
    put(root, "ns2-tcp", &format!("Written by `cargo xtask validate ns2` with `cwnd` at {sources}.\n\n{compared}"))?;
    Ok(unexplained == 0)
}

fn preface(records: &Records, sources: &Provenance) -> String {
    let list = |of: &dyn Fn(&Record) -> String| {
        let all: BTreeSet<String> = records.records.iter().map(of).collect();
        all.into_iter().collect::<Vec<_>>().join(", ")
    };
    format!(
        "The printed numbers of the paper on UDT, those of the author's agents in ns-2, and ours on record at full length\n\
         ([papers](../../docs/papers.md)). Rates are in Mbit/s. Every number is simulated: the mean over runs with its 95 % t interval. [evidence/ns2](README.md)\n\
         describes the build and the runs of the agents.\n\n\
         Written by `cargo xtask validate ns2` with `cwnd` at {sources}, from runs in ns-2 as packaged by Debian ({}) on {} under {}.\n",
        list(&|record| record.ns2.clone()),
        list(&|record| record.date.clone()),
        list(&|record| record.sources.to_string()),
    )
}

/// Reads a file of this validation.
fn read<T: DeserializeOwned>(path: &Path) -> Result<T, Error> {
    let text = std::fs::read_to_string(path).map_err(|source| Error::File { path: path.to_owned(), source })?;
    toml::from_str(&text).map_err(|source| Error::Cases { path: path.to_owned(), source })
}

/// A scenario of the repository with changes.
fn scenario(root: &Path, file: &str, set: &[String]) -> Result<Scenario, Error> {
    let path = root.join(file);
    let text = std::fs::read_to_string(&path).map_err(|source| Error::File { path: path.clone(), source })?;
    Scenario::read(file, &text, set).map_err(|error| Error::Scenario(Box::new(error)))
}

fn today() -> Result<String, Error> {
    Ok(crate::ns3::output(Command::new("date").args(["-u", "+%F"]))?.trim().to_owned())
}

#[expect(clippy::disallowed_methods, reason = "how long ns-2 took is recorded beside what it gave")]
fn timed<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let start = std::time::Instant::now();
    let result = work();
    (result, start.elapsed().as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::root;

    #[test]
    fn every_experiment_has_its_record_or_is_listed_without() -> Result<(), Error> {
        let (agents, cases) = (Agents::read(root())?, Cases::read(root())?);
        let records = Records::read(root())?;
        let experiments: Vec<Experiment<'_>> =
            agents.experiments(root())?.into_iter().chain(cases.experiments(root())?).collect();
        let known = |record: &Record| experiments.iter().any(|experiment| experiment.is_of(record));
        assert!(records.records.iter().all(known), "records of what is run no more");
        for name in &agents.unrecorded {
            let of = |experiment: &&Experiment<'_>| experiment.name() == *name;
            let experiment = experiments.iter().find(of).unwrap_or_else(|| panic!("no experiment `{name}`"));
            assert!(records.of(experiment).is_none(), "{name} has a record");
        }
        for experiment in &experiments {
            let Some(record) = records.of(experiment) else {
                assert!(agents.is_unrecorded(experiment), "{}: no record of these settings", experiment.name());
                continue;
            };
            assert_eq!(
                record.commit.as_deref(),
                experiment.agent.map(|agent| agent.commit.as_str()),
                "{}",
                experiment.name()
            );
            assert!(!record.ns2.is_empty() && !record.date.is_empty(), "{}", experiment.name());
        }
        Ok(())
    }
}
