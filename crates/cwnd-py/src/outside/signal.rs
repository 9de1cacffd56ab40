//! The signals of a host to an algorithm, as records of Python. Times are seconds, windows packets, rates packets per second.

use pyo3::prelude::*;
use pyo3::types::PyType;

use super::pickle::{Pickled, State};
use super::words::{cause, held_by};
use crate::failure::Failure;

/// A record of the contract as a class of Python whose properties are computed from it when they are asked for.
macro_rules! record {
    ($(#[$about:meta])* $name:ident { $($(#[$doc:meta])* $field:ident: $kind:ty = |$inner:ident| $value:expr;)* }) => {
        $(#[$about])*
        #[pyclass(frozen, module = "cwnd")]
        #[derive(Clone, Copy)]
        pub(crate) struct $name {
            inner: cwnd::$name,
        }

        impl From<cwnd::$name> for $name {
            fn from(inner: cwnd::$name) -> Self {
                Self { inner }
            }
        }

        #[pymethods]
        impl $name {
            $(
                $(#[$doc])*
                #[getter]
                fn $field(&self) -> $kind {
                    let $inner = &self.inner;
                    $value
                }
            )*

            fn __repr__(&self) -> String {
                format!("{:?}", self.inner)
            }

            /// Nothing can change it.
            fn __copy__(slf: Py<Self>) -> Py<Self> {
                slf
            }

            /// Nothing can change it.
            fn __deepcopy__(slf: Py<Self>, _memo: &Bound<'_, PyAny>) -> Py<Self> {
                slf
            }

            fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (State<cwnd::$name>,))> {
                Ok((slf.get_type().getattr("_of_state")?, (slf.get().inner.state(),)))
            }

            /// Makes the object from the state in a pickle.
            #[classmethod]
            fn _of_state(_class: &Bound<'_, PyType>, state: State<cwnd::$name>) -> Result<Self, Failure> {
                Ok(cwnd::$name::of_state(state)?.into())
            }
        }
    };
}

record! {
    /// The start of a flow.
    Start {
        /// The initial window, packets.
        window: f64 = |inner| inner.window.0;
        /// Where slow start ends, packets, if the host knows.
        threshold: Option<f64> = |inner| inner.threshold.map(|packets| packets.0);
        /// The rate that the initial window makes, packets per second, if the host knows the round trip: as models do.
        rate: Option<f64> = |inner| inner.rate.map(|rate| rate.0);
        /// The largest window the host will ever use, packets; infinite for no bound.
        max_window: f64 = |inner| inner.max_window.0;
        /// A packet on the wire, bytes.
        packet: u32 = |inner| inner.packet.0;
        /// Payload of a packet, bytes.
        payload: u32 = |inner| inner.payload.0;
        /// For algorithms that draw random numbers.
        seed: u64 = |inner| inner.seed;
    }
}

record! {
    /// The state of the connection at the instant of a signal.
    View {
        /// The instant, seconds.
        now: f64 = |inner| inner.now.as_secs_f64();
        /// The number of the next new packet.
        next: u64 = |inner| inner.next;
        /// Packets in the network, before the event being reported.
        in_flight: u64 = |inner| inner.in_flight;
        /// Fast recovery is under way.
        in_recovery: bool = |inner| inner.in_recovery;
        /// Packets delivered so far.
        delivered: u64 = |inner| inner.delivered;
        /// Packets found lost so far.
        lost: u64 = |inner| inner.lost;
        /// None before the first sample.
        rtt: Option<Rtt> = |inner| inner.rtt.map(Rtt::from);
        /// The retransmission timeout, seconds, with its doublings; None where the host has no such timer.
        timeout: Option<f64> = |inner| inner.timeout.map(cwnd::Span::as_secs_f64);
        /// Round trips so far.
        round: u64 = |inner| inner.round;
        /// The last limit of the sender, one of `window`, `rate`, `source` or `peer`.
        limit: &'static str = |inner| held_by(inner.limit);
        /// The window the receiver grants, packets.
        peer_window: f64 = |inner| inner.peer_window.0;
        /// A packet on the wire, bytes.
        packet: u32 = |inner| inner.packet.0;
        /// Payload of a packet, bytes.
        payload: u32 = |inner| inner.payload.0;
    }
}

record! {
    /// The round-trip time as the host knows it, seconds.
    Rtt {
        /// The newest sample.
        latest: f64 = |inner| inner.latest.as_secs_f64();
        /// The smoothed value.
        smoothed: f64 = |inner| inner.smoothed.as_secs_f64();
        /// The smoothed mean deviation.
        variation: f64 = |inner| inner.variation.as_secs_f64();
        /// The smallest sample of the flow.
        min: f64 = |inner| inner.min.as_secs_f64();
        /// How much of the newest sample the receiver held the acknowledgement back.
        ack_delay: f64 = |inner| inner.ack_delay.as_secs_f64();
    }
}

record! {
    /// The delivery rate around one packet.
    RateSample {
        /// Packets delivered in the interval.
        delivered: u64 = |inner| inner.delivered;
        /// Packets found lost in the interval.
        lost: u64 = |inner| inner.lost;
        /// The interval, seconds.
        interval: f64 = |inner| inner.interval.as_secs_f64();
        /// Packets delivered when this packet left.
        prior_delivered: u64 = |inner| inner.prior_delivered;
        /// Packets in flight when this packet left.
        prior_in_flight: u64 = |inner| inner.prior_in_flight;
        /// The application or the receiver held the sender, so that the sample is a lower bound.
        limited: bool = |inner| inner.limited;
        /// Packets per second; none for an empty interval.
        rate: Option<f64> = |inner| inner.rate().map(|rate| rate.0);
    }
}

record! {
    /// Measurements of the far end and the routers.
    Remote {
        /// Packets per second at the receiver.
        arrival_rate: Option<f64> = |inner| inner.arrival_rate.map(|rate| rate.0);
        /// The capacity of the path, packets per second.
        capacity: Option<f64> = |inner| inner.capacity.map(|rate| rate.0);
        /// The window computed at the receiver, packets.
        window: Option<f64> = |inner| inner.window.map(|packets| packets.0);
        /// The loss event rate computed at the receiver, 0 to 1.
        loss_event_rate: Option<f64> = |inner| inner.loss_event_rate;
        /// The newest one-way delay, up to a constant, seconds.
        one_way_delay: Option<f64> = |inner| inner.one_way_delay.map(cwnd::Span::as_secs_f64);
        /// The window changes that routers granted, packets.
        grant: Option<f64> = |inner| inner.grant.map(|packets| packets.0);
        /// The highest load factor seen.
        load: Option<u8> = |inner| inner.load;
    }
}

record! {
    /// New data was acknowledged.
    Ack {
        /// Acknowledgement packets this record stands for.
        acks: u32 = |inner| inner.acks;
        /// Packets newly acknowledged.
        newly: u32 = |inner| inner.newly;
        /// The number of acknowledged packets that carried a congestion mark.
        marked: u32 = |inner| inner.marked;
        /// When the newest packet among them left, seconds.
        sent_at: f64 = |inner| inner.sent_at.as_secs_f64();
        /// The delivery rate around that packet.
        sample: Option<RateSample> = |inner| inner.sample.map(RateSample::from);
        /// The reports of the far end.
        remote: Remote = |inner| inner.remote.into();
    }
}

record! {
    /// A sign of congestion.
    Congestion {
        /// The event, one of `loss`, `mark`, `delay` or `timeout`.
        cause: &'static str = |inner| cause(inner.cause);
        /// The number of the first packet lost or marked.
        first: u64 = |inner| inner.first;
        /// Packets found lost with this event.
        lost: u32 = |inner| inner.lost;
        /// Recovery starts over from a window of one packet (Tahoe).
        restart: bool = |inner| inner.restart;
        /// To be acted upon even if the packet left before the last decrease.
        separate: bool = |inner| inner.separate;
        /// Not the first expiry of the timer for this packet.
        persistent: bool = |inner| inner.persistent;
        /// The delivery-rate state of the lost packet.
        sample: Option<RateSample> = |inner| inner.sample.map(RateSample::from);
    }
}
