//! The sending end.

use std::collections::VecDeque;
use std::io::{Read, Seek, SeekFrom, Write};

use crate::error::TransferError;
use crate::frame::{Entry, Frame, Frames};
use crate::handshake::await_welcome;
use crate::limits::{BATCH, MAX_COUNTED, MAX_NAME, MAX_SENT};
use crate::link;
use crate::name::Name;
use crate::outcome::{Event, Found, Observer, Outcome, Reason};
use crate::tree::{GROUP, Hash, group_size, group_value, groups, root};
use crate::walk::{Item, Source, Unavailable};
use cwnd_text::Printable;

/// Sends everything below the sources that the receiver accepts, and reports unavailable files.
///
/// Entries are announced a batch or two ahead of the files themselves, so that many small files cost no round trip each, and neither end
/// has to remember all of them.
pub(crate) fn send_from<T: Read + Write>(
    frames: &mut Frames<T>,
    sources: &[Source],
    unavailable: &[Unavailable],
    welcome: Welcome,
    observer: Observer<'_>,
) -> Result<Outcome, TransferError> {
    let mut sender =
        Sender { frames, observer, sent: VecDeque::new(), buffer: Vec::new(), outcome: Outcome::default() };
    sender.announce_total(sources, if welcome == Welcome::Sent { MAX_COUNTED } else { usize::MAX })?;
    for unavailable in unavailable {
        sender.report_unavailable(unavailable)?;
    }
    let mut found = sources.iter().flat_map(|source| source.walk().map(move |found| (source, found)));
    let mut announced = sender.announce_batch(&mut found)?;
    if welcome == Welcome::Expected {
        await_welcome(sender.frames)?;
    }
    while !announced.is_empty() {
        let next = sender.announce_batch(&mut found)?;
        for (source, item) in announced {
            sender.handle_reply(source, item)?;
        }
        announced = next;
    }
    sender.finish()
}

/// Which end sends the welcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Welcome {
    /// This end is a client, and the server has not answered its hello yet.
    Expected,
    /// This end is the server, and has sent it.
    Sent,
}

struct Sender<'a, T> {
    frames: &'a mut Frames<T>,
    observer: Observer<'a>,
    /// Files sent whose result is pending, in their order.
    sent: VecDeque<Sent>,
    buffer: Vec<u8>,
    outcome: Outcome,
}

struct Sent {
    name: Name,
    size: u64,
    /// None if only a part of the file was read.
    hash: Option<Hash>,
}

/// The receiver's reply to an entry.
enum Reply {
    Accept(u64),
    Present,
    Reject(Reason),
}

impl<T: Read + Write> Sender<'_, T> {
    /// Counts the files, of `limit` entries at most: this is work before anything can be sent.
    fn announce_total(&mut self, sources: &[Source], limit: usize) -> Result<(), TransferError> {
        let (mut files, mut bytes) = (0, 0_u64);
        for (nth, found) in sources.iter().flat_map(Source::walk).take(limit).enumerate() {
            if nth % COUNTED_PER_EVENT == COUNTED_PER_EVENT - 1 {
                self.emit(Event::Waiting)?;
            }
            if let Ok(item) = found
                && item.is_file()
            {
                files += 1;
                bytes = bytes.saturating_add(item.size);
            }
        }
        self.emit(Event::Total { files, bytes })?;
        Ok(self.frames.send(&Frame::Total { files, bytes })?)
    }

    /// Announces the next entries; those to which the receiver will reply.
    fn announce_batch<'s>(
        &mut self,
        found: &mut impl Iterator<Item = (&'s Source, Result<Item, Unavailable>)>,
    ) -> Result<Vec<(&'s Source, Item)>, TransferError> {
        let mut announced = Vec::new();
        for (source, found) in found {
            match found {
                Ok(item) => {
                    let link = item.target.as_ref().map(|target| link::announced(&item.name, target));
                    self.frames.send(&Frame::Entry(Entry {
                        directory: item.is_directory,
                        size: item.size,
                        mode: item.mode,
                        modified: item.modified,
                        name: link.as_deref().unwrap_or(item.name.as_bytes()),
                    }))?;
                    announced.push((source, item));
                }
                Err(unavailable) => self.report_unavailable(&unavailable)?,
            }
            if announced.len() == BATCH {
                break;
            }
        }
        if !announced.is_empty() {
            self.frames.send(&Frame::BatchEnd)?;
            self.frames.flush()?;
        }
        Ok(announced)
    }

    fn report_unavailable(&mut self, unavailable: &Unavailable) -> Result<(), TransferError> {
        let Unavailable { name, reason } = unavailable;
        self.report_missed(&Printable::new(name).to_string(), *reason, Found::Here)?;
        let name = &name[..name.len().min(MAX_NAME)];
        Ok(self.frames.send(&Frame::Unavailable { name, reason: *reason })?)
    }

    /// Receives the reply to an entry, and sends the file if it was accepted.
    fn handle_reply(&mut self, source: &Source, item: Item) -> Result<(), TransferError> {
        match self.receive_reply()? {
            Reply::Present if item.is_directory => Ok(()),
            Reply::Present if item.target.is_some() => {
                self.outcome.linked += 1;
                self.emit(Event::Linked { name: &item.name })
            }
            // The name under which it was announced.
            Reply::Reject(Reason::Name) if item.target.is_some() => {
                self.report_failed(&item.name, Reason::NoLinks, Found::There)
            }
            Reply::Present => {
                self.outcome.unchanged += 1;
                self.emit(Event::Unchanged { name: &item.name, size: item.size })
            }
            Reply::Reject(reason) => self.report_failed(&item.name, reason, Found::There),
            Reply::Accept(_) if self.sent.len() >= MAX_SENT => {
                Err(TransferError::Protocol("no results for the files that were sent"))
            }
            Reply::Accept(from) if from <= groups(item.size) && item.is_file() => {
                match self.send_file(source, &item, from)? {
                    Ok(hash) => {
                        self.frames.send(&Frame::FileEnd)?;
                        self.sent.push_back(Sent { name: item.name, size: item.size, hash });
                        Ok(())
                    }
                    Err(reason) => {
                        self.frames.send(&Frame::Abort(reason))?;
                        self.report_failed(&item.name, reason, Found::Here)
                    }
                }
            }
            Reply::Accept(_) => Err(TransferError::Protocol("it accepts more than was announced")),
        }
    }

    /// Sends the groups of a file beginning with group `from`; the hash of the file if that was all of them.
    fn send_file(
        &mut self,
        source: &Source,
        item: &Item,
        from: u64,
    ) -> Result<Result<Option<Hash>, Reason>, TransferError> {
        self.emit(Event::Started { name: &item.name, size: item.size, from: (from * GROUP).min(item.size) })?;
        let mut file = match source.open(item) {
            Ok(file) => file,
            Err(reason) => return Ok(Err(reason)),
        };
        if file.seek(SeekFrom::Start(from * GROUP)).is_err() {
            return Ok(Err(Reason::Unreadable));
        }
        let all = groups(item.size);
        let mut values = Vec::new();
        for index in from..all {
            self.buffer.resize(group_size(index, item.size), 0);
            if let Err(error) = file.read_exact(&mut self.buffer) {
                let shrunk = error.kind() == std::io::ErrorKind::UnexpectedEof;
                return Ok(Err(if shrunk { Reason::Changed } else { Reason::Unreadable }));
            }
            let value = group_value(index, all, &self.buffer);
            let mut left = self.buffer.len() as u64;
            let (observer, mut goes_on) = (&mut *self.observer, true);
            self.frames.send_in_pieces(&Frame::Group { value, bytes: &self.buffer }, |piece| {
                let piece = left.min(piece as u64);
                left -= piece;
                // A frame that has begun is written to its end.
                goes_on &= observer(Event::Transferred(piece));
            })?;
            values.push(value);
            self.outcome.bytes += self.buffer.len() as u64;
            if left > 0 {
                goes_on &= observer(Event::Transferred(left));
            }
            if !goes_on {
                return Err(TransferError::Interrupted);
            }
        }
        if !item.is_still(&file) {
            return Ok(Err(Reason::Changed));
        }
        Ok(Ok((from == 0).then(|| root(&values))))
    }

    /// The reply to the next entry. The results of files sent before may come first.
    fn receive_reply(&mut self) -> Result<Reply, TransferError> {
        loop {
            let result = match self.frames.receive()? {
                Frame::Accept { from } => return Ok(Reply::Accept(from)),
                Frame::Present => return Ok(Reply::Present),
                Frame::Reject(reason) => return Ok(Reply::Reject(reason)),
                frame => file_result(&frame)?,
            };
            self.handle_result(result)?;
        }
    }

    /// Waits for the results of all files.
    fn finish(mut self) -> Result<Outcome, TransferError> {
        self.frames.send(&Frame::End)?;
        self.frames.flush()?;
        loop {
            let result = match self.frames.receive()? {
                Frame::End if self.sent.is_empty() => return Ok(self.outcome),
                frame => file_result(&frame)?,
            };
            self.handle_result(result)?;
        }
    }

    fn handle_result(&mut self, result: Result<Hash, Reason>) -> Result<(), TransferError> {
        let unexpected = TransferError::Protocol("a result for a file that was not sent");
        let Sent { name, size, hash: ours } = self.sent.pop_front().ok_or(unexpected)?;
        match result {
            Ok(hash) if ours.is_none_or(|ours| ours == hash) => {
                self.outcome.completed += 1;
                self.emit(Event::Completed { name: &name, size, hash })
            }
            Ok(_) => self.report_failed(&name, Reason::Differs, Found::Here),
            Err(reason) => self.report_failed(&name, reason, Found::There),
        }
    }

    fn report_failed(&mut self, name: &Name, reason: Reason, found: Found) -> Result<(), TransferError> {
        self.report_missed(&name.to_string(), reason, found)
    }

    fn report_missed(&mut self, name: &str, reason: Reason, found: Found) -> Result<(), TransferError> {
        if (self.observer)(self.outcome.missed(name, reason, found)) { Ok(()) } else { Err(TransferError::Interrupted) }
    }

    fn emit(&mut self, event: Event<'_>) -> Result<(), TransferError> {
        if (self.observer)(event) { Ok(()) } else { Err(TransferError::Interrupted) }
    }
}

/// The receiver's result for a file.
fn file_result(frame: &Frame<'_>) -> Result<Result<Hash, Reason>, TransferError> {
    match frame {
        Frame::Stored(hash) => Ok(Ok(*hash)),
        Frame::Failed(reason) => Ok(Err(*reason)),
        Frame::Error(text) => Err(TransferError::reported(text)),
        _ => Err(TransferError::Protocol("neither a reply nor a result")),
    }
}

/// A few milliseconds of work.
const COUNTED_PER_EVENT: usize = 256;
