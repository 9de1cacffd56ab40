//! The `udt` command, which moves data: files and directories, measurements, emulated links and checks of the host.
//!
//! The laboratory is `cwnd` (`cwnd-cli`). [`cwnd_terminal`] has the parts that both share: reading arguments, printing, failing and ending
//! by a signal. The exit codes are those of [`failure::Kind`].

#![deny(clippy::print_stderr, reason = "`say!` does not panic where nobody can read what it says")]

#[macro_use]
extern crate cwnd_terminal;

mod clients;
mod connect;
mod doctor;
mod emulated;
mod files;
mod key;
mod link;
mod meet;
mod perf;
mod usage;

use std::env;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use clap_complete::Shell;
use cwnd_terminal::program::{self, print, report};
use cwnd_terminal::{arguments, clock, failure, impairments, output, signals, version};

use failure::{Failure, Kind};

/// Move files and directories over UDT, measure paths and emulate them
#[derive(Debug, Parser)]
#[command(name = "udt", version = cwnd_text::VERSION, after_help = EXAMPLES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Send files and directories, to a receiver with the printed code or to a server
    Send(Box<files::send::Arguments>),
    /// Receive files and directories from `udt send` or `udt serve`
    Recv(Box<files::recv::Arguments>),
    /// Serve the files of a directory to clients with a code or a known key
    Serve(Box<files::serve::Arguments>),
    /// Print this user's public key, for servers that admit clients by key
    Key(key::Arguments),
    /// Let two ends behind NAT find each other
    Meet(meet::Arguments),
    /// Measure throughput
    Perf(Box<perf::Arguments>),
    /// Emulate a link between UDP ports, or in front of the kernel's TCP
    Link(Box<link::Arguments>),
    /// Find the limits of this host and of a path for a fast transfer
    Doctor(doctor::Arguments),
    /// Print a completion script for a shell
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Write the manual pages to a directory
    #[command(hide = true)]
    Manual {
        /// The directory
        directory: PathBuf,
    },
}

fn main() -> ExitCode {
    signals::start();
    let mut command = program::command::<Cli>(GROUPS);
    let words = arguments::join_negative(command.clone(), env::args_os());
    if version::is_asked(&words) {
        return program::end(&print(&version::text("udt", &[])), false);
    }
    let json = ends_with_object(&words);
    if json {
        // Until the command listens itself. Without a thread for signals they end the process, and the command says so.
        let _deaf = signals::listen(|| {
            report(&Failure::Interrupted, true);
            std::process::exit(Failure::Interrupted.code().into());
        });
    }
    let cli: Cli = program::parse(&mut command, &words).unwrap_or_else(|error| program::refuse(&error, json));
    let printed = match cli.command {
        Command::Send(arguments) => files::send(&arguments),
        Command::Recv(arguments) => files::recv::run(&arguments),
        Command::Serve(arguments) => files::serve::run(&arguments),
        Command::Key(arguments) => key::run(&arguments),
        Command::Meet(arguments) => meet::run(&arguments),
        Command::Perf(arguments) => perf::run(&arguments),
        Command::Link(arguments) => link::run(&arguments),
        Command::Doctor(arguments) => doctor::run(&arguments),
        Command::Completions { shell } => Ok(program::completions::<Cli>(shell)),
        Command::Manual { directory } => program::manual::<Cli>(&directory),
    };
    let printed = match printed.and_then(|text| print(&text)) {
        Ok(()) if json && output::is_closed() => Err(Failure::closed()),
        Err(Failure::Output(why)) if uses_network(&words) => Err(Failure::Transfer(Kind::File, why)),
        printed => printed,
    };
    program::end(&printed, json)
}

/// Whether these words are those of a command that uses the network.
fn uses_network(words: &[OsString]) -> bool {
    words.get(1).is_some_and(|word| NETWORK.iter().any(|name| word == name))
}

/// Whether they also ask for JSON, whose last line then is the failure.
fn ends_with_object(words: &[OsString]) -> bool {
    let mut options = words.iter().take_while(|word| *word != "--");
    uses_network(words) && options.any(|word| word == "--json" || word == "--json-stream")
}

/// The commands as the help lists them.
const GROUPS: &[program::Group] = &[
    ("Files", &["send", "recv", "serve", "key", "meet"]),
    ("Paths", &["perf", "link", "doctor"]),
    ("This program", &["completions"]),
];

/// The commands that use the network.
const NETWORK: [&str; 6] = ["link", "meet", "perf", "recv", "send", "serve"];

const EXAMPLES: &str = "\
Examples:
  udt send photos big.iso                      prints an address and a code, and waits
  udt recv 192.0.2.1:40123                     there; asks for the code
  udt serve inbox --writable                   a server, which clients read and write
  udt send photos --to 192.0.2.1:9001          to that server
  udt perf --server 0.0.0.0:9000               measure: here
  udt perf 192.0.2.1:9000 --algorithm cubic    and there
  udt link 127.0.0.1:9001 127.0.0.1:9000 --rate 100mbit --delay 25ms
  udt doctor 192.0.2.1                         this host, and the path to another one
  udt --version --verbose                      how this program was built, for reports of errors";

#[cfg(test)]
mod tests {
    use clap::CommandFactory;
    use cwnd_terminal::program::check;

    use super::*;

    #[test]
    fn commands_of_the_documentation_parse() {
        cwnd_terminal::testing::accepts_commands_of_pages::<Cli>("udt", 25);
    }

    #[test]
    fn the_command_line_is_consistent() {
        let refused = check::consistent::<Cli>(GROUPS);
        assert!(refused > 100, "{refused}");
    }

    /// The commands whose help has the exit codes, and no others.
    #[test]
    fn the_commands_that_use_the_network_are_listed() {
        for command in Cli::command().get_subcommands() {
            let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            assert_eq!(help.contains("no_answer"), NETWORK.contains(&command.get_name()), "{}", command.get_name());
        }
    }
}
