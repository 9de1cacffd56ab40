//! SIGINT, SIGTERM and SIGHUP, which end a command early.

use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use std::{fs, thread};

use nix::sys::signal::{SigSet, Signal, raise};
use thiserror::Error;

/// No thread waits for signals, since none could be started.
#[derive(Debug, Error)]
#[error("cannot listen to signals: there is no thread for them")]
pub struct Deaf;

/// Begins to wait for the signals in a thread of its own, and leaves a file that grows beyond a limit of the process to the error of the
/// write, which names the file; its signal, SIGXFSZ, would end the process without a word. Only threads that are started after this leave the signals to it. SIGHUP stays
/// ignored where it is, as under `nohup`; SIGINT does not, which shells have programs in the background ignore.
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

/// From now on calls `then` for each signal, which otherwise ends the process at once.
///
/// # Errors
/// There is no thread that waits for signals.
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

/// What `work` returns, unless it is to `stop` before: then its thread, which waits for the network, is left behind.
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

/// Whether the process was started with this signal ignored. Other systems than Linux do not tell.
fn is_ignored(signal: Signal) -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| u64::from_str_radix(line.strip_prefix("SigIgn:")?.trim(), 16).ok());
    ignored.is_some_and(|ignored| ignored >> (signal as i32 - 1) & 1 == 1)
}

const ENDING: [Signal; 3] = [Signal::SIGHUP, Signal::SIGINT, Signal::SIGTERM];

/// How often an interruption is looked for.
pub const CHECK: Duration = Duration::from_millis(20);

type Handler = Box<dyn Fn() + Send>;

static STARTED: AtomicBool = AtomicBool::new(false);
static ARRIVED: AtomicI32 = AtomicI32::new(0);
static HANDLER: Mutex<Option<Handler>> = Mutex::new(None);
