//! Parts of a path as people write them, on command lines and in scenarios: `red:1bdp,max_p=0.1`.

mod jitter;
mod queue;

pub use jitter::JITTERS;
pub use queue::{DEFAULT_RED, DEFAULT_RIO, QUEUES, Queue, QueueSize, Threshold, ThresholdError};
