//! For threads of a scope that go on until a test is over.

use std::sync::atomic::{AtomicBool, Ordering};

/// Sets a flag when it is dropped, in a panic too: a thread that goes on until then would keep a failed test from ending.
pub(crate) struct SetOnDrop<'a>(pub(crate) &'a AtomicBool);

impl Drop for SetOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
