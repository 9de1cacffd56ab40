//! Attacks of peers and other users of the machine, each as a test.

#![expect(clippy::unwrap_used, reason = "the helpers of tests fail as tests do")]

use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::{FileExt, MetadataExt, PermissionsExt};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use cwnd_files::{
    Directory, Event, GROUP, Links, Outcome, ReceiveOptions, ServeOptions, Source, TransferError, send, serve,
};

/// A directory to send from, one to receive into, and a file of some groups in the first.
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

    /// Sends the file to a server, which ends the transfer after `groups` groups.
    fn transfer(&self, groups: u64) -> Result<Outcome, TransferError> {
        let (near, far) = UnixStream::pair().unwrap();
        let (directory, source) = (Directory::open(&self.inbox).unwrap(), Source::at(&self.source).unwrap());
        let server = thread::spawn(move || {
            let mut transferred = 0;
            serve(far, &directory, &ServeOptions::writable(ReceiveOptions::new()), &mut |event| {
                if let Event::Transferred(bytes) = event {
                    transferred += bytes;
                }
                transferred < groups.saturating_mul(GROUP)
            })
        });
        let _sent = send(near, &[source], &mut |_| true);
        server.join().unwrap()
    }

    /// Sends the file to a server, and fails if it takes half a minute.
    fn transfer_in_time(self: &Arc<Self>) -> Result<Outcome, TransferError> {
        let (done, result) = mpsc::channel();
        let place = Arc::clone(self);
        thread::spawn(move || done.send(place.transfer(u64::MAX)));
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
        place.transfer(u64::MAX).unwrap();
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
fn a_directory_under_a_temporary_name_fails_the_file_and_not_the_transfer() {
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
    let directory = Directory::open(&place.inbox).unwrap();
    for overwrite in [false, true] {
        let options = ReceiveOptions::new().overwrite(overwrite);
        let (mut client, _) = Raw::client(&directory, ServeOptions::writable(options), 1);
        assert_eq!(client.receive().0, WELCOME);
        assert_eq!(client.reply_to(false, 1, b"file"), (REJECT, Some(NOT_A_FILE)));
    }
}

/// A peer that sends whatever it likes.
struct Raw(UnixStream);

impl Raw {
    /// A client that opens a session with a server for `directory` to send (1) or receive (2).
    fn client(
        directory: &Directory,
        options: ServeOptions,
        role: u8,
    ) -> (Self, thread::JoinHandle<Result<Outcome, TransferError>>) {
        let (near, far) = UnixStream::pair().unwrap();
        near.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let directory = directory.clone();
        let server = thread::spawn(move || serve(far, &directory, &options, &mut |_| true));
        let mut raw = Self(near);
        raw.send(b'c', &[&b"wndfiles"[..], &[1, role]].concat());
        (raw, server)
    }

    fn send(&mut self, kind: u8, payload: &[u8]) {
        self.try_send(kind, payload).unwrap();
    }

    fn try_send(&mut self, kind: u8, payload: &[u8]) -> std::io::Result<()> {
        let header = [&[kind][..], &(payload.len() as u32).to_le_bytes()].concat();
        self.0.write_all(&[&header, payload].concat())
    }

    fn entry(&mut self, is_directory: bool, size: u64, name: &[u8]) -> std::io::Result<()> {
        let times = [0; 12];
        let mode = 0o644_u32.to_le_bytes();
        self.try_send(6, &[&[u8::from(is_directory)][..], &size.to_le_bytes(), &mode, &times, name].concat())
    }

    fn receive(&mut self) -> (u8, Vec<u8>) {
        let mut header = [0; 5];
        self.0.read_exact(&mut header).unwrap();
        let [kind, length @ ..] = header;
        let mut payload = vec![0; u32::from_le_bytes(length) as usize];
        self.0.read_exact(&mut payload).unwrap();
        (kind, payload)
    }

    /// Announces one entry; the kind of the reply, and its reason if it is a rejection.
    fn reply_to(&mut self, is_directory: bool, size: u64, name: &[u8]) -> (u8, Option<u8>) {
        self.entry(is_directory, size, name).unwrap();
        self.send(8, b"");
        let (kind, payload) = self.receive();
        (kind, payload.first().copied().filter(|_| kind == REJECT))
    }
}

const WELCOME: u8 = 1;
const ACCEPT: u8 = 9;
const PRESENT: u8 = 10;
const REJECT: u8 = 11;
const NOT_A_FILE: u8 = 2;
const SPACE: u8 = 3;
const NAME: u8 = 8;

#[test]
fn clients_reserve_the_free_space_together() {
    let place = tempfile::tempdir().unwrap();
    let directory = Directory::open(place.path()).unwrap();
    let system = rustix::fs::statvfs(place.path()).unwrap();
    let free = system.f_bavail * system.f_frsize;
    // Half of the free space may be used; each client wants a third of it.
    let options = ServeOptions::writable(ReceiveOptions::new().keep_free(free / 2));
    let connect = || {
        let (mut client, server) = Raw::client(&directory, options, 1);
        assert_eq!(client.receive().0, WELCOME);
        (client, server)
    };
    let (mut first, server) = connect();
    assert_eq!(first.reply_to(false, free / 3, b"first"), (ACCEPT, None));
    let (mut second, _) = connect();
    assert_eq!(second.reply_to(false, free / 3, b"second"), (REJECT, Some(SPACE)));
    // The room of a client that leaves is free again.
    drop(first);
    assert!(server.join().unwrap().is_err());
    assert_eq!(second.reply_to(false, free / 3, b"third"), (ACCEPT, None));
}

#[test]
fn one_name_creates_few_directories() {
    let place = tempfile::tempdir().unwrap();
    let directory = Directory::open(place.path()).unwrap();
    let (mut client, _) = Raw::client(&directory, ServeOptions::writable(ReceiveOptions::new()), 1);
    assert_eq!(client.receive().0, WELCOME);
    assert_eq!(client.reply_to(true, 0, &b"a/".repeat(2001)[..4001]), (REJECT, Some(NAME)));
    assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0);
    assert_eq!(client.reply_to(true, 0, &b"a/".repeat(64)[..127]), (PRESENT, None));
}

#[test]
fn a_change_of_what_is_kept_of_a_file_is_noticed() {
    for at in [0, GROUP + 4321, 4 * GROUP - 4] {
        let place = Place::with_file(9 * GROUP);
        assert!(place.transfer(5).is_err());
        let part = fs::OpenOptions::new().write(true).open(place.unfinished("part")).unwrap();
        assert!(part.metadata().unwrap().len() >= 4 * GROUP, "something is resumed");
        part.write_all_at(b"evil", at).unwrap();
        drop(part);
        let altered = place.transfer(u64::MAX).unwrap_err();
        assert!(matches!(altered, TransferError::Altered(_)) && altered.is_retryable(), "{altered}");
        let outcome = place.transfer(u64::MAX).unwrap();
        assert_eq!(outcome.bytes, 9 * GROUP - at / GROUP * GROUP, "what is intact is kept");
        assert_eq!(fs::read(place.inbox.join("file")).unwrap(), fs::read(&place.source).unwrap());
    }
}

const REQUEST: u8 = 3;
const REQUEST_END: u8 = 4;
const TOTAL: u8 = 5;
const BUSY: u8 = 4;

#[test]
fn wanted_names_cost_no_open_files() {
    let place = Place::with_file(GROUP);
    let directory = Directory::open(&place.inbox).unwrap();
    let (mut client, server) = Raw::client(&directory, ServeOptions::read_only(), 2);
    assert_eq!(client.receive().0, WELCOME);
    (0..9_000).for_each(|n| client.send(REQUEST, format!("name {n}").as_bytes()));
    // The server has handled all of them when it answers one too many.
    let open_files = || fs::read_dir("/proc/self/fd").unwrap().count();
    let before = open_files();
    client.send(REQUEST_END, b"");
    assert_eq!(client.receive().0, TOTAL);
    assert!(before < 200 && open_files() < 200, "{before}, {}", open_files());
    drop(client);
    assert!(server.join().unwrap().is_err());
}

#[test]
fn a_request_has_an_end() {
    let place = tempfile::tempdir().unwrap();
    let directory = Directory::open(place.path()).unwrap();
    for (count, length) in [(10_001, 5), (300, 4000)] {
        let (mut client, server) = Raw::client(&directory, ServeOptions::read_only(), 2);
        assert_eq!(client.receive().0, WELCOME);
        let sent = (0..count).all(|n| client.try_send(REQUEST, format!("{n:0length$}").as_bytes()).is_ok());
        // Without a bound the server would go on, and fail otherwise.
        if sent {
            let _ = client.try_send(REQUEST_END, b"");
        }
        drop(client);
        assert!(matches!(server.join().unwrap(), Err(TransferError::Protocol(_))), "{count} names of {length} bytes");
    }
}

#[test]
fn a_tree_that_is_wanted_many_times_is_walked_once() {
    let place = tempfile::tempdir().unwrap();
    (0..100).for_each(|n| fs::write(place.path().join(n.to_string()), "x").unwrap());
    let directory = Directory::open(place.path()).unwrap();
    let (mut client, _) = Raw::client(&directory, ServeOptions::read_only(), 2);
    assert_eq!(client.receive().0, WELCOME);
    (0..9_000).for_each(|_| client.send(REQUEST, b""));
    client.send(REQUEST_END, b"");
    let (kind, payload) = client.receive();
    assert_eq!((kind, &payload[..8]), (TOTAL, &100_u64.to_le_bytes()[..]));
}

#[test]
fn counting_ends_when_the_observer_says_so() {
    let place = tempfile::tempdir().unwrap();
    (0..3000).for_each(|n| fs::write(place.path().join(n.to_string()), "x").unwrap());
    let (near, far) = UnixStream::pair().unwrap();
    let directory = Directory::open(place.path()).unwrap();
    let server = thread::spawn(move || {
        let mut events = 0;
        let served = serve(far, &directory, &ServeOptions::read_only(), &mut |event| {
            events += 1;
            !matches!(event, Event::Waiting)
        });
        (served, events)
    });
    let client = Directory::open(place.path()).unwrap();
    let _received = cwnd_files::receive(near, &[], &client, &ReceiveOptions::new(), &mut |_| true);
    let (served, events) = server.join().unwrap();
    assert!(matches!(served, Err(TransferError::Interrupted)) && events == 1, "{served:?} after {events} events");
}

#[test]
fn many_entries_for_a_locked_file_wait_once_and_only_for_a_client_that_is_there() {
    let place = Place::with_file(3 * GROUP);
    let part = fs::File::create(place.unfinished("part")).unwrap();
    rustix::fs::flock(&part, rustix::fs::FlockOperation::LockExclusive).unwrap();
    let directory = Directory::open(&place.inbox).unwrap();
    let entries = |client: &mut Raw| {
        // The server may end the transfer before the last one.
        let _ = (0..1000).try_for_each(|_| client.entry(false, 3 * GROUP, b"file"));
        let _ = client.try_send(8, b"");
    };
    // One that stays has its answer after a single wait of 15 s.
    let (mut client, _) = Raw::client(&directory, ServeOptions::writable(ReceiveOptions::new()), 1);
    client.0.set_read_timeout(Some(Duration::from_secs(25))).unwrap();
    // The server reads no more entries while it waits.
    client.0.set_write_timeout(Some(Duration::from_secs(25))).unwrap();
    assert_eq!(client.receive().0, WELCOME);
    entries(&mut client);
    (0..1000).for_each(|_| assert_eq!(client.receive(), (REJECT, vec![BUSY])));

    // The wait of one that has left ends as soon as the observer knows.
    let (near, far) = UnixStream::pair().unwrap();
    let (done, ended) = mpsc::channel();
    thread::spawn(move || {
        let (options, mut waited) = (ServeOptions::writable(ReceiveOptions::new()), false);
        done.send(serve(far, &directory, &options, &mut |event| {
            waited |= matches!(event, Event::Waiting);
            !waited
        }))
    });
    let mut client = Raw(near);
    client.send(b'c', b"wndfiles\x01\x01");
    // More would wait to be written until the server reads them, which it does once its wait is over.
    client.entry(false, 3 * GROUP, b"file").expect("there is room for one");
    let ended = ended.recv_timeout(Duration::from_secs(10)).expect("the wait goes on");
    assert!(ended.is_err());
}

#[test]
fn what_peers_say_cannot_act_on_a_terminal_or_forge_a_line_of_a_log() {
    let forged = "no\n127.0.0.1:9: done, 3 whole\u{1b}[2J\u{202e}\u{200b}";
    let place = Place::with_file(GROUP);
    let (near, far) = UnixStream::pair().unwrap();
    let mut server = Raw(far);
    server.send(WELCOME, b"");
    server.send(2, forged.as_bytes());
    let error = send(near, &[Source::at(&place.source).unwrap()], &mut |_| true).unwrap_err().to_string();
    assert_eq!(error, r"the other side: no\n127.0.0.1:9: done, 3 whole\u{1b}[2J\u{202e}\u{200b}");

    // The name of a file that is accepted, of one that is not, and of one that the sender cannot send.
    let (near, far) = UnixStream::pair().unwrap();
    let directory = Directory::open(&place.inbox).unwrap();
    let server = thread::spawn(move || {
        let mut shown = Vec::new();
        let _ended = serve(far, &directory, &ServeOptions::writable(ReceiveOptions::new()), &mut |event| {
            match event {
                Event::Completed { name, .. } | Event::Started { name, .. } => shown.push(name.to_string()),
                Event::Failed { name, .. } => shown.push(name.to_owned()),
                _ => {}
            }
            true
        });
        shown
    });
    let mut client = Raw(near);
    client.send(b'c', b"wndfiles\x01\x01");
    client.entry(false, 0, forged.as_bytes()).unwrap();
    client.entry(false, 0, &[b"../", forged.as_bytes()].concat()).unwrap();
    client.send(7, &[&[6], forged.as_bytes()].concat());
    client.send(8, b"");
    client.send(13, b"");
    client.send(17, b"");
    while client.receive().0 != 17 {}
    let shown = server.join().unwrap();
    assert_eq!(shown.len(), 4, "{shown:?}");
    assert!(shown.iter().all(|name| name.contains(r"no\n127") && name.contains(r"\u{202e}\u{200b}")), "{shown:?}");
}

#[test]
fn a_client_that_sends_no_results_is_not_remembered_without_end() {
    let place = tempfile::tempdir().unwrap();
    (0..4200).for_each(|n| fs::write(place.path().join(n.to_string()), "x").unwrap());
    let directory = Directory::open(place.path()).unwrap();
    let (mut client, server) = Raw::client(&directory, ServeOptions::read_only(), 2);
    client.send(REQUEST, b"");
    client.send(REQUEST_END, b"");
    let mut announced = 0;
    loop {
        match client.receive().0 {
            6 => announced += 1,
            8 if (0..std::mem::take(&mut announced)).try_for_each(|_| client.try_send(ACCEPT, &[0; 8])).is_err() => {
                break;
            }
            17 => panic!("everything was sent without a result"),
            2 => break,
            _ => {}
        }
    }
    assert!(matches!(server.join().unwrap(), Err(TransferError::Protocol(_))));
}

#[test]
fn so_many_files_are_announced_and_accepted_and_no_more() {
    let place = tempfile::tempdir().unwrap();
    let directory = Directory::open(place.path()).unwrap();
    let (mut client, server) = Raw::client(&directory, ServeOptions::writable(ReceiveOptions::new()), 1);
    assert_eq!(client.receive().0, WELCOME);
    // Two batches are accepted; none of their files comes.
    for batch in 0..2 {
        (0..1024).for_each(|n| client.entry(false, 1, format!("{batch} {n}").as_bytes()).unwrap());
        client.send(8, b"");
        (0..1024).for_each(|_| assert_eq!(client.receive().0, ACCEPT));
    }
    client.entry(false, 1, b"one too many").unwrap();
    let _ = client.try_send(8, b"");
    assert_eq!(client.receive().0, 2, "an error, and no reply");
    assert!(matches!(server.join().unwrap(), Err(TransferError::Protocol(_))));

    // And a batch has an end.
    let (mut client, server) = Raw::client(&directory, ServeOptions::writable(ReceiveOptions::new()), 1);
    assert_eq!(client.receive().0, WELCOME);
    let _ = (0..1025).try_for_each(|n| client.entry(false, 1, format!("batch {n}").as_bytes()));
    assert_eq!(client.receive().0, 2, "an error");
    assert!(matches!(server.join().unwrap(), Err(TransferError::Protocol(_))));
}

#[test]
fn a_connection_has_few_open_files_however_many_it_transfers() {
    let root = tempfile::tempdir().unwrap();
    let (source, inbox) = (root.path().join("source"), root.path().join("inbox"));
    fs::create_dir(&source).unwrap();
    fs::create_dir(&inbox).unwrap();
    (0..300).for_each(|n| fs::write(source.join(n.to_string()), "x").unwrap());
    let (near, far) = UnixStream::pair().unwrap();
    let directory = Directory::open(&inbox).unwrap();
    let server = thread::spawn(move || {
        let mut most = 0;
        let served = serve(far, &directory, &ServeOptions::writable(ReceiveOptions::new()), &mut |event| {
            if matches!(event, Event::Completed { .. }) {
                most = most.max(fs::read_dir("/proc/self/fd").unwrap().count());
            }
            true
        });
        (served.unwrap().completed, most)
    });
    send(near, &[Source::at(&source).unwrap()], &mut |_| true).unwrap();
    let (completed, most) = server.join().unwrap();
    // Other tests run at the same time.
    assert!(completed == 300 && most < 200, "{most} open files after {completed}");
}

/// A link as a client announces it.
fn link(name: &str, target: &str) -> Vec<u8> {
    [b".cwnd-link/", name.as_bytes(), b"\0", target.as_bytes()].concat()
}

#[test]
fn a_link_leads_to_no_place_outside_and_nothing_is_written_through_one() {
    const LINK: u8 = 11;
    const TARGET: u8 = 12;
    let place = tempfile::tempdir().unwrap();
    let (inbox, outside) = (place.path().join("inbox"), place.path().join("outside"));
    fs::create_dir(&inbox).unwrap();
    fs::create_dir(&outside).unwrap();
    let directory = Directory::open(&inbox).unwrap();
    let reply = |links, is_directory, name: &[u8]| {
        let options = ReceiveOptions::new().overwrite(true).links(links);
        let (mut client, _) = Raw::client(&directory, ServeOptions::writable(options), 1);
        assert_eq!(client.receive().0, WELCOME);
        client.reply_to(is_directory, 0, name)
    };
    let kept = |name: &str, target: &str| reply(Links::Keep, false, &link(name, target));
    for links in [Links::Skip, Links::Follow] {
        assert_eq!(reply(links, false, &link("a", "b")), (REJECT, Some(LINK)));
    }
    let absolute = outside.to_str().unwrap();
    for (name, target) in [
        ("a", absolute),
        ("a", "/"),
        ("a", ".."),
        ("a", "../outside"),
        ("d/a", "../../outside"),
        ("a", "b/../../outside"),
        ("d/a", "./../../outside"),
        ("a", ""),
        ("../a", "b"),
        ("/a", "b"),
        ("d/../../a", "b"),
        (".cwnd-1", "b"),
        ("", "b"),
        ("a", "b\0c"),
    ] {
        let (kind, reason) = kept(name, target);
        assert!(kind == REJECT && reason.is_some(), "{name} {target}: {reason:?}");
        assert!(fs::symlink_metadata(inbox.join("a")).is_err(), "{name} {target}");
    }
    assert_eq!(kept("a", "../outside"), (REJECT, Some(TARGET)));

    // To a directory inside, and what comes then.
    for (name, target) in [("here", "."), ("d/up", ".."), ("d/file", "../other"), ("later", "d")] {
        assert_eq!(kept(name, target), (PRESENT, None), "{name} {target}");
        assert_eq!(fs::read_link(inbox.join(name)).unwrap(), Path::new(target));
    }
    for name in ["here/file", "d/up/file", "later/file", "here/d/file"] {
        assert_eq!(reply(Links::Keep, false, name.as_bytes()), (REJECT, Some(NOT_A_FILE)), "{name}");
        assert_eq!(reply(Links::Keep, true, name.as_bytes()), (REJECT, Some(NOT_A_FILE)), "{name}");
        // With the links above, this one would lead out.
        assert_eq!(kept(&format!("{name}/l"), "../x"), (REJECT, Some(NOT_A_FILE)), "{name}");
    }
    // A file replaces a link, and not the target of the link; a link replaces a file, and not a directory.
    assert_eq!(reply(Links::Keep, false, b"d/file"), (REJECT, Some(NOT_A_FILE)));
    assert_eq!(kept("d", "here"), (REJECT, Some(NOT_A_FILE)));
    fs::write(inbox.join("file"), "mine").unwrap();
    assert_eq!(kept("file", "d"), (PRESENT, None));
    assert!(inbox.join("file").is_symlink() && !inbox.join("other").exists());
    assert_eq!(fs::read_dir(outside).unwrap().count(), 0);
}

#[test]
fn a_file_of_which_nothing_is_verified_leaves_nothing() {
    const GROUP_KIND: u8 = 12;
    const ABORT: u8 = 14;
    const UNREADABLE: u8 = 6;
    let size = 3 * GROUP;
    let bytes = vec![7; GROUP as usize];
    let value = {
        use blake3::hazmat::HasherExt;
        let mut hasher = blake3::Hasher::new();
        hasher.set_input_offset(0).update(&bytes).finalize_non_root()
    };
    let group = [&value[..], &bytes].concat();
    for (what, left) in [("unreadable", 0), ("cut off in a group", 0), ("damaged", 0), ("a group, and cut off", 2)] {
        let inbox = tempfile::tempdir().unwrap();
        let options = ServeOptions::writable(ReceiveOptions::new());
        let (mut client, server) = Raw::client(&Directory::open(inbox.path()).unwrap(), options, 1);
        assert_eq!(client.receive().0, WELCOME);
        assert_eq!(client.reply_to(false, size, b"file").0, ACCEPT);
        match what {
            "unreadable" => client.send(ABORT, &[UNREADABLE]),
            "cut off in a group" => {
                client
                    .0
                    .write_all(&[&[GROUP_KIND][..], &(group.len() as u32).to_le_bytes(), &group[..9999]].concat())
                    .unwrap();
            }
            "damaged" => client.send(GROUP_KIND, &[&[0; 32], &bytes[..]].concat()),
            _ => client.send(GROUP_KIND, &group),
        }
        drop(client);
        let result = server.join().unwrap();
        assert!(result.is_err(), "{what}: {result:?}");
        assert_eq!(fs::read_dir(inbox.path()).unwrap().count(), left, "{what}");
    }
}
