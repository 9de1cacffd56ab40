//! Verdicts.

use std::panic::{AssertUnwindSafe, catch_unwind};

use cwnd_run::measure::{Domain, Estimate};
use cwnd_text::counted;
use rayon::prelude::*;
use schemars::JsonSchema;
use serde::Serialize;

use crate::causes;
use crate::check::{Absence, Check, Level, Looks, Range, Suite};
use crate::checks::CHECKS;
use crate::lab::{Curve, Lab};
use crate::subject::Subject;
use crate::unfit::Unfit;

/// The outcome of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The whole interval lies inside the accepted range.
    Meets,
    /// The whole interval lies outside, or what the clause asks for did not happen; `departs` in JSON.
    #[serde(rename = "departs")]
    Deviates,
    /// The interval lies across an end, or the path did not raise the question.
    Unclear,
    /// The clause is not meant for the subject, or the subject does not show what the check looks at.
    NotApplicable,
}

/// A check of a subject.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Judged {
    /// The check.
    pub id: &'static str,
    /// Its document.
    pub suite: Suite,
    /// The clause.
    pub section: &'static str,
    /// The level of requirement in the document.
    pub level: Level,
    /// The requirement.
    pub requirement: &'static str,
    /// The place where the check measures.
    pub looks: Looks,
    /// The verdict.
    pub verdict: Verdict,
    /// The measured quantity.
    pub measured: &'static str,
    /// The number over the seeds; none where there is none.
    pub value: Option<Estimate>,
    /// The accepted range.
    pub accepted: Range,
    /// Why there is no number, why it is not clear, or why some seeds are left out.
    pub note: Option<String>,
    /// The most likely causes, the likeliest first, where it deviates or is unclear; none where the verdict is another.
    pub causes: Vec<&'static str>,
    /// The command that repeats it, or what repeats it in Rust for a sender that no command knows.
    pub repeat: String,
    /// The part of an address, `#s=…`, that runs the last path of the check with its first seed again on the page of `cwnd live` or `cwnd site`,
    /// where it deviates or is unclear; none where no scenario gives that run, as with senders outside of the registry.
    pub link: Option<String>,
    /// The curves of a plot: the window over time in the run of the first seed, of the subject, of this program's sender of the same law,
    /// and by formula.
    #[serde(skip)]
    pub curves: Curves,
}

/// Windows over time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Curves {
    /// The curve of the subject.
    pub subject: Option<Curve>,
    /// The curve of this program's sender of the same law.
    pub reference: Option<Curve>,
    /// The curve by the formula of the clause.
    pub formula: Option<Curve>,
}

/// All checks of a subject.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Conformance {
    /// The subject.
    pub subject: String,
    /// The seeds.
    pub seeds: Vec<u64>,
    /// The parameters that were given although no check depends on them.
    pub warnings: Vec<String>,
    /// Unclear checks do not fail.
    #[serde(skip)]
    pub allow_unclear: bool,
    /// The checks in the order of the list.
    pub checks: Vec<Judged>,
    /// Where fewer checks applied than were asked for, a sentence for each suite; each fails.
    pub too_few: Vec<String>,
}

/// The subject, the checks, and how to run them.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The suites; none for all.
    pub suites: Vec<Suite>,
    /// The checks by their ids; none for all of the suites.
    pub only: Vec<String>,
    /// The number of seeds, from 1 on.
    pub seeds: u64,
    /// Record what plots show.
    pub curves: bool,
    /// How many checks have to apply: of each of `suites`, or of all together where none is named. Without a number one check has to, unless
    /// checks are named or unclear ones are allowed.
    pub least: Option<u32>,
}

impl Default for Plan {
    fn default() -> Self {
        Self { suites: Vec::new(), only: Vec::new(), seeds: 3, curves: false, least: None }
    }
}

impl Plan {
    /// The checks that are asked for.
    pub fn checks(&self) -> impl Iterator<Item = &'static Check> {
        CHECKS.iter().copied().flatten().filter(|check| {
            (self.suites.is_empty() || self.suites.contains(&check.suite))
                && (self.only.is_empty() || self.only.iter().any(|id| id == check.id))
        })
    }

    /// Judges `subject`, on all cores.
    #[must_use]
    pub fn judge(&self, subject: &Subject) -> Conformance {
        let checks: Vec<&Check> = self.checks().collect();
        let seeds: Vec<u64> = (1..=self.seeds.max(1)).collect();
        let judged = checks.par_iter().map(|check| judge(check, subject, &seeds, self.curves)).collect();
        Conformance::of(subject, seeds, judged).asked_by(self)
    }
}

impl Conformance {
    /// The checks of `subject` over `seeds`.
    #[must_use]
    pub fn of(subject: &Subject, seeds: Vec<u64>, checks: Vec<Judged>) -> Self {
        Self {
            subject: subject.name().to_string(),
            seeds,
            warnings: subject.spec().idle_parameters(),
            allow_unclear: subject.allows_unclear(),
            checks,
            too_few: Vec::new(),
        }
    }

    /// Notes where fewer checks apply than `plan` demands.
    #[must_use]
    pub fn asked_by(mut self, plan: &Plan) -> Self {
        let of_all =
            |all: &[(Suite, usize, usize)]| all.iter().fold((0, 0), |(a, b), (_, applied, of)| (a + applied, b + of));
        let suites = self.applied();
        let counts = if plan.suites.is_empty() {
            let (applied, of) = of_all(&suites);
            vec![("all suites", applied, of)]
        } else {
            suites.iter().map(|(suite, applied, of)| (suite.name(), *applied, *of)).collect()
        };
        let by_default = u32::from(plan.only.is_empty() && !self.allow_unclear);
        let least = plan.least.unwrap_or(by_default) as usize;
        let few = counts.into_iter().filter(|(_, applied, _)| *applied < least);
        let text = |(name, applied, of)| {
            format!("{name}: {applied} of {} applied to {}; at least {least} must", counted(of, "check"), self.subject)
        };
        self.too_few = few.map(text).collect();
        self
    }

    /// The suites with how many of their checks apply to the subject, and how many were asked for.
    #[must_use]
    pub fn applied(&self) -> Vec<(Suite, usize, usize)> {
        let of = |suite| {
            let checks = || self.checks.iter().filter(move |judged| judged.suite == suite);
            (suite, checks().filter(|judged| judged.verdict != Verdict::NotApplicable).count(), checks().count())
        };
        Suite::ALL.into_iter().map(of).filter(|(_, _, asked)| *asked > 0).collect()
    }

    /// The number of checks with a verdict.
    #[must_use]
    pub fn count(&self, verdict: Verdict) -> usize {
        self.checks.iter().filter(|judged| judged.verdict == verdict).count()
    }
}

impl Verdict {
    /// The verdict in words.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Meets => "meets",
            Self::Deviates => "deviates",
            Self::Unclear => "unclear",
            Self::NotApplicable => "not applicable",
        }
    }

    /// The most likely causes; none where the verdict does not ask for a cause.
    fn causes(self, check: &Check) -> Vec<&'static str> {
        match self {
            Self::Deviates | Self::Unclear => causes::of(check),
            Self::Meets | Self::NotApplicable => Vec::new(),
        }
    }

    /// The verdict on a number over seeds, by its [`span`].
    #[must_use]
    pub fn of(value: &Estimate, accepted: Range) -> Self {
        let (low, high) = span(value);
        let (from, to) = accepted.ends();
        if value.mean.is_nan() {
            Self::Unclear
        } else if low >= from && high <= to {
            Self::Meets
        } else if high < from || low > to {
            Self::Deviates
        } else {
            Self::Unclear
        }
    }
}

/// The interval of a verdict, from and to: the 95 % interval of the mean, or the smallest and the largest value of one seed or two, whose
/// interval spans anything.
#[must_use]
pub fn span(value: &Estimate) -> (f64, f64) {
    if value.n < FEWEST_FOR_INTERVAL { (value.low, value.high) } else { value.interval() }
}

impl Absence {
    /// The verdict of a check that waits in vain.
    const fn verdict(self) -> Verdict {
        match self {
            Self::Deviates => Verdict::Deviates,
            Self::Unclear => Verdict::Unclear,
            Self::NotApplicable => Verdict::NotApplicable,
        }
    }
}

/// Judges one check of `subject` over `seeds`.
#[must_use]
pub fn judge(check: &Check, subject: &Subject, seeds: &[u64], curves: bool) -> Judged {
    let mut judged = over_seeds(check, subject, seeds, curves);
    if matches!(judged.verdict, Verdict::Deviates | Verdict::Unclear) && !subject.spec().is_outside() {
        let first = seeds.first().copied().unwrap_or(1);
        let lab = Lab::new(subject, first).titled(format!("{} of {}", check.id, subject.name()));
        // Its number is known.
        let _ = measure(check, &lab);
        judged.link = lab.into_link();
    }
    judged
}

fn over_seeds(check: &Check, subject: &Subject, seeds: &[u64], curves: bool) -> Judged {
    let mut judged = Judged {
        id: check.id,
        suite: check.suite,
        section: check.section,
        level: check.level,
        requirement: check.requirement,
        looks: check.looks,
        verdict: Verdict::NotApplicable,
        measured: check.measured,
        value: None,
        accepted: check.accepted,
        note: None,
        causes: Vec::new(),
        repeat: repeat(subject, check.id, seeds.len()),
        link: None,
        curves: Curves::default(),
    };
    if let Some(reason) = check.applies.refuses(subject) {
        judged.note = Some(reason.to_string());
        return judged;
    }
    let (mut values, mut without) = (Vec::new(), Vec::new());
    for (nth, seed) in seeds.iter().enumerate() {
        let lab = Lab::new(subject, *seed);
        let outcome = measure(check, &lab);
        if nth == 0 && curves {
            (judged.curves.subject, judged.curves.formula) = lab.into_curves();
        }
        let (verdict, reason) = match outcome {
            Ok(value) if value.is_finite() => {
                values.push(value);
                continue;
            }
            Ok(value) => (check.absence.verdict(), format!("the number is {value}")),
            Err(Unfit::NotApplicable(reason)) => (Verdict::NotApplicable, reason.to_string()),
            Err(Unfit::Absent(reason)) => (check.absence.verdict(), reason),
            Err(Unfit::Unclear(reason)) => (Verdict::Unclear, reason),
            Err(Unfit::Failed(reason)) => (Verdict::Deviates, reason),
        };
        without.push((verdict, *seed, reason));
    }
    // A deviation for one seed is one, and an unclear seed leaves it open. Seeds to which the clause does not apply are left out.
    let first = |wanted: Verdict| without.iter().find(|(verdict, ..)| *verdict == wanted);
    if let Some((verdict, seed, reason)) = first(Verdict::Deviates).or_else(|| first(Verdict::Unclear)) {
        judged.verdict = *verdict;
        judged.note = Some(format!("seed {seed}: {reason}"));
        judged.causes = judged.verdict.causes(check);
        return judged;
    }
    judged.note = first(Verdict::NotApplicable).map(|(_, seed, reason)| match values.len() {
        0 => reason.clone(),
        _ => format!("without {} of {}, such as {seed}: {reason}", without.len(), counted(seeds.len(), "seed")),
    });
    if let Some(value) = Estimate::over(&values, Domain::ANY) {
        judged.verdict = Verdict::of(&value, check.accepted);
        judged.value = Some(value);
        judged.causes = judged.verdict.causes(check);
    }
    if let Some(reference) = subject.reference().filter(|_| curves) {
        let lab = Lab::new(&reference, seeds.first().copied().unwrap_or(1));
        if measure(check, &lab).is_ok() {
            judged.curves.reference = lab.into_curves().0;
        }
    }
    judged
}

/// Seeds.
const FEWEST_FOR_INTERVAL: usize = 3;

/// The command that judges `subject` again, if one knows it by its name.
fn repeat(subject: &Subject, id: &str, seeds: usize) -> String {
    if let Some(arguments) = subject.arguments() {
        return format!("cwnd conform {arguments} --check {id} --seeds {seeds}");
    }
    format!("Plan {{ only: vec![\"{id}\".into()], seeds: {seeds}, ..Plan::default() }}.judge(&subject)")
}

/// A subject may panic: that is a failure of it, and no end of the program.
fn measure(check: &Check, lab: &Lab<'_>) -> Result<f64, Unfit> {
    catch_unwind(AssertUnwindSafe(|| (check.measure)(lab))).unwrap_or_else(|payload| {
        let text = payload.downcast_ref::<&str>().copied();
        let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
        Err(Unfit::Failed(
            text.map_or_else(|| "the run panicked".to_string(), |text| format!("the run panicked: {text}")),
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_suite_of_which_nothing_applies_is_too_few() {
        let reno = Subject::parse("reno").expect("registered");
        let plan = Plan { suites: vec![Suite::Rfc9406], seeds: 1, ..Plan::default() };
        let result = plan.judge(&reno);
        assert_eq!(result.too_few, ["rfc9406: 0 of 9 checks applied to reno; at least 1 must"]);
        assert_eq!(plan.judge(&reno.clone().allow_unclear()).too_few, [""; 0]);
        let only = Plan { only: vec!["9438-beta".to_string()], suites: Vec::new(), ..plan };
        assert_eq!(only.judge(&reno).too_few, [""; 0]);
        let least = Plan { least: Some(2), ..only };
        assert_eq!(least.judge(&reno).too_few, ["all suites: 0 of 1 check applied to reno; at least 2 must"]);
    }

    #[test]
    fn seeds_to_which_a_clause_does_not_apply_are_left_out() {
        fn but_the_first(lab: &Lab<'_>, value: Result<f64, Unfit>) -> Result<f64, Unfit> {
            if lab.seed() == 1 { Err(Unfit::NotApplicable("a timeout")) } else { value }
        }

        let reno = Subject::parse("reno").expect("registered");
        let of = |measure: fn(&Lab<'_>) -> Result<f64, Unfit>| {
            let check =
                Check { accepted: Range::at_most(1.0), measure, ..*Plan::default().checks().next().expect("one") };
            let judged = judge(&check, &reno, &[1, 2, 3], false);
            (judged.verdict, judged.value.map(|value| (value.mean, value.n)), judged.note.unwrap_or_default())
        };
        let note = "without 1 of 3 seeds, such as 1: a timeout".to_string();
        assert_eq!(of(|lab| but_the_first(lab, Ok(1.0))), (Verdict::Meets, Some((1.0, 2)), note.clone()));
        assert_eq!(of(|lab| but_the_first(lab, Ok(2.0))), (Verdict::Deviates, Some((2.0, 2)), note));
        let unclear = of(|lab| but_the_first(lab, Err(Unfit::Unclear("too short".to_string()))));
        assert_eq!(unclear, (Verdict::Unclear, None, "seed 2: too short".to_string()));
        let never = of(|_| Err(Unfit::NotApplicable("a timeout")));
        assert_eq!(never, (Verdict::NotApplicable, None, "a timeout".to_string()));
    }

    #[test]
    fn a_verdict_looks_at_the_whole_interval() {
        let of =
            |values: &[f64], accepted| Verdict::of(&Estimate::over(values, Domain::ANY).expect("values"), accepted);
        assert_eq!(of(&[0.7, 0.7, 0.7], Range::within(0.69, 0.71)), Verdict::Meets);
        assert_eq!(of(&[0.595, 0.6, 0.59], Range::within(0.69, 0.71)), Verdict::Deviates);
        assert_eq!(of(&[0.6, 0.8], Range::within(0.69, 0.71)), Verdict::Unclear);
        assert_eq!(of(&[1.0, 2.0], Range::at_most(5.0)), Verdict::Meets);
        assert_eq!(of(&[f64::NAN], Range::at_most(1.0)), Verdict::Unclear);
        assert_eq!(of(&[0.0, 0.0], Range::at_most(0.0)), Verdict::Meets);
    }
}
