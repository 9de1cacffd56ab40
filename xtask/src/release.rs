//! Whether the repository can be released as it is.

use std::fs;
use std::process::Command;

use crate::links::PLACEHOLDER;
use crate::workspace::{Workspace, output, run};
use crate::{api, dist, packages};

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
    ("the repository has an address, the same in each file", |workspace| {
        let texts = ADDRESSED.iter().map(|(file, key)| Ok((*file, *key, read(workspace, file)?)));
        has_one_address(&texts.collect::<Result<Vec<_>, String>>()?)
    }),
    ("the maintainer of the Debian packages has an address", |workspace| {
        let maintainer = dist::maintainer(&read(workspace, "crates/cwnd-cli/Cargo.toml")?)?;
        if maintainer.contains("@example.org") { Err("it is the placeholder".to_owned()) } else { Ok(()) }
    }),
    ("CHANGELOG.md has a section for this version, and nothing unreleased", |workspace| {
        changes_are_listed(&read(workspace, "CHANGELOG.md")?, VERSION)
    }),
    ("CITATION.cff and cwnd-quic have this version, and CITATION.cff its date", |workspace| {
        for (file, line) in [
            ("CITATION.cff", format!("\nversion: {VERSION}\n")),
            ("CITATION.cff", "\ndate-released: ".to_owned()),
            ("foreign/quic/Cargo.toml", format!("\nversion = \"{VERSION}\"\n")),
        ] {
            if !read(workspace, file)?.contains(&line) {
                return Err(format!("{file} has no line `{}`", line.trim()));
            }
        }
        Ok(())
    }),
    ("the lock files are current", |workspace| {
        let separate = packages::directories(workspace)?;
        let separate =
            separate.iter().map(String::as_str).filter(|one| workspace.path(one).join("Cargo.lock").exists());
        for directory in [""].into_iter().chain(separate) {
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

/// The files with the address of the repository, each with what precedes it on its line.
const ADDRESSED: [(&str, &str); 4] = [
    ("Cargo.toml", "repository = "),
    ("foreign/quic/Cargo.toml", "repository = "),
    ("python/pyproject.toml", "Repository = "),
    ("CITATION.cff", "repository-code: "),
];

/// Whether files, each with its key and text, have one address, which is not the placeholder.
fn has_one_address(files: &[(&str, &str, String)]) -> Result<(), String> {
    let mut first = None;
    for (file, key, text) in files {
        let address = text.lines().find_map(|line| line.strip_prefix(key)).map(|value| value.trim_matches('"'));
        let address = address.ok_or_else(|| format!("{file} has none"))?;
        if address.starts_with(PLACEHOLDER) {
            return Err(format!("{file} has the placeholder"));
        }
        if *first.get_or_insert(address) != address {
            return Err(format!("{file} has another one"));
        }
    }
    Ok(())
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

    #[test]
    fn an_address_that_is_missing_or_differs_is_open() {
        let check =
            |texts: [&str; 2]| has_one_address(&texts.map(|text| ("Cargo.toml", "repository = ", text.to_owned())));
        let real = "[package]\nrepository = \"https://git.test/cwnd\"\n";
        assert_eq!(check([real, real]), Ok(()));
        let wrong = [&real.replace("git.test", "example.org"), &real.replace("git", "hg"), "[package]\n"];
        for other in wrong {
            assert!(check([real, other]).is_err(), "{other}");
        }
        for (file, key) in ADDRESSED {
            let text = fs::read_to_string(Workspace::here().path(file)).unwrap();
            assert!(text.lines().any(|line| line.starts_with(key)), "{file}");
        }
    }
}
