//! The `cwnd` command: arguments and glue over `cwnd_lab`.
//!
//! Every command is a function from its arguments to the text for standard output. Progress, warnings and errors go to standard
//! error. Exit codes: 0 done, 1 a run failed, 2 the input is wrong and nothing was written, 128 and the number of the signal that
//! interrupted it; commands that use the network have more of them (`failure::Kind`). Programs with stacks of others (`foreign/`) hand them
//! to [`main`].

#![deny(clippy::print_stderr, reason = "`say!` does not panic where nobody can read what it says")]

#[macro_use]
mod output;

mod algorithms;
mod arguments;
mod bench;
mod clock;
mod compare;
mod conform;
mod docs;
mod doctor;
mod emulated;
mod evaluate;
mod failure;
mod figure;
mod files;
mod impairments;
mod link;
mod live;
mod meet;
mod model;
mod outcome;
mod overlay;
mod paper;
mod progress;
mod progress_lines;
mod run;
mod signals;
mod store;
mod sweep;
mod udt;
mod usage;

use std::env;
use std::ffi::OsString;
use std::io;
use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use clap_complete::Shell;
use cwnd_text::lines;

use failure::{Failure, Kind};

/// Congestion control: compare algorithms in a deterministic packet simulator
#[derive(Debug, Parser)]
#[command(name = "cwnd", version = cwnd_run::VERSION, after_help = EXAMPLES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
    /// Memory that all simulated runs together may use, as `4GB` [default: half of the machine's]
    #[arg(long, global = true, value_name = "SIZE", value_parser = memory)]
    memory: Option<u64>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// List the algorithms, or describe one with its parameters and source
    Algorithms(algorithms::Arguments),
    /// Compare algorithms on one path, each alone with equal flows
    Compare(Box<compare::Arguments>),
    /// Turn knobs in the browser and watch windows, queues and shares follow
    Live(live::Arguments),
    /// Simulate a scenario from a TOML file
    Run(run::Arguments),
    /// Run a scenario at many points with many seeds, on all cores or many machines
    Sweep(Box<sweep::Arguments>),
    /// Evaluate an algorithm under the headings of RFC 9743, beside Reno and CUBIC
    Evaluate(evaluate::Arguments),
    /// Judge congestion control clause by clause: RFC 5681, 9438, 9002, 9406, 3168, 7661 and the BBR draft
    Conform(Box<conform::Arguments>),
    /// Lay runs over each other in one report: results, scenarios, kernels' logs, qlog and captures
    Overlay(overlay::Arguments),
    /// Compute on paper: closed forms and the synchronous-feedback model, as tables
    #[command(subcommand)]
    Model(Box<model::Command>),
    /// Reproduce six papers: published, ours, tolerance and verdict of every table, figure and claim
    Paper(paper::Arguments),
    /// Send files and folders to whoever has the code that this prints, encrypted
    Send(Box<udt::files::offer::Arguments>),
    /// Receive files and folders from `cwnd send` or `cwnd serve`
    Recv(Box<udt::files::recv::Arguments>),
    /// Serve the files of a folder to those who have a code or a known key
    Serve(Box<udt::files::serve::TopArguments>),
    /// Print this user's public key, for servers that know their clients
    Key(udt::key::Arguments),
    /// Let two ends behind address translators find each other: `cwnd send --meet` and `cwnd recv --meet`
    Meet(meet::Arguments),
    /// Real datagrams
    #[command(subcommand)]
    Udt(Box<udt::Command>),
    /// Put an emulated link in front of the kernel's TCP
    Link(Box<link::Arguments>),
    /// Look for what on this host would hold a fast transfer back
    Doctor(doctor::Arguments),
    /// Measure the simulator itself
    #[command(subcommand)]
    Bench(bench::Command),
    /// Print the JSON Schema of scenario files, or of sweeps, for editors
    Schema {
        /// Of what
        #[arg(value_enum, default_value_t = docs::Schema::Scenario)]
        of: docs::Schema,
    },
    /// Print a completion script for a shell
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Print a page of the documentation that is generated from the code
    #[command(hide = true)]
    Docs {
        /// The page
        page: docs::Page,
    },
}

/// Does what the arguments of the process say; `stacks` are what others have written that can stand for an algorithm, by labels of the
/// form `stack:controller`.
#[must_use]
pub fn main(stacks: Vec<cwnd::Spec>) -> ExitCode {
    signals::start();
    cwnd_run::stacks::install(stacks);
    let words = arguments::join_negative(Cli::command(), env::args_os());
    let json = ends_with_object(&words);
    if json {
        // Until the command listens itself. Without a thread for signals they end the process, and the command says so.
        let _deaf = signals::listen(|| {
            report(&Failure::Interrupted, true);
            std::process::exit(Failure::Interrupted.code().into());
        });
    }
    let cli = parse(&words).unwrap_or_else(|error| refuse(&error, json));
    progress::allow(cli.memory);
    let printed = match cli.command {
        Command::Algorithms(arguments) => algorithms::run(&arguments),
        Command::Compare(arguments) => compare::run(&arguments),
        Command::Run(arguments) => run::run(&arguments),
        Command::Sweep(arguments) => sweep::run(&arguments),
        Command::Evaluate(arguments) => evaluate::run(&arguments),
        Command::Conform(arguments) => conform::run(&arguments),
        Command::Overlay(arguments) => overlay::run(&arguments),
        Command::Model(command) => model::run(&command),
        Command::Paper(arguments) => paper::run(&arguments),
        Command::Send(arguments) => udt::files::offer::run(&arguments),
        Command::Recv(arguments) => udt::files::recv::run(&arguments),
        Command::Serve(arguments) => udt::files::serve::run_top(&arguments),
        Command::Key(arguments) => udt::key::run(&arguments),
        Command::Meet(arguments) => meet::run(&arguments),
        Command::Udt(command) => udt::run(&command),
        Command::Link(arguments) => link::run(&arguments),
        Command::Live(arguments) => live::run(&arguments),
        Command::Doctor(arguments) => doctor::run(&arguments),
        Command::Bench(bench::Command::Sim(arguments)) => bench::run(*arguments),
        Command::Schema { of } => Ok(docs::schema(of)),
        Command::Completions { shell } => Ok(completions(shell)),
        Command::Docs { page } => docs::page(page),
    };
    if let (Ok(_), Some(_), false) = (&printed, cli.memory, progress::bounds_memory()) {
        say!("warning: --memory has no effect on this command");
    }
    let printed = printed.and_then(|text| print(&text));
    let printed = match printed {
        Ok(()) if json && output::is_closed() => Err(Failure::closed()),
        Err(Failure::Output(why)) if uses_network(&words) => Err(Failure::Transfer(Kind::File, why)),
        printed => printed,
    };
    match printed {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            report(&failure, json);
            ExitCode::from(failure.code())
        }
    }
}

/// Says why a command failed, for programs too if they asked for JSON.
fn report(failure: &Failure, json: bool) {
    // Causes of failures may repeat what a file or another host says.
    say!("error: {}", lines(&failure.to_string()));
    if json {
        // The exit code says the same to a reader that is gone.
        let _printed = print(&failure::last_line(failure.kind(), &failure.to_string()));
    }
}

/// Whether these words are those of a command that uses the network.
fn uses_network(words: &[OsString]) -> bool {
    words.get(1).is_some_and(|word| NETWORK.iter().any(|name| word == name))
}

/// Whether they also ask for JSON, whose last line then names the failure.
fn ends_with_object(words: &[OsString]) -> bool {
    let mut options = words.iter().take_while(|word| *word != "--");
    uses_network(words) && options.any(|word| word == "--json" || word == "--json-stream")
}

/// Ends the process for arguments that cannot be read, or with the help that they ask for.
fn refuse(error: &clap::Error, json: bool) -> ! {
    if error.use_stderr() && json {
        let text = error.to_string();
        let lines: Vec<&str> = text.lines().take_while(|line| !line.is_empty()).map(str::trim).collect();
        let _printed = print(&failure::last_line(Kind::Usage, lines.join(" ").trim_start_matches("error: ")));
    }
    error.exit()
}

fn memory(text: &str) -> Result<u64, cwnd::quantity::QuantityError> {
    cwnd::quantity::memory(text)
}

/// Reads the command line. Help is broken at the width of the terminal.
fn parse(words: &[OsString]) -> Result<Cli, clap::Error> {
    let mut command = unbroken(Cli::command());
    let matches = command.try_get_matches_from_mut(words)?;
    Cli::from_arg_matches(&matches).map_err(|error| error.format(&mut command))
}

/// Joins the lines of each paragraph after the options, in `command` and all below it: the terminal's width says where they break.
fn unbroken(command: clap::Command) -> clap::Command {
    let command = command.mut_subcommands(unbroken);
    let Some(help) = command.get_after_help().map(ToString::to_string) else { return command };
    let mut joined = String::new();
    let mut before = "";
    let mut lines = help.lines().peekable();
    while let Some(line) = lines.next() {
        let is_prose = |line: &str| !line.is_empty() && !line.starts_with(' ');
        let is_heading = line.ends_with(':') && lines.peek().is_some_and(|next| !is_prose(next));
        joined.push_str(if is_prose(before) && is_prose(line) && !is_heading { " " } else { "\n" });
        joined.push_str(line);
        before = line;
    }
    command.after_help(joined.trim_start_matches('\n').to_string())
}

fn completions(shell: Shell) -> String {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "cwnd", &mut script);
    String::from_utf8_lossy(&script).into_owned()
}

/// A reader that has seen enough closes the pipe, which is no failure.
fn print(text: &str) -> Result<(), Failure> {
    match output::write(text) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::Output(format!("cannot write to standard output: {error}")))
        }
        _ => Ok(()),
    }
}

/// The commands that use the network.
const NETWORK: [&str; 6] = ["link", "meet", "recv", "send", "serve", "udt"];

const EXAMPLES: &str = "\
Examples:
  cwnd live                                          turn knobs in the browser, watch windows and queues follow
  cwnd compare                                       Reno, CUBIC, BBRv3 and the papers' algorithms on one path
  cwnd compare 'rule:grow=2/w,cut=w*3/4' cubic       a rule of your own
  cwnd compare simd cubic --rate 1gbit --rtt 100ms   two of them on a long fat path
  cwnd compare simd --versus reno                    is it fair to Reno?
  cwnd algorithms simd                               its parameters, their ranges, its source
  cwnd model response reno simd highspeed            windows against loss, in closed form
  cwnd paper                                         what six papers printed, and what comes out here
  cwnd evaluate simd --quick                         the questions of RFC 9743, beside Reno and CUBIC
  cwnd sweep scenarios/sweep/buffers.toml            a scenario at many points, resumable, on many machines
  cwnd run scenarios/dumbbell.toml                   a scenario of your own
  cwnd run scenarios/dumbbell.toml --set dumbbell.queue=droptail:0.5bdp";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    /// Those whose help has the exit codes, and no others.
    #[test]
    fn the_commands_that_use_the_network_are_listed() {
        let has_codes = |command: &clap::Command| {
            command.get_after_help().is_some_and(|help| help.to_string().contains("no_answer"))
        };
        for command in Cli::command().get_subcommands() {
            let name = command.get_name();
            let mut all = command.get_subcommands().chain([command].into_iter().filter(|one| !one.has_subcommands()));
            assert_eq!(all.all(has_codes), NETWORK.contains(&name), "{name}");
        }
    }

    /// Every option of every command that takes a value, with values that mean nothing to it: the error names the option and says what
    /// is accepted, in words that are not those of the program's types.
    #[test]
    fn an_error_names_the_option_and_what_is_accepted() {
        let mut options = 0;
        for (path, option) in options_with_values(&Cli::command(), &["cwnd".to_string()]) {
            for value in ["nonsense", "-1", "1e30", "-5mbit", "18446744073709551616", ""] {
                let line = path.iter().cloned().chain([format!("--{option}={value}")]);
                let Err(error) = Cli::try_parse_from(line) else { continue };
                // An option that takes any text leaves what else is missing.
                if error.kind() != clap::error::ErrorKind::ValueValidation {
                    continue;
                }
                options += 1;
                let text = error.to_string();
                let named = format!("for '--{option}");
                assert!(text.contains(&named), "{path:?} --{option}={value}: {text}");
                let accepted = ["expected ", "accepted", "unknown algorithm", "possible values"];
                assert!(accepted.iter().any(|word| text.contains(word)), "{path:?} --{option}={value}: {text}");
                for foreign in
                    ["invalid digit", "u16", "u32", "u64", "usize", "f64", "cannot parse", "too large to fit"]
                {
                    assert!(!text.contains(foreign), "{path:?} --{option}={value}: {text}");
                }
            }
        }
        assert!(options > 200, "{options}");
    }

    /// The words before an option, and its name.
    fn options_with_values(command: &clap::Command, path: &[String]) -> Vec<(Vec<String>, String)> {
        let own = command.get_arguments().filter(|one| !matches!(one.get_action(), clap::ArgAction::SetTrue));
        let own = own.filter_map(|one| one.get_long()).map(|long| (path.to_vec(), long.to_string()));
        let below = command.get_subcommands().flat_map(|sub| {
            let path: Vec<String> = path.iter().cloned().chain([sub.get_name().to_string()]).collect();
            options_with_values(sub, &path)
        });
        own.chain(below).collect()
    }
}
