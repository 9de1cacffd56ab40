//! A window rule in Python, under the shell of the lab.

use std::sync::Arc;

use cwnd::window::WindowRule;
use cwnd::{Ack as Acked, Pacing, View as Seen};
use pyo3::call::PyCallArgs;
use pyo3::prelude::*;

use super::control::read;
use super::signal::{Ack, View};
use super::{AlgorithmErrors, RULE, duplicate, own_method, show};
use crate::failure::Failure;

/// An object of Python with the methods of a rule. Those its class does not have are not called.
#[derive(Debug)]
pub(super) struct Rule {
    object: Py<PyAny>,
    methods: Methods,
    pacing: Pacing,
    floor: Option<f64>,
    needs_marks: bool,
    errors: Arc<AlgorithmErrors>,
}

#[derive(Debug)]
struct Methods {
    grow: Py<PyAny>,
    grow_by: Option<Py<PyAny>>,
    cut: Py<PyAny>,
    cut_for_marks: Option<Py<PyAny>>,
    observe: Option<Py<PyAny>>,
    epoch: Option<Py<PyAny>>,
    ramp: Option<Py<PyAny>>,
    fills: Option<Py<PyAny>>,
    inspect: Option<Py<PyAny>>,
}

impl Rule {
    pub(super) fn of(object: &Bound<'_, PyAny>, errors: Arc<AlgorithmErrors>) -> PyResult<Self> {
        let pacing = match object.getattr("spread")?.extract::<Option<f64>>()? {
            None => Pacing::Off,
            Some(gain) if gain > 0.0 && gain.is_finite() => Pacing::Spread { gain },
            Some(gain) => return Err(Failure::Argument(format!("spread: {gain} is not a number above 0")).into()),
        };
        let floor: Option<f64> = read("floor", "a number of packets or None", &object.call_method0("floor")?)?;
        if floor.is_some_and(|floor| !(floor >= 1.0 && floor.is_finite())) {
            return Err(Failure::Argument("floor: expected a number of packets from 1 on, or None".to_string()).into());
        }
        let needs_marks = read("needs_marks", "True or False", &object.call_method0("needs_marks")?)?;
        let (object, methods) = (object.clone().unbind(), Methods::of(object)?);
        Ok(Self { object, methods, pacing, floor, needs_marks, errors })
    }

    /// What a method returns; `otherwise` where it fails or failed before.
    fn ask<T>(&self, otherwise: T, call: impl FnOnce(Python<'_>, &Methods) -> PyResult<T>) -> T {
        if self.errors.any() {
            return otherwise;
        }
        Python::attach(|py| call(py, &self.methods)).unwrap_or_else(|error| {
            self.errors.record(error);
            otherwise
        })
    }
}

impl Methods {
    fn of(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        let own = |name: &str| own_method(object, RULE, name);
        Ok(Self {
            grow: object.getattr("grow")?.unbind(),
            grow_by: own("grow_by")?,
            cut: object.getattr("cut")?.unbind(),
            cut_for_marks: own("cut_for_marks")?,
            observe: own("observe")?,
            epoch: own("epoch")?,
            ramp: own("ramp")?,
            fills: own("fills")?,
            inspect: own("inspect")?,
        })
    }
}

impl Clone for Rule {
    fn clone(&self) -> Self {
        Python::attach(|py| {
            let copy = duplicate(self.object.bind(py)).and_then(|object| Ok((Methods::of(&object)?, object.unbind())));
            let (methods, object) = copy.unwrap_or_else(|error| {
                self.errors.record(error);
                (self.methods.shared(py), self.object.clone_ref(py))
            });
            Self { object, methods, errors: Arc::clone(&self.errors), ..*self }
        })
    }
}

impl Methods {
    /// The same methods of the same object: nothing calls them any more.
    fn shared(&self, py: Python<'_>) -> Self {
        let optional = |method: &Option<Py<PyAny>>| method.as_ref().map(|method| method.clone_ref(py));
        Self {
            grow: self.grow.clone_ref(py),
            grow_by: optional(&self.grow_by),
            cut: self.cut.clone_ref(py),
            cut_for_marks: optional(&self.cut_for_marks),
            observe: optional(&self.observe),
            epoch: optional(&self.epoch),
            ramp: optional(&self.ramp),
            fills: optional(&self.fills),
            inspect: optional(&self.inspect),
        }
    }
}

#[deny(clippy::missing_trait_methods, reason = "what a rule has, Python has")]
impl WindowRule for Rule {
    fn grow(&mut self, w: f64, view: &Seen) -> f64 {
        self.ask(0.0, |py, methods| number(py, &methods.grow, "grow", (w, View::from(*view))))
    }

    fn grow_by(&mut self, w: f64, acked: f64, view: &Seen) -> f64 {
        if self.methods.grow_by.is_none() {
            return acked * self.grow(w, view);
        }
        self.ask(0.0, |py, methods| match &methods.grow_by {
            Some(grow_by) => number(py, grow_by, "grow_by", (w, acked, View::from(*view))),
            None => Ok(0.0),
        })
    }

    fn cut(&mut self, w: f64, view: &Seen) -> f64 {
        self.ask(w, |py, methods| number(py, &methods.cut, "cut", (w, View::from(*view))))
    }

    fn cut_for_marks(&mut self, w: f64, view: &Seen) -> f64 {
        self.ask(w, |py, methods| match &methods.cut_for_marks {
            Some(cut) => number(py, cut, "cut_for_marks", (w, View::from(*view))),
            None => number(py, &methods.cut, "cut", (w, View::from(*view))),
        })
    }

    fn floor(&self) -> Option<f64> {
        self.floor
    }

    fn needs_marks(&self) -> bool {
        self.needs_marks
    }

    fn observe(&mut self, view: &Seen, ack: &Acked) {
        if self.methods.observe.is_some() {
            self.ask((), |py, methods| call(py, &methods.observe, (View::from(*view), Ack::from(*ack))));
        }
    }

    fn epoch(&mut self, before: Option<f64>, after: f64, view: &Seen) {
        if self.methods.epoch.is_some() {
            self.ask((), |py, methods| call(py, &methods.epoch, (before, after, View::from(*view))));
        }
    }

    fn ramp(&self, w: f64) -> Option<f64> {
        self.methods.ramp.as_ref()?;
        self.ask(None, |py, methods| match &methods.ramp {
            Some(ramp) => ramp.call1(py, (w,))?.extract(py),
            None => Ok(None),
        })
    }

    fn fills(&mut self, w: f64, view: &Seen) -> bool {
        self.methods.fills.is_some()
            && self.ask(false, |py, methods| match &methods.fills {
                Some(fills) => fills.call1(py, (w, View::from(*view)))?.extract(py),
                None => Ok(false),
            })
    }

    fn pacing(&self) -> Pacing {
        self.pacing
    }

    fn inspect(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        if let Some(inspect) = &self.methods.inspect {
            self.ask((), |py, _| show(py, inspect, visit));
        }
    }
}

fn number<'py>(py: Python<'py>, method: &Py<PyAny>, name: &str, arguments: impl PyCallArgs<'py>) -> PyResult<f64> {
    let value: f64 = method.call1(py, arguments)?.extract(py)?;
    if value.is_finite() {
        return Ok(value);
    }
    Err(Failure::Argument(format!("{name}: {value} is not a number of packets")).into())
}

fn call<'py>(py: Python<'py>, method: &Option<Py<PyAny>>, arguments: impl PyCallArgs<'py>) -> PyResult<()> {
    method.as_ref().map_or(Ok(()), |method| method.call1(py, arguments).map(drop))
}
