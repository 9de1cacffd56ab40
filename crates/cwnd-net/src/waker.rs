//! How the thread of a port sleeps, and how an application wakes it.

use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags};

/// Wakes the thread of a port. A thread that is awake costs its waker one atomic exchange and no system call.
#[derive(Debug)]
pub(crate) struct Waker {
    asleep: AtomicBool,
    bell: UnixStream,
}

/// The other end: what the thread sleeps on.
#[derive(Debug)]
pub(crate) struct Sleeper {
    bell: UnixStream,
}

/// What may end a sleep besides the waker and the time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Interest<'a> {
    pub(crate) socket: BorrowedFd<'a>,
    /// When a datagram has come in.
    pub(crate) readable: bool,
    /// When the socket takes datagrams again.
    pub(crate) writable: bool,
}

pub(crate) fn waker() -> io::Result<(Waker, Sleeper)> {
    let (ring, hear) = UnixStream::pair()?;
    ring.set_nonblocking(true)?;
    hear.set_nonblocking(true)?;
    Ok((Waker { asleep: AtomicBool::new(false), bell: ring }, Sleeper { bell: hear }))
}

impl Waker {
    /// Called after the news has been put where the thread will look.
    pub(crate) fn wake(&self) {
        if self.asleep.swap(false, Ordering::SeqCst) {
            // The bell holds one byte per sleep at most, so it is never full.
            let _rung = (&self.bell).write(&[1]);
        }
    }

    /// Announces a sleep. Whoever does so looks for news once more before he sleeps: news put before the announcement rang no
    /// bell.
    pub(crate) fn announce(&self) {
        self.asleep.store(true, Ordering::SeqCst);
    }

    /// Takes the announcement back.
    pub(crate) fn awake(&self) {
        self.asleep.store(false, Ordering::SeqCst);
    }
}

impl Sleeper {
    /// Sleeps until something happens or `limit` has passed, without end for none. Returns early after a signal.
    pub(crate) fn sleep(&self, interest: Interest<'_>, limit: Option<Duration>) {
        let mut events = PollFlags::empty();
        events.set(PollFlags::POLLIN, interest.readable);
        events.set(PollFlags::POLLOUT, interest.writable);
        let bell = PollFd::new(self.bell.as_fd(), PollFlags::POLLIN);
        let mut fds = [PollFd::new(interest.socket, events), bell];
        let ready = wait(&mut fds, limit);
        let rung = fds[1].revents().is_some_and(|events| !events.is_empty());
        if ready.is_ok() && rung {
            let mut rings = [0; 16];
            let _heard = (&self.bell).read(&mut rings);
        }
    }
}

/// Nanoseconds where the system has them.
#[cfg(any(target_os = "linux", target_os = "android", target_os = "freebsd"))]
fn wait(fds: &mut [PollFd<'_>], limit: Option<Duration>) -> Result<i32, Errno> {
    nix::poll::ppoll(fds, limit.map(Into::into), None)
}

/// Milliseconds elsewhere, rounded up: a sleep that ends too early would be followed by another.
#[cfg(not(any(target_os = "linux", target_os = "android", target_os = "freebsd")))]
fn wait(fds: &mut [PollFd<'_>], limit: Option<Duration>) -> Result<i32, Errno> {
    use nix::poll::PollTimeout;
    let millis = |limit: Duration| limit.as_nanos().div_ceil(1_000_000);
    let limit =
        limit.map_or(PollTimeout::NONE, |limit| PollTimeout::try_from(millis(limit)).unwrap_or(PollTimeout::MAX));
    nix::poll::poll(fds, limit)
}

#[cfg(test)]
mod tests {
    use std::net::UdpSocket;
    use std::sync::Arc;
    use std::thread;

    use super::*;
    use crate::clock::Deadline;

    #[test]
    fn news_ends_a_sleep_and_one_bell_ends_one_sleep() {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        let interest = || Interest { socket: socket.as_fd(), readable: true, writable: false };
        let (waker, sleeper) = waker().unwrap();
        let waker = Arc::new(waker);
        waker.announce();
        let other = Arc::clone(&waker);
        let thread = thread::spawn(move || {
            other.wake();
            other.wake();
        });
        let long = Deadline::after(Some(Duration::from_secs(30)));
        sleeper.sleep(interest(), long.left());
        thread.join().unwrap();
        assert!(long.left() > Some(Duration::from_secs(20)), "the bell ended the sleep");
        let short = Deadline::after(Some(Duration::from_millis(5)));
        sleeper.sleep(interest(), short.left());
        assert_eq!(short.left(), Some(Duration::ZERO), "no bell is left over, and the sleep is not cut short");
    }
}
