//! Words of 32 bits, and their faults.

use thiserror::Error;

use crate::number::Seq;

/// A datagram that is no packet of UDT.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Malformed {
    /// A packet of data without data.
    #[error("a packet of data carries none")]
    Empty,
    /// A body that is too short for its type, or not exactly as long as it must be.
    #[error("a {0} cannot have a body of {1} B")]
    Length(&'static str, usize),
    /// A loss list that stops within a range, has one that runs backwards, or is empty.
    #[error("the loss list is broken")]
    LossList,
    /// A number that uses a bit it does not have, or no number where one must be.
    #[error("the {0} is out of range")]
    Number(&'static str),
    /// The datagram has less than a header.
    #[error("no header is in {0} B")]
    Short(usize),
}

/// The length of a header, bytes.
pub const HEADER: usize = 16;

/// Word `index` of a body; 0 where there is none, which lengths checked before rule out.
pub(super) fn word(body: &[u8], index: usize) -> u32 {
    body.get(index * 4..).and_then(<[u8]>::first_chunk).map_or(0, |word| u32::from_be_bytes(*word))
}

/// All words of a body of a known length.
pub(super) fn words<const BYTES: usize, const WORDS: usize>(body: &[u8; BYTES]) -> [u32; WORDS] {
    std::array::from_fn(|index| word(body, index))
}

/// A sequence number; `what` names it in the error.
pub(super) fn seq(word: u32, what: &'static str) -> Result<Seq, Malformed> {
    Seq::new(word).ok_or(Malformed::Number(what))
}
