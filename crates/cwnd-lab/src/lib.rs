//! Scenarios, runs, measures and reports.
//!
//! The lab knows every host and every algorithm; the command line and the bindings are thin fronts over it. A [`scenario`] says
//! what to simulate, [`measure`] draws numbers from the traces of its runs, [`report`]
//! shows them on a page.

pub mod measure;
pub mod report;
pub mod scenario;
