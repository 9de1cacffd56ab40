//! The dependence of verdicts on assumptions: each assumption of which `published.toml` names alternatives is replaced by each of them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::error::{PaperError, Result};
use super::files::paper_file;
use super::record_file::RecordFile;
use super::recorded::Recorded;
use super::row::JudgedRow;
use super::selection::{PAPERS, PaperRun, Selection};
use super::settings::{Scale, Settings};
use super::verdict::Verdict;
use cwnd_run::cells::Cells;
use cwnd_run::execute::Progress;

/// The results of all of them: `papers/alternatives.toml`.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Alternatives {
    /// In the order of [`alternatives`].
    #[serde(default)]
    pub alternative: Vec<Alternative>,
}

/// A paper with one assumption replaced, at reduced length.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Alternative {
    /// Its id.
    pub paper: String,
    /// As for `--set`: `era=ns2-2001`.
    pub set: String,
    /// By result.
    #[serde(default)]
    pub result: BTreeMap<String, Outcome>,
}

/// The outcome of a result.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Outcome {
    /// The revision it was run at, or the commit that put it on record, where that is not known and older.
    pub revision: String,
    /// How many of its rows match, miss and are undecided.
    pub counts: [usize; 3],
    /// The verdicts under the assumption, as recorded then.
    pub assumed: [usize; 3],
    /// The rows with another verdict than on record: it, and ours.
    #[serde(default)]
    pub changed: BTreeMap<String, String>,
}

/// Every alternative of every assumption, and the results it matters to.
///
/// # Errors
/// A `published.toml` is wrong.
pub fn alternatives() -> Result<Vec<(Alternative, Vec<String>)>> {
    let mut all = Vec::new();
    for paper in PAPERS {
        for assumption in paper.published()?.assumption {
            let of = |value: &toml::Value| {
                let text = value.as_str().map_or_else(|| value.to_string(), str::to_string);
                let set = format!("{}={text}", assumption.key);
                (
                    Alternative { paper: paper.id().to_string(), set, ..Alternative::default() },
                    assumption.results.clone(),
                )
            };
            all.extend(assumption.alternatives.iter().map(of));
        }
    }
    Ok(all)
}

impl RecordFile for Alternatives {
    const NAME: &'static str = "papers/alternatives.toml";
    const TEXT: &'static str = paper_file!("alternatives.toml");
    const HEAD: &'static str = "\
# What the verdicts of --quick become where an assumption is replaced by one of its `alternatives`. Written by
# `cargo xtask papers alternatives ID --record`; a result that an alternative does not name was not run for it. None was adopted for what
# came of it.
";
}

impl Alternatives {
    /// Replaces the records of the results of an alternative by those of `found`.
    ///
    /// # Errors
    /// A `published.toml` is wrong.
    pub fn put(&mut self, found: Alternative) -> Result {
        let same = |one: &&mut Alternative| (&one.paper, &one.set) == (&found.paper, &found.set);
        match self.alternative.iter_mut().find(same) {
            Some(known) => known.result.extend(found.result),
            None => self.alternative.push(found),
        }
        let order = alternatives()?;
        let place = |one: &Alternative| {
            order.iter().position(|(known, _)| (&known.paper, &known.set) == (&one.paper, &one.set))
        };
        self.alternative.retain(|one| place(one).is_some());
        self.alternative.sort_by_key(place);
        Ok(())
    }
}

impl Alternative {
    /// Runs a result at reduced length, and compares its verdicts with those that `recorded` has of that length.
    ///
    /// # Errors
    /// As [`Selection::run`]; [`PaperError::Missing`]: a row that is compared is not in `recorded`.
    pub fn run(&mut self, result: &str, recorded: &Recorded, cells: &Cells, progress: &dyn Progress) -> Result {
        let (key, value) = self.set.split_once('=').unwrap_or_default();
        let assumptions = vec![(key.to_string(), value.to_string())];
        let settings = Settings { scale: Scale::Quick, assumptions, variant: None };
        let runs = Selection::of(Some(&self.paper), Some(result))?.run(&settings, cells, progress)?;
        let outcome = Outcome::of(runs.iter().flat_map(PaperRun::rows), recorded)?;
        self.result.insert(result.to_string(), outcome);
        Ok(())
    }
}

impl Outcome {
    /// The counts of the verdicts of `rows`, and of the differences from those of `recorded`.
    fn of<'a>(rows: impl Iterator<Item = &'a JudgedRow>, recorded: &Recorded) -> Result<Self> {
        let mut outcome = Self { revision: cwnd_run::VERSION.to_string(), ..Self::default() };
        for row in rows.filter(|row| row.verdict != Verdict::Illustration) {
            let assumed = recorded.entry(&row.paper, &row.result, &row.row).ok_or_else(|| PaperError::Missing {
                place: format!("papers/expected.toml: {} {}", row.paper, row.result),
                what: "row",
                name: row.row.clone(),
            })?;
            count(&mut outcome.counts, row.verdict);
            count(&mut outcome.assumed, assumed.verdict);
            if assumed.verdict != row.verdict {
                outcome.changed.insert(row.row.clone(), shown(row));
            }
        }
        Ok(outcome)
    }
}

fn count(counts: &mut [usize; 3], verdict: Verdict) {
    if let Some(place) = [Verdict::Match, Verdict::Miss, Verdict::Undecided].iter().position(|one| *one == verdict) {
        counts[place] += 1;
    }
}

fn shown(row: &JudgedRow) -> String {
    format!("{}, {}", row.verdict, row.ours_text())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Confidence;

    #[test]
    fn alternatives_are_accepted_and_differ_from_what_is_assumed() -> Result {
        for paper in PAPERS {
            for assumption in paper.published()?.assumption {
                for value in &assumption.alternatives {
                    let text = value.as_str().map_or_else(|| value.to_string(), str::to_string);
                    assert!(assumption.accepts(&text), "{} {}={text}", paper.id(), assumption.key);
                    let assumed = [Scale::Quick, Scale::Full].map(|scale| assumption.text(scale));
                    assert!(!assumed.contains(&text), "{} {}={text} is assumed", paper.id(), assumption.key);
                }
            }
        }
        Ok(())
    }

    #[test]
    fn every_guess_has_alternatives_or_says_why_not() -> Result {
        for paper in PAPERS {
            for one in paper.published()?.assumption.iter().filter(|one| one.confidence == Confidence::Guess) {
                assert!(one.alternatives.is_empty() == one.no_alternative.is_some(), "{} {}", paper.id(), one.key);
            }
        }
        Ok(())
    }

    #[test]
    fn every_alternative_is_on_record_for_the_results_that_it_matters_to() -> Result {
        let recorded = Alternatives::recorded()?;
        let mut faults = Vec::new();
        for (one, results) in alternatives()? {
            let known = recorded.alternative.iter().find(|known| (&known.paper, &known.set) == (&one.paper, &one.set));
            let lacks = |result: &&String| known.is_none_or(|known| !known.result.contains_key(*result));
            faults.extend(results.iter().filter(lacks).map(|result| format!("{} {}: {result}", one.paper, one.set)));
        }
        assert!(faults.is_empty(), "`cargo xtask papers alternatives ID --key KEY --record`:\n{}", faults.join("\n"));
        Ok(())
    }

    #[test]
    fn a_row_that_is_compared_is_on_record_or_the_alternative_is_refused() -> Result {
        let paper = PAPERS.into_iter().find(|paper| paper.id() == "starvation").expect("it is listed").published()?;
        let result = paper.result("copa-width").expect("it is listed");
        let row = JudgedRow::judged("starvation", result, &result.rows[0], None);
        let error = Outcome::of([&row].into_iter(), &Recorded::default()).expect_err("nothing is on record");
        let text = "papers/expected.toml: starvation copa-width: there is no row `width of the delays`";
        assert_eq!(error.to_string(), text);
        let text = "[starvation.copa-width]\n\"width of the delays\" = { verdict = \"match\", ours = \"4\" }";
        let outcome = Outcome::of([&row].into_iter(), &Recorded::read("record", text)?)?;
        assert_eq!((outcome.counts, outcome.assumed), ([0, 0, 1], [1, 0, 0]));
        assert!(outcome.changed["width of the delays"].starts_with("undecided"), "{outcome:?}");
        Ok(())
    }

    /// An experiment replaces an assumption by one of its alternatives. Where that is on record the row matches there, and its reason quotes
    /// the number with the digits of the record.
    #[test]
    fn experiments_are_alternatives_by_which_the_row_matches() -> Result {
        let (known, recorded) = (alternatives()?, Alternatives::recorded()?);
        let mut faults = Vec::new();
        for paper in PAPERS {
            for result in paper.published()?.result {
                for row in &result.rows {
                    let Some(set) = row.experiment.as_ref().and_then(|experiment| experiment.set.as_ref()) else {
                        continue;
                    };
                    let place = format!("{} {}: {}, {set}", paper.id(), result.id, row.id);
                    let is = |one: &Alternative| one.paper == paper.id() && one.set == *set;
                    if !known.iter().any(|(one, results)| is(one) && results.contains(&result.id)) {
                        faults.push(format!("{place} is no alternative that matters to it"));
                    }
                    let found =
                        recorded.alternative.iter().find(|one| is(one)).and_then(|one| one.result.get(&result.id));
                    // The records are of reduced length.
                    let is_full = row.experiment.as_ref().is_some_and(|experiment| experiment.full);
                    let Some(found) = found.filter(|_| !is_full) else { continue };
                    let reason = row.reason.as_deref().unwrap_or_default();
                    match found.changed.get(&row.id).and_then(|now| now.strip_prefix("match, ")) {
                        None => faults.push(format!("{place} does not move it on record")),
                        Some(ours) if !reason.contains(ours) => {
                            faults.push(format!("{place} gives {ours}, which its reason does not quote: {reason}"));
                        }
                        Some(_) => {}
                    }
                }
            }
        }
        assert!(faults.is_empty(), "{}", faults.join("\n"));
        Ok(())
    }

    #[test]
    fn open_rows_name_the_alternatives_by_which_they_match_on_record() -> Result {
        let mut faults = Vec::new();
        for one in &Alternatives::recorded()?.alternative {
            let paper = PAPERS.into_iter().find(|paper| paper.id() == one.paper).expect("a known paper").published()?;
            for (result, outcome) in &one.result {
                let rows = paper.result(result).map_or(&[][..], |result| &result.rows);
                let matches = |row: &str| outcome.changed.get(row).is_some_and(|now| now.starts_with("match"));
                let unnamed = rows
                    .iter()
                    .filter(|row| matches(&row.id) && row.open.as_ref().is_some_and(|open| !open.contains(&one.set)));
                faults
                    .extend(unnamed.map(|row| format!("{} {result}: {} matches with {}", one.paper, row.id, one.set)));
            }
        }
        assert!(faults.is_empty(), "{}", faults.join("\n"));
        Ok(())
    }

    #[test]
    fn what_is_on_record_is_of_known_alternatives() -> Result {
        let recorded = Alternatives::recorded()?;
        let known = alternatives()?;
        for one in &recorded.alternative {
            let listed = known.iter().find(|(known, _)| (&known.paper, &known.set) == (&one.paper, &one.set));
            let results = &listed.unwrap_or_else(|| panic!("{} {} is none", one.paper, one.set)).1;
            for (result, outcome) in &one.result {
                assert!(results.contains(result), "{} {}: {result} does not depend on it", one.paper, one.set);
                assert_eq!(outcome.counts.iter().sum::<usize>(), outcome.assumed.iter().sum::<usize>());
            }
        }
        let again = Alternatives::read("again", &recorded.to_toml())?;
        assert_eq!(again, recorded);
        Ok(())
    }
}
