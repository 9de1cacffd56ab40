//! The simulator in a browser: `cwnd live`.
//!
//! A [`Server`] answers on one address, by default of the loopback, with a page that is built into the program and needs nothing else of any
//! network. The page asks for runs over a WebSocket and gets columns of numbers back, the first after one seed. What the page shows is a
//! scenario; this crate runs it through `cwnd-run` as every command does, and measures nothing itself.
//!
//! Start with `session`, which serves one visitor. `message` has what travels, `http` which requests are accepted.

mod clock;
mod columns;
mod http;
mod measures;
mod message;
mod paced;
mod presets;
mod report;
mod run;
mod scenario;
mod server;
mod session;
mod shared;
mod socket;
mod take;
mod visitor;

pub use presets::{PRESETS, Preset};
pub use server::{Server, ServerError};
pub use shared::Limits;
