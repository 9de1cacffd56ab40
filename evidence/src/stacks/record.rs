//! The outcomes of the stacks, kept in `evidence/stacks/`: a stack can run anew without the others.

use std::fs;
use std::path::Path;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize, Serializer};

use crate::Error;
use crate::provenance::Provenance;

/// All records.
pub(super) struct Recorded {
    pub(super) verdicts: Vec<Verdicts>,
    pub(super) shares: Vec<Share>,
}

/// The verdicts of a stack.
#[derive(Deserialize, Serialize)]
pub(super) struct Verdicts {
    pub(super) subject: String,
    pub(super) sources: Provenance,
    pub(super) seeds: u32,
    /// The checks whose clauses it meets.
    pub(super) met: Vec<String>,
    /// Those from which it deviates, and unclear ones.
    pub(super) others: Vec<Judged>,
}

/// The used part of a verdict in the document of `cwnd conform --json`.
#[derive(Deserialize, Serialize)]
pub(super) struct Judged {
    pub(super) id: String,
    pub(super) suite: String,
    pub(super) section: String,
    pub(super) level: String,
    pub(super) requirement: String,
    pub(super) verdict: String,
    pub(super) measured: String,
    pub(super) value: Option<Estimate>,
    /// What the path did not cause, or the message of a panic.
    pub(super) note: Option<String>,
}

/// A flow of a stack together with one of ours.
#[derive(Deserialize, Serialize)]
pub(super) struct Share {
    pub(super) subject: String,
    pub(super) ours: String,
    /// Its options.
    pub(super) path: String,
    pub(super) sources: Provenance,
    pub(super) seeds: u32,
    /// The utilisation of one flow of the stack alone.
    pub(super) alone: Estimate,
    /// Its share of the goodput of both.
    pub(super) share: Estimate,
}

/// A mean over seeds.
#[derive(Clone, Copy, Deserialize, Serialize)]
pub(super) struct Estimate {
    #[serde(serialize_with = "short")]
    pub(super) mean: f64,
    #[serde(serialize_with = "short_if_any")]
    ci95: Option<f64>,
}

/// Nine digits. Longer numbers would change with each reading and writing, also in the records of stacks that did not run.
fn short<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    nine_digits(*value).serialize(serializer)
}

fn short_if_any<S: Serializer>(value: &Option<f64>, serializer: S) -> Result<S::Ok, S::Error> {
    value.map(nine_digits).serialize(serializer)
}

fn nine_digits(value: f64) -> f64 {
    format!("{value:.8e}").parse().unwrap_or(value)
}

/// Known causes of deviations, which people write.
pub(super) struct Causes(Vec<Cause>);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Cause {
    stacks: Vec<String>,
    checks: Vec<String>,
    text: String,
}

impl Verdicts {
    pub(super) fn new(subject: &str, sources: &Provenance, seeds: u32, checks: Vec<Judged>) -> Self {
        let of_interest = checks.into_iter().filter(|check| check.verdict != "not_applicable");
        let (met, others): (Vec<_>, Vec<_>) = of_interest.partition(|check| check.verdict == "meets");
        let met = met.into_iter().map(|check| check.id).collect();
        Self { subject: subject.to_owned(), sources: sources.clone(), seeds, met, others }
    }

    /// The checks of one verdict.
    pub(super) fn of<'a>(&'a self, verdict: &'a str) -> impl Iterator<Item = &'a Judged> {
        self.others.iter().filter(move |check| check.verdict == verdict)
    }
}

impl Recorded {
    pub(super) fn read(root: &Path) -> Result<Self, Error> {
        Ok(Self { verdicts: read(root, VERDICTS)?, shares: read(root, SHARES)? })
    }

    /// Puts the verdicts of a stack in place of its older ones.
    pub(super) fn judged(&mut self, new: Verdicts) {
        self.verdicts.retain(|old| old.subject != new.subject);
        self.verdicts.push(new);
    }

    /// Puts a share in place of the older one.
    pub(super) fn shared(&mut self, new: Share) {
        self.shares.retain(|old| (&old.subject, &old.path) != (&new.subject, &new.path));
        self.shares.push(new);
    }

    /// Writes the records in the order of `subjects`, one on each line. Records of other stacks are dropped.
    pub(super) fn write(&mut self, root: &Path, subjects: &[&str]) -> Result<(), Error> {
        let place = |subject: &str| subjects.iter().position(|other| *other == subject);
        self.verdicts.retain(|record| place(&record.subject).is_some());
        self.verdicts.sort_by_key(|record| place(&record.subject));
        self.shares.retain(|record| place(&record.subject).is_some());
        self.shares.sort_by_key(|record| (place(&record.subject), record.path.clone()));
        write(root, VERDICTS, &self.verdicts)?;
        write(root, SHARES, &self.shares)
    }
}

fn read<T: DeserializeOwned>(root: &Path, file: &str) -> Result<Vec<T>, Error> {
    let path = root.join(file);
    let text = fs::read_to_string(&path).map_err(|source| Error::File { path: path.clone(), source })?;
    serde_json::from_str(&text).map_err(|source| Error::Records { path, source })
}

fn write<T: Serialize>(root: &Path, file: &str, records: &[T]) -> Result<(), Error> {
    let path = root.join(file);
    let text = text(records).map_err(|source| Error::Records { path: path.clone(), source })?;
    fs::write(&path, text).map_err(|source| Error::File { path, source })
}

/// A record on each line.
fn text<T: Serialize>(records: &[T]) -> Result<String, serde_json::Error> {
    let lines: Result<Vec<String>, _> = records.iter().map(serde_json::to_string).collect();
    Ok(format!("[\n{}\n]\n", lines?.join(",\n")))
}

impl Causes {
    pub(super) fn read(root: &Path) -> Result<Self, Error> {
        Ok(Self(read(root, CAUSES)?))
    }

    /// The cause of a deviation, or `open`.
    pub(super) fn of(&self, subject: &str, check: &str) -> &str {
        let named = |names: &[String], name: &str| names.iter().any(|other| other == name);
        let known = self.0.iter().find(|cause| named(&cause.stacks, subject) && named(&cause.checks, check));
        known.map_or("open", |cause| &cause.text)
    }
}

impl Estimate {
    /// With as many digits as the interval leaves; one seed has none.
    pub(super) fn text(self, scale: f64) -> String {
        let Some(half) = self.ci95 else { return format!("{:.3}", self.mean * scale) };
        let (mean, half) = (self.mean * scale, half * scale);
        let digits = if half > 0.0 { (1.0 - half.log10().floor()).clamp(0.0, 4.0) as usize } else { 3 };
        format!("{mean:.digits$} ± {half:.digits$}")
    }
}

const VERDICTS: &str = "evidence/stacks/verdicts.json";
const SHARES: &str = "evidence/stacks/shares.json";
const CAUSES: &str = "evidence/stacks/causes.json";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::root;

    #[test]
    fn records_stay_as_they_are_when_they_are_written_again() -> Result<(), Error> {
        let recorded = Recorded::read(root())?;
        for (file, again) in [(VERDICTS, text(&recorded.verdicts)), (SHARES, text(&recorded.shares))] {
            let path = root().join(file);
            let kept = fs::read_to_string(&path).map_err(|source| Error::File { path: path.clone(), source })?;
            assert!(again.is_ok_and(|again| again == kept), "{file} differs");
        }
        Ok(())
    }

    #[test]
    fn an_estimate_of_one_seed_has_no_interval() {
        let texts = [None, Some(0.0), Some(0.0234)].map(|ci95| Estimate { mean: 0.5, ci95 }.text(100.0));
        assert_eq!(texts, ["50.000", "50.000 ± 0.000", "50.0 ± 2.3"]);
    }

    #[test]
    fn each_cause_is_of_a_recorded_deviation() -> Result<(), Error> {
        let recorded = Recorded::read(root())?;
        for Cause { stacks, checks, .. } in Causes::read(root())?.0 {
            for subject in &stacks {
                let mut records = recorded.verdicts.iter().filter(|record| record.subject == *subject);
                let record = records.next().unwrap_or_else(|| panic!("{subject} is not recorded"));
                for check in &checks {
                    assert!(
                        record.of("departs").any(|judged| judged.id == *check),
                        "{subject} does not deviate from {check}"
                    );
                }
            }
        }
        Ok(())
    }
}
