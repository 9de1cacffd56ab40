//! Signals of Unix.

use std::os::unix::process::CommandExt as _;
use std::process::Command;
use std::{fs, io, thread};

use nix::sys::signal::{self, SigSet, raise};

use super::Signal;

/// Starts a thread that calls `handle` for each signal. Threads started after this leave the signals to it. It also ignores SIGXFSZ, which
/// would end the process without a message when a file grows beyond a limit of the process: the error of the write then names the file.
/// SIGHUP stays ignored if it was, as under `nohup`; SIGINT does not, because shells start background programs with SIGINT ignored.
///
/// Returns whether the thread runs; otherwise signals end the process as before.
pub(super) fn start(handle: fn(Signal)) -> bool {
    let heeded = |signal: &Signal| *signal != Signal::HangUp || !is_ignored(*signal);
    let signals: SigSet = Signal::ALL.into_iter().filter(heeded).map(number).collect();
    let limit = SigSet::from(signal::Signal::SIGXFSZ).thread_block();
    if signals.thread_block().and(limit).is_err() {
        return false;
    }
    let wait = move || {
        while let Ok(arrived) = signals.wait() {
            Signal::ALL.into_iter().filter(|signal| number(*signal) == arrived).for_each(handle);
        }
    };
    let started = thread::Builder::new().name("signals".to_owned()).spawn(wait).is_ok();
    if !started {
        let _they_stay_blocked = signals.thread_unblock();
    }
    started
}

/// Ends the process by the signal.
pub(super) fn end_by(signal: Signal) {
    let _ends_the_process = SigSet::from(number(signal)).thread_unblock().and_then(|()| raise(number(signal)));
}

/// Calls `spawn` with no signal blocked in this thread. A process inherits the blocked signals of the thread that starts it.
pub fn unblocked<T>(spawn: impl FnOnce() -> T) -> T {
    let before = SigSet::thread_get_mask();
    let _blocked_signals_stay_so = SigSet::from_iter(Signal::ALL.map(number)).thread_unblock();
    let spawned = spawn();
    if let Ok(before) = before {
        let _no_thread_then_waits_twice = before.thread_set_mask();
    }
    spawned
}

/// Replaces this process by `command`. Returns the error if it cannot.
pub fn replaced_by(mut command: Command) -> io::Error {
    unblocked(|| command.exec())
}

/// Whether the process was started with this signal ignored. Only Linux reports that.
fn is_ignored(signal: Signal) -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| u64::from_str_radix(line.strip_prefix("SigIgn:")?.trim(), 16).ok());
    ignored.is_some_and(|ignored| ignored >> (signal as u8 - 1) & 1 == 1)
}

fn number(signal: Signal) -> signal::Signal {
    match signal {
        Signal::HangUp => signal::Signal::SIGHUP,
        Signal::Interrupt => signal::Signal::SIGINT,
        Signal::Terminate => signal::Signal::SIGTERM,
    }
}
