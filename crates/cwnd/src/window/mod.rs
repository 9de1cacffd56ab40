//! Window algorithms, and the shell they share.
//!
//! The shell owns the common parts: slow start, timeouts, floors, one decrease per window of data, undo, and
//! the behaviour of an era. An algorithm provides a [`WindowRule`]: how far to grow on one acknowledged packet, where
//! to cut to, and what to remember when an epoch starts.

mod abe;
pub mod aiad;
pub mod aild;
pub mod aimd;
pub mod bic;
pub mod binomial;
pub mod cubic;
pub mod dctcp;
mod delays;
mod exit;
pub mod exp_tcp;
pub mod expression;
pub mod fast;
pub mod highspeed;
pub mod htcp;
mod hystart;
pub mod ledbat;
pub mod ledbatpp;
mod limited;
pub mod miad;
pub mod mimd;
pub mod new_aimd;
mod policy;
pub mod prague;
mod resume;
pub mod rule;
pub mod scalable;
mod search;
mod shell;
pub mod simd;
pub mod vegas;
pub mod westwood;

pub use policy::{FirstCut, Policy, RateLimited, SlowStart};
pub use shell::{Slowdown, Window, WindowRule};
