//! Standard output, which is either for reports or for the bytes of a file.

use std::fmt::Arguments;
use std::io::{self, Write};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// Sends reports to standard error from now on: standard output is for a file.
pub fn reserve() {
    RESERVED.store(true, Ordering::Relaxed);
}

/// Whether standard output is for reports and can no longer be written.
pub fn is_closed() -> bool {
    CLOSED.get().is_some()
}

/// The reason why standard output can no longer be written; none if its reader has closed it, or nothing has failed.
pub fn failure() -> Option<&'static str> {
    CLOSED.get().and_then(Option::as_deref)
}

/// Writes a report.
///
/// # Errors
/// Standard output cannot be written; after this [`is_closed`] holds.
pub fn write(text: &str) -> io::Result<()> {
    if RESERVED.load(Ordering::Relaxed) {
        return io::stderr().write_all(text.as_bytes());
    }
    let mut out = io::stdout().lock();
    let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    if let Err(error) = &written {
        let why = (error.kind() != io::ErrorKind::BrokenPipe).then(|| error.to_string());
        let _the_first_stays = CLOSED.set(why);
    }
    written
}

/// Writes a line to standard error. A failure to do so is ignored, so that the command continues.
pub fn say(line: Arguments<'_>) {
    let _unheard = writeln!(io::stderr().lock(), "{line}");
}

/// Writes a formatted line to standard error.
#[macro_export]
macro_rules! say {
    ($($words:tt)*) => {
        $crate::output::say(format_args!($($words)*))
    };
}

static RESERVED: AtomicBool = AtomicBool::new(false);
static CLOSED: OnceLock<Option<String>> = OnceLock::new();
