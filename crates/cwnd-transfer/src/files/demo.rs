//! The protocol of libudt's demos for files: `recvfile` sends a request, `sendfile` the response.
//!
//! A request is the length of a name (32 bits) and the name; a response is a size (64 bits, -1 if there is no such file) and that many
//! bytes. All numbers are little-endian, as on the machines the demos run on.

use std::io::{self, Read, Write};

use cwnd_files::{Directory, Links, Name, Printable};
use thiserror::Error;

/// Why a file was not received.
#[derive(Debug, Error)]
pub(crate) enum ReceiveError {
    /// Received data cannot be written.
    #[error(transparent)]
    File(io::Error),
    /// The connection failed.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The name is empty or too long.
    #[error("a name has 1 to {MAX_NAME} bytes")]
    Name,
    /// The server has refused the request.
    #[error("the server has no file of this name, or does not serve it")]
    Refused,
    /// The connection ended early.
    #[error("only {received} of {size} bytes were received before the connection ended")]
    Short { received: u64, size: u64 },
    /// The announced size is negative.
    #[error("the server announced {0} bytes")]
    Size(i64),
}

/// Requests a file: how many bytes follow.
pub(crate) fn request(stream: &mut (impl Read + Write), name: &str) -> Result<u64, ReceiveError> {
    if !(1..=MAX_NAME).contains(&name.len()) {
        return Err(ReceiveError::Name);
    }
    // In one piece: the demo reads the name with a single call, which returns the bytes that have arrived by then.
    let mut question = (name.len() as u32).to_le_bytes().to_vec();
    question.extend_from_slice(name.as_bytes());
    stream.write_all(&question)?;
    let mut size = [0; 8];
    stream.read_exact(&mut size)?;
    match i64::from_le_bytes(size) {
        -1 => Err(ReceiveError::Refused),
        size => u64::try_from(size).map_err(|_| ReceiveError::Size(size)),
    }
}

/// Receives the `size` bytes of a response.
pub(crate) fn receive(stream: &mut impl Read, size: u64, out: &mut impl Write) -> Result<(), ReceiveError> {
    let mut buffer = vec![0; PIECE];
    let mut received = 0;
    while received < size {
        let piece = (size - received).min(PIECE as u64) as usize;
        let taken = stream.read(&mut buffer[..piece])?;
        if taken == 0 {
            return Err(ReceiveError::Short { received, size });
        }
        out.write_all(&buffer[..taken]).map_err(ReceiveError::File)?;
        received += taken as u64;
    }
    Ok(())
}

/// Answers one request with a file below `directory`: the name, and the size of the file, or `None` if there is no such file or the name or
/// a symbolic link leads out of the directory, or is not to be followed. `requested` is called once the name has come.
pub(crate) fn serve(
    stream: &mut (impl Read + Write),
    directory: &Directory,
    links: Links,
    requested: impl FnOnce(),
) -> io::Result<(String, Option<u64>)> {
    let mut length = [0; 4];
    stream.read_exact(&mut length)?;
    let length = u32::from_le_bytes(length) as usize;
    if !(1..=MAX_NAME).contains(&length) {
        return Err(io::Error::new(io::ErrorKind::InvalidData, format!("a name of {length} bytes")));
    }
    let mut name = vec![0; length];
    stream.read_exact(&mut name)?;
    requested();
    let shown = Printable::new(&name).to_string();
    let relative: Vec<&[u8]> = name.split(|byte| *byte == b'/').filter(|component| *component != b".").collect();
    let opened = Name::new(&relative.join(&b'/')).ok().and_then(|name| directory.open_file(&name, links).ok());
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

/// The demo server has a buffer of 1024 bytes for names, and does not check their length.
const MAX_NAME: usize = 1023;

/// Bytes read and written at once: many packets, and little memory.
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

    /// A connection whose input is known beforehand.
    struct Connection {
        input: Cursor<Vec<u8>>,
        output: Vec<u8>,
    }

    impl Connection {
        fn receiving(bytes: &[u8]) -> Self {
            Self { input: Cursor::new(bytes.to_vec()), output: Vec::new() }
        }
    }

    impl Read for Connection {
        fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
            self.input.read(out)
        }
    }

    impl Write for Connection {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.output.write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn question(name: &str) -> Vec<u8> {
        [&(name.len() as u32).to_le_bytes(), name.as_bytes()].concat()
    }

    #[test]
    fn a_request_is_that_of_the_demo() {
        let mut connection = Connection::receiving(&[&3_i64.to_le_bytes(), b"abc".as_slice()].concat());
        assert_eq!(request(&mut connection, "x/y").ok(), Some(3));
        assert_eq!(connection.output, b"\x03\0\0\0x/y");
        let mut file = Vec::new();
        assert!(receive(&mut connection, 3, &mut file).is_ok());
        assert_eq!(file, b"abc");
    }

    #[test]
    fn refused_and_incomplete_files_are_errors() {
        assert!(matches!(request(&mut Connection::receiving(&[0xff; 8]), "x"), Err(ReceiveError::Refused)));
        assert!(matches!(
            request(&mut Connection::receiving(&i64::MIN.to_le_bytes()), "x"),
            Err(ReceiveError::Size(i64::MIN))
        ));
        assert!(matches!(request(&mut Connection::receiving(b""), ""), Err(ReceiveError::Name)));
        let short = receive(&mut Connection::receiving(b"abc"), 5, &mut Vec::new());
        assert!(matches!(short, Err(ReceiveError::Short { received: 3, size: 5 })));
    }

    #[test]
    fn only_files_of_the_directory_are_served() {
        let directory = tempfile::tempdir().unwrap();
        let inside = directory.path().join("inside");
        fs::create_dir_all(inside.join("deeper")).unwrap();
        fs::write(directory.path().join("secret"), b"secret").unwrap();
        fs::write(inside.join("deeper/file"), b"content").unwrap();
        std::os::unix::fs::symlink(directory.path().join("secret"), inside.join("link")).unwrap();

        let served = Directory::open(&inside).unwrap();
        let answer = |name: &str, links| {
            let mut connection = Connection::receiving(&question(name));
            let (_, size) = serve(&mut connection, &served, links, || ()).unwrap();
            (size, connection.output)
        };
        let given = |name: &str| answer(name, Links::Follow);
        let refused = (None, vec![0xff; 8]);
        assert_eq!(given("deeper/file"), (Some(7), [&7_i64.to_le_bytes(), b"content".as_slice()].concat()));
        assert_eq!(given("./deeper/file").0, Some(7));
        let absolute = directory.path().join("secret");
        for name in ["../secret", "deeper/../../secret", "link", "deeper", "none", absolute.to_str().unwrap()] {
            assert_eq!(given(name), refused, "{name}");
        }
        std::os::unix::fs::symlink("deeper/file", inside.join("near")).unwrap();
        std::os::unix::fs::symlink("deeper", inside.join("through")).unwrap();
        for name in ["near", "through/file"] {
            assert_eq!(given(name).0, Some(7), "{name}");
            for links in [Links::Skip, Links::Keep] {
                assert_eq!(answer(name, links), refused, "{name}");
            }
        }
    }

    #[test]
    fn names_of_bad_length_are_refused() {
        let directory = tempfile::tempdir().unwrap();
        for length in [0, 1024, u32::MAX] {
            let mut connection = Connection::receiving(&[&length.to_le_bytes()[..], &[b'x'; 2000]].concat());
            assert!(
                serve(&mut connection, &Directory::open(directory.path()).unwrap(), Links::Skip, || panic!("no name"))
                    .is_err(),
                "{length}"
            );
            assert!(connection.output.is_empty());
        }
    }

    #[test]
    fn a_link_that_is_swapped_while_it_is_opened_does_not_lead_out() {
        let directory = tempfile::tempdir().unwrap();
        let inside = directory.path().join("inside");
        fs::create_dir(&inside).unwrap();
        fs::write(directory.path().join("secret"), b"secret").unwrap();
        fs::write(inside.join("file"), b"public").unwrap();
        let served = Directory::open(&inside).unwrap();
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
            let begin = crate::clock::Stopwatch::start();
            // On a busy machine either thread may have no turn for long.
            while answers.iter().sum::<usize>() < 5000 || (answers.contains(&0) && begin.elapsed().as_secs() < 60) {
                let mut connection = Connection::receiving(&question("link"));
                let (_, size) = serve(&mut connection, &served, Links::Follow, || ()).unwrap();
                answers[usize::from(size.is_some())] += 1;
                if connection.output.ends_with(b"secret") {
                    asked.store(true, Ordering::Relaxed);
                    panic!("a file outside of the directory was served");
                }
            }
            asked.store(true, Ordering::Relaxed);
            assert!(!answers.contains(&0), "the link was not swapped: {answers:?}");
        });
    }

    #[test]
    fn a_fifo_in_the_directory_does_not_hang_the_server() {
        let directory = tempfile::tempdir().unwrap();
        assert!(Command::new("mkfifo").arg(directory.path().join("fifo")).status().unwrap().success());
        let served = Directory::open(directory.path()).unwrap();
        let (done, result) = mpsc::channel();
        std::thread::spawn(move || {
            done.send(serve(&mut Connection::receiving(&question("fifo")), &served, Links::Skip, || ()).unwrap())
        });
        let (_, size) = result.recv_timeout(Duration::from_secs(20)).expect("the server waits for the FIFO");
        assert_eq!(size, None);
    }
}
