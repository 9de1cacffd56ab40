//! Which point, or which algorithm at each setting of the other keys, is best by a measure.

use std::collections::BTreeMap;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::Serialize;
use thiserror::Error;

use super::{Axis, PointResult, Sweep};
use crate::compare::FEWEST_FOR_BEST;
use cwnd_run::measure::{Better, Estimate, Measure, Reach, table};
use cwnd_run::scenario::unknown;

/// A measure that points are ranked by: one that algorithms are [compared](Reach::Compared) by and that says which way is better.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct By {
    measure: &'static Measure,
    better: Better,
}

/// The error for a name that is not a measure to rank by.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{}", unknown("measure", .0, &By::all().map(|by| by.measure.key).collect::<Vec<_>>()))]
pub struct ByError(String);

/// The points of a sweep in the order of a measure.
#[derive(Clone, Debug)]
pub struct Ranking {
    /// The measure.
    pub by: By,
    /// The key whose values are compared at each setting of the others: the first that ends in `algorithm` and varies. None where there is
    /// no such key, or nothing to compare; then all points are compared with one another.
    pub contender: Option<usize>,
    /// An axis for every key of the sweep.
    pub keys: Vec<Axis>,
    /// The keys that vary, without the contender's: indexes of `keys`.
    pub axes: Vec<usize>,
    /// The points, by setting: all of them in one where there is no contender.
    pub settings: Vec<Place>,
    /// The contenders, those that are best most often first.
    pub standings: Vec<Standing>,
}

/// A setting of the other keys.
#[derive(Clone, Debug)]
pub struct Place {
    /// A value for each of [`Ranking::axes`]; empty where there is no contender.
    pub at: Vec<usize>,
    /// Its points, the best mean first, those without the measure last.
    pub ranked: Vec<Ranked>,
}

/// A point in its place.
#[derive(Clone, Copy, Debug)]
pub struct Ranked {
    /// Indexes the points that were ranked.
    pub point: usize,
    /// The measure; none where no run has it.
    pub estimate: Option<Estimate>,
    /// See [`PointResult::rank`].
    pub rank: Option<u64>,
    /// See [`PointResult::tied`].
    pub tied: bool,
}

/// How often a contender is the best.
#[derive(Clone, Debug, JsonSchema, PartialEq, Serialize)]
pub struct Standing {
    /// The contender.
    pub contender: String,
    /// Settings at which it was compared with another.
    pub settings: u64,
    /// The settings at which it has the first place alone.
    pub alone: u64,
    /// The settings at which it shares the first place.
    pub tied: u64,
    /// How far its mean is behind the best mean where it is furthest behind, in the unit of the measure.
    pub furthest_behind: f64,
}

impl By {
    /// All of them.
    pub fn all() -> impl Iterator<Item = Self> {
        Reach::Compared.measures().filter_map(|measure| Some(Self { measure, better: measure.better? }))
    }

    /// The measure.
    #[must_use]
    pub const fn measure(&self) -> &'static Measure {
        self.measure
    }

    /// Which values come first, in a word.
    #[must_use]
    pub fn direction(&self) -> &'static str {
        match self.better {
            Better::Higher => "higher",
            Better::Lower => "lower",
        }
    }

    /// The measure at a point.
    #[must_use]
    pub fn of(&self, point: &PointResult) -> Option<Estimate> {
        self.measure.of(&point.measures).filter(|estimate| estimate.mean.is_finite())
    }

    /// Larger for better values.
    fn worth(&self, value: f64) -> f64 {
        match self.better {
            Better::Higher => value,
            Better::Lower => -value,
        }
    }

    /// The worth of the end that is nearer to the best, and of the other.
    fn ends(&self, estimate: &Estimate) -> (f64, f64) {
        let (low, high) = (self.worth(estimate.low), self.worth(estimate.high));
        (low.max(high), low.min(high))
    }
}

impl Default for By {
    fn default() -> Self {
        Self { measure: &table::GOODPUT, better: Better::Higher }
    }
}

impl FromStr for By {
    type Err = ByError;

    fn from_str(key: &str) -> Result<Self, ByError> {
        Self::all().find(|by| by.measure.key == key).ok_or_else(|| ByError(key.to_string()))
    }
}

impl Ranking {
    /// Ranks `points` by [`Sweep::by`].
    #[must_use]
    pub fn of(sweep: &Sweep, points: &[PointResult]) -> Self {
        let by = sweep.by();
        let keys = Axis::all(sweep);
        let varying = |index: &usize| keys[*index].values.len() > 1;
        let rule = |index: &usize| sweep.keys()[*index].rsplit('.').next() == Some("algorithm");
        let contender = (0..keys.len()).find(|index| rule(index) && varying(index));
        let axes = |contender: Option<usize>| -> Vec<usize> {
            (0..keys.len()).filter(|index| varying(index) && Some(*index) != contender).collect()
        };
        let mut settings: BTreeMap<Vec<usize>, Vec<usize>> = BTreeMap::new();
        if contender.is_some() {
            for (index, point) in points.iter().enumerate() {
                let at = axes(contender).into_iter().map(|axis| keys[axis].place(sweep, point.point)).collect();
                settings.entry(at).or_default().push(index);
            }
        }
        // Algorithms that never run against each other are distinguished by their settings as well.
        let contender = contender.filter(|_| settings.values().any(|own| own.len() > 1));
        if contender.is_none() {
            settings = BTreeMap::from([(Vec::new(), (0..points.len()).collect())]);
        }
        let settings: Vec<Place> = settings.into_iter().map(|(at, own)| Place::of(by, points, at, own)).collect();
        let standings = contender.map_or_else(Vec::new, |key| standings(by, sweep, points, &keys[key], &settings));
        Self { by, contender, axes: axes(contender), keys, settings, standings }
    }
}

impl Place {
    fn of(by: By, points: &[PointResult], at: Vec<usize>, own: Vec<usize>) -> Self {
        let mut ranked: Vec<Ranked> = own
            .into_iter()
            .map(|point| Ranked { point, estimate: by.of(&points[point]), rank: None, tied: false })
            .collect();
        let worth = |one: &Ranked| one.estimate.map_or(f64::NEG_INFINITY, |estimate| by.worth(estimate.mean));
        ranked.sort_by(|a, b| worth(b).total_cmp(&worth(a)));
        if ranked.iter().filter(|one| one.estimate.is_some()).count() > 1 {
            // A point is surely better than another where all of its interval is.
            let known = |estimate: &Estimate| estimate.ci95.is_some() && estimate.n >= FEWEST_FOR_BEST;
            let estimates = ranked.iter().filter_map(|one| one.estimate).filter(known);
            let mut least: Vec<f64> = estimates.map(|estimate| by.ends(&estimate).1).collect();
            least.sort_by(|a, b| b.total_cmp(a));
            for one in &mut ranked {
                let Some(estimate) = one.estimate else { continue };
                let most = if known(&estimate) { by.ends(&estimate).0 } else { f64::INFINITY };
                one.rank = Some(1 + least.partition_point(|least| *least > most) as u64);
            }
            let firsts = ranked.iter().filter(|one| one.rank == Some(1)).count();
            for one in &mut ranked {
                one.tied = one.rank == Some(1) && firsts > 1;
            }
        }
        Self { at, ranked }
    }

    /// The point of the best mean; none where no point has the measure.
    #[must_use]
    pub fn best(&self) -> Option<(&Ranked, Estimate)> {
        let first = self.ranked.first()?;
        Some((first, first.estimate?))
    }

    /// The points that share the first place; one where a point is best alone, none where nothing is ranked.
    pub fn firsts(&self) -> impl Iterator<Item = &Ranked> {
        self.ranked.iter().filter(|one| one.rank == Some(1))
    }
}

fn standings(by: By, sweep: &Sweep, points: &[PointResult], contenders: &Axis, settings: &[Place]) -> Vec<Standing> {
    let none =
        |label: &str| Standing { contender: label.to_string(), settings: 0, alone: 0, tied: 0, furthest_behind: 0.0 };
    let mut standings: Vec<Standing> = contenders.values.iter().map(|value| none(&value.label)).collect();
    for setting in settings {
        let Some((_, best)) = setting.best() else { continue };
        for one in &setting.ranked {
            let (Some(rank), Some(estimate)) = (one.rank, one.estimate) else { continue };
            let standing = &mut standings[contenders.place(sweep, points[one.point].point)];
            standing.settings += 1;
            standing.tied += u64::from(one.tied);
            standing.alone += u64::from(rank == 1 && !one.tied);
            let behind = by.worth(best.mean) - by.worth(estimate.mean);
            standing.furthest_behind = standing.furthest_behind.max(behind);
        }
    }
    standings.retain(|standing| standing.settings > 0);
    standings.sort_by(|a, b| {
        let first = |standing: &Standing| (standing.alone, standing.tied);
        first(b).cmp(&first(a)).then(a.furthest_behind.total_cmp(&b.furthest_behind))
    });
    standings
}
