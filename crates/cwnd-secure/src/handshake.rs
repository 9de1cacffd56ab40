//! How two ends prove themselves to each other before anything else passes: one message each way, and a record that confirms.
//!
//! | bytes | client | server |
//! | --- | --- | --- |
//! | 0 to 6 | `cwndsec` | `cwndsec` |
//! | 7 | version, 1 | version, 1 |
//! | 8 | kind of proof: 1 a code, 2 keys | 0, or the reason of a refusal |
//! | from 9 on | the first message of Noise: 48 bytes for a code, 96 for keys | its second message, 48 bytes; none in a refusal |
//!
//! The first nine bytes of the client are the prologue of the handshake: where they were changed it fails. Then the client sends a record
//! with [`CONFIRMATION`](crate::record::CONFIRMATION), without which a server must not act: its first message may be a copy of an earlier one.

use std::io;

use snow::{Builder, HandshakeState};

use crate::code::Code;
use crate::error::{Denial, SecureError, VERSION};
use crate::key::{KEY_PATTERN, PrivateKey, PublicKey};
use crate::record::Session;

/// The proof of a client, and how it identifies the server.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Proof {
    /// Both have the code.
    Code(Code),
    /// Each knows the other's key.
    Keys {
        /// This end's.
        own: PrivateKey,
        /// The server's.
        server: PublicKey,
    },
}

/// The clients that a server admits.
#[derive(Clone, Debug, Default)]
pub struct Access {
    codes: Vec<Code>,
    key: Option<PrivateKey>,
    authorized: Vec<PublicKey>,
}

/// The proof of a client: the number of the code or of the key in [`Access`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proven {
    /// The client has this code.
    Code(usize),
    /// The client has this key.
    Key(usize),
}

impl Access {
    /// Admits clients with one of these codes.
    #[must_use]
    pub fn by_codes(codes: Vec<Code>) -> Self {
        Self { codes, ..Self::default() }
    }

    /// Admits clients with one of the authorized keys that know the key of this server.
    #[must_use]
    pub fn by_keys(own: PrivateKey, authorized: Vec<PublicKey>) -> Self {
        Self { key: Some(own), authorized, ..Self::default() }
    }
}

/// The client's side of a handshake.
#[derive(Debug)]
pub struct Initiator {
    noise: Box<HandshakeState>,
}

impl Initiator {
    /// Begins a handshake. Returns it with the message to send to the server.
    ///
    /// # Errors
    /// [`SecureError::Noise`] if the system gives no random numbers.
    pub fn new(proof: &Proof) -> Result<(Self, Vec<u8>), SecureError> {
        let prologue = prologue(match proof {
            Proof::Code(_) => BY_CODE,
            Proof::Keys { .. } => BY_KEYS,
        });
        let mut noise = match proof {
            Proof::Code(code) => {
                let key = code.pre_shared_key();
                Builder::new(CODE_PATTERN.parse()?).prologue(&prologue)?.psk(0, &key)?.build_initiator()?
            }
            Proof::Keys { own, server } => Builder::new(KEY_PATTERN.parse()?)
                .prologue(&prologue)?
                .local_private_key(&own.private)?
                .remote_public_key(&server.0)?
                .build_initiator()?,
        };
        let mut hello = prologue.to_vec();
        hello.resize(PROLOGUE + LONGEST, 0);
        let length = noise.write_message(&[], &mut hello[PROLOGUE..])?;
        hello.truncate(PROLOGUE + length);
        Ok((Self { noise: Box::new(noise) }, hello))
    }

    /// Reads the server's answer from the connection, and sees whether the server is the right one.
    ///
    /// # Errors
    /// The connection failed; [`SecureError::Plain`], [`SecureError::Foreign`] or [`SecureError::Version`] if the server uses another
    /// protocol or none, [`SecureError::Refused`] if it refuses, [`SecureError::Unproven`] if it has not proven itself.
    pub fn finish(mut self, from: &mut impl io::Read) -> Result<Session, SecureError> {
        let status = read_prologue(from)?;
        if status != ACCEPTED {
            return Err(Denial::from_byte(status).map_or(SecureError::Foreign, SecureError::Refused));
        }
        let mut answer = [0; ANSWER];
        read(from, &mut answer)?;
        match self.noise.read_message(&answer, &mut [0; ANSWER]) {
            Ok(0) => Ok(Session::new(self.noise.into_transport_mode()?)),
            _ => Err(SecureError::Unproven),
        }
    }
}

/// The server's side of a handshake: the first message of a client, not yet examined.
#[derive(Debug)]
pub struct Hello {
    proof: u8,
    message: Vec<u8>,
}

impl Hello {
    /// Reads it from the connection.
    ///
    /// # Errors
    /// The connection failed, or the client uses another protocol, as in [`Initiator::finish`].
    pub fn read(from: &mut impl io::Read) -> Result<Self, SecureError> {
        let proof = read_prologue(from)?;
        let length = match proof {
            BY_CODE => CODE_HELLO,
            BY_KEYS => KEYS_HELLO,
            _ => return Err(SecureError::Foreign),
        };
        let mut message = vec![0; length];
        read(from, &mut message)?;
        Ok(Self { proof, message })
    }

    /// Whether the client may come in; how it has proven itself, and the answer that is to be sent. Only with the confirmation, its
    /// first record, is it known to be there.
    ///
    /// # Errors
    /// [`Denial::WrongCode`] if no code of `access` is the client's, [`Denial::UnknownKey`] if its key is not authorized, and
    /// [`Denial::Proof`] if `access` has no secret of the kind that the client uses.
    pub fn answer(&self, access: &Access) -> Result<(Session, Proven, Vec<u8>), Denial> {
        let prologue = prologue(self.proof);
        match (self.proof, &access.key) {
            (BY_CODE, _) if !access.codes.is_empty() => {
                let known = access.codes.iter().enumerate();
                let mut tried = known.filter_map(|(number, code)| {
                    let key = code.pre_shared_key();
                    let noise = Builder::new(CODE_PATTERN.parse().ok()?).prologue(&prologue).ok()?.psk(0, &key).ok()?;
                    self.accept(noise.build_responder().ok()?).map(|(noise, answer)| (noise, number, answer))
                });
                let (noise, number, answer) = tried.next().ok_or(Denial::WrongCode)?;
                finished(noise, Proven::Code(number), answer).ok_or(Denial::WrongCode)
            }
            (BY_KEYS, Some(own)) => {
                let proven = || {
                    let noise = Builder::new(KEY_PATTERN.parse().ok()?).prologue(&prologue).ok()?;
                    let noise = noise.local_private_key(&own.private).ok()?.build_responder().ok()?;
                    let (noise, answer) = self.accept(noise)?;
                    let client = noise.get_remote_static()?.to_vec();
                    let number = access.authorized.iter().position(|known| known.0[..] == client)?;
                    finished(noise, Proven::Key(number), answer)
                };
                proven().ok_or(Denial::UnknownKey)
            }
            _ => Err(Denial::Proof),
        }
    }

    /// Reads the client's message, and writes the answer; none if the client has not the same secret.
    fn accept(&self, mut noise: HandshakeState) -> Option<(HandshakeState, Vec<u8>)> {
        let read = noise.read_message(&self.message, &mut [0; LONGEST]).ok()?;
        let mut answer = prologue(ACCEPTED).to_vec();
        answer.resize(PROLOGUE + ANSWER, 0);
        let written = noise.write_message(&[], &mut answer[PROLOGUE..]).ok()?;
        (read == 0 && written == ANSWER).then_some((noise, answer))
    }
}

/// The message of a server to a client that it refuses.
#[must_use]
pub fn refuse(why: Denial) -> Vec<u8> {
    prologue(why.to_byte()).to_vec()
}

fn finished(noise: HandshakeState, proven: Proven, answer: Vec<u8>) -> Option<(Session, Proven, Vec<u8>)> {
    Some((Session::new(noise.into_transport_mode().ok()?), proven, answer))
}

fn prologue(last: u8) -> [u8; PROLOGUE] {
    let mut bytes = [0; PROLOGUE];
    bytes[..7].copy_from_slice(MAGIC);
    (bytes[7], bytes[8]) = (VERSION, last);
    bytes
}

/// Reads the first nine bytes of the other side, and returns the last of them.
fn read_prologue(from: &mut impl io::Read) -> Result<u8, SecureError> {
    // The shortest first message of a peer that does not encrypt, a welcome of `cwnd-files`, has five bytes, and nothing may follow it.
    let mut bytes = [0; PROLOGUE];
    read(from, &mut bytes[..PLAIN])?;
    if bytes[..PLAIN] != MAGIC[..PLAIN] {
        let plain = PLAIN_BEGINNINGS.iter().any(|known| bytes[0] == known[0] && bytes[2..PLAIN] == known[2..]);
        return Err(if plain { SecureError::Plain } else { SecureError::Foreign });
    }
    read(from, &mut bytes[PLAIN..])?;
    if &bytes[..7] != MAGIC {
        return Err(SecureError::Foreign);
    }
    if bytes[7] == VERSION { Ok(bytes[8]) } else { Err(SecureError::Version(bytes[7])) }
}

fn read(from: &mut impl io::Read, bytes: &mut [u8]) -> Result<(), SecureError> {
    from.read_exact(bytes).map_err(|error| match error.kind() {
        io::ErrorKind::UnexpectedEof => SecureError::Truncated,
        _ => SecureError::Io(error),
    })
}

/// Forward secrecy by two ephemeral keys, and both ends proven by the pre-shared key in every message (Noise Protocol Framework, revision
/// 34, section 9).
const CODE_PATTERN: &str = "Noise_NNpsk0_25519_AESGCM_SHA256";

const MAGIC: &[u8; 7] = b"cwndsec";
const PROLOGUE: usize = 9;

const BY_CODE: u8 = 1;
const BY_KEYS: u8 = 2;
const ACCEPTED: u8 = 0;

/// An ephemeral key and the value that authenticates an empty message.
const CODE_HELLO: usize = 32 + 16;
/// The length with the client's key and its authenticator in addition.
const KEYS_HELLO: usize = CODE_HELLO + 32 + 16;
const ANSWER: usize = 32 + 16;
const LONGEST: usize = KEYS_HELLO;

/// A frame's kind and length, of which the second byte differs: the hello of `cwnd-files`, its welcome, its errors of up to 1024 bytes.
const PLAIN: usize = 5;
const PLAIN_BEGINNINGS: [&[u8; PLAIN]; 6] =
    [b"c\x0a\0\0\0", b"\x01\0\0\0\0", b"\x02\0\0\0\0", b"\x02\0\x01\0\0", b"\x02\0\x02\0\0", b"\x02\0\x03\0\0"];
