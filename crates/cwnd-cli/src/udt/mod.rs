//! `cwnd udt`

mod clients;
mod files;
mod link;
mod perf;

use clap::Subcommand;
use cwnd::{BitRate, Spec};
use cwnd_net::Options;
use cwnd_run::scenario::Written;

use crate::failure::Failure;

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Emulate a link between UDP ports: rate, delay, queue, loss
    Link(Box<link::Arguments>),
    /// Measure how fast bytes get through
    Perf(Box<perf::Arguments>),
    /// Fetch files and folders
    Recv(files::recv::Arguments),
    /// Send files and folders
    Send(files::send::Arguments),
    /// Serve the files of a folder
    Serve(files::serve::Arguments),
}

pub(crate) fn run(command: &Command) -> Result<String, Failure> {
    match command {
        Command::Link(arguments) => link::run(arguments),
        Command::Perf(arguments) => perf::run(arguments),
        Command::Recv(arguments) => files::recv::run(arguments),
        Command::Send(arguments) => files::send::run(arguments),
        Command::Serve(arguments) => files::serve::run(arguments),
    }
}

/// The options of a port with what the command line says of them.
fn options(algorithm: Option<&Written<Spec>>, rate_limit: Option<&Written<BitRate>>, mss: u16) -> Options {
    let options = Options::default().mss(mss);
    let options = match algorithm {
        Some(algorithm) => options.algorithm(algorithm.value().clone()),
        None => options,
    };
    match rate_limit {
        Some(rate) => options.max_rate(*rate.value()),
        None => options,
    }
}
