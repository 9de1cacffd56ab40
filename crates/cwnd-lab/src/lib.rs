//! Scenarios, runs, measures and reports.
//!
//! The lab knows every host and every algorithm; the command line and the bindings are thin fronts over it. A [`scenario`] says
//! what to simulate, [`run`](mod@run) simulates it once per seed, [`measure`] draws numbers from the traces, [`compare`] does so
//! for several algorithms, [`paper`] sets what comes out against what papers printed, [`output`] makes documents and files of it
//! all, and [`report`] shows it on a page. [`overlay`] lays runs of a kernel over simulated ones. [`cells`] keeps what was run before,
//! [`sweep`] runs a scenario at many points over it, and [`evaluate`] an algorithm under the headings of RFC 9743.

pub mod bench;
pub mod cells;
pub mod compare;
pub mod evaluate;
pub mod measure;
pub mod model;
pub mod output;
pub mod overlay;
pub mod paper;
pub mod probe;
pub mod report;
pub mod run;
pub mod scenario;
pub mod sweep;

/// The version, with the revision of the sources where it was built in a repository.
pub const VERSION: &str = env!("CWND_VERSION");
