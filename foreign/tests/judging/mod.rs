//! Verdicts on the stacks of this program.

use std::ops::Range;

use cwnd_conform::{Judged, Plan, Subject, Verdict};

/// The verdict of one check over three seeds.
pub(crate) fn judge(name: &str, check: &str) -> Found {
    let spec = cwnd_foreign::stacks().into_iter().find(|spec| spec.label() == name);
    let spec = spec.unwrap_or_else(|| panic!("no stack is called {name}"));
    let plan = Plan { only: vec![check.to_string()], ..Plan::default() };
    let result = plan.judge(&Subject::of(name, spec));
    let [judged] = <[Judged; 1]>::try_from(result.checks).unwrap_or_else(|found| panic!("{check}: {}", found.len()));
    Found(judged)
}

/// The outcome of a check.
pub(crate) struct Found(Judged);

impl Found {
    pub(crate) fn meets(&self, values: Range<f64>) {
        self.is(Verdict::Meets, values);
    }

    pub(crate) fn deviates(&self, values: Range<f64>) {
        self.is(Verdict::Deviates, values);
    }

    fn is(&self, verdict: Verdict, values: Range<f64>) {
        let value = self.0.value.as_ref().map(|value| value.mean);
        assert!(self.0.verdict == verdict && value.is_some_and(|value| values.contains(&value)), "{:?}", self.0);
    }
}
