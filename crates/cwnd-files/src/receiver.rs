//! The taking end.

use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::path::Path;

use cap_std::fs::Dir;

use crate::frame::{Entry, Frame, Frames};
use crate::name::{Name, shown};
use crate::outcome::{Event, Outcome, Reason, TransferError, Watch};
use crate::part::{self, Part};
use crate::sender::BATCH;
use crate::tree::{GROUP, groups};
use crate::walk::{Folder, modified};

/// What a taker may do.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct Taking {
    /// Replace files of the same name. Otherwise they stay, and the transfer of theirs fails.
    pub overwrite: bool,
    /// Bring every file to the disk before it counts. Otherwise only large ones, of more than one [`GROUP`], are: what is small
    /// survives the end of the program, but perhaps not that of the machine.
    pub sync: bool,
    /// Bytes to be left free.
    pub keep_free: u64,
}

impl Taking {
    /// Replaces nothing, syncs large files, leaves nothing free.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether files of the same name are replaced.
    #[must_use]
    pub fn overwrite(mut self, on: bool) -> Self {
        self.overwrite = on;
        self
    }

    /// Whether small files are brought to the disk too.
    #[must_use]
    pub fn sync(mut self, on: bool) -> Self {
        self.sync = on;
        self
    }

    /// How many bytes are left free.
    #[must_use]
    pub fn keep_free(mut self, bytes: u64) -> Self {
        self.keep_free = bytes;
        self
    }
}

/// A file that was said to come.
#[derive(Clone, Debug)]
pub(crate) struct Wanted {
    pub(crate) name: Name,
    pub(crate) size: u64,
    pub(crate) mode: u32,
    pub(crate) modified: crate::frame::Modified,
    /// Groups that are there.
    pub(crate) from: u64,
}

/// Takes what the giver has into `folder`.
pub(crate) fn take<T: Read + Write>(
    frames: &mut Frames<T>,
    folder: &Folder,
    rules: &Taking,
    watch: Watch<'_>,
) -> Result<Outcome, TransferError> {
    let room = rustix::fs::fstatvfs(&folder.0).map_err(io::Error::from)?;
    let room = room.f_bavail.saturating_mul(room.f_frsize).saturating_sub(rules.keep_free);
    let mut taker = Taker {
        frames,
        folder: &folder.0,
        rules,
        watch,
        room,
        answers: Vec::new(),
        waiting: VecDeque::new(),
        current: None,
        outcome: Outcome::default(),
    };
    let result = taker.run();
    if let Some(Current::Part(part)) = &mut taker.current {
        // What has arrived is worth keeping; that this fails too changes nothing.
        let _ = part.suspend();
    }
    result
}

struct Taker<'a, T> {
    frames: &'a mut Frames<T>,
    folder: &'a Dir,
    rules: &'a Taking,
    watch: Watch<'a>,
    /// Bytes that may still be written.
    room: u64,
    /// To the entries since the last batch.
    answers: Vec<Result<Option<u64>, Reason>>,
    /// Files that will come, in their order.
    waiting: VecDeque<Wanted>,
    current: Option<Current>,
    outcome: Outcome,
}

/// The file that is coming.
enum Current {
    Part(Box<Part>),
    /// It cannot be written, and what comes of it is thrown away.
    Lost(Wanted, Reason),
}

/// A frame without its payload.
enum Said {
    Total { files: u64, bytes: u64 },
    Entry(Answer),
    Unavailable(String, Reason),
    Batch,
    Group(u64),
    FileEnd,
    Abandon(Reason),
    End,
}

/// What is done about an entry.
enum Answer {
    /// The folder is there.
    Folder,
    /// The file is there.
    Have(Name, u64),
    Send(Wanted),
    Refuse(String, Reason),
}

impl<T: Read + Write> Taker<'_, T> {
    fn run(&mut self) -> Result<Outcome, TransferError> {
        loop {
            match self.hear()? {
                Said::Total { files, bytes } => self.tell(Event::Total { files, bytes })?,
                Said::Entry(answer) => self.note(answer)?,
                Said::Unavailable(name, reason) => self.fail(&name, reason)?,
                Said::Batch => self.answer()?,
                Said::Group(bytes) => {
                    self.outcome.bytes += bytes;
                    self.tell(Event::Moved(bytes))?;
                }
                Said::FileEnd => self.finish()?,
                Said::Abandon(reason) => self.abandon(reason)?,
                Said::End if self.waiting.is_empty() && self.answers.is_empty() => {
                    self.frames.send(&Frame::End)?;
                    self.frames.flush()?;
                    return Ok(self.outcome);
                }
                Said::End => return Err(TransferError::Protocol("it ends before everything has come")),
            }
        }
    }

    /// Hears a frame, and does what needs its payload.
    fn hear(&mut self) -> Result<Said, TransferError> {
        Ok(match self.frames.receive()? {
            Frame::Total { files, bytes } => Said::Total { files, bytes },
            Frame::Entry(entry) if self.answers.len() < BATCH && self.waiting.len() < 2 * BATCH => {
                Said::Entry(decide(self.folder, self.rules, &mut self.room, &entry))
            }
            Frame::Entry(_) => return Err(TransferError::Protocol("more entries than a batch has")),
            Frame::Unavailable { name, reason } => Said::Unavailable(shown(name), reason),
            Frame::Batch => Said::Batch,
            Frame::Group { value, bytes } => {
                if self.current.is_none() {
                    self.current = Some(begin(&mut self.waiting, self.folder, self.watch)?);
                }
                if let Some(Current::Part(part)) = &mut self.current {
                    part.add(&value, bytes)?;
                }
                Said::Group(bytes.len() as u64)
            }
            Frame::FileEnd => Said::FileEnd,
            Frame::Abandon(reason) => Said::Abandon(reason),
            Frame::End => Said::End,
            Frame::Refusal(text) => return Err(TransferError::Refused(text.to_owned())),
            _ => return Err(TransferError::Protocol("something only a taker says")),
        })
    }

    fn note(&mut self, answer: Answer) -> Result<(), TransferError> {
        match answer {
            Answer::Folder => self.answers.push(Ok(None)),
            Answer::Have(name, size) => {
                self.answers.push(Ok(None));
                self.outcome.unchanged += 1;
                self.tell(Event::Unchanged { name: &name, size })?;
            }
            Answer::Send(wanted) => {
                self.answers.push(Ok(Some(wanted.from)));
                self.waiting.push_back(wanted);
            }
            Answer::Refuse(name, reason) => {
                self.answers.push(Err(reason));
                self.fail(&name, reason)?;
            }
        }
        Ok(())
    }

    fn answer(&mut self) -> Result<(), TransferError> {
        for answer in self.answers.drain(..) {
            self.frames.send(&match answer {
                Ok(Some(from)) => Frame::Send { from },
                Ok(None) => Frame::Have,
                Err(reason) => Frame::Refuse(reason),
            })?;
        }
        Ok(self.frames.flush()?)
    }

    /// The file that is coming, which it is if no group of it had to come.
    fn take_current(&mut self) -> Result<Current, TransferError> {
        match self.current.take() {
            Some(current) => Ok(current),
            None => begin(&mut self.waiting, self.folder, self.watch),
        }
    }

    /// All of a file has come.
    fn finish(&mut self) -> Result<(), TransferError> {
        let (name, size, fate) = match self.take_current()? {
            Current::Part(part) => {
                let (name, size) = (part.wanted.name.clone(), part.wanted.size);
                (name, size, part.finish(self.rules)?)
            }
            Current::Lost(wanted, reason) => (wanted.name, wanted.size, Err(reason)),
        };
        match fate {
            Ok(hash) => {
                self.frames.send(&Frame::Done(hash))?;
                self.outcome.whole += 1;
                self.tell(Event::Whole { name: &name, size, hash })
            }
            Err(reason) => {
                self.frames.send(&Frame::Failed(reason))?;
                self.fail(&name.to_string(), reason)
            }
        }
    }

    /// The rest of a file will not come; what has come is of no use if it was changed.
    fn abandon(&mut self, reason: Reason) -> Result<(), TransferError> {
        let name = match self.take_current()? {
            Current::Part(mut part) => {
                let name = part.wanted.name.clone();
                let at = |error| TransferError::File { name: name.clone(), error };
                let left = if reason == Reason::Changed { part.discard() } else { part.suspend() };
                left.map_err(at)?;
                name
            }
            Current::Lost(wanted, _) => wanted.name,
        };
        self.fail(&name.to_string(), reason)
    }

    fn fail(&mut self, name: &str, reason: Reason) -> Result<(), TransferError> {
        self.outcome.failed += 1;
        self.tell(Event::Failed { name, reason })
    }

    fn tell(&mut self, event: Event<'_>) -> Result<(), TransferError> {
        tell(self.watch, event)
    }
}

/// What to do about an entry, and what that takes of the room there is.
fn decide(folder: &Dir, rules: &Taking, room: &mut u64, entry: &Entry<'_>) -> Answer {
    let refuse = |reason| Answer::Refuse(shown(entry.name), reason);
    let Ok(name) = entry.name() else { return refuse(Reason::Name) };
    if !entry.folder && groups(entry.size) > 1 && !part::wait_for_others(folder, &name) {
        return refuse(Reason::Busy);
    }
    let there = folder.symlink_metadata(name.as_path()).ok();
    if entry.folder {
        return match folder.create_dir_all(name.as_path()) {
            Ok(()) => Answer::Folder,
            Err(_) if there.is_some() => refuse(Reason::NotAFile),
            Err(_) => refuse(Reason::Other),
        };
    }
    let wanted = Wanted { name, size: entry.size, mode: entry.mode, modified: entry.modified, from: 0 };
    match there {
        Some(there) if !there.is_file() => return refuse(Reason::NotAFile),
        Some(there) if there.len() == wanted.size && modified(&there) == wanted.modified => {
            part::forget(folder, &wanted.name);
            return Answer::Have(wanted.name, wanted.size);
        }
        Some(_) if !rules.overwrite => return refuse(Reason::Exists),
        _ => {}
    }
    let (parent, _) = wanted.name.split();
    if parent != Path::new("") && folder.create_dir_all(parent).is_err() {
        return refuse(Reason::NotAFile);
    }
    let from = part::proven(folder, &wanted);
    let needed = wanted.size - (from * GROUP).min(wanted.size);
    match room.checked_sub(needed) {
        Some(left) => *room = left,
        None => return refuse(Reason::Space),
    }
    Answer::Send(Wanted { from, ..wanted })
}

/// Opens the file that comes next.
fn begin(waiting: &mut VecDeque<Wanted>, folder: &Dir, watch: Watch<'_>) -> Result<Current, TransferError> {
    let wanted = waiting.pop_front().ok_or(TransferError::Protocol("bytes of no file"))?;
    let from = (wanted.from * GROUP).min(wanted.size);
    tell(watch, Event::Begun { name: &wanted.name, size: wanted.size, from })?;
    let name = wanted.name.clone();
    match Part::open(folder, wanted.clone()) {
        Ok(Ok(part)) => Ok(Current::Part(Box::new(part))),
        Ok(Err(reason)) => Ok(Current::Lost(wanted, reason)),
        Err(error) => Err(TransferError::File { name, error }),
    }
}

fn tell(watch: Watch<'_>, event: Event<'_>) -> Result<(), TransferError> {
    if watch(event) { Ok(()) } else { Err(TransferError::Interrupted) }
}
