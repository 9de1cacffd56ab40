//! How the thread of a port sleeps, and how an application wakes it.
//!
//! The crate `polling` does not serve: for a timeout to the microsecond it sets a timer and re-arms its events at every sleep, with five
//! system calls on Linux where `ppoll` is one, and without such timers it rounds to a millisecond.

use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags};

/// Wakes the thread of a port. If the thread is awake this is one atomic exchange and no system call.
#[derive(Debug)]
pub(crate) struct Waker {
    asleep: AtomicBool,
    sender: UnixStream,
}

/// The other end, at which the thread sleeps.
#[derive(Debug)]
pub(crate) struct Sleeper {
    receiver: UnixStream,
}

/// Events that may end a sleep besides the waker and the timeout.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Interest<'a> {
    pub(crate) socket: BorrowedFd<'a>,
    /// When a datagram has arrived.
    pub(crate) readable: bool,
    /// When the socket accepts datagrams again.
    pub(crate) writable: bool,
}

pub(crate) fn waker() -> io::Result<(Waker, Sleeper)> {
    let (sender, receiver) = UnixStream::pair()?;
    sender.set_nonblocking(true)?;
    receiver.set_nonblocking(true)?;
    Ok((Waker { asleep: AtomicBool::new(false), sender }, Sleeper { receiver }))
}

impl Waker {
    /// Wakes the thread if it sleeps or is about to. To be called after the change that it should see.
    pub(crate) fn wake(&self) {
        if self.asleep.swap(false, Ordering::SeqCst) {
            // At most one byte is written per sleep, so that the buffer of the socket pair is never full.
            let _written = (&self.sender).write(&[1]);
        }
    }

    /// Prepares a sleep: from now on [`wake`](Self::wake) ends it. The thread must look for work once more before it sleeps, since a
    /// wake before this call had no effect.
    pub(crate) fn prepare(&self) {
        self.asleep.store(true, Ordering::SeqCst);
    }

    /// Ends what [`prepare`](Self::prepare) began.
    pub(crate) fn cancel(&self) {
        self.asleep.store(false, Ordering::SeqCst);
    }
}

impl Sleeper {
    /// Sleeps until the waker or the socket ends the sleep, or for `timeout`, without limit for none. A signal ends the sleep early.
    pub(crate) fn sleep(&self, interest: Interest<'_>, timeout: Option<Duration>) {
        let mut events = PollFlags::empty();
        events.set(PollFlags::POLLIN, interest.readable);
        events.set(PollFlags::POLLOUT, interest.writable);
        let waker = PollFd::new(self.receiver.as_fd(), PollFlags::POLLIN);
        let mut fds = [PollFd::new(interest.socket, events), waker];
        let ready = poll(&mut fds, timeout);
        let woken = fds[1].revents().is_some_and(|events| !events.is_empty());
        if ready.is_ok() && woken {
            let _read = (&self.receiver).read(&mut [0; 16]);
        }
    }
}

/// To the nanosecond where the system can.
#[cfg(any(target_os = "linux", target_os = "android", target_os = "freebsd"))]
fn poll(fds: &mut [PollFd<'_>], timeout: Option<Duration>) -> Result<i32, Errno> {
    nix::poll::ppoll(fds, timeout.map(Into::into), None)
}

/// To the millisecond elsewhere, rounded up: after a sleep that is too short there would be another.
#[cfg(not(any(target_os = "linux", target_os = "android", target_os = "freebsd")))]
fn poll(fds: &mut [PollFd<'_>], timeout: Option<Duration>) -> Result<i32, Errno> {
    use nix::poll::PollTimeout;
    let millis = |timeout: Duration| timeout.as_nanos().div_ceil(1_000_000);
    let timeout =
        timeout.map_or(PollTimeout::NONE, |timeout| PollTimeout::try_from(millis(timeout)).unwrap_or(PollTimeout::MAX));
    nix::poll::poll(fds, timeout)
}

#[cfg(test)]
mod tests {
    use std::net::UdpSocket;
    use std::sync::Arc;
    use std::thread;

    use super::*;
    use crate::clock::Deadline;

    #[test]
    fn a_wake_ends_one_sleep() {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        let interest = || Interest { socket: socket.as_fd(), readable: true, writable: false };
        let (waker, sleeper) = waker().unwrap();
        let waker = Arc::new(waker);
        waker.prepare();
        let other = Arc::clone(&waker);
        let thread = thread::spawn(move || {
            other.wake();
            other.wake();
        });
        let long = Deadline::after(Some(Duration::from_secs(30)));
        sleeper.sleep(interest(), long.left());
        thread.join().unwrap();
        assert!(long.left() > Some(Duration::from_secs(20)), "the waker ended the sleep");
        let short = Deadline::after(Some(Duration::from_millis(5)));
        sleeper.sleep(interest(), short.left());
        assert_eq!(short.left(), Some(Duration::ZERO), "no byte is left over, and the sleep is not cut short");
    }
}
