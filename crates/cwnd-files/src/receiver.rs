//! The receiving end.

use std::collections::VecDeque;
use std::io::{Read, Write};
use std::thread;
use std::time::Duration;

use crate::directory::Directory;
use crate::error::TransferError;
use crate::frame::{Entry, Frame, Frames};
use crate::journal::Identity;
use crate::limits::{BATCH, MAX_NEW_FOLDERS, MAX_PENDING};
use crate::link::{self, Links};
use crate::name::Name;
use crate::options::ReceiveOptions;
use crate::outcome::{Event, Found, Observer, Outcome, Reason};
use crate::part::{self, Incoming, LockWait, Part};
use crate::tree::{GROUP, groups};
use crate::walk::modified;
use cwnd_text::Printable;

/// Receives what the sender has into `directory`. Of that, `names` were requested; everything was if there are none.
pub(crate) fn receive_into<T: Read + Write>(
    frames: &mut Frames<T>,
    names: &[Name],
    directory: &Directory,
    options: &ReceiveOptions,
    observer: Observer<'_>,
) -> Result<Outcome, TransferError> {
    let mut receiver = Receiver {
        frames,
        names,
        directory,
        options,
        observer,
        allowance: Allowance { new_directories: MAX_NEW_FOLDERS, wait: LockWait::new() },
        replies: Vec::new(),
        pending: VecDeque::new(),
        current: None,
        outcome: Outcome::default(),
    };
    let result = receiver.run();
    if let Some(Current::Part(part)) = &mut receiver.current {
        // The transfer has its result already; if this fails too, less of the file can be resumed.
        let _ = part.keep();
    }
    result
}

struct Receiver<'a, T> {
    frames: &'a mut Frames<T>,
    /// The requested names.
    names: &'a [Name],
    directory: &'a Directory,
    options: &'a ReceiveOptions,
    observer: Observer<'a>,
    allowance: Allowance,
    /// To the entries since the last batch: the group to begin with, none if nothing has to come.
    replies: Vec<Result<Option<u64>, Reason>>,
    /// Accepted files whose first frame has not come yet, in their order.
    pending: VecDeque<Incoming>,
    current: Option<Current>,
    outcome: Outcome,
}

/// The limits that are left to this transfer.
struct Allowance {
    /// The number of directories that may still be created.
    new_directories: u32,
    wait: LockWait,
}

/// The file whose groups are arriving.
enum Current {
    Part(Box<Part>),
    /// It cannot be written, and its groups are ignored.
    Discarded {
        name: Name,
        size: u64,
        reason: Reason,
    },
}

/// A received frame without its payload.
enum Message {
    Total {
        files: u64,
        bytes: u64,
    },
    Entry(Decision),
    Unavailable(String, Reason),
    BatchEnd,
    /// Some bytes of the group were reported while they arrived, and some of those may not belong to the file.
    Group {
        bytes: u64,
        reported: u64,
    },
    FileEnd,
    Abort(Reason),
    End,
}

/// The decision about an entry.
enum Decision {
    /// The directory exists.
    Directory,
    /// The link exists.
    Link(Name),
    /// The file exists, and is the same.
    Present(Name, u64),
    Accept(Incoming),
    Reject(String, Reason),
}

impl<T: Read + Write> Receiver<'_, T> {
    fn run(&mut self) -> Result<Outcome, TransferError> {
        loop {
            match self.receive()? {
                Message::Total { files, bytes } => self.emit(Event::Total { files, bytes })?,
                Message::Entry(decision) => self.apply(decision)?,
                Message::Unavailable(name, reason) => self.report_failed(&name, reason, Found::There)?,
                Message::BatchEnd => self.send_replies()?,
                Message::Group { bytes, reported } => {
                    self.outcome.bytes += bytes;
                    self.emit(Event::Transferred(bytes.saturating_sub(reported)))?;
                }
                Message::FileEnd => self.finish_file()?,
                Message::Abort(reason) => self.abort_file(reason)?,
                Message::End if self.pending.is_empty() && self.replies.is_empty() => {
                    self.frames.send(&Frame::End)?;
                    self.frames.flush()?;
                    return Ok(self.outcome);
                }
                Message::End => return Err(TransferError::Protocol("an end before all announced files")),
            }
        }
    }

    /// Receives a frame, and does what needs its payload.
    fn receive(&mut self) -> Result<Message, TransferError> {
        if self.current.is_none() && self.frames.next_is_group()? {
            self.current = Some(open_next(&mut self.pending, self.directory, &mut self.allowance.wait, self.observer)?);
        }
        let (observer, mut reported) = (&mut *self.observer, 0);
        let frame = self.frames.receive_in_pieces(|piece| {
            reported += piece as u64;
            emit(observer, Event::Transferred(piece as u64))
        })?;
        Ok(match frame {
            Frame::Total { files, bytes } => Message::Total { files, bytes },
            Frame::Entry(entry) if self.replies.len() < BATCH && self.pending.len() < MAX_PENDING => {
                let decision = decide(self.directory, self.options, &mut self.allowance, self.observer, &entry);
                Message::Entry(match decision {
                    Decision::Reject(name, reason) => {
                        let reason = of_requested(self.names, name.as_bytes(), reason);
                        Decision::Reject(name, reason)
                    }
                    decision => decision,
                })
            }
            Frame::Entry(_) => return Err(TransferError::Protocol("more entries than a batch may have")),
            Frame::Unavailable { name, reason } => {
                let reason = of_requested(self.names, name, reason);
                Message::Unavailable(Printable::new(name).to_string(), reason)
            }
            Frame::BatchEnd => Message::BatchEnd,
            Frame::Group { value, bytes } => {
                if let Some(Current::Part(part)) = &mut self.current {
                    part.add(&value, bytes)?;
                }
                Message::Group { bytes: bytes.len() as u64, reported }
            }
            Frame::FileEnd => Message::FileEnd,
            Frame::Abort(reason) => Message::Abort(reason),
            Frame::End => Message::End,
            Frame::Error(text) => return Err(TransferError::reported(text)),
            _ => return Err(TransferError::Protocol("a message that only a receiver may send")),
        })
    }

    fn apply(&mut self, decision: Decision) -> Result<(), TransferError> {
        match decision {
            Decision::Directory => self.replies.push(Ok(None)),
            Decision::Link(name) => {
                self.replies.push(Ok(None));
                self.outcome.linked += 1;
                self.emit(Event::Linked { name: &name })?;
            }
            Decision::Present(name, size) => {
                self.replies.push(Ok(None));
                self.outcome.unchanged += 1;
                self.emit(Event::Unchanged { name: &name, size })?;
            }
            Decision::Accept(incoming) => {
                self.replies.push(Ok(Some(incoming.from)));
                self.pending.push_back(incoming);
            }
            Decision::Reject(name, reason) => {
                self.replies.push(Err(reason));
                self.report_failed(&name, reason, Found::Here)?;
            }
        }
        Ok(())
    }

    fn send_replies(&mut self) -> Result<(), TransferError> {
        for reply in self.replies.drain(..) {
            self.frames.send(&match reply {
                Ok(Some(from)) => Frame::Accept { from },
                Ok(None) => Frame::Present,
                Err(reason) => Frame::Reject(reason),
            })?;
        }
        Ok(self.frames.flush()?)
    }

    /// The file that ends with this frame. It is opened here if no group of it had to come.
    fn take_current(&mut self) -> Result<Current, TransferError> {
        match self.current.take() {
            Some(current) => Ok(current),
            None => open_next(&mut self.pending, self.directory, &mut self.allowance.wait, self.observer),
        }
    }

    /// Moves the current file, all of whose groups have come, to its name.
    fn finish_file(&mut self) -> Result<(), TransferError> {
        let (name, size, result) = match self.take_current()? {
            Current::Part(part) => {
                while !part.is_verified() {
                    self.emit(Event::Waiting)?;
                    thread::sleep(VERIFICATION_POLL);
                }
                let (name, size) = (part.incoming.name.clone(), part.incoming.size);
                (name, size, part.finish(self.options)?)
            }
            Current::Discarded { name, size, reason } => (name, size, Err(reason)),
        };
        match result {
            Ok(hash) => {
                self.frames.send(&Frame::Stored(hash))?;
                self.outcome.completed += 1;
                self.emit(Event::Completed { name: &name, size, hash })
            }
            Err(reason) => {
                self.frames.send(&Frame::Failed(reason))?;
                self.report_failed(&name.to_string(), reason, Found::Here)
            }
        }
    }

    /// The sender aborts the current file. Its received part is kept, unless the file changed at the sender. No file is created if nothing
    /// has arrived.
    fn abort_file(&mut self, reason: Reason) -> Result<(), TransferError> {
        let Some(current) = self.current.take() else {
            let none = TransferError::Protocol("the end of a file that was not accepted");
            let incoming = self.pending.pop_front().ok_or(none)?;
            return self.report_failed(&incoming.name.to_string(), reason, Found::There);
        };
        let name = match current {
            Current::Part(mut part) => {
                let name = part.incoming.name.clone();
                let failed = |error| TransferError::File { name: name.clone(), error };
                let kept = if reason == Reason::Changed { part.discard() } else { part.keep() };
                kept.map_err(failed)?;
                name
            }
            Current::Discarded { name, .. } => name,
        };
        self.report_failed(&name.to_string(), reason, Found::There)
    }

    fn report_failed(&mut self, name: &str, reason: Reason, found: Found) -> Result<(), TransferError> {
        emit(self.observer, self.outcome.missed(name, reason, found))
    }

    fn emit(&mut self, event: Event<'_>) -> Result<(), TransferError> {
        emit(self.observer, event)
    }
}

/// Why `name` is not transferred. A link is left out without a word where it was found, and not where it was requested.
pub(crate) fn of_requested(names: &[Name], name: &[u8], reason: Reason) -> Reason {
    let requested = || names.iter().any(|one| one.as_bytes() == name || one.split().1.as_encoded_bytes() == name);
    if reason == Reason::Link && requested() { Reason::NamedLink } else { reason }
}

/// Decides about an entry, and reserves the room that an accepted file needs.
fn decide(
    directory: &Directory,
    options: &ReceiveOptions,
    allowance: &mut Allowance,
    observer: Observer<'_>,
    entry: &Entry<'_>,
) -> Decision {
    if let Some((name, target)) = link::parse(entry.name) {
        let reject = |reason| Decision::Reject(Printable::new(name).to_string(), reason);
        return create_link(directory, options, allowance, name, target).map_or_else(reject, Decision::Link);
    }
    let reject = |reason| Decision::Reject(Printable::new(entry.name).to_string(), reason);
    let Ok(name) = entry.name() else { return reject(Reason::Name) };
    if directory.passes_link(&name) {
        return reject(Reason::NotAFile);
    }
    if !entry.directory
        && groups(entry.size) > 1
        && !part::wait_unlocked(directory.dir(), &name, &mut allowance.wait, observer)
    {
        return reject(Reason::Busy);
    }
    if entry.directory {
        return match directory.create_directories(name.as_path(), options.keep_free, &mut allowance.new_directories) {
            Ok(()) => Decision::Directory,
            Err(reason) => reject(reason),
        };
    }
    let file = Identity { name, size: entry.size, modified: entry.modified };
    match directory.dir().symlink_metadata(file.name.as_path()).ok() {
        Some(present) if !present.is_file() => return reject(Reason::NotAFile),
        Some(present) if present.len() == file.size && modified(&present) == file.modified => {
            part::remove_stale_journal(directory.dir(), &file.name);
            return Decision::Present(file.name, file.size);
        }
        Some(_) if !options.overwrite => return reject(Reason::Exists),
        _ => {}
    }
    if let Err(reason) =
        directory.create_directories(file.name.split().0, options.keep_free, &mut allowance.new_directories)
    {
        return reject(reason);
    }
    let from = part::proven(directory.dir(), &file);
    let missing = file.size - (from * GROUP).min(file.size);
    match directory.reserve(missing, options.keep_free) {
        Ok(Some(room)) => Decision::Accept(Incoming {
            name: file.name,
            size: file.size,
            mode: entry.mode,
            modified: file.modified,
            from,
            room,
        }),
        Ok(None) => reject(Reason::Space),
        Err(_) => reject(Reason::Other),
    }
}

/// Creates a link that the sender keeps, if links are wanted here.
fn create_link(
    directory: &Directory,
    options: &ReceiveOptions,
    allowance: &mut Allowance,
    name: &[u8],
    target: &[u8],
) -> Result<Name, Reason> {
    // As no name of a file can be, so that the sender knows the reason.
    let name = Name::new(name).map_err(|_| Reason::Target)?;
    if options.links != Links::Keep {
        return Err(Reason::Link);
    }
    if directory.passes_link(&name) {
        return Err(Reason::NotAFile);
    }
    directory.create_directories(name.split().0, options.keep_free, &mut allowance.new_directories)?;
    let _room = directory.reserve(0, options.keep_free).map_err(|_| Reason::Other)?.ok_or(Reason::Space)?;
    link::create(directory.dir(), &name, target, options.overwrite)?;
    Ok(name)
}

/// Opens the next accepted file.
fn open_next(
    pending: &mut VecDeque<Incoming>,
    directory: &Directory,
    wait: &mut LockWait,
    observer: Observer<'_>,
) -> Result<Current, TransferError> {
    let incoming = pending.pop_front().ok_or(TransferError::Protocol("content of a file that was not accepted"))?;
    let from = (incoming.from * GROUP).min(incoming.size);
    emit(observer, Event::Started { name: &incoming.name, size: incoming.size, from })?;
    let (name, size) = (incoming.name.clone(), incoming.size);
    match Part::open(directory.dir(), incoming, wait, observer) {
        Ok(Ok(part)) => Ok(Current::Part(Box::new(part))),
        Ok(Err(reason)) => Ok(Current::Discarded { name, size, reason }),
        Err(error) => Err(TransferError::File { name, error }),
    }
}

fn emit(observer: Observer<'_>, event: Event<'_>) -> Result<(), TransferError> {
    if observer(event) { Ok(()) } else { Err(TransferError::Interrupted) }
}

/// The interval between checks for the end of a verification.
const VERIFICATION_POLL: Duration = Duration::from_millis(20);
