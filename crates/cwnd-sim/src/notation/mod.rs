//! Parts of a path as people write them, on command lines and in scenarios: `red:1bdp,max_p=0.1`.

mod duplex;
mod host;
mod jitter;
mod loss;
mod queue;
mod reordering;
mod traffic;

pub use duplex::DUPLEXES;
pub use host::{HOSTS, SAVED_PATHS, SLOW_STARTS, TOKEN_BUCKETS};
pub use jitter::JITTERS;
pub use loss::LOSSES;
pub use queue::{DEFAULT_RED, DEFAULT_RIO, QUEUES, Queue, QueueSize, Threshold, ThresholdError};
pub use reordering::REORDERINGS;
pub use traffic::{Amount, FlowSizes, INTERARRIVALS, RATE_SCHEDULES, SIZES, packets, whole_amount};
