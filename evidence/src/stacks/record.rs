//! What the stacks gave, kept: `evidence/stacks/recorded.json`. Stacks of one program can run anew without those of the others.

use std::path::Path;
use std::{fs, io};

use serde::{Deserialize, Serialize};

use crate::Error;
use crate::provenance::Provenance;

/// All records.
#[derive(Default, Deserialize, Serialize)]
pub(super) struct Recorded {
    pub(super) conformance: Vec<Conformance>,
    pub(super) shares: Vec<Share>,
}

/// The verdicts of a stack.
#[derive(Deserialize, Serialize)]
pub(super) struct Conformance {
    pub(super) subject: String,
    pub(super) sources: Provenance,
    pub(super) seeds: u32,
    /// Those that apply, in the order of `cwnd conform`.
    pub(super) checks: Vec<Judged>,
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
    pub(super) mean: f64,
    ci95: Option<f64>,
}

/// Known causes of deviations: `evidence/stacks/causes.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Causes {
    cause: Vec<Cause>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Cause {
    stacks: Vec<String>,
    checks: Vec<String>,
    text: String,
}

impl Recorded {
    /// Reads them; none if there is no file yet.
    pub(super) fn read(root: &Path) -> Result<Self, Error> {
        let path = root.join(RECORDED);
        match fs::read_to_string(&path) {
            Ok(text) => serde_json::from_str(&text).map_err(|source| Error::Records { path, source }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self::default()),
            Err(source) => Err(Error::File { path, source }),
        }
    }

    /// Takes in the verdicts of a stack in place of older ones.
    pub(super) fn judged(&mut self, anew: Conformance) {
        self.conformance.retain(|old| old.subject != anew.subject);
        self.conformance.push(anew);
    }

    /// Takes in a share in place of an older one.
    pub(super) fn shared(&mut self, anew: Share) {
        self.shares.retain(|old| (&old.subject, &old.path) != (&anew.subject, &anew.path));
        self.shares.push(anew);
    }

    /// Drops the stacks that are not in `subjects`, and writes the others in that order, a record a line.
    pub(super) fn write(&mut self, root: &Path, subjects: &[&str]) -> Result<(), Error> {
        let place = |subject: &str| subjects.iter().position(|other| *other == subject);
        self.conformance.retain(|record| place(&record.subject).is_some());
        self.conformance.sort_by_key(|record| place(&record.subject));
        self.shares.retain(|record| place(&record.subject).is_some());
        self.shares.sort_by(|a, b| (place(&a.subject), &a.path).cmp(&(place(&b.subject), &b.path)));
        let path = root.join(RECORDED);
        let text = format!(
            "{{\"conformance\": [\n{}\n], \"shares\": [\n{}\n]}}\n",
            lines(&self.conformance, &path)?,
            lines(&self.shares, &path)?
        );
        fs::write(&path, text).map_err(|source| Error::File { path, source })
    }
}

/// Each record on a line.
fn lines<T: Serialize>(records: &[T], path: &Path) -> Result<String, Error> {
    let lines: Result<Vec<String>, _> = records.iter().map(serde_json::to_string).collect();
    Ok(lines.map_err(|source| Error::Records { path: path.to_owned(), source })?.join(",\n"))
}

impl Causes {
    pub(super) fn read(root: &Path) -> Result<Self, Error> {
        let path = root.join(CAUSES);
        let text = fs::read_to_string(&path).map_err(|source| Error::File { path: path.clone(), source })?;
        toml::from_str(&text).map_err(|source| Error::Cases { path, source })
    }

    /// The cause of the deviation of a stack, or that it is open.
    pub(super) fn of(&self, subject: &str, check: &str) -> &str {
        let named = |names: &[String], name: &str| names.iter().any(|other| other == name);
        let known = self.cause.iter().find(|cause| named(&cause.stacks, subject) && named(&cause.checks, check));
        known.map_or("open", |cause| &cause.text)
    }
}

impl Estimate {
    /// With as many digits as the interval leaves.
    pub(super) fn text(self, scale: f64) -> String {
        let (mean, half) = (self.mean * scale, self.ci95.map_or(0.0, |half| half * scale));
        let digits = if half > 0.0 { (1.0 - half.log10().floor()).clamp(0.0, 4.0) as usize } else { 3 };
        format!("{mean:.digits$} ± {half:.digits$}")
    }
}

const RECORDED: &str = "evidence/stacks/recorded.json";
const CAUSES: &str = "evidence/stacks/causes.toml";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::root;

    #[test]
    fn each_cause_is_of_a_recorded_deviation() -> Result<(), Error> {
        let recorded = Recorded::read(root())?;
        for cause in Causes::read(root())?.cause {
            for (subject, check) in cause.stacks.iter().flat_map(|stack| cause.checks.iter().map(move |id| (stack, id)))
            {
                let of_stack = recorded.conformance.iter().filter(|record| record.subject == *subject);
                let mut checks = of_stack.flat_map(|record| &record.checks);
                let found = checks.any(|judged| judged.id == *check && judged.verdict == "departs");
                assert!(found, "{subject} does not deviate from {check}");
            }
        }
        Ok(())
    }
}
