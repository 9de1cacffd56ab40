//! Other systems and processors: everything that does not need Unix compiles for Windows, everything for another processor, all but
//! encryption for macOS, and a run on the other processor has the digests of this one.

use std::path::PathBuf;
use std::process::Command;

use crate::workspace::{Workspace, run};

/// Checks the workspace for each target, and runs the recorded digests on an emulated processor.
pub(crate) fn check(workspace: &Workspace) -> Result<(), String> {
    for (target, excluded) in [(WINDOWS, UNIX), (MACOS, C), (ARM, &[])] {
        let excluded = excluded.iter().flat_map(|package| ["--exclude", package]);
        run(cross(workspace, &["check", "--workspace", "--target", target]).args(excluded))?;
    }
    run(&mut cross(workspace, &["test", "--package", "cwnd-sim", "--test", "determinism", "--target", ARM]))
}

/// Whether the compiler has the standard libraries of the targets.
pub(crate) fn has_targets() -> bool {
    TARGETS.into_iter().all(has_target)
}

/// Whether the compiler has the standard library of a target.
pub(crate) fn has_target(target: &str) -> bool {
    let query = Command::new("rustc").args(["--print", "target-libdir", "--target", target]).output();
    query.is_ok_and(|output| PathBuf::from(String::from_utf8_lossy(&output.stdout).trim()).is_dir())
}

/// Whether the source of the standard library lies where cargo compiles it from.
pub(crate) fn has_std_source() -> bool {
    let query = Command::new("rustc").args(["--print", "sysroot"]).output();
    query.is_ok_and(|output| {
        let root = PathBuf::from(String::from_utf8_lossy(&output.stdout).trim());
        root.join("lib/rustlib/src/rust/library/Cargo.lock").is_file()
    })
}

/// Cargo with Debian's names of the linker and of the emulator of [`ARM`].
fn cross(workspace: &Workspace, arguments: &[&str]) -> Command {
    let mut cargo = workspace.cargo(arguments);
    cargo
        .env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER", "aarch64-linux-gnu-gcc")
        .env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER", "qemu-aarch64 -L /usr/aarch64-linux-gnu");
    cargo
}

const WINDOWS: &str = "x86_64-pc-windows-gnu";
const MACOS: &str = "aarch64-apple-darwin";
const ARM: &str = "aarch64-unknown-linux-gnu";
/// The target of the simulator for browsers.
pub(crate) const WASM: &str = "wasm32-unknown-unknown";

/// The targets, as `rustup` names them.
pub(crate) const TARGETS: [&str; 3] = [WINDOWS, MACOS, ARM];

/// The crates with sockets, files or signals of Unix. No other one may need it: the laboratory and the Python package run on Windows.
const UNIX: &[&str] = &["cwnd-benches", "cwnd-files", "cwnd-link", "cwnd-net", "cwnd-transfer", "xtask"];

/// The crates above C code, which needs the headers of macOS.
const C: &[&str] = &["cwnd-figure", "cwnd-secure", "cwnd-transfer"];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::output;

    #[test]
    fn every_system_checks_out_the_committed_bytes() {
        let mut files = Command::new("git");
        let listed = output(files.current_dir(Workspace::here().path("")).args(["ls-files", "--eol"])).unwrap();
        let converted: Vec<&str> = listed.lines().filter(|line| !line.contains("attr/-text")).collect();
        assert!(!listed.is_empty() && converted.is_empty(), "{converted:?}");
    }
}
