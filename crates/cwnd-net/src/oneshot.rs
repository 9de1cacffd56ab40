//! A channel for one value: the answer of the thread of a port to a request.

use std::sync::{Arc, Mutex};

use crate::wait::{Notify, Wait, lock};

/// Receives the value.
#[derive(Debug)]
pub(crate) struct Receiver<T>(Arc<Channel<T>>);

/// Sends the value. Dropped without sending, it closes the channel.
#[derive(Debug)]
pub(crate) struct Sender<T>(Arc<Channel<T>>);

/// Why no value was received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RecvError {
    /// There will be none: the sender was dropped, or the value has been received.
    Closed,
    /// No value yet: the deadline has passed, or the task will be woken.
    Pending,
}

#[derive(Debug)]
struct Channel<T> {
    state: Mutex<State<T>>,
    changed: Notify,
}

#[derive(Debug)]
enum State<T> {
    Empty,
    Sent(T),
    /// One of the two ends was dropped, or the value has been received.
    Closed,
}

pub(crate) fn channel<T>() -> (Sender<T>, Receiver<T>) {
    let channel = Arc::new(Channel { state: Mutex::new(State::Empty), changed: Notify::default() });
    (Sender(Arc::clone(&channel)), Receiver(channel))
}

impl<T> Receiver<T> {
    /// Waits for the value.
    pub(crate) fn recv(&self, wait: Wait<'_>) -> Result<T, RecvError> {
        let mut state = lock(&self.0.state);
        while matches!(*state, State::Empty) {
            state = self.0.changed.wait(state, wait).ok_or(RecvError::Pending)?;
        }
        state.close().ok_or(RecvError::Closed)
    }

    /// Closes the channel; returns the value if it was sent and not received.
    pub(crate) fn close(&self) -> Option<T> {
        lock(&self.0.state).close()
    }
}

impl<T> Sender<T> {
    /// Sends the value; returns it if the receiver was dropped.
    pub(crate) fn send(self, value: T) -> Result<(), T> {
        let mut state = lock(&self.0.state);
        if !matches!(*state, State::Empty) {
            return Err(value);
        }
        *state = State::Sent(value);
        // Dropping the sender notifies the receiver.
        Ok(())
    }
}

impl<T> State<T> {
    fn close(&mut self) -> Option<T> {
        match std::mem::replace(self, Self::Closed) {
            Self::Sent(value) => Some(value),
            Self::Empty | Self::Closed => None,
        }
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        let _unreceived = self.close();
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        let mut state = lock(&self.0.state);
        if matches!(*state, State::Empty) {
            *state = State::Closed;
        }
        drop(state);
        self.0.changed.notify();
    }
}

#[cfg(test)]
mod tests {
    use std::thread;
    use std::time::Duration;

    use super::*;
    use crate::clock::Deadline;

    #[test]
    fn a_value_is_received_once_and_a_dropped_sender_is_noticed() {
        let forever = Wait::Until(Deadline::after(None));
        let (sender, receiver) = channel();
        let thread = thread::spawn(move || {
            thread::sleep(Duration::from_millis(20));
            sender.send(7)
        });
        assert_eq!(receiver.recv(forever), Ok(7));
        assert_eq!(thread.join().unwrap(), Ok(()));
        assert_eq!(receiver.recv(forever), Err(RecvError::Closed));
        let (sender, receiver) = channel::<u8>();
        let soon = Wait::Until(Deadline::after(Some(Duration::from_millis(1))));
        assert_eq!(receiver.recv(soon), Err(RecvError::Pending));
        drop(sender);
        assert_eq!(receiver.recv(forever), Err(RecvError::Closed));
        let (sender, receiver) = channel();
        drop(receiver);
        assert_eq!(sender.send(7), Err(7));
    }
}
