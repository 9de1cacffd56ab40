//! The search: it proposes points, evaluates them in batches, and keeps those with the smallest margins.
//!
//! [`Strategy::Elites`] is MAP-Elites (Mouret and Clune, 2015): a cell for each set of parts keeps its best path, and new paths are variants
//! of kept ones. [`Strategy::Random`] draws every point anew. The point with index i depends on a random stream of its own
//! and on the paths kept from earlier batches, so the points are equal for any number of threads, and after an interruption.

use std::collections::{BTreeMap, BTreeSet};

use cwnd::Spec;
use cwnd::random::uniform;
use cwnd::registry::{Basis, Transport};
use cwnd_run::execute::Interrupted;
use cwnd_run::scenario::{Scenario, ScenarioError};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use thiserror::Error;

use crate::evaluate::Subject;
use crate::evaluated::{Evaluated, worst};
use crate::parts::PATH;
use crate::property::Promise;
use crate::space::{CHANCE, Case, Part, Space};

/// How points are proposed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strategy {
    /// Variants of the paths that came closest, one for each set of parts.
    Elites,
    /// Independent random points.
    Random,
}

impl Strategy {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Elites, Self::Random];

    /// Its name in commands.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Elites => "elites",
            Self::Random => "random",
        }
    }

    /// The strategy called `name`.
    #[must_use]
    pub fn find(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|strategy| strategy.name() == name)
    }
}

/// Why a search cannot start.
#[derive(Debug, Error)]
pub enum StartError {
    /// The algorithm cannot run on the paths.
    #[error("{}", .0.fault)]
    Scenario(#[from] ScenarioError),
    /// The property is about marks.
    #[error("its sender does not answer congestion marks, which `{0}` is about")]
    Marks(&'static str),
    /// The property is about packets with ECT(1), and a stack sends none.
    #[error("its stack sends no packets with ECT(1), which `{0}` is about")]
    Scalable(&'static str),
    /// The property is about windows that acknowledgements make grow.
    #[error("its window follows an estimate of a rate, reports on a clock, or routers, of which `{0}` says nothing")]
    Estimated(&'static str),
}

/// A search that is under way.
#[derive(Debug)]
pub struct Search<'a> {
    space: &'a Space,
    strategy: Strategy,
    seed: u64,
    outcomes: Vec<Evaluated>,
    /// The evaluations since the last complete batch.
    pending: Vec<Tried>,
    /// The best path of each set of parts.
    elites: BTreeMap<BTreeSet<Part>, Tried>,
    /// The path with the smallest margin.
    best: Option<Tried>,
    failures: Vec<Tried>,
}

/// A path that was evaluated.
#[derive(Clone, Debug)]
pub struct Tried {
    /// The number of earlier evaluations.
    pub index: usize,
    /// The path.
    pub case: Case,
    /// The outcome.
    pub evaluated: Evaluated,
    point: Vec<f64>,
    /// The margin plus a small share of the cost: of paths with equal margins, the simpler one is kept.
    score: f64,
}

impl<'a> Search<'a> {
    /// A search over `space` whose points follow from `seed`.
    ///
    /// # Errors
    /// The algorithm cannot run on the path without any part, a dumbbell with a drop-tail queue; or the property is about marks that the
    /// algorithm does not answer, or about windows unlike its own.
    pub fn start(space: &'a Space, strategy: Strategy, seed: u64) -> Result<Self, StartError> {
        says(space.promise(), space.subject())?;
        let calm = space.decode(&vec![1.0; Space::dimensions()]);
        space.read(&calm, 1)?;
        Ok(Self {
            space,
            strategy,
            seed,
            outcomes: Vec::new(),
            pending: Vec::new(),
            elites: BTreeMap::new(),
            best: None,
            failures: Vec::new(),
        })
    }

    /// Continues from outcomes that were recorded of the same search.
    pub fn replay(&mut self, outcomes: Vec<Evaluated>) {
        for evaluated in outcomes {
            let point = self.propose(self.outcomes.len());
            self.take(point, evaluated);
        }
    }

    /// Evaluates the rest of the batch, but no more than `most` points.
    ///
    /// # Errors
    /// The work was interrupted. Nothing of the batch is kept.
    pub fn advance(&mut self, subject: &Subject<'_>, most: usize) -> Result<(), Interrupted> {
        let done = self.outcomes.len();
        let to = ((done / BATCH + 1) * BATCH).min(done.saturating_add(most));
        let points: Vec<Vec<f64>> = (done..to).map(|index| self.propose(index)).collect();
        let read: Vec<_> = points.iter().map(|point| self.space.read(&self.space.decode(point), 1)).collect();
        let scenarios: Vec<Scenario> = read.iter().filter_map(|read| read.as_ref().ok().cloned()).collect();
        let mut judged = subject.judge_all(&scenarios)?.into_iter();
        for (point, read) in points.into_iter().zip(read) {
            let evaluated = match read {
                Ok(_) => judged.next().map(|seeds| worst(&seeds)).unwrap_or_default(),
                Err(error) => Evaluated::failed(&error),
            };
            self.take(point, evaluated);
        }
        Ok(())
    }

    /// The paths that it proposes from.
    #[must_use]
    pub fn space(&self) -> &'a Space {
        self.space
    }

    /// How it proposes them.
    #[must_use]
    pub fn strategy(&self) -> Strategy {
        self.strategy
    }

    /// Its seed.
    #[must_use]
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// The outcomes so far.
    #[must_use]
    pub fn outcomes(&self) -> &[Evaluated] {
        &self.outcomes
    }

    /// The path that came closest to breaking the property, or broke it by most.
    #[must_use]
    pub fn best(&self) -> Option<&Tried> {
        self.best.as_ref()
    }

    /// Whether a path breaks the property.
    #[must_use]
    pub fn has_broken(&self) -> bool {
        self.best.as_ref().is_some_and(|best| best.evaluated.is_broken())
    }

    /// The evaluations that failed.
    #[must_use]
    pub fn failures(&self) -> &[Tried] {
        &self.failures
    }

    /// The paths that break the property, the best of each set of parts, simple and clear ones first.
    #[must_use]
    pub fn broken(&self) -> Vec<Tried> {
        let mut all = self.elites.clone();
        self.pending.iter().for_each(|tried| keep(&mut all, tried));
        let mut broken: Vec<Tried> = all.into_values().filter(|tried| tried.evaluated.is_broken()).collect();
        // Each part more is worth as much as the bound.
        let order = |tried: &Tried| tried.case.parts.len() as f64 + tried.score;
        broken.sort_by(|a, b| order(a).total_cmp(&order(b)).then(a.index.cmp(&b.index)));
        broken
    }

    fn take(&mut self, point: Vec<f64>, evaluated: Evaluated) {
        let case = self.space.decode(&point);
        let score = evaluated.margin.unwrap_or(f64::INFINITY) + COST * self.space.cost(&case);
        let tried = Tried { index: self.outcomes.len(), case, evaluated: evaluated.clone(), point, score };
        let margin = |tried: &Tried| tried.evaluated.margin.unwrap_or(f64::INFINITY);
        if tried.evaluated.margin.is_some() && self.best.as_ref().is_none_or(|best| margin(&tried) < margin(best)) {
            self.best = Some(tried.clone());
        }
        if tried.evaluated.error.is_some() {
            self.failures.push(tried.clone());
        }
        self.outcomes.push(evaluated);
        self.pending.push(tried);
        if self.outcomes.len().is_multiple_of(BATCH) {
            for tried in self.pending.drain(..) {
                keep(&mut self.elites, &tried);
            }
        }
    }

    /// The point with an index.
    fn propose(&self, index: usize) -> Vec<f64> {
        let stream = self.seed.wrapping_mul(SPREAD).wrapping_add(index as u64);
        let mut draws = Draws(Xoshiro256PlusPlus::seed_from_u64(stream));
        let fresh =
            self.strategy == Strategy::Random || index < FIRST || draws.next() < FRESH || self.elites.is_empty();
        if fresh { draws.point() } else { self.variant(&mut draws) }
    }

    /// A variant of a kept path.
    fn variant(&self, draws: &mut Draws) -> Vec<f64> {
        let mut parents: Vec<&Tried> = self.elites.values().collect();
        parents.sort_by(|a, b| a.score.total_cmp(&b.score).then(a.index.cmp(&b.index)));
        let among = if draws.next() < 0.7 { parents.len().min(CLOSEST) } else { parents.len() };
        let mut point = parents[draws.below(among)].point.clone();
        let mut at = 0;
        let mut change = |point: &mut Vec<f64>, draws: &mut Draws, chance: f64| {
            if draws.next() < chance {
                point[at] = reflected(point[at] + STEP * draws.normal());
            }
            at += 1;
        };
        for _ in &PATH {
            change(&mut point, draws, 0.5);
        }
        for part in Part::all() {
            let gate = at_gate(part);
            if draws.next() < FLIP {
                point[gate] = if point[gate] < CHANCE { 1.0 } else { 0.0 };
            }
            change(&mut point, draws, 0.0);
            for _ in part.knobs() {
                change(&mut point, draws, 0.4);
            }
        }
        point
    }
}

/// Whether a property says anything about an algorithm. Nobody knows the basis of a stack.
pub(crate) fn says(promise: &Promise, algorithm: &Spec) -> Result<(), StartError> {
    let Some(property) = promise.property() else { return Ok(()) };
    let entry = algorithm.entry();
    if property.dual_queue || property.needs == Some(Part::Marks) {
        if !entry.answers_marks() {
            return Err(StartError::Marks(property.name));
        }
        if property.dual_queue && algorithm.as_stack().is_some() {
            return Err(StartError::Scalable(property.name));
        }
    }
    let grows_otherwise = matches!(entry.basis, Basis::DeliveryRate | Basis::Routers)
        || matches!(entry.transport, Transport::Reported | Transport::Datagram);
    if property.by_acknowledgements && grows_otherwise {
        return Err(StartError::Estimated(property.name));
    }
    Ok(())
}

/// Keeps a path if its score is the best for its set of parts. A path without a margin is not kept.
fn keep(elites: &mut BTreeMap<BTreeSet<Part>, Tried>, tried: &Tried) {
    if tried.evaluated.margin.is_none() {
        return;
    }
    let parts: BTreeSet<Part> = tried.case.parts().collect();
    if elites.get(&parts).is_none_or(|kept| tried.score < kept.score) {
        elites.insert(parts, tried.clone());
    }
}

/// The coordinate that decides whether a path has a part.
fn at_gate(part: Part) -> usize {
    PATH.len() + Part::all().take_while(|other| *other != part).map(|part| 1 + part.knobs().len()).sum::<usize>()
}

/// A coordinate, reflected at the ends of the unit interval.
fn reflected(value: f64) -> f64 {
    let value = value.abs();
    (if value > 1.0 { 2.0 - value } else { value }).clamp(0.0, 1.0)
}

/// Random numbers of a point.
struct Draws(Xoshiro256PlusPlus);

impl Draws {
    /// Uniform from 0 to 1.
    fn next(&mut self) -> f64 {
        uniform(self.0.next_u64())
    }

    fn below(&mut self, count: usize) -> usize {
        ((self.next() * count as f64) as usize).min(count.saturating_sub(1))
    }

    /// About normal: a sum of twelve uniform numbers has the variance 1.
    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.next()).sum::<f64>() - 6.0
    }

    fn point(&mut self) -> Vec<f64> {
        (0..Space::dimensions()).map(|_| self.next()).collect()
    }
}

/// Points that are evaluated together.
pub const BATCH: usize = 16;
/// Points that are drawn anew at the start.
const FIRST: usize = 3 * BATCH;
/// The share of independent points among the later ones.
const FRESH: f64 = 0.2;
/// Parents of most variants.
const CLOSEST: usize = 8;
/// The probability that a variant has a part that its parent lacks, or lacks one that it has.
const FLIP: f64 = 0.06;
/// The standard deviation of a change.
const STEP: f64 = 0.15;
/// The share of the cost in a score.
const COST: f64 = 0.02;
/// Sets the streams of neighbouring seeds apart.
const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;
