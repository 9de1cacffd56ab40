//! Links between the two ends.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use crate::interop::Error;
use cwnd_link::{Plan, Relay};
use cwnd_sim::emulate::Emulation;

/// A relay on a thread of its own. It ends when this goes out of scope.
pub(crate) struct RelayThread {
    at: SocketAddr,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

/// Both directions of a link in front of `target`.
pub(crate) fn between(target: SocketAddr, emulation: &Emulation) -> Result<RelayThread, Error> {
    let relay = Relay::bind(Plan::new(SocketAddr::from(([127, 0, 0, 1], 0)), target, emulation.clone()))?;
    let at = relay.local()?;
    let stop = Arc::new(AtomicBool::new(false));
    let stopping = Arc::clone(&stop);
    let thread = thread::spawn(move || {
        if let Err(error) = relay.run(&stopping, None) {
            eprintln!("link: {error}");
        }
    });
    Ok(RelayThread { at, stop, thread: Some(thread) })
}

impl RelayThread {
    /// Where clients send to.
    pub(crate) fn at(&self) -> SocketAddr {
        self.at
    }
}

impl Drop for RelayThread {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // A panic there has been printed.
            let _ = thread.join();
        }
    }
}
