//! Conformance checks.

use std::sync::Arc;

use cwnd_conform::baseline::Baseline;
use cwnd_conform::{Check, Conformance, Judged, Law, Plan, Subject, Suite, checks, judge, junit, text};
use cwnd_report::page::conformance_html;
use cwnd_run::files::to_json;
use pyo3::prelude::*;
use rayon::prelude::*;

use crate::failure::Failure;
use crate::outside::written;
use crate::work;

/// The checks of one subject.
#[pyclass(frozen, module = "cwnd._native")]
pub(crate) struct Conformed(Conformance);

/// The settings of the runs of a check.
type Settings<'a> = (Vec<String>, Vec<String>, u64, Option<&'a str>, bool, bool);

/// Judges an algorithm by the checks of these suites and ids, of all where there are none. Those of an algorithm in Python go on one after
/// the other. The report shows `curves` if they are kept.
#[pyfunction]
pub(crate) fn conform(
    py: Python<'_>,
    algorithm: Bound<'_, PyAny>,
    settings: Settings<'_>,
    curves: bool,
) -> Result<Conformed, Failure> {
    let (suites, only, seeds, law, hystart, allow_unclear) = settings;
    let named = |name: &String| {
        let accepted: Vec<_> = Suite::ALL.iter().map(|suite| suite.name()).collect();
        let unknown = || Failure::Argument(format!("suites: expected some of {}, got `{name}`", accepted.join(", ")));
        Suite::find(name).ok_or_else(unknown)
    };
    let suites = suites.iter().map(named).collect::<Result<Vec<_>, _>>()?;
    if let Some(unknown) = only.iter().find(|id| checks().all(|check| check.id != id.as_str())) {
        return Err(Failure::Argument(format!("checks: there is no check `{unknown}`")));
    }
    let errors = Arc::default();
    let algorithm = written("algorithm", &algorithm, &errors)?;
    let spec = algorithm.value();
    let subject = Subject::of(algorithm.text(), spec.clone());
    let subject = match law {
        None => subject,
        Some(name) => subject.following(Law::find(name).ok_or_else(|| {
            Failure::Argument(format!("law: expected `reno`, `cubic`, `bbr` or `other`, got `{name}`"))
        })?),
    };
    let subject = if hystart { subject.with_hystart() } else { subject };
    let subject = if allow_unclear { subject.allow_unclear() } else { subject };
    let plan = Plan { suites, only, seeds, curves, least: None };
    let asked: Vec<&'static Check> = plan.checks().collect();
    let seeds: Vec<u64> = (1..=seeds).collect();
    let judged: Vec<Judged> = if spec.is_outside() {
        let mut judged = Vec::new();
        for check in asked {
            py.check_signals()?;
            let done = work::catch_panic(|| Ok(judge(check, &subject, &seeds, curves)));
            judged.push(errors.or_result(done)?);
        }
        judged
    } else {
        let (subject, seeds) = (subject.clone(), seeds.clone());
        // A check is short, but does not look whether to go on.
        work::left_behind(py, None, move |progress| {
            let each = asked.par_iter().filter(|_| progress.should_continue());
            Ok(each.map(|check| judge(check, &subject, &seeds, curves)).collect())
        })?
    };
    Ok(Conformed(Conformance::of(&subject, seeds, judged).asked_by(&plan)))
}

#[pymethods]
impl Conformed {
    /// The object of this subject in the document of `cwnd conform --json`.
    fn to_json(&self) -> String {
        to_json(&self.0)
    }

    /// The output of `cwnd conform`; `all` includes the checks that are met.
    fn text(&self, all: bool) -> String {
        text::conformance(&self.0, all)
    }

    /// The verdicts as JUnit's XML.
    fn junit(&self) -> String {
        junit::document(std::slice::from_ref(&self.0), &Baseline::default())
    }

    /// The report of `cwnd conform --html`, with what repeats it.
    fn html(&self, command: &str) -> String {
        conformance_html(std::slice::from_ref(&self.0), command, &text::conformance(&self.0, true))
    }
}
