//! Traces in the formats of other tools.
//!
//! [`pcapng`] is for Wireshark and whatever else reads packets, [`qlog`] for the viewers of QUIC's recovery, [`flent`] for
//! flent's plots. All of them take a [`Trace`](cwnd_trace::Trace) and write bytes; this crate opens no file and knows no host.
//! Every file states that it was simulated.

mod datagram;
pub mod flent;
mod merge;
pub mod pcapng;
pub mod qlog;
mod transmissions;

/// The description that a file carries.
#[derive(Clone, Copy, Debug)]
pub struct About<'a> {
    /// A short title of the run.
    pub title: &'a str,
    /// The program with its version.
    pub program: &'a str,
    /// The command that repeats the run.
    pub command: &'a str,
    /// The seed of the run.
    pub seed: u64,
}
