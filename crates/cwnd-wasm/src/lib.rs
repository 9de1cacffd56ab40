//! The engine of the laboratory's page in a worker of a browser.
//!
//! A worker calls `hello` once. For each request it writes the JSON text into the memory that `allocate` gives and calls
//! `handle`; while a run follows the clock it calls `step` every 40 ms. The module imports two functions from `cwnd`: `now`, the
//! milliseconds of a clock that never goes back, and `send`, which takes the bytes of a frame during the call. A request is handled whole before
//! `handle` returns, so that a page ends a run by ending its worker.
//!
//! There is nothing here for other targets.

#[cfg(target_arch = "wasm32")]
mod worker;
