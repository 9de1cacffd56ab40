//! Files that the program writes about itself: checked in so that people can read them here, and compared on every check.

use std::fmt::Write as _;
use std::fs;
use std::process::Command;

use crate::workspace::{Workspace, shown};

/// A file of the repository that a command prints.
struct Generated {
    path: &'static str,
    /// The arguments of `cwnd`.
    command: &'static [&'static str],
    /// The repository has an index of the page; [`crate::book`] writes all of it.
    indexed: bool,
}

/// All of them.
const GENERATED: &[Generated] = &[
    Generated { path: "docs/algorithms.md", command: &["docs", "algorithms"], indexed: true },
    Generated { path: "docs/conform.md", command: &["docs", "conform"], indexed: true },
    Generated { path: "docs/cross.md", command: &["docs", "cross"], indexed: false },
    Generated { path: "docs/json.md", command: &["docs", "json"], indexed: true },
    Generated { path: "docs/notation.md", command: &["docs", "notation"], indexed: false },
    Generated { path: "docs/papers.md", command: &["docs", "papers"], indexed: true },
    Generated { path: "docs/scenario.schema.json", command: &["schema"], indexed: false },
    Generated { path: "docs/sweep.schema.json", command: &["schema", "sweep"], indexed: false },
];

/// Whether every generated file is what its command prints now.
pub(crate) fn compare(workspace: &Workspace) -> Result<(), String> {
    workspace.build()?;
    let mut stale = Vec::new();
    for file in GENERATED {
        let wanted = file.checked_in(workspace)?;
        let found = fs::read_to_string(workspace.path(file.path)).unwrap_or_default();
        if found != wanted {
            stale.push(file.path);
        }
    }
    if stale.is_empty() { Ok(()) } else { Err(format!("stale: {}; run `cargo xtask generate`", stale.join(", "))) }
}

/// Writes every generated file anew.
pub(crate) fn rewrite(workspace: &Workspace) -> Result<(), String> {
    workspace.build()?;
    for file in GENERATED {
        let text = file.checked_in(workspace)?;
        fs::write(workspace.path(file.path), text).map_err(|error| format!("{}: {error}", file.path))?;
        println!("wrote {}", file.path);
    }
    Ok(())
}

/// The whole pages of which the repository has an index, by their paths.
pub(crate) fn whole_pages(workspace: &Workspace) -> Result<Vec<(&'static str, String)>, String> {
    workspace.build()?;
    let indexed = GENERATED.iter().filter(|file| file.indexed);
    indexed.map(|file| Ok((file.path, file.print(workspace)?))).collect()
}

/// The beginning of a page, and its sections with the number of rows in their tables.
fn index(page: &str, command: &str) -> String {
    let (head, sections) = page.split_once("\n## ").unwrap_or((page, ""));
    let mut index = String::new();
    for line in head.lines().filter(|line| !line.starts_with("<!-- ")) {
        let _ = writeln!(index, "{}", without_anchors(line));
    }
    let _ = write!(
        index,
        "\nThis is the index of the page. `cwnd {command}` prints the whole page, and `cargo xtask book DIR` builds all pages.\n\n"
    );
    for section in sections.split("\n## ") {
        let title = section.lines().next().unwrap_or_default().trim();
        if title.is_empty() || index.contains(&format!("| `{title}` |")) {
            continue;
        }
        // Of a section with one table, such as the keys of a document or the checks of a suite.
        let tables = section.lines().filter(|line| line.starts_with("|---")).count();
        let rows = section.lines().filter(|line| line.starts_with("| `")).count();
        let rows = if tables == 1 && rows > 1 { format!(": {rows} rows") } else { String::new() };
        let _ = writeln!(index, "- {title}{rows}");
    }
    index
}

/// A line whose links within its page are plain text.
fn without_anchors(line: &str) -> String {
    let mut parts = line.split("](#");
    let mut kept = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        if let Some(at) = kept.rfind('[') {
            kept.remove(at);
        }
        kept.push_str(part.split_once(')').map_or("", |(_, rest)| rest));
    }
    kept
}

impl Generated {
    /// The contents of the file in the repository.
    fn checked_in(&self, workspace: &Workspace) -> Result<String, String> {
        let page = self.print(workspace)?;
        Ok(if self.indexed { index(&page, &self.command.join(" ")) } else { page })
    }

    fn print(&self, workspace: &Workspace) -> Result<String, String> {
        let mut command = Command::new(workspace.program("cwnd"));
        command.args(self.command);
        println!("$ {}", shown(&command));
        let output = command.output().map_err(|error| format!("`{}` did not start: {error}", shown(&command)))?;
        if !output.status.success() {
            let message = String::from_utf8_lossy(&output.stderr);
            return Err(format!("`{}` ended with {}: {}", shown(&command), output.status, message.trim()));
        }
        String::from_utf8(output.stdout).map_err(|_| format!("`{}` printed something else than text", shown(&command)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_has_the_beginning_and_the_sections() {
        let page = "# T\n\nSee [below](#b), [x](x.md).\n\n| name |\n| [`a`](#a) |\n<!-- tables of all -->\n\n## a\n\n## b\n\n|---|---|\n| `k` | m |\n| `l` | m |\n";
        assert_eq!(
            index(page, "docs t"),
            "# T\n\nSee below, [x](x.md).\n\n| name |\n| `a` |\n\nThis is the index of the page. `cwnd docs t` prints the whole page, and \
             `cargo xtask book DIR` builds all pages.\n\n- b: 2 rows\n"
        );
    }
}
