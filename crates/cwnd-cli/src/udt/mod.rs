//! `cwnd udt`

mod link;
mod perf;

use clap::Subcommand;

use crate::failure::Failure;

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Emulate a link between UDP ports: rate, delay, queue, loss
    Link(link::Arguments),
    /// Measure how fast bytes get through
    Perf(Box<perf::Arguments>),
}

pub(crate) fn run(command: &Command) -> Result<String, Failure> {
    match command {
        Command::Link(arguments) => link::run(arguments),
        Command::Perf(arguments) => perf::run(arguments),
    }
}
