//! The giving end.

use std::collections::VecDeque;
use std::io::{Read, Seek, SeekFrom, Write};

use crate::frame::{Entry, Frame, Frames};
use crate::name::{Name, shown};
use crate::outcome::{Event, Outcome, Reason, TransferError, Watch};
use crate::session::be_let_in;
use crate::tree::{GROUP, Hash, group_size, group_value, groups, root};
use crate::walk::{Item, Source, Unavailable};

/// Gives everything below the sources, as far as the taker wants it, and says that what is missing is.
///
/// Entries go ahead of what they hold by a batch or two, so that many small files cost no round trip each, and neither end has
/// to remember all of them.
pub(crate) fn give<T: Read + Write>(
    frames: &mut Frames<T>,
    sources: &[Source],
    missing: &[Unavailable],
    let_in: Let,
    watch: Watch<'_>,
) -> Result<Outcome, TransferError> {
    let mut giver = Giver { frames, watch, sent: VecDeque::new(), buffer: Vec::new(), outcome: Outcome::default() };
    giver.announce_total(sources)?;
    for unavailable in missing {
        giver.refuse(unavailable)?;
    }
    let mut found = sources.iter().flat_map(|source| source.walk().map(move |found| (source, found)));
    let mut waiting = giver.announce(&mut found)?;
    if let_in == Let::NotYet {
        be_let_in(giver.frames)?;
    }
    while !waiting.is_empty() {
        let next = giver.announce(&mut found)?;
        for (source, item) in waiting {
            giver.serve(source, item)?;
        }
        waiting = next;
    }
    giver.finish()
}

/// Whether the other end has agreed to a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Let {
    /// It asked for one.
    In,
    /// It was greeted, and will answer.
    NotYet,
}

struct Giver<'a, T> {
    frames: &'a mut Frames<T>,
    watch: Watch<'a>,
    /// Files sent and not yet heard of.
    sent: VecDeque<Sent>,
    buffer: Vec<u8>,
    outcome: Outcome,
}

struct Sent {
    name: Name,
    size: u64,
    /// If all of it was read.
    hash: Option<Hash>,
}

/// What the taker does about an entry.
enum Answer {
    Send(u64),
    Have,
    Refuse(Reason),
}

impl<T: Read + Write> Giver<'_, T> {
    fn announce_total(&mut self, sources: &[Source]) -> Result<(), TransferError> {
        let files = sources.iter().flat_map(Source::walk).flatten().filter(|item| !item.is_folder);
        let (files, bytes) =
            files.fold((0, 0_u64), |(files, bytes), item| (files + 1, bytes.saturating_add(item.size)));
        self.tell(Event::Total { files, bytes })?;
        Ok(self.frames.send(&Frame::Total { files, bytes })?)
    }

    /// Announces the next entries; those the taker will answer.
    fn announce<'s>(
        &mut self,
        found: &mut impl Iterator<Item = (&'s Source, Result<Item, Unavailable>)>,
    ) -> Result<Vec<(&'s Source, Item)>, TransferError> {
        let mut announced = Vec::new();
        for (source, found) in found {
            match found {
                Ok(item) => {
                    self.frames.send(&Frame::Entry(Entry {
                        folder: item.is_folder,
                        size: item.size,
                        mode: item.mode,
                        modified: item.modified,
                        name: item.name.as_bytes(),
                    }))?;
                    announced.push((source, item));
                }
                Err(unavailable) => self.refuse(&unavailable)?,
            }
            if announced.len() == BATCH {
                break;
            }
        }
        if !announced.is_empty() {
            self.frames.send(&Frame::Batch)?;
            self.frames.flush()?;
        }
        Ok(announced)
    }

    /// Says that something asked for will not come.
    fn refuse(&mut self, unavailable: &Unavailable) -> Result<(), TransferError> {
        let Unavailable { name, reason } = unavailable;
        self.outcome.failed += 1;
        self.tell(Event::Failed { name: &shown(name), reason: *reason })?;
        let name = &name[..name.len().min(crate::name::MAX_NAME)];
        Ok(self.frames.send(&Frame::Unavailable { name, reason: *reason })?)
    }

    /// Does what the taker answers to an entry.
    fn serve(&mut self, source: &Source, item: Item) -> Result<(), TransferError> {
        match self.answer()? {
            Answer::Have if item.is_folder => Ok(()),
            Answer::Have => {
                self.outcome.unchanged += 1;
                self.tell(Event::Unchanged { name: &item.name, size: item.size })
            }
            Answer::Refuse(reason) => self.failed(&item.name, reason),
            Answer::Send(from) if from <= groups(item.size) && !item.is_folder => {
                match self.send(source, &item, from)? {
                    Ok(hash) => {
                        self.frames.send(&Frame::FileEnd)?;
                        self.sent.push_back(Sent { name: item.name, size: item.size, hash });
                        Ok(())
                    }
                    Err(reason) => {
                        self.frames.send(&Frame::Abandon(reason))?;
                        self.failed(&item.name, reason)
                    }
                }
            }
            Answer::Send(_) => Err(TransferError::Protocol("it wants what there is not")),
        }
    }

    /// Sends the groups of a file from `from` on; its hash, if that was all of them.
    fn send(&mut self, source: &Source, item: &Item, from: u64) -> Result<Result<Option<Hash>, Reason>, TransferError> {
        self.tell(Event::Begun { name: &item.name, size: item.size, from: (from * GROUP).min(item.size) })?;
        let mut file = match source.open(item) {
            Ok(file) => file,
            Err(reason) => return Ok(Err(reason)),
        };
        if from > 0 && file.seek(SeekFrom::Start(from * GROUP)).is_err() {
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
            self.frames.send(&Frame::Group { value, bytes: &self.buffer })?;
            values.push(value);
            self.outcome.bytes += self.buffer.len() as u64;
            self.tell(Event::Moved(self.buffer.len() as u64))?;
        }
        if !item.is_still(&file) {
            return Ok(Err(Reason::Changed));
        }
        Ok(Ok((from == 0).then(|| root(&values))))
    }

    /// The answer to the next entry, and before it the fates of files sent.
    fn answer(&mut self) -> Result<Answer, TransferError> {
        loop {
            let fate = match self.frames.receive()? {
                Frame::Send { from } => return Ok(Answer::Send(from)),
                Frame::Have => return Ok(Answer::Have),
                Frame::Refuse(reason) => return Ok(Answer::Refuse(reason)),
                frame => fate(&frame)?,
            };
            self.learn(fate)?;
        }
    }

    /// Waits for the fates of all files.
    fn finish(mut self) -> Result<Outcome, TransferError> {
        self.frames.send(&Frame::End)?;
        self.frames.flush()?;
        loop {
            let fate = match self.frames.receive()? {
                Frame::End if self.sent.is_empty() => return Ok(self.outcome),
                frame => fate(&frame)?,
            };
            self.learn(fate)?;
        }
    }

    fn learn(&mut self, fate: Result<Hash, Reason>) -> Result<(), TransferError> {
        let unasked = TransferError::Protocol("it speaks of a file that was not sent");
        let Sent { name, size, hash: ours } = self.sent.pop_front().ok_or(unasked)?;
        match fate {
            Ok(hash) if ours.is_none_or(|ours| ours == hash) => {
                self.outcome.whole += 1;
                self.tell(Event::Whole { name: &name, size, hash })
            }
            Ok(_) => self.failed(&name, Reason::Differs),
            Err(reason) => self.failed(&name, reason),
        }
    }

    fn failed(&mut self, name: &Name, reason: Reason) -> Result<(), TransferError> {
        self.outcome.failed += 1;
        self.tell(Event::Failed { name: &name.to_string(), reason })
    }

    fn tell(&mut self, event: Event<'_>) -> Result<(), TransferError> {
        if (self.watch)(event) { Ok(()) } else { Err(TransferError::Interrupted) }
    }
}

/// What became of the next file sent.
fn fate(frame: &Frame<'_>) -> Result<Result<Hash, Reason>, TransferError> {
    match frame {
        Frame::Done(hash) => Ok(Ok(*hash)),
        Frame::Failed(reason) => Ok(Err(*reason)),
        Frame::Refusal(text) => Err(TransferError::Refused((*text).to_owned())),
        _ => Err(TransferError::Protocol("no answer to what was said")),
    }
}

/// Entries the taker answers at once. Two batches of answers and fates take 100 KB, which the connection has to hold.
pub(crate) const BATCH: usize = 1024;
