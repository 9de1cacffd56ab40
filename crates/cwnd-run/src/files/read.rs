//! Files that people write, which have an end.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Reads a scenario, a sweep or another text that somebody wrote. Devices without an end, and data files given by mistake, are refused
/// before they fill the memory.
///
/// # Errors
/// The file cannot be read, is no UTF-8, or is longer than 16 MiB.
pub fn read_text(path: &Path) -> io::Result<String> {
    String::from_utf8(read_limited(path, MOST)?).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

/// Reads a file of at most `most` bytes.
///
/// # Errors
/// The file cannot be read, or is longer.
pub fn read_limited(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        let error = format!("it is longer than {} MiB", most >> 20);
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, error));
    }
    Ok(bytes)
}

/// Bytes: thousands of times what a scenario has.
const MOST: u64 = 16 << 20;

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn what_has_no_end_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("text");
        let kind = |bytes: &[u8]| {
            fs::write(&file, bytes).expect("writable");
            read_text(&file).map_err(|error| error.kind())
        };
        assert_eq!(kind(b"duration"), Ok("duration".to_string()));
        assert_eq!(kind(b"\xff"), Err(io::ErrorKind::InvalidData));
        assert_eq!(kind(&vec![b' '; (16 << 20) + 1]), Err(io::ErrorKind::FileTooLarge));
        assert_eq!(kind(&vec![0xff; (16 << 20) + 1]), Err(io::ErrorKind::FileTooLarge));
        if cfg!(unix) {
            let endless = read_text(Path::new("/dev/zero")).map_err(|error| error.kind());
            assert_eq!(endless, Err(io::ErrorKind::FileTooLarge));
        }
    }
}
