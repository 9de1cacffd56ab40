//! What the demos of libudt say to each other about files: `recvfile` asks, `sendfile` answers.
//!
//! The question is the length of a name (32 bits) and the name; the answer is a size (64 bits, -1 for no) and so many bytes. All
//! numbers are little-endian, as the machines the demos run on have them.

use std::io::{self, Read, Write};

use cwnd_files::{Folder, Name};
use thiserror::Error;

/// Why a file did not come.
#[derive(Debug, Error)]
pub(crate) enum FetchError {
    /// The connection or the file written to.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The name itself.
    #[error("a name has 1 to {MAX_NAME} bytes")]
    Name,
    /// The server says so.
    #[error("the server has no file of this name, or does not give it away")]
    Refused,
    /// The connection ended early.
    #[error("only {received} of {size} bytes came before the connection ended")]
    Short { received: u64, size: u64 },
    /// No size that a file could have.
    #[error("the server announced {0} bytes")]
    Size(i64),
}

/// Asks for a file; how many bytes follow.
pub(crate) fn ask(stream: &mut (impl Read + Write), name: &str) -> Result<u64, FetchError> {
    if !(1..=MAX_NAME).contains(&name.len()) {
        return Err(FetchError::Name);
    }
    // In one piece: the demo reads the name with a single call, which returns what has come by then.
    let mut question = (name.len() as u32).to_le_bytes().to_vec();
    question.extend_from_slice(name.as_bytes());
    stream.write_all(&question)?;
    let mut size = [0; 8];
    stream.read_exact(&mut size)?;
    match i64::from_le_bytes(size) {
        -1 => Err(FetchError::Refused),
        size => u64::try_from(size).map_err(|_| FetchError::Size(size)),
    }
}

/// Copies the `size` bytes of an answer.
pub(crate) fn fetch(stream: &mut impl Read, size: u64, out: &mut impl Write) -> Result<(), FetchError> {
    let mut buffer = vec![0; PIECE];
    let mut received = 0;
    while received < size {
        let piece = (size - received).min(PIECE as u64) as usize;
        let taken = stream.read(&mut buffer[..piece])?;
        if taken == 0 {
            return Err(FetchError::Short { received, size });
        }
        out.write_all(&buffer[..taken])?;
        received += taken as u64;
    }
    Ok(())
}

/// Answers one request with a file below `folder`: the name, and the size of the file, or `None` if there is no such file or the name or
/// a symbolic link leads out of the folder.
pub(crate) fn serve(stream: &mut (impl Read + Write), folder: &Folder) -> io::Result<(String, Option<u64>)> {
    let mut length = [0; 4];
    stream.read_exact(&mut length)?;
    let length = u32::from_le_bytes(length) as usize;
    if !(1..=MAX_NAME).contains(&length) {
        return Err(io::Error::new(io::ErrorKind::InvalidData, format!("a name of {length} bytes")));
    }
    let mut name = vec![0; length];
    stream.read_exact(&mut name)?;
    let shown = String::from_utf8_lossy(&name).into_owned();
    let relative: Vec<&[u8]> = name.split(|byte| *byte == b'/').filter(|component| *component != b".").collect();
    let opened = Name::new(&relative.join(&b'/')).ok().and_then(|name| folder.open_file(&name).ok());
    let Some((mut file, size)) = opened else {
        stream.write_all(&(-1_i64).to_le_bytes())?;
        return Ok((shown, None));
    };
    stream.write_all(&(size as i64).to_le_bytes())?;
    let mut buffer = vec![0; PIECE];
    let mut left = size;
    while left > 0 {
        let piece = left.min(PIECE as u64) as usize;
        // A file that has shrunk meanwhile cannot be sent as announced.
        file.read_exact(&mut buffer[..piece])?;
        stream.write_all(&buffer[..piece])?;
        left -= piece as u64;
    }
    Ok((shown, Some(size)))
}

/// The demo server keeps names in 1024 bytes, without looking at their length.
const MAX_NAME: usize = 1023;

/// Bytes handed over at once: many packets, and little memory.
const PIECE: usize = 1 << 18;

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Cursor;
    use std::process::Command;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::sync::mpsc;
    use std::time::Duration;

    use super::*;

    /// A conversation whose other half is known beforehand.
    struct Talk {
        heard: Cursor<Vec<u8>>,
        said: Vec<u8>,
    }

    impl Talk {
        fn hears(bytes: &[u8]) -> Self {
            Self { heard: Cursor::new(bytes.to_vec()), said: Vec::new() }
        }
    }

    impl Read for Talk {
        fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
            self.heard.read(out)
        }
    }

    impl Write for Talk {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.said.write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn question(name: &str) -> Vec<u8> {
        [&(name.len() as u32).to_le_bytes(), name.as_bytes()].concat()
    }

    #[test]
    fn a_file_is_asked_for_as_the_demo_asks() {
        let mut talk = Talk::hears(&[&3_i64.to_le_bytes(), b"abc".as_slice()].concat());
        assert_eq!(ask(&mut talk, "x/y").ok(), Some(3));
        assert_eq!(talk.said, b"\x03\0\0\0x/y");
        let mut file = Vec::new();
        assert!(fetch(&mut talk, 3, &mut file).is_ok());
        assert_eq!(file, b"abc");
    }

    #[test]
    fn what_is_not_there_or_not_whole_is_an_error() {
        assert!(matches!(ask(&mut Talk::hears(&[0xff; 8]), "x"), Err(FetchError::Refused)));
        assert!(matches!(ask(&mut Talk::hears(&i64::MIN.to_le_bytes()), "x"), Err(FetchError::Size(i64::MIN))));
        assert!(matches!(ask(&mut Talk::hears(b""), ""), Err(FetchError::Name)));
        let short = fetch(&mut Talk::hears(b"abc"), 5, &mut Vec::new());
        assert!(matches!(short, Err(FetchError::Short { received: 3, size: 5 })));
    }

    #[test]
    fn only_files_of_the_folder_are_given_away() {
        let folder = tempfile::tempdir().unwrap();
        let inside = folder.path().join("inside");
        fs::create_dir_all(inside.join("deeper")).unwrap();
        fs::write(folder.path().join("secret"), b"secret").unwrap();
        fs::write(inside.join("deeper/file"), b"content").unwrap();
        std::os::unix::fs::symlink(folder.path().join("secret"), inside.join("link")).unwrap();

        let served = Folder::open(&inside).unwrap();
        let given = |name: &str| {
            let mut talk = Talk::hears(&question(name));
            let (_, size) = serve(&mut talk, &served).unwrap();
            (size, talk.said)
        };
        let refused = (None, vec![0xff; 8]);
        assert_eq!(given("deeper/file"), (Some(7), [&7_i64.to_le_bytes(), b"content".as_slice()].concat()));
        assert_eq!(given("./deeper/file").0, Some(7));
        let absolute = folder.path().join("secret");
        for name in ["../secret", "deeper/../../secret", "link", "deeper", "none", absolute.to_str().unwrap()] {
            assert_eq!(given(name), refused, "{name}");
        }
    }

    #[test]
    fn a_length_is_not_believed() {
        let folder = tempfile::tempdir().unwrap();
        for length in [0, 1024, u32::MAX] {
            let mut talk = Talk::hears(&[&length.to_le_bytes()[..], &[b'x'; 2000]].concat());
            assert!(serve(&mut talk, &Folder::open(folder.path()).unwrap()).is_err(), "{length}");
            assert!(talk.said.is_empty());
        }
    }

    #[test]
    fn a_link_that_is_swapped_while_it_is_opened_does_not_lead_out() {
        let folder = tempfile::tempdir().unwrap();
        let inside = folder.path().join("inside");
        fs::create_dir(&inside).unwrap();
        fs::write(folder.path().join("secret"), b"secret").unwrap();
        fs::write(inside.join("file"), b"public").unwrap();
        let served = Folder::open(&inside).unwrap();
        let asked = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !asked.load(Ordering::Relaxed) {
                    for target in ["file", "../secret"] {
                        std::os::unix::fs::symlink(target, inside.join("next")).unwrap();
                        fs::rename(inside.join("next"), inside.join("link")).unwrap();
                    }
                }
            });
            let mut answers = [0, 0];
            for _ in 0..5000 {
                let mut talk = Talk::hears(&question("link"));
                let (_, size) = serve(&mut talk, &served).unwrap();
                answers[usize::from(size.is_some())] += 1;
                if talk.said.ends_with(b"secret") {
                    asked.store(true, Ordering::Relaxed);
                    panic!("a file outside of the folder was served");
                }
            }
            asked.store(true, Ordering::Relaxed);
            assert!(answers.iter().all(|count| *count > 0), "the link was swapped: {answers:?}");
        });
    }

    #[test]
    fn a_fifo_in_the_folder_does_not_hang_the_server() {
        let folder = tempfile::tempdir().unwrap();
        assert!(Command::new("mkfifo").arg(folder.path().join("fifo")).status().unwrap().success());
        let served = Folder::open(folder.path()).unwrap();
        let (done, result) = mpsc::channel();
        std::thread::spawn(move || done.send(serve(&mut Talk::hears(&question("fifo")), &served).unwrap()));
        let (_, size) = result.recv_timeout(Duration::from_secs(20)).expect("the server waits for the FIFO");
        assert_eq!(size, None);
    }
}
