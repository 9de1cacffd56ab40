//! Build, processors, memory and directories.

use std::path::Path;
use std::thread;

use cwnd_report::json::{Finding, Verdict};
use cwnd_run::cells::Cells;
use cwnd_run::execute::{Progress, default_memory, machine_memory};
use cwnd_run::files::{Directory, DirectoryError, fresh};
use cwnd_text::{VERSION, counted, size};

/// The program and the machine.
pub(super) fn check(progress: &impl Progress) -> Vec<Finding> {
    vec![build(), processors(), memory(progress.memory())]
}

/// The directories that commands write to.
pub(super) fn places() -> Vec<Finding> {
    let results = Path::new("out");
    let means = "commands write their pages and traces below it, unless `--out DIR` names another directory";
    let store = match Cells::of_user().directory() {
        None => Finding::fine("store", "no cache directory", "runs are not stored, so that equal ones are done again")
            .but(Verdict::Limits, "--store DIR"),
        Some(store) => {
            place("store", store, "runs are stored there, so that none is done twice", "--store DIR, or --no-store")
        }
    };
    vec![place("results", results, means, "--out DIR, or --json, which writes no files"), store]
}

fn build() -> Finding {
    let measured = format!("cwnd {VERSION}");
    if cfg!(debug_assertions) {
        let means = "built without optimisation: results are those of any build, but runs take several times as long";
        return Finding::fine("build", measured, means).but(Verdict::Limits, "cargo build --release");
    }
    Finding::fine("build", measured, "built with optimisation")
}

fn processors() -> Finding {
    let count = thread::available_parallelism().map_or(1, usize::from);
    let means = "this many runs at a time; results do not depend on it";
    Finding::fine("processors", counted(count, "processor"), means).number(count as f64, "processors")
}

/// The memory of the machine, and the bound of all runs: the one `given`, or the default.
fn memory(given: Option<u64>) -> Finding {
    let bound = given.unwrap_or_else(default_memory);
    let machine = machine_memory().map_or("unknown".to_string(), size);
    let of = if given.is_some() { "--memory" } else { "half of that, the default of --memory" };
    let finding = Finding::fine(
        "memory",
        format!("{machine}; runs use at most {} together ({of})", size(bound)),
        "a run that would need more is refused before it starts",
    );
    let finding = finding.number(bound as f64, "bytes");
    if bound < ENOUGH { finding.but(Verdict::Limits, "--memory SIZE") } else { finding }
}

/// Whether a directory can be written, or made if it does not exist yet.
fn place(check: &'static str, path: &Path, means: &str, fix: &str) -> Finding {
    match try_out(path) {
        Ok(()) => Finding::fine(check, format!("{} can be written", path.display()), means),
        Err(error) => Finding::fine(check, error.to_string(), format!("commands that write there fail; {means}"))
            .but(Verdict::Fails, fix),
    }
}

/// Makes a directory in `path`, or in the nearest directory above it that exists, and removes it.
fn try_out(path: &Path) -> Result<(), DirectoryError> {
    let above = path.ancestors().find(|one| one.symlink_metadata().is_ok()).unwrap_or(Path::new("."));
    Directory::start(&fresh(above, "doctor")).map(drop)
}

/// Bytes. A comparison with the default settings needs a tenth of this.
const ENOUGH: u64 = 512 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_that_does_not_exist_is_tried_above_and_not_made() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("out/deeper");
        assert_eq!(place("results", &path, "", "").verdict, Verdict::Fine);
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
        std::fs::write(directory.path().join("out"), "a file").unwrap();
        let taken = place("results", &path, "", "--out DIR");
        assert_eq!((taken.verdict, taken.fix), (Verdict::Fails, vec!["--out DIR".to_string()]));
    }

    #[test]
    fn a_bound_of_memory_too_small_for_a_comparison_limits() {
        assert_eq!(memory(Some(1 << 20)).verdict, Verdict::Limits);
        let ample = memory(Some(1 << 40));
        assert_eq!((ample.verdict, ample.value), (Verdict::Fine, Some((1_u64 << 40) as f64)));
    }
}
