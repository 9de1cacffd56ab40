//! A whole algorithm in Python.

use std::sync::Arc;

use cwnd::{CongestionControl, Control, Packets, Span, Time};
use pyo3::call::PyCallArgs;
use pyo3::prelude::*;

use super::control::asked;
use super::signal::{Ack, Congestion, View};
use super::{ALGORITHM, AlgorithmErrors, Called, Inert, duplicate, own_method, show};
use crate::failure::Failure;

/// An object of Python with the methods of the contract. Those its class does not have are not called.
#[derive(Debug)]
pub(super) struct Algorithm {
    object: Py<PyAny>,
    methods: Methods,
    wants_samples: bool,
    needs_marks: bool,
    answers: Answers,
    errors: Arc<AlgorithmErrors>,
}

/// Its requests after the last signal.
#[derive(Clone, Copy, Debug)]
struct Answers {
    control: Control,
    slow_start_threshold: Option<Packets>,
}

#[derive(Debug)]
struct Methods {
    control: Py<PyAny>,
    on_ack: Py<PyAny>,
    on_congestion: Py<PyAny>,
    on_fluid: Option<Py<PyAny>>,
    on_recovered: Option<Py<PyAny>>,
    on_wake: Option<Py<PyAny>>,
    on_restart: Option<Py<PyAny>>,
    on_spurious: Option<Py<PyAny>>,
    slow_start_threshold: Option<Py<PyAny>>,
    inspect: Option<Py<PyAny>>,
}

impl Algorithm {
    pub(super) fn of(object: &Bound<'_, PyAny>, errors: Arc<AlgorithmErrors>) -> PyResult<Self> {
        let (methods, owner) = (Methods::of(object)?, object.clone().unbind());
        let answers = methods.ask(object.py(), &owner)?;
        let flag = |name| -> PyResult<bool> {
            let called = Called { object: &owner, name };
            let returned = called.call(object.py(), &object.getattr(name)?.unbind(), ())?;
            called.read(&returned, "True or False", |_| true)
        };
        let (wants_samples, needs_marks) = (flag("wants_samples")?, flag("needs_marks")?);
        Ok(Self { object: owner, methods, wants_samples, needs_marks, answers, errors })
    }

    /// Calls a method of the object, if it has that, and asks it for its control.
    fn notify(
        &mut self,
        now: Time,
        name: &'static str,
        method: impl FnOnce(&Methods) -> Option<&Py<PyAny>>,
        arguments: impl for<'py> PyCallArgs<'py>,
    ) {
        if self.errors.any() {
            return;
        }
        let result = Python::attach(|py| {
            if let Some(method) = method(&self.methods) {
                Called { object: &self.object, name }.call(py, method, arguments)?;
            }
            let mut answers = self.methods.ask(py, &self.object)?;
            answers.control.wake = answers.control.wake.map(|wake| wake.max(now));
            Ok::<_, PyErr>(answers)
        });
        match result {
            Ok(answers) => self.answers = answers,
            Err(error) => self.end(error),
        }
    }

    /// The run is about to end; until then nothing more is asked.
    fn end(&mut self, error: PyErr) {
        self.errors.record(error);
        self.answers = Answers { control: Control::window(Packets(1.0)), slow_start_threshold: None };
    }
}

impl Methods {
    fn of(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        let bound = |name: &str| object.getattr(name).map(Bound::unbind);
        let own = |name: &str| own_method(object, ALGORITHM, name);
        Ok(Self {
            control: bound("control")?,
            on_ack: bound("on_ack")?,
            on_congestion: bound("on_congestion")?,
            on_fluid: own("on_fluid")?,
            on_recovered: own("on_recovered")?,
            on_wake: own("on_wake")?,
            on_restart: own("on_restart")?,
            on_spurious: own("on_spurious")?,
            slow_start_threshold: own("slow_start_threshold")?,
            inspect: own("inspect")?,
        })
    }

    /// The present requests of `object`.
    fn ask(&self, py: Python<'_>, object: &Py<PyAny>) -> PyResult<Answers> {
        let called = Called { object, name: "control" };
        let control = asked(called, &called.call(py, &self.control, ())?)?;
        let slow_start_threshold = match &self.slow_start_threshold {
            Some(method) => {
                let called = Called { object, name: "slow_start_threshold" };
                let returned = called.call(py, method, ())?;
                let good = |packets: &Option<f64>| packets.is_none_or(|packets| packets >= 0.0);
                called.read(&returned, "a number of packets or None", good)?.map(Packets)
            }
            None => None,
        };
        Ok(Answers { control, slow_start_threshold })
    }
}

#[deny(clippy::missing_trait_methods, reason = "what the contract has, Python has")]
impl CongestionControl for Algorithm {
    fn control(&self) -> Control {
        self.answers.control
    }

    fn on_ack(&mut self, view: &cwnd::View, ack: &cwnd::Ack) {
        self.notify(view.now, "on_ack", |methods| Some(&methods.on_ack), (View::from(*view), Ack::from(*ack)));
    }

    fn on_congestion(&mut self, view: &cwnd::View, event: &cwnd::Congestion) {
        let arguments = (View::from(*view), Congestion::from(*event));
        self.notify(view.now, "on_congestion", |methods| Some(&methods.on_congestion), arguments);
    }

    fn on_fluid(&mut self, view: &cwnd::View, acked: Packets) {
        if self.methods.on_fluid.is_some() {
            let arguments = (View::from(*view), acked.0);
            self.notify(view.now, "on_fluid", |methods| methods.on_fluid.as_ref(), arguments);
        } else {
            self.on_ack(view, &cwnd::Ack::fluid(view, acked));
        }
    }

    fn on_recovered(&mut self, view: &cwnd::View) {
        if self.methods.on_recovered.is_some() {
            self.notify(view.now, "on_recovered", |methods| methods.on_recovered.as_ref(), (View::from(*view),));
        }
    }

    fn on_wake(&mut self, view: &cwnd::View) {
        self.notify(view.now, "on_wake", |methods| methods.on_wake.as_ref(), (View::from(*view),));
        // A host that is asked to wake at the same instant again and again would never leave it.
        if self.answers.control.wake.is_some_and(|wake| wake <= view.now) {
            let now = view.now.as_secs_f64();
            let place = Python::attach(|py| Called { object: &self.object, name: "control" }.place(py));
            self.end(
                Failure::Argument(format!(
                    "{place}: wake: {now} s is over when on_wake has returned, ask for a later time"
                ))
                .into(),
            );
        }
    }

    fn on_restart(&mut self, view: &cwnd::View, idle: Span) {
        if self.methods.on_restart.is_some() {
            let arguments = (View::from(*view), idle.as_secs_f64());
            self.notify(view.now, "on_restart", |methods| methods.on_restart.as_ref(), arguments);
        }
    }

    fn on_spurious(&mut self, view: &cwnd::View) {
        if self.methods.on_spurious.is_some() {
            self.notify(view.now, "on_spurious", |methods| methods.on_spurious.as_ref(), (View::from(*view),));
        }
    }

    fn wants_samples(&self) -> bool {
        self.wants_samples
    }

    fn needs_marks(&self) -> bool {
        self.needs_marks
    }

    fn slow_start_threshold(&self) -> Option<Packets> {
        self.answers.slow_start_threshold
    }

    fn inspect(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        if let Some(inspect) = self.methods.inspect.as_ref().filter(|_| !self.errors.any()) {
            Python::attach(|py| {
                if let Err(error) = show(py, &self.object, inspect, visit) {
                    self.errors.record(error);
                }
            });
        }
    }

    fn boxed_clone(&self) -> Box<dyn CongestionControl> {
        Python::attach(|py| {
            let copy = duplicate(self.object.bind(py)).and_then(|object| {
                let methods = Methods::of(&object)?;
                let errors = Arc::clone(&self.errors);
                Ok(Self { object: object.unbind(), methods, errors, ..*self })
            });
            copy.map(|copy| Box::new(copy) as Box<dyn CongestionControl>).unwrap_or_else(|error| {
                self.errors.record(error);
                Box::new(Inert)
            })
        })
    }
}
