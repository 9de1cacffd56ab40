//! Reference traces: short runs of a document's rules, each with the bands within which another implementation of it stays.

use std::collections::BTreeMap;

use cwnd_run::scenario::{Scenario, ScenarioError};
use serde::{Deserialize, Serialize};

use super::Bands;

/// A scenario to run in another stack, and the accepted differences.
#[derive(Clone, Debug)]
pub struct Reference {
    /// Its name: `bbr-01`.
    pub name: &'static str,
    /// The scenario, as TOML.
    pub scenario: &'static str,
    /// The document and the section that it follows.
    pub document: String,
    /// The effect to look for, a sentence without a full stop.
    pub shows: String,
    /// The bands, as TOML that [`Bands::read`] accepts, with the reason of each.
    pub bands: String,
    /// A change of the scenario (`KEY=VALUE`) to another conforming host, which the bands accept.
    pub inside: String,
    /// A change to a sender that breaks the rule, which the bands do not accept.
    pub outside: String,
}

impl Reference {
    /// All of them, in the order of their documents.
    ///
    /// # Panics
    /// Never: the files are part of the program, and a test reads them all.
    #[must_use]
    pub fn all() -> Vec<Self> {
        let mut entries: BTreeMap<String, Entry> = toml::from_str(BANDS).expect("a table of entries");
        let of = |&(name, scenario): &(&'static str, &'static str)| {
            let Entry { document, shows, inside, outside, band } = entries.remove(name).expect("an entry");
            let bands = toml::to_string(&Banded { band }).expect("bands as TOML");
            Self { name, scenario, document, shows, bands, inside, outside }
        };
        SCENARIOS.iter().map(of).collect()
    }

    /// The one with this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::all().into_iter().find(|reference| reference.name == name)
    }

    /// Its scenario with changes (`KEY=VALUE`).
    ///
    /// # Errors
    /// A change does not fit the scenario.
    pub fn scenario(&self, changes: &[String]) -> Result<Scenario, ScenarioError> {
        Scenario::read(self.name, self.scenario, changes)
    }

    /// Its bands.
    ///
    /// # Panics
    /// Never: a test reads them all.
    #[must_use]
    pub fn bands(&self) -> Bands {
        Bands::read(&self.bands).expect("bands of a reference")
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    document: String,
    shows: String,
    inside: String,
    outside: String,
    band: Vec<toml::Table>,
}

#[derive(Serialize)]
struct Banded {
    band: Vec<toml::Table>,
}

const BANDS: &str = include_str!("../../../../scenarios/reference/bands.toml");

macro_rules! scenarios {
    ($($name:literal),* $(,)?) => {
        /// The name and the text of each scenario.
        const SCENARIOS: &[(&str, &str)] =
            &[$(($name, include_str!(concat!("../../../../scenarios/reference/", $name, ".toml")))),*];
    };
}

#[rustfmt::skip]
scenarios![
    "bbr-01", "bbr-02", "bbr-03", "bbr-04", "bbr-05", "bbr-06", "bbr-07", "bbr-08", "bbr-09", "bbr-10", "bbr-11", "bbr-12", "bbr-13",
    "bbr-14", "bbr-15", "bbr-16", "bbr-17", "bbr-18", "bbr-19", "bbr-20", "bbr-21", "bbr-22",
    "cubic-1", "cubic-2", "cubic-3", "hystart-1", "hystart-2", "limited-1", "limited-2", "prr-1", "prr-2", "rack-1", "rack-2", "rack-3",
    "reno-1", "tlp-1", "tlp-2",
];

#[cfg(test)]
mod tests {
    use cwnd_run::run::run;

    use super::super::{Series, diff, flow};
    use super::*;
    use crate::overlay::Input;

    /// The only flow of the reference with a change.
    fn series(reference: &Reference, change: Option<&String>) -> Series {
        let scenario = reference.scenario(&change.cloned().into_iter().collect::<Vec<_>>()).expect("a valid change");
        assert!(scenario.unused().is_empty(), "{}: {:?}", reference.name, scenario.unused());
        let runs = run(vec![scenario.clone()], &()).expect("a run").remove(0);
        flow(&Input::Scenario(Box::new(scenario)), runs.traces.first(), None).expect("one flow")
    }

    #[test]
    fn bands_accept_a_conforming_host_and_refuse_a_wrong_sender() {
        for reference in Reference::all() {
            let ours = series(&reference, None);
            let outside = |change| {
                let compared = diff(&ours, &series(&reference, Some(change)), &reference.bands());
                assert!(compared.iter().all(|one| one.instants > 100), "{}: {compared:?}", reference.name);
                compared.iter().map(|one| one.outside).sum::<usize>()
            };
            let found = (outside(&reference.inside), outside(&reference.outside));
            assert!(found.0 == 0 && found.1 > 0, "{}: {found:?}", reference.name);
        }
    }

    #[test]
    fn every_file_is_a_reference() {
        let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/reference");
        let files = std::fs::read_dir(directory).expect("the directory").map(|file| file.expect("a file").path());
        let stem = |path: std::path::PathBuf| path.file_stem().expect("a name").to_string_lossy().into_owned();
        let mut names: Vec<String> = files.map(stem).filter(|name| name != "bands").collect();
        names.sort();
        assert_eq!(names, Reference::all().iter().map(|reference| reference.name).collect::<Vec<_>>());
        let entries: BTreeMap<String, Entry> = toml::from_str(BANDS).expect("entries");
        assert_eq!(names, entries.into_keys().collect::<Vec<_>>());
    }
}
