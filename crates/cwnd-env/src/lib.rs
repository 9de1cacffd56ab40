//! Environments in which a learner steers flows of the simulator.
//!
//! A [`Course`] is a network, the flows of it that the learner steers, and what differs between episodes. An [`Environment`] runs one
//! episode after another on it, step by step; [`Environments`] are many of them in one array.
//!
//! **A step** of a steered flow ends with the first acknowledgement by which a smoothed round trip has passed and [`Options::packets`] were
//! delivered. Of several steered flows it is the longest of their round trips, and that many packets on average per flow. **An action**
//! changes a window, a rate, or what an algorithm requests, by a factor ([`Lever`]); the next acknowledgement, congestion or wake-up applies it. **An observation** has the [`FEATURES`]; a real sender knows all of them. **A reward** is one of the [`Reward`]s,
//! and may use more than that. **A [`Policy`]** that was trained in an environment is an algorithm of every host ([`learnt`]).
//!
//! Equal seeds and actions give equal episodes, to the last bit. This crate knows no Python and no file.
//!
//! * Aurora: Jay, Rotman, Godfrey, Schapira and Tamar, "A Deep Reinforcement Learning Perspective on Internet Congestion Control",
//!   ICML 2019.
//! * Orca: Abbasloo, Yen and Chao, "Classic Meets Modern: a Pragmatic Learning-Based Congestion Control for the Internet", SIGCOMM 2020.

mod bounds;
mod course;
mod draw;
mod environment;
mod environments;
mod error;
mod observation;
mod options;
mod policy;
mod reward;
mod sender;
mod steered;

pub use bounds::MAX_PACKETS;
pub use course::Course;
pub use draw::DrawnPath;
pub use environment::{Environment, Episode, Outcome, Totals};
pub use environments::Environments;
pub use error::CourseError;
pub use observation::{FEATURES, Feature, MEASURED, StepReport};
pub use options::{Lever, Options, Range, Steering};
pub use policy::Policy;
pub use reward::Reward;
pub use steered::learnt;
