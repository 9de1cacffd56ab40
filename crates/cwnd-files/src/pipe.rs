//! One file received into a stream of bytes, as a pipe is one.

use std::io::{Read, Write};

use crate::error::TransferError;
use crate::frame::{Entry, Frame, Frames};
use crate::name::Name;
use crate::outcome::{Event, Found, Observer, Outcome, Reason};
use crate::receiver::of_requested;
use crate::tree::{GroupValue, group_size, group_value, groups, root};
use cwnd_text::Printable;

/// Receives the only file that the sender has, or that was requested by this name, and writes it to `out`, each group once it is verified.
///
/// # Errors
/// As those of `receive_into`; [`TransferError::NotOneFile`], [`TransferError::Output`], and [`TransferError::CutOff`] for what may be tried again
/// before the first byte is written.
pub(crate) fn receive_to<T: Read + Write>(
    frames: &mut Frames<T>,
    name: Option<&Name>,
    out: &mut dyn Write,
    observer: Observer<'_>,
) -> Result<Outcome, TransferError> {
    let mut pipe =
        Pipe { name, out, observer, incoming: None, announced: 0, values: Vec::new(), outcome: Outcome::default() };
    let result = pipe.run(frames);
    match result {
        Err(error) if error.is_retryable() && !pipe.values.is_empty() => Err(TransferError::CutOff(error.to_string())),
        result => result,
    }
}

struct Pipe<'a> {
    name: Option<&'a Name>,
    out: &'a mut dyn Write,
    observer: Observer<'a>,
    /// The file and its size, until it has ended.
    incoming: Option<(Name, u64)>,
    /// Entries of all kinds.
    announced: u64,
    values: Vec<GroupValue>,
    outcome: Outcome,
}

impl Pipe<'_> {
    fn run<T: Read + Write>(&mut self, frames: &mut Frames<T>) -> Result<Outcome, TransferError> {
        loop {
            match frames.receive()? {
                Frame::Total { files, bytes } => self.emit(Event::Total { files, bytes })?,
                Frame::Entry(entry) => self.announce(&entry)?,
                Frame::Unavailable { name, reason } => {
                    let reason = of_requested(self.name.map_or(&[], std::slice::from_ref), name, reason);
                    self.report_missed(&Printable::new(name).to_string(), reason)?;
                }
                Frame::BatchEnd => {
                    let (name, size) = self.incoming.as_ref().ok_or(TransferError::NotOneFile)?;
                    let begun = (self.observer)(Event::Started { name, size: *size, from: 0 });
                    frames.send(&Frame::Accept { from: 0 })?;
                    frames.flush()?;
                    if !begun {
                        return Err(TransferError::Interrupted);
                    }
                }
                Frame::Group { value, bytes } => self.add(value, bytes)?,
                Frame::FileEnd => {
                    let (name, size) = self.complete()?;
                    let hash = root(&self.values);
                    frames.send(&Frame::Stored(hash))?;
                    self.outcome.completed += 1;
                    self.emit(Event::Completed { name: &name, size, hash })?;
                }
                Frame::Abort(reason) => {
                    let (name, _) = self.incoming.take().ok_or(TransferError::NotOneFile)?;
                    self.report_missed(&name.to_string(), reason)?;
                }
                Frame::End => {
                    frames.send(&Frame::End)?;
                    frames.flush()?;
                    return Ok(self.outcome);
                }
                Frame::Error(text) => return Err(TransferError::reported(text)),
                _ => return Err(TransferError::Protocol("a message that only a receiver may send")),
            }
        }
    }

    fn announce(&mut self, entry: &Entry<'_>) -> Result<(), TransferError> {
        self.announced += 1;
        if entry.directory || self.announced > 1 {
            return Err(TransferError::NotOneFile);
        }
        let name = entry.name().map_err(|_| TransferError::NotOneFile)?;
        self.incoming = Some((name, entry.size));
        Ok(())
    }

    /// Writes the next group, once it is verified.
    fn add(&mut self, value: GroupValue, bytes: &[u8]) -> Result<(), TransferError> {
        let (name, size) = self.incoming.as_ref().ok_or(TransferError::NotOneFile)?;
        let (index, all) = (self.values.len() as u64, groups(*size));
        if index >= all || bytes.len() != group_size(index, *size) {
            return Err(TransferError::Protocol("a group that the file does not have"));
        }
        if group_value(index, all, bytes) != value {
            return Err(TransferError::Damaged(name.clone()));
        }
        // Now something may have been written, also if this fails.
        self.values.push(value);
        self.out.write_all(bytes).map_err(TransferError::Output)?;
        self.outcome.bytes += bytes.len() as u64;
        self.emit(Event::Transferred(bytes.len() as u64))
    }

    fn complete(&mut self) -> Result<(Name, u64), TransferError> {
        let (name, size) = self.incoming.take().ok_or(TransferError::NotOneFile)?;
        if (self.values.len() as u64) < groups(size) {
            return Err(TransferError::Protocol("a file ends before its last group"));
        }
        self.out.flush().map_err(TransferError::Output)?;
        Ok((name, size))
    }

    fn report_missed(&mut self, name: &str, reason: Reason) -> Result<(), TransferError> {
        if (self.observer)(self.outcome.missed(name, reason, Found::There)) {
            Ok(())
        } else {
            Err(TransferError::Interrupted)
        }
    }

    fn emit(&mut self, event: Event<'_>) -> Result<(), TransferError> {
        if (self.observer)(event) { Ok(()) } else { Err(TransferError::Interrupted) }
    }
}
