//! One run of a scenario, and many: what to simulate, the numbers that are measured, and the store that keeps them.
//!
//! A [`scenario`] says what to simulate, [`execute`] runs it once per seed, [`measure`] computes numbers from the traces, a [`probe`]
//! says which of them are kept, [`cells`] keeps them so that no run is done twice, [`run`](mod@run) has the runs of a scenario
//! together, and [`files`] finishes every file and directory of results. An [`address`] can hold a scenario. This crate knows the simulator. It knows neither experiments nor the presentation of
//! results.

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
