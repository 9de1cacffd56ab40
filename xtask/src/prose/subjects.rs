//! The subjects of commits.

use std::process::Command;

use crate::workspace::Workspace;

/// Fails where a commit later than [`SINCE`] has a subject that is too long, or is not a capitalised imperative. Checks nothing in a copy
/// without that commit.
pub(super) fn check(workspace: &Workspace) -> Result<(), String> {
    let mut git = Command::new("git");
    git.current_dir(workspace.path("")).args(["log", "--no-merges", "--format=%h %s", &format!("{SINCE}..HEAD")]);
    let output = git.output().map_err(|error| format!("git log: {error}"))?;
    if !output.status.success() {
        println!("subjects of commits are not checked: {SINCE} is not in this copy");
        return Ok(());
    }
    let log = String::from_utf8_lossy(&output.stdout);
    let commits: Vec<_> = log.lines().filter_map(|line| line.split_once(' ')).collect();
    let faults: Vec<_> =
        commits.iter().filter_map(|(hash, subject)| fault(subject).map(|fault| (hash, subject, fault))).collect();
    for (hash, subject, fault) in &faults {
        println!("{hash} \"{subject}\": {fault}");
    }
    println!("{} subjects of commits", commits.len());
    if faults.is_empty() {
        Ok(())
    } else {
        Err(format!("{} commits have a subject that is not accepted", faults.len()))
    }
}

/// Earlier subjects stay as they are.
const SINCE: &str = "e73369fb";

/// The first fault of a subject.
fn fault(subject: &str) -> Option<String> {
    let length = subject.chars().count();
    let first = subject.split(' ').next().unwrap_or_default();
    if length > LONGEST {
        Some(format!("{length} characters, at most {LONGEST} are accepted"))
    } else if !first.starts_with(|letter: char| letter.is_ascii_uppercase()) {
        Some("it begins with a capital letter".to_owned())
    } else if first == "Say" || (first.ends_with("ing") && !IMPERATIVES.contains(&first)) {
        Some("it begins with the imperative of what the commit does".to_owned())
    } else if subject.ends_with('.') {
        Some("it ends without a full stop".to_owned())
    } else {
        None
    }
}

/// Git's own advice for a subject is 50; a terminal of 80 columns shows this many in `git log`.
const LONGEST: usize = 72;

/// Imperatives that look like participles.
const IMPERATIVES: [&str; 2] = ["Bring", "Ring"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subject_is_a_short_imperative() {
        assert_eq!(fault("Bring the queue back"), None);
        let refused = |subject: &str| fault(subject).is_some();
        assert!(refused("Say what a queue is") && refused("Renaming types") && refused("rename types"));
        assert!(refused("Rename types.") && refused(""));
        assert!(refused(&format!("Rename {}", "x".repeat(66))) && !refused(&format!("Rename {}", "x".repeat(65))));
    }
}
