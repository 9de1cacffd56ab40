//! `cwnd udt`

mod files;
mod link;
mod perf;

use clap::Subcommand;

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
