//! A whole transfer over one connection, from the hello to the end.

use std::collections::BTreeSet;
use std::error::Error;
use std::io::{self, ErrorKind, Read, Write};

use crate::directory::Directory;
use crate::error::{Malformed, TransferError};
use crate::frame::{Frame, Frames};
use crate::handshake::{VERSION, await_welcome};
use crate::limits::{MAX_NAME_BYTES, MAX_NAMES};
use crate::name::Name;
use crate::options::{ReceiveOptions, ServeOptions};
use crate::outcome::{Event, Outcome, Reason, Role};
use crate::receiver::receive_into;
use crate::sender::{Welcome, send_from};
use crate::walk::{Source, Unavailable};

/// Sends files and directories to a server, as a client. `observer` is called with every event, and ends the transfer by `false`.
///
/// # Errors
/// The connection failed, the server refused or reported an error, one of the two sides violates the protocol, or `observer`
/// returned `false`. A single file that could not be sent is no error: it is counted in the outcome and reported as an event.
pub fn send<T: Read + Write>(
    connection: T,
    sources: &[Source],
    observer: &mut dyn FnMut(Event<'_>) -> bool,
) -> Result<Outcome, TransferError> {
    let mut frames = Frames::new(connection);
    frames.send(&Frame::Hello { version: VERSION, role: Role::Send })?;
    let result = send_from(&mut frames, sources, &[], Welcome::Expected, observer);
    close(&mut frames, result)
}

/// Receives the files and directories with `names` into `directory`, as a client; everything the server has if `names` is empty.
///
/// # Errors
/// As [`send`]; also if a file that was begun cannot be written.
pub fn receive<T: Read + Write>(
    connection: T,
    names: &[Name],
    directory: &Directory,
    options: &ReceiveOptions,
    observer: &mut dyn FnMut(Event<'_>) -> bool,
) -> Result<Outcome, TransferError> {
    let mut frames = Frames::new(connection);
    frames.send(&Frame::Hello { version: VERSION, role: Role::Receive })?;
    for name in names {
        frames.send(&Frame::Request(name.as_bytes()))?;
    }
    if names.is_empty() {
        frames.send(&Frame::Request(b""))?;
    }
    frames.send(&Frame::RequestEnd)?;
    let result =
        await_welcome(&mut frames).and_then(|()| receive_into(&mut frames, names, directory, options, observer));
    close(&mut frames, result)
}

/// Receives one file, as a client, and writes it to `out`: that of this name, or the only one that the server has. Each group is verified
/// before it is written.
///
/// # Errors
/// As [`send`]; [`TransferError::NotOneFile`] for a directory or several files, [`TransferError::Output`] if `out` fails, and
/// [`TransferError::CutOff`] if the transfer fails after a part of the file was written.
pub fn receive_to<T: Read + Write>(
    connection: T,
    name: Option<&Name>,
    out: &mut dyn Write,
    observer: &mut dyn FnMut(Event<'_>) -> bool,
) -> Result<Outcome, TransferError> {
    let mut frames = Frames::new(connection);
    frames.send(&Frame::Hello { version: VERSION, role: Role::Receive })?;
    frames.send(&Frame::Request(name.map_or(&[], Name::as_bytes)))?;
    frames.send(&Frame::RequestEnd)?;
    let result = await_welcome(&mut frames).and_then(|()| crate::pipe::receive_to(&mut frames, name, out, observer));
    close(&mut frames, result)
}

/// Handles one client, as a server: sends it the requested files of `directory`, or receives its files into `directory`.
///
/// # Errors
/// As [`receive`].
pub fn serve<T: Read + Write>(
    connection: T,
    directory: &Directory,
    options: &ServeOptions,
    observer: &mut dyn FnMut(Event<'_>) -> bool,
) -> Result<Outcome, TransferError> {
    let mut frames = Frames::new(connection);
    let result = handle_client(&mut frames, directory, options, observer);
    close_client(&mut frames, result)
}

/// Sends one client the sources whose names it requests, as a server; all of them if it requests everything.
///
/// # Errors
/// As [`send`].
pub fn offer<T: Read + Write>(
    connection: T,
    sources: &[Source],
    observer: &mut dyn FnMut(Event<'_>) -> bool,
) -> Result<Outcome, TransferError> {
    let mut frames = Frames::new(connection);
    let result = offer_to_client(&mut frames, sources, observer);
    close_client(&mut frames, result)
}

/// Refuses a client before its request, as a server, with the reason `why`.
///
/// # Errors
/// The connection failed.
pub fn refuse<T: Read + Write>(connection: T, why: &str) -> io::Result<()> {
    let mut frames = Frames::new(connection);
    frames.send(&Frame::Error(why))?;
    frames.flush()
}

fn handle_client<T: Read + Write>(
    frames: &mut Frames<T>,
    directory: &Directory,
    options: &ServeOptions,
    observer: &mut dyn FnMut(Event<'_>) -> bool,
) -> Result<Outcome, TransferError> {
    match (receive_hello(frames)?, &options.receive) {
        (Role::Send, None) => return Err(TransferError::ReadOnly),
        (Role::Send, Some(options)) => {
            frames.send(&Frame::Welcome)?;
            frames.flush()?;
            return receive_into(frames, &[], directory, options, observer);
        }
        (Role::Receive, _) => frames.send(&Frame::Welcome)?,
    }
    let (mut sources, mut unavailable) = (Vec::new(), Vec::new());
    for name in receive_request(frames)? {
        match Source::below(directory, &name, options.links) {
            Ok(source) => sources.push(source),
            Err(missing) => unavailable.push(missing),
        }
    }
    send_from(frames, &sources, &unavailable, Welcome::Sent, observer)
}

fn offer_to_client<T: Read + Write>(
    frames: &mut Frames<T>,
    sources: &[Source],
    observer: &mut dyn FnMut(Event<'_>) -> bool,
) -> Result<Outcome, TransferError> {
    if receive_hello(frames)? == Role::Send {
        return Err(TransferError::ReadOnly);
    }
    frames.send(&Frame::Welcome)?;
    let names = receive_request(frames)?;
    let all = names.contains(&b""[..]);
    let requested: Vec<_> = sources.iter().filter(|source| all || names.contains(source.name())).cloned().collect();
    let missing = names.into_iter().filter(|name| !all && !requested.iter().any(|source| source.name() == *name));
    let unavailable: Vec<_> = missing.map(|name| Unavailable { name, reason: Reason::Missing }).collect();
    send_from(frames, &requested, &unavailable, Welcome::Sent, observer)
}

/// The request of a client.
fn receive_hello<T: Read + Write>(frames: &mut Frames<T>) -> Result<Role, TransferError> {
    match frames.receive()? {
        Frame::Hello { version: VERSION, role } => Ok(role),
        Frame::Hello { version, .. } => Err(TransferError::Version(version)),
        _ => Err(TransferError::Protocol("its first message is not a hello")),
    }
}

/// The names of a request, each of them once. An empty one contains all others.
fn receive_request<T: Read + Write>(frames: &mut Frames<T>) -> Result<BTreeSet<Vec<u8>>, TransferError> {
    let (mut names, mut bytes) = (BTreeSet::new(), 0);
    loop {
        match frames.receive()? {
            Frame::Request(name) => {
                bytes += name.len();
                names.insert(name.to_vec());
                if names.len() > MAX_NAMES || bytes > MAX_NAME_BYTES {
                    return Err(TransferError::Protocol("more names than a request may have"));
                }
            }
            Frame::RequestEnd if names.contains(&b""[..]) => return Ok([Vec::new()].into()),
            Frame::RequestEnd => return Ok(names),
            _ => return Err(TransferError::Protocol("a request without its end")),
        }
    }
}

/// Ends a server's part with a result or an error for the client.
fn close_client<T: Read + Write>(
    frames: &mut Frames<T>,
    result: Result<Outcome, TransferError>,
) -> Result<Outcome, TransferError> {
    match result {
        // To the client these are a lost connection: it tries again.
        Err(error) if error.is_retryable() && !matches!(error, TransferError::Io(_)) => Err(error),
        Err(TransferError::Interrupted) => Err(TransferError::Interrupted),
        result => close(frames, result),
    }
}

/// Reports to the other side why the transfer fails here, or returns the error that it has reported.
fn close<T: Read + Write>(
    frames: &mut Frames<T>,
    result: Result<Outcome, TransferError>,
) -> Result<Outcome, TransferError> {
    if let Err(error) = &result {
        let text = match error {
            TransferError::Io(error) if matches!(error.kind(), ErrorKind::BrokenPipe | ErrorKind::ConnectionReset) => {
                // The other side may have reported an error before it closed the connection.
                frames.discard_output();
                while let Ok(frame) = frames.receive() {
                    if let Frame::Error(text) = frame {
                        return Err(TransferError::reported(text));
                    }
                }
                return result;
            }
            // The other side can still read, and may use another protocol.
            TransferError::Io(error) if error.get_ref().is_some_and(<dyn Error + Send + Sync>::is::<Malformed>) => {
                error.to_string()
            }
            TransferError::Busy | TransferError::Io(_) | TransferError::Refused(_) => return result,
            error => error.to_string(),
        };
        // The other side may have closed the connection already.
        let _ = frames.send(&Frame::Error(&text)).and_then(|()| frames.flush());
    }
    result
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    /// A connection whose other end has sent something and closed it.
    struct Closed(Cursor<Vec<u8>>);

    impl Read for Closed {
        fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
            self.0.read(out)
        }
    }

    impl Write for Closed {
        fn write(&mut self, _bytes: &[u8]) -> io::Result<usize> {
            Err(ErrorKind::BrokenPipe.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn an_error_sent_before_the_connection_was_closed_is_returned() {
        let error_after = |frames: &[Frame<'_>]| {
            let mut bytes = Vec::new();
            frames.iter().for_each(|frame| frame.encode(&mut bytes));
            send(Closed(Cursor::new(bytes)), &[], &mut |_| true).unwrap_err()
        };
        let error = error_after(&[Frame::Welcome, Frame::Accept { from: 0 }, Frame::Error("the disk is full")]);
        assert!(matches!(&error, TransferError::Refused(why) if why == "the disk is full"), "{error}");
        let error = error_after(&[Frame::Welcome]);
        assert!(matches!(&error, TransferError::Io(_)) && error.is_retryable(), "{error}");
    }
}
