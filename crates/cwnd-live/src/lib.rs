//! The simulator in a browser: `cwnd live`.
//!
//! A [`Server`] answers on one address, by default of the loopback, with a page that is built into the program and needs nothing else of any
//! network. The page asks for runs over a WebSocket and gets columns of numbers back, the first after one seed. What the page shows is a
//! scenario; `cwnd-engine` runs it, and this crate brings requests to it and frames back.
//!
//! Start with `session`, which serves one visitor. `http` has the requests that are accepted.

mod clock;
mod http;
mod report;
mod server;
mod session;
mod shared;
mod site;
mod socket;
mod visitor;

pub use cwnd_engine::{PRESETS, read};
pub use server::{Server, ServerError};
pub use shared::Limits;
pub use site::{EXERCISES, FIGURES, site};
