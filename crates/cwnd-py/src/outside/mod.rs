//! Algorithms written in Python, in the hosts of the lab.
//!
//! Python's objects are called with the interpreter's lock. The contract of the lab knows no failure: what an object raises is
//! kept in [`AlgorithmErrors`], the object is not called again, and whoever runs the host ends the run and raises it ([`crate::work`]).

mod algorithm;
mod control;
mod pickle;
mod policy;
mod rule;
mod signal;
mod words;

use std::fmt::Debug;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use cwnd::window::Window;
use cwnd::{CongestionControl, Control as Asked, Maker, Packets, Spec, Start as Begin, View as Seen};
use cwnd_run::scenario::Written;
use pyo3::call::PyCallArgs;
use pyo3::prelude::*;
use pyo3::types::{PyString, PyType};

use crate::failure::Failure;
use algorithm::Algorithm;
use rule::Rule;

pub(crate) use control::Control;
pub(crate) use policy::{lever, steering};
pub(crate) use signal::{Ack, Congestion, RateSample, Remote, Rtt, Start, View};

/// The exceptions of Python's algorithms during one piece of work.
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

    /// Raises the first, and keeps it.
    pub(crate) fn raise(&self, py: Python<'_>) -> PyResult<()> {
        let first = self.first.lock().unwrap_or_else(PoisonError::into_inner);
        first.as_ref().map_or(Ok(()), |error| Err(error.clone_ref(py)))
    }

    /// The raised exception instead of `result`, if there is one.
    pub(crate) fn or_result<T>(&self, result: Result<T, Failure>) -> Result<T, Failure> {
        let raised = self.first.lock().unwrap_or_else(PoisonError::into_inner).take();
        // Work that begins later is asked again.
        self.any.store(false, Ordering::Relaxed);
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
    let label = || -> Result<String, Failure> { Ok(bases.getattr("label")?.call1((given,))?.extract()?) };
    if given.is_instance(&bases.getattr(POLICY)?)? {
        return Ok(policy::spec(&label()?, given, errors)?.into());
    }
    let rule = kind(RULE)?;
    if !rule && !kind(ALGORITHM)? {
        return Err(Failure::Argument(format!(
            "{argument}: expected an algorithm, as text or as a subclass of cwnd.{ALGORITHM} or cwnd.{RULE}, got {}",
            given.repr()?
        )));
    }
    let maker = Outside { given: given.clone().unbind(), rule, errors: Arc::clone(errors) };
    Ok(Spec::outside(&label()?, Arc::new(maker)).into())
}

/// Algorithms as people give them as an argument that is a list, each with a name of its own where one is in Python.
pub(crate) fn all_written(
    argument: &str,
    given: &[Bound<'_, PyAny>],
    errors: &Arc<AlgorithmErrors>,
) -> Result<Vec<Written<Spec>>, Failure> {
    let algorithms =
        given.iter().map(|one| written(argument, one, errors)).collect::<Result<Vec<Written<Spec>>, Failure>>()?;
    apart(argument, given.iter().zip(&algorithms))?;
    Ok(algorithms)
}

/// Refuses different algorithms of one name, of which at least one is in Python: tables could not tell them apart.
pub(crate) fn apart<'a, 'py: 'a>(
    argument: &str,
    algorithms: impl Iterator<Item = (&'a Bound<'py, PyAny>, &'a Written<Spec>)>,
) -> Result<(), Failure> {
    let mut known: Vec<(&Bound<'_, PyAny>, &str)> = Vec::new();
    for (given, algorithm) in algorithms {
        let label = algorithm.text();
        for (other, _) in known.iter().filter(|(_, other)| *other == label) {
            if !equal(given, other) {
                return Err(Failure::Argument(format!(
                    "{argument}: two different algorithms are called `{label}`, give one of them another `name`"
                )));
            }
        }
        known.push((given, label));
    }
    Ok(())
}

/// Texts, which are equal where their labels are, one class, or objects that `cwnd._alike` finds alike.
fn equal(one: &Bound<'_, PyAny>, other: &Bound<'_, PyAny>) -> bool {
    let text = |given: &Bound<'_, PyAny>| given.is_instance_of::<PyString>();
    let alike = || one.py().import("cwnd._alike")?.getattr("alike")?.call1((one, other))?.extract::<bool>();
    match (text(one), text(other)) {
        (true, true) => true,
        (false, false) => one.is(other) || alike().unwrap_or(false),
        _ => false,
    }
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
        let object_of = object.clone().unbind();
        let called = Called { object: &object_of, name: "start" };
        called.call(py, &object.getattr("start")?.unbind(), (Start::from(*start),))?;
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

/// A method of an object of Python. Its errors name the class, the method, and what came of it.
#[derive(Clone, Copy)]
struct Called<'a> {
    object: &'a Py<PyAny>,
    name: &'static str,
}

impl Called<'_> {
    /// Calls it. Its exceptions pass unchanged, with a note of the place.
    fn call<'py>(
        self,
        py: Python<'py>,
        method: &Py<PyAny>,
        arguments: impl PyCallArgs<'py>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let returned = method.bind(py).call1(arguments);
        returned.inspect_err(|error| {
            let note = format!("raised in {}, called by cwnd", self.place(py));
            let value = error.value(py);
            // Python 3.10 shows no notes; the formatter of an error finds them there too.
            let noted = value.call_method1("add_note", (&note,)).map(drop);
            let _unsaid = noted.or_else(|_| value.setattr("__notes__", [note]));
        })
    }

    /// Reads what it returned: `accepted` says what, `good` which of these.
    fn read<'py, T: FromPyObjectOwned<'py>>(
        self,
        returned: &Bound<'py, PyAny>,
        accepted: &str,
        good: impl Fn(&T) -> bool,
    ) -> PyResult<T> {
        match returned.extract::<T>() {
            Ok(value) if good(&value) => Ok(value),
            _ => Err(self.refused(returned, accepted).into()),
        }
    }

    /// The failure of a call that returned none of `accepted`.
    fn refused(self, returned: &Bound<'_, PyAny>, accepted: &str) -> Failure {
        let shown = returned.repr().map_or_else(|_| "this".to_string(), |shown| shown.to_string());
        Failure::Argument(format!("{}: expected {accepted}, got {shown}", self.place(returned.py())))
    }

    /// Class and method.
    fn place(self, py: Python<'_>) -> String {
        let class = self.object.bind(py).get_type().name().map(|name| name.to_string());
        format!("{}.{}", class.as_deref().unwrap_or("object"), self.name)
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
fn show(
    py: Python<'_>,
    object: &Py<PyAny>,
    inspect: &Py<PyAny>,
    visit: &mut dyn FnMut(&'static str, f64),
) -> PyResult<()> {
    let called = Called { object, name: "inspect" };
    let returned = called.call(py, inspect, ())?;
    let items = || -> PyResult<Vec<(String, f64)>> {
        returned.call_method0("items")?.try_iter()?.map(|item| item?.extract()).collect()
    };
    let shown = items().map_err(|_| called.refused(&returned, "a dictionary of names and numbers"))?;
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
/// The class of an algorithm.
const ALGORITHM: &str = "CongestionControl";
/// The class of a trained policy.
const POLICY: &str = "Learnt";
/// The class of a rule under the window shell.
const RULE: &str = "WindowRule";
