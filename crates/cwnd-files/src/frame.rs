//! The messages of the protocol: frames of a kind, a length and a payload, every one of them checked before it is used.

use std::io::{self, BufRead, BufReader, Read, Write};

use crate::error::Malformed;
use crate::limits::{BUFFER, MAX_NAME, MAX_PAYLOAD, MAX_TEXT};
use crate::name::{BadName, Name};
use crate::outcome::{Reason, Role};
use crate::tree::{GroupValue, Hash};

/// One frame: a kind byte, the length of the payload (32 bits) and the payload; all numbers little-endian.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Frame<'a> {
    /// The first frame of a client.
    Hello { version: u8, role: Role },
    /// The server accepts the client.
    Welcome,
    /// The server refuses the client, or one end cannot continue; the payload is the reason as text.
    Error(&'a str),
    /// A name the receiver requests; empty for everything the server has.
    Request(&'a [u8]),
    /// The request is complete.
    RequestEnd,
    /// The totals of the sender, for the display of progress.
    Total { files: u64, bytes: u64 },
    /// A file or directory the sender has.
    Entry(Entry<'a>),
    /// Something requested or found that cannot be sent.
    Unavailable { name: &'a [u8], reason: Reason },
    /// The receiver shall reply to the entries since the last batch, in their order.
    BatchEnd,
    /// Reply: send the groups of the file beginning with this one.
    Accept { from: u64 },
    /// Reply: the receiver has the file or directory.
    Present,
    /// Reply: the receiver does not accept it.
    Reject(Reason),
    /// The bytes of one group of a file, with its value.
    Group { value: GroupValue, bytes: &'a [u8] },
    /// All groups of the file have been sent.
    FileEnd,
    /// The rest of the file will not be sent.
    Abort(Reason),
    /// Result: the file has its name.
    Stored(Hash),
    /// Result: the file was not stored.
    Failed(Reason),
    /// The sender has sent everything; the receiver has handled everything.
    End,
}

/// A file or directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry<'a> {
    pub(crate) directory: bool,
    pub(crate) size: u64,
    /// Permission bits.
    pub(crate) mode: u32,
    /// The modification time.
    pub(crate) modified: Modified,
    pub(crate) name: &'a [u8],
}

/// A modification time since the beginning of 1970, UTC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Modified {
    pub(crate) seconds: i64,
    /// Nanoseconds, below 1,000,000,000.
    pub(crate) nanos: u32,
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
            Frame::Error(text) => out.extend_from_slice(truncated(text).as_bytes()),
            Frame::Request(name) => out.extend_from_slice(name),
            Frame::Total { files, bytes } => {
                out.extend_from_slice(&files.to_le_bytes());
                out.extend_from_slice(&bytes.to_le_bytes());
            }
            Frame::Entry(entry) => {
                out.push(u8::from(entry.directory));
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
            Frame::Accept { from } => out.extend_from_slice(&from.to_le_bytes()),
            Frame::Reject(reason) | Frame::Abort(reason) | Frame::Failed(reason) => out.push(*reason as u8),
            Frame::Group { value, bytes } => {
                out.extend_from_slice(value);
                out.extend_from_slice(bytes);
            }
            Frame::Stored(hash) => out.extend_from_slice(hash),
            Frame::Welcome | Frame::RequestEnd | Frame::BatchEnd | Frame::Present | Frame::FileEnd | Frame::End => {}
        }
        let length = (out.len() - at - HEADER) as u32;
        out[at + 1..at + HEADER].copy_from_slice(&length.to_le_bytes());
    }

    fn kind(&self) -> u8 {
        match self {
            Frame::Hello { .. } => HELLO,
            Frame::Welcome => WELCOME,
            Frame::Error(_) => ERROR,
            Frame::Request(_) => REQUEST,
            Frame::RequestEnd => REQUEST_END,
            Frame::Total { .. } => TOTAL,
            Frame::Entry(_) => ENTRY,
            Frame::Unavailable { .. } => UNAVAILABLE,
            Frame::BatchEnd => BATCH_END,
            Frame::Accept { .. } => ACCEPT,
            Frame::Present => PRESENT,
            Frame::Reject(_) => REJECT,
            Frame::Group { .. } => GROUP_KIND,
            Frame::FileEnd => FILE_END,
            Frame::Abort(_) => ABORT,
            Frame::Stored(_) => STORED,
            Frame::Failed(_) => FAILED,
            Frame::End => END,
        }
    }

    /// The frame of a kind with this payload, whose length has been checked.
    fn decode(kind: u8, payload: &[u8]) -> Result<Frame<'_>, Malformed> {
        let mut fields = Fields(payload);
        let frame = match kind {
            HELLO => {
                if fields.bytes(MAGIC.len())? != MAGIC {
                    return Err(Malformed::Magic);
                }
                Frame::Hello {
                    version: fields.byte()?,
                    role: Role::from_byte(fields.byte()?).ok_or(Malformed::Field("role"))?,
                }
            }
            WELCOME => Frame::Welcome,
            ERROR => Frame::Error(std::str::from_utf8(fields.rest()).map_err(|_| Malformed::Field("text"))?),
            REQUEST => Frame::Request(fields.rest()),
            REQUEST_END => Frame::RequestEnd,
            TOTAL => Frame::Total { files: fields.number()?, bytes: fields.number()? },
            ENTRY => Frame::Entry(Entry {
                directory: match fields.byte()? {
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
            BATCH_END => Frame::BatchEnd,
            ACCEPT => Frame::Accept { from: fields.number()? },
            PRESENT => Frame::Present,
            REJECT => Frame::Reject(fields.reason()?),
            GROUP_KIND => Frame::Group { value: fields.array()?, bytes: fields.rest() },
            FILE_END => Frame::FileEnd,
            ABORT => Frame::Abort(fields.reason()?),
            STORED => Frame::Stored(fields.array()?),
            FAILED => Frame::Failed(fields.reason()?),
            END => Frame::End,
            _ => return Err(Malformed::Kind(kind)),
        };
        if fields.0.is_empty() { Ok(frame) } else { Err(Malformed::Length { kind, length: payload.len() as u32 }) }
    }
}

impl Entry<'_> {
    /// Checks its name.
    pub(crate) fn name(&self) -> Result<Name, BadName> {
        Name::new(self.name)
    }
}

/// The rest of a payload.
struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    fn bytes(&mut self, length: usize) -> Result<&'a [u8], Malformed> {
        let (bytes, rest) = self.0.split_at_checked(length).ok_or(Malformed::Field("length"))?;
        self.0 = rest;
        Ok(bytes)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        let (bytes, rest) = self.0.split_first_chunk().ok_or(Malformed::Field("length"))?;
        self.0 = rest;
        Ok(*bytes)
    }

    fn byte(&mut self) -> Result<u8, Malformed> {
        self.array().map(|[byte]| byte)
    }

    fn number(&mut self) -> Result<u64, Malformed> {
        self.array().map(u64::from_le_bytes)
    }

    fn reason(&mut self) -> Result<Reason, Malformed> {
        Ok(Reason::from_byte(self.byte()?))
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
    /// Frames over this connection.
    pub(crate) fn new(io: T) -> Self {
        Self { io: BufReader::with_capacity(BUFFER, io), out: Vec::with_capacity(BUFFER), payload: Vec::new() }
    }

    /// Queues a frame. It is written with those after it, by [`flush`](Self::flush), or before the next read.
    pub(crate) fn send(&mut self, frame: &Frame<'_>) -> io::Result<()> {
        frame.encode(&mut self.out);
        if self.out.len() >= BUFFER { self.flush() } else { Ok(()) }
    }

    /// Sends a frame likewise. If that writes, `written` is called with the length of each piece that was accepted.
    pub(crate) fn send_in_pieces(&mut self, frame: &Frame<'_>, written: impl FnMut(usize)) -> io::Result<()> {
        frame.encode(&mut self.out);
        if self.out.len() >= BUFFER { self.flush_in_pieces(written) } else { Ok(()) }
    }

    /// Writes the queued frames.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.flush_in_pieces(|_| {})
    }

    fn flush_in_pieces(&mut self, mut written: impl FnMut(usize)) -> io::Result<()> {
        let mut at = 0;
        while at < self.out.len() {
            match self.io.get_mut().write(&self.out[at..]) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(length) => {
                    at += length;
                    written(length);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        self.out.clear();
        self.io.get_mut().flush()
    }

    /// Drops the queued frames, where the other side cannot receive any more.
    pub(crate) fn discard_output(&mut self) {
        self.out.clear();
    }

    /// Whether the next frame is a group of a file. Waits for its first byte; queued frames are written before.
    pub(crate) fn next_is_group(&mut self) -> io::Result<bool> {
        self.flush_before_waiting()?;
        Ok(self.io.fill_buf()?.first() == Some(&GROUP_KIND))
    }

    /// Receives a frame. Queued frames are written first if this may block.
    pub(crate) fn receive(&mut self) -> io::Result<Frame<'_>> {
        self.receive_in_pieces(|_| Ok(()))
    }

    /// Receives a frame likewise. Where it is a group of a file, `arrived` is called with the length of each piece of its payload but the
    /// last, and an error of it ends this.
    pub(crate) fn receive_in_pieces<E: From<io::Error>>(
        &mut self,
        mut arrived: impl FnMut(usize) -> Result<(), E>,
    ) -> Result<Frame<'_>, E> {
        self.flush_before_waiting()?;
        let mut header = [0; HEADER];
        self.io.read_exact(&mut header)?;
        let [kind, length @ ..] = header;
        let length = u32::from_le_bytes(length);
        if length > max_length(kind).map_err(invalid)? {
            // A message that begins like a hello and is none: that of the encryption, for example.
            let malformed = if kind == HELLO { Malformed::Magic } else { Malformed::Length { kind, length } };
            return Err(invalid(malformed).into());
        }
        self.payload.clear();
        while self.payload.len() < length as usize {
            let piece = match self.io.fill_buf() {
                Ok([]) => return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into()),
                Ok(piece) => &piece[..piece.len().min(length as usize - self.payload.len())],
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error.into()),
            };
            let size = piece.len();
            self.payload.extend_from_slice(piece);
            self.io.consume(size);
            if kind == GROUP_KIND && self.payload.len() < length as usize {
                arrived(size)?;
            }
        }
        Ok(Frame::decode(kind, &self.payload).map_err(invalid)?)
    }

    fn flush_before_waiting(&mut self) -> io::Result<()> {
        if !self.out.is_empty() && self.io.buffer().is_empty() { self.flush() } else { Ok(()) }
    }

    /// Whether all received bytes were consumed.
    #[cfg(test)]
    pub(crate) fn is_drained(&mut self) -> bool {
        self.io.fill_buf().is_ok_and(<[u8]>::is_empty)
    }
}

/// Decodes bytes as frames until they end or are malformed; the number of frames. For fuzzing.
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

/// The first characters of a text, as many as an error may have.
fn truncated(text: &str) -> &str {
    let end = text.char_indices().map(|(at, c)| at + c.len_utf8()).take_while(|end| *end <= MAX_TEXT).last();
    &text[..end.unwrap_or(0)]
}

/// The longest payload of a kind.
fn max_length(kind: u8) -> Result<u32, Malformed> {
    Ok(match kind {
        HELLO => 10,
        ERROR => MAX_TEXT as u32,
        REQUEST => MAX_NAME as u32,
        TOTAL => 16,
        ENTRY => MAX_NAME as u32 + 25,
        UNAVAILABLE => MAX_NAME as u32 + 1,
        ACCEPT => 8,
        REJECT | ABORT | FAILED => 1,
        GROUP_KIND => MAX_PAYLOAD as u32,
        STORED => 32,
        WELCOME | REQUEST_END | BATCH_END | PRESENT | FILE_END | END => 0,
        _ => return Err(Malformed::Kind(kind)),
    })
}

const HELLO: u8 = b'c';
const WELCOME: u8 = 1;
const ERROR: u8 = 2;
const REQUEST: u8 = 3;
const REQUEST_END: u8 = 4;
const TOTAL: u8 = 5;
const ENTRY: u8 = 6;
const UNAVAILABLE: u8 = 7;
const BATCH_END: u8 = 8;
const ACCEPT: u8 = 9;
const PRESENT: u8 = 10;
const REJECT: u8 = 11;
const GROUP_KIND: u8 = 12;
const FILE_END: u8 = 13;
const ABORT: u8 = 14;
const STORED: u8 = 15;
const FAILED: u8 = 16;
const END: u8 = 17;

const MAGIC: &[u8; 8] = b"wndfiles";

/// Kind and length.
const HEADER: usize = 5;

/// The largest signed file offset.
const MAX_SIZE: u64 = i64::MAX as u64;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn every_kind() -> Vec<Frame<'static>> {
        let modified = Modified { seconds: -7, nanos: 999_999_999 };
        vec![
            Frame::Hello { version: 1, role: Role::Receive },
            Frame::Welcome,
            Frame::Error("no"),
            Frame::Request(b""),
            Frame::RequestEnd,
            Frame::Total { files: 3, bytes: u64::MAX },
            Frame::Entry(Entry { directory: true, size: MAX_SIZE, mode: 0o755, modified, name: b"a/b" }),
            Frame::Unavailable { name: b"x", reason: Reason::Missing },
            Frame::BatchEnd,
            Frame::Accept { from: 9 },
            Frame::Present,
            Frame::Reject(Reason::Space),
            Frame::Group { value: [7; 32], bytes: b"content" },
            Frame::FileEnd,
            Frame::Abort(Reason::Changed),
            Frame::Stored([8; 32]),
            Frame::Failed(Reason::Busy),
            Frame::End,
        ]
    }

    #[test]
    fn encoded_frames_are_decoded() {
        let mut bytes = Vec::new();
        every_kind().iter().for_each(|frame| frame.encode(&mut bytes));
        let mut frames = Frames::new(io::Cursor::new(bytes));
        for frame in every_kind() {
            assert_eq!(frames.receive().unwrap(), frame);
        }
        assert!(frames.is_drained());
    }

    #[test]
    fn the_text_of_an_error_is_cut_and_a_longer_one_is_refused() {
        let mut bytes = Vec::new();
        Frame::Error(&"\u{e9}".repeat(5000)).encode(&mut bytes);
        assert_eq!(bytes.len(), HEADER + 1024);
        let mut frames = Frames::new(io::Cursor::new(bytes));
        assert_eq!(frames.receive().unwrap(), Frame::Error(&"\u{e9}".repeat(512)));
        let longer = [&[ERROR][..], &1025_u32.to_le_bytes(), &[b'x'; 1025]].concat();
        assert!(Frames::new(io::Cursor::new(longer)).receive().is_err());
    }

    #[test]
    fn memory_grows_with_received_bytes_not_with_claimed_lengths() {
        let over = |kind: u8, length: u32| [&[kind][..], &length.to_le_bytes(), &[0; 64]].concat();
        for bytes in [over(GROUP_KIND, u32::MAX), over(END, 1), over(200, 0), over(ACCEPT, 7), over(ENTRY, 3)] {
            let mut frames = Frames::new(io::Cursor::new(bytes));
            assert_eq!(frames.receive().unwrap_err().kind(), io::ErrorKind::InvalidData);
        }
        let mut short = Frames::new(io::Cursor::new(over(GROUP_KIND, MAX_PAYLOAD as u32)));
        assert_eq!(short.receive().unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
        assert!(short.payload.capacity() < 4096, "room for {}", short.payload.capacity());
    }

    proptest! {
        #[test]
        fn any_bytes_are_decoded_or_refused(kind in 0_u8..20, payload in proptest::collection::vec(any::<u8>(), 0..80)) {
            let bytes = [&[kind][..], &(payload.len() as u32).to_le_bytes(), &payload].concat();
            // A decoded frame is the same after it was encoded and decoded again.
            if let Ok(frame) = Frames::new(io::Cursor::new(bytes)).receive() {
                let mut again = Vec::new();
                frame.encode(&mut again);
                let mut frames = Frames::new(io::Cursor::new(again));
                prop_assert_eq!(frames.receive().unwrap(), frame);
            }
        }
    }
}
