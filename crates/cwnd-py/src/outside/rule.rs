//! A window rule in Python, under the shell of the lab.

use std::sync::Arc;

use cwnd::window::{Slowdown, WindowRule};
use cwnd::{Ack as Acked, Pacing, View as Seen};
use pyo3::call::PyCallArgs;
use pyo3::prelude::*;

use super::signal::{Ack, View};
use super::{AlgorithmErrors, Called, RULE, duplicate, own_method, show};

/// An object of Python with the methods of a rule. Those its class does not have are not called.
#[derive(Debug)]
pub(super) struct Rule {
    object: Py<PyAny>,
    methods: Methods,
    pacing: Pacing,
    floor: Option<f64>,
    needs_marks: bool,
    cuts_flight: bool,
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
    slow_start_done: Option<Py<PyAny>>,
    slowdown: Option<Py<PyAny>>,
    inspect: Option<Py<PyAny>>,
}

/// The answer of `slowdown`, if it is not None.
#[derive(FromPyObject)]
enum AskedSlowdown {
    Begin(f64),
    Word(String),
}

impl Rule {
    pub(super) fn of(object: &Bound<'_, PyAny>, errors: Arc<AlgorithmErrors>) -> PyResult<Self> {
        let py = object.py();
        let (methods, owner) = (Methods::of(object)?, object.clone().unbind());
        let once = |name| -> PyResult<_> {
            let called = Called { object: &owner, name };
            Ok((called, called.call(py, &object.getattr(name)?.unbind(), ())?))
        };
        let spread = object.getattr("spread")?;
        let gain: Option<f64> = Called { object: &owner, name: "spread" }.read(
            &spread,
            "a number above 0 or None",
            |gain: &Option<f64>| gain.is_none_or(|gain| gain > 0.0 && gain.is_finite()),
        )?;
        let (called, returned) = once("floor")?;
        let floor = called.read(&returned, "a number of packets from 1 on, or None", |floor: &Option<f64>| {
            floor.is_none_or(|floor| floor >= 1.0 && floor.is_finite())
        })?;
        let (called, returned) = once("needs_marks")?;
        let needs_marks = called.read(&returned, "True or False", |_| true)?;
        let (called, returned) = once("cuts_flight")?;
        let cuts_flight = called.read(&returned, "True or False", |_| true)?;
        let pacing = gain.map_or(Pacing::Off, |gain| Pacing::Spread { gain });
        Ok(Self { object: owner, methods, pacing, floor, needs_marks, cuts_flight, errors })
    }

    /// The result of a method; `otherwise` where it fails or failed before.
    fn ask<T>(&self, otherwise: T, call: impl FnOnce(Python<'_>, &Self) -> PyResult<T>) -> T {
        if self.errors.any() {
            return otherwise;
        }
        Python::attach(|py| call(py, self)).unwrap_or_else(|error| {
            self.errors.record(error);
            otherwise
        })
    }

    /// The number of packets that a method returns.
    fn number<'py>(
        &self,
        py: Python<'py>,
        method: &Py<PyAny>,
        name: &'static str,
        arguments: impl PyCallArgs<'py>,
    ) -> PyResult<f64> {
        let called = Called { object: &self.object, name };
        let returned = called.call(py, method, arguments)?;
        called.read(&returned, "a finite number of packets", |value: &f64| value.is_finite())
    }

    /// Calls a method that returns nothing, if there is one.
    fn notify<'py>(
        &self,
        py: Python<'py>,
        method: &Option<Py<PyAny>>,
        name: &'static str,
        arguments: impl PyCallArgs<'py>,
    ) -> PyResult<()> {
        let called = Called { object: &self.object, name };
        method.as_ref().map_or(Ok(()), |method| called.call(py, method, arguments).map(drop))
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
            slow_start_done: own("slow_start_done")?,
            slowdown: own("slowdown")?,
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
    /// The methods of the object under a second handle: nothing calls the first any more.
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
            slow_start_done: optional(&self.slow_start_done),
            slowdown: optional(&self.slowdown),
            inspect: optional(&self.inspect),
        }
    }
}

#[deny(clippy::missing_trait_methods, reason = "what a rule has, Python has")]
impl WindowRule for Rule {
    fn grow(&mut self, w: f64, view: &Seen) -> f64 {
        self.ask(0.0, |py, rule| rule.number(py, &rule.methods.grow, "grow", (w, View::from(*view))))
    }

    fn grow_by(&mut self, w: f64, acked: f64, view: &Seen) -> f64 {
        if self.methods.grow_by.is_none() {
            return acked * self.grow(w, view);
        }
        self.ask(0.0, |py, rule| match &rule.methods.grow_by {
            Some(grow_by) => rule.number(py, grow_by, "grow_by", (w, acked, View::from(*view))),
            None => Ok(0.0),
        })
    }

    /// By `grow` itself, so that Python has no other method for it.
    fn growth_of(&self, flight: f64, view: &Seen) -> f64 {
        self.clone().grow_by(flight, flight, view)
    }

    fn cut(&mut self, w: f64, view: &Seen) -> f64 {
        self.ask(w, |py, rule| rule.number(py, &rule.methods.cut, "cut", (w, View::from(*view))))
    }

    fn cut_for_marks(&mut self, w: f64, view: &Seen) -> f64 {
        self.ask(w, |py, rule| match &rule.methods.cut_for_marks {
            Some(cut) => rule.number(py, cut, "cut_for_marks", (w, View::from(*view))),
            None => rule.number(py, &rule.methods.cut, "cut", (w, View::from(*view))),
        })
    }

    fn floor(&self) -> Option<f64> {
        self.floor
    }

    fn needs_marks(&self) -> bool {
        self.needs_marks
    }

    fn cuts_flight(&self) -> bool {
        self.cuts_flight
    }

    fn observe(&mut self, view: &Seen, ack: &Acked) {
        if self.methods.observe.is_some() {
            let arguments = (View::from(*view), Ack::from(*ack));
            self.ask((), |py, rule| rule.notify(py, &rule.methods.observe, "observe", arguments));
        }
    }

    fn epoch(&mut self, before: Option<f64>, after: f64, view: &Seen) {
        if self.methods.epoch.is_some() {
            let arguments = (before, after, View::from(*view));
            self.ask((), |py, rule| rule.notify(py, &rule.methods.epoch, "epoch", arguments));
        }
    }

    fn ramp(&self, w: f64) -> Option<f64> {
        let ramp = self.methods.ramp.as_ref()?;
        self.ask(None, |py, rule| {
            let called = Called { object: &rule.object, name: "ramp" };
            let finite = |packets: &Option<f64>| packets.is_none_or(f64::is_finite);
            called.read(&called.call(py, ramp, (w,))?, "a finite number of packets or None", finite)
        })
    }

    fn slow_start_done(&mut self, w: f64, view: &Seen) -> bool {
        let Some(slow_start_done) = self.methods.slow_start_done.as_ref() else { return false };
        self.ask(false, |py, rule| {
            let called = Called { object: &rule.object, name: "slow_start_done" };
            called.read(&called.call(py, slow_start_done, (w, View::from(*view)))?, "True or False", |_| true)
        })
    }

    fn slowdown(&mut self, view: &Seen) -> Slowdown {
        let Some(slowdown) = self.methods.slowdown.as_ref() else { return Slowdown::None };
        self.ask(Slowdown::None, |py, rule| {
            let called = Called { object: &rule.object, name: "slowdown" };
            let good = |asked: &Option<AskedSlowdown>| match asked {
                None => true,
                Some(AskedSlowdown::Begin(packets)) => *packets >= 1.0 && packets.is_finite(),
                Some(AskedSlowdown::Word(word)) => word == "hold",
            };
            let returned = called.call(py, slowdown, (View::from(*view),))?;
            Ok(match called.read(&returned, "a number of packets from 1 on, 'hold' or None", good)? {
                None => Slowdown::None,
                Some(AskedSlowdown::Begin(packets)) => Slowdown::Begin(packets),
                Some(AskedSlowdown::Word(_)) => Slowdown::Hold,
            })
        })
    }

    fn pacing(&self) -> Pacing {
        self.pacing
    }

    fn inspect(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        if let Some(inspect) = &self.methods.inspect {
            self.ask((), |py, rule| show(py, &rule.object, inspect, visit));
        }
    }
}
