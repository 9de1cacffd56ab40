//! Who runs the engine.

use std::num::NonZeroUsize;
use std::time::Duration;

use crate::message::Frame;

/// Where frames go, and what a run may use. A server has one for each visitor and run, a worker of a page has one.
pub trait Host: Sync {
    /// Sends a frame to the page.
    fn send(&self, frame: &Frame);

    /// Whether the page still wants what runs. Asked some hundred times a second.
    fn wanted(&self) -> bool;

    /// The time of a clock that never goes back.
    fn now(&self) -> Duration;

    /// The bound of a run.
    fn limits(&self) -> Limits;
}

/// The bound of a run.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Threads of a run. One is the calling thread, and no other is begun.
    pub threads: NonZeroUsize,
    /// Memory of a run for packets and samples, bytes.
    pub memory: u64,
    /// Memory of a run that follows the clock, bytes.
    pub clocked_memory: u64,
    /// Time of a run on the clock of the host, and of one step of a run that follows the clock.
    pub time: Duration,
    /// The end of the error of a run without memory: the remedy.
    pub more_memory: &'static str,
}
