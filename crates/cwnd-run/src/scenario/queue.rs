//! Queues in scenarios.

pub use cwnd_sim::notation::{Queue, QueueSize, Threshold, ThresholdError};

use super::quantity::Written;

/// With the parameters that are not the default. The text reads back as the same queue.
impl From<Queue> for Written<Queue> {
    fn from(queue: Queue) -> Self {
        Self::of(queue.to_string(), queue)
    }
}
