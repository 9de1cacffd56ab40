//! The command `cwnd`, with released transport stacks in addition to its algorithms.

use std::process::ExitCode;

fn main() -> ExitCode {
    cwnd_cli::main(cwnd_foreign::stacks())
}
