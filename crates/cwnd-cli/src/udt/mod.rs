//! `cwnd udt`

mod demo;
mod link;
mod perf;
mod recv;
mod serve;

use clap::Subcommand;

use crate::failure::Failure;

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Emulate a link between UDP ports: rate, delay, queue, loss
    Link(Box<link::Arguments>),
    /// Measure how fast bytes get through
    Perf(Box<perf::Arguments>),
    /// Fetch a file
    Recv(recv::Arguments),
    /// Serve the files of a folder
    Serve(serve::Arguments),
}

pub(crate) fn run(command: &Command) -> Result<String, Failure> {
    match command {
        Command::Link(arguments) => link::run(arguments),
        Command::Perf(arguments) => perf::run(arguments),
        Command::Recv(arguments) => recv::run(arguments),
        Command::Serve(arguments) => serve::run(arguments),
    }
}
