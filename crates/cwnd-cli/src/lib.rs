//! The `cwnd` command, the laboratory: arguments and glue over `cwnd_lab`.
//!
//! Every command is a function from its arguments to the text for standard output. Exit codes: 0 done, 1 a run failed, 2 the input is
//! wrong and nothing was written, 128 and the number of the signal that interrupted it. Programs with foreign stacks (`foreign/`) pass
//! them to [`main`].

#![deny(clippy::print_stderr, reason = "`say!` does not panic where nobody can read what it says")]

#[macro_use]
extern crate cwnd_terminal;

mod algorithms;
mod bench;
mod compare;
mod conform;
mod cross;
mod docs;
mod doctor;
mod evaluate;
mod failure;
mod falsify;
mod figure;
mod files;
mod link_to;
mod live;
mod model;
mod outcome;
mod overlay;
mod paper;
mod progress;
mod progress_lines;
mod run;
mod site;
mod store;
mod sweep;
mod trace;

use std::env;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Parser, Subcommand};
use clap_complete::Shell;
use cwnd_terminal::program::{self, print};
use cwnd_terminal::{arguments, clock, impairments, signals, version};

use failure::Failure;

/// Congestion control: compare algorithms in a deterministic packet simulator
#[derive(Debug, Parser)]
#[command(name = "cwnd", version = cwnd_run::VERSION, after_help = EXAMPLES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
    /// Memory for all runs together, as `4GB` [default: half of the machine's]
    #[arg(long, global = true, value_name = "SIZE", value_parser = cwnd::quantity::memory)]
    memory: Option<u64>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// List the algorithms, or describe one with its parameters and source
    Algorithms(algorithms::Arguments),
    /// Compare algorithms on one path, each alone with equal flows
    Compare(Box<compare::Arguments>),
    /// Change parameters in the browser and watch windows, queues and shares
    Live(live::Arguments),
    /// Write the page of `live` as a directory for any host of static files
    Site(site::Arguments),
    /// Print the link that opens a scenario in the browser
    LinkTo(link_to::Arguments),
    /// Simulate a scenario from a TOML file
    Run(run::Arguments),
    /// Run a scenario at many points with many seeds, on all cores or many machines
    Sweep(Box<sweep::Arguments>),
    /// Evaluate an algorithm by the criteria of RFC 9743, compared with Reno and CUBIC
    Evaluate(evaluate::Arguments),
    /// Search for a path on which an algorithm breaks a property
    Falsify(Box<falsify::Arguments>),
    /// Test a sender by RFC 5681, 9438, 9002, 9406, 3168, 7661 and the BBR draft
    Conform(Box<conform::Arguments>),
    /// Plot results, scenarios, kernel traces, qlog and captures on common axes
    Overlay(overlay::Arguments),
    /// Compare the window, rate, round-trip time and state of two traces
    #[command(subcommand)]
    Trace(trace::Command),
    /// Evaluate models: closed forms and synchronous feedback, as tables
    #[command(subcommand)]
    Model(Box<model::Command>),
    /// Reproduce eight papers: our value and the verdict for each table, figure and claim
    Paper(paper::Arguments),
    /// Measure the simulator itself
    #[command(subcommand)]
    Bench(bench::Command),
    /// Check this machine: results, speed, memory, directories, browser
    Doctor(doctor::Arguments),
    /// Print the JSON Schema of scenario files, or of sweeps, for editors
    Schema {
        /// The kind of file
        #[arg(value_enum, default_value_t = docs::Schema::Scenario)]
        of: docs::Schema,
    },
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
    /// Print a long page of the documentation: algorithms, notation, checks, papers
    Docs {
        /// The page
        page: docs::Page,
    },
}

/// Runs the command of the process arguments. `stacks` are foreign stacks that can stand for an algorithm, with labels of the form
/// `stack:controller`.
#[must_use]
pub fn main(stacks: Vec<cwnd::Spec>) -> ExitCode {
    signals::start();
    cwnd_run::stacks::install(stacks);
    let mut command = program::command::<Cli>(GROUPS);
    let words = arguments::join_negative(command.clone(), env::args_os());
    if version::is_asked(&words) {
        return program::end(&print(&version::text("cwnd", &FEATURES)), false);
    }
    let cli: Cli = match program::parse(&mut command, &words) {
        Ok(cli) => cli,
        Err(error) => match moved(&error) {
            Some(line) => {
                let json = words.iter().any(|word| word == "--json" || word == "--json-stream");
                return program::end(&Err(Failure::input(line).into()), json);
            }
            None => program::refuse(&error, false),
        },
    };
    progress::allow(cli.memory);
    let printed = match cli.command {
        Command::Algorithms(arguments) => algorithms::run(&arguments),
        Command::Compare(arguments) => compare::run(&arguments),
        Command::Run(arguments) => run::run(&arguments),
        Command::Sweep(arguments) => sweep::run(&arguments),
        Command::Evaluate(arguments) => evaluate::run(&arguments),
        Command::Conform(arguments) => conform::run(&arguments),
        Command::Falsify(arguments) => falsify::run(&arguments),
        Command::Overlay(arguments) => overlay::run(&arguments),
        Command::Trace(command) => trace::run(&command),
        Command::Model(command) => model::run(&command),
        Command::Paper(arguments) => paper::run(&arguments),
        Command::Live(arguments) => live::run(&arguments),
        Command::LinkTo(arguments) => link_to::run(&arguments),
        Command::Site(arguments) => site::run(&arguments),
        Command::Bench(bench::Command::Sim(arguments)) => bench::run(*arguments),
        Command::Doctor(arguments) => doctor::run(&arguments),
        Command::Schema { of } => Ok(docs::schema(of)),
        Command::Completions { shell } => Ok(program::completions::<Cli>(shell)),
        Command::Manual { directory } => program::manual::<Cli>(&directory).map_err(Into::into),
        Command::Docs { page } => docs::page(page),
    };
    if let (Ok(_), Some(_), false) = (&printed, cli.memory, progress::bounds_memory()) {
        say!("warning: --memory has no effect on this command");
    }
    program::end(&printed.map_err(Into::into).and_then(|text| print(&text)), false)
}

/// The present name of a command that moved to another program.
fn moved(error: &clap::Error) -> Option<String> {
    let (ErrorKind::InvalidSubcommand, Some(ContextValue::String(name))) =
        (error.kind(), error.get(ContextKind::InvalidSubcommand))
    else {
        return None;
    };
    let (_, now) = MOVED.iter().find(|(old, _)| old == name)?;
    Some(format!("`cwnd {name}` is a program of its own now: `{now}` (cargo install --path crates/cwnd-transfer)"))
}

/// The commands as the help lists them.
const GROUPS: &[program::Group] = &[
    ("Algorithms", &["algorithms", "conform", "model", "paper"]),
    ("Simulations", &["compare", "live", "link-to", "site", "run", "sweep", "evaluate", "falsify", "overlay", "trace"]),
    ("This program", &["doctor", "bench", "docs", "schema", "completions"]),
];

/// The optional parts of this program.
const FEATURES: [(&str, bool); 2] = [("figures", cfg!(feature = "figures")), ("parquet", cfg!(feature = "parquet"))];

/// Former commands of this program, and those of `udt` in their places.
const MOVED: [(&str, &str); 7] = [
    ("key", "udt key"),
    ("link", "udt link --tun"),
    ("meet", "udt meet"),
    ("recv", "udt recv"),
    ("send", "udt send"),
    ("serve", "udt serve"),
    ("udt", "udt"),
];

const EXAMPLES: &str = "\
Examples:
  cwnd live                                       sliders, windows and queues in the browser
  cwnd compare                                    Reno, CUBIC, BBRv3 and the papers' algorithms
  cwnd compare 'rule:grow=2/w,cut=w*3/4' cubic    a custom rule
  cwnd compare simd --versus reno                 is it fair to Reno?
  cwnd algorithms simd                            its parameters, their ranges, its source
  cwnd paper                                      eight papers: printed and reproduced values
  cwnd evaluate simd --quick                      the questions of RFC 9743
  cwnd falsify bbr --property starvation          a path on which a property breaks
  cwnd sweep scenarios/sweep/buffers.toml         a scenario at many points, resumable
  cwnd run scenarios/dumbbell.toml                one scenario
  cwnd --version --verbose                        how this program was built, for reports of errors";

#[cfg(test)]
mod tests {
    use cwnd_terminal::program::check;

    use super::*;

    #[test]
    fn commands_of_the_documentation_parse() {
        cwnd_terminal::testing::accepts_commands_of_pages::<Cli>("cwnd", 100);
    }

    #[test]
    fn the_command_line_is_consistent() {
        let refused = check::consistent::<Cli>(GROUPS);
        assert!(refused > 100, "{refused}");
    }

    #[test]
    fn what_has_moved_is_no_command_here() {
        for (name, now) in MOVED {
            let error = Cli::try_parse_from(["cwnd", "--memory", "1GB", name, "-x"]).unwrap_err();
            assert!(moved(&error).is_some_and(|line| line.contains(&format!("`{now}`"))), "{name}");
        }
        assert_eq!(moved(&Cli::try_parse_from(["cwnd", "nonsense"]).unwrap_err()), None);
    }
}
