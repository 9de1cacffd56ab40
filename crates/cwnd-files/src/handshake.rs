//! How a client and a server agree on a transfer.

use std::io::{Read, Write};

use crate::error::TransferError;
use crate::frame::{Frame, Frames};

/// Waits for the server's answer to the hello. A client has sent more behind its hello already: waiting at once would cost a round trip.
pub(crate) fn await_welcome<T: Read + Write>(frames: &mut Frames<T>) -> Result<(), TransferError> {
    match frames.receive()? {
        Frame::Welcome => Ok(()),
        Frame::Error(text) => Err(TransferError::reported(text)),
        _ => Err(TransferError::Protocol("no answer to the hello")),
    }
}

/// The version of the protocol.
pub(crate) const VERSION: u8 = 1;
