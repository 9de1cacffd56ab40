//! Environments in which a learner steers flows of the simulator.
//!
//! A [`Course`] says on which network, which of its flows the learner steers, and what changes from episode to episode. An
//! [`Environment`] runs one episode after another on it, step by step; [`Environments`] are many of them in one array.
//!
//! **A step** is one smoothed round trip of the steered flow, of several the longest, and goes on until so many packets were delivered
//! on average per flow as [`Options::packets`] says. **An action** changes a window by a factor ([`Options::gain`]), as Aurora does with
//! its rate. **An observation** has the [`FEATURES`]; all of them are known to a real sender. **A reward** is one of the [`Reward`]s,
//! and may know more than that.
//!
//! Equal seeds and actions are equal episodes, to the last bit. This crate knows no Python and no file.
//!
//! * Aurora: Jay, Rotman, Godfrey, Schapira and Tamar, "A Deep Reinforcement Learning Perspective on Internet Congestion Control",
//!   ICML 2019.
//! * Orca: Abbasloo, Yen and Chao, "Classic Meets Modern: a Pragmatic Learning-Based Congestion Control for the Internet", SIGCOMM 2020.

mod course;
mod draw;
mod environment;
mod environments;
mod observation;
mod pilot;
mod reward;

pub use course::{Course, CourseError, Options};
pub use draw::Range;
pub use environment::{Environment, Totals};
pub use environments::Environments;
pub use observation::{FEATURES, Feature};
pub use reward::Reward;
