//! Acknowledgements.

use super::words::{Malformed, seq, word};
use crate::number::{AckNumber, Seq};

/// A full acknowledgement. Times and counts have 31 bits; larger ones are sent as the largest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FullAck {
    /// Its own number, which the ACK2 repeats.
    pub number: AckNumber,
    /// Every packet before this one has arrived; this one has not.
    pub next: Seq,
    /// The receiver's round-trip time, in microseconds.
    pub rtt_us: u32,
    /// Its variation, in microseconds.
    pub rtt_var_us: u32,
    /// Packets the receiver has room for. libudt never sends less than 2.
    pub window: u32,
    /// Sent at most every 10 ms.
    pub rates: Option<Rates>,
}

/// The measurements of the receiver, in packets per second; 0 where it does not know. At most 31 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rates {
    /// How fast packets arrive.
    pub arrival: u32,
    /// The capacity of the path, by packet pairs.
    pub capacity: u32,
}

impl FullAck {
    pub(super) fn parse(number: u32, body: &[u8]) -> Result<Self, Malformed> {
        if body.len() < SHORT {
            return Err(Malformed::Length("acknowledgement", body.len()));
        }
        let count = |index, what| Some(word(body, index)).filter(|word| *word <= MAX).ok_or(Malformed::Number(what));
        // libudt computes rates that are negative now and then.
        let rate = |index| count(index, "rate").unwrap_or(0);
        Ok(Self {
            number: AckNumber::new(number).ok_or(Malformed::Number("acknowledgement's number"))?,
            next: seq(word(body, 0), "acknowledged packet")?,
            rtt_us: count(1, "round-trip time")?,
            rtt_var_us: count(2, "variation of the round-trip time")?,
            window: count(3, "window")?,
            rates: (body.len() >= LONG).then(|| Rates { arrival: rate(4), capacity: rate(5) }),
        })
    }

    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        let counts = [self.rtt_us, self.rtt_var_us, self.window];
        let rates = self.rates.map(|Rates { arrival, capacity }| [arrival, capacity]);
        out.extend(self.next.get().to_be_bytes());
        for word in counts.into_iter().chain(rates.into_iter().flatten()) {
            out.extend(word.min(MAX).to_be_bytes());
        }
    }
}

/// Bytes of a body without and with rates.
const SHORT: usize = 16;
const LONG: usize = 24;
/// libudt reads all these words as signed.
const MAX: u32 = i32::MAX as u32;
