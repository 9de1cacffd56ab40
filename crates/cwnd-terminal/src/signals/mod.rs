//! SIGINT, SIGTERM and SIGHUP, which end a command early.

use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use thiserror::Error;

#[cfg(not(unix))]
#[path = "elsewhere.rs"]
mod system;
#[cfg(unix)]
#[path = "unix.rs"]
mod system;

pub use system::{replaced_by, unblocked};

/// The error that no thread waits for signals, because none could be started.
#[derive(Debug, Error)]
#[error("cannot listen to signals: there is no thread for them")]
pub struct Deaf;

/// A signal that ends a command, with its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Signal {
    /// SIGHUP.
    HangUp = 1,
    /// SIGINT.
    Interrupt = 2,
    /// SIGTERM.
    Terminate = 15,
}

impl Signal {
    const ALL: [Self; 3] = [Self::HangUp, Self::Interrupt, Self::Terminate];

    /// The exit code that a shell reports for a program that the signal ended.
    #[must_use]
    pub const fn exit_code(self) -> u8 {
        128 + self as u8
    }
}

/// Waits for signals from now on.
pub fn start() {
    STARTED.store(system::start(handle), Ordering::Relaxed);
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
    let number = ARRIVED.load(Ordering::Relaxed);
    Signal::ALL.into_iter().find(|signal| *signal as u8 == number)
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

fn handle(signal: Signal) {
    let handler = HANDLER.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(handler) = &*handler else {
        system::end_by(signal);
        // Where it was ignored, as shells have SIGINT ignored in the background, it has not ended the process.
        std::process::exit(signal.exit_code().into());
    };
    let _later_ones_change_nothing = ARRIVED.compare_exchange(0, signal as u8, Ordering::Relaxed, Ordering::Relaxed);
    handler();
}

/// The interval between checks for an interruption.
pub const CHECK: Duration = Duration::from_millis(20);

type Handler = Box<dyn Fn() + Send>;

static STARTED: AtomicBool = AtomicBool::new(false);
static ARRIVED: AtomicU8 = AtomicU8::new(0);
static HANDLER: Mutex<Option<Handler>> = Mutex::new(None);
