//! The project's own chores; `cargo xtask` lists them.
//!
//! A chore is a list of [`step::Step`]s, each with the programs it needs. Steps run one after the other, a failure does not stop
//! the rest, and the last line counts them. Standard library only: this crate is built before anything can be tested.

mod check;
mod generate;
mod machine;
mod python;
mod step;
mod suite;
mod tool;
mod validate;
mod workspace;

use std::process::ExitCode;

use machine::{Machine, free_megabytes};
use step::Step;
use workspace::Workspace;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let workspace = Workspace::here();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["test", names @ ..] => {
            warn_of_a_full_disk(&workspace);
            run(&[check::STEPS, suite::STEPS].concat(), names, &workspace)
        }
        ["check", names @ ..] => run(check::STEPS, names, &workspace),
        ["validate", names @ ..] => run(validate::STEPS, names, &workspace),
        ["generate"] => match generate::rewrite(&workspace) {
            Ok(()) => ExitCode::SUCCESS,
            Err(reason) => {
                eprintln!("error: {reason}");
                ExitCode::FAILURE
            }
        },
        [] | ["help" | "-h" | "--help"] => {
            print!("{USAGE}");
            ExitCode::SUCCESS
        }
        [unknown, ..] => usage_error(&format!("unknown chore `{unknown}`")),
    }
}

/// Runs the steps called `names`, or all of them.
fn run(steps: &[Step], names: &[&str], workspace: &Workspace) -> ExitCode {
    if let Some(unknown) = names.iter().find(|name| steps.iter().all(|step| step.name != **name)) {
        let known: Vec<_> = steps.iter().map(|step| step.name).collect();
        return usage_error(&format!("unknown step `{unknown}`; there are: {}", known.join(", ")));
    }
    let chosen: Vec<Step> =
        steps.iter().filter(|step| names.is_empty() || names.contains(&step.name)).copied().collect();
    let summary = step::run(&chosen, &Machine::here(), workspace);
    print!("\n{summary}");
    if summary.good() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// A build that finds no room ends in the middle, and not always with a message that says so.
fn warn_of_a_full_disk(workspace: &Workspace) {
    let target = workspace.target();
    if let Some(free) = free_megabytes(&target).filter(|free| *free < WHOLE_RUN_MEGABYTES) {
        let target = target.display();
        println!(
            "warning: {free} MB are free where {target} is; a whole run from nothing may take {WHOLE_RUN_MEGABYTES}"
        );
    }
}

fn usage_error(reason: &str) -> ExitCode {
    eprint!("error: {reason}\n\n{USAGE}");
    ExitCode::from(2)
}

/// What all steps may leave in an empty target folder. With `CARGO_INCREMENTAL=0` it is little more than half of that.
const WHOLE_RUN_MEGABYTES: u64 = 9000;

const USAGE: &str = "\
Usage: cargo xtask <CHORE>

  test [STEP]...   everything that can fail: the checks, then every test there is
  check [STEP]...  the quick part: format, lints, documentation, drift of generated files
  generate         rewrite the generated files
  validate [STEP]  compare with ns-3 (ns3) and the response functions (model), and rewrite docs/validation.md; measure UDT on
                   sockets (udt), and rewrite docs/udt.md and the times in docs/files.md

What a step needs and the machine lacks is installed on Debian when run as root. Elsewhere the step is skipped, and named at the
end; with CI=true a skipped step counts as failed.
";
