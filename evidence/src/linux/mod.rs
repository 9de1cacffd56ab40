//! The Linux kernel as the judge: its TCP over an emulated link, and the same path in the simulator.
//!
//! The paths and their tolerances are data in `evidence/linux/cases.toml`. What the kernel gave is kept in `recorded.json`, run by run, so
//! that a series can be interrupted; `evidence/linux/results.md` is made from that.

mod cases;
mod here;
mod kernel;
mod page;
mod record;

use std::path::Path;

use self::cases::{Cases, Experiment};
use self::record::{Record, Records};
use crate::Error;
use crate::provenance::Provenance;

/// Runs the experiments whose names begin with a word of `only` (all if it is empty) as far as they lack repetitions, or none if
/// `recorded`; then compares the records with the simulator and writes the page. Returns whether every judged difference is within its
/// tolerance.
pub(crate) fn validate(root: &Path, only: &[String], repeats: Option<u32>, recorded: bool) -> Result<bool, Error> {
    let cases = Cases::read(root)?;
    let experiments: Vec<Experiment<'_>> = cases.experiments().collect();
    let mut records = Records::read(root)?;
    if !recorded {
        let sources = Provenance::of_record(root)?;
        let asked = |name: &str| only.is_empty() || only.iter().any(|word| name.starts_with(word.as_str()));
        for experiment in experiments.iter().filter(|experiment| asked(&experiment.name)) {
            let wanted = repeats.unwrap_or(cases.repeats);
            while (records.of(experiment).count() as u32) < wanted {
                let is_free = |seed: &u64| records.of(experiment).all(|run| run.seed != *seed);
                let Some(seed) = (1..).find(is_free) else { break };
                match kernel::run(experiment, seed) {
                    Ok(measured) => {
                        println!(
                            "{}: {:.2} Mbit/s, {}",
                            experiment.name,
                            measured.goodput_bps * 1e-6,
                            measured.lateness()
                        );
                        let case = experiment.name.clone();
                        records.put(Record {
                            case,
                            path: experiment.path.clone(),
                            sources: sources.clone(),
                            measured,
                        })?;
                    }
                    Err(Error::Late(why)) => {
                        println!("{}: not used, {why}", experiment.name);
                        break;
                    }
                    Err(error) => return Err(error),
                }
            }
        }
    }
    page::write(root, &cases, &experiments, &records)
}
