//! Environments in which a learner steers flows of the simulator.
//!
//! A [`Course`] is a network, the flows of it that the learner steers, and what differs between episodes. An [`Environment`] runs one
//! episode after another on it, step by step; [`Environments`] are many of them in one array.
//!
//! **A step** is one smoothed round trip of the steered flow, the longest of several, and lasts until [`Options::packets`] were delivered
//! on average per flow. **An action** changes a window by a factor ([`Options::gain`]), as Aurora does with
//! its rate. **An observation** has the [`FEATURES`]; a real sender knows all of them. **A reward** is one of the [`Reward`]s,
//! and may use more than that.
//!
//! Equal seeds and actions give equal episodes, to the last bit. This crate knows no Python and no file.
//!
//! * Aurora: Jay, Rotman, Godfrey, Schapira and Tamar, "A Deep Reinforcement Learning Perspective on Internet Congestion Control",
//!   ICML 2019.
//! * Orca: Abbasloo, Yen and Chao, "Classic Meets Modern: a Pragmatic Learning-Based Congestion Control for the Internet", SIGCOMM 2020.

mod course;
mod draw;
mod environment;
mod environments;
mod error;
mod observation;
mod options;
mod reward;
mod steered;

pub use course::Course;
pub use environment::{Environment, Totals};
pub use environments::Environments;
pub use error::CourseError;
pub use observation::{FEATURES, Feature};
pub use options::{Options, Range};
pub use reward::Reward;
