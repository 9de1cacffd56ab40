//! SIGINT, SIGTERM and SIGHUP, which end a command early.

use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use std::{fs, thread};

use nix::sys::signal::{SigSet, Signal, raise};
use thiserror::Error;

/// The error that no thread waits for signals, because none could be started.
#[derive(Debug, Error)]
#[error("cannot listen to signals: there is no thread for them")]
pub struct Deaf;

/// Starts a thread that waits for the signals. Only threads started after this leave the signals to it. It also ignores SIGXFSZ, which
/// would end the process without a message when a file grows beyond a limit of the process: the error of the write then names the file.
/// SIGHUP stays ignored if it was, as under `nohup`; SIGINT does not, because shells start background programs with SIGINT ignored.
pub fn start() {
    let signals: SigSet =
        ENDING.into_iter().filter(|signal| *signal != Signal::SIGHUP || !is_ignored(*signal)).collect();
    let limit = SigSet::from(Signal::SIGXFSZ).thread_block();
    if signals.thread_block().and(limit).is_err() {
        return;
    }
    let wait = move || {
        while let Ok(signal) = signals.wait() {
            handle(signal);
        }
    };
    match thread::Builder::new().name("signals".to_owned()).spawn(wait) {
        Ok(_) => STARTED.store(true, Ordering::Relaxed),
        // The signals then end the process as they do without this.
        Err(_) => drop(signals.thread_unblock()),
    }
}

/// Calls `then` for each signal from now on. Without it a signal ends the process at once.
///
/// # Errors
/// No thread waits for signals.
pub fn listen(then: impl Fn() + Send + 'static) -> Result<(), Deaf> {
    if !STARTED.load(Ordering::Relaxed) {
        return Err(Deaf);
    }
    *HANDLER.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(then));
    Ok(())
}

/// The first signal that has arrived since [`listen`].
pub fn arrived() -> Option<Signal> {
    Signal::try_from(ARRIVED.load(Ordering::Relaxed)).ok()
}

/// Whether a signal has arrived since [`listen`].
pub fn interrupted() -> bool {
    arrived().is_some()
}

/// Returns the result of `work`, unless it is to `stop` before. Then its thread, which waits for the network, is abandoned.
pub fn unless_stopped<T: Send + 'static>(
    stop: impl Fn() -> bool,
    work: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || sender.send(work()));
    loop {
        match receiver.recv_timeout(CHECK) {
            Ok(done) => return Some(done),
            Err(RecvTimeoutError::Disconnected) => return None,
            Err(RecvTimeoutError::Timeout) if stop() => return None,
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
}

/// Calls `spawn` with no signal blocked in this thread. A process inherits the blocked signals of the thread that starts it.
pub fn unblocked<T>(spawn: impl FnOnce() -> T) -> T {
    let before = SigSet::thread_get_mask();
    let _blocked_signals_stay_so = SigSet::from_iter(ENDING).thread_unblock();
    let spawned = spawn();
    if let Ok(before) = before {
        let _no_thread_then_waits_twice = before.thread_set_mask();
    }
    spawned
}

fn handle(signal: Signal) {
    let handler = HANDLER.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(handler) = &*handler else {
        let _ends_the_process = SigSet::from(signal).thread_unblock().and_then(|()| raise(signal));
        // Where it was ignored, as shells have SIGINT ignored in the background, it has not.
        std::process::exit(128 + signal as i32);
    };
    let _later_ones_change_nothing = ARRIVED.compare_exchange(0, signal as i32, Ordering::Relaxed, Ordering::Relaxed);
    handler();
}

/// Whether the process was started with this signal ignored. Only Linux reports that.
fn is_ignored(signal: Signal) -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| u64::from_str_radix(line.strip_prefix("SigIgn:")?.trim(), 16).ok());
    ignored.is_some_and(|ignored| ignored >> (signal as i32 - 1) & 1 == 1)
}

const ENDING: [Signal; 3] = [Signal::SIGHUP, Signal::SIGINT, Signal::SIGTERM];

/// The interval between checks for an interruption.
pub const CHECK: Duration = Duration::from_millis(20);

type Handler = Box<dyn Fn() + Send>;

static STARTED: AtomicBool = AtomicBool::new(false);
static ARRIVED: AtomicI32 = AtomicI32::new(0);
static HANDLER: Mutex<Option<Handler>> = Mutex::new(None);
