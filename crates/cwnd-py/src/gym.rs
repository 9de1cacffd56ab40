//! Environments for learners.

use std::sync::atomic::{AtomicU8, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cwnd::registry::SpecError;
use cwnd::{Spec, quantity};
use cwnd_env::{Course, CourseError, FEATURES, Options, Range, Reward};
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::failure::Failure;
use crate::scenario::checked;
use crate::work::catch_panic;

/// Environments on one course. What they see and give lies in memory that NumPy's arrays look at: none of it is copied into
/// Python's objects.
#[pyclass(frozen, module = "cwnd._native")]
pub(crate) struct Environments {
    own: Mutex<Own>,
    count: usize,
    names: Vec<String>,
    actions: Arc<[AtomicU32]>,
    observations: Arc<[AtomicU32]>,
    rewards: Arc<[AtomicU32]>,
    ended: Arc<[AtomicU8]>,
}

/// The environments, and where a step is computed.
struct Own {
    environments: cwnd_env::Environments,
    actions: Vec<f32>,
    observations: Vec<f32>,
    rewards: Vec<f32>,
    ended: Vec<bool>,
}

/// Memory for an array of NumPy, which asks for `__array_interface__`.
#[pyclass(frozen, module = "cwnd._native")]
pub(crate) struct Memory {
    cells: Cells,
    shape: Vec<usize>,
}

enum Cells {
    Reals(Arc<[AtomicU32]>),
    Flags(Arc<[AtomicU8]>),
}

/// What [`Options`] are given as.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Settings {
    gain: f64,
    packets: u64,
    steps: u32,
    reward: (String, Vec<f64>),
    rate: Option<(String, String)>,
    rtt: Option<(String, String)>,
    queue: Option<(f64, f64)>,
    loss: Option<(f64, f64)>,
    algorithm: Option<String>,
}

/// Name, least and largest value, and meaning of every number of an observation.
#[pyfunction]
pub(crate) fn features() -> Vec<(&'static str, f32, f32, &'static str)> {
    FEATURES.map(|feature| (feature.name, feature.low, feature.high, feature.help)).to_vec()
}

#[pymethods]
impl Environments {
    /// `count` environments on the network of a scenario, given as JSON, in which the flows of the numbers `agents` are steered.
    #[new]
    fn new(document: &str, agents: Vec<usize>, count: usize, settings: Settings) -> Result<Self, Failure> {
        if !(1..=MAX_COUNT).contains(&count) {
            return Err(Failure::Argument(format!("num_envs: expected 1 to {MAX_COUNT}, got {count}")));
        }
        let setup = checked(document)?.setup(0).into_setup();
        let refused = |error: CourseError| {
            let argument = match error {
                CourseError::Algorithm(_) => "algorithm: ",
                CourseError::Setup(_) => "scenario: ",
                // It begins with its name.
                CourseError::Option { .. } => "",
                _ => "agents: ",
            };
            Failure::Argument(format!("{argument}{error}"))
        };
        catch_panic(|| {
            let course = Arc::new(Course::new(setup, agents, settings.options()?).map_err(refused)?);
            let steered = count * course.steered();
            let reals = |count: usize| (0..count).map(|_| AtomicU32::new(0)).collect();
            let own = Own {
                environments: cwnd_env::Environments::new(&course, count, 0),
                actions: vec![0.0; steered],
                observations: vec![0.0; steered * FEATURES.len()],
                rewards: vec![0.0; steered],
                ended: vec![false; count],
            };
            Ok(Self {
                own: Mutex::new(own),
                count,
                names: course.names().map(str::to_string).collect(),
                actions: reals(steered),
                observations: reals(steered * FEATURES.len()),
                rewards: reals(steered),
                ended: (0..count).map(|_| AtomicU8::new(0)).collect(),
            })
        })
    }

    /// The names of the flows that are steered.
    fn names(&self) -> Vec<String> {
        self.names.clone()
    }

    /// Memory of the actions (to be written), observations, rewards and ends.
    fn memory(&self) -> (Memory, Memory, Memory, Memory) {
        let (count, agents) = (self.count, self.names.len());
        let reals = |cells: &Arc<[AtomicU32]>, shape| Memory { cells: Cells::Reals(Arc::clone(cells)), shape };
        let ended = Memory { cells: Cells::Flags(Arc::clone(&self.ended)), shape: vec![count] };
        let seen = reals(&self.observations, vec![count, agents, FEATURES.len()]);
        (reals(&self.actions, vec![count, agents]), seen, reals(&self.rewards, vec![count, agents]), ended)
    }

    /// Starts the next episode everywhere, with a seed the first of other series, and shows the first observations.
    #[pyo3(signature = (seed=None))]
    fn reset(&self, py: Python<'_>, seed: Option<u64>) -> Result<(), Failure> {
        self.work(py, |own| {
            own.environments.reset(seed, &mut own.observations);
            own.rewards.fill(0.0);
            own.ended.fill(false);
        })
    }

    /// Takes the actions that were written, lets a step pass everywhere, and shows what came of it.
    fn step(&self, py: Python<'_>) -> Result<(), Failure> {
        self.work(py, |own| {
            for (own, shown) in own.actions.iter_mut().zip(self.actions.iter()) {
                *own = f32::from_bits(shown.load(Ordering::Relaxed));
            }
            own.environments.step(&own.actions, &mut own.observations, &mut own.rewards, &mut own.ended);
        })
    }

    /// Goodput, delay, loss and reward of each steered flow of an environment over its episode so far.
    fn totals(&self, index: usize) -> PyResult<Vec<(f64, f64, f64, f64)>> {
        if index >= self.count {
            return Err(PyIndexError::new_err(format!("there are {} environments", self.count)));
        }
        let own = self.own();
        let totals = own.environments.totals(index);
        Ok(totals.map(|totals| (totals.goodput, totals.delay, totals.loss, totals.reward)).collect())
    }
}

impl Environments {
    /// Does `job` while the interpreter goes on, and shows what came of it.
    fn work(&self, py: Python<'_>, job: impl FnOnce(&mut Own) + Send) -> Result<(), Failure> {
        py.detach(|| {
            let mut own = self.own();
            catch_panic(|| {
                job(&mut own);
                Ok(())
            })?;
            let reals = [(&self.observations, &own.observations), (&self.rewards, &own.rewards)];
            for (shown, own) in reals {
                shown.iter().zip(own).for_each(|(shown, own)| shown.store(own.to_bits(), Ordering::Relaxed));
            }
            let ends = self.ended.iter().zip(&own.ended);
            ends.for_each(|(shown, own)| shown.store(u8::from(*own), Ordering::Relaxed));
            Ok(())
        })
    }

    fn own(&self) -> MutexGuard<'_, Own> {
        self.own.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl Memory {
    /// Version 3 of NumPy's array interface. The array keeps this object, and with it the memory, alive.
    #[getter]
    fn __array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let order = if cfg!(target_endian = "little") { '<' } else { '>' };
        let (address, kind) = match &self.cells {
            Cells::Reals(cells) => (cells.as_ptr().expose_provenance(), format!("{order}f4")),
            Cells::Flags(cells) => (cells.as_ptr().expose_provenance(), "|b1".to_string()),
        };
        let interface = PyDict::new(py);
        interface.set_item("version", 3)?;
        interface.set_item("shape", pyo3::types::PyTuple::new(py, &self.shape)?)?;
        interface.set_item("typestr", kind)?;
        interface.set_item("data", (address, false))?;
        Ok(interface)
    }
}

impl Settings {
    fn options(&self) -> Result<Options, Failure> {
        let refused = |option: &str, error: quantity::QuantityError| Failure::Argument(format!("{option}: {error}"));
        let rate = |text: &str| quantity::bit_rate(text).map(|rate| rate.0).map_err(|error| refused("rate", error));
        let rtt = |text: &str| quantity::span(text).map(cwnd::Span::as_secs_f64).map_err(|error| refused("rtt", error));
        let written = |range: &Option<(String, String)>, read: &dyn Fn(&str) -> Result<f64, Failure>| match range {
            Some((low, high)) => Ok::<_, Failure>(Some(Range { low: read(low)?, high: read(high)? })),
            None => Ok(None),
        };
        let plain = |range: Option<(f64, f64)>| range.map(|(low, high)| Range { low, high });
        let unknown = |error: SpecError| Failure::Algorithm { argument: "algorithm".to_string(), error: error.into() };
        let algorithm = self.algorithm.as_deref().map(Spec::parse).transpose().map_err(unknown)?;
        Ok(Options {
            gain: self.gain,
            packets: self.packets,
            steps: self.steps,
            reward: reward(&self.reward)?,
            rate: written(&self.rate, &rate)?,
            rtt: written(&self.rtt, &rtt)?,
            queue: plain(self.queue),
            loss: plain(self.loss),
            algorithm,
        })
    }
}

fn reward((kind, weights): &(String, Vec<f64>)) -> Result<Reward, Failure> {
    match (kind.as_str(), weights.as_slice()) {
        ("linear", []) => Ok(Reward::LINEAR),
        ("linear", &[goodput, delay, loss]) => Ok(Reward::Linear { goodput, delay, loss }),
        ("power", []) => Ok(Reward::POWER),
        ("power", &[loss, margin]) => Ok(Reward::Power { loss, margin }),
        _ => Err(Failure::Argument(format!(
            "reward: expected \"linear\", \"power\", or one of these with its weights, got \"{kind}\""
        ))),
    }
}

/// Each has a simulator of its own.
const MAX_COUNT: usize = 1 << 16;
