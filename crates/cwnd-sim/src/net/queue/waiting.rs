//! Packets in front of a line whose departures are known.

use std::collections::VecDeque;

use cwnd::{Bytes, Time};

/// Packets that wait, by when their transmission begins.
#[derive(Debug, Default)]
pub(crate) struct Waiting {
    starts: VecDeque<(Time, Bytes)>,
    bytes: u64,
}

impl Waiting {
    /// A packet of `size` waits until `start`, not before the one in front of it.
    #[inline(always)]
    pub(crate) fn push(&mut self, start: Time, size: Bytes) {
        self.starts.push_back((start, size));
        self.bytes += u64::from(size.0);
    }

    /// Lets go of the packets whose transmission has begun.
    #[inline(always)]
    pub(crate) fn advance(&mut self, now: Time) {
        while let Some((start, size)) = self.starts.front()
            && *start <= now
        {
            self.bytes -= u64::from(size.0);
            self.starts.pop_front();
        }
    }

    #[inline(always)]
    pub(crate) fn packets(&self) -> u64 {
        self.starts.len() as u64
    }

    #[inline(always)]
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }
}
