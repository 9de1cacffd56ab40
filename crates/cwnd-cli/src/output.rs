//! Standard output, which is either for reports or for the bytes of a file.

use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};

/// From now on reports go to standard error: standard output is for a file.
pub(crate) fn reserve() {
    RESERVED.store(true, Ordering::Relaxed);
}

/// Whether standard output is for reports, and its reader has closed it.
pub(crate) fn is_closed() -> bool {
    CLOSED.load(Ordering::Relaxed)
}

/// Writes a report.
pub(crate) fn write(text: &str) -> io::Result<()> {
    if RESERVED.load(Ordering::Relaxed) {
        return io::stderr().write_all(text.as_bytes());
    }
    let mut out = io::stdout().lock();
    let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    if written.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::BrokenPipe) {
        CLOSED.store(true, Ordering::Relaxed);
    }
    written
}

static RESERVED: AtomicBool = AtomicBool::new(false);
static CLOSED: AtomicBool = AtomicBool::new(false);
