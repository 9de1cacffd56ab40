//! Whether the repository can be released as it is.

use std::fs;
use std::process::Command;

use crate::workspace::{Workspace, output, run};
use crate::{api, packages};

/// Goes through the checklist, and prints a line for each point.
pub(crate) fn check(workspace: &Workspace) -> Result<(), String> {
    let mut open = 0;
    for (point, holds) in POINTS {
        match holds(workspace) {
            Ok(()) => println!("ok      {point}"),
            Err(reason) => {
                open += 1;
                println!("FAILED  {point}: {reason}");
            }
        }
    }
    if open == 0 { Ok(()) } else { Err(format!("{open} of {} points are open", POINTS.len())) }
}

type Point = (&'static str, fn(&Workspace) -> Result<(), String>);

/// The checklist of a release, the quick points first.
const POINTS: &[Point] = &[
    ("every change is committed", |workspace| {
        let changes = git(workspace, &["status", "--porcelain"])?;
        if changes.is_empty() { Ok(()) } else { Err(format!("{} files differ", changes.lines().count())) }
    }),
    ("the tag of this version is free, or that of this commit", |workspace| {
        let tag = format!("v{VERSION}");
        let tagged = git(workspace, &["tag", "--list", &tag, "--no-contains", "HEAD"])?;
        if tagged.is_empty() { Ok(()) } else { Err(format!("{tag} is another commit")) }
    }),
    ("the repository has an address", |workspace| {
        let manifest = read(workspace, "Cargo.toml")?;
        if manifest.contains("\nrepository = \"https://example.org/") {
            return Err("Cargo.toml has the placeholder".to_owned());
        }
        Ok(())
    }),
    ("CHANGELOG.md has a section for this version, and nothing unreleased", |workspace| {
        changes_are_listed(&read(workspace, "CHANGELOG.md")?, VERSION)
    }),
    ("CITATION.cff and cwnd-quic have this version", |workspace| {
        for (file, line) in [
            ("CITATION.cff", format!("\nversion: {VERSION}\n")),
            ("foreign/quic/Cargo.toml", format!("\nversion = \"{VERSION}\"\n")),
        ] {
            if !read(workspace, file)?.contains(&line) {
                return Err(format!("{file} has another"));
            }
        }
        Ok(())
    }),
    ("the lock files are current", |workspace| {
        let foreign = ["foreign", "foreign/boring", "foreign/gvisor", "foreign/known-bad"];
        for directory in ["", "evidence", "examples/noq-copy", "fuzz"].into_iter().chain(foreign) {
            let mut metadata = workspace.cargo(&["metadata", "--locked", "--format-version", "1"]);
            let output = metadata.current_dir(workspace.path(directory)).output();
            if !output.is_ok_and(|output| output.status.success()) {
                return Err(format!("`{}` is not", workspace.path(directory).join("Cargo.lock").display()));
            }
        }
        Ok(())
    }),
    ("the packages are complete", packages::check),
    ("the public items are those of xtask/api", api::check),
    ("the checks pass", |workspace| run(&mut workspace.cargo(&["xtask", "check"]))),
];

/// Whether the changes of `version` have a section, and none stand above it.
fn changes_are_listed(changes: &str, version: &str) -> Result<(), String> {
    let heading = format!("\n## {version}\n");
    let (above, _) = changes.split_once(&heading).ok_or_else(|| format!("no heading `## {version}`"))?;
    let unreleased = above.split_once("## [Unreleased]").map_or("", |(_, rest)| rest).trim();
    if unreleased.is_empty() { Ok(()) } else { Err("there are unreleased changes".to_owned()) }
}

fn read(workspace: &Workspace, file: &str) -> Result<String, String> {
    fs::read_to_string(workspace.path(file)).map_err(|error| format!("{file}: {error}"))
}

fn git(workspace: &Workspace, arguments: &[&str]) -> Result<String, String> {
    let printed = output(Command::new("git").current_dir(workspace.path("")).args(arguments))?;
    Ok(printed.trim().to_owned())
}

const VERSION: &str = env!("CARGO_PKG_VERSION");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unreleased_changes_and_a_missing_section_are_open() {
        let page = "# Changelog\n\n## [Unreleased]\n\n## 0.2.0\n\n- a\n";
        assert_eq!(changes_are_listed(page, "0.2.0"), Ok(()));
        assert!(changes_are_listed(page, "0.3.0").is_err());
        assert!(changes_are_listed(&page.replace("]\n\n", "]\n\n- b\n\n"), "0.2.0").is_err());
    }
}
