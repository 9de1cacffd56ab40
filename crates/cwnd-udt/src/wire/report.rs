//! Reports of packets that have arrived above a missing one, which UDT's acknowledgements do not have.
//!
//! They are control packets of UDT's user-defined type. libudt passes those to its congestion control, where they have no effect. A
//! receiver sends reports to a sender that has asked for them, which it does with a packet of that type too.

use super::loss::{LossList, NamedRanges};
use super::words::{Malformed, seq};
use crate::number::Seq;

/// All packets from `from` up to `next` have arrived, but for those that are missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Report {
    /// The first packet that the report is about.
    pub from: Seq,
    /// One past the last.
    pub next: Seq,
    /// The missing packets among them, in order.
    pub missing: Missing,
}

/// The missing packets that a [`Report`] names.
pub type Missing = NamedRanges<3>;

/// A received [`Report`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reported<'a> {
    /// The first packet that the report is about.
    pub from: Seq,
    /// One past the last.
    pub next: Seq,
    /// The missing packets among them, in the order of the packet.
    pub missing: LossList<'a>,
}

impl Report {
    /// The report as the receiving end reads it.
    #[must_use]
    pub fn reported(&self) -> Reported<'_> {
        Reported { from: self.from, next: self.next, missing: self.missing.list() }
    }
}

impl<'a> Reported<'a> {
    pub(super) fn parse(info: u32, body: &'a [u8]) -> Result<Self, Malformed> {
        let (from, missing) = body.split_first_chunk::<4>().ok_or(Malformed::LossList)?;
        let missing =
            if missing.is_empty() { LossList::empty() } else { LossList::parse(missing).ok_or(Malformed::LossList)? };
        let from = seq(u32::from_be_bytes(*from), "first packet of a report")?;
        Ok(Self { from, next: seq(info, "end of a report")?, missing })
    }

    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        out.extend(self.from.get().to_be_bytes());
        self.missing.encode(out);
    }
}

/// The subtype of the packet that asks for reports, and that of reports.
pub(super) const ASK: u16 = 0x6377;
pub(super) const REPORT: u16 = 0x6378;
