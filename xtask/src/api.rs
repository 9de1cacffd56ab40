//! The public items of the published crates, in files of the repository, so that a change of them is seen in the change that makes it.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crate::packages::{self, Published};
use crate::tool::PUBLIC_API;
use crate::workspace::{Workspace, output, run};

/// Fails where the public items of a crate are others than its file lists.
pub(crate) fn check(workspace: &Workspace) -> Result<(), String> {
    let mut changed = Vec::new();
    for Crate { name, listed, items } in crates(workspace)? {
        let old = fs::read_to_string(&listed).unwrap_or_default();
        println!("{name:<14} {:>5} items", items.lines().count());
        for line in changes(&old, &items) {
            println!("{line}");
        }
        if old != items {
            changed.push(name);
        }
    }
    if changed.is_empty() {
        return Ok(());
    }
    Err(format!("public items of {} changed: `cargo xtask api` renews {LISTS}/", changed.join(", ")))
}

/// Writes the files.
pub(crate) fn rewrite(workspace: &Workspace) -> Result<(), String> {
    for Crate { name, listed, items } in crates(workspace)? {
        fs::write(&listed, &items).map_err(|error| format!("{}: {error}", listed.display()))?;
        println!("{name:<14} {:>5} items", items.lines().count());
    }
    Ok(())
}

/// The lines that only one of two lists has: `-` for the old one, `+` for the new one.
fn changes(old: &str, new: &str) -> Vec<String> {
    let [before, after] = [old, new].map(|list| list.lines().collect::<BTreeSet<_>>());
    let removed = before.difference(&after).map(|line| format!("- {line}"));
    removed.chain(after.difference(&before).map(|line| format!("+ {line}"))).collect()
}

/// A published crate of the workspace.
struct Crate {
    name: String,
    /// The file with its items.
    listed: PathBuf,
    /// What it offers now, an item a line, without the implementations that the compiler or a derive adds.
    items: String,
}

fn crates(workspace: &Workspace) -> Result<Vec<Crate>, String> {
    PUBLIC_API.required(workspace)?;
    // A crate of another workspace, with an older list of dependencies.
    let published = packages::published(workspace)?.into_iter().filter(|one| one.name != "cwnd-quic");
    published.map(|one| described(workspace, one)).collect()
}

fn described(workspace: &Workspace, Published { name, features, .. }: Published) -> Result<Crate, String> {
    let target = workspace.scratch().join("api");
    let mut pages = workspace.cargo(&["rustdoc", "--quiet", "--locked", "--lib", "--package", &name, "--target-dir"]);
    pages.arg(&target);
    pages.args(features.iter().flat_map(|feature| ["--features", feature]));
    // The format is unstable; the program that reads it is of a fixed version, and says so if it cannot.
    pages.args(["--", "-Zunstable-options", "--output-format", "json", "--cap-lints", "allow"]);
    run(pages.env("RUSTC_BOOTSTRAP", "1"))?;
    let read = target.join("doc").join(format!("{}.json", name.replace('-', "_")));
    let items = output(Command::new("cargo-public-api").arg("public-api").arg("-sss").arg("--rustdoc-json").arg(read))?;
    Ok(Crate { listed: workspace.path(LISTS).join(format!("{name}.txt")), name, items })
}

/// The directory with a file for each crate.
const LISTS: &str = "xtask/api";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_one_list_has_is_a_change() {
        let (old, new) = ("pub fn a::b()\npub mod a\n", "pub fn a::b(u8)\npub mod a\n");
        assert_eq!(changes(old, new), ["- pub fn a::b()", "+ pub fn a::b(u8)"]);
        assert_eq!(changes(new, new), Vec::<String>::new());
    }

    #[test]
    fn each_published_crate_of_the_workspace_has_its_list() {
        let workspace = Workspace::here();
        for Published { name, .. } in
            packages::published(&workspace).unwrap().iter().filter(|one| one.name != "cwnd-quic")
        {
            let list = fs::read_to_string(workspace.path(LISTS).join(format!("{name}.txt"))).unwrap_or_default();
            let module = name.replace('-', "_");
            assert!(
                list.lines().any(|line| line == format!("pub mod {module}")),
                "{name}: `cargo xtask api` writes it"
            );
        }
    }
}
