//! A whole transfer over one connection, from the greeting to the end.

use std::io::{ErrorKind, Read, Write};

use crate::frame::{Frame, Frames};
use crate::name::Name;
use crate::outcome::{Event, Outcome, Role, TransferError};
use crate::receiver::{Taking, take};
use crate::sender::{Let, give};
use crate::walk::{Folder, Source};

/// What a server allows.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct Serving {
    /// How files of clients are taken; none are unless set.
    pub taking: Option<Taking>,
}

impl Serving {
    /// Gives, and takes nothing.
    #[must_use]
    pub fn reading() -> Self {
        Self::default()
    }

    /// Gives, and takes by these rules.
    #[must_use]
    pub fn writing(taking: Taking) -> Self {
        Self { taking: Some(taking) }
    }
}

/// As a client, gives files and folders to a server. `watch` hears of every event, and ends the transfer by `false`.
///
/// # Errors
/// The transfer as a whole came to an end. What happens to single files is in the outcome and the events.
pub fn send<T: Read + Write>(
    connection: T,
    sources: &[Source],
    watch: &mut dyn FnMut(Event<'_>) -> bool,
) -> Result<Outcome, TransferError> {
    let mut frames = Frames::new(connection);
    frames.send(&Frame::Hello { version: VERSION, role: Role::Give })?;
    let result = give(&mut frames, sources, &[], Let::NotYet, watch);
    part_with(&mut frames, result)
}

/// As a client, takes the files and folders of these names into `folder`; everything the server has if there are none.
///
/// # Errors
/// As [`send`].
pub fn fetch<T: Read + Write>(
    connection: T,
    names: &[Name],
    folder: &Folder,
    rules: &Taking,
    watch: &mut dyn FnMut(Event<'_>) -> bool,
) -> Result<Outcome, TransferError> {
    let mut frames = Frames::new(connection);
    frames.send(&Frame::Hello { version: VERSION, role: Role::Take })?;
    for name in names {
        frames.send(&Frame::Want(name.as_bytes()))?;
    }
    if names.is_empty() {
        frames.send(&Frame::Want(b""))?;
    }
    frames.send(&Frame::WantEnd)?;
    let result = be_let_in(&mut frames).and_then(|()| take(&mut frames, folder, rules, watch));
    part_with(&mut frames, result)
}

/// As a server, does what one client wants with what lies in `folder`.
///
/// # Errors
/// As [`send`].
pub fn answer<T: Read + Write>(
    connection: T,
    folder: &Folder,
    serving: &Serving,
    watch: &mut dyn FnMut(Event<'_>) -> bool,
) -> Result<Outcome, TransferError> {
    let mut frames = Frames::new(connection);
    match admit(&mut frames, folder, serving, watch) {
        // To its client that is a connection lost, and it may find another server here soon.
        Err(TransferError::Interrupted) => Err(TransferError::Interrupted),
        result => part_with(&mut frames, result),
    }
}

fn admit<T: Read + Write>(
    frames: &mut Frames<T>,
    folder: &Folder,
    serving: &Serving,
    watch: &mut dyn FnMut(Event<'_>) -> bool,
) -> Result<Outcome, TransferError> {
    let role = match frames.receive()? {
        Frame::Hello { version: VERSION, role } => role,
        Frame::Hello { version, .. } => return Err(TransferError::Version(version)),
        _ => return Err(TransferError::Protocol("it does not greet")),
    };
    match (role, &serving.taking) {
        (Role::Give, None) => return Err(TransferError::ReadOnly),
        (Role::Give, Some(rules)) => {
            frames.send(&Frame::Welcome)?;
            frames.flush()?;
            return take(frames, folder, rules, watch);
        }
        (Role::Take, _) => frames.send(&Frame::Welcome)?,
    }
    let (mut wanted, mut missing, mut names) = (Vec::new(), Vec::new(), 0);
    loop {
        match frames.receive()? {
            Frame::Want(_) if names == MOST_NAMES => return Err(TransferError::Protocol("it wants too much at once")),
            Frame::Want(name) => match Source::below(folder, name) {
                Ok(source) => wanted.push(source),
                Err(unavailable) => missing.push(unavailable),
            },
            Frame::WantEnd => break,
            _ => return Err(TransferError::Protocol("no name of what it wants")),
        }
        names += 1;
    }
    give(frames, &wanted, &missing, Let::In, watch)
}

/// Waits for the answer to the greeting, behind which a client has said more already: waiting at once would cost a round trip.
pub(crate) fn be_let_in<T: Read + Write>(frames: &mut Frames<T>) -> Result<(), TransferError> {
    match frames.receive()? {
        Frame::Welcome => Ok(()),
        Frame::Refusal(text) => Err(TransferError::Refused(text.to_owned())),
        _ => Err(TransferError::Protocol("no answer to the greeting")),
    }
}

/// Tells the other end why, if the transfer ends here; or says why the other end has ended it.
fn part_with<T: Read + Write>(
    frames: &mut Frames<T>,
    result: Result<Outcome, TransferError>,
) -> Result<Outcome, TransferError> {
    if let Err(error) = &result {
        let text = match error {
            TransferError::Io(error) if matches!(error.kind(), ErrorKind::BrokenPipe | ErrorKind::ConnectionReset) => {
                // What the other end said before it left tells more.
                frames.fall_silent();
                while let Ok(frame) = frames.receive() {
                    if let Frame::Refusal(text) = frame {
                        return Err(TransferError::Refused(text.to_owned()));
                    }
                }
                return result;
            }
            TransferError::Io(_) | TransferError::Refused(_) => return result,
            error => error.to_string(),
        };
        // It may have gone already.
        let _ = frames.send(&Frame::Refusal(&text)).and_then(|()| frames.flush());
    }
    result
}

/// Of the protocol.
const VERSION: u8 = 1;

/// Names in one request; a folder needs one.
const MOST_NAMES: usize = 10_000;

#[cfg(test)]
mod tests {
    use std::io::{self, Cursor};

    use super::*;

    /// A connection whose other end has said something and left.
    struct Left(Cursor<Vec<u8>>);

    impl Read for Left {
        fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
            self.0.read(out)
        }
    }

    impl Write for Left {
        fn write(&mut self, _bytes: &[u8]) -> io::Result<usize> {
            Err(ErrorKind::BrokenPipe.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn who_has_left_may_have_said_why() {
        let end = |frames: &[Frame<'_>]| {
            let mut said = Vec::new();
            frames.iter().for_each(|frame| frame.encode(&mut said));
            send(Left(Cursor::new(said)), &[], &mut |_| true).unwrap_err()
        };
        let error = end(&[Frame::Welcome, Frame::Send { from: 0 }, Frame::Refusal("the disk is full")]);
        assert!(matches!(&error, TransferError::Refused(why) if why == "the disk is full"), "{error}");
        let error = end(&[Frame::Welcome]);
        assert!(matches!(&error, TransferError::Io(_)) && error.is_of_the_connection(), "{error}");
    }
}
