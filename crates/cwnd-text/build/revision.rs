//! The revision of a package: of the checkout that it lies in, or as it was packed.

use std::path::Path;
use std::process::Command;

/// The commit of the repository in which `package` lies as in ours, and the files of git that change with it. None elsewhere: sources
/// that were unpacked within another repository do not have its revision.
pub(crate) fn revision(package: &Path) -> Option<(String, Vec<String>)> {
    let git = |arguments: &[&str]| {
        let output = Command::new("git").current_dir(package).args(arguments).output().ok();
        let output = output.filter(|output| output.status.success())?;
        String::from_utf8(output.stdout).ok().map(|text| text.trim().to_string())
    };
    if git(&["rev-parse", "--show-prefix"])? != PLACE {
        return None;
    }
    let files = ["HEAD", "logs/HEAD"].iter().filter_map(|file| git(&["rev-parse", "--git-path", file])).collect();
    Some((git(&["describe", "--always", "--dirty", "--exclude=*"])?, files))
}

/// The revision that `cargo package` recorded: the commit, in as many digits as git prints, and whether files differed.
pub(crate) fn packed(record: &str) -> Option<String> {
    let (_, commit) = record.split_once("\"sha1\": \"")?;
    let digits = commit.get(..8).filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()))?;
    let differed = record.contains("\"dirty\": true");
    Some(if differed { format!("{digits}-dirty") } else { digits.to_owned() })
}

/// The directory of the package in our repository.
pub(crate) const PLACE: &str = "crates/cwnd-text/";
