//! Algorithms written in Python, in the hosts of the lab.
//!
//! Python's objects are called with the interpreter's lock. The contract of the lab knows no failure: what an object raises is
//! kept in [`AlgorithmErrors`], the object is not called again, and whoever runs the host ends the run and raises it ([`crate::work`]).

mod algorithm;
mod control;
mod rule;
mod signal;

use std::fmt::Debug;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use cwnd::window::Window;
use cwnd::{CongestionControl, Control as Asked, Maker, Packets, Spec, Start as Begin, View as Seen};
use cwnd_run::scenario::Written;
use pyo3::prelude::*;
use pyo3::types::{PyString, PyType};

use crate::failure::Failure;
use algorithm::Algorithm;
use rule::Rule;

pub(crate) use control::Control;
pub(crate) use signal::{Ack, Congestion, RateSample, Remote, Rtt, Start, View};

/// What Python's algorithms raised during one piece of work.
#[derive(Debug, Default)]
pub(crate) struct AlgorithmErrors {
    any: AtomicBool,
    first: Mutex<Option<PyErr>>,
}

impl AlgorithmErrors {
    /// Whether anything was raised.
    pub(crate) fn any(&self) -> bool {
        self.any.load(Ordering::Relaxed)
    }

    /// Keeps the first.
    pub(crate) fn record(&self, error: PyErr) {
        let mut first = self.first.lock().unwrap_or_else(PoisonError::into_inner);
        first.get_or_insert(error);
        self.any.store(true, Ordering::Relaxed);
    }

    /// What was raised instead of `result`, if anything was.
    pub(crate) fn or_result<T>(&self, result: Result<T, Failure>) -> Result<T, Failure> {
        let raised = self.first.lock().unwrap_or_else(PoisonError::into_inner).take();
        raised.map_or(result, |error| Err(error.into()))
    }
}

/// An algorithm as people give it as an argument: text of the registry, or one of their own, a class or an object.
pub(crate) fn written(
    argument: &str,
    given: &Bound<'_, PyAny>,
    errors: &Arc<AlgorithmErrors>,
) -> Result<Written<Spec>, Failure> {
    if let Ok(text) = given.cast::<PyString>() {
        let read = text.to_string_lossy().parse();
        return read.map_err(|error| Failure::Algorithm { argument: argument.to_string(), error });
    }
    let bases = given.py().import(BASES)?;
    let kind = |base: &str| -> PyResult<bool> {
        let base = bases.getattr(base)?;
        match given.cast::<PyType>() {
            Ok(class) => class.is_subclass(&base),
            Err(_) => given.is_instance(&base),
        }
    };
    let rule = kind(RULE)?;
    if !rule && !kind(ALGORITHM)? {
        return Err(Failure::Argument(format!(
            "{argument}: expected an algorithm, as text or as a subclass of cwnd.{ALGORITHM} or cwnd.{RULE}, got {}",
            given.repr()?
        )));
    }
    let label: String = bases.getattr("label")?.call1((given,))?.extract()?;
    let maker = Outside { given: given.clone().unbind(), rule, errors: Arc::clone(errors) };
    Ok(Spec::outside(&label, Arc::new(maker)).into())
}

/// Starts flows with objects of Python.
#[derive(Debug)]
struct Outside {
    given: Py<PyAny>,
    rule: bool,
    errors: Arc<AlgorithmErrors>,
}

impl Outside {
    fn make(&self, py: Python<'_>, start: &Begin) -> PyResult<Box<dyn CongestionControl>> {
        let object = py.import(BASES)?.getattr("fresh")?.call1((self.given.bind(py),))?;
        object.call_method1("start", (Start::from(*start),))?;
        let errors = Arc::clone(&self.errors);
        if self.rule {
            Ok(Box::new(Window::new(Rule::of(&object, errors)?, start)))
        } else {
            Ok(Box::new(Algorithm::of(&object, errors)?))
        }
    }
}

impl Maker for Outside {
    fn start(&self, start: &Begin) -> Box<dyn CongestionControl> {
        Python::attach(|py| {
            self.make(py, start).unwrap_or_else(|error| {
                self.errors.record(error);
                Box::new(Inert)
            })
        })
    }
}

/// In the place of an algorithm that could not be started: the run is about to end.
#[derive(Clone, Debug)]
struct Inert;

impl CongestionControl for Inert {
    fn control(&self) -> Asked {
        Asked::window(Packets(1.0))
    }

    fn on_ack(&mut self, _view: &Seen, _ack: &cwnd::Ack) {}

    fn on_congestion(&mut self, _view: &Seen, _event: &cwnd::Congestion) {}

    fn boxed_clone(&self) -> Box<dyn CongestionControl> {
        Box::new(self.clone())
    }
}

/// The method `name` of `object`, if its class has one of its own instead of that of the class `base`, which does nothing.
fn own_method(object: &Bound<'_, PyAny>, base: &str, name: &str) -> PyResult<Option<Py<PyAny>>> {
    let inherited = object.py().import(BASES)?.getattr(base)?.getattr(name)?;
    let own = !object.get_type().getattr(name)?.is(&inherited);
    own.then(|| object.getattr(name).map(Bound::unbind)).transpose()
}

/// A copy that shares nothing with `object`.
fn duplicate<'py>(object: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    object.py().import("copy")?.getattr("deepcopy")?.call1((object,))
}

/// Shows what `inspect` returns.
fn show(py: Python<'_>, inspect: &Py<PyAny>, visit: &mut dyn FnMut(&'static str, f64)) -> PyResult<()> {
    let shown: Vec<(String, f64)> = inspect
        .call0(py)?
        .call_method0(py, "items")?
        .bind(py)
        .try_iter()?
        .map(|item| item?.extract())
        .collect::<PyResult<_>>()?;
    for (name, value) in shown {
        visit(interned(&name), value);
    }
    Ok(())
}

/// A name that lasts as long as the program, as names of internals do. The same name is kept once.
fn interned(name: &str) -> &'static str {
    let mut kept = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(found) = kept.iter().find(|known| **known == name) {
        return found;
    }
    let leaked: &'static str = Box::leak(name.to_string().into_boxed_str());
    kept.push(leaked);
    leaked
}

static NAMES: Mutex<Vec<&'static str>> = Mutex::new(Vec::new());
/// Where the base classes are.
const BASES: &str = "cwnd._algorithm";
/// That of an algorithm.
const ALGORITHM: &str = "CongestionControl";
/// That of a rule under the window shell.
const RULE: &str = "WindowRule";
