//! The rules in which UDT's profiles differ, changed one at a time: what each does to the tables and figures of daimd.

use std::collections::BTreeMap;

use cwnd::rate::udt::Habits;
use cwnd::{Algorithm, Spec, Start};
use serde::{Deserialize, Serialize};

use super::error::Result;
use super::files::paper_file;
use super::published::Value;
use super::record_file::RecordFile;
use super::row::JudgedRow;
use super::selection::{PaperRun, Selection};
use super::settings::{Scale, Settings};
use super::verdict::{Basis, Verdict};
use cwnd_run::cells::Cells;
use cwnd_run::execute::Progress;

/// The results of all variants: `papers/daimd/ablation.toml`.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Ablation {
    /// In the order of [`variants`].
    #[serde(default)]
    pub variant: Vec<Variant>,
}

/// A profile of `udt`, as it is or with one rule changed.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Variant {
    /// `paper`, `ns2-1.1`, `ns2-2.0`, `ns2-2.2` or `daimd-fitted`.
    pub profile: String,
    /// The parameter that is changed, as `naks=once`; empty for the profile as it is.
    pub change: String,
    /// By result: of the rows that are counted, those whose number is printed, or all where none is, how many match, miss and are undecided.
    #[serde(default)]
    pub counts: BTreeMap<String, [usize; 3]>,
    /// By result: the mean relative distance from the printed numbers.
    #[serde(default)]
    pub distance: BTreeMap<String, f64>,
    /// By result: the rows that miss.
    #[serde(default)]
    pub misses: BTreeMap<String, Vec<String>>,
    /// By result: the rows that are undecided.
    #[serde(default)]
    pub undecided: BTreeMap<String, Vec<String>>,
}

/// Every profile as it is, and with each of its rules changed to each of the others.
#[must_use]
pub fn variants() -> Vec<Variant> {
    let mut all = Vec::new();
    for profile in PROFILES {
        let whole = Variant::named(profile, String::new());
        let habits = whole.habits();
        all.push(whole);
        let changes =
            SWITCHES.iter().flat_map(|(name, values)| values.iter().map(move |value| format!("{name}={value}")));
        let changed = changes.map(|change| Variant::named(profile, change));
        all.extend(changed.filter(|variant| variant.habits() != habits));
    }
    all
}

impl RecordFile for Ablation {
    const NAME: &'static str = "papers/daimd/ablation.toml";
    const TEXT: &'static str = paper_file!("daimd/ablation.toml");
    const HEAD: &'static str = "\
# What the rules of UDT's profiles do to the printed numbers of daimd, one rule changed at a time, at reduced length. Written by
# `cargo xtask papers ablate --record`; a result that a variant does not name was not run for it.
#
# The runs are of 27 November 2026. On 28 November the indices of one flow (table-1, \"Jain index, stage 1\" and \"stage 7\"), which are 1 whatever the flow does,
# were taken out of the counts and the mean distances by arithmetic: such a row matches wherever it has a value, and is at no distance. Rows that are
# compared since then are left out (`LATER` in crates/cwnd-papers/src/ablation.rs).
";
}

impl Ablation {
    /// The rows of a profile that miss among the runs, with the changes by which they match: result, row, changes. A change under which
    /// a row of the result has no value, as where a flow starves, is not among them.
    #[must_use]
    pub fn turned(&self, profile: &str) -> Vec<(&str, &str, Vec<&str>)> {
        let of = |variant: &&Variant| variant.profile == profile;
        let Some(whole) = self.variant.iter().filter(of).find(|variant| variant.change.is_empty()) else {
            return Vec::new();
        };
        let missing = whole.misses.iter().flat_map(|(result, rows)| rows.iter().map(move |row| (result, row)));
        let turned = missing.map(|(result, row)| {
            let judged = |variant: &Variant| variant.counts.get(result).map(|counts| counts.iter().sum::<usize>());
            let matches = |variant: &&Variant| {
                let lists = [&variant.misses, &variant.undecided];
                judged(variant) == judged(whole)
                    && lists.iter().all(|list| list.get(result).is_some_and(|rows| !rows.contains(row)))
            };
            let changes = self.variant.iter().filter(of).filter(matches).map(|variant| &*variant.change);
            (&**result, &**row, changes.collect())
        });
        turned.collect()
    }

    /// Replaces the records of the results of a variant by those of `found`.
    pub fn put(&mut self, found: Variant) {
        let known = |variant: &&mut Variant| (&variant.profile, &variant.change) == (&found.profile, &found.change);
        if let Some(variant) = self.variant.iter_mut().find(known) {
            variant.counts.extend(found.counts);
            variant.distance.extend(found.distance);
            variant.misses.extend(found.misses);
            variant.undecided.extend(found.undecided);
        } else {
            self.variant.push(found);
        }
        let order = variants();
        let place = |variant: &Variant| {
            let same = |known: &Variant| (&known.profile, &known.change) == (&variant.profile, &variant.change);
            order.iter().position(same)
        };
        self.variant.sort_by_key(place);
    }
}

impl Variant {
    /// A profile with some rules changed, as `naks=once,grows=per-ack`; nothing is known of it.
    pub(crate) fn named(profile: &str, change: String) -> Self {
        Self {
            profile: profile.to_string(),
            change,
            counts: BTreeMap::new(),
            distance: BTreeMap::new(),
            misses: BTreeMap::new(),
            undecided: BTreeMap::new(),
        }
    }

    /// The algorithm.
    #[must_use]
    pub fn algorithm(&self) -> String {
        let change = if self.change.is_empty() { String::new() } else { format!(",{}", self.change) };
        format!("udt:profile={}{change}", self.profile)
    }

    /// Runs a result at reduced length.
    ///
    /// # Errors
    /// As [`Selection::run`].
    pub fn run(&mut self, result: &str, cells: &Cells, progress: &dyn Progress) -> Result {
        let settings = Settings { scale: Scale::Quick, assumptions: Vec::new(), variant: Some(self.algorithm()) };
        let runs = Selection::of(Some("daimd"), Some(result))?.run(&settings, cells, progress)?;
        let of_variant = |row: &JudgedRow| row.row.strip_prefix(OF_VARIANT).map(str::to_string);
        let compared = |row: &&JudgedRow| {
            let is_counted = of_variant(row).is_some_and(|row| !is_later(result, &row));
            row.tolerance.is_some() && row.ours.is_some() && is_counted
        };
        let all: Vec<&JudgedRow> = runs.iter().flat_map(PaperRun::rows).filter(compared).collect();
        let printed: Vec<&JudgedRow> = all.iter().copied().filter(|row| row.basis == Basis::Printed).collect();
        let rows = if printed.is_empty() { all } else { printed };
        let named = |verdict| {
            let of = rows.iter().filter(|row| row.verdict == verdict);
            of.filter_map(|row| of_variant(row)).collect::<Vec<String>>()
        };
        let count = |verdict| rows.iter().filter(|row| row.verdict == verdict).count();
        let counts = [Verdict::Match, Verdict::Miss, Verdict::Undecided].map(count);
        let number = |value: &Option<Value>| value.as_ref().and_then(Value::number);
        let distances: Vec<f64> = rows
            .iter()
            .filter_map(|row| {
                Some((number(&row.ours)? / number(&row.published).filter(|one| *one != 0.0)? - 1.0).abs())
            })
            .collect();
        self.counts.insert(result.to_string(), counts);
        self.misses.insert(result.to_string(), named(Verdict::Miss));
        self.undecided.insert(result.to_string(), named(Verdict::Undecided));
        if let Some(mean) = cwnd_run::measure::mean(&distances) {
            self.distance.insert(result.to_string(), libm::round(mean * 1e4) / 1e4);
        }
        Ok(())
    }

    fn habits(&self) -> Option<Habits> {
        match Spec::parse(&self.algorithm()).ok()?.start(&Start::default()) {
            Algorithm::UdtAgent(agent) => Some(*agent.habits()),
            _ => None,
        }
    }
}

/// Whether a row came to be compared after the record was made, and so is not counted.
fn is_later(result: &str, row: &str) -> bool {
    LATER.iter().any(|(of, start)| *of == result && row.starts_with(start))
}

/// The rows that are compared since 28 November 2026, by result and beginning: the variants were run before.
const LATER: [(&str, &str); 4] = [
    ("table-1", "round trip, stage "),
    ("text-testbed", "largest mean round trip"),
    ("fig-10", "SI"),
    ("fig-14", "ratio at 1ms, 1mbit over that at 1ms, 1gbit"),
];
/// How rows of the algorithm that stands in place of the paper's begin.
const OF_VARIANT: &str = "paper: ";
/// The profiles on the endpoints of the author's agents.
const PROFILES: [&str; 5] = ["paper", "ns2-1.1", "ns2-2.0", "ns2-2.2", "daimd-fitted"];
/// The rules that can be chosen, and all that each can be.
const SWITCHES: [(&str, &[&str]); 9] = [
    ("acknowledge", &["cumulative", "over-holes"]),
    ("naks", &["once", "repeated", "repeated-uncut"]),
    ("decrease", &["per-nak", "per-interval", "per-epoch", "doubling", "random-2.0", "random-2.2"]),
    ("counts", &["unacknowledged", "in-flight"]),
    ("capacity_filter", &["newest", "smoothed"]),
    ("grows", &["per-syn", "per-quiet-syn", "per-clean-syn", "per-ack"]),
    ("step", &["eq8", "ninth-1.1", "ninth-2.0"]),
    ("at_once", &["never", "nak", "ack-and-nak"]),
    ("delay_warnings", &["on", "off"]),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_variant_is_an_agent_and_no_two_of_a_profile_are_the_same() {
        let all = variants();
        for (at, variant) in all.iter().enumerate() {
            let habits = variant.habits().unwrap_or_else(|| panic!("{}", variant.algorithm()));
            let same = |other: &&Variant| other.profile == variant.profile && other.habits() == Some(habits);
            assert_eq!(all[..at].iter().find(same).map(Variant::algorithm), None, "{}", variant.algorithm());
        }
        // A profile and 18 changes each: 27 values of nine rules, of which one each is its own. `naks` has no effect on the two that
        // acknowledge over holes.
        assert_eq!(all.len(), 5 * 19 - 2 * 2);
    }

    #[test]
    fn a_row_matches_by_a_change_only_where_it_has_a_value() {
        let variant = |change: &str, counts, misses: &[&str]| Variant {
            profile: "paper".to_string(),
            change: change.to_string(),
            counts: BTreeMap::from([("fig-1".to_string(), counts)]),
            distance: BTreeMap::new(),
            misses: BTreeMap::from([("fig-1".to_string(), misses.iter().map(ToString::to_string).collect())]),
            undecided: BTreeMap::from([("fig-1".to_string(), Vec::new())]),
        };
        let whole = variant("", [1, 1, 0], &["b"]);
        let changes = [("naks=once", [2, 0, 0]), ("counts=in-flight", [1, 0, 0]), ("grows=per-ack", [0, 0, 0])];
        let changed = changes.map(|(change, counts)| variant(change, counts, &[]));
        let ablation = Ablation { variant: [vec![whole], changed.to_vec()].concat() };
        assert_eq!(ablation.turned("paper"), [("fig-1", "b", vec!["naks=once"])]);
    }

    /// A row that is added to a table, or is no longer counted, is decided about here: counts on record are of the rows that a run would count.
    #[test]
    fn what_is_on_record_counts_the_rows_that_a_run_counts() {
        let recorded = Ablation::recorded().unwrap_or_else(|error| panic!("{error}"));
        let published = crate::daimd::PAPER.published().unwrap_or_else(|error| panic!("{error}"));
        let counted = |result: &str| -> Vec<String> {
            let rows = published.result(result).map_or(&[][..], |result| &result.rows);
            let of = rows.iter().filter(|row| row.tolerance.is_some());
            let of = of.filter_map(|row| Some((row.id.strip_prefix(OF_VARIANT)?, row.basis() == Basis::Printed)));
            let of: Vec<(&str, bool)> = of.filter(|(row, _)| !is_later(result, row)).collect();
            let is_printed = of.iter().any(|(_, is_printed)| *is_printed);
            of.iter().filter(|row| row.1 || !is_printed).map(|(row, _)| (*row).to_string()).collect()
        };
        for variant in &recorded.variant {
            for (result, counts) in &variant.counts {
                let (counted, place) = (counted(result), format!("{} {result}", variant.algorithm()));
                for row in variant.misses[result].iter().chain(&variant.undecided[result]) {
                    assert!(counted.contains(row), "{place}: {row} is not counted");
                }
                let sum = counts.iter().sum::<usize>();
                // Flows of the text starve in some stages, which then have no value.
                let starves = ["paper", "ns2-1.1"].contains(&variant.profile.as_str());
                assert!(sum == counted.len() || starves && sum < counted.len(), "{place}: {sum} of {}", counted.len());
            }
        }
    }

    #[test]
    fn what_is_on_record_is_of_known_variants() {
        let recorded = Ablation::recorded().unwrap_or_else(|error| panic!("{error}"));
        let known: Vec<String> = variants().iter().map(Variant::algorithm).collect();
        for variant in &recorded.variant {
            assert!(known.contains(&variant.algorithm()), "{}", variant.algorithm());
        }
        let again = Ablation::read("again", &recorded.to_toml()).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(again, recorded);
    }
}
