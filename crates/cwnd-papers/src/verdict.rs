//! Verdicts, and how many rows have which.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The outcome of a row.
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

/// The basis of the comparison of a row. Each is counted separately.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Basis {
    /// A number the paper prints, once.
    Printed,
    /// A number of a figure: read off it, or of the authors' data behind it, with the error of that.
    Figure,
    /// A number that follows from printed formulas or numbers.
    Derived,
    /// A claim of the paper in words: an order, a bound, a tendency.
    Claim,
    /// A printed number that another row compares already: in another place of the paper, or under another algorithm.
    Repeat,
    /// An identity, or what another row says already.
    Check,
}

/// The number of rows by basis and verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts([[usize; Verdict::ALL.len()]; Basis::ALL.len()]);

impl Basis {
    /// All of them, in the order they are counted.
    pub const ALL: [Self; 6] = [Self::Printed, Self::Figure, Self::Derived, Self::Claim, Self::Repeat, Self::Check];

    /// The mark after a published number of this kind; empty for a printed number or claim.
    #[must_use]
    pub fn mark(self) -> &'static str {
        match self {
            Self::Printed | Self::Claim => "",
            Self::Figure => "figure",
            Self::Derived => "derived",
            Self::Repeat => "repeat",
            Self::Check => "check",
        }
    }

    /// The plural name of rows of this kind.
    #[must_use]
    pub fn plural(self) -> &'static str {
        match self {
            Self::Printed => "printed numbers",
            Self::Derived => "derived numbers",
            Self::Figure => "numbers of figures",
            Self::Claim => "claims",
            Self::Repeat => "repeats",
            Self::Check => "checks",
        }
    }
}

impl Verdict {
    /// All of them, those about the reproduction first, then those about the paper.
    pub const ALL: [Self; 5] = [Self::Match, Self::Miss, Self::Undecided, Self::NotReproducible, Self::Illustration];
}

impl Counts {
    /// Counts rows.
    #[must_use]
    pub fn of(rows: impl IntoIterator<Item = (Basis, Verdict)>) -> Self {
        let mut counts = Self::default();
        for (basis, verdict) in rows {
            counts.0[basis as usize][verdict as usize] += 1;
        }
        counts
    }

    /// The number of rows with `basis` and `verdict`.
    #[must_use]
    pub fn get(self, basis: Basis, verdict: Verdict) -> usize {
        self.0[basis as usize][verdict as usize]
    }

    /// The number of rows with `verdict`.
    #[must_use]
    pub fn all(self, verdict: Verdict) -> usize {
        Basis::ALL.iter().map(|basis| self.get(*basis, verdict)).sum()
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
        for basis in Basis::ALL {
            let [matches, misses, undecided] =
                [Verdict::Match, Verdict::Miss, Verdict::Undecided].map(|verdict| self.get(basis, verdict));
            let compared = matches + misses + undecided;
            if compared > 0 {
                let what = basis.plural();
                write!(out, "{what}: {matches} of {compared} match, {misses} miss, {undecided} undecided; ")?;
            }
        }
        let [not_reproducible, illustrations] = [Verdict::NotReproducible, Verdict::Illustration].map(|v| self.all(v));
        write!(out, "not counted: {not_reproducible} not reproducible, {illustrations} illustration")
    }
}
