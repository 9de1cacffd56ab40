//! The tests: everything that runs code to see whether it is right.

use std::num::NonZero;
use std::path::Path;
use std::process::Command;
use std::{fs, io, thread};

use crate::passed::Part;
use crate::step::Step;
use crate::tool::{
    ADVISORIES, BROWSER_PACKAGES, CHECKERS, CHROMIUM, CMAKE, CROSS, CXX, FIREFOX, GO, LIBCLANG, LIBUDT, NODE, NPM,
    OLDEST_RUST, OTHER_TARGETS, PAGE_PACKAGES, PUBLIC_API, PYTHON, STD_SOURCE, TCPDUMP, TSHARK, WASM, checker,
    chromium, firefox, oldest_cargo,
};
use crate::workspace::{OPTIONAL, WITHOUT_ARROW, Workspace, run};
use crate::{evidence, packages, python};

/// The steps `cargo xtask test` adds to those of `cargo xtask check`.
pub(crate) const STEPS: &[Step] = &[
    Step {
        name: "tests",
        needs: &[],
        // Unit, integration and documentation tests, among them the replay of the fuzz corpora and the recorded digests.
        run: tests,
    },
    Step {
        name: "parquet",
        needs: &[],
        // By itself, because Arrow takes longer to build than all the rest: the crate, and the command that has it. Of the whole workspace,
        // so that packages that do not depend on Arrow have their features of the step `tests`, and are not compiled again; nor is Arrow in the
        // step `python`.
        run: |workspace| {
            let build = ["test", "--workspace", "--exclude", "cwnd-benches"];
            let test = |words: &[&str]| {
                let mut command = workspace.cargo(&build);
                run(command.args(OPTIONAL).args(["--features", "cwnd-cli/parquet,cwnd-py/tested"]).args(words))
            };
            test(&["--test", "back"])?;
            test(&["--test", "cli", "--", "traces", "sweeps"])
        },
    },
    Step {
        name: "determinism",
        needs: &[],
        // The digests recorded by and for debug builds must be those of a release build too. The command is named for its features: with
        // them this step compiles packages of the program that the papers run by.
        run: |workspace| {
            let packages = ["--package", "cwnd-sim", "--package", "cwnd-cli"];
            run(workspace.cargo(&["test", "--release"]).args(packages).args(["--test", "determinism"]))
        },
    },
    Step { name: "examples", needs: &[], run: examples },
    Step { name: "evidence", needs: &[], run: evidence::test },
    Step { name: "foreign", needs: &[], run: crate::foreign::test },
    Step { name: "interop", needs: &[&CXX, &LIBUDT, &TCPDUMP, &TSHARK], run: evidence::interop },
    Step { name: "papers", needs: &[], run: papers },
    Step { name: "python", needs: &[&PYTHON], run: python::test },
    Step {
        name: "browser",
        needs: &[&NODE, &NPM, &CHROMIUM, &FIREFOX, &BROWSER_PACKAGES, &PAGE_PACKAGES, &WASM, &STD_SOURCE],
        run: browser,
    },
];

/// The steps that `cargo xtask test --long` adds: what the ordinary tests ignore because it takes long.
pub(crate) const LONG: &[Step] = &[
    Step {
        name: "seeds",
        needs: &[],
        run: |workspace| {
            let test = ["test", "--package", "cwnd-udt", "--test", "simulation", "--", "--ignored", "--nocapture"];
            run(&mut workspace.cargo(&test))
        },
    },
    Step {
        name: "scenarios",
        needs: &[],
        run: |workspace| {
            let test = ["test", "--package", "cwnd-run", "--test", "it", "--", "--ignored", "--nocapture"];
            run(&mut workspace.cargo(&test))
        },
    },
    Step {
        name: "conformance",
        needs: &[],
        // Twenty seeds of all checks for our own senders, and all checks for each deliberate mistake.
        run: |workspace| {
            let test = ["test", "--package", "cwnd-conform", "--tests", "--", "--ignored", "--nocapture"];
            run(&mut workspace.cargo(&test))
        },
    },
    Step {
        name: "shares",
        needs: &[],
        run: |workspace| {
            let test =
                ["test", "--release", "--package", "cwnd-lab", "--test", "compare", "--", "--ignored", "--nocapture"];
            run(&mut workspace.cargo(&test))
        },
    },
    Step {
        name: "holes",
        needs: &[],
        // What BBR has over UDT where packets are lost: the table of docs/bbr.md.
        run: |workspace| {
            let test = ["test", "--package", "cwnd-udt", "--lib", "holes", "--", "--ignored", "--nocapture"];
            run(&mut workspace.cargo(&test))
        },
    },
    Step {
        name: "experiments",
        needs: &[],
        // The changes by which rows of papers match, those that take long.
        run: |workspace| {
            let test = ["test", "--release", "--package", "cwnd-papers", "--lib", "slow_experiment", "--", "--ignored"];
            run(&mut workspace.cargo(&test))
        },
    },
    Step { name: "alternatives", needs: &[], run: evidence::test_long },
    Step { name: "stacks", needs: &[], run: crate::foreign::test_long },
    Step { name: "boring", needs: &[&CMAKE, &CXX, &LIBCLANG], run: crate::foreign::test_boring },
    Step { name: "gvisor", needs: &[&CXX, &GO], run: crate::foreign::test_gvisor },
    Step { name: "museum", needs: &[&CMAKE, &CXX, &LIBCLANG], run: crate::foreign::museum },
    Step {
        name: "attacked",
        needs: &[],
        run: |workspace| {
            let test = ["test", "--package", "cwnd-secure", "--test", "simulated", "--", "--ignored", "--nocapture"];
            run(&mut workspace.cargo(&test))
        },
    },
    Step {
        name: "kills",
        needs: &[],
        run: |workspace| {
            let test = ["test", "--package", "cwnd-transfer", "--test", "cli", "--", "--ignored", "--nocapture"];
            run(workspace.cargo(&test).args(["--skip", "translators", "--skip", "every_value"]))
        },
    },
    Step {
        name: "flags",
        needs: &[],
        // Every flag of every command with every meaningless value.
        run: |workspace| {
            let packages = ["--package", "cwnd-cli", "--package", "cwnd-transfer"];
            let tests = ["--test", "cli", "--", "--ignored", "every_value"];
            run(workspace.cargo(&["test"]).args(packages).args(tests))
        },
    },
    Step {
        name: "translators",
        needs: &[],
        // Makes networks of its own, for which it must be root.
        run: |workspace| {
            let test = ["test", "--package", "cwnd-transfer", "--test", "cli", "--", "--ignored", "translators"];
            run(&mut workspace.cargo(&test))
        },
    },
    Step { name: "portability", needs: &[&OTHER_TARGETS, &CROSS], run: crate::portability::check },
    Step { name: "stranger", needs: &[], run: packages::use_them },
    Step { name: "api", needs: &[&PUBLIC_API], run: crate::api::check },
    Step {
        name: "oldest",
        needs: &[&OLDEST_RUST],
        // All crates at once, without features, by the oldest Rust that the workspace declares. What others depend on is in the step `features`.
        run: |workspace| run(oldest_cargo(workspace).args(["check", "--locked"]).args(WITHOUT_ARROW)),
    },
    Step {
        name: "advisories",
        needs: &[&PYTHON, &CHECKERS, &ADVISORIES],
        // Known vulnerabilities of dependencies. They change without a change here, so that no ordinary run fails by them.
        run: |workspace| {
            let check = ["--locked", "check", "--disable-fetch", "--hide-inclusion-graph", "advisories"];
            run(checker(workspace, "cargo-deny").args(check))
        },
    },
];

/// Parts of the steps of `cargo xtask test`, which run when they are named.
pub(crate) const PARTS: &[Step] = &[Step { name: "attacks", needs: &[], run: attacks }];

/// Every attack of SECURITY.md: on the protocol in memory and by the corpora of fuzzing, on a port and on a transfer, on the servers of
/// the command, and by files that a stranger made.
fn attacks(workspace: &Workspace) -> Result<(), String> {
    let tests: [(&str, &[&str], &[&str]); 16] = [
        ("cwnd-udt", &["--lib"], &["refused", "proof", "allowance", "endpoint", "places", "quota", "buffer"]),
        ("cwnd-udt", &["--test", "corpus"], &[]),
        ("cwnd-net", &["--lib"], &["bundle"]),
        ("cwnd-net", &["--test", "attacks", "--test", "load"], &[]),
        ("cwnd-files", &["--lib", "--test", "attacks", "--test", "corpus"], &[]),
        ("cwnd-files", &["--test", "transfer"], &["link"]),
        ("cwnd-secure", &[], &[]),
        ("cwnd-meet", &[], &[]),
        (
            "cwnd-live",
            &["--test", "server"],
            &["halves_of_requests", "connections_are_limited", "requests_are_bounded"],
        ),
        ("cwnd-transfer", &["--bin", "udt"], &["clients", "demo", "exchange", "share"]),
        (
            "cwnd-transfer",
            &["--test", "cli"],
            &["attacks", "secure", "a_change_of_what_is_kept", "inputs", "a_disk_without_room"],
        ),
        ("cwnd-cli", &["--test", "cli"], &["names", "a_command_that_is_past", "inputs"]),
        ("cwnd-text", &[], &[]),
        ("cwnd-lab", &["--lib"], &["memory_grows_with_the_file"]),
        ("cwnd-run", &["--lib"], &["a_crowd_of_demands", "files::read"]),
        ("cwnd-sim", &["--test", "it"], &["progress_is_asked"]),
    ];
    for (package, targets, filters) in tests {
        run(workspace.cargo(&["test", "--package", package]).args(targets).arg("--").args(filters))?;
    }
    Ok(())
}

fn tests(workspace: &Workspace) -> Result<(), String> {
    let mut tests = workspace.cargo(&["test", "--no-fail-fast"]);
    if std::env::var_os("RUST_TEST_THREADS").is_none() {
        // Those of sockets and of the command wait most of their time: twice as many threads as processors.
        let processors = thread::available_parallelism().map_or(1, NonZero::get);
        tests.env("RUST_TEST_THREADS", (2 * processors).to_string());
    }
    run(tests.args(WITHOUT_ARROW).args(OPTIONAL))
}

/// Whether papers agree with the records: all, or the shortest if all passed with unchanged inputs.
fn papers(workspace: &Workspace) -> Result<(), String> {
    // Nothing stored: the records must result from this program alone.
    let check = ["--quick", "--check", "--no-store"];
    // All of them take longer than to compile the program optimised.
    let all = |workspace: &Workspace| run(workspace.cargo(&["run", "--release", "--", "paper"]).args(check));
    PAPERS.run(workspace, all, |workspace| run(programmed(workspace)?.args(["paper", "newaimd"]).args(check)))
}

/// `cwnd` as it is built for the tests.
fn programmed(workspace: &Workspace) -> Result<Command, String> {
    workspace.build()?;
    let mut command = Command::new(workspace.program("cwnd"));
    command.current_dir(workspace.path("."));
    Ok(command)
}

/// The papers, and all that a run goes through.
const PAPERS: Part = Part {
    step: "papers",
    trees: &[&["--package", "cwnd-papers"]],
    paths: &["Cargo.lock", "Cargo.toml", "papers", "rust-toolchain.toml"],
};

/// Tests the examples outside of the repository, as a stranger would who copies one and depends on the library.
fn examples(workspace: &Workspace) -> Result<(), String> {
    let outside = std::env::temp_dir().join(format!("cwnd-examples-{}", std::process::id()));
    let tested = ["own-controller", "own-stack"].into_iter().try_for_each(|name| {
        let directory = outside.join(name);
        moved(workspace, name, &directory).map_err(|error| format!("{}: {error}", directory.display()))?;
        [["clippy", "--all-targets", "--", "-D", "warnings"].as_slice(), &["test"]].into_iter().try_for_each(
            |arguments| {
                let mut command = workspace.cargo(&PROFILE.map(|setting| ["--config", setting]).concat());
                if std::env::var_os(DEBUG).is_none() {
                    command.env(DEBUG, "line-tables-only");
                }
                run(command.args(arguments).current_dir(&directory).env("CARGO_TARGET_DIR", workspace.target()))
            },
        )
    });
    let removed = fs::remove_dir_all(&outside).map_err(|error| format!("{}: {error}", outside.display()));
    tested.and(removed)
}

/// Settings of `Cargo.toml` by which examples take the packages that the tests have compiled.
const PROFILE: [&str; 10] = [
    "profile.dev.build-override.debug=false",
    "profile.dev.package.'*'.opt-level=0",
    "profile.dev.package.blake3.opt-level=1",
    "profile.dev.package.libm.opt-level=1",
    "profile.dev.package.cwnd.opt-level=3",
    "profile.dev.package.cwnd-model.opt-level=1",
    "profile.dev.package.cwnd-sim.opt-level=3",
    "profile.dev.package.cwnd-stack.opt-level=1",
    "profile.dev.package.cwnd-trace.opt-level=1",
    "profile.dev.package.cwnd-udt.opt-level=1",
];

/// The variable that `.ci/run` sets; `Cargo.toml` has the default.
const DEBUG: &str = "CARGO_PROFILE_DEV_DEBUG";

/// Copies the example `name` to `directory`, where it depends on the crates of this repository by their paths.
fn moved(workspace: &Workspace, name: &str, directory: &Path) -> io::Result<()> {
    let from = workspace.path("examples").join(name);
    fs::create_dir_all(directory.join("src"))?;
    for source in fs::read_dir(from.join("src"))? {
        let source = source?;
        fs::copy(source.path(), directory.join("src").join(source.file_name()))?;
    }
    fs::copy(from.join("conform.txt"), directory.join("conform.txt"))?;
    let crates = format!("\"{}/", workspace.path("crates").display());
    let manifest = fs::read_to_string(from.join("Cargo.toml"))?.replace("\"../../crates/", &crates);
    fs::write(directory.join("Cargo.toml"), manifest)?;
    // The versions that everything else here is tested with.
    fs::copy(workspace.path("Cargo.lock"), directory.join("Cargo.lock")).map(drop)
}

/// Opens the pages of short runs in a browser, and the page of `cwnd live` in two.
fn browser(workspace: &Workspace) -> Result<(), String> {
    let out = workspace.scratch().join("pages");
    match fs::remove_dir_all(&out) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(format!("{}: {error}", out.display())),
        _ => {}
    }
    fs::create_dir_all(&out).map_err(|error| format!("{}: {error}", out.display()))?;
    let (compare, paper, conform) = (out.join("compare"), out.join("paper"), out.join("conform.html"));
    let sweep = out.join("sweep");
    // Unoptimised: what these runs compute takes less than to compile the program again.
    let cwnd = |arguments: &[&str], file: &Path| run(programmed(workspace)?.args(arguments).arg(file));
    cwnd(&["compare", "--duration", "5s", "--warmup", "1s", "--out"], &compare)?;
    cwnd(&["paper", "newaimd", "--quick", "--no-store", "--out"], &paper)?;
    cwnd(&["conform", "cubic", "--check", "9438-beta", "--html"], &conform)?;
    let buffers =
        ["sweep", "scenarios/sweep/buffers.toml", "--set", "duration=10s", "--set", "warmup=2s", "--no-store"];
    cwnd(&[&buffers[..], &["--out"]].concat(), &sweep)?;
    let evaluate = out.join("evaluate");
    cwnd(&["evaluate", "bbr3", "--quick", "--no-store", "--out"], &evaluate)?;
    let program = chromium().ok_or("chromium is missing")?;
    let report = compare.join("report.html");
    run(Command::new("node").arg(workspace.path("tests/browser/report.mjs")).arg(&report).arg(&program))?;
    let made = [paper.join("index.html"), paper.join("newaimd.html"), conform];
    let directories = [sweep, evaluate].map(|directory| directory.join("report.html"));
    let pages = [report].into_iter().chain(made).chain(directories);
    run(Command::new("node").arg(workspace.path("tests/browser/pages.mjs")).arg(&program).args(pages))?;
    // The page in the program is the one that its sources make.
    let page = workspace.path("crates/cwnd-live/page");
    run(Command::new("npm").args(["run", "--silent", "check"]).current_dir(&page))?;
    run(Command::new("node").args(["build.mjs", "--compare"]).current_dir(&page))?;
    let command = workspace.program("cwnd");
    run(Command::new("node").arg(workspace.path("tests/browser/live.mjs")).arg(&command).arg(program))?;
    // The live page with its engine in a worker.
    let module = crate::engine::build(workspace)?;
    let site = out.join("site");
    run(programmed(workspace)?.arg("site").arg(&site).arg("--engine").arg(module))?;
    let chromium = chromium().ok_or("chromium is missing")?;
    let program = firefox().ok_or("firefox is missing")?;
    for browser in [&chromium, &program] {
        run(Command::new("node").arg(workspace.path("tests/browser/site.mjs")).args([&command, &site]).arg(browser))?;
    }
    run(Command::new("node").arg(workspace.path("tests/browser/firefox.mjs")).arg(command).arg(program))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tests_that_steps_name_exist() {
        let workspace = Workspace::here();
        let sources = [include_str!("suite.rs"), include_str!("portability.rs")];
        let mut named = 0;
        for rest in sources.iter().flat_map(|source| source.split("\"--test\",").skip(1)) {
            let name = rest.split('"').nth(1).unwrap_or_default();
            let is_there = |package: &String| {
                ["", "/main"].iter().any(|main| workspace.path(&format!("{package}/tests/{name}{main}.rs")).is_file())
            };
            let packages = crate::packages::directories(&workspace).unwrap();
            named += 1;
            assert!(packages.iter().any(is_there), "no package has the test `{name}`");
        }
        assert!(named > 10, "{named}");
    }
}
