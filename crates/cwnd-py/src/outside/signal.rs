//! What a host tells an algorithm, as records of Python. Times are seconds, windows packets, rates packets per second.

use cwnd::{Cause, Limit};
use pyo3::prelude::*;

/// What a flow begins with.
#[pyclass(frozen, module = "cwnd")]
#[derive(Clone, Copy)]
pub(crate) struct Start {
    told: cwnd::Start,
}

impl From<cwnd::Start> for Start {
    fn from(told: cwnd::Start) -> Self {
        Self { told }
    }
}

#[pymethods]
impl Start {
    /// The initial window, packets.
    #[getter]
    fn window(&self) -> f64 {
        self.told.window.0
    }

    /// Where slow start ends, packets, if the host knows.
    #[getter]
    fn threshold(&self) -> Option<f64> {
        self.told.threshold.map(|packets| packets.0)
    }

    /// The largest window the host will ever use, packets; infinite for no bound.
    #[getter]
    fn max_window(&self) -> f64 {
        self.told.max_window.0
    }

    /// A packet on the wire, bytes.
    #[getter]
    fn packet(&self) -> u32 {
        self.told.packet.0
    }

    /// What a packet carries for the application, bytes.
    #[getter]
    fn payload(&self) -> u32 {
        self.told.payload.0
    }

    /// For algorithms that draw random numbers.
    #[getter]
    fn seed(&self) -> u64 {
        self.told.seed
    }

    fn __repr__(&self) -> String {
        format!("{:?}", self.told)
    }
}

/// The state of the connection at the instant of a signal.
#[pyclass(frozen, module = "cwnd")]
#[derive(Clone, Copy)]
pub(crate) struct View {
    told: cwnd::View,
}

impl From<cwnd::View> for View {
    fn from(told: cwnd::View) -> Self {
        Self { told }
    }
}

#[pymethods]
impl View {
    /// The instant, seconds.
    #[getter]
    fn now(&self) -> f64 {
        self.told.now.as_secs_f64()
    }

    /// The number of the next new packet.
    #[getter]
    fn next(&self) -> u64 {
        self.told.next
    }

    /// Packets in the network, before the event being told.
    #[getter]
    fn in_flight(&self) -> u64 {
        self.told.in_flight
    }

    /// Fast recovery is under way.
    #[getter]
    fn in_recovery(&self) -> bool {
        self.told.in_recovery
    }

    /// Packets delivered so far.
    #[getter]
    fn delivered(&self) -> u64 {
        self.told.delivered
    }

    /// Packets found lost so far.
    #[getter]
    fn lost(&self) -> u64 {
        self.told.lost
    }

    /// None before the first sample.
    #[getter]
    fn rtt(&self) -> Option<Rtt> {
        self.told.rtt.map(Rtt::from)
    }

    /// Round trips so far.
    #[getter]
    fn round(&self) -> u64 {
        self.told.round
    }

    /// What last held the sender, one of `window`, `rate`, `source` or `peer`.
    #[getter]
    fn limit(&self) -> &'static str {
        match self.told.limit {
            Limit::Window => "window",
            Limit::Rate => "rate",
            Limit::Source => "source",
            Limit::Peer => "peer",
        }
    }

    /// The window the receiver grants, packets.
    #[getter]
    fn peer_window(&self) -> f64 {
        self.told.peer_window.0
    }

    /// A packet on the wire, bytes.
    #[getter]
    fn packet(&self) -> u32 {
        self.told.packet.0
    }

    /// What a packet carries for the application, bytes.
    #[getter]
    fn payload(&self) -> u32 {
        self.told.payload.0
    }

    fn __repr__(&self) -> String {
        format!("{:?}", self.told)
    }
}

/// The round-trip time as the host knows it, seconds.
#[pyclass(frozen, module = "cwnd")]
#[derive(Clone, Copy)]
pub(crate) struct Rtt {
    told: cwnd::Rtt,
}

impl From<cwnd::Rtt> for Rtt {
    fn from(told: cwnd::Rtt) -> Self {
        Self { told }
    }
}

#[pymethods]
impl Rtt {
    /// The newest sample.
    #[getter]
    fn latest(&self) -> f64 {
        self.told.latest.as_secs_f64()
    }

    /// The smoothed value.
    #[getter]
    fn smoothed(&self) -> f64 {
        self.told.smoothed.as_secs_f64()
    }

    /// The smoothed mean deviation.
    #[getter]
    fn variation(&self) -> f64 {
        self.told.variation.as_secs_f64()
    }

    /// The smallest sample of the flow.
    #[getter]
    fn min(&self) -> f64 {
        self.told.min.as_secs_f64()
    }

    /// How much of the newest sample the receiver held the acknowledgement back.
    #[getter]
    fn ack_delay(&self) -> f64 {
        self.told.ack_delay.as_secs_f64()
    }

    fn __repr__(&self) -> String {
        format!("{:?}", self.told)
    }
}

/// The delivery rate around one packet.
#[pyclass(frozen, module = "cwnd")]
#[derive(Clone, Copy)]
pub(crate) struct RateSample {
    told: cwnd::RateSample,
}

impl From<cwnd::RateSample> for RateSample {
    fn from(told: cwnd::RateSample) -> Self {
        Self { told }
    }
}

#[pymethods]
impl RateSample {
    /// Packets delivered in the interval.
    #[getter]
    fn delivered(&self) -> u64 {
        self.told.delivered
    }

    /// Packets found lost in the interval.
    #[getter]
    fn lost(&self) -> u64 {
        self.told.lost
    }

    /// The interval, seconds.
    #[getter]
    fn interval(&self) -> f64 {
        self.told.interval.as_secs_f64()
    }

    /// Packets delivered when this packet left.
    #[getter]
    fn prior_delivered(&self) -> u64 {
        self.told.prior_delivered
    }

    /// Packets in flight when this packet left.
    #[getter]
    fn prior_in_flight(&self) -> u64 {
        self.told.prior_in_flight
    }

    /// The application or the receiver held the sender, so that the sample is a lower bound.
    #[getter]
    fn limited(&self) -> bool {
        self.told.limited
    }

    /// Packets per second; none for an empty interval.
    #[getter]
    fn rate(&self) -> Option<f64> {
        self.told.rate().map(|rate| rate.0)
    }

    fn __repr__(&self) -> String {
        format!("{:?}", self.told)
    }
}

/// What the far end and the routers measured.
#[pyclass(frozen, module = "cwnd")]
#[derive(Clone, Copy)]
pub(crate) struct Remote {
    told: cwnd::Remote,
}

impl From<cwnd::Remote> for Remote {
    fn from(told: cwnd::Remote) -> Self {
        Self { told }
    }
}

#[pymethods]
impl Remote {
    /// Packets per second at the receiver.
    #[getter]
    fn arrival_rate(&self) -> Option<f64> {
        self.told.arrival_rate.map(|rate| rate.0)
    }

    /// The capacity of the path, packets per second.
    #[getter]
    fn capacity(&self) -> Option<f64> {
        self.told.capacity.map(|rate| rate.0)
    }

    /// The window computed at the receiver, packets.
    #[getter]
    fn window(&self) -> Option<f64> {
        self.told.window.map(|packets| packets.0)
    }

    /// The loss event rate computed at the receiver, 0 to 1.
    #[getter]
    fn loss_event_rate(&self) -> Option<f64> {
        self.told.loss_event_rate
    }

    /// The newest one-way delay, up to a constant, seconds.
    #[getter]
    fn one_way_delay(&self) -> Option<f64> {
        self.told.one_way_delay.map(cwnd::Span::as_secs_f64)
    }

    /// The window changes that routers granted, packets.
    #[getter]
    fn grant(&self) -> Option<f64> {
        self.told.grant.map(|packets| packets.0)
    }

    /// The highest load factor seen.
    #[getter]
    fn load(&self) -> Option<u8> {
        self.told.load
    }

    fn __repr__(&self) -> String {
        format!("{:?}", self.told)
    }
}

/// New data was acknowledged.
#[pyclass(frozen, module = "cwnd")]
#[derive(Clone, Copy)]
pub(crate) struct Ack {
    told: cwnd::Ack,
}

impl From<cwnd::Ack> for Ack {
    fn from(told: cwnd::Ack) -> Self {
        Self { told }
    }
}

#[pymethods]
impl Ack {
    /// Acknowledgement packets this record stands for.
    #[getter]
    fn acks(&self) -> u32 {
        self.told.acks
    }

    /// Packets newly acknowledged.
    #[getter]
    fn newly(&self) -> u32 {
        self.told.newly
    }

    /// How many of them carried a congestion mark.
    #[getter]
    fn marked(&self) -> u32 {
        self.told.marked
    }

    /// When the newest packet among them left, seconds.
    #[getter]
    fn sent_at(&self) -> f64 {
        self.told.sent_at.as_secs_f64()
    }

    /// The delivery rate around that packet.
    #[getter]
    fn sample(&self) -> Option<RateSample> {
        self.told.sample.map(RateSample::from)
    }

    /// What the far end reports.
    #[getter]
    fn remote(&self) -> Remote {
        self.told.remote.into()
    }

    fn __repr__(&self) -> String {
        format!("{:?}", self.told)
    }
}

/// A sign of congestion.
#[pyclass(frozen, module = "cwnd")]
#[derive(Clone, Copy)]
pub(crate) struct Congestion {
    told: cwnd::Congestion,
}

impl From<cwnd::Congestion> for Congestion {
    fn from(told: cwnd::Congestion) -> Self {
        Self { told }
    }
}

#[pymethods]
impl Congestion {
    /// What happened, one of `loss`, `mark`, `delay` or `timeout`.
    #[getter]
    fn cause(&self) -> &'static str {
        match self.told.cause {
            Cause::Loss => "loss",
            Cause::Mark => "mark",
            Cause::Delay => "delay",
            Cause::Timeout => "timeout",
        }
    }

    /// The number of the first packet lost or marked.
    #[getter]
    fn first(&self) -> u64 {
        self.told.first
    }

    /// Packets found lost with this event.
    #[getter]
    fn lost(&self) -> u32 {
        self.told.lost
    }

    /// Recovery starts over from a window of one packet (Tahoe).
    #[getter]
    fn restart(&self) -> bool {
        self.told.restart
    }

    /// To be acted upon even if the packet left before the last decrease.
    #[getter]
    fn separate(&self) -> bool {
        self.told.separate
    }

    /// Not the first expiry of the timer for this packet.
    #[getter]
    fn persistent(&self) -> bool {
        self.told.persistent
    }

    /// The delivery-rate state of the lost packet.
    #[getter]
    fn sample(&self) -> Option<RateSample> {
        self.told.sample.map(RateSample::from)
    }

    fn __repr__(&self) -> String {
        format!("{:?}", self.told)
    }
}
