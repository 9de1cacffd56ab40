//! The `cwnd` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    cwnd_cli::main(Vec::new())
}
