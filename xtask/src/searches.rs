//! Searches for the published faults of a list: their record, and the table of it in a page.
//!
//! The record has a part for each group, with the tree of the sources of the search that made it. The group `untouched` is searched for
//! with the sources that the list names alone.

use std::fs;
use std::process::Command;

use crate::workspace::{Workspace, output};

/// The groups of the list.
pub(crate) const GROUPS: [&str; 2] = ["development", "untouched"];

/// The tree of the sources of the search, which may run for `groups`.
///
/// # Errors
/// The sources are not committed, or not those that the list names for the group `untouched`.
pub(crate) fn settings(workspace: &Workspace, groups: &[&str]) -> Result<String, String> {
    let git = |arguments: &[&str]| output(Command::new("git").args(arguments).current_dir(workspace.path(".")));
    if !git(&["status", "--porcelain", "--", SOURCES, LIST])?.is_empty() {
        return Err(format!("{SOURCES} or {LIST} has changes: commit them, so that the record can name them"));
    }
    let tree = git(&["rev-parse", &format!("HEAD:{SOURCES}")])?.trim().to_owned();
    let list = read(workspace, LIST)?;
    let listed = list.lines().find_map(|line| line.strip_prefix("settings = \"")?.strip_suffix('"'));
    if groups.contains(&GROUPS[1]) && listed != Some(tree.as_str()) {
        return Err(format!(
            "`settings` of {LIST} is `{}`, and {SOURCES} is the tree {tree}: search for `{}`, and write the tree there",
            listed.unwrap_or_default(),
            GROUPS[0]
        ));
    }
    Ok(tree)
}

/// Writes what came of the searches of a group, in place of its old part of the record; the whole record.
pub(crate) fn record(workspace: &Workspace, group: &str, settings: &str, lines: &str) -> Result<String, String> {
    let text = replaced(&read(workspace, RECORD)?, group, settings, lines);
    fs::write(workspace.path(RECORD), &text).map_err(|error| format!("{RECORD}: {error}"))?;
    println!("wrote {RECORD}");
    Ok(text)
}

/// Writes the table into the page.
pub(crate) fn show(workspace: &Workspace, table: &str) -> Result<(), String> {
    let page = read(workspace, PAGE)?;
    let parts = page.split_once(BEGIN).and_then(|(head, rest)| Some((head, rest.split_once(END)?.1)));
    let (head, tail) = parts.ok_or_else(|| format!("{PAGE}: no `{BEGIN}` before `{END}`"))?;
    let text = format!("{head}{BEGIN}\n\n{table}\n{END}{tail}");
    fs::write(workspace.path(PAGE), text).map_err(|error| format!("{PAGE}: {error}"))?;
    println!("wrote {PAGE}");
    Ok(())
}

fn read(workspace: &Workspace, path: &str) -> Result<String, String> {
    fs::read_to_string(workspace.path(path)).map_err(|error| format!("{path}: {error}"))
}

/// A record with another part for a group.
fn replaced(record: &str, group: &str, settings: &str, lines: &str) -> String {
    let head = |group: &str| format!("# {group}: ");
    let mut parts: Vec<(&str, String)> = GROUPS.map(|group| (group, String::new())).into();
    let (mut first, mut now) = (String::new(), None);
    for line in record.lines() {
        now = GROUPS.iter().position(|group| line.starts_with(&head(group))).or(now);
        let part = now.map_or(&mut first, |at| &mut parts[at].1);
        part.push_str(line);
        part.push('\n');
    }
    for (name, part) in &mut parts {
        if *name == group {
            *part = format!("{}{SOURCES} was the tree {settings}\n{lines}", head(group));
        }
    }
    first + &parts.into_iter().map(|(_, part)| part).collect::<String>()
}

const SOURCES: &str = "crates/cwnd-falsify/src";
const LIST: &str = "foreign/museum/searches.toml";
const RECORD: &str = "foreign/museum/searched.txt";
const PAGE: &str = "docs/falsify.md";
const BEGIN: &str = "<!-- begin searches -->";
const END: &str = "<!-- end searches -->";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_takes_the_place_of_its_old_part() {
        let empty = "# about the file\n";
        let one = replaced(empty, "untouched", "aa", "x\t1\n");
        assert_eq!(one, "# about the file\n# untouched: crates/cwnd-falsify/src was the tree aa\nx\t1\n");
        let both = replaced(&one, "development", "bb", "y\t2\nz\t3\n");
        let expected = "# about the file\n# development: crates/cwnd-falsify/src was the tree bb\ny\t2\nz\t3\n\
                        # untouched: crates/cwnd-falsify/src was the tree aa\nx\t1\n";
        assert_eq!(both, expected);
        assert_eq!(replaced(&both, "untouched", "aa", "x\t1\n"), both);
        assert_ne!(replaced(&both, "untouched", "cc", "x\t1\n"), both);
    }

    #[test]
    fn the_page_has_a_place_for_the_table() {
        let page = read(&Workspace::here(), PAGE).unwrap();
        assert!(page.split_once(BEGIN).is_some_and(|(_, rest)| rest.contains(END)));
    }
}
