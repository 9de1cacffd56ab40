//! A running hash over what happened: equal digests are equal runs.

/// The number of the format of [`Trace::digest`](cwnd_trace::Trace::digest): digests of different formats are never comparable. It increases
/// when a change alters the digest of a run whose numbers remain.
pub const DIGEST_FORMAT: u32 = 1;

/// A 64-bit hash fed with whole numbers: multiply, rotate, repeat. Not cryptographic.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Digest(u64);

impl Digest {
    /// The hash of nothing.
    pub(crate) fn new() -> Self {
        Self(0x9e37_79b9_7f4a_7c15)
    }

    /// Takes in one number.
    #[inline]
    pub(crate) fn mix(&mut self, value: u64) {
        self.0 = (self.0.rotate_left(23) ^ value).wrapping_mul(0xd6e8_feb8_6659_fd93);
    }

    /// The hash so far.
    pub(crate) fn value(self) -> u64 {
        self.0 ^ (self.0 >> 32)
    }
}
