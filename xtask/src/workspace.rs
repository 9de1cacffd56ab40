//! The repository, and running programs in it.

use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, ExitStatus};
use std::thread::sleep;
use std::time::Duration;

/// The repository.
pub(crate) struct Workspace {
    root: PathBuf,
    /// Steps run whole, whatever has passed before.
    pub(crate) whole: bool,
}

impl Workspace {
    /// The repository this program was built from.
    pub(crate) fn here() -> Self {
        let own = Path::new(env!("CARGO_MANIFEST_DIR"));
        Self::at(own.parent().expect("xtask lies directly in the repository").to_owned())
    }

    /// The repository that lies at `root`.
    pub(crate) fn at(root: PathBuf) -> Self {
        Self { root, whole: false }
    }

    /// A path in the repository.
    pub(crate) fn path(&self, relative: &str) -> PathBuf {
        self.root.join(relative)
    }

    /// The directory for what tasks leave behind.
    pub(crate) fn scratch(&self) -> PathBuf {
        self.target().join("xtask")
    }

    /// A program of the workspace, where cargo leaves it when tests are built.
    pub(crate) fn program(&self, name: &str) -> PathBuf {
        self.target().join("debug").join(name)
    }

    /// The directory cargo builds in. A relative one begins where cargo is started, at the root.
    pub(crate) fn target(&self) -> PathBuf {
        self.root.join(std::env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into()))
    }

    /// Builds the programs unoptimised, with the features that the tests turn on, so that a whole run compiles each crate once: what tests
    /// depend on counts where examples are built.
    pub(crate) fn build(&self) -> Result<(), String> {
        run(self.cargo(&["build", "--bins", "--examples"]).args(WITHOUT_ARROW).args(OPTIONAL))
    }

    /// A cargo command in the repository, of the toolchain that runs this program.
    pub(crate) fn cargo(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        command.current_dir(&self.root).args(arguments);
        command
    }

    /// The version of the compiler, with its commit.
    pub(crate) fn compiler(&self) -> Option<String> {
        let compiler = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
        let output = Command::new(compiler).current_dir(&self.root).arg("-vV").output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// A cargo command in the workspace of its own below `directory`, which builds where this one does.
    pub(crate) fn cargo_in(&self, directory: &str, arguments: &[&str]) -> Command {
        let mut command = self.cargo(arguments);
        command.current_dir(self.path(directory)).env("CARGO_TARGET_DIR", self.target());
        command
    }
}

/// All packages but benchmarks, and those that bring Arrow, which have their own steps.
pub(crate) const WITHOUT_ARROW: [&str; 7] =
    ["--workspace", "--exclude", "cwnd-benches", "--exclude", "cwnd-parquet", "--exclude", "cwnd-py"];

/// Features that no other crate of the workspace turns on, and that are checked nevertheless.
pub(crate) const OPTIONAL: [&str; 2] = ["--features", "cwnd-net/tokio,cwnd-cli/figures"];

/// Shows a command and runs it. With the variable [`LIMIT`] in the environment, the command is ended after that number of minutes, with all
/// processes it has started.
pub(crate) fn run(command: &mut Command) -> Result<(), String> {
    println!("$ {}", shown(command));
    let limit = std::env::var(LIMIT).ok().map(|minutes| -> Result<u64, String> {
        let accepted = minutes.parse().ok().filter(|minutes| (1..=1440).contains(minutes));
        accepted.ok_or_else(|| format!("{LIMIT}={minutes}: a number of minutes from 1 to 1440 is accepted"))
    });
    let started = match limit.transpose()? {
        None => command.status().map(Some),
        Some(minutes) => {
            command.process_group(0).spawn().and_then(|child| within(Duration::from_secs(60 * minutes), child))
        }
    };
    match started.map_err(|error| format!("`{}` did not start: {error}", shown(command)))? {
        Some(status) if status.success() => Ok(()),
        Some(status) => Err(format!("`{}` ended with {status}", shown(command))),
        None => Err(format!("`{}` was ended: it took longer than {LIMIT} says", shown(command))),
    }
}

/// What a command prints. It is not shown.
pub(crate) fn output(command: &mut Command) -> Result<String, String> {
    let output = command.output().map_err(|error| format!("`{}` did not start: {error}", shown(command)))?;
    if !output.status.success() {
        return Err(format!("`{}`: {}", shown(command), String::from_utf8_lossy(&output.stderr).trim()));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Runs `build`, and then the `program` it leaves; the exit code of the first that fails.
pub(crate) fn run_program(mut build: Command, program: &mut Command) -> ExitCode {
    match build.status() {
        Ok(status) if status.success() => {}
        Ok(_) => return ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: cargo did not start: {error}");
            return ExitCode::FAILURE;
        }
    }
    let status = program.status();
    let code = status.ok().and_then(|status| status.code()).and_then(|code| u8::try_from(code).ok());
    ExitCode::from(code.unwrap_or(1))
}

/// Waits for the leader of a process group, which is killed as a whole after `limit`: none then.
fn within(limit: Duration, mut leader: Child) -> io::Result<Option<ExitStatus>> {
    let poll = Duration::from_millis(50);
    let mut waited = Duration::ZERO;
    loop {
        if let Some(status) = leader.try_wait()? {
            return Ok(Some(status));
        }
        if waited >= limit {
            // The shell's own `kill` is there where the program is not.
            Command::new("sh").args(["-c", &format!("kill -KILL -{}", leader.id())]).status()?;
            leader.wait()?;
            return Ok(None);
        }
        sleep(poll);
        waited += poll;
    }
}

/// The variable of the environment with the minutes that a command of a step may take. `.ci/run` sets it, so that a test that hangs fails
/// its step and not the whole run.
const LIMIT: &str = "XTASK_LIMIT_MINUTES";

/// A command as a person would type it.
pub(crate) fn shown(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_stem().unwrap_or(command.get_program());
    let words = std::iter::once(program).chain(command.get_args());
    words.map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// Packages with their versions and features, as `cargo tree` shows them.
    fn tree(arguments: &[&str]) -> BTreeSet<String> {
        let show = ["tree", "--locked", "--prefix", "none", "--no-dedupe", "--format", "{p} {f}"];
        let text = output(Workspace::here().cargo(&show).args(arguments)).unwrap();
        text.lines().map(|line| line.replace(" (*)", "").replace(" (proc-macro)", "").trim().to_owned()).collect()
    }

    /// A package with other features is compiled again, and so is all that depends on it.
    #[test]
    fn packages_have_the_same_features_in_all_steps() {
        let with_arrow = ["--workspace", "--features", OPTIONAL[1], "--features", "cwnd-cli/parquet,cwnd-py/tested"];
        let mut tested = tree(&[&WITHOUT_ARROW[..], &OPTIONAL].concat());
        tested.append(&mut tree(&with_arrow));
        let named = |line: &str| line.split(' ').take(2).collect::<Vec<_>>().join(" ");
        let known: BTreeSet<String> = tested.iter().map(|line| named(line)).collect();
        for arguments in [
            &["--edges", "normal,build", "--manifest-path", "evidence/Cargo.toml"][..],
            &["--edges", "normal,build", "--manifest-path", "fuzz/Cargo.toml"],
            &["--edges", "normal,build", "--package", "cwnd-py", "--features", "tested"],
        ] {
            let other: Vec<String> = tree(arguments)
                .into_iter()
                .filter(|line| known.contains(&named(line)) && !tested.contains(line))
                .collect();
            assert!(other.is_empty(), "{arguments:?}: other features than in the tests: {other:#?}");
        }
    }

    #[test]
    fn a_command_beyond_its_limit_is_ended_with_what_it_has_started() {
        let start = |script| Command::new("sh").args(["-c", script]).process_group(0).spawn().unwrap();
        assert!(
            within(Duration::from_secs(60), start("exit 3")).unwrap().is_some_and(|status| status.code() == Some(3))
        );
        let sign = std::env::temp_dir().join(format!("cwnd-xtask-{}", std::process::id()));
        let hanging = start(&format!("(sleep 2; touch '{}') & wait", sign.display()));
        assert!(within(Duration::from_millis(200), hanging).unwrap().is_none());
        sleep(Duration::from_secs(3));
        assert!(!sign.exists(), "what it had started went on");
    }
}
