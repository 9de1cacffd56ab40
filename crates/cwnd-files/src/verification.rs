//! Verifies the part of a file that an earlier transfer has left, while the rest of it is received.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use crate::tree::{GROUP, GroupValue, group_size, group_value, groups};

/// A thread that hashes groups on the disk. It ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Verification {
    cancelled: Arc<AtomicBool>,
    thread: Option<JoinHandle<io::Result<usize>>>,
}

impl Verification {
    /// Compares the first groups of a file of `size` bytes with their `values`.
    ///
    /// # Errors
    /// The process may have no further open file or thread.
    pub(crate) fn start(file: &File, size: u64, values: Vec<GroupValue>) -> io::Result<Self> {
        let (file, cancelled) = (file.try_clone()?, Arc::new(AtomicBool::new(false)));
        let stop = Arc::clone(&cancelled);
        let work = move || intact(&file, size, &values, &stop);
        let thread = Some(thread::Builder::new().name("verification".to_owned()).spawn(work)?);
        Ok(Self { cancelled, thread })
    }

    /// Whether the result is there.
    pub(crate) fn is_finished(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Waits for the result: how many groups are as they were, up to the first that is not.
    ///
    /// # Errors
    /// The file cannot be read.
    pub(crate) fn result(mut self) -> io::Result<usize> {
        let thread = self.thread.take().ok_or(io::ErrorKind::InvalidInput)?;
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

impl Drop for Verification {
    fn drop(&mut self) {
        self.cancelled.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // The open file, which the thread shares, holds the lock: the next transfer of the file shall find it released.
            let _ = thread.join();
        }
    }
}

fn intact(file: &File, size: u64, values: &[GroupValue], stop: &AtomicBool) -> io::Result<usize> {
    let mut buffer = Vec::new();
    for (index, value) in (0..).zip(values) {
        if stop.load(Ordering::Relaxed) {
            return Ok(index as usize);
        }
        buffer.resize(group_size(index, size), 0);
        file.read_exact_at(&mut buffer, index * GROUP)?;
        if group_value(index, groups(size), &buffer) != *value {
            return Ok(index as usize);
        }
    }
    Ok(values.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_thread_ends_with_what_it_was_for() {
        let file = tempfile::tempfile().unwrap();
        let size = 64 * GROUP;
        file.set_len(size).unwrap();
        let value = group_value(0, groups(size), &vec![0; GROUP as usize]);
        let verification = Verification::start(&file, size, vec![value; 64]).unwrap();
        let used = Arc::clone(&verification.cancelled);
        drop(verification);
        assert_eq!(Arc::strong_count(&used), 1, "the thread still has it");
    }
}
