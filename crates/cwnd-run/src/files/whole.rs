//! Files that are there whole or not at all, whoever else writes them.

use std::collections::hash_map::RandomState;
use std::ffi::OsString;
use std::fs;
use std::hash::{BuildHasher, Hasher};
use std::io::{self, Write as _};
use std::path::Path;

use super::unfinished::Unfinished;

/// Writes a file that a user named: whole or not at all where there is none or an ordinary one, also behind a symbolic link, which stays.
/// Into a device or a pipe it writes directly.
///
/// # Errors
/// The directory does not exist, or the file cannot be written or moved.
pub fn write_named(path: &Path, bytes: &[u8]) -> io::Result<()> {
    match fs::metadata(path) {
        Ok(found) if found.is_file() => write_whole(&fs::canonicalize(path)?, bytes),
        Ok(_) => fs::OpenOptions::new().write(true).open(path)?.write_all(bytes),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
            if let Some(parent) = parent.filter(|parent| !parent.is_dir()) {
                return Err(io::Error::new(
                    io::ErrorKind::NotFound,
                    format!("there is no directory `{}`", parent.display()),
                ));
            }
            if fs::symlink_metadata(path).is_ok() {
                return Err(io::Error::new(io::ErrorKind::NotFound, "it is a symbolic link to nothing"));
            }
            write_whole(path, bytes)
        }
        Err(error) => Err(error),
    }
}

/// Writes a file next to its place, under a name that no other writer has, on this host or another that shares the directory, and moves it
/// there. Of two writers of the same file the later one wins.
///
/// # Errors
/// The directory cannot be made, or the file cannot be written or moved.
pub fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // The standard library's random keys: 64 bits of the operating system's randomness, and nothing that results depend on.
    let unique = RandomState::new().build_hasher().finish();
    let mut name = OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(format!(".partial-{unique:016x}"));
    let partial = Unfinished::begin(directory.join(name));
    // The directory nearly always exists, and a sweep writes a hundred thousand files: it is looked for where it turns out to be missing.
    match fs::write(partial.path(), bytes) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            fs::create_dir_all(directory)?;
            fs::write(partial.path(), bytes)?;
        }
        written => written?,
    }
    fs::rename(partial.path(), path)?;
    partial.finish();
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_file_that_was_named_is_written_where_its_name_leads() {
        let place = tempfile::tempdir().expect("a directory");
        let [file, link, dangling] = ["file", "link", "dangling"].map(|name| place.path().join(name));
        write_named(&file, b"first").expect("a new file");
        symlink(&file, &link).expect("a link");
        write_named(&link, b"second").expect("a file behind a link");
        assert!(fs::symlink_metadata(&link).expect("it stays").is_symlink());
        assert_eq!(fs::read(&file).expect("it is there"), b"second");
        write_named(Path::new("/dev/null"), b"lost").expect("a device");
        assert!(!fs::metadata("/dev/null").expect("it stays").is_file());
        symlink(place.path().join("nothing"), &dangling).expect("a link");
        let error = |path: &Path| write_named(path, b"").expect_err("it cannot be").to_string();
        assert_eq!(error(&dangling), "it is a symbolic link to nothing");
        let missing = place.path().join("none");
        assert_eq!(error(&missing.join("file")), format!("there is no directory `{}`", missing.display()));
        assert!(!missing.exists());
    }
}
