//! Queues in scenarios.

use std::borrow::Cow;

use cwnd::quantity::QuantityError;
use cwnd_sim::notation::QUEUES;
pub use cwnd_sim::notation::{Queue, QueueSize, Threshold, ThresholdError};

use super::quantity::{Quantity, Written};

impl Quantity for Queue {
    const NAME: &'static str = "Queue";
    const EXPECTED: &'static str = "a queue and its size, such as `droptail:1bdp`";
    const EXAMPLES: &'static [&'static str] = &[
        "droptail:1bdp",
        "droptail:100p",
        "droptail:64kB",
        "droptail:50ms",
        "red:1bdp,ecn=yes",
        "rio:300p,out_max=30p",
        "drr:1bdp",
        "codel:1000p",
        "fq_codel:10240p",
        "pie:1000p,target=20ms",
        "xcp:1bdp",
    ];
    type Error = QuantityError;

    fn read(text: &str) -> Result<Self, QuantityError> {
        Self::read(text)
    }

    fn description() -> Cow<'static, str> {
        QUEUES.description().into()
    }
}

/// With the parameters that are not the default. The text reads back as the same queue.
impl From<Queue> for Written<Queue> {
    fn from(queue: Queue) -> Self {
        Self::of(queue.to_string(), queue)
    }
}
