//! The requests of an algorithm in Python to its host.

use cwnd::{Bytes, Control as Asked, Pacing, Packets, Probe, Rate, Time};
use pyo3::prelude::*;
use pyo3::types::PyType;

use super::Called;
use super::pickle::{Pickled, State};
use crate::failure::Failure;

/// The requests of an algorithm to its host.
#[pyclass(frozen, module = "cwnd")]
pub(crate) struct Control {
    asked: Asked,
}

#[pymethods]
impl Control {
    #[new]
    #[pyo3(signature = (window, *, rate = None, spread = None, quantum = None, pair_every = None, wake = None))]
    fn new(
        window: Bound<'_, PyAny>,
        rate: Option<Bound<'_, PyAny>>,
        spread: Option<Bound<'_, PyAny>>,
        quantum: Option<Bound<'_, PyAny>>,
        pair_every: Option<Bound<'_, PyAny>>,
        wake: Option<Bound<'_, PyAny>>,
    ) -> Result<Self, Failure> {
        let real = |name, value| read::<f64>(name, "a number", &value);
        let whole = |name, value| read::<u32>(name, "a whole number", &value);
        let window = real("window", window)?;
        let rate = rate.map(|rate| real("rate", rate)).transpose()?;
        let spread = spread.map(|spread| real("spread", spread)).transpose()?;
        let quantum = quantum.map(|quantum| whole("quantum", quantum)).transpose()?;
        let pair_every = pair_every.map(|pairs| whole("pair_every", pairs)).transpose()?;
        let wake = wake.map(|wake| real("wake", wake)).transpose()?;
        let positive = |name: &str, value: f64| match value > 0.0 && value.is_finite() {
            true => Ok(value),
            false => Err(Failure::Argument(format!("{name}: {value} is not a number above 0"))),
        };
        let pacing = match (rate, spread) {
            (None, None) => Pacing::Off,
            (Some(rate), None) => Pacing::At(Rate(positive("rate", rate)?)),
            (None, Some(gain)) => Pacing::Spread { gain: positive("spread", gain)? },
            (Some(_), Some(_)) => {
                return Err(Failure::Argument("rate and spread: departures are spaced by one of them".to_string()));
            }
        };
        let probe = match pair_every {
            None => Probe::None,
            Some(n) if n >= 2 => Probe::PairEvery(n),
            Some(n) => return Err(Failure::Argument(format!("pair_every: {n} is below 2"))),
        };
        let wake = wake.map(instant).transpose()?;
        let unbounded = window == f64::INFINITY && rate.is_some();
        let window = if unbounded { Packets(window) } else { checked(window)? };
        let mut asked = Asked::window(window).with_pacing(pacing);
        (asked.quantum, asked.probe, asked.wake) = (quantum.map(Bytes), probe, wake);
        Ok(Self { asked })
    }

    /// Packets allowed in flight.
    #[getter]
    fn window(&self) -> f64 {
        self.asked.window.0
    }

    /// Packets per second at which they leave.
    #[getter]
    fn rate(&self) -> Option<f64> {
        if let Pacing::At(rate) = self.asked.pacing { Some(rate.0) } else { None }
    }

    /// The factor by which the window is spread over a round trip faster than evenly.
    #[getter]
    fn spread(&self) -> Option<f64> {
        if let Pacing::Spread { gain } = self.asked.pacing { Some(gain) } else { None }
    }

    /// The largest burst in bytes.
    #[getter]
    fn quantum(&self) -> Option<u32> {
        self.asked.quantum.map(|bytes| bytes.0)
    }

    /// Every n-th packet is followed by its successor at once.
    #[getter]
    fn pair_every(&self) -> Option<u32> {
        if let Probe::PairEvery(n) = self.asked.probe { Some(n) } else { None }
    }

    /// When the algorithm wants to be woken, in seconds.
    #[getter]
    fn wake(&self) -> Option<f64> {
        self.asked.wake.map(Time::as_secs_f64)
    }

    /// Nothing can change it.
    fn __copy__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    /// Nothing can change it.
    fn __deepcopy__(slf: Py<Self>, _memo: &Bound<'_, PyAny>) -> Py<Self> {
        slf
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (State<Asked>,))> {
        Ok((slf.get_type().getattr("_of_state")?, (slf.get().asked.state(),)))
    }

    /// Makes the object from the state in a pickle.
    #[classmethod]
    fn _of_state(_class: &Bound<'_, PyType>, state: State<Asked>) -> Result<Self, Failure> {
        Ok(Self { asked: Asked::of_state(state)? })
    }

    fn __repr__(&self) -> String {
        let (quantum, pair_every) = (self.quantum().map(f64::from), self.pair_every().map(f64::from));
        let parts = [("rate", self.rate()), ("spread", self.spread()), ("quantum", quantum)];
        let parts = parts.into_iter().chain([("pair_every", pair_every), ("wake", self.wake())]);
        let parts = parts.filter_map(|(name, value)| value.map(|value| format!(", {name}={value}")));
        format!("Control({}{})", self.window(), parts.collect::<String>())
    }
}

/// Reads an argument; the error names it.
fn read<'py, T: FromPyObjectOwned<'py>>(name: &str, accepted: &str, value: &Bound<'py, PyAny>) -> Result<T, Failure> {
    let shown = || value.repr().map_or_else(|_| "this".to_string(), |shown| shown.to_string());
    value.extract::<T>().map_err(|_| Failure::Argument(format!("{name}: expected {accepted}, got {}", shown())))
}

/// The requests that `control` returned: a window alone, or a whole `Control`.
pub(super) fn asked(called: Called<'_>, returned: &Bound<'_, PyAny>) -> PyResult<Asked> {
    if let Ok(control) = returned.cast::<Control>() {
        return Ok(control.get().asked);
    }
    let window: f64 =
        called.read(returned, "a cwnd.Control or a finite number of packets", |window: &f64| window.is_finite())?;
    Ok(Asked::window(checked(window)?))
}

/// At least one packet: smaller windows become one.
fn checked(window: f64) -> Result<Packets, Failure> {
    if window.is_finite() {
        Ok(Packets(window.max(1.0)))
    } else {
        Err(Failure::Argument(format!("window: {window} is not a number of packets")))
    }
}

/// Never early: a part of a nanosecond is a whole one.
fn instant(seconds: f64) -> Result<Time, Failure> {
    if seconds.is_finite() && seconds >= 0.0 {
        Ok(Time::from_nanos((seconds * 1e9).ceil() as u64))
    } else {
        Err(Failure::Argument(format!("wake: {seconds} is not a time")))
    }
}
