//! Files that are there whole or not at all, whoever else writes them.

use std::collections::hash_map::RandomState;
use std::ffi::OsString;
use std::fs;
use std::hash::{BuildHasher, Hasher};
use std::io;
use std::path::Path;

use super::unfinished::Unfinished;

/// Writes a file beside its place, under a name that no other writer has, on this host or another that shares the folder, and moves it
/// there. Of two writers of the same file the later one wins.
///
/// # Errors
/// The folder cannot be made, or the file cannot be written or moved.
pub fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // The standard library's random keys: 64 bits of the operating system's randomness, and nothing that results depend on.
    let unique = RandomState::new().build_hasher().finish();
    let mut name = OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(format!(".partial-{unique:016x}"));
    let partial = Unfinished::begin(folder.join(name));
    // The folder is nearly always there, and a sweep writes a hundred thousand files: it is looked for where it turns out to be missing.
    match fs::write(partial.path(), bytes) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            fs::create_dir_all(folder)?;
            fs::write(partial.path(), bytes)?;
        }
        written => written?,
    }
    fs::rename(partial.path(), path)?;
    partial.finish();
    Ok(())
}
