//! Systems without the signals of Unix: Ctrl-C, Ctrl-Break and the end of a console count as SIGINT.

use std::io;
use std::process::Command;

use super::Signal;

/// Calls `handle` for each Ctrl-C. Returns whether it will be called; otherwise Ctrl-C ends the process as before.
pub(super) fn start(handle: fn(Signal)) -> bool {
    ctrlc::set_handler(move || handle(Signal::Interrupt)).is_ok()
}

/// Does nothing: no signal ends a process here.
pub(super) fn end_by(_signal: Signal) {}

/// Calls `spawn`. Where processes inherit blocked signals, none is blocked then.
pub fn unblocked<T>(spawn: impl FnOnce() -> T) -> T {
    spawn()
}

/// Runs `command`, and exits with its exit code, or with 1 if it has none. Returns the error if it cannot be run.
pub fn replaced_by(mut command: Command) -> io::Error {
    match command.status() {
        Ok(status) => std::process::exit(status.code().unwrap_or(1)),
        Err(error) => error,
    }
}
