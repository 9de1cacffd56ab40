//! Released stacks of others, in workspaces of their own below `foreign/`.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use crate::passed::Part;
use crate::searches;
use crate::workspace::{Workspace, output, run, run_program, shown};

/// `cargo xtask foreign -- ARGUMENTS`: builds the program that has what the arguments and the files in them name, and runs it where the command was
/// given. The command `qlog` is [`logged`].
pub(crate) fn command(workspace: &Workspace, arguments: &[String]) -> ExitCode {
    let (program, name) = program_of(arguments);
    let mut build = cargo(workspace, program, &["build", "--quiet", "--release", "--locked"]);
    let program = target(workspace).join("release").join(name);
    match arguments {
        [word, scenario, options @ ..] if word == "qlog" => {
            match run(&mut build).and_then(|()| logged(workspace, &program, scenario, options)) {
                Ok(()) => ExitCode::SUCCESS,
                Err(reason) => {
                    eprintln!("error: {reason}");
                    ExitCode::FAILURE
                }
            }
        }
        _ => run_program(build, Command::new(program).args(arguments).env("CWND_STACKS", releases(workspace))),
    }
}

/// The directory and the name of the program that has all of what `arguments` name.
fn program_of(arguments: &[String]) -> (&'static str, &'static str) {
    let files = arguments.iter().filter(|argument| argument.ends_with(".toml"));
    let texts: Vec<String> =
        arguments.iter().cloned().chain(files.filter_map(|file| fs::read_to_string(file).ok())).collect();
    let names = |names: &[&str]| texts.iter().any(|text| names.iter().any(|name| text.contains(name)));
    if names(&IN_KNOWN_BAD) {
        (KNOWN_BAD, "cwnd-foreign-known-bad")
    } else if names(&IN_BORING) {
        (BORING, "cwnd-foreign-boring")
    } else if names(&IN_GVISOR) {
        (GVISOR, "cwnd-foreign-gvisor")
    } else {
        ("foreign", "cwnd-foreign")
    }
}

/// The releases of the stacks whose names have none, from the lock files: `quinn=0.11.19,…`. They are a part of the names of recorded
/// flows in links.
fn releases(workspace: &Workspace) -> String {
    let read = |path: &str| fs::read_to_string(workspace.path(path)).unwrap_or_default();
    let locks = [read("foreign/Cargo.lock"), read("foreign/boring/Cargo.lock")];
    let locked = PACKAGES.iter().filter_map(|(stack, package)| {
        let name = format!("name = \"{package}\"\nversion = \"");
        // Of several releases the newest is the last.
        let release = locks.iter().find_map(|lock| lock.rsplit_once(&name)?.1.split('"').next())?;
        Some(format!("{stack}={release}"))
    });
    let module = read(&format!("{NETSTACK}/go.mod"));
    let gvisor = module.split_once("gvisor.dev/gvisor ").and_then(|(_, rest)| rest.split_whitespace().next());
    locked.chain(gvisor.map(|release| format!("gvisor={release}"))).collect::<Vec<_>>().join(",")
}

/// `cargo xtask foreign -- qlog SCENARIO OPTIONS`: runs a scenario with senders that write their own logs, and lays the logs over the samples of the
/// simulator by `cwnd overlay` with these options.
fn logged(workspace: &Workspace, program: &Path, scenario: &str, options: &[String]) -> Result<(), String> {
    let scratch = workspace.scratch().join("qlog");
    let fault = |error: io::Error| format!("{}: {error}", scratch.display());
    let [logs, results] = ["logs", "run"].map(|name| scratch.join(name));
    if scratch.exists() {
        fs::remove_dir_all(&scratch).map_err(fault)?;
    }
    fs::create_dir_all(&logs).map_err(fault)?;
    let mut once = Command::new(program);
    once.args(["run", scenario, "--seeds", "1", "--out"]).arg(&results).env("QLOGDIR", &logs).stdout(Stdio::null());
    run(&mut once)?;
    let mut files = fs::read_dir(&logs).and_then(Iterator::collect::<io::Result<Vec<_>>>).map_err(fault)?;
    if files.is_empty() {
        return Err(format!("no sender of {scenario} writes a log: those of `quinn:…` do (docs/foreign.md)"));
    }
    files.sort_by_key(fs::DirEntry::file_name);
    let mut overlay = Command::new(program);
    overlay.arg("overlay").arg(results).args(files.iter().map(fs::DirEntry::path));
    overlay.args(["--label", "samples", "--offset", "0s"]);
    for (nth, file) in (1..).zip(&files) {
        let text = fs::read_to_string(file.path()).map_err(fault)?;
        let begin = begin_ms(&text).ok_or_else(|| format!("{} has no event", file.path().display()))?;
        overlay.arg("--label").arg(format!("own log {nth}")).arg("--offset").arg(format!("{begin}ms"));
    }
    run(overlay.args(options))
}

/// The time of the first event of a log, milliseconds of the clock of the simulation: that of `cwnd overlay` begins with each log.
fn begin_ms(log: &str) -> Option<&str> {
    let (_, event) = log.split_once("\"time\":")?;
    event.split(',').next()
}

/// The step of `test`: all stacks, or one stack in the simulator if all passed with unchanged inputs.
pub(crate) fn test(workspace: &Workspace) -> Result<(), String> {
    PART.run(workspace, whole, |workspace| {
        run(cargo(workspace, "foreign", &TESTS).args(["--test", "stacks", "each_fills_a_line_alone"]))
    })
}

/// Lints, the tests of the stacks by debug builds of the libraries alone, and a transfer between two processes.
fn whole(workspace: &Workspace) -> Result<(), String> {
    let bad = ["--features", "known-bad"];
    let clippy = ["clippy", "--locked", "--workspace", "--no-default-features", "--all-targets"];
    for (program, features) in [("foreign", [].as_slice()), (KNOWN_BAD, &bad), (COPY, &[])] {
        run(cargo(workspace, program, &clippy).args(features).args(["--", "--deny", "warnings"]))?;
    }
    run(cargo(workspace, "foreign", &TESTS).args(["--test", "conform", "--test", "ours", "--test", "stacks"]))?;
    run(cargo(workspace, "foreign", &TESTS).args(["--doc", "--package", "cwnd-foreign", "--package", "cwnd-quic"]))?;
    run(cargo(workspace, KNOWN_BAD, &TESTS).args(bad).args(["--test", "departures"]))?;
    // Of the whole workspace: by itself it would be compiled again, with fewer features.
    workspace.build()?;
    let command = workspace.program("udt");
    run(cargo(workspace, COPY, &["test", "--locked"]).env("CWND_COMMAND", command))
}

/// The step of `test --long`: our algorithms in two foreign stacks, compared with the algorithms behind our own senders.
pub(crate) fn test_long(workspace: &Workspace) -> Result<(), String> {
    let tests = ["test", "--locked", "--release", "--no-default-features", "--test", "ours", "--", "--ignored"];
    run(&mut cargo(workspace, "foreign", &tests))
}

/// The step of `test --long`: lints and tests of the stacks that need BoringSSL, which takes minutes to build.
pub(crate) fn test_boring(workspace: &Workspace) -> Result<(), String> {
    let clippy =
        ["clippy", "--locked", "--release", "--no-default-features", "--all-targets", "--", "--deny", "warnings"];
    run(&mut cargo(workspace, BORING, &clippy))?;
    run(&mut cargo(workspace, BORING, &["test", "--locked", "--release", "--no-default-features"]))
}

/// The step of `test --long`: lints and tests of gVisor's netstack, which Go builds.
pub(crate) fn test_gvisor(workspace: &Workspace) -> Result<(), String> {
    let go = workspace.path(NETSTACK);
    let unformatted = output(Command::new("gofmt").args(["-l", "."]).current_dir(&go))?;
    if !unformatted.is_empty() {
        return Err(format!(
            "gofmt would change in {NETSTACK}: {}",
            unformatted.split_whitespace().collect::<Vec<_>>().join(", ")
        ));
    }
    run(Command::new("go").args(["vet", "-mod=readonly", "."]).current_dir(go))?;
    let clippy = ["clippy", "--locked", "--no-default-features", "--all-targets", "--", "--deny", "warnings"];
    run(&mut cargo(workspace, GVISOR, &clippy))?;
    run(&mut cargo(workspace, GVISOR, &TESTS))
}

/// `cargo xtask museum`: looks for published faults in the releases before and after, and writes the page.
pub(crate) fn museum(workspace: &Workspace) -> Result<(), String> {
    let mut lines = String::new();
    for (program, name, profile, features) in MUSEUM.into_iter().chain(GVISOR_MUSEUM) {
        run(&mut build_museum(workspace, program, name, profile, features))?;
        lines += &printed(&mut Command::new(museum_of(workspace, name, profile)))?;
    }
    let measured = workspace.scratch().join("museum.txt");
    let fault = |error| format!("{}: {error}", measured.display());
    fs::create_dir_all(workspace.scratch()).and_then(|()| fs::write(&measured, lines)).map_err(fault)?;
    let (_, name, profile, _) = MUSEUM[0];
    let mut page = Command::new(museum_of(workspace, name, profile));
    let page = printed(page.arg("page").stdin(File::open(&measured).map_err(fault)?))?;
    fs::write(workspace.path(MUSEUM_PAGE), page).map_err(|error| format!("{MUSEUM_PAGE}: {error}"))?;
    println!("wrote {MUSEUM_PAGE}");
    Ok(())
}

/// `cargo xtask museum --search`: searches for the published faults of `groups`, and writes the record and its table.
pub(crate) fn search(workspace: &Workspace, groups: &[&str]) -> Result<(), String> {
    let settings = searches::settings(workspace, groups)?;
    for (program, name, _, features) in MUSEUM {
        let mut build = build_museum(workspace, program, name, "release", features);
        if program == KNOWN_BAD {
            // One of the faults shows where overflows are checked.
            build.args(["--config", "profile.release.package.noq-proto.overflow-checks=true"]);
        }
        run(&mut build)?;
    }
    let program = |name| Command::new(museum_of(workspace, name, "release"));
    let mut record = String::new();
    for group in groups {
        let mut lines = String::new();
        for (_, name, ..) in MUSEUM {
            // The algorithms of the registry are in all programs.
            let own: &[&str] = if name == MUSEUM[0].1 { &["own"] } else { &[] };
            lines += &printed(program(name).args(["search", group]).args(own))?;
        }
        record = searches::record(workspace, group, &settings, &lines)?;
    }
    let written = workspace.scratch().join("searched.txt");
    let fault = |error| format!("{}: {error}", written.display());
    fs::create_dir_all(workspace.scratch()).and_then(|()| fs::write(&written, record)).map_err(fault)?;
    let table = printed(program(MUSEUM[0].1).arg("searched").stdin(File::open(&written).map_err(fault)?))?;
    searches::show(workspace, &table)
}

/// Builds a program of the museum.
fn build_museum(workspace: &Workspace, program: &str, name: &str, profile: &str, features: &str) -> Command {
    let build = ["build", "--locked", "--no-default-features", "--bin", name, "--profile", profile];
    let mut build = cargo(workspace, program, &build);
    build.args(["--features", features]);
    build
}

/// What a program prints.
fn printed(command: &mut Command) -> Result<String, String> {
    println!("$ {}", shown(command));
    let output = command.stderr(Stdio::inherit()).output();
    let output = output.map_err(|error| format!("`{}` did not start: {error}", shown(command)))?;
    if !output.status.success() {
        return Err(format!("`{}` ended with {}", shown(command), output.status));
    }
    String::from_utf8(output.stdout).map_err(|error| error.to_string())
}

/// The program of the museum called `name`.
fn museum_of(workspace: &Workspace, name: &str, profile: &str) -> PathBuf {
    target(workspace).join(if profile == "dev" { "debug" } else { profile }).join(name)
}

/// A cargo command in the directory `program`, whose settings hold only there.
fn cargo(workspace: &Workspace, program: &str, arguments: &[&str]) -> Command {
    let mut command = workspace.cargo_in(program, arguments);
    // The example has no settings of its own, and uses the packages that the tests have compiled.
    if program != COPY {
        command.env("CARGO_TARGET_DIR", target(workspace));
    }
    // Settings of the caller's for all crates would take the place of the backend of random numbers.
    command.env_remove("RUSTFLAGS");
    command
}

/// The directory that all programs are built in, and share what they have in common.
fn target(workspace: &Workspace) -> PathBuf {
    workspace.target().join("foreign")
}

/// The stacks, and the crates that they are compiled and judged with.
const PART: Part = Part {
    step: "foreign",
    trees: &[
        &["--workspace", "--manifest-path", "foreign/Cargo.toml"],
        &["--workspace", "--manifest-path", "foreign/known-bad/Cargo.toml"],
    ],
    paths: &["clippy.toml", "examples/noq-copy", "foreign", "rust-toolchain.toml"],
};
const TESTS: [&str; 3] = ["test", "--locked", "--no-default-features"];
/// The example that copies a file over noq.
const COPY: &str = "examples/noq-copy";
/// The program with releases that are known to be wrong, and the beginnings of their names.
const KNOWN_BAD: &str = "foreign/known-bad";
const IN_KNOWN_BAD: [&str; 3] = ["noq-1.1.0:", "quinn-0.11.14:", "smoltcp-0.12.0:"];
/// The programs of the museum, each with its directory, profile and features: debug builds check overflows, which one of the faults is about.
const MUSEUM: [(&str, &str, &str, &str); 3] = [
    ("foreign", "cwnd-foreign-museum", "dev", "museum"),
    (KNOWN_BAD, "cwnd-foreign-known-bad-museum", "dev", "museum,known-bad"),
    (BORING, "cwnd-foreign-boring-museum", "release", "museum"),
];
/// gVisor with and without the change of its draft, by one program after the other. Nothing searches it.
const GVISOR_MUSEUM: [(&str, &str, &str, &str); 2] = [
    (GVISOR, "cwnd-foreign-gvisor-museum", "release", "museum,mended"),
    (GVISOR, "cwnd-foreign-gvisor-museum", "release", "museum"),
];
const MUSEUM_PAGE: &str = "docs/museum.md";
/// The program with stacks that need BoringSSL, and the beginnings of their names.
const BORING: &str = "foreign/boring";
const IN_BORING: [&str; 4] = ["quiche-0.26.0:", "quiche-idle:", "quiche:", "tquic:"];
/// The program with the stack that needs Go, and the beginning of its names.
const GVISOR: &str = "foreign/gvisor";
const IN_GVISOR: [&str; 1] = ["gvisor:"];
/// The stacks that are a package each, by the beginnings of their names.
const PACKAGES: [(&str, &str); 7] = [
    ("noq", "noq-proto"),
    ("quiche", "quiche"),
    ("quiche-idle", "quiche"),
    ("quinn", "quinn-proto"),
    ("s2n", "s2n-quic-core"),
    ("smoltcp", "smoltcp"),
    ("tquic", "tquic"),
];
/// The end of its adapter that is written in Go.
pub(crate) const NETSTACK: &str = "foreign/gvisor/netstack";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_are_those_of_the_documentation() {
        let workspace = Workspace::here();
        let page = fs::read_to_string(workspace.path("docs/foreign.md")).expect("text");
        let (_, table) = page.split_once("| name | release | what runs |\n").expect("the table");
        let rows = table.lines().take_while(|line| !line.is_empty());
        let stacks = rows.filter_map(|line| line.strip_prefix("| `")?.split_once(':'));
        // Names with a release of their own need no other.
        let stacks = stacks.filter(|(name, _)| !name.contains('.'));
        let documented: Vec<(&str, &str)> =
            stacks.filter_map(|(name, rest)| Some((name, rest.split('|').nth(1)?))).collect();
        let releases = releases(&workspace);
        assert_eq!(releases.split(',').count(), documented.len(), "{releases} and {documented:?}");
        for (name, row) in documented {
            let release = releases.split(',').filter_map(|one| one.split_once('=')).find(|(stack, _)| *stack == name);
            let (_, release) = release.unwrap_or_else(|| panic!("{name} is none of {releases}"));
            assert!(row.split([' ', ',']).any(|word| word == release), "{name} {release}: {row}");
        }
    }

    #[test]
    fn the_program_is_that_of_the_stacks_in_arguments_and_scenarios() {
        let file = std::env::temp_dir().join(format!("cwnd-foreign-{}.toml", std::process::id()));
        fs::write(&file, "[[flow]]\nalgorithm = \"tquic:cubic\"\n").expect("written");
        let scenario = file.to_string_lossy().into_owned();
        let of = |arguments: &[&str]| program_of(&arguments.iter().map(ToString::to_string).collect::<Vec<_>>()).0;
        let found = [
            of(&["run", &scenario]),
            of(&["run", "missing.toml"]),
            of(&["compare", "gvisor:reno"]),
            of(&["compare", "quinn-0.11.14:cubic", "cubic"]),
        ];
        fs::remove_file(&file).expect("removed");
        assert_eq!(found, [BORING, "foreign", GVISOR, KNOWN_BAD]);
    }

    #[test]
    fn a_log_begins_with_its_first_event() {
        let head = r#"{"qlog_version":"0.3","trace":{"configuration":{"time_offset":0.0}}}"#;
        let log = format!(
            "\u{1e}{head}\n\u{1e}{{\"time\":17.465153,\"name\":\"a\"}}\n\u{1e}{{\"time\":18,\"name\":\"b\"}}\n"
        );
        assert_eq!(begin_ms(&log), Some("17.465153"));
        assert_eq!(begin_ms(head), None);
    }
}
