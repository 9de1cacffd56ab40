//! Shrinking: a path that breaks a property loses the parts that it does not need for that.

use cwnd_run::execute::Interrupted;
use cwnd_run::scenario::Scenario;

use crate::evaluate::Subject;
use crate::evaluated::{Evaluated, mildest};
use crate::parts::{DIGITS, rounded};
use crate::space::{Case, Part, Space};

/// A path that breaks the property with every seed, and needs all of its parts for that.
#[derive(Clone, Debug)]
pub struct Shrunk {
    /// The path.
    pub case: Case,
    /// The seed with the largest margin.
    pub evaluated: Evaluated,
    /// Each change that was kept, with the largest margin after it.
    pub steps: Vec<(String, f64)>,
    /// The outcome without each of its parts.
    pub without: Vec<Without>,
}

/// A shrunk path without one of its parts.
#[derive(Clone, Debug)]
pub struct Without {
    /// The part.
    pub part: Part,
    /// The seed with the largest margin.
    pub evaluated: Evaluated,
    /// The number of seeds that break the property, of [`seeds_of`].
    pub broken: usize,
}

/// Shrinks `case`. None if a seed keeps the property: then it was luck.
///
/// A change is kept if the path costs less ([`Space::cost`]) and every seed still breaks the property. Changes remove parts, then seconds,
/// then move numbers to their calmest values, and then round them.
///
/// A path that is chosen because a few seeds break the property may be one that most others keep: with two seeds or more, [`seeds_of`] is more
/// than `seeds`, and each path is confirmed with the others.
///
/// # Errors
/// The work was interrupted.
pub fn shrink(space: &Space, subject: &Subject<'_>, case: &Case, seeds: u32) -> Result<Option<Shrunk>, Interrupted> {
    let judging = Judging { space, subject, seeds };
    let first_broken = |cases: &[Case]| judging.first_broken(cases);
    let mut case = case.clone();
    let Some((_, mut evaluated)) = first_broken(std::slice::from_ref(&case))? else { return Ok(None) };
    let mut steps = Vec::new();
    'shrinking: while steps.len() < MOST_STEPS {
        let cost = space.cost(&case);
        for stage in [removals, shorter, calmer, rounder] {
            let changes: Vec<(String, Case)> =
                stage(space, &case).into_iter().filter(|(_, changed)| space.cost(changed) < cost - 1e-9).collect();
            let cases: Vec<Case> = changes.iter().map(|(_, case)| case.clone()).collect();
            if let Some((nth, judged)) = first_broken(&cases)? {
                let (what, changed) = changes.into_iter().nth(nth).expect("as many as cases");
                steps.push((what, judged.margin.unwrap_or_default()));
                (case, evaluated) = (changed, judged);
                continue 'shrinking;
            }
        }
        break;
    }
    let apart: Vec<(Part, Case)> = case.parts().filter_map(|part| Some((part, without(space, &case, part)?))).collect();
    let cases: Vec<Case> = apart.iter().map(|(_, case)| case.clone()).collect();
    let outcomes = judging.judge(&cases, 0, seeds_of(seeds))?;
    let of = |((part, _), seeds): ((Part, Case), Vec<Evaluated>)| Without {
        part,
        evaluated: mildest(&seeds),
        broken: seeds.iter().filter(|evaluated| evaluated.is_broken()).count(),
    };
    let without = apart.into_iter().zip(outcomes).map(of).collect();
    Ok(Some(Shrunk { case, evaluated, steps, without }))
}

/// Whether each seed breaks the property on a path, so that [`shrink`] has an answer.
///
/// # Errors
/// The work was interrupted.
pub fn is_broken(space: &Space, subject: &Subject<'_>, case: &Case, seeds: u32) -> Result<bool, Interrupted> {
    Ok(Judging { space, subject, seeds }.first_broken(std::slice::from_ref(case))?.is_some())
}

/// Paths that are judged with several seeds.
struct Judging<'a> {
    space: &'a Space,
    subject: &'a Subject<'a>,
    seeds: u32,
}

impl Judging<'_> {
    /// The first of some paths on which each seed breaks the property, and the seed with the largest margin.
    fn first_broken(&self, cases: &[Case]) -> Result<Option<(usize, Evaluated)>, Interrupted> {
        let all = seeds_of(self.seeds);
        for (nth, judged) in self.judge(cases, 0, self.seeds)?.into_iter().enumerate() {
            let mut judged = judged;
            if mildest(&judged).is_broken() && all > self.seeds {
                judged.extend(self.judge(&cases[nth..=nth], self.seeds, all)?.pop().unwrap_or_default());
            }
            let evaluated = mildest(&judged);
            if evaluated.is_broken() {
                return Ok(Some((nth, evaluated)));
            }
        }
        Ok(None)
    }

    /// The outcomes of some paths with the seeds after `from` up to `to`.
    fn judge(&self, cases: &[Case], from: u32, to: u32) -> Result<Vec<Vec<Evaluated>>, Interrupted> {
        let of = |case: &Case| Some(self.space.read(case, to).ok()?.with_seeds(u64::from(from) + 1, to - from));
        let read: Vec<Option<Scenario>> = cases.iter().map(of).collect();
        let scenarios: Vec<Scenario> = read.iter().flatten().cloned().collect();
        let mut judged = self.subject.judge_all(&scenarios)?.into_iter();
        let of = |read: &Option<Scenario>| read.as_ref().and_then(|_| judged.next());
        Ok(read.iter().map(of).map(Option::unwrap_or_default).collect())
    }
}

/// The number of seeds, from 1 on, with which a path that is shrunk with `seeds` breaks the property.
#[must_use]
pub fn seeds_of(seeds: u32) -> u32 {
    if seeds > 1 { seeds + OTHERS } else { seeds }
}

/// The path without a part; none for one that the property needs.
fn without(space: &Space, case: &Case, part: Part) -> Option<Case> {
    let mut changed = case.clone();
    changed.parts.remove(&part).filter(|_| space.promise().needs() != Some(part)).map(|_| changed)
}

fn removals(space: &Space, case: &Case) -> Vec<(String, Case)> {
    let one = |part: Part| Some((format!("without {}", part.name()), without(space, case, part)?));
    case.parts().filter_map(one).collect()
}

/// Half of the longest run suffices for the windows and the warm-up of every property; less would be a matter of the start.
fn shorter(space: &Space, case: &Case) -> Vec<(String, Case)> {
    let one = |share: f64| {
        let duration = rounded(space.profile().duration() * share, 2);
        (format!("{duration} s"), Case { duration, ..case.clone() })
    };
    [0.5, 0.75].map(one).into()
}

fn calmer(space: &Space, case: &Case) -> Vec<(String, Case)> {
    let to = |[low, high]: [f64; 2], calm: f64, value: f64| {
        let calm = calm.clamp(low, high);
        vec![calm, rounded((calm + value) / 2.0, 2)]
    };
    change_numbers(space, case, to)
}

fn rounder(space: &Space, case: &Case) -> Vec<(String, Case)> {
    change_numbers(space, case, |_, _, value| (1..DIGITS).map(|digits| rounded(value, digits)).collect())
}

/// Each number with the values that `to` gives for its range, its calmest value and its value.
fn change_numbers(space: &Space, case: &Case, to: impl Fn([f64; 2], f64, f64) -> Vec<f64>) -> Vec<(String, Case)> {
    let of = |(index, (knob, value)): (usize, (&'static crate::parts::Knob, f64))| {
        let [low, high] = knob.range(space.profile());
        let values =
            to([low, high], knob.calm, value).into_iter().map(move |to| if knob.whole { to.round() } else { to });
        let values: Vec<f64> = values.filter(|to| *to != value && (low..=high).contains(to)).collect();
        values.into_iter().map(move |to| (format!("{} {to}", knob.name), case.with_number(index, to)))
    };
    case.numbers().enumerate().flat_map(of).collect()
}

const MOST_STEPS: usize = 60;
/// Seeds that confirm a path.
const OTHERS: u32 = 10;
