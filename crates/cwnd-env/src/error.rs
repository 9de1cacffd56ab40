//! Why a course is refused.

use cwnd_sim::SetupError;
use thiserror::Error;

use crate::bounds::MAX_PACKETS;

/// Why a [`Course`](crate::Course) cannot be made.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum CourseError {
    /// The algorithm in the learner's place needs another transport.
    #[error("`{0}` cannot steer here: it does not run over acknowledgements of every packet")]
    Algorithm(String),
    /// A steered flow does not have data to send all the time.
    #[error("flow {0} cannot be steered: its application must have something to send from its start to the end")]
    Application(usize),
    /// A range begins above its end.
    #[error(
        "{option} must be a range that begins at or below its end: its first value {low} is above its last, {high}"
    )]
    Backwards {
        /// The name of the option.
        option: &'static str,
        /// The first value; bit/s, seconds, bandwidth-delay products or a probability.
        low: f64,
        /// The last value.
        high: f64,
    },
    /// A steered flow crosses no link with a rate.
    #[error("flow {0} cannot be steered: no link of its path has a rate")]
    Bottleneck(usize),
    /// There is no such flow.
    #[error("there is no flow {flow} to steer: there are {flows}")]
    Flow {
        /// The flow asked for.
        flow: usize,
        /// How many there are.
        flows: usize,
    },
    /// An option is outside its range.
    #[error("{option} must be {accepted}")]
    Option {
        /// Its name.
        option: &'static str,
        /// The accepted values.
        accepted: &'static str,
    },
    /// The path may hold too many packets.
    #[error(
        "rate, rtt and queue must be of a path that holds at most {MAX_PACKETS} packets: the largest holds {packets:.0}"
    )]
    Packets {
        /// In flight and in queues where rate, round-trip time and queue are the largest.
        packets: f64,
    },
    /// A flow is steered twice, or none at all, or not as many on each network.
    #[error("the flows to steer must be at least one, different ones, and as many on each network")]
    Steered,
    /// The setup of the network is invalid.
    #[error(transparent)]
    Setup(#[from] SetupError),
    /// A queue has no limit.
    #[error("queue must have a limit at link `{0}`: a learner may fill it without end")]
    Unlimited(String),
}
