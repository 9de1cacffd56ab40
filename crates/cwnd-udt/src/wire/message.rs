//! Control packets of an established connection.

use super::Control;
use super::ack::FullAck;
use super::loss::Losses;
use super::report::Report;
use super::words::{Malformed, seq, word};
use crate::number::{AckNumber, MessageNumber, Seq};

/// A control packet that a connection sends: small and without a borrow, so that a simulator can carry it unencoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Message {
    /// See [`Control::KeepAlive`].
    KeepAlive,
    /// See [`Control::LightAck`].
    LightAck(Seq),
    /// See [`Control::Ack`].
    Ack(FullAck),
    /// See [`Control::Nak`].
    Nak(Losses),
    /// See [`Control::AskReports`].
    AskReports,
    /// See [`Control::Report`].
    Report(Report),
    /// See [`Control::Shutdown`].
    Shutdown,
    /// See [`Control::Ack2`].
    Ack2(AckNumber),
    /// See [`Control::DropRequest`].
    DropRequest(DropRequest),
    /// See [`Control::PeerError`].
    PeerError(u32),
}

/// A message that its sender has given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DropRequest {
    /// Its number.
    pub message: MessageNumber,
    /// Its first packet.
    pub first: Seq,
    /// Its last packet, not before the first. libudt names the first packet of the next message instead.
    pub last: Seq,
}

impl Message {
    /// The message as the far end will read it.
    #[must_use]
    pub fn control(&self) -> Control<'_> {
        match self {
            Self::KeepAlive => Control::KeepAlive,
            Self::LightAck(next) => Control::LightAck(*next),
            Self::Ack(ack) => Control::Ack(*ack),
            Self::Nak(losses) => Control::Nak(losses.list()),
            Self::AskReports => Control::AskReports,
            Self::Report(report) => Control::Report(report.reported()),
            Self::Shutdown => Control::Shutdown,
            Self::Ack2(number) => Control::Ack2(*number),
            Self::DropRequest(request) => Control::DropRequest(*request),
            Self::PeerError(code) => Control::PeerError(*code),
        }
    }
}

impl DropRequest {
    pub(super) fn parse(message: u32, body: &[u8]) -> Result<Self, Malformed> {
        if body.len() < 8 {
            return Err(Malformed::Length("drop request", body.len()));
        }
        let (first, last) = (seq(word(body, 0), "first packet")?, seq(word(body, 1), "last packet")?);
        if first.offset(last) < 0 {
            return Err(Malformed::Number("last packet"));
        }
        let message = MessageNumber::new(message).ok_or(Malformed::Number("message's number"))?;
        Ok(Self { message, first, last })
    }

    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        out.extend(self.first.get().to_be_bytes());
        out.extend(self.last.get().to_be_bytes());
    }
}

// A simulator's packet carries one.
const _: () = assert!(size_of::<Message>() <= 48);
