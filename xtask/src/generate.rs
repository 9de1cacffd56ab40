//! Files that the program writes about itself: checked in so that people can read them here, and compared on every check.

use std::fs;
use std::process::Command;

use crate::workspace::{Workspace, shown};

/// A file of the repository that a command prints.
struct Generated {
    path: &'static str,
    /// The arguments of `cwnd`.
    command: &'static [&'static str],
}

/// All of them.
const GENERATED: &[Generated] = &[
    Generated { path: "docs/algorithms.md", command: &["docs", "algorithms"] },
    Generated { path: "docs/conform.md", command: &["docs", "conform"] },
    Generated { path: "docs/cross.md", command: &["docs", "cross"] },
    Generated { path: "docs/json.md", command: &["docs", "json"] },
    Generated { path: "docs/papers.md", command: &["docs", "papers"] },
    Generated { path: "docs/scenario.schema.json", command: &["schema"] },
    Generated { path: "docs/sweep.schema.json", command: &["schema", "sweep"] },
];

/// Whether every generated file is what its command prints now.
pub(crate) fn compare(workspace: &Workspace) -> Result<(), String> {
    workspace.build()?;
    let mut stale = Vec::new();
    for file in GENERATED {
        let wanted = file.print(workspace)?;
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
        let text = file.print(workspace)?;
        fs::write(workspace.path(file.path), text).map_err(|error| format!("{}: {error}", file.path))?;
        println!("wrote {}", file.path);
    }
    Ok(())
}

impl Generated {
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
