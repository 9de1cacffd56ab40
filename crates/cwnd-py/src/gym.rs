//! Environments for learners.

use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cwnd::quantity;
use cwnd_env::{Course, CourseError, DrawnPath, FEATURES, MEASURED, Options, Outcome, Range, Reward};
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::failure::Failure;
use crate::outside::{AlgorithmErrors, lever, steering, written};
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
    measured: Arc<[AtomicU64]>,
    errors: Arc<AlgorithmErrors>,
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
    Doubles(Arc<[AtomicU64]>),
    Flags(Arc<[AtomicU8]>),
}

/// The form in which [`Options`] are passed.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Settings<'py> {
    lever: String,
    over: Option<Bound<'py, PyAny>>,
    gain: f64,
    packets: u64,
    steps: u32,
    reward: (String, Vec<f64>),
    rate: Option<(String, String)>,
    rtt: Option<(String, String)>,
    queue: Option<(f64, f64)>,
    loss: Option<(f64, f64)>,
    algorithm: Option<Bound<'py, PyAny>>,
}

/// Name, least and largest value, and meaning of every number of an observation.
#[pyfunction]
pub(crate) fn features() -> Vec<(&'static str, f32, f32, &'static str)> {
    FEATURES.map(|feature| (feature.name, feature.low, feature.high, feature.help)).to_vec()
}

/// Name, unit and meaning of the numbers that are measured of a step.
#[pyfunction]
pub(crate) fn measured() -> Vec<(&'static str, &'static str, &'static str)> {
    MEASURED.into_iter().chain(PATH).collect()
}

/// Checks what a policy steers with.
#[pyfunction]
pub(crate) fn check_steering(given: &Bound<'_, PyAny>) -> Result<(), Failure> {
    let errors: Arc<AlgorithmErrors> = Arc::default();
    errors.or_result(steering(given, &errors).map(drop))
}

#[pymethods]
impl Environments {
    /// `count` environments on the networks of scenarios, given as JSON, of which one is drawn for each episode; the flows of the numbers
    /// `agents` are steered.
    #[new]
    fn new(
        py: Python<'_>,
        documents: Vec<String>,
        agents: Vec<usize>,
        count: usize,
        settings: Settings<'_>,
    ) -> Result<Self, Failure> {
        if !(1..=MAX_COUNT).contains(&count) {
            return Err(Failure::Argument(format!("num_envs: expected 1 to {MAX_COUNT}, got {count}")));
        }
        let errors: Arc<AlgorithmErrors> = Arc::default();
        let options = settings.options(&errors)?;
        let refused = |error: CourseError| {
            let argument = match error {
                CourseError::Algorithm(_) => "algorithm: ",
                CourseError::Setup(_) => "scenario: ",
                // It begins with its name.
                CourseError::Backwards { .. }
                | CourseError::Option { .. }
                | CourseError::Packets { .. }
                | CourseError::Unlimited(_) => "",
                _ => "agents: ",
            };
            Failure::Argument(format!("{argument}{error}"))
        };
        let course = |document: &String| {
            let setup = checked(document)?.setup(0).into_setup();
            Course::new(setup, agents.clone(), options.clone()).map_err(refused)
        };
        let made = catch_panic(|| {
            let (first, others) =
                documents.split_first().ok_or_else(|| Failure::Argument("scenario: name at least one".to_string()))?;
            let joined =
                others.iter().try_fold(course(first)?, |joined, other| joined.or(course(other)?).map_err(refused));
            let course = Arc::new(joined?);
            let steered = count * course.steered();
            if count as f64 * course.packets() > MAX_PACKETS_OF_ALL {
                let most = (MAX_PACKETS_OF_ALL / course.packets()) as usize;
                return Err(Failure::Argument(format!(
                    "num_envs: expected 1 to {most} where a path holds {:.0} packets, got {count}",
                    course.packets()
                )));
            }
            let reals = |count: usize| (0..count).map(|_| AtomicU32::new(0)).collect();
            let own = Own {
                environments: py.detach(|| cwnd_env::Environments::new(&course, count, 0)),
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
                measured: (0..steered * WIDTH).map(|_| AtomicU64::new(0)).collect(),
                errors: Arc::clone(&errors),
            })
        });
        errors.or_result(made)
    }

    /// The names of the flows that are steered.
    fn names(&self) -> Vec<String> {
        self.names.clone()
    }

    /// Memory of the actions (to be written), observations, rewards and ends, and measurements.
    fn memory(&self) -> (Memory, Memory, Memory, Memory, Memory) {
        let (count, agents) = (self.count, self.names.len());
        let reals = |cells: &Arc<[AtomicU32]>, shape| Memory { cells: Cells::Reals(Arc::clone(cells)), shape };
        let ended = Memory { cells: Cells::Flags(Arc::clone(&self.ended)), shape: vec![count] };
        let seen = reals(&self.observations, vec![count, agents, FEATURES.len()]);
        let measured = Memory { cells: Cells::Doubles(Arc::clone(&self.measured)), shape: vec![count, agents, WIDTH] };
        (reals(&self.actions, vec![count, agents]), seen, reals(&self.rewards, vec![count, agents]), ended, measured)
    }

    /// Starts the next episode everywhere, with seeds, one for each environment, the first of other series, and shows the first observations.
    #[pyo3(signature = (seeds=None))]
    fn reset(&self, py: Python<'_>, seeds: Option<Vec<Option<u64>>>) -> Result<(), Failure> {
        if seeds.as_ref().is_some_and(|seeds| seeds.len() != self.count) {
            return Err(Failure::Argument(format!("seed: expected {} of them", self.count)));
        }
        self.work(py, |own| {
            let seed = |nth: usize| seeds.as_ref().and_then(|seeds| seeds.get(nth).copied().flatten());
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
    fn totals(&self, py: Python<'_>, index: usize) -> PyResult<Vec<(f64, f64, f64, f64)>> {
        self.check(index)?;
        // The thread that has the environments may wait for the interpreter.
        Ok(py.detach(|| {
            let own = self.own();
            let totals = own.environments.totals(index);
            totals.map(|totals| (totals.goodput, totals.delay, totals.loss, totals.reward)).collect()
        }))
    }

    /// The random draw for the episode of an environment: the seed of the simulation, the number of the scenario, and the path's rate,
    /// round-trip time, queue and loss.
    fn episode(&self, py: Python<'_>, index: usize) -> PyResult<(u64, usize, [f64; 4])> {
        self.check(index)?;
        let episode = py.detach(|| self.own().environments.episode(index));
        let DrawnPath { rate, rtt, queue, loss } = episode.path;
        Ok((episode.seed, episode.course, [rate as f64, rtt, queue, loss.unwrap_or(f64::NAN)]))
    }
}

impl Environments {
    fn check(&self, index: usize) -> PyResult<()> {
        let known = index < self.count;
        known.then_some(()).ok_or_else(|| PyIndexError::new_err(format!("there are {} environments", self.count)))
    }

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
            let measured = own.environments.outcomes().flat_map(numbers);
            let shown = self.measured.iter().zip(measured);
            shown.for_each(|(shown, own)| shown.store(own.to_bits(), Ordering::Relaxed));
            self.errors.or_result(Ok(()))
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
            Cells::Doubles(cells) => (cells.as_ptr().expose_provenance(), format!("{order}f8")),
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

impl Settings<'_> {
    fn options(&self, errors: &Arc<AlgorithmErrors>) -> Result<Options, Failure> {
        let refused = |option: &str, error: quantity::QuantityError| Failure::Argument(format!("{option}: {error}"));
        let rate = |text: &str| quantity::bit_rate(text).map(|rate| rate.0).map_err(|error| refused("rate", error));
        let rtt = |text: &str| quantity::span(text).map(cwnd::Span::as_secs_f64).map_err(|error| refused("rtt", error));
        let ends = |range: &Option<(String, String)>, read: &dyn Fn(&str) -> Result<f64, Failure>| match range {
            Some((low, high)) => Ok::<_, Failure>(Some(Range { low: read(low)?, high: read(high)? })),
            None => Ok(None),
        };
        let plain = |range: Option<(f64, f64)>| range.map(|(low, high)| Range { low, high });
        let algorithm = self.algorithm.as_ref().map(|given| written("algorithm", given, errors)).transpose()?;
        Ok(Options {
            lever: lever(&self.lever, self.over.as_ref(), errors)?,
            gain: self.gain,
            packets: self.packets,
            steps: self.steps,
            reward: reward(&self.reward)?,
            rate: ends(&self.rate, &rate)?,
            rtt: ends(&self.rtt, &rtt)?,
            queue: plain(self.queue),
            loss: plain(self.loss),
            algorithm: algorithm.map(|algorithm| algorithm.value().clone()),
        })
    }
}

fn reward((kind, weights): &(String, Vec<f64>)) -> Result<Reward, Failure> {
    let weights_expected = |kind: &str, names: &str, count: usize| {
        let given = weights.len();
        Err(Failure::Argument(format!("reward: \"{kind}\" has {count} weights ({names}), got {given}")))
    };
    match (kind.as_str(), weights.as_slice()) {
        ("linear", []) => Ok(Reward::LINEAR),
        ("linear", &[goodput, delay, loss]) => Ok(Reward::Linear { goodput, delay, loss }),
        ("power", []) => Ok(Reward::POWER),
        ("power", &[loss, margin]) => Ok(Reward::Power { loss, margin }),
        ("linear", _) => weights_expected("linear", "goodput, delay, loss", 3),
        ("power", _) => weights_expected("power", "loss, margin", 2),
        _ => Err(Failure::Argument(format!(
            "reward: expected \"linear\", \"power\", or one of these with its weights, got \"{kind}\""
        ))),
    }
}

/// The measurements of a step, and the available capacity of its path.
fn numbers(outcome: Outcome) -> impl Iterator<Item = f64> {
    outcome.report.values().into_iter().chain([outcome.capacity, outcome.empty_rtt])
}

/// Measurements of a step that only the simulator knows.
const PATH: [(&str, &str, &str); 2] = [
    ("capacity", "packets/s", "what the bottleneck could carry; no sender knows it"),
    ("empty_rtt", "s", "round trip of a packet that meets no other; no sender knows it"),
];
const WIDTH: usize = MEASURED.len() + PATH.len();
/// The maximum packets of all environments together: gigabytes of memory.
const MAX_PACKETS_OF_ALL: f64 = (1_u64 << 26) as f64;
/// Each has a simulator of its own.
const MAX_COUNT: usize = 1 << 16;
