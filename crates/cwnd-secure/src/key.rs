//! Keys of ends that know each other.

use std::fmt::{self, Debug, Display, Formatter};
use std::str::FromStr;

use snow::Builder;

use crate::error::SecureError;
use crate::text::{TextError, decode, encode};

/// A key of X25519 that proves the identity of an end, as text: `cwnd-private-…`.
#[derive(Clone)]
pub struct PrivateKey {
    pub(crate) private: [u8; 32],
    public: PublicKey,
}

/// The identity of an end for others, as text: `cwnd-public-…`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PublicKey(pub(crate) [u8; 32]);

impl PrivateKey {
    /// A new one.
    ///
    /// # Errors
    /// The system gives no random numbers.
    pub fn generate() -> Result<Self, SecureError> {
        let pair = Builder::new(KEY_PATTERN.parse()?).generate_keypair()?;
        let private = pair.private.try_into().map_err(|_| SecureError::Noise(snow::Error::Dh))?;
        let public = pair.public.try_into().map_err(|_| SecureError::Noise(snow::Error::Dh))?;
        Ok(Self { private, public: PublicKey(public) })
    }

    /// The identity of this end for others.
    #[must_use]
    pub fn public(&self) -> PublicKey {
        self.public
    }

    /// The text to be kept in a file that only its owner can read.
    #[must_use]
    pub fn to_secret_text(&self) -> String {
        let both = [self.private, self.public.0].concat();
        format!("{PRIVATE}{}", encode(CHECKSUM, &both, PRIVATE_CHARACTERS))
    }
}

/// Does not show the private half.
impl Debug for PrivateKey {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "PrivateKey({})", self.public)
    }
}

impl FromStr for PrivateKey {
    type Err = TextError;

    fn from_str(text: &str) -> Result<Self, TextError> {
        let both: [u8; 64] = decode(CHECKSUM, stripped(text, PRIVATE)?, PRIVATE_CHARACTERS)?;
        let (mut private, mut public) = ([0; 32], [0; 32]);
        private.copy_from_slice(&both[..32]);
        public.copy_from_slice(&both[32..]);
        Ok(Self { private, public: PublicKey(public) })
    }
}

impl Display for PublicKey {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{PUBLIC}{}", encode(CHECKSUM, &self.0, PUBLIC_CHARACTERS))
    }
}

impl FromStr for PublicKey {
    type Err = TextError;

    fn from_str(text: &str) -> Result<Self, TextError> {
        decode(CHECKSUM, stripped(text, PUBLIC)?, PUBLIC_CHARACTERS).map(Self)
    }
}

fn stripped<'a>(text: &'a str, prefix: &'static str) -> Result<&'a str, TextError> {
    text.trim().strip_prefix(prefix).ok_or(TextError::Prefix(prefix))
}

const PRIVATE: &str = "cwnd-private-";
const PUBLIC: &str = "cwnd-public-";

/// 256 bits and a checksum of 24.
const PUBLIC_CHARACTERS: usize = 56;
/// 512 bits and a checksum of 28.
const PRIVATE_CHARACTERS: usize = 108;
const CHECKSUM: &str = "cwnd 2026 checksum of a key";

/// The client knows the server's key beforehand and sends its own under it (Noise Protocol Framework, revision 34, section 7.5).
pub(crate) const KEY_PATTERN: &str = "Noise_IK_25519_AESGCM_SHA256";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_text_and_back() {
        let key = PrivateKey::generate().unwrap();
        let again: PrivateKey = key.to_secret_text().parse().unwrap();
        assert_eq!((again.private, again.public), (key.private, key.public));
        let public = key.public().to_string();
        assert_eq!(public.parse(), Ok(key.public()));
        assert_eq!(key.to_secret_text().parse::<PublicKey>(), Err(TextError::Prefix("cwnd-public-")));
        let mut slip = public.into_bytes();
        let last = slip.len() - 9;
        slip.swap(last, last + 1);
        if slip[last] != slip[last + 1] {
            assert_eq!(String::from_utf8(slip).unwrap().parse::<PublicKey>(), Err(TextError::Checksum));
        }
        assert!(!format!("{key:?}").contains(&key.to_secret_text()[14..]));
    }
}
