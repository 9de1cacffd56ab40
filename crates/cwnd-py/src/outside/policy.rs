//! Trained policies in Python, as algorithms, and how they steer.

use std::sync::Arc;

use cwnd::Spec;
use cwnd_env::{FEATURES, Lever, Steering, StepReport, learnt};
use pyo3::prelude::*;

use super::{AlgorithmErrors, Called, written};
use crate::failure::Failure;

/// An object of Python whose method `act` chooses actions.
#[derive(Debug)]
struct Policy {
    object: Py<PyAny>,
    errors: Arc<AlgorithmErrors>,
}

/// A [`Steering`] as Python gives it: what an action changes, and on top of which algorithm.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Given<'py> {
    lever: String,
    over: Option<Bound<'py, PyAny>>,
    gain: f64,
    packets: u64,
}

/// The quantity that an action changes, from its name and the algorithm below it.
pub(crate) fn lever(
    name: &str,
    over: Option<&Bound<'_, PyAny>>,
    errors: &Arc<AlgorithmErrors>,
) -> Result<Lever, Failure> {
    match (name, over) {
        ("window", None) => Ok(Lever::Window),
        ("rate", None) => Ok(Lever::Rate),
        ("over", Some(algorithm)) => Ok(Lever::Over(written("action", algorithm, errors)?.value().clone())),
        _ => Err(Failure::Argument(format!(
            "action: expected \"window\", \"rate\" or (\"over\", \"cubic\"), got \"{name}\""
        ))),
    }
}

/// The steering that Python gives, checked.
pub(crate) fn steering(given: &Bound<'_, PyAny>, errors: &Arc<AlgorithmErrors>) -> Result<Steering, Failure> {
    let Given { lever: name, over, gain, packets } = given.extract::<Given<'_>>()?;
    let steering = Steering { lever: lever(&name, over.as_ref(), errors)?, gain, packets };
    steering.check().map_err(|error| Failure::Argument(error.to_string()))?;
    Ok(steering)
}

/// The algorithm `label` that the object `given` is.
pub(super) fn spec(label: &str, given: &Bound<'_, PyAny>, errors: &Arc<AlgorithmErrors>) -> Result<Spec, Failure> {
    let steering = steering(&given.call_method0("steering")?, errors)?;
    let policy = Policy { object: given.clone().unbind(), errors: Arc::clone(errors) };
    learnt(label, Arc::new(policy), steering).map_err(|error| Failure::Argument(error.to_string()))
}

impl Policy {
    fn ask(&self, py: Python<'_>, step: &StepReport) -> PyResult<f64> {
        let called = Called { object: &self.object, name: "act" };
        let mut seen = [0.0_f32; FEATURES.len()];
        step.observe(&mut seen);
        let arguments = (seen.to_vec(), step.values().to_vec());
        let returned = called.call(py, &self.object.getattr(py, "act")?, arguments)?;
        called.read(&returned, "a finite number", |action: &f64| action.is_finite())
    }
}

impl cwnd_env::Policy for Policy {
    fn act(&self, step: &StepReport) -> f64 {
        if self.errors.any() {
            return 0.0;
        }
        Python::attach(|py| self.ask(py, step)).unwrap_or_else(|error| {
            self.errors.record(error);
            0.0
        })
    }
}
