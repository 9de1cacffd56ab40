//! What two ends say to each other: frames of a kind, a length and a payload, every one of them checked before it is used.

use std::io::{self, BufReader, Read, Write};

use thiserror::Error;

use crate::name::{BadName, MAX_NAME, Name};
use crate::tree::{GROUP, GroupValue, Hash};
use crate::{Reason, Role};

/// One frame. A kind byte, the length of the payload (32 bits) and the payload; all numbers little-endian.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Frame<'a> {
    /// The client says first: what this is, and what it will do.
    Hello { version: u8, role: Role },
    /// The server takes part.
    Welcome,
    /// The server does not, or one end has to give up: why, in words.
    Refusal(&'a str),
    /// A name the taker wants; empty for everything there is.
    Want(&'a [u8]),
    /// There are no further ones.
    WantEnd,
    /// What the giver believes is to come, for the progress shown.
    Total { files: u64, bytes: u64 },
    /// A file or folder the giver has.
    Entry(Entry<'a>),
    /// Something it was asked for and cannot give.
    Unavailable { name: &'a [u8], reason: Reason },
    /// Now the taker answers all entries since the last time, in their order.
    Batch,
    /// Answer: send the file from this group on.
    Send { from: u64 },
    /// Answer: it is here already.
    Have,
    /// Answer: it does not come in.
    Refuse(Reason),
    /// Bytes of a file, one group, with their value.
    Group { value: GroupValue, bytes: &'a [u8] },
    /// All groups of the file have been sent.
    FileEnd,
    /// The rest of the file will not come.
    Abandon(Reason),
    /// The file is in its place.
    Done(Hash),
    /// It is not.
    Failed(Reason),
    /// The giver has given everything; the taker has dealt with everything.
    End,
}

/// A file or folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry<'a> {
    pub(crate) folder: bool,
    pub(crate) size: u64,
    /// Permission bits.
    pub(crate) mode: u32,
    /// When it was last written.
    pub(crate) modified: Modified,
    pub(crate) name: &'a [u8],
}

/// Since 1970.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Modified {
    pub(crate) seconds: i64,
    /// Below a thousand million.
    pub(crate) nanos: u32,
}

/// What arrived is no frame.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Malformed {
    /// The first bytes are not those of this protocol.
    #[error("the other side speaks another protocol")]
    Magic,
    /// No such kind.
    #[error("a message of unknown kind {0}")]
    Kind(u8),
    /// More than the kind may have.
    #[error("a message of kind {kind} and {length} bytes")]
    Length {
        /// The kind.
        kind: u8,
        /// What it says its payload has.
        length: u32,
    },
    /// A field has no such value.
    #[error("a {0} out of range")]
    Field(&'static str),
    /// As said.
    #[error("{0}")]
    Name(#[from] BadName),
}

impl Frame<'_> {
    /// Appends the frame.
    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        let at = out.len();
        out.extend_from_slice(&[self.kind(), 0, 0, 0, 0]);
        match self {
            Frame::Hello { version, role } => {
                out.extend_from_slice(MAGIC);
                out.extend_from_slice(&[*version, *role as u8]);
            }
            Frame::Refusal(text) => out.extend_from_slice(beginning(text).as_bytes()),
            Frame::Want(name) => out.extend_from_slice(name),
            Frame::Total { files, bytes } => {
                out.extend_from_slice(&files.to_le_bytes());
                out.extend_from_slice(&bytes.to_le_bytes());
            }
            Frame::Entry(entry) => {
                out.push(u8::from(entry.folder));
                out.extend_from_slice(&entry.size.to_le_bytes());
                out.extend_from_slice(&entry.mode.to_le_bytes());
                out.extend_from_slice(&entry.modified.seconds.to_le_bytes());
                out.extend_from_slice(&entry.modified.nanos.to_le_bytes());
                out.extend_from_slice(entry.name);
            }
            Frame::Unavailable { name, reason } => {
                out.push(*reason as u8);
                out.extend_from_slice(name);
            }
            Frame::Send { from } => out.extend_from_slice(&from.to_le_bytes()),
            Frame::Refuse(reason) | Frame::Abandon(reason) | Frame::Failed(reason) => out.push(*reason as u8),
            Frame::Group { value, bytes } => {
                out.extend_from_slice(value);
                out.extend_from_slice(bytes);
            }
            Frame::Done(hash) => out.extend_from_slice(hash),
            Frame::Welcome | Frame::WantEnd | Frame::Batch | Frame::Have | Frame::FileEnd | Frame::End => {}
        }
        let length = (out.len() - at - HEADER) as u32;
        out[at + 1..at + HEADER].copy_from_slice(&length.to_le_bytes());
    }

    fn kind(&self) -> u8 {
        match self {
            Frame::Hello { .. } => HELLO,
            Frame::Welcome => WELCOME,
            Frame::Refusal(_) => REFUSAL,
            Frame::Want(_) => WANT,
            Frame::WantEnd => WANT_END,
            Frame::Total { .. } => TOTAL,
            Frame::Entry(_) => ENTRY,
            Frame::Unavailable { .. } => UNAVAILABLE,
            Frame::Batch => BATCH,
            Frame::Send { .. } => SEND,
            Frame::Have => HAVE,
            Frame::Refuse(_) => REFUSE,
            Frame::Group { .. } => GROUP_KIND,
            Frame::FileEnd => FILE_END,
            Frame::Abandon(_) => ABANDON,
            Frame::Done(_) => DONE,
            Frame::Failed(_) => FAILED,
            Frame::End => END,
        }
    }

    /// The frame of a kind with this payload, whose length has been checked.
    fn decode(kind: u8, payload: &[u8]) -> Result<Frame<'_>, Malformed> {
        let mut fields = Fields(payload);
        let frame = match kind {
            HELLO => {
                if fields.take(MAGIC.len())? != MAGIC {
                    return Err(Malformed::Magic);
                }
                Frame::Hello {
                    version: fields.byte()?,
                    role: Role::of(fields.byte()?).ok_or(Malformed::Field("role"))?,
                }
            }
            WELCOME => Frame::Welcome,
            REFUSAL => Frame::Refusal(std::str::from_utf8(fields.rest()).map_err(|_| Malformed::Field("text"))?),
            WANT => Frame::Want(fields.rest()),
            WANT_END => Frame::WantEnd,
            TOTAL => Frame::Total { files: fields.number()?, bytes: fields.number()? },
            ENTRY => Frame::Entry(Entry {
                folder: match fields.byte()? {
                    0 => false,
                    1 => true,
                    _ => return Err(Malformed::Field("kind of entry")),
                },
                size: Some(fields.number()?).filter(|size| *size <= MAX_SIZE).ok_or(Malformed::Field("size"))?,
                mode: u32::from_le_bytes(fields.array()?),
                modified: Modified {
                    seconds: i64::from_le_bytes(fields.array()?),
                    nanos: Some(u32::from_le_bytes(fields.array()?))
                        .filter(|nanos| *nanos < 1_000_000_000)
                        .ok_or(Malformed::Field("time"))?,
                },
                name: fields.rest(),
            }),
            UNAVAILABLE => Frame::Unavailable { reason: fields.reason()?, name: fields.rest() },
            BATCH => Frame::Batch,
            SEND => Frame::Send { from: fields.number()? },
            HAVE => Frame::Have,
            REFUSE => Frame::Refuse(fields.reason()?),
            GROUP_KIND => Frame::Group { value: fields.array()?, bytes: fields.rest() },
            FILE_END => Frame::FileEnd,
            ABANDON => Frame::Abandon(fields.reason()?),
            DONE => Frame::Done(fields.array()?),
            FAILED => Frame::Failed(fields.reason()?),
            END => Frame::End,
            _ => return Err(Malformed::Kind(kind)),
        };
        if fields.0.is_empty() { Ok(frame) } else { Err(Malformed::Length { kind, length: payload.len() as u32 }) }
    }
}

impl Entry<'_> {
    /// Its name, checked.
    pub(crate) fn name(&self) -> Result<Name, BadName> {
        Name::new(self.name)
    }
}

/// What is left of a payload.
struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    fn take(&mut self, length: usize) -> Result<&'a [u8], Malformed> {
        let (taken, rest) = self.0.split_at_checked(length).ok_or(Malformed::Field("length"))?;
        self.0 = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        let (taken, rest) = self.0.split_first_chunk().ok_or(Malformed::Field("length"))?;
        self.0 = rest;
        Ok(*taken)
    }

    fn byte(&mut self) -> Result<u8, Malformed> {
        self.array().map(|[byte]| byte)
    }

    fn number(&mut self) -> Result<u64, Malformed> {
        self.array().map(u64::from_le_bytes)
    }

    fn reason(&mut self) -> Result<Reason, Malformed> {
        Ok(Reason::of(self.byte()?))
    }

    fn rest(&mut self) -> &'a [u8] {
        std::mem::take(&mut self.0)
    }
}

/// Frames over a connection, in both directions.
#[derive(Debug)]
pub(crate) struct Frames<T> {
    io: BufReader<T>,
    out: Vec<u8>,
    payload: Vec<u8>,
}

impl<T: Read + Write> Frames<T> {
    /// Over this connection.
    pub(crate) fn new(io: T) -> Self {
        Self { io: BufReader::with_capacity(BUFFER, io), out: Vec::with_capacity(BUFFER), payload: Vec::new() }
    }

    /// Says something, soon.
    pub(crate) fn send(&mut self, frame: &Frame<'_>) -> io::Result<()> {
        frame.encode(&mut self.out);
        if self.out.len() >= BUFFER { self.flush() } else { Ok(()) }
    }

    /// Says now what has been said.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.io.get_mut().write_all(&self.out)?;
        self.out.clear();
        self.io.get_mut().flush()
    }

    /// The other side hears nothing any more. What it said before can still be heard.
    pub(crate) fn fall_silent(&mut self) {
        self.out.clear();
    }

    /// Hears something, after everything has been said.
    pub(crate) fn receive(&mut self) -> io::Result<Frame<'_>> {
        if !self.out.is_empty() && self.io.buffer().is_empty() {
            self.flush()?;
        }
        let mut header = [0; HEADER];
        self.io.read_exact(&mut header)?;
        let [kind, length @ ..] = header;
        let length = u32::from_le_bytes(length);
        if length > longest(kind).map_err(invalid)? {
            return Err(invalid(Malformed::Length { kind, length }));
        }
        self.payload.clear();
        let read = self.io.by_ref().take(u64::from(length)).read_to_end(&mut self.payload)?;
        if read < length as usize {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Frame::decode(kind, &self.payload).map_err(invalid)
    }

    /// Whether something has been heard that was not looked at.
    #[cfg(test)]
    pub(crate) fn is_drained(&mut self) -> bool {
        use std::io::BufRead;
        self.io.fill_buf().is_ok_and(<[u8]>::is_empty)
    }
}

/// Reads any bytes as a conversation would, until they end or are wrong; how many frames that were. For fuzzing.
#[cfg(any(test, feature = "testing"))]
#[must_use]
pub fn frames_in(bytes: &[u8]) -> usize {
    let mut frames = Frames::new(io::Cursor::new(bytes.to_vec()));
    let mut count = 0;
    while frames.receive().is_ok() {
        count += 1;
    }
    count
}

fn invalid(malformed: Malformed) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, malformed)
}

/// As much of a text as a refusal may have.
fn beginning(text: &str) -> &str {
    let end = text.char_indices().map(|(at, c)| at + c.len_utf8()).take_while(|end| *end <= MAX_TEXT).last();
    &text[..end.unwrap_or(0)]
}

/// The longest payload of a kind.
fn longest(kind: u8) -> Result<u32, Malformed> {
    Ok(match kind {
        HELLO => 10,
        REFUSAL => MAX_TEXT as u32,
        WANT => MAX_NAME as u32,
        TOTAL => 16,
        ENTRY => MAX_NAME as u32 + 25,
        UNAVAILABLE => MAX_NAME as u32 + 1,
        SEND => 8,
        REFUSE | ABANDON | FAILED => 1,
        GROUP_KIND => GROUP as u32 + 32,
        DONE => 32,
        WELCOME | WANT_END | BATCH | HAVE | FILE_END | END => 0,
        _ => return Err(Malformed::Kind(kind)),
    })
}

const HELLO: u8 = b'c';
const WELCOME: u8 = 1;
const REFUSAL: u8 = 2;
const WANT: u8 = 3;
const WANT_END: u8 = 4;
const TOTAL: u8 = 5;
const ENTRY: u8 = 6;
const UNAVAILABLE: u8 = 7;
const BATCH: u8 = 8;
const SEND: u8 = 9;
const HAVE: u8 = 10;
const REFUSE: u8 = 11;
const GROUP_KIND: u8 = 12;
const FILE_END: u8 = 13;
const ABANDON: u8 = 14;
const DONE: u8 = 15;
const FAILED: u8 = 16;
const END: u8 = 17;

const MAGIC: &[u8; 8] = b"wndfiles";

/// Kind and length.
const HEADER: usize = 5;

/// Bytes of a refusal in words.
const MAX_TEXT: usize = 1024;

/// What a signed file offset can say.
const MAX_SIZE: u64 = i64::MAX as u64;

/// Frames are handed to the connection in pieces of about this size.
const BUFFER: usize = 1 << 17;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn every_kind() -> Vec<Frame<'static>> {
        let modified = Modified { seconds: -7, nanos: 999_999_999 };
        vec![
            Frame::Hello { version: 1, role: Role::Take },
            Frame::Welcome,
            Frame::Refusal("no"),
            Frame::Want(b""),
            Frame::WantEnd,
            Frame::Total { files: 3, bytes: u64::MAX },
            Frame::Entry(Entry { folder: true, size: MAX_SIZE, mode: 0o755, modified, name: b"a/b" }),
            Frame::Unavailable { name: b"x", reason: Reason::Missing },
            Frame::Batch,
            Frame::Send { from: 9 },
            Frame::Have,
            Frame::Refuse(Reason::Space),
            Frame::Group { value: [7; 32], bytes: b"content" },
            Frame::FileEnd,
            Frame::Abandon(Reason::Changed),
            Frame::Done([8; 32]),
            Frame::Failed(Reason::Busy),
            Frame::End,
        ]
    }

    #[test]
    fn what_is_said_is_heard() {
        let mut said = Vec::new();
        every_kind().iter().for_each(|frame| frame.encode(&mut said));
        let mut frames = Frames::new(io::Cursor::new(said));
        for frame in every_kind() {
            assert_eq!(frames.receive().unwrap(), frame);
        }
        assert!(frames.is_drained());
    }

    #[test]
    fn no_length_is_believed_before_its_bytes_are_there() {
        let over = |kind: u8, length: u32| [&[kind][..], &length.to_le_bytes(), &[0; 64]].concat();
        for bytes in [over(GROUP_KIND, u32::MAX), over(END, 1), over(200, 0), over(SEND, 7), over(ENTRY, 3)] {
            let mut frames = Frames::new(io::Cursor::new(bytes));
            assert_eq!(frames.receive().unwrap_err().kind(), io::ErrorKind::InvalidData);
        }
        let mut short = Frames::new(io::Cursor::new(over(GROUP_KIND, GROUP as u32)));
        assert_eq!(short.receive().unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
        assert!(short.payload.capacity() < 4096, "room for {}", short.payload.capacity());
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_harm(kind in 0_u8..20, payload in proptest::collection::vec(any::<u8>(), 0..80)) {
            let bytes = [&[kind][..], &(payload.len() as u32).to_le_bytes(), &payload].concat();
            // What is understood can be said, and is understood the same.
            if let Ok(frame) = Frames::new(io::Cursor::new(bytes)).receive() {
                let mut again = Vec::new();
                frame.encode(&mut again);
                let mut frames = Frames::new(io::Cursor::new(again));
                prop_assert_eq!(frames.receive().unwrap(), frame);
            }
        }
    }
}
