//! A secured stream over another one.

use std::io::{self, Read, Write};

use crate::error::{Denial, SecureError};
use crate::handshake::{Access, Hello, Initiator, Proof, Proven, refuse};
use crate::record::{CONFIRMATION_RECORD, CONTENT, RECORD, Session, TAG, record_length};

/// A stream of bytes that only the two ends can read, and nobody else can change unnoticed.
///
/// Reading returns 0 bytes after the final record alone, which [`finish`](Self::finish) sends; a connection that ends before is
/// [`SecureError::Truncated`], inside an [`io::Error`] as all its errors are. After an error of reading, all further reads fail, and
/// likewise for writing; a timeout ([`io::ErrorKind::WouldBlock`]) of reading is none.
#[derive(Debug)]
pub struct SecureStream<T> {
    inner: T,
    session: Session,
    /// Encrypted bytes that are not written yet.
    out: Vec<u8>,
    /// Bytes read and not decrypted yet: `wire[begin..end]`.
    wire: Vec<u8>,
    begin: usize,
    end: usize,
    /// Decrypted bytes that are not taken yet: from `taken` on.
    plain: Vec<u8>,
    taken: usize,
    reading: Direction,
    writing: Direction,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Direction {
    Open,
    /// The final record has passed.
    Finished,
    Failed,
}

/// Proves a client to a server over `inner`, and checks that the server is the right one. Takes one round trip, and sends the
/// confirmation with the first written data.
///
/// # Errors
/// As [`Initiator::finish`].
pub fn connect<T: Read + Write>(mut inner: T, proof: &Proof) -> Result<SecureStream<T>, SecureError> {
    let (initiator, hello) = Initiator::new(proof)?;
    inner.write_all(&hello)?;
    inner.flush()?;
    let session = initiator.finish(&mut inner)?;
    let mut stream = SecureStream::new(inner, session);
    stream.session.seal_confirmation(&mut stream.out)?;
    Ok(stream)
}

/// Admits a client with a valid proof, as a server. The proof is returned too. `guess` is called before a proof is checked, and returns
/// whether it may be; for a client without a valid proof the error is [`SecureError::Refused`], after the refusal was sent to it.
///
/// # Errors
/// The connection failed, the client uses another protocol, was refused, or has not sent the confirmation.
pub fn accept<T: Read + Write>(
    mut inner: T,
    access: &Access,
    guess: impl FnOnce() -> bool,
) -> Result<(SecureStream<T>, Proven), SecureError> {
    let hello = Hello::read(&mut inner)?;
    let answer = if guess() { hello.answer(access) } else { Err(Denial::Limited) };
    let (session, proven, answer) = match answer {
        Ok(accepted) => accepted,
        Err(why) => {
            inner.write_all(&refuse(why))?;
            inner.flush()?;
            return Err(SecureError::Refused(why));
        }
    };
    inner.write_all(&answer)?;
    inner.flush()?;
    let mut stream = SecureStream::new(inner, session);
    let mut record = [0; CONFIRMATION_RECORD];
    stream.inner.read_exact(&mut record).map_err(|error| match error.kind() {
        io::ErrorKind::UnexpectedEof => SecureError::Truncated,
        _ => SecureError::Io(error),
    })?;
    if record_length(&record)? != Some(CONFIRMATION_RECORD) {
        return Err(SecureError::Altered);
    }
    stream.session.confirm(&record)?;
    Ok((stream, proven))
}

impl<T: Read + Write> SecureStream<T> {
    fn new(inner: T, session: Session) -> Self {
        Self {
            inner,
            session,
            out: Vec::new(),
            wire: vec![0; 2 * RECORD],
            begin: 0,
            end: 0,
            plain: Vec::new(),
            taken: 0,
            reading: Direction::Open,
            writing: Direction::Open,
        }
    }

    /// The stream below.
    pub fn get_ref(&self) -> &T {
        &self.inner
    }

    /// Sends the final record, behind which nothing can be written.
    ///
    /// # Errors
    /// [`io::ErrorKind::NotConnected`] if the final record was sent before, [`io::ErrorKind::BrokenPipe`] if an earlier write failed,
    /// and the errors of the stream below.
    pub fn finish(&mut self) -> io::Result<()> {
        self.check_writing()?;
        self.session.seal(&[], &mut self.out)?;
        self.write_out()?;
        self.writing = Direction::Finished;
        self.inner.flush()
    }

    fn check_writing(&self) -> io::Result<()> {
        match self.writing {
            Direction::Open => Ok(()),
            Direction::Finished => Err(io::ErrorKind::NotConnected.into()),
            Direction::Failed => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }

    /// Writes the encrypted bytes. If that fails, a part of a record may have been written, so nothing can follow.
    fn write_out(&mut self) -> io::Result<()> {
        let written = self.inner.write_all(&self.out);
        self.out.clear();
        if written.is_err() {
            self.writing = Direction::Failed;
        }
        written
    }

    /// Reads until a whole record is there, and returns where it ends.
    fn read_record(&mut self) -> io::Result<usize> {
        loop {
            if let Some(length) = record_length(&self.wire[self.begin..self.end])? {
                if self.end - self.begin >= length {
                    return Ok(self.begin + length);
                }
                if self.wire.len() - self.begin < length {
                    self.wire.copy_within(self.begin..self.end, 0);
                    (self.begin, self.end) = (0, self.end - self.begin);
                }
            }
            if self.begin == self.end {
                (self.begin, self.end) = (0, 0);
            } else if self.end == self.wire.len() {
                self.wire.copy_within(self.begin..self.end, 0);
                (self.begin, self.end) = (0, self.end - self.begin);
            }
            match self.inner.read(&mut self.wire[self.end..]) {
                Ok(0) => return Err(SecureError::Truncated.into()),
                Ok(read) => self.end += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Reads a record and opens it, into `out` if it fits, else for later.
    fn read_content(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let end = self.read_record()?;
        let record = &self.wire[self.begin..end];
        let fits = out.len() >= record.len();
        let length = if fits {
            self.session.open(record, out)?
        } else {
            self.plain.resize(CONTENT + TAG, 0);
            self.session.open(record, &mut self.plain)?
        };
        self.begin = end;
        if length == 0 {
            self.reading = Direction::Finished;
            self.plain.clear();
        }
        if fits || length == 0 {
            return Ok(length);
        }
        self.plain.truncate(length);
        self.taken = 0;
        Ok(self.take(out))
    }

    /// Hands over bytes that were decrypted before.
    fn take(&mut self, out: &mut [u8]) -> usize {
        let rest = &self.plain[self.taken..];
        let length = rest.len().min(out.len());
        out[..length].copy_from_slice(&rest[..length]);
        self.taken += length;
        length
    }
}

impl<T: Read + Write> Read for SecureStream<T> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if out.is_empty() {
            return Ok(0);
        }
        if self.taken < self.plain.len() {
            return Ok(self.take(out));
        }
        match self.reading {
            Direction::Open => {}
            Direction::Finished => return Ok(0),
            Direction::Failed => return Err(SecureError::Altered.into()),
        }
        if !self.out.is_empty() && self.writing == Direction::Open {
            self.write_out()?;
        }
        let read = self.read_content(out);
        if let Err(error) = &read
            && error.get_ref().is_some_and(|source| matches!(source.downcast_ref(), Some(SecureError::Altered)))
        {
            self.reading = Direction::Failed;
        }
        read
    }
}

impl<T: Read + Write> Write for SecureStream<T> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.check_writing()?;
        let content = &bytes[..bytes.len().min(CONTENT)];
        if content.is_empty() {
            return Ok(0);
        }
        self.session.seal(content, &mut self.out)?;
        self.write_out()?;
        Ok(content.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if !self.out.is_empty() {
            self.check_writing()?;
            self.write_out()?;
        }
        self.inner.flush()
    }
}
