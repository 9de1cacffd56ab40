//! A stream of bytes between two ends that share a code, or know each other's keys: encrypted, and with both ends proven before the first
//! byte passes. It runs over any stream that reads and writes.
//!
//! What this crate does not do: it has no cryptography of its own. The handshake and the records are messages of the
//! [Noise Protocol Framework](https://noiseprotocol.org/noise.html), revision 34, as the crate `snow` implements it, with AES-256-GCM, SHA-256
//! and random numbers of `ring`, and X25519 of `curve25519-dalek`. It hides neither how much passes nor when.
//!
//! ```
//! use std::io::{Read, Write};
//! use std::os::unix::net::UnixStream;
//! use cwnd_secure::{Access, Code, Proof, accept, connect};
//!
//! let code = Code::generate()?;
//! println!("the code is {code}");
//! let (near, far) = UnixStream::pair()?;
//! let access = Access::by_codes(vec![code.clone()]);
//! let server = std::thread::spawn(move || {
//!     let (mut stream, _proven) = accept(far, &access, || true).unwrap();
//!     let mut text = String::new();
//!     stream.read_to_string(&mut text).map(|_| text)
//! });
//! let mut stream = connect(near, &Proof::Code(code))?;
//! stream.write_all(b"nobody else reads this")?;
//! stream.finish()?;
//! assert_eq!(server.join().unwrap()?, "nobody else reads this");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Guarantees
//!
//! - Nothing but the handshake passes before both ends have proven themselves: the server with its answer, the client with its first
//!   record. With a [`Code`] that is `NNpsk0`, with keys it is `IK`.
//! - Recorded traffic stays secret when a code or a key becomes known later, since each connection has ephemeral keys, and those of a
//!   long one are replaced after each 16,384 records.
//! - A record that was changed, repeated, left out or moved is [`SecureError::Altered`]; an end without the final record is
//!   [`SecureError::Truncated`]. No byte of such a record is handed out.
//! - A peer that sends in the clear is [`SecureError::Plain`]: nobody on the path can turn the encryption off.
//!
//! # Why so
//!
//! *Noise, not TLS.* Both ends know a secret or a key beforehand. `rustls` takes no external pre-shared keys, so a code would have to be proven by
//! a protocol of our own inside of TLS; Noise has patterns for both cases, whose properties are proven, in one round trip.
//!
//! *A code of 128 bits, no spoken words.* Few words need a password-authenticated key exchange. `spake2` 0.4.0, the last release of
//! 2023, implements a draft older than RFC 9382 and says of itself that nobody has audited it; CPace has no released crate of a
//! known maintainer. A code of 34 characters is copied as easily as an address, and needs neither.
//!
//! *AES-GCM by `ring`.* It uses the processor's instructions with their widest registers; the same in Rust alone
//! takes several times as long. A record is encrypted and decrypted with one copy each.
//!
//! Where to start: [`connect`] and [`accept`]; below them [`Initiator`], [`Hello`] and [`Session`] do no input or output of their own
//! choice, for other kinds of streams.

mod code;
mod error;
mod guesses;
mod handshake;
mod key;
mod record;
mod stream;
#[cfg(any(test, feature = "testing"))]
mod testing;
mod text;

pub use code::Code;
pub use error::{Denial, SecureError};
pub use guesses::{EXPIRES_AFTER, Guesses, LOGGED, PER_ADDRESS, WrongGuess};
pub use handshake::{Access, Hello, Initiator, Proof, Proven, refuse};
pub use key::{PrivateKey, PublicKey};
pub use record::{CONTENT, RECORD, REKEY, Session, record_length};
pub use stream::{SecureStream, accept, connect};
#[cfg(any(test, feature = "testing"))]
pub use testing::conversation;
pub use text::TextError;
