//! Verdicts, and how many rows have which.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What came of a row.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The whole 95 % interval lies within the tolerance.
    Match,
    /// The whole interval lies outside.
    Miss,
    /// The interval reaches across an edge of the tolerance: more runs would be needed.
    Undecided,
    /// The paper does not say enough, or contradicts itself; ours is shown where there is one.
    NotReproducible,
    /// There is nothing to compare with.
    Illustration,
}

/// How many rows have which verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts([usize; Verdict::ALL.len()]);

impl Verdict {
    /// All of them, the counted ones first.
    pub const ALL: [Self; 5] = [Self::Match, Self::Miss, Self::Undecided, Self::NotReproducible, Self::Illustration];

    /// Whether it says something about the reproduction, and not about the paper.
    #[must_use]
    pub fn counts(self) -> bool {
        matches!(self, Self::Match | Self::Miss | Self::Undecided)
    }
}

impl Counts {
    /// Counts verdicts.
    #[must_use]
    pub fn of(verdicts: impl IntoIterator<Item = Verdict>) -> Self {
        let mut counts = Self::default();
        for verdict in verdicts {
            counts.0[verdict as usize] += 1;
        }
        counts
    }

    /// How many rows have `verdict`.
    #[must_use]
    pub fn get(self, verdict: Verdict) -> usize {
        self.0[verdict as usize]
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(match self {
            Self::Match => "match",
            Self::Miss => "miss",
            Self::Undecided => "undecided",
            Self::NotReproducible => "not reproducible",
            Self::Illustration => "illustration",
        })
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [matches, misses, undecided, not_reproducible, illustrations] = self.0;
        write!(
            out,
            "{matches} of {} match, {misses} miss, {undecided} undecided; not counted: {not_reproducible} not reproducible, \
             {illustrations} illustration",
            matches + misses + undecided
        )
    }
}
