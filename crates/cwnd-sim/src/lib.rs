//! A deterministic packet simulator for congestion control.
//!
//! A [`Setup`] is everything a run needs, as plain data; [`run`] turns it into a [`Trace`], and a [`Simulation`] does so in steps. The
//! same setup gives the same bytes on every machine. This crate knows no files, threads or reports, and computes no measures.
//!
//! Reno against CUBIC for ten seconds, over 20 Mbit/s and 40 ms with a queue of 60 packets:
//!
//! ```
//! use cwnd::{Span, Spec};
//! use cwnd_sim::{Dumbbell, Era, QueueLimit, run};
//!
//! let path = Dumbbell::new(20_000_000, Span::from_millis(40), QueueLimit::Packets(60));
//! let algorithms = ["reno", "cubic"].map(|name| Spec::parse(name).expect("registered"));
//! let setup = path.setup(&algorithms, Era::MODERN, Span::from_secs(10), Span::ZERO, 1);
//! let trace = run(&setup, &mut |_now| true)?;
//! let delivered: u64 = trace.flows.iter().filter_map(|flow| flow.delivered.last()).sum();
//! // 16,667 packets of 1500 bytes fit through the link in ten seconds.
//! assert!((14_000..16_667).contains(&delivered));
//! assert_eq!(run(&setup, &mut |_now| true)?.digest, trace.digest, "the same seed gives the same bytes");
//! # Ok::<(), cwnd_sim::SetupError>(())
//! ```

mod access;
mod agent;
mod cbr;
mod datagram;
mod demand;
mod digest;
pub mod emulate;
mod endpoint;
mod era;
mod error;
mod events;
mod flow;
mod flow_arrivals;
mod handshake;
#[cfg(test)]
mod hosts;
mod logged;
mod net;
pub mod notation;
mod pacer;
mod protocol;
mod random;
mod recent;
mod recorder;
mod ring;
mod routed;
mod setup;
mod simulation;
mod stack;
mod tcp;
mod topology;
mod traffic;
mod udt;
mod wakes;
mod world;

pub use cwnd_trace::{Passage, Passing, Trace};
pub use digest::DIGEST_FORMAT;
pub use era::{Era, MarkedAtOne, Recovery};
pub use error::{SetupError, SetupPart, StackPanic};
pub use net::delivery::{DeliveryTrace, DeliveryTraceError};
pub use net::light::{LightTrace, LightTraceError};
pub use net::packet::AckEcho;
pub use net::setup::{
    CakeSetup, Class, CoDelSetup, DecBitSetup, Discipline, DrrSetup, DualPi2Setup, DualPi2Variant, Duplex, Fault,
    FqCoDelSetup, GilbertElliott, HalfDuplex, HostPair, Impairments, Isolation, Jitter, LinkId, LinkSetup, Loss,
    Mangling, NodeId, Noise, Phase, PieSetup, QueueLimit, RedSetup, ReorderBy, Reordering, RioSetup, Sharing, Tap,
    TokenBucket, VcpSetup, XcpSetup,
};
pub use net::steps::Schedule;
pub use setup::{CheckedSetup, FlowArrivalsSetup, FlowSetup, RefusedSetup, Sampling, SavedPath, Setup, Variation};
pub use simulation::{FlowState, Simulation, State};
pub use tcp::recovery::RecoveryScheme;
pub use tcp::{LinuxHost, Reassembly};
pub use topology::{Dumbbell, ParkingLot};
pub use traffic::{CbrSetup, Interarrival, Pages, Pause, RateChange, RateSchedule, Sizes, Source, Video};

/// Simulates `setup`. `progress` is called now and then with the simulated time in nanoseconds; once it says `false` the run ends
/// with [`SetupError::Interrupted`].
///
/// # Errors
/// A field is out of range, a flow has no route, its access delay is too short, `progress` returned false, the run needs more than 4 GiB
/// of memory, or time does not move on in it.
pub fn run(setup: &Setup, progress: &mut dyn FnMut(u64) -> bool) -> Result<Trace, SetupError> {
    Simulation::new(setup)?.finish(setup, progress)
}

/// Simulates a setup that is already checked, for example one of many seeds. See [`run`].
///
/// # Errors
/// `progress` returned false, the run needs more than 4 GiB of memory, or time does not move on in it.
pub fn run_checked(setup: &CheckedSetup, progress: &mut dyn FnMut(u64) -> bool) -> Result<Trace, SetupError> {
    Simulation::of(setup).finish(setup, progress)
}
