#[cfg(unix)]
use std::fs;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use crate::size;

#[cfg(unix)]
use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// Reads a scenario, a sweep or another text that somebody wrote. Devices, and data files given by mistake, are refused before they fill the
/// memory.
///
/// # Errors
/// As [`read_limited`], for 16 MiB; or it is no UTF-8.
pub fn read_text(path: &Path) -> io::Result<String> {
    String::from_utf8(read_limited(path, MOST)?).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

/// Reads a file of at most `most` bytes. It may be a pipe, as a shell makes it of `<(command)`; then this waits as long as something writes
/// to that, and 2 s for it to begin.
///
/// # Errors
/// The file cannot be read, is longer, is a device or a socket, or is a pipe to which nothing writes.
pub fn read_limited(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path)?.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        let error = format!("it is longer than {}", size(most));
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, error));
    }
    Ok(bytes)
}

#[cfg(not(unix))]
fn open(path: &Path) -> io::Result<File> {
    File::open(path)
}

/// Opens what somebody has named. It does not wait.
#[cfg(unix)]
fn open(path: &Path) -> io::Result<Box<dyn Read>> {
    use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
    let check = |kind: fs::FileType| match kind {
        kind if kind.is_char_device() || kind.is_block_device() => Err(not_a_file("a device")),
        kind if kind.is_socket() => Err(not_a_file("a socket")),
        _ => Ok(()),
    };
    // Opening a device may have effects.
    check(fs::metadata(path)?.file_type())?;
    let without_waiting = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
    let file = File::options().read(true).custom_flags(without_waiting).open(path)?;
    let kind = file.metadata()?.file_type();
    check(kind)?;
    if kind.is_fifo() {
        return Ok(Box::new(Pipe { file, has_begun: false, left: POLLS_BEFORE_BEGIN }));
    }
    Ok(Box::new(file))
}

#[cfg(unix)]
fn not_a_file(what: &str) -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidInput,
        format!("it is {what}: expected a file, or a pipe that something writes to"),
    )
}

/// A pipe, open so that reading does not wait.
#[cfg(unix)]
struct Pipe {
    file: File,
    /// Whether something writes, or has written.
    has_begun: bool,
    /// How often it is looked for that before it counts as a failure.
    left: u32,
}

#[cfg(unix)]
impl Read for Pipe {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.file.read(out) {
                Ok(0) if !self.has_begun => {
                    self.left = self.left.checked_sub(1).ok_or_else(|| not_a_file("a pipe that nothing writes to"))?;
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.has_begun = true,
                read => return read,
            }
            let mut ends = [PollFd::new(&self.file, PollFlags::IN)];
            match poll(&mut ends, Some(&POLL)) {
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
            // Data, or the end of a writer that has written none.
            self.has_begun |= !ends[0].revents().is_empty();
        }
    }
}

/// Bytes: thousands of times what a scenario has.
const MOST: u64 = 16 << 20;

/// A tenth of a second.
#[cfg(unix)]
const POLL: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };

/// 2 s: whoever is to write may be starting.
#[cfg(unix)]
const POLLS_BEFORE_BEGIN: u32 = 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_end_is_refused() {
        let directory = tempfile::tempdir().expect("a directory");
        let file = directory.path().join("text");
        let kind = |bytes: &[u8]| {
            fs::write(&file, bytes).expect("writable");
            read_text(&file).map_err(|error| error.kind())
        };
        assert_eq!(kind(b"duration"), Ok("duration".to_string()));
        assert_eq!(kind(b"\xff"), Err(io::ErrorKind::InvalidData));
        assert_eq!(kind(&vec![b' '; (16 << 20) + 1]), Err(io::ErrorKind::FileTooLarge));
        assert_eq!(kind(&vec![0xff; (16 << 20) + 1]), Err(io::ErrorKind::FileTooLarge));
    }

    #[cfg(unix)]
    #[test]
    fn a_pipe_is_read_to_its_end_and_refused_without_a_writer() {
        use std::io::Write;
        use std::os::unix::net::UnixListener;
        use std::thread;
        use std::time::Duration;

        let directory = tempfile::tempdir().expect("a directory");
        let pipe = directory.path().join("pipe");
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, mode, 0).expect("a new pipe");
        let error = read_text(&pipe).expect_err("nothing writes").to_string();
        assert!(error.contains("a pipe that nothing writes to"), "{error}");
        // A writer waits in `open` for this end; it may be slow, write much, or nothing.
        for pieces in [0, 1, 20] {
            let name = pipe.clone();
            let writer = thread::spawn(move || {
                let mut end = File::options().write(true).open(name).expect("a pipe");
                for piece in 0..pieces {
                    end.write_all(&[b'a'; 10_000]).expect("it is read");
                    thread::sleep(Duration::from_millis(if piece == 0 { 300 } else { 0 }));
                }
            });
            let text = read_text(&pipe).map(|text| text.len());
            writer.join().expect("it has written");
            // One that writes nothing may be gone before it is seen.
            let seen = text.is_ok_and(|length| length == pieces * 10_000);
            assert!(seen || pieces == 0, "{pieces}");
        }
        let socket = directory.path().join("socket");
        let _listener = UnixListener::bind(&socket).expect("a socket");
        for (path, what) in [(Path::new("/dev/zero"), "a device"), (&socket, "a socket")] {
            let error = read_text(path).expect_err("no file").to_string();
            assert!(error.contains(what), "{error}");
        }
    }
}
