//! Both ends over a pair of sockets, and a line between them that breaks or changes bytes.

#![expect(clippy::unwrap_used, reason = "the helpers of tests fail as tests do")]

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::thread;

use cwnd_files::{
    Directory, Event, GROUP, Links, Name, Outcome, ReceiveOptions, ServeOptions, Source, TransferError, receive, send,
    serve,
};

/// A connection that ends after a number of bytes written, or changes one of them.
struct Line {
    socket: UnixStream,
    left: u64,
    flip: Option<u64>,
}

impl Line {
    fn pair() -> (Self, Self) {
        let (a, b) = UnixStream::pair().unwrap();
        let whole = |socket| Self { socket, left: u64::MAX, flip: None };
        (whole(a), whole(b))
    }
}

impl Read for Line {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.socket.read(out)
    }
}

impl Write for Line {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let size = bytes.len().min(self.left.try_into().unwrap_or(usize::MAX));
        if size == 0 && !bytes.is_empty() {
            self.socket.shutdown(std::net::Shutdown::Both)?;
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        let mut piece = bytes[..size].to_vec();
        if let Some(at) = self.flip {
            if let Some(byte) = usize::try_from(at).ok().and_then(|at| piece.get_mut(at)) {
                *byte ^= 1;
                self.flip = None;
            } else {
                self.flip = Some(at - size as u64);
            }
        }
        self.socket.write_all(&piece)?;
        self.left -= size as u64;
        Ok(size)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// All files below a directory, with their bytes; directories with none.
fn content(root: &Path) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
    let mut found = BTreeMap::new();
    let mut ahead = vec![root.to_owned()];
    while let Some(directory) = ahead.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(root).unwrap().to_owned();
            if path.is_dir() {
                found.insert(name, None);
                ahead.push(path);
            } else {
                found.insert(name, Some(fs::read(path).unwrap()));
            }
        }
    }
    found
}

fn bytes(size: u64, salt: u64) -> Vec<u8> {
    (0..size).map(|at| ((at + salt).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40) as u8).collect()
}

fn tree() -> tempfile::TempDir {
    let place = tempfile::tempdir().unwrap();
    let root = place.path().join("tree");
    fs::create_dir_all(root.join("deep/er/empty")).unwrap();
    fs::write(root.join("nothing"), b"").unwrap();
    fs::write(root.join("small"), b"some bytes").unwrap();
    fs::write(root.join("deep/one group"), bytes(GROUP, 1)).unwrap();
    fs::write(root.join("deep/er/large"), bytes(5 * GROUP + 17, 2)).unwrap();
    fs::set_permissions(root.join("small"), fs::Permissions::from_mode(0o750)).unwrap();
    place
}

/// A directory with a file, the file, and another directory.
fn large(size: u64) -> (tempfile::TempDir, PathBuf, tempfile::TempDir) {
    let place = tempfile::tempdir().unwrap();
    let from = place.path().join("file");
    fs::write(&from, bytes(size, 3)).unwrap();
    (place, from, tempfile::tempdir().unwrap())
}

/// Sends `from` over a line to a server that receives it into `into`.
fn transfer(
    from: &Path,
    into: &Path,
    options: ReceiveOptions,
    line: (Line, Line),
) -> (Result<Outcome, TransferError>, Result<Outcome, TransferError>) {
    let (near, far) = line;
    let into = Directory::open(into).unwrap();
    let server = thread::spawn(move || serve(far, &into, &ServeOptions::writable(options), &mut |_| true));
    let sent = send(near, &[Source::at(from).unwrap()], &mut |_| true);
    (sent, server.join().unwrap())
}

#[test]
fn a_tree_arrives_as_it_was() {
    let place = tree();
    let into = tempfile::tempdir().unwrap();
    let (sent, received) = transfer(&place.path().join("tree"), into.path(), ReceiveOptions::new(), Line::pair());
    let (sent, received) = (sent.unwrap(), received.unwrap());
    assert_eq!(sent, received);
    assert_eq!((sent.completed, sent.failed, sent.bytes), (4, 0, 6 * GROUP + 27));
    assert_eq!(content(into.path()), content(place.path()));
    let (was, is) = (place.path().join("tree/small"), into.path().join("tree/small"));
    let (was, is) = (was.metadata().unwrap(), is.metadata().unwrap());
    assert_eq!((was.mode() & 0o777, was.mtime(), was.mtime_nsec()), (is.mode() & 0o777, is.mtime(), is.mtime_nsec()));

    // The second time there is nothing to do, and nothing is done.
    let (again, _) = transfer(&place.path().join("tree"), into.path(), ReceiveOptions::new(), Line::pair());
    assert_eq!((again.as_ref().unwrap().unchanged, again.unwrap().bytes), (4, 0));
}

#[test]
fn a_client_fetches_what_it_names() {
    let place = tree();
    let into = tempfile::tempdir().unwrap();
    let (near, far) = Line::pair();
    let served = Directory::open(place.path()).unwrap();
    let server = thread::spawn(move || serve(far, &served, &ServeOptions::read_only(), &mut |_| true));
    let names = ["tree/deep", "tree/small", "tree/none"].map(|name| Name::new(name.as_bytes()).unwrap());
    let mut failed = Vec::new();
    let mut hashes = BTreeMap::new();
    let outcome = receive(near, &names, &Directory::open(into.path()).unwrap(), &ReceiveOptions::new(), &mut |event| {
        match event {
            Event::Failed { name, reason } => failed.push(format!("{name}: {reason}")),
            Event::Completed { name, hash, .. } => drop(hashes.insert(name.to_string(), hash)),
            _ => {}
        }
        true
    });
    assert_eq!(outcome.unwrap().completed, 3);
    assert_eq!(failed, ["none: there is no such file"]);
    assert_eq!(server.join().unwrap().unwrap().completed, 3);
    let found: Vec<_> = content(into.path()).into_keys().map(|path| path.display().to_string()).collect();
    assert_eq!(found, ["deep", "deep/er", "deep/er/empty", "deep/er/large", "deep/one group", "small"]);
    assert_eq!(hashes["deep/er/large"], *blake3::hash(&bytes(5 * GROUP + 17, 2)).as_bytes());
}

#[test]
fn a_read_only_server_refuses_files() {
    let place = tree();
    let (near, far) = Line::pair();
    let served = Directory::open(place.path()).unwrap();
    let server = thread::spawn(move || serve(far, &served, &ServeOptions::read_only(), &mut |_| true));
    let sent = send(near, &[Source::at(&place.path().join("tree")).unwrap()], &mut |_| true);
    assert_eq!(sent.unwrap_err().to_string(), "the other side: this server does not receive files");
    assert!(matches!(server.join().unwrap(), Err(TransferError::ReadOnly)));
}

#[test]
fn what_is_there_is_replaced_only_if_that_is_asked_for() {
    let place = tree();
    let from = place.path().join("tree/small");
    let into = tempfile::tempdir().unwrap();
    fs::write(into.path().join("small"), "mine").unwrap();
    let (sent, _) = transfer(&from, into.path(), ReceiveOptions::new(), Line::pair());
    assert_eq!(sent.unwrap().failed, 1);
    assert_eq!(content(into.path()), [("small".into(), Some(b"mine".to_vec()))].into());
    let (sent, _) = transfer(&from, into.path(), ReceiveOptions::new().overwrite(true), Line::pair());
    assert_eq!(sent.unwrap().completed, 1);
    assert_eq!(content(into.path()), [("small".into(), Some(b"some bytes".to_vec()))].into());
    // A directory is never replaced.
    fs::remove_file(into.path().join("small")).unwrap();
    fs::create_dir(into.path().join("small")).unwrap();
    let (sent, _) = transfer(&from, into.path(), ReceiveOptions::new().overwrite(true), Line::pair());
    assert_eq!(sent.unwrap().failed, 1);
}

#[test]
fn a_link_leads_nowhere() {
    let place = tree();
    let outside = tempfile::tempdir().unwrap();
    let into = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(outside.path(), into.path().join("tree")).unwrap();
    let (sent, _) = transfer(&place.path().join("tree"), into.path(), ReceiveOptions::new(), Line::pair());
    // The directories and the four files in them are refused one by one.
    assert_eq!(sent.unwrap().completed, 0);
    assert!(content(outside.path()).is_empty());
}

/// Holes are sent as zeros, and take no room at the receiver either.
#[test]
fn a_file_of_holes_stays_one() {
    let (place, from, into) = large(5);
    let file = fs::OpenOptions::new().write(true).open(&from).unwrap();
    std::os::unix::fs::FileExt::write_all_at(&file, b"in the middle", 512 * GROUP + 7).unwrap();
    file.set_len(1024 * GROUP + 3).unwrap();
    let (sent, _) = transfer(&from, into.path(), ReceiveOptions::new(), Line::pair());
    assert_eq!(sent.unwrap().completed, 1);
    let received = into.path().join("file").metadata().unwrap();
    assert_eq!(received.len(), 1024 * GROUP + 3);
    assert!(received.blocks() <= from.metadata().unwrap().blocks().max(64), "{} blocks", received.blocks());
    drop(place);
}

/// Sends a directory with links to a receiver that keeps links or does not.
fn transfer_links(from: &Path, links: Links, kept: Links) -> (Outcome, tempfile::TempDir) {
    let into = tempfile::tempdir().unwrap();
    let (near, far) = Line::pair();
    let options = ServeOptions::writable(ReceiveOptions::new().links(kept));
    let directory = Directory::open(into.path()).unwrap();
    let server = thread::spawn(move || serve(far, &directory, &options, &mut |_| true));
    let sent = send(near, &[Source::with_links(from, links).unwrap()], &mut |_| true).unwrap();
    assert_eq!(sent, server.join().unwrap().unwrap());
    (sent, into)
}

#[test]
fn links_are_left_out_followed_or_kept() {
    let place = tempfile::tempdir().unwrap();
    let (tree, outside) = (place.path().join("tree"), place.path().join("outside"));
    fs::create_dir_all(tree.join("d")).unwrap();
    fs::create_dir(&outside).unwrap();
    fs::write(tree.join("d/file"), "content").unwrap();
    fs::write(outside.join("far"), "away").unwrap();
    let link = |target: &Path, name: &str| std::os::unix::fs::symlink(target, tree.join(name)).unwrap();
    link(Path::new("d/file"), "near");
    link(&outside, "out");
    // Loops of one link and of two.
    link(Path::new(".."), "d/up");
    fs::create_dir(tree.join("e")).unwrap();
    link(Path::new("../e"), "d/e");
    link(Path::new("../d"), "e/d");
    link(Path::new("self"), "self");

    let (skipped, into) = transfer_links(&tree, Links::Skip, Links::Keep);
    assert_eq!((skipped.completed, skipped.skipped, skipped.failed), (1, 6, 0));
    assert_eq!(content(into.path()).len(), 4);

    let (followed, into) = transfer_links(&tree, Links::Follow, Links::Skip);
    // The loops fail: no file is missing in silence.
    assert_eq!((followed.linked, followed.skipped, followed.failed), (0, 0, 5));
    let read = |name: &str| fs::read_to_string(into.path().join("tree").join(name)).unwrap();
    assert_eq!((read("near"), read("out/far"), read("e/d/file")), ("content".into(), "away".into(), "content".into()));
    assert!(!into.path().join("tree/d/up").exists());

    let (kept, into) = transfer_links(&tree, Links::Keep, Links::Keep);
    // That to an absolute path is not created.
    assert_eq!((kept.completed, kept.linked, kept.failed), (1, 5, 1));
    assert_eq!(fs::read_link(into.path().join("tree/e/d")).unwrap(), Path::new("../d"));
    let (refused, into) = transfer_links(&tree, Links::Keep, Links::Skip);
    assert_eq!((refused.completed, refused.skipped, refused.failed), (1, 6, 0));
    assert_eq!(content(into.path()).len(), 4);
}

/// Links that are followed for a client stay in the directory that is served.
#[test]
fn a_server_follows_no_link_out_of_its_directory() {
    let place = tempfile::tempdir().unwrap();
    let (tree, into) = (place.path().join("tree"), tempfile::tempdir().unwrap());
    fs::create_dir(&tree).unwrap();
    fs::write(tree.join("file"), "content").unwrap();
    fs::write(place.path().join("secret"), "secret").unwrap();
    for (target, name) in [("file", "in"), ("../secret", "out"), ("/etc/passwd", "far")] {
        std::os::unix::fs::symlink(target, tree.join(name)).unwrap();
    }
    let (near, far) = Line::pair();
    let directory = Directory::open(&tree).unwrap();
    let options = ServeOptions::read_only().links(Links::Follow);
    let server = thread::spawn(move || serve(far, &directory, &options, &mut |_| true));
    let names = ["in", "out", "far"].map(|name| Name::new(name.as_bytes()).unwrap());
    let received =
        receive(near, &names, &Directory::open(into.path()).unwrap(), &ReceiveOptions::new(), &mut |_| true).unwrap();
    server.join().unwrap().unwrap();
    assert_eq!((received.completed, received.skipped, received.failed), (1, 0, 2));
    assert_eq!(fs::read_to_string(into.path().join("in")).unwrap(), "content");
    assert_eq!(content(into.path()).len(), 1);
}

/// A file that is requested by name and left out is missing.
#[test]
fn a_link_that_is_requested_by_name_fails_where_links_are_left_out() {
    let (place, into) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    fs::create_dir(place.path().join("directory")).unwrap();
    fs::write(place.path().join("directory/file"), "content").unwrap();
    std::os::unix::fs::symlink("directory", place.path().join("link")).unwrap();
    std::os::unix::fs::symlink("file", place.path().join("directory/near")).unwrap();
    for links in [Links::Skip, Links::Keep] {
        for name in ["link", "link/file", "directory/near"] {
            let (near, far) = Line::pair();
            let directory = Directory::open(place.path()).unwrap();
            let server =
                thread::spawn(move || serve(far, &directory, &ServeOptions::read_only().links(links), &mut |_| true));
            let mut reasons = Vec::new();
            let names = [Name::new(name.as_bytes()).unwrap()];
            let into = Directory::open(into.path()).unwrap();
            let received = receive(near, &names, &into, &ReceiveOptions::new(), &mut |event| {
                if let Event::Failed { reason, .. } = event {
                    reasons.push(reason);
                }
                true
            });
            let received = received.unwrap();
            assert_eq!(server.join().unwrap().unwrap().failed, 1, "{name} {links:?}");
            assert_eq!((received.failed, received.skipped, received.failed_here), (1, 0, 0), "{name} {links:?}");
            assert!(reasons[0].to_string().contains("--links"), "{name} {links:?}: {reasons:?}");
        }
    }
    assert_eq!(content(into.path()).len(), 0);
}

#[test]
fn a_file_goes_on_where_its_journal_ends() {
    let size = 70 * GROUP + 5;
    let (place, from, into) = large(size);
    let (near, far) = Line::pair();
    let (sent, received) =
        transfer(&from, into.path(), ReceiveOptions::new(), (Line { left: 50 * GROUP, ..near }, far));
    assert!(sent.unwrap_err().is_retryable() && received.is_err());
    let left: Vec<_> = content(into.path()).into_keys().collect();
    assert_eq!(left.len(), 2, "{left:?}");

    let (near, far) = Line::pair();
    let directory = Directory::open(into.path()).unwrap();
    let server = thread::spawn(move || {
        let mut begun = 0;
        let received = serve(far, &directory, &ServeOptions::writable(ReceiveOptions::new()), &mut |event| {
            if let Event::Started { from, .. } = event {
                begun = from;
            }
            true
        });
        (received, begun)
    });
    let sent = send(near, &[Source::at(&from).unwrap()], &mut |_| true).unwrap();
    let (received, begun) = server.join().unwrap();
    assert_eq!(begun, 49 * GROUP, "the group under way is lost, the others were proven when the connection broke");
    assert_eq!((sent.bytes, received.unwrap().bytes), (size - begun, size - begun));
    assert_eq!(content(into.path()), content(place.path()));
}

#[test]
fn a_file_that_has_changed_begins_anew() {
    let (place, from, into) = large(9 * GROUP);
    let (near, far) = Line::pair();
    let _ = transfer(&from, into.path(), ReceiveOptions::new(), (Line { left: 5 * GROUP, ..near }, far));
    fs::write(&from, bytes(9 * GROUP, 4)).unwrap();
    let (sent, _) = transfer(&from, into.path(), ReceiveOptions::new(), Line::pair());
    assert_eq!(sent.unwrap().bytes, 9 * GROUP);
    assert_eq!(content(into.path()), content(place.path()));
}

#[test]
fn a_changed_byte_is_noticed_and_costs_a_group() {
    let (place, from, into) = large(9 * GROUP);
    let (near, far) = Line::pair();
    let (_, received) =
        transfer(&from, into.path(), ReceiveOptions::new(), (Line { flip: Some(4 * GROUP + 999), ..near }, far));
    let received = received.unwrap_err();
    assert!(matches!(received, TransferError::Damaged(_)) && received.is_retryable(), "{received}");
    let (sent, _) = transfer(&from, into.path(), ReceiveOptions::new(), Line::pair());
    assert_eq!(sent.unwrap().bytes, 5 * GROUP);
    assert_eq!(content(into.path()), content(place.path()));
}

#[test]
fn two_transfers_of_one_file_do_not_meet() {
    let (place, from, into) = large(9 * GROUP);
    let (near, far) = Line::pair();
    let directory = Directory::open(into.path()).unwrap();
    let serving = ServeOptions::writable(ReceiveOptions::new());
    let server = thread::spawn(move || serve(far, &directory, &serving, &mut |_| true));
    let mut second = None;
    let first = send(near, &[Source::at(&from).unwrap()], &mut |event| {
        // Far enough ahead that the server must have begun: the line holds less than a group.
        if matches!(event, Event::Transferred(_)) && second.is_none() && fs::read_dir(into.path()).unwrap().count() == 2
        {
            second = Some(transfer(&from, into.path(), ReceiveOptions::new(), Line::pair()).0.unwrap());
        }
        true
    });
    assert_eq!(first.unwrap().completed, 1);
    assert!(server.join().unwrap().is_ok());
    assert_eq!(second.map(|outcome| (outcome.completed, outcome.failed)), Some((0, 1)));
    assert_eq!(content(into.path()), content(place.path()));
}

#[test]
fn no_more_is_promised_than_there_is_room() {
    let place = tree();
    let into = tempfile::tempdir().unwrap();
    let (sent, _) =
        transfer(&place.path().join("tree"), into.path(), ReceiveOptions::new().keep_free(u64::MAX), Line::pair());
    let sent = sent.unwrap();
    assert_eq!((sent.completed, sent.failed), (0, 8), "neither files nor directories");
}

#[test]
fn thousands_of_small_files_take_a_few_round_trips() {
    let place = tempfile::tempdir().unwrap();
    let root = place.path().join("many");
    fs::create_dir(&root).unwrap();
    for n in 0..3000 {
        fs::write(root.join(format!("{n}")), n.to_string()).unwrap();
    }
    let into = tempfile::tempdir().unwrap();
    let (sent, received) = transfer(&root, into.path(), ReceiveOptions::new(), Line::pair());
    assert_eq!(sent.unwrap(), received.unwrap());
    assert_eq!(content(into.path()), content(place.path()));
}

/// A connection that takes as much at once as one with encryption does.
struct Records(UnixStream);

impl Read for Records {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let size = out.len().min(64_000);
        self.0.read(&mut out[..size])
    }
}

impl Write for Records {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(&bytes[..bytes.len().min(64_000)])
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The bytes of each event of a transfer, none for the beginning of a file.
fn follow(pieces: &mut Vec<Option<u64>>, event: &Event<'_>) -> bool {
    match event {
        Event::Started { .. } => pieces.push(None),
        Event::Transferred(bytes) => pieces.push(Some(*bytes)),
        _ => {}
    }
    true
}

/// On a slow path a group takes seconds.
#[test]
fn progress_is_that_of_the_bytes_that_pass_and_not_of_whole_groups() {
    let (_place, from, into) = large(2 * GROUP + 17);
    let (near, far) = UnixStream::pair().unwrap();
    let directory = Directory::open(into.path()).unwrap();
    let serving = ServeOptions::writable(ReceiveOptions::new());
    let server = thread::spawn(move || {
        let mut pieces = Vec::new();
        serve(Records(far), &directory, &serving, &mut |event| follow(&mut pieces, &event)).map(|_| pieces)
    });
    let mut sent = Vec::new();
    send(Records(near), &[Source::at(&from).unwrap()], &mut |event| follow(&mut sent, &event)).unwrap();
    for pieces in [sent, server.join().unwrap().unwrap()] {
        assert_eq!(pieces[0], None, "a file begins before its bytes come");
        let pieces: Vec<u64> = pieces[1..].iter().map(|piece| piece.expect("it begins once")).collect();
        assert_eq!(pieces.iter().sum::<u64>(), 2 * GROUP + 17);
        assert!(pieces.iter().all(|bytes| *bytes <= 64_000), "{pieces:?}");
    }
}

#[test]
fn an_interrupted_transfer_leaves_what_it_has() {
    let (_place, from, into) = large(9 * GROUP);
    let (near, far) = Line::pair();
    let directory = Directory::open(into.path()).unwrap();
    let mut moved = 0;
    let server = thread::spawn(move || {
        serve(far, &directory, &ServeOptions::writable(ReceiveOptions::new()), &mut |event| {
            if let Event::Transferred(bytes) = event {
                moved += bytes;
            }
            moved < 4 * GROUP
        })
    });
    let sent = send(near, &[Source::at(&from).unwrap()], &mut |_| true);
    assert!(sent.is_err());
    assert!(matches!(server.join().unwrap(), Err(TransferError::Interrupted)));
    let (sent, _) = transfer(&from, into.path(), ReceiveOptions::new(), Line::pair());
    assert_eq!(sent.unwrap().bytes, 5 * GROUP);
}
