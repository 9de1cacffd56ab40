//! The machine: whether packages can be installed here, and whether this is a CI run.

use std::cell::Cell;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::workspace::run;

/// The machine the tasks run on.
pub(crate) struct Machine {
    /// Debian or a derivative, and we are root: missing programs are installed.
    debian_root: bool,
    /// A continuous-integration run, by the convention that it sets `CI=true`.
    pub(crate) ci: bool,
    /// The package lists have been fetched by this run.
    fresh_lists: Cell<bool>,
}

impl Machine {
    /// This machine.
    pub(crate) fn here() -> Self {
        let release = fs::read_to_string("/etc/os-release").unwrap_or_default();
        Self {
            debian_root: is_debian(&release) && is_root(),
            ci: std::env::var("CI").is_ok_and(|value| value == "true"),
            fresh_lists: Cell::new(false),
        }
    }

    /// A machine on which nothing may be installed.
    #[cfg(test)]
    pub(crate) fn bare(ci: bool) -> Self {
        Self { debian_root: false, ci, fresh_lists: Cell::new(false) }
    }

    /// Whether missing programs may be installed here.
    pub(crate) fn installs(&self) -> bool {
        self.debian_root
    }

    /// Installs Debian packages.
    pub(crate) fn apt(&self, packages: &[&str]) -> Result<(), String> {
        if !self.fresh_lists.replace(true) {
            run(Command::new("apt-get").args(["update", "-qq"]))?;
        }
        let install = ["install", "-qq", "--no-install-recommends"];
        run(Command::new("apt-get").env("DEBIAN_FRONTEND", "noninteractive").args(install).args(packages))
    }
}

/// Whether an `os-release` file is that of Debian or of a distribution that says it is like it.
fn is_debian(os_release: &str) -> bool {
    let value = |key: &str| {
        let line = os_release.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix('='));
        line.unwrap_or_default().trim_matches('"').to_owned()
    };
    value("ID") == "debian" || value("ID_LIKE").split_whitespace().any(|like| like == "debian")
}

/// The megabytes that are free where `path` is, if `df` reports them.
pub(crate) fn free_megabytes(path: &Path) -> Option<u64> {
    let output = Command::new("df").arg("-Pk").arg(path).output().ok().filter(|output| output.status.success())?;
    available(&String::from_utf8_lossy(&output.stdout)).map(|kilobytes| kilobytes / 1024)
}

/// The available space: the fourth column of the second line, by POSIX.
fn available(df: &str) -> Option<u64> {
    df.lines().nth(1)?.split_whitespace().nth(3)?.parse().ok()
}

fn is_root() -> bool {
    let id = Command::new("id").arg("-u").output();
    id.is_ok_and(|output| output.stdout.trim_ascii() == b"0")
}

#[cfg(test)]
mod tests {
    use super::{available, is_debian};

    #[test]
    fn debian_is_known_by_its_release_file() {
        assert!(is_debian("PRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\nID=debian\n"));
        assert!(is_debian("ID=ubuntu\nID_LIKE=debian\n"));
        assert!(is_debian("ID=mint\nID_LIKE=\"ubuntu debian\"\n"));
        assert!(!is_debian("ID=fedora\nVARIANT_ID=debian\n"));
        assert!(!is_debian(""));
    }

    #[test]
    fn what_is_free_is_read_off_df() {
        let header = "Filesystem     1024-blocks     Used Available Capacity Mounted on\n";
        assert_eq!(
            available(&format!("{header}/dev/vda        263174212 89541044   5474312      95% /\n")),
            Some(5_474_312)
        );
        assert_eq!(available(header), None);
    }
}
