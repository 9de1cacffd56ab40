//! Steps that depend on a part of the repository: they run whole unless they passed with that part as it is.
//!
//! `xtask/passed.txt` has a hash of it for each step. A whole run that passes writes the hash, and whoever changes the part commits it with
//! the change; an old hash costs a whole run. With `--long`, and for a step that is named, the whole runs in any case.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::workspace::Workspace;

/// The inputs of a step, on which its outcome depends.
pub(crate) struct Part {
    /// The step.
    pub(crate) step: &'static str,
    /// Whose packages it compiles, as arguments of `cargo tree`: those of this repository are inputs, each as its directory.
    pub(crate) trees: &'static [&'static [&'static str]],
    /// Other directories and files of the repository.
    pub(crate) paths: &'static [&'static str],
}

impl Part {
    /// Runs `whole` unless it passed with the part as it is, else `smoke`.
    pub(crate) fn run(
        &self,
        workspace: &Workspace,
        whole: impl FnOnce(&Workspace) -> Result<(), String>,
        smoke: impl FnOnce(&Workspace) -> Result<(), String>,
    ) -> Result<(), String> {
        let hash = self.hash(workspace);
        let passed = self.passed(workspace);
        if !workspace.whole && hash.is_some() && hash == passed {
            println!("{FILE}: it passed as it is; `cargo xtask test {}` runs all of it", self.step);
            return smoke(workspace);
        }
        whole(workspace)?;
        match hash {
            Some(hash) if passed.as_ref() != Some(&hash) => self.write(workspace, &hash),
            _ => Ok(()),
        }
    }

    /// A hash of the part as it is committed; none where it has other changes or a path is gone, or outside of a repository.
    fn hash(&self, workspace: &Workspace) -> Option<String> {
        let paths = self.all_paths(workspace)?;
        let git = |arguments: &[&str]| {
            let output =
                Command::new("git").args(arguments).arg("--").args(&paths).current_dir(workspace.path(".")).output();
            output.ok().filter(|output| output.status.success()).map(|output| output.stdout)
        };
        // Git passes over a path that is gone.
        let is_gone = |path: &String| !workspace.path(path).exists();
        if paths.iter().any(is_gone) || !git(&["status", "--porcelain", "--untracked-files=all"])?.is_empty() {
            return None;
        }
        let mut files = git(&["ls-tree", "-r", "HEAD"])?;
        // A newer compiler finds more, and may compute otherwise.
        files.extend(workspace.compiler()?.into_bytes());
        let mut hasher = Command::new("git");
        hasher.args(["hash-object", "--stdin"]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut hasher = hasher.spawn().ok()?;
        hasher.stdin.take()?.write_all(&files).ok()?;
        let output = hasher.wait_with_output().ok().filter(|output| output.status.success())?;
        String::from_utf8(output.stdout).ok().map(|hash| hash.trim().to_owned())
    }

    /// Every input, relative to the repository, in order.
    fn all_paths(&self, workspace: &Workspace) -> Option<BTreeSet<String>> {
        let mut paths: BTreeSet<String> = self.paths.iter().map(ToString::to_string).collect();
        for tree in self.trees {
            let mut command = workspace.cargo(&["tree", "--locked", "--prefix", "none", "--format", "{p}"]);
            let output = command.args(*tree).output().ok().filter(|output| output.status.success())?;
            let root = workspace.path("").canonicalize().ok()?;
            // `cwnd v0.1.0 (/repository/crates/cwnd)`, with further words behind it for some kinds of packages.
            let directories = String::from_utf8(output.stdout).ok()?;
            let directories = directories.lines().filter_map(|line| line.split('(').nth(1)?.split(')').next());
            let inside = directories.filter_map(|path| Path::new(path).strip_prefix(&root).ok()?.to_str());
            paths.extend(inside.map(String::from));
        }
        Some(paths)
    }

    fn passed(&self, workspace: &Workspace) -> Option<String> {
        let text = fs::read_to_string(workspace.path(FILE)).ok()?;
        text.lines().find_map(|line| line.strip_prefix(self.step)?.strip_prefix(' ').map(String::from))
    }

    fn write(&self, workspace: &Workspace, hash: &str) -> Result<(), String> {
        let text = fs::read_to_string(workspace.path(FILE)).unwrap_or_default();
        let others = text.lines().filter(|line| line.split(' ').next() != Some(self.step)).map(String::from);
        let mut lines: Vec<String> = others.chain([format!("{} {hash}", self.step)]).collect();
        lines.sort();
        println!("{FILE}: {} passed as it is; commit the file", self.step);
        fs::write(workspace.path(FILE), lines.join("\n") + "\n").map_err(|error| format!("{FILE}: {error}"))
    }
}

const FILE: &str = "xtask/passed.txt";

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn a_step_runs_whole_until_it_has_passed_and_again_after_a_change() {
        let root = std::env::temp_dir().join(format!("cwnd-xtask-passed-{}", std::process::id()));
        fs::create_dir_all(root.join("xtask")).unwrap();
        let git = |arguments: &[&str]| {
            let identity = ["-c", "user.name=a", "-c", "user.email=a@b"];
            let output = Command::new("git").args(identity).args(arguments).current_dir(&root).output().unwrap();
            assert!(output.status.success(), "{arguments:?}: {output:?}");
        };
        git(&["init", "--quiet"]);
        let change = |file: &str, text: &str| fs::write(root.join(file), text).unwrap();
        let commit = || {
            git(&["add", "--all"]);
            git(&["commit", "--quiet", "--message", "x"]);
        };
        let mut workspace = Workspace::at(root.clone());
        let part = Part { step: "papers", trees: &[], paths: &["part"] };
        let ran = |workspace: &Workspace, fails: bool| {
            let ran = Cell::new("");
            let whole = |_: &Workspace| {
                ran.set("whole");
                if fails { Err("it broke".to_owned()) } else { Ok(()) }
            };
            let outcome = part.run(workspace, whole, |_| {
                ran.set("smoke");
                Ok(())
            });
            assert_eq!(outcome.is_err(), fails);
            ran.get()
        };
        change("part", "1");
        commit();
        assert_eq!(ran(&workspace, true), "whole");
        assert_eq!(ran(&workspace, false), "whole", "a failure is no pass");
        assert_eq!(ran(&workspace, false), "smoke");
        change("other", "1");
        commit();
        assert_eq!(ran(&workspace, false), "smoke");
        change("part", "2");
        assert_eq!(ran(&workspace, false), "whole", "a change that is not committed");
        assert_eq!(ran(&workspace, false), "whole", "and is never on record");
        commit();
        assert_eq!(ran(&workspace, false), "whole");
        assert_eq!(ran(&workspace, false), "smoke");
        workspace.whole = true;
        assert_eq!(ran(&workspace, false), "whole");
        fs::remove_dir_all(&root).unwrap();
    }

    #[test]
    fn what_a_step_compiles_is_among_its_inputs() {
        let workspace = Workspace::here();
        let part = Part { step: "papers", trees: &[&["--package", "cwnd-papers"]], paths: &["papers"] };
        let paths = part.all_paths(&workspace).unwrap();
        for input in ["crates/cwnd", "crates/cwnd-papers", "crates/cwnd-run", "crates/cwnd-sim", "papers"] {
            assert!(paths.contains(input), "{input}: {paths:?}");
        }
        assert!(!paths.contains("crates/cwnd-cli"), "{paths:?}");
    }
}
