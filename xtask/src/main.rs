//! The project's own tasks; `cargo xtask` lists them.
//!
//! A task is a list of [`step::Step`]s, each with the tools it needs. Steps run one after the other, a failure does not stop
//! the rest, and the last line counts them. Standard library only: this crate is built before anything can be tested.

mod api;
mod book;
mod budget;
mod check;
mod dist;
mod engine;
mod evidence;
mod foreign;
mod generate;
mod licences;
mod links;
mod machine;
mod packages;
mod passed;
mod portability;
mod prose;
mod python;
mod release;
mod searches;
mod site;
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
    if let Some((task, rest)) = arguments.split_first()
        && let Some(command) = program(task)
    {
        let rest = if rest.first().is_some_and(|first| first == "--") { &rest[1..] } else { rest };
        return command(&Workspace::here(), rest);
    }
    let (options, words): (Vec<&str>, Vec<&str>) =
        arguments.iter().map(String::as_str).partition(|word| word.starts_with("--"));
    let mut workspace = Workspace::here();
    let (task, names) = match words.split_first() {
        Some((task, names)) if !options.contains(&"--help") => (*task, names),
        _ => ("help", [].as_slice()),
    };
    if let Some(reason) = refused(task, names, &options) {
        return usage_error(&reason);
    }
    let install = options.contains(&"--setup");
    workspace.whole = options.contains(&"--long") || !names.is_empty();
    match task {
        "setup" => setup(names, &workspace),
        "check" => run(check::STEPS, names, install, &workspace),
        "test" => {
            warn_of_a_full_disk(&workspace);
            let long = if workspace.whole { suite::LONG } else { &[] };
            // A whole run has them within its other steps.
            let parts = if names.is_empty() { &[] } else { suite::PARTS };
            run(&[check::STEPS, suite::STEPS, long, parts].concat(), names, install, &workspace)
        }
        "validate" => run(validate::STEPS, names, install, &workspace),
        "release" if options.contains(&"--check") => ended(release::check(&workspace)),
        "release" => usage_error("`release` has one form, `release --check`: a person publishes"),
        "engine" => ended(engine::build(&workspace).map(|module| println!("{}", module.display()))),
        "dist" if options.len() > 1 => usage_error("`dist` takes one of `--deb`, `--static` and `--twice`"),
        "dist" if options.contains(&"--twice") => {
            ended(dist::twice(&workspace).map(|archive| println!("{}", archive.display())))
        }
        "dist" if options.contains(&"--static") => {
            ended(dist::without_libraries(&workspace).map(|archive| println!("{}", archive.display())))
        }
        "dist" if options.contains(&"--deb") => {
            ended(dist::debian(&workspace).map(|archive| println!("{}", archive.display())))
        }
        "dist" => ended(dist::build(&workspace).map(|archive| println!("{}", archive.display()))),
        "licences" => match names {
            [product, file] => ended(licences(&workspace, product, file)),
            _ => usage_error("`licences` takes a product and the file to write"),
        },
        "api" => ended(api::rewrite(&workspace)),
        "generate" => ended(generate::rewrite(&workspace)),
        "museum" if options.is_empty() => match names {
            [] => ended(foreign::museum(&workspace)),
            _ => usage_error("`museum` takes groups with `--search` alone"),
        },
        "museum" => match names.iter().find(|name| !searches::GROUPS.contains(name)) {
            None if names.is_empty() => ended(foreign::search(&workspace, &searches::GROUPS)),
            None => ended(foreign::search(&workspace, names)),
            Some(unknown) => {
                usage_error(&format!("unknown group `{unknown}`; there are: {}", searches::GROUPS.join(", ")))
            }
        },
        "book" => match names {
            [directory] => ended(book::write(&workspace, directory.as_ref())),
            _ => usage_error("`book` takes the directory to write"),
        },
        "site" => match names {
            [directory] => ended(site::write(&workspace, directory.as_ref())),
            _ => usage_error("`site` takes the directory to write"),
        },
        "help" => {
            print!("{USAGE}");
            ExitCode::SUCCESS
        }
        unknown => usage_error(&format!("unknown task `{unknown}`")),
    }
}

/// The reason why a task does not take these words and options. A word that a task ignored would let it run for minutes, without its option.
fn refused(task: &str, names: &[&str], options: &[&str]) -> Option<String> {
    let known: &[&str] = match task {
        "test" => &["--long", "--setup"],
        "check" | "validate" => &["--setup"],
        "release" => &["--check"],
        "museum" => &["--search"],
        "dist" => &["--deb", "--static", "--twice"],
        "help" => &["--help"],
        _ => &[],
    };
    if let Some(unknown) = options.iter().find(|option| !known.contains(option)) {
        return Some(format!("`{task}` has no option `{unknown}`"));
    }
    let word = names.first().filter(|_| ["api", "dist", "engine", "generate", "release"].contains(&task))?;
    Some(format!("`{task}` takes no `{word}`"))
}

/// The task that hands its arguments on to a program outside of the workspace.
fn program(task: &str) -> Option<fn(&Workspace, &[String]) -> ExitCode> {
    match task {
        "evidence" => Some(evidence::command),
        "foreign" => Some(foreign::command),
        "papers" => Some(evidence::papers),
        _ => None,
    }
}

/// Writes the licences of a product.
fn licences(workspace: &Workspace, product: &str, file: &str) -> Result<(), String> {
    let found = licences::PRODUCTS.into_iter().find(|known| known.name == product);
    let found = found.ok_or_else(|| {
        format!("unknown product `{product}`; there are: {}", licences::PRODUCTS.map(|known| known.name).join(", "))
    })?;
    let text = licences::Licences::of(workspace, found)?.text;
    std::fs::write(file, text).map_err(|error| format!("{file}: {error}"))
}

fn ended(result: Result<(), String>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            eprintln!("error: {reason}");
            ExitCode::FAILURE
        }
    }
}

/// Runs the steps called `names`, or all of them.
fn run(steps: &[Step], names: &[&str], install: bool, workspace: &Workspace) -> ExitCode {
    let chosen = match choose(steps, names) {
        Ok(chosen) => chosen,
        Err(reason) => return usage_error(&reason),
    };
    let machine = Machine::here();
    if install || machine.ci {
        // Tools that are still missing are named below, and their steps are skipped.
        step::install(&chosen, &machine, workspace).iter().for_each(|failure| println!("not installed: {failure}"));
    }
    if let Some(missing) = step::missing(&chosen, workspace) {
        println!("{missing}");
    }
    let summary = step::run(&chosen, &machine, workspace);
    print!("\n{summary}");
    if summary.passed() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Installs what the steps called `names` need; those of `test` if there are none.
fn setup(names: &[&str], workspace: &Workspace) -> ExitCode {
    let tests = [check::STEPS, suite::STEPS].concat();
    let all = [&tests, suite::LONG, validate::STEPS].concat();
    let chosen = match choose(if names.is_empty() { &tests } else { &all }, names) {
        Ok(chosen) => chosen,
        Err(reason) => return usage_error(&reason),
    };
    let failures = step::install(&chosen, &Machine::here(), workspace);
    failures.iter().for_each(|failure| eprintln!("not installed: {failure}"));
    if failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The steps called `names`, or all of them.
fn choose(steps: &[Step], names: &[&str]) -> Result<Vec<Step>, String> {
    if let Some(unknown) = names.iter().find(|name| steps.iter().all(|step| step.name != **name)) {
        let known: Vec<_> = steps.iter().map(|step| step.name).collect();
        return Err(format!("unknown step `{unknown}`; there are: {}", known.join(", ")));
    }
    Ok(steps.iter().filter(|step| names.is_empty() || names.contains(&step.name)).copied().collect())
}

/// A build on a full disk fails, and not always with a message that names the reason.
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

/// The maximum size of a target directory after all steps. With `CARGO_INCREMENTAL=0` it is little more than half of that.
const WHOLE_RUN_MEGABYTES: u64 = 9000;

const USAGE: &str = "\
Usage: cargo xtask <TASK>

  setup [STEP]...            install what the steps of `test` need, or the named steps
  check [--setup] [STEP]...  the quick part: format, lints, documentation, spelling, prose, links, dependencies, features, generated files
  test [--setup] [--long] [STEP]...
                             everything that can fail: the checks, then every test; --long adds a quarter of an hour: ten
                             thousand seeds of the UDT simulation and two hundred killed transfers. The step `attacks`,
                             which is a part of `tests`, runs by its name alone
  foreign -- ARGUMENTS       the command `cwnd` with released stacks of others beside its algorithms: foreign -- compare quinn:cubic cubic
  engine                     build the simulator for browsers: target/engine/cwnd.wasm, which `cwnd site` takes
  evidence -- ARGUMENTS      the program of `evidence/`, which `validate` runs, with parts and cases of its own: evidence -- udt paths
  papers CHORE               record what comes of papers: papers record aiad; papers alternatives aiad fig-5 --record; papers ablate
  dist [--twice | --deb | --static]
                             the archive of a release with its checksum, below target/dist: programs, manual pages, completions, licences;
                             --twice builds it again in a clone, and compares the bytes; --deb adds Debian packages; --static is `cwnd` alone, with musl
  licences PRODUCT FILE      write the licences of all that a product contains: python, programs or engine; `dist` and `engine` write them, too
  generate                   rewrite the generated files
  api                        rewrite the lists of the public items of published crates, xtask/api, which `test --long` compares
  museum [--search [GROUP]...]
                             look for published faults of stacks in the releases before and after, and write docs/museum.md; --search
                             lets `cwnd falsify` find them, and writes foreign/museum/searched.txt and the table in docs/falsify.md
  release --check            go through the checklist of a release: docs/releases.md
  book DIR                   write all pages, the generated ones whole, into a directory for mdBook, and check their links
  site DIR                   write the book, the references of Rust and Python, and the laboratory, and check all links: docs/releases.md
  validate [--setup] [STEP]  compare with ns-2 (ns2), ns-3 (ns3), the kernel's TCP (linux) and the response functions
                             (model), and rewrite evidence/*/results.md; measure UDT on sockets (udt), and rewrite docs/udt.md and the times in
                             docs/files.md; draw the plots of their last runs (plots)

A step that needs a tool the machine lacks is skipped; the missing tools are named at the start. `setup`, or the option
--setup, installs them: Debian packages where it runs as root, the rest for this repository or by rustup. With CI=true
`check`, `test` and `validate` start with a setup, and a skipped step counts as failed.
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_takes_its_own_words_and_options() {
        assert_eq!(refused("dist", &[], &["--deb"]), None);
        assert_eq!(refused("site", &["dir"], &[]), None);
        assert!(refused("dist", &[], &["--debian"]).is_some());
        for task in ["api", "dist", "engine", "generate", "release"] {
            assert_eq!(refused(task, &["deb"], &[]), Some(format!("`{task}` takes no `deb`")));
        }
    }

    #[test]
    fn the_pages_name_tasks_and_steps_that_exist() {
        let workspace = Workspace::here();
        let mut files = Vec::new();
        prose::walk(&workspace.path(""), "", &mut files).expect("the repository can be read");
        let all = [check::STEPS, suite::STEPS, suite::LONG, suite::PARTS, validate::STEPS].concat();
        let (mut seen, mut wrong) = (0, Vec::new());
        for file in files.iter().filter(|file| file.ends_with(".md")) {
            let text = std::fs::read_to_string(workspace.path(file)).expect("a page is text");
            for rest in text.split("cargo xtask ").skip(1) {
                seen += 1;
                let command = rest.split(['`', '\n', '#', ';']).next().unwrap_or_default();
                let mut words = command.split_whitespace().map(|word| word.trim_end_matches([',', '.']));
                let task = words.next().unwrap_or_default();
                let listed = USAGE.contains(&format!("\n  {task} "));
                let takes_steps = ["setup", "check", "test", "validate"].contains(&task);
                let is_step = |word: &str| all.iter().any(|step| step.name == word);
                let unknown = words.find(|word| takes_steps && !word.starts_with("--") && !is_step(word));
                if !listed || unknown.is_some() {
                    wrong.push(format!("{file}: cargo xtask {command}"));
                }
            }
        }
        assert!(seen > 50 && wrong.is_empty(), "{seen} commands; {wrong:?}");
    }
}
