//! Runs against the verdicts on record.

use std::fmt;

use super::recorded::{Recorded, RecordedRow};
use super::row::JudgedRow;
use super::selection::PaperRun;
use super::verdict::Verdict;

/// A row whose verdict is not the recorded one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Paper, result and row.
    pub row: [String; 3],
    /// The verdict on record; none if there is none.
    pub recorded: Option<Verdict>,
    /// The verdict now, with ours; none if the row is gone.
    pub now: Option<(Verdict, String)>,
}

impl Recorded {
    /// Replaces the records of the results that were run; others stay.
    pub fn update(&mut self, runs: &[PaperRun]) {
        for run in runs {
            for result in &run.results {
                let kept: Vec<&JudgedRow> = result.rows.iter().filter(|row| compared(row)).collect();
                let entry =
                    |row: &JudgedRow| (row.row.clone(), RecordedRow { verdict: row.verdict, ours: row.ours_text() });
                let id = run.published.result[result.index].id.clone();
                let results = self.0.entry(run.published.paper.id.clone()).or_default();
                if kept.is_empty() {
                    results.remove(&id);
                } else {
                    results.insert(id, kept.into_iter().map(entry).collect());
                }
            }
        }
    }

    /// Where the results that were run differ from the record, in their order.
    #[must_use]
    pub fn differences(&self, runs: &[PaperRun]) -> Vec<Difference> {
        let mut found = Vec::new();
        for run in runs {
            for result in &run.results {
                let (paper, id) = (&run.published.paper.id, &run.published.result[result.index].id);
                let place = |row: &str| [paper.clone(), id.clone(), row.to_string()];
                for row in result.rows.iter().filter(|row| compared(row)) {
                    let recorded = self.entry(paper, id, &row.row).map(|entry| entry.verdict);
                    if recorded != Some(row.verdict) {
                        let now = Some((row.verdict, row.ours_text()));
                        found.push(Difference { row: place(&row.row), recorded, now });
                    }
                }
                for (row, entry) in self.0.get(paper).and_then(|results| results.get(id)).into_iter().flatten() {
                    if !result.rows.iter().any(|now| now.row == *row && compared(now)) {
                        found.push(Difference { row: place(row), recorded: Some(entry.verdict), now: None });
                    }
                }
            }
        }
        found
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [paper, result, row] = &self.row;
        write!(out, "{paper} {result}, {row}: ")?;
        match (self.recorded, &self.now) {
            (None, None) => write!(out, "nothing"),
            (None, Some((now, ours))) => write!(out, "not on record, now {now} ({ours})"),
            (Some(recorded), None) => write!(out, "{recorded} on record, the row is gone"),
            (Some(recorded), Some((now, ours))) => write!(out, "{recorded} on record, now {now} ({ours})"),
        }
    }
}

/// Rows that the paper has nothing for have no verdict that could change.
fn compared(row: &JudgedRow) -> bool {
    row.verdict != Verdict::Illustration
}
