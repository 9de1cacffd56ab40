//! What peers and other users of the machine have tried, each as a test.

#![expect(clippy::unwrap_used, reason = "the helpers of tests fail as tests do")]

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use cwnd_files::{Event, Folder, GROUP, Outcome, ReceiveOptions, ServeOptions, Source, TransferError, send, serve};

/// A folder to send from, one to receive into, and a file of some groups in the first.
struct Place {
    _root: tempfile::TempDir,
    source: PathBuf,
    inbox: PathBuf,
}

impl Place {
    fn with_file(size: u64) -> Self {
        let root = tempfile::tempdir().unwrap();
        let (source, inbox) = (root.path().join("file"), root.path().join("inbox"));
        fs::write(&source, (0..size).map(|at| (at.wrapping_mul(2_654_435_761) >> 13) as u8).collect::<Vec<_>>())
            .unwrap();
        fs::create_dir(&inbox).unwrap();
        Self { _root: root, source, inbox }
    }

    /// The temporary name of the file in the inbox, or that of its journal.
    fn unfinished(&self, extension: &str) -> PathBuf {
        let digest = blake3::hash(b"file").to_hex();
        self.inbox.join(format!(".cwnd-{}.{extension}", &digest[..20]))
    }

    /// Sends the file to a server, which ends the transfer after so many groups.
    fn transfer(&self, groups: usize) -> Result<Outcome, TransferError> {
        let (near, far) = UnixStream::pair().unwrap();
        let (folder, source) = (Folder::open(&self.inbox).unwrap(), Source::at(&self.source).unwrap());
        let server = thread::spawn(move || {
            let mut transferred = 0;
            serve(far, &folder, &ServeOptions::writable(ReceiveOptions::new()), &mut |event| {
                transferred += usize::from(matches!(event, Event::Transferred(_)));
                transferred < groups
            })
        });
        let _sent = send(near, &[source], &mut |_| true);
        server.join().unwrap()
    }

    /// The same, but fails if it takes half a minute.
    fn transfer_in_time(self: &Arc<Self>) -> Result<Outcome, TransferError> {
        let (done, result) = mpsc::channel();
        let place = Arc::clone(self);
        thread::spawn(move || done.send(place.transfer(usize::MAX)));
        result.recv_timeout(Duration::from_secs(30)).expect("the transfer hangs")
    }
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().mode() & 0o7777
}

/// The permission bits that a new file of this mode gets from the system.
fn under_umask(mode: u32) -> u32 {
    use std::os::unix::fs::OpenOptionsExt;
    let place = tempfile::tempdir().unwrap();
    let file = fs::OpenOptions::new().write(true).create_new(true).mode(mode).open(place.path().join("new")).unwrap();
    file.metadata().unwrap().mode() & 0o7777
}

#[test]
fn an_unfinished_file_is_private_and_a_finished_one_respects_the_umask() {
    for bits in [0o600, 0o644, 0o777] {
        let place = Place::with_file(9 * GROUP);
        fs::set_permissions(&place.source, fs::Permissions::from_mode(bits)).unwrap();
        assert!(place.transfer(4).is_err());
        assert_eq!(mode(&place.unfinished("part")), 0o600, "{bits:o}");
        // One that an earlier version has left readable to all.
        fs::set_permissions(place.unfinished("part"), fs::Permissions::from_mode(0o644)).unwrap();
        assert!(place.transfer(2).is_err());
        assert_eq!(mode(&place.unfinished("part")), 0o600, "{bits:o}");
        place.transfer(usize::MAX).unwrap();
        assert_eq!(mode(&place.inbox.join("file")), under_umask(bits), "{bits:o}");
    }
}

fn fifo(path: &Path) {
    rustix::fs::mknodat(rustix::fs::CWD, path, rustix::fs::FileType::Fifo, 0o666.into(), 0).unwrap();
}

#[test]
fn what_others_put_under_temporary_names_is_neither_waited_for_nor_written_to() {
    type Trap = fn(victim: &Path, trap: &Path);
    let traps: [(&str, Trap); 4] = [
        ("FIFO", |_, trap| fifo(trap)),
        ("symbolic link", |victim, trap| std::os::unix::fs::symlink(victim, trap).unwrap()),
        ("hard link", |victim, trap| fs::hard_link(victim, trap).unwrap()),
        ("dangling link", |victim, trap| std::os::unix::fs::symlink(victim.with_extension("none"), trap).unwrap()),
    ];
    for extension in ["part", "journal"] {
        for (name, set) in traps {
            let place = Arc::new(Place::with_file(3 * GROUP));
            let victim = place.inbox.join("victim");
            fs::write(&victim, "precious").unwrap();
            set(&victim, &place.unfinished(extension));
            let outcome = place.transfer_in_time().unwrap();
            assert_eq!((outcome.completed, outcome.failed), (1, 0), "{name} as {extension}");
            assert_eq!(fs::read(&victim).unwrap(), b"precious", "{name} as {extension}");
            assert_eq!(fs::read(place.inbox.join("file")).unwrap(), fs::read(&place.source).unwrap());
            let mut left: Vec<_> =
                fs::read_dir(&place.inbox).unwrap().map(|entry| entry.unwrap().file_name()).collect();
            left.sort();
            assert_eq!(left, ["file", "victim"], "{name} as {extension}");
        }
    }
}

#[test]
fn a_folder_under_a_temporary_name_fails_the_file_and_not_the_transfer() {
    for extension in ["part", "journal"] {
        let place = Arc::new(Place::with_file(3 * GROUP));
        fs::create_dir(place.unfinished(extension)).unwrap();
        let outcome = place.transfer_in_time().unwrap();
        assert_eq!((outcome.completed, outcome.failed), (0, 1), "{extension}");
    }
}

#[test]
fn a_fifo_in_the_place_of_the_file_is_refused() {
    let place = Arc::new(Place::with_file(3 * GROUP));
    fifo(&place.inbox.join("file"));
    assert_eq!(place.transfer_in_time().unwrap().failed, 1);
}
