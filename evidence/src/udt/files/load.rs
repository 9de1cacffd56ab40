//! The transferred files, and whether they arrived.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use crate::Error;

/// Files with their hashes, by path below a directory.
pub(crate) type Content = BTreeMap<PathBuf, blake3::Hash>;

/// One large file of `bytes` bytes.
pub(crate) fn large(directory: &Path, bytes: u64) -> Result<(), Error> {
    write(&directory.join(LARGE), bytes, 1)
}

/// A tree of `files` small files, a hundred in a directory. Returns their size in bytes.
pub(crate) fn small(directory: &Path, files: usize) -> Result<u64, Error> {
    let mut all = 0;
    for index in 0..files {
        let path = directory.join(small_name(index));
        if index % IN_A_FOLDER == 0 {
            let parent = path.parent().unwrap_or(directory);
            fs::create_dir_all(parent).map_err(|source| Error::File { path: parent.to_owned(), source })?;
        }
        let bytes = 100 + (index as u64 * 7919) % 801;
        write(&path, bytes, index as u64 + 2)?;
        all += bytes;
    }
    Ok(all)
}

/// The path of a small file.
pub(crate) fn small_name(index: usize) -> PathBuf {
    Path::new(TREE).join(format!("{:03}/{:02}", index / IN_A_FOLDER, index % IN_A_FOLDER))
}

/// The contents of a directory.
pub(crate) fn content(root: &Path) -> Result<Content, Error> {
    let (mut found, mut ahead) = (Content::new(), vec![root.to_owned()]);
    while let Some(directory) = ahead.pop() {
        let failed = |source| Error::File { path: directory.clone(), source };
        for entry in fs::read_dir(&directory).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            if path.is_dir() {
                ahead.push(path);
            } else {
                let below = path.strip_prefix(root).expect("it was found there").to_owned();
                found.insert(below, hash(&path).map_err(|source| Error::File { path, source })?);
            }
        }
    }
    Ok(found)
}

fn hash(path: &Path) -> io::Result<blake3::Hash> {
    let (mut file, mut hasher, mut piece) = (File::open(path)?, blake3::Hasher::new(), vec![0; 1 << 20]);
    loop {
        match file.read(&mut piece)? {
            0 => return Ok(hasher.finalize()),
            taken => _ = hasher.update(&piece[..taken]),
        }
    }
}

/// Bytes that nothing can compress, others for each seed.
fn write(path: &Path, bytes: u64, seed: u64) -> Result<(), Error> {
    let mut stream = blake3::Hasher::new().update(&seed.to_le_bytes()).finalize_xof();
    let mut fill = || {
        let mut file = BufWriter::with_capacity(1 << 20, File::create(path)?);
        let mut left = bytes;
        let mut piece = vec![0; 1 << 16];
        while left > 0 {
            let now = left.min(piece.len() as u64) as usize;
            stream.fill(&mut piece[..now]);
            file.write_all(&piece[..now])?;
            left -= now as u64;
        }
        file.flush()
    };
    fill().map_err(|source| Error::File { path: path.to_owned(), source })
}

/// The name of the large file.
pub(crate) const LARGE: &str = "large";
/// The directory of the small ones.
pub(crate) const TREE: &str = "tree";

const IN_A_FOLDER: usize = 100;
