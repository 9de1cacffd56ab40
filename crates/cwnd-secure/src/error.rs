//! How a secured stream fails.

use std::io;

use thiserror::Error;

/// Why a connection is not, or no longer, secure.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SecureError {
    /// A record was changed, repeated, left out or moved on its way.
    #[error("a record was changed, repeated or reordered on its way")]
    Altered,
    /// The first bytes are of no protocol that is known here.
    #[error("the other side uses another protocol")]
    Foreign,
    /// The connection failed.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The library for the Noise protocol failed for a reason within this host, as a lack of random numbers.
    #[error("cannot encrypt: {0}")]
    Noise(snow::Error),
    /// The other side sends in the clear.
    #[error("the other side does not encrypt")]
    Plain,
    /// The server refuses. The refusal itself is not authenticated.
    #[error("the other side refuses: {0}")]
    Refused(Denial),
    /// The connection ended without the final record.
    #[error("the connection was cut off before its end")]
    Truncated,
    /// The answer does not come from an end that has the code or the expected key.
    #[error("the other side has not proven that it has the code or the key")]
    Unproven,
    /// The other side has another version of this protocol.
    #[error("the other side has version {0} of the encryption, this one version {VERSION}")]
    Version(u8),
}

/// Why a server refuses a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Denial {
    /// There were too many wrong codes or keys from this client's address.
    #[error("too many wrong codes, try again in a few minutes")]
    Limited,
    /// The kind of proof is not one that the server takes.
    #[error("it takes another kind of proof: a code where you have a key, or a key where you have a code")]
    Proof,
    /// The key is not among those it knows, or was meant for another server.
    #[error("it does not know your key, or has another key than you expect")]
    UnknownKey,
    /// The code is not, or no longer, valid.
    #[error("the code is wrong or no longer valid")]
    WrongCode,
}

impl Denial {
    pub(crate) const fn to_byte(self) -> u8 {
        match self {
            Self::WrongCode => 1,
            Self::UnknownKey => 2,
            Self::Limited => 3,
            Self::Proof => 4,
        }
    }

    pub(crate) const fn from_byte(byte: u8) -> Option<Self> {
        Some(match byte {
            1 => Self::WrongCode,
            2 => Self::UnknownKey,
            3 => Self::Limited,
            4 => Self::Proof,
            _ => return None,
        })
    }
}

impl SecureError {
    /// Whether another connection may succeed: this one failed, or bytes were changed on their way.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        matches!(self, Self::Altered | Self::Io(_) | Self::Truncated)
    }
}

impl From<snow::Error> for SecureError {
    fn from(error: snow::Error) -> Self {
        match error {
            snow::Error::Decrypt => Self::Altered,
            error => Self::Noise(error),
        }
    }
}

impl From<SecureError> for io::Error {
    fn from(error: SecureError) -> Self {
        let kind = match error {
            SecureError::Io(error) => return error,
            SecureError::Truncated => io::ErrorKind::UnexpectedEof,
            SecureError::Noise(_) => io::ErrorKind::Other,
            SecureError::Refused(_) | SecureError::Unproven => io::ErrorKind::PermissionDenied,
            SecureError::Altered | SecureError::Foreign | SecureError::Plain | SecureError::Version(_) => {
                io::ErrorKind::InvalidData
            }
        };
        Self::new(kind, error)
    }
}

/// The version of this protocol.
pub(crate) const VERSION: u8 = 1;
