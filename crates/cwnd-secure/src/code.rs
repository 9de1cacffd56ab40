//! The code: a secret that a person carries from one end to the other.

use std::fmt::{self, Debug, Display, Formatter};
use std::str::FromStr;

use crate::error::SecureError;
use crate::text::{TextError, decode, encode};

/// 128 random bits that both ends know, written as seven groups of four characters: `k7m2-…`.
///
/// It admits everyone who knows it, so it goes to the other person only, over a call or an encrypted message, and is valid once or for as
/// long as the server allows. Guessing it is infeasible: each guess costs a connection, and there are 2<sup>128</sup> codes.
#[derive(Clone, PartialEq, Eq)]
pub struct Code([u8; 16]);

impl Code {
    /// A new one.
    ///
    /// # Errors
    /// The system gives no random numbers.
    pub fn generate() -> Result<Self, SecureError> {
        let mut bits = [0; 16];
        getrandom::fill(&mut bits).map_err(|error| SecureError::Io(error.into()))?;
        Ok(Self(bits))
    }

    /// The code of these bits, which must be random.
    #[must_use]
    pub fn from_bits(bits: [u8; 16]) -> Self {
        Self(bits)
    }

    /// A name of this code that can be known: by it the two ends find each other where others look on. It says nothing of the code, and lets
    /// nobody in.
    #[must_use]
    pub fn public_name(&self) -> [u8; 16] {
        let mut name = [0; 16];
        blake3::Hasher::new_derive_key(PUBLIC_NAME).update(&self.0).finalize_xof().fill(&mut name);
        name
    }

    /// The pre-shared key of the handshake.
    pub(crate) fn pre_shared_key(&self) -> [u8; 32] {
        blake3::derive_key(PURPOSE, &self.0)
    }
}

impl Display for Code {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let text = encode(CHECKSUM, &self.0, CHARACTERS);
        for (at, character) in text.chars().enumerate() {
            if at > 0 && at % 4 == 0 {
                f.write_str("-")?;
            }
            write!(f, "{character}")?;
        }
        Ok(())
    }
}

/// Does not show the bits.
impl Debug for Code {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("Code(…)")
    }
}

impl FromStr for Code {
    type Err = TextError;

    /// Dashes, spaces and case do not matter.
    fn from_str(text: &str) -> Result<Self, TextError> {
        decode(CHECKSUM, text, CHARACTERS).map(Self)
    }
}

/// 128 bits and a checksum of 12.
const CHARACTERS: usize = 28;
const CHECKSUM: &str = "cwnd 2026 checksum of a code";
const PUBLIC_NAME: &str = "cwnd 2026 public name of a code";
const PURPOSE: &str = "cwnd 2026 pre-shared key of a code";

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_code_is_read_as_people_write_it() {
        let code = Code::from_bits(*b"0123456789abcdef");
        let text = code.to_string();
        assert_eq!((text.len(), text.matches('-').count()), (34, 6), "{text}");
        for text in [text.to_uppercase(), text.replace('-', ""), text.replace('-', " "), text.replace('1', "l")] {
            assert_eq!(text.parse(), Ok(code.clone()));
        }
        assert_eq!("k7m2".parse::<Code>(), Err(TextError::Length { found: 4, expected: 28 }));
        assert_eq!("k7m2-ü".parse::<Code>(), Err(TextError::Character('ü')));
        assert_eq!(format!("{code:?}"), "Code(…)");
    }

    #[test]
    fn a_public_name_is_of_the_code_alone_and_not_the_key() {
        let [one, two] = [1, 2].map(|bits| Code::from_bits([bits; 16]));
        assert_eq!(one.public_name(), one.clone().public_name());
        assert_ne!(one.public_name(), two.public_name());
        assert_ne!(one.public_name(), one.pre_shared_key()[..16]);
    }

    proptest! {
        #[test]
        fn a_slip_is_found_before_it_costs_a_guess(bits: [u8; 16], at in 0_usize..28, by in 1_u8..32) {
            let text = Code::from_bits(bits).to_string().replace('-', "");
            prop_assert_eq!(text.parse::<Code>().unwrap().0, bits);
            let alphabet = "0123456789abcdefghjkmnpqrstvwxyz";
            let mut changed = text.clone().into_bytes();
            let digit = alphabet.bytes().position(|one| one == changed[at]).unwrap();
            changed[at] = alphabet.as_bytes()[(digit + usize::from(by)) % 32];
            let read = String::from_utf8(changed).unwrap().parse::<Code>();
            // One of 4096 slips passes the checksum, and is then a wrong code.
            prop_assert!(read == Err(TextError::Checksum) || read.is_ok_and(|code| code.0 != bits));
        }
    }
}
