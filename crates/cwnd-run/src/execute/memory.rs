//! How much memory runs may use.

use std::fs;

/// Half of what the machine has, or the container it is in, bytes: what all runs may use together where nobody says otherwise. Where
/// the system does not report it, 4 GiB.
#[must_use]
pub fn default_memory() -> u64 {
    machine_memory().map_or(UNKNOWN, |bytes| bytes / 2)
}

/// The memory of the machine, or of the container it is in, bytes; none where the system does not report it.
#[must_use]
pub fn machine_memory() -> Option<u64> {
    let machine = fs::read_to_string("/proc/meminfo").ok().and_then(|text| of_machine(&text));
    let container = fs::read_to_string("/sys/fs/cgroup/memory.max").ok().and_then(|text| text.trim().parse().ok());
    [machine, container].into_iter().flatten().min()
}

/// `MemTotal` of `/proc/meminfo`, which is in KiB.
fn of_machine(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

const UNKNOWN: u64 = 4 << 30;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_memory_of_a_machine_is_read() {
        assert_eq!(of_machine("MemTotal:       16303428 kB\nMemFree: 1 kB\n"), Some(16_694_710_272));
        assert_eq!(of_machine("MemFree: 1 kB\n"), None);
        assert!(default_memory() > 0);
    }
}
