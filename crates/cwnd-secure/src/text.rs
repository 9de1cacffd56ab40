//! Bytes as text that people copy: Crockford's base 32, with a checksum that catches slips of the keyboard.

use thiserror::Error;

/// Why a text is not a code or a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum TextError {
    /// A character that occurs in none.
    #[error("the character {0:?} does not occur in it")]
    Character(char),
    /// The checksum does not fit: a character is wrong, or two are swapped.
    #[error("it is mistyped: its checksum does not match")]
    Checksum,
    /// Too short or too long.
    #[error("it has {found} characters without the dashes, expected {expected}")]
    Length {
        /// How many it has.
        found: usize,
        /// How many it should have.
        expected: usize,
    },
    /// The text begins otherwise: a private key where a public one is expected, for example.
    #[error("expected a text that begins with {0}")]
    Prefix(&'static str),
}

/// `bytes` and the first bits of their checksum, `characters` in all.
pub(crate) fn encode(context: &str, bytes: &[u8], characters: usize) -> String {
    let sum = checksum(context, bytes);
    let bit = |at: usize| {
        let byte = bytes.get(at / 8).or_else(|| sum.get(at / 8 - bytes.len())).copied().unwrap_or(0);
        byte >> (7 - at % 8) & 1
    };
    let digit = |place: usize| (0..5).fold(0, |digit, at| digit << 1 | bit(5 * place + at));
    (0..characters).map(|place| char::from(ALPHABET[usize::from(digit(place))])).collect()
}

/// The bytes that [`encode`] made this text of. Dashes, spaces and case do not matter; `o` is zero, `i` and `l` are one.
pub(crate) fn decode<const N: usize>(context: &str, text: &str, characters: usize) -> Result<[u8; N], TextError> {
    let mut bits = Vec::with_capacity(5 * characters);
    for c in text.chars().filter(|c| !matches!(c, '-' | ' ')) {
        let plain = match c.to_ascii_lowercase() {
            'o' => '0',
            'i' | 'l' => '1',
            other => other,
        };
        let digit = ALPHABET.iter().position(|known| char::from(*known) == plain).ok_or(TextError::Character(c))?;
        bits.extend((0..5).rev().map(|at| (digit >> at & 1) as u8));
    }
    if bits.len() != 5 * characters {
        return Err(TextError::Length { found: bits.len() / 5, expected: characters });
    }
    let mut bytes = [0; N];
    for (byte, bits) in bytes.iter_mut().zip(bits.chunks_exact(8)) {
        *byte = bits.iter().fold(0, |byte, bit| byte << 1 | bit);
    }
    let again = encode(context, &bytes, characters);
    let same = again.bytes().zip(bits.chunks_exact(5)).all(|(character, bits)| {
        character == ALPHABET[usize::from(bits.iter().fold(0, |digit, bit| digit << 1 | bit))]
    });
    if same { Ok(bytes) } else { Err(TextError::Checksum) }
}

/// A checksum by BLAKE3 with its own `context`, so that it reveals nothing about other values derived from the bytes.
fn checksum(context: &str, bytes: &[u8]) -> [u8; 32] {
    blake3::derive_key(context, bytes)
}

/// Crockford's: no I, L, O and U.
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
