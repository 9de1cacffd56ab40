//! Scenarios, their execution over seeds, the measures of a run, and the store of results.
//!
//! * [`scenario`] reads and checks what to simulate; [`address`] writes a scenario as the fragment of a URL.
//! * [`execute`] runs it once per seed, and [`run`](mod@run) combines the seeds.
//! * [`measure`] computes numbers from a trace; a [`probe`] selects those that a caller keeps.
//! * [`cells`] stores them, so that no run is repeated; [`files`] writes files and directories of results.
//!
//! This crate knows the simulator, but no experiments and no presentation of results.

pub mod address;
pub mod cells;
pub mod execute;
pub mod files;
pub mod measure;
pub mod probe;
pub mod run;
pub mod scenario;
pub mod stacks;
#[cfg(feature = "testing")]
pub mod testing;

pub use cwnd_text::{PROGRAM, VERSION};
