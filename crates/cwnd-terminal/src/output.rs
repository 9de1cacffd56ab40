//! Standard output, which is either for reports or for the bytes of a file.

use std::fmt::Arguments;
use std::io::{self, Write};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// From now on reports go to standard error: standard output is for a file.
pub fn reserve() {
    RESERVED.store(true, Ordering::Relaxed);
}

/// Whether standard output is for reports, and cannot be written any more.
pub fn is_closed() -> bool {
    CLOSED.get().is_some()
}

/// Why standard output cannot be written any more; none where its reader has closed it, or nothing has failed.
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

/// Writes a line to standard error. Where that is not possible nobody can be told, and what the command is for goes on.
pub fn say(line: Arguments<'_>) {
    let _unheard = writeln!(io::stderr().lock(), "{line}");
}

/// Says a formatted line on standard error.
#[macro_export]
macro_rules! say {
    ($($words:tt)*) => {
        $crate::output::say(format_args!($($words)*))
    };
}

static RESERVED: AtomicBool = AtomicBool::new(false);
static CLOSED: OnceLock<Option<String>> = OnceLock::new();
