//! The engine behind the page of `cwnd live`: requests of a page come in, frames with curves and measures go out.
//!
//! The page shows a scenario. The engine runs it through `cwnd-run` as every command does, and measures nothing itself. It has no socket,
//! no clock and no random numbers: a [`Host`] lends it a clock and takes its frames. `cwnd-live` hosts it behind a WebSocket, and
//! `cwnd-wasm` in a worker of the page.
//!
//! Start with [`Request`] and [`Frame`], which travel between the page and its engine, and [`Begun`], a run.

mod columns;
mod hello;
mod host;
mod measures;
mod message;
mod paced;
mod presets;
mod run;
mod scenario;
mod take;

pub use hello::hello;
pub use host::{Host, Limits};
pub use message::{Frame, Request, mismatch, undivided};
pub use paced::{Ended, Paced, Pulled, SLICE};
pub use presets::{PRESETS, Preset};
pub use run::Begun;
pub use scenario::{PageError, Prepared, read, read_address, read_text, scenario};
