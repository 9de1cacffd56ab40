//! How often to look for datagrams while many arrive.

use std::time::Duration;

use cwnd::{Span, Time};

/// A thread that waits for the socket is woken by every arrival, which costs the sender as much as the sending. While datagrams
/// arrive densely the thread therefore reads the socket at an interval, as network drivers do, and finds many at once.
#[derive(Debug, Default)]
pub(super) struct PollInterval {
    /// When something was last received.
    received_at: Time,
    /// Buffers received since the last update.
    received: u64,
    dense: bool,
}

impl PollInterval {
    /// A buffer was received.
    pub(super) fn on_receive(&mut self) {
        self.received += 1;
    }

    /// Decides anew, from the packets received since the last call.
    pub(super) fn update(&mut self, now: Time) {
        let received = std::mem::take(&mut self.received);
        self.dense = received >= MIN_RECEIVED && now.since(self.received_at) <= MAX_DISTANCE * received;
        if received > 0 {
            self.received_at = now;
        }
    }

    /// The interval; none if the thread should be woken by the socket.
    pub(super) fn get(&self) -> Option<Duration> {
        self.dense.then_some(INTERVAL)
    }
}

/// Arrivals are dense if there are at least this number, no further apart on average.
const MIN_RECEIVED: u64 = 3;
const MAX_DISTANCE: Span = Span::from_micros(40);
/// Short compared with the round-trip time of any network, long compared with the time it takes to wake a thread.
const INTERVAL: Duration = Duration::from_micros(50);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_socket_is_polled_while_arrivals_are_dense() {
        let mut interval = PollInterval::default();
        let mut after = |micros, received| {
            (0..received).for_each(|_| interval.on_receive());
            interval.update(Time::ZERO + Span::from_micros(micros));
            interval.get().is_some()
        };
        assert!(!after(1_000, 5), "the first after a pause");
        assert!(after(1_120, 3));
        assert!(!after(1_140, 2), "too few");
        assert!(!after(1_301, 4), "too far apart");
        assert!(after(1_421, 3));
        assert!(!after(1_471, 0), "nothing more");
    }
}
