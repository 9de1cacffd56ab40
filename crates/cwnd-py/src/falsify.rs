//! Searches for counterexamples.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use cwnd_falsify::corpus::Corpus;
use cwnd_falsify::findings::{Findings, counterexamples, has_counterexample};
use cwnd_falsify::property::Promise;
use cwnd_falsify::search::{BATCH, Search, Strategy};
use cwnd_falsify::space::{Profile, Space};
use cwnd_falsify::{Elsewhere, MOST_MEMORY, PATIENCE, Subject, Workers, work as be_worker};
use cwnd_run::cells::Cells;
use cwnd_run::execute::{Executor, Interrupted, RunError};
use cwnd_run::files::to_json;
use cwnd_run::run::Runs as LabRuns;
use pyo3::prelude::*;

use crate::failure::Failure;
use crate::outside::{AlgorithmErrors, written};
use crate::runs::Runs;
use crate::work;

/// The findings of a search.
#[pyclass(frozen, module = "cwnd._native")]
pub(crate) struct Falsified(Findings);

/// A property as Python gives it.
#[derive(FromPyObject)]
pub(crate) enum Given {
    /// Its text.
    Text(String),
    /// A name, and a function that takes [`Runs`] of one seed and returns the margin, or none.
    Own(String, Py<PyAny>),
}

impl Given {
    /// The property. What its function raises is kept in `errors`, and the function is not called again.
    fn promise(self, errors: &Arc<AlgorithmErrors>) -> Result<Promise, Failure> {
        let (name, function) = match self {
            Self::Text(text) => return text.parse().map_err(|error| Failure::Argument(format!("property: {error}"))),
            Self::Own(name, function) => (name, function),
        };
        let errors = Arc::clone(errors);
        let margin = move |runs: LabRuns| {
            let call = |py: Python<'_>| function.call1(py, (Runs::of(runs),))?.extract::<Option<f64>>(py);
            match (!errors.any()).then(|| Python::attach(call))? {
                Ok(margin) => margin,
                Err(error) => {
                    errors.record(error);
                    None
                }
            }
        };
        Ok(Promise::own(name, Arc::new(margin)))
    }
}

/// Where evaluations run. Each needs an algorithm and a property as text.
#[derive(FromPyObject)]
pub(crate) enum Place {
    /// In processes of this command, which calls [`falsify_worker`].
    Processes(Vec<OsString>),
    /// On a cluster, by a function that takes requests. Its iterator gives none while they are under way, and their answers then.
    Cluster(Py<PyAny>),
}

/// Lets a function of Python evaluate.
struct Cluster<'a> {
    function: &'a Py<PyAny>,
    executor: Executor<'a>,
    errors: &'a AlgorithmErrors,
}

impl fmt::Debug for Cluster<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Cluster")
    }
}

impl Elsewhere for Cluster<'_> {
    fn answers(&self, requests: Vec<String>) -> Result<Vec<String>, Interrupted> {
        let many = requests.len();
        let ask = |py: Python<'_>| -> PyResult<Option<Vec<String>>> {
            for looked in self.function.call1(py, (requests,))?.bind(py).try_iter()? {
                if let Some(answers) = looked?.extract()? {
                    return Ok(Some(answers));
                }
                if !self.executor.should_continue() {
                    break;
                }
            }
            Ok(None)
        };
        match Python::attach(ask) {
            Ok(Some(answers)) if answers.len() == many => return Ok(answers),
            Ok(_) => {}
            Err(error) => self.errors.record(error),
        }
        Err(Interrupted)
    }
}

/// Is a process that evaluates, until its standard input ends.
#[pyfunction]
pub(crate) fn falsify_worker(py: Python<'_>) -> Result<(), Failure> {
    py.detach(|| be_worker(&Cells::default())).map_err(|error| Failure::Unexpected(error.to_string()))
}

/// Answers a request of a search that is elsewhere, in a process of `command`.
#[pyfunction]
pub(crate) fn falsify_task(py: Python<'_>, command: Vec<OsString>, request: &str) -> Result<String, Failure> {
    // The processes are there for the requests after this one.
    static WORKERS: OnceLock<Workers> = OnceLock::new();
    let workers = WORKERS.get_or_init(|| Workers::new(command, PATIENCE));
    py.detach(|| workers.answer(request, &|| true)).map_err(|error| Failure::Argument(error.to_string()))
}

/// Searches for paths on which an algorithm breaks a property. `given`: the property, the profile, the strategy and the seed of the search.
/// `budget`: evaluations, whether to stop at the first path that breaks the property, seeds, and the most counterexamples.
/// `corpus`: the file that the search continues from. `runs`: the memory for all of them, and where they run; on threads of this
/// process without that.
#[pyfunction]
pub(crate) fn falsify(
    py: Python<'_>,
    algorithm: Bound<'_, PyAny>,
    given: (Given, &str, &str, u64),
    budget: (u32, bool, u32, u32),
    corpus: Option<PathBuf>,
    runs: (Option<&str>, Option<Place>),
) -> Result<Falsified, Failure> {
    let (property, profile, search, seed) = given;
    let (evaluations, first, seeds, most) = budget;
    let (memory, place) = runs;
    let unknown = |argument: &str, text: &str, accepted: Vec<&str>| {
        Failure::Argument(format!("{argument}: expected one of {}, got `{text}`", accepted.join(", ")))
    };
    let errors = Arc::default();
    let promise = property.promise(&errors)?;
    let names = || Profile::ALL.map(Profile::name).to_vec();
    let profile = Profile::find(profile).ok_or_else(|| unknown("profile", profile, names()))?;
    let names = || Strategy::ALL.map(Strategy::name).to_vec();
    let strategy = Strategy::find(search).ok_or_else(|| unknown("search", search, names()))?;
    let memory = work::memory(memory)?;
    if memory.is_some_and(|bytes| bytes < MOST_MEMORY) {
        return Err(Failure::Argument(format!(
            "memory: an evaluation may use {MOST_MEMORY} bytes: expected that or more"
        )));
    }
    let algorithm = written("algorithm", &algorithm, &errors)?;
    let outside = algorithm.value().is_outside();
    let space = Space::new(profile, algorithm, promise);
    let mut search =
        Search::start(&space, strategy, seed).map_err(|error| Failure::Argument(format!("algorithm: {error}")))?;
    let most_evaluations = evaluations as usize;
    let unusable = |path: &Path, error: &dyn fmt::Display| format!("corpus: {}: {error}", path.display());
    let corpus = corpus.map(|path| (Corpus::new(&path, &space, strategy, seed), path));
    if let Some((corpus, path)) = &corpus {
        if outside || space.promise().is_own() {
            let reason =
                "its lines would not say of which functions they are: expected an algorithm and a property as text";
            return Err(Failure::Argument(unusable(path, &reason)));
        }
        let recorded = corpus.read(&space).map_err(|error| Failure::Argument(unusable(path, &error)))?;
        if recorded.len() > most_evaluations {
            let has = recorded.len();
            return Err(Failure::Argument(format!("evaluations: {evaluations} is below the {has} of the corpus")));
        }
        search.replay(recorded);
    }
    let keep = |search: &Search<'_>| match &corpus {
        Some((corpus, path)) => corpus.write(search.outcomes()).map_err(|error| Failure::File(unusable(path, &error))),
        None => Ok(()),
    };
    let workers = match &place {
        Some(Place::Processes(command)) => Some(Workers::new(command.clone(), PATIENCE)),
        _ => None,
    };
    let found = work::executing(py, outside, memory, &errors, |executor| {
        let cluster = match &place {
            Some(Place::Cluster(function)) => Some(Cluster { function, executor, errors: &errors }),
            _ => None,
        };
        let subject = Subject::new(executor, space.promise());
        let subject = match (&workers, &cluster) {
            (Some(workers), _) => subject.in_processes(workers),
            (None, Some(cluster)) => subject.elsewhere(cluster),
            (None, None) => subject,
        };
        let mut searched = Ok(());
        let mut luck = BTreeSet::new();
        while searched.is_ok() && search.outcomes().len() < most_evaluations {
            let ends = if first { has_counterexample(&search, &subject, seeds, &mut luck) } else { Ok(false) };
            let left = most_evaluations - search.outcomes().len();
            searched = match ends {
                Ok(true) => break,
                Ok(false) => search.advance(&subject, left),
                Err(interrupted) => Err(interrupted),
            };
            // Also after an interruption.
            if searched.is_err() || search.outcomes().len().is_multiple_of(WRITE_EVERY) {
                keep(&search)?;
            }
        }
        searched.map_err(RunError::from)?;
        keep(&search)?;
        let found = counterexamples(&search, &subject, seeds, most, &mut |_| ()).map_err(RunError::from)?;
        Ok(Findings::of(&search, seeds, &found))
    })?;
    Ok(Falsified(found))
}

#[pymethods]
impl Falsified {
    /// The document of `cwnd falsify --json`.
    fn to_json(&self) -> String {
        to_json(&self.0)
    }

    /// The findings in a few lines.
    fn text(&self) -> String {
        self.0.text()
    }
}

/// Evaluations between two writings of the corpus.
const WRITE_EVERY: usize = 8 * BATCH;
