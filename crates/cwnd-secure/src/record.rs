//! Records: the content of an established connection.
//!
//! Two bytes of length (big-endian), then that many bytes of a message of Noise: at least the 16 that authenticate it. A record without
//! content is the final one. Both sides count the records, but do not send the numbers. So a record that is repeated, left out or moved
//! fails like one that is changed. After [`REKEY`] records of a direction both sides replace its key (Noise, section 11.3), so that the
//! current keys of a long transfer do not decrypt earlier records.

use snow::TransportState;

use crate::error::SecureError;

/// Both directions of a connection whose ends have proven themselves.
#[derive(Debug)]
pub struct Session {
    noise: TransportState,
    /// Records of each direction with the key it has now.
    sealed: u32,
    opened: u32,
}

impl Session {
    pub(crate) fn new(noise: TransportState) -> Self {
        Self { noise, sealed: 0, opened: 0 }
    }

    /// Appends a record with this content, of 1 to [`CONTENT`] bytes, to `out`; without content it is the final record.
    ///
    /// # Errors
    /// [`SecureError::Noise`] if the content is too long.
    pub fn seal(&mut self, content: &[u8], out: &mut Vec<u8>) -> Result<(), SecureError> {
        let length = content.len() + TAG;
        if length > CONTENT + TAG {
            return Err(SecureError::Noise(snow::Error::Input));
        }
        let at = out.len();
        out.extend_from_slice(&(length as u16).to_be_bytes());
        out.resize(at + HEADER + length, 0);
        self.noise.write_message(content, &mut out[at + HEADER..])?;
        self.sealed += 1;
        if self.sealed == REKEY {
            self.noise.rekey_outgoing();
            self.sealed = 0;
        }
        Ok(())
    }

    /// Opens a record as [`record_length`] delimits it: the length of its content, which is in `out` then. Zero is that of the final one.
    ///
    /// # Errors
    /// [`SecureError::Altered`] if it is not the next record that the other side has sealed.
    pub fn open(&mut self, record: &[u8], out: &mut [u8]) -> Result<usize, SecureError> {
        let length = self.noise.read_message(record.get(HEADER..).ok_or(SecureError::Altered)?, out)?;
        self.opened += 1;
        if self.opened == REKEY {
            self.noise.rekey_incoming();
            self.opened = 0;
        }
        Ok(length)
    }

    /// Appends the record that shows a server that its client is there.
    pub(crate) fn seal_confirmation(&mut self, out: &mut Vec<u8>) -> Result<(), SecureError> {
        self.seal(CONFIRMATION, out)
    }

    /// Checks a client's first record.
    pub(crate) fn confirm(&mut self, record: &[u8]) -> Result<(), SecureError> {
        let mut content = [0; CONFIRMATION_RECORD];
        let length = self.open(record, &mut content)?;
        if &content[..length] == CONFIRMATION { Ok(()) } else { Err(SecureError::Unproven) }
    }
}

/// The length of the record that begins with these bytes, header included; none if they are too few to tell.
///
/// # Errors
/// [`SecureError::Altered`] if no record has this length.
pub fn record_length(bytes: &[u8]) -> Result<Option<usize>, SecureError> {
    let Some(length) = bytes.first_chunk().map(|length| usize::from(u16::from_be_bytes(*length))) else {
        return Ok(None);
    };
    if (TAG..=CONTENT + TAG).contains(&length) { Ok(Some(HEADER + length)) } else { Err(SecureError::Altered) }
}

/// The most bytes a record may carry: with what surrounds them they fill 44 packets of 1456 bytes, as UDT's are by default, which
/// segmentation offload sends as one buffer of less than 64 KiB.
pub const CONTENT: usize = RECORD - HEADER - TAG;
/// The longest record.
pub const RECORD: usize = 44 * 1456;

const HEADER: usize = 2;
/// The length of the authenticator of a message.
pub(crate) const TAG: usize = 16;
/// The content of the first record of a client.
pub(crate) const CONFIRMATION: &[u8] = b"cwnd";
pub(crate) const CONFIRMATION_RECORD: usize = HEADER + CONFIRMATION.len() + TAG;

/// A gigabyte of the longest records, at 20 Gbit/s half a second.
pub const REKEY: u32 = 1 << 14;
