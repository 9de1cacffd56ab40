//! Files from one process to another, and the files that remain when one of them dies.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::{CommandResult, Udt, wait_until};

/// A server that is killed when the test is done with it.
struct Server {
    child: Child,
    address: String,
    /// Kept open: it says something for every file.
    _says: BufReader<ChildStderr>,
}

impl Server {
    /// At an address of the system's choice, or at that of one before.
    fn start(udt: &Udt, arguments: &[&str], address: &str) -> Self {
        let mut command = udt.command(&[&["serve"], arguments, &["--at", address]].concat());
        let mut child = command.stderr(Stdio::piped()).spawn().expect("the binary was built");
        let mut says = BufReader::new(child.stderr.take().expect("it is piped"));
        let mut line = String::new();
        says.read_line(&mut line).expect("its output is text");
        let address = line.trim().rsplit(' ').next().unwrap_or_default().to_owned();
        assert!(address.starts_with("127.0.0.1:"), "{line}");
        Self { child, address, _says: says }
    }

    fn kill(&mut self) {
        self.child.kill().expect("it can be killed");
        self.child.wait().expect("it ends");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Files with their bytes, by relative path.
fn content(root: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut ahead = vec![root.to_owned()];
    while let Some(directory) = ahead.pop() {
        for entry in fs::read_dir(directory).expect("it is a directory") {
            let path = entry.expect("it can be read").path();
            if path.is_dir() {
                ahead.push(path);
            } else {
                found.insert(
                    path.strip_prefix(root).expect("it lies below").to_owned(),
                    fs::read(&path).expect("a file"),
                );
            }
        }
    }
    found
}

/// A file of 40 groups, two small ones, and one in the inbox that has nothing to do with them.
fn place() -> (Udt, BTreeMap<PathBuf, Vec<u8>>) {
    place_with(40)
}

/// A place with `groups` groups of files.
fn place_with(groups: u32) -> (Udt, BTreeMap<PathBuf, Vec<u8>>) {
    let udt = Udt::new();
    fs::create_dir_all(udt.path().join("out/deep")).expect("a new directory");
    fs::create_dir(udt.path().join("inbox")).expect("a new directory");
    let large: Vec<u8> = (0..groups << 20).map(|at| (at.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    fs::write(udt.path().join("out/deep/large"), large).expect("room for it");
    fs::write(udt.path().join("out/a"), "first").expect("room for it");
    fs::write(udt.path().join("out/z"), "last").expect("room for it");
    fs::write(udt.path().join("inbox/bystander"), "mine").expect("room for it");
    let mut expected: BTreeMap<_, _> = content(&udt.path().join("out"))
        .into_iter()
        .map(|(name, bytes)| (Path::new("out").join(name), bytes))
        .collect();
    expected.insert("bystander".into(), b"mine".to_vec());
    (udt, expected)
}

/// Kills the client, the server, or both, after a part of the large file has reached the disk. The transfer resumes from there: by itself
/// if its client lives, else when the client is started again. Returns the killed process and the direction.
fn survives_a_kill(seed: u64) -> String {
    let (udt, expected) = place_with(80);
    let draw = |salt: u64| (seed + salt).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 33;
    // At 200 Mbit/s a transfer takes some 3.4 s, and some 1.4 s up to the first records of the journal.
    let (wait, victim, receiving) = (Duration::from_millis(draw(0) % 400), seed % 3, seed / 3 % 2 == 1);
    let (kills_client, kills_server) = (victim != 1, victim != 0);
    let case = format!(
        "{} killed, {}",
        ["client", "server", "client and server"][victim as usize],
        ["send", "recv"][usize::from(receiving)]
    );
    // The bound on the rate is one of each connection at a server.
    let (streams, each) = [("1", "200mbit"), ("3", "67mbit")][(seed / 2 % 2) as usize];
    println!("seed {seed}: {wait:?}, {case}, streams {streams}");
    let serving = if receiving { &["--rate-limit", each][..] } else { &["inbox", "--writable"] };
    let mut server = Server::start(&udt, serving, "127.0.0.1:0");
    let address = server.address.clone();
    let arguments: &[&str] = match receiving {
        true => &["recv", &address, "out", "--dir", "inbox", "--json", "--streams", streams],
        false => &["send", "out", "--to", &address, "--rate-limit", "200mbit", "--json", "--streams", streams],
    };
    let mut client =
        udt.command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it was built");
    wait_for_journal(&udt);
    sleep(wait);
    if kills_server {
        server.kill();
    }
    if kills_client {
        client.kill().expect("it can be killed");
    }
    if kills_server {
        server = Server::start(&udt, serving, &address);
    }
    let result = CommandResult::of(&client.wait_with_output().expect("it ends"));
    let out = if kills_client { udt.succeed(arguments) } else { result.out };
    assert!(resumed_from(&out) >= 32 << 20, "seed {seed}, {case}: {out}{}", result.err);
    assert_eq!(content(&udt.path().join("inbox")), expected, "seed {seed}, {case}");
    drop(server);
    case
}

/// Waits until the journal of the large file has records.
fn wait_for_journal(udt: &Udt) {
    let records = || {
        let files = fs::read_dir(udt.path().join("inbox/out/deep")).into_iter().flatten().flatten();
        let journals = files.filter(|file| file.path().extension().is_some_and(|extension| extension == "journal"));
        journals.filter_map(|journal| journal.metadata().ok()).any(|journal| journal.len() > 32)
    };
    wait_until("records in the journal", records);
}

#[test]
fn a_kill_costs_time_and_nothing_else() {
    // Most of the time goes into waiting for silent peers.
    std::thread::scope(|scope| (0..6).for_each(|seed| drop(scope.spawn(move || survives_a_kill(seed)))));
}

/// As many as `CWND_KILLS` says, if it is set.
#[test]
#[ignore = "takes minutes; `cargo xtask test --long kills`"]
fn two_hundred_kills_cost_time_and_nothing_else() {
    let kills = std::env::var("CWND_KILLS").map_or(200, |kills| kills.parse().expect("a number"));
    let mut cases: BTreeMap<String, u64> = BTreeMap::new();
    for seed in (1000..).take(kills) {
        *cases.entry(survives_a_kill(seed)).or_default() += 1;
    }
    println!("transfers that resumed and were complete, by kill:");
    cases.iter().for_each(|(case, count)| println!("  {count:4}  {case}"));
}

#[test]
fn a_client_waits_for_its_server_to_come_back() {
    let (udt, expected) = place();
    let serving = ["inbox", "--writable"];
    let mut server = Server::start(&udt, &serving, "127.0.0.1:0");
    let address = server.address.clone();
    let client = start_sending(&udt, &address);
    server.kill();
    let server = Server::start(&udt, &serving, &address);
    let result = CommandResult::of(&client.wait_with_output().expect("it ends"));
    assert_eq!(result.code, Some(0), "{}", result.err);
    assert_eq!(content(&udt.path().join("inbox")), expected);
    let events: Vec<serde_json::Value> =
        result.out.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let named = |name: &str| events.iter().filter(|event| event["event"] == name).count();
    // Where the machine is busy, the server may miss the first attempt too.
    assert!((1..=3).contains(&named("retry")) && named("ended") == 1, "{}", result.out);
    assert!(named("progress") > 1, "{}", result.out);
    drop(server);
}

#[test]
fn several_connections_move_files_as_one_does() {
    let (udt, expected) = place();
    let server = Server::start(&udt, &["inbox", "--writable"], "127.0.0.1:0");
    let address = server.address.as_str();
    for streams in ["2", "8"] {
        let lines = udt.succeed(&["send", "out", "--to", address, "--streams", streams, "--json"]);
        assert_eq!(content(&udt.path().join("inbox")), expected);
        assert!(!lines.contains("retry"), "{lines}");
        fs::create_dir(udt.path().join("copy")).expect("a new directory");
        udt.succeed(&["recv", address, "--dir", "copy", "--streams", streams]);
        assert_eq!(content(&udt.path().join("copy")), expected);
        fs::remove_dir_all(udt.path().join("copy")).expect("a directory");
        fs::remove_dir_all(udt.path().join("inbox/out")).expect("a directory");
    }
}

#[test]
fn files_are_fetched_sent_and_left_alone() {
    let (udt, expected) = place();
    let server = Server::start(&udt, &["inbox", "--writable"], "127.0.0.1:0");
    let address = server.address.as_str();
    udt.succeed(&["send", "out", "--to", address]);
    assert_eq!(content(&udt.path().join("inbox")), expected);
    let again = udt.succeed(&["send", "out", "--to", address]);
    assert!(again.contains("3 files there before"), "{again}");

    // Everything the server has comes back.
    fs::create_dir(udt.path().join("copy")).expect("a new directory");
    udt.succeed(&["recv", address, "--dir", "copy"]);
    assert_eq!(content(&udt.path().join("copy")), expected);

    // Other bytes of the same name stay, unless they may go.
    fs::write(udt.path().join("copy/bystander"), "changed").expect("room for it");
    let refused = udt.run(&["recv", address, "bystander", "--dir", "copy"]);
    assert_eq!(refused.code, Some(1), "{}", refused.err);
    assert!(refused.err.contains("bystander: there is another file of this name"), "{}", refused.err);
    udt.succeed(&["recv", address, "bystander", "--dir", "copy", "--force"]);
    assert_eq!(content(&udt.path().join("copy")), expected);

    for (arguments, code, says) in [
        (&["recv", address, "../out"][..], 2, "not that of a file below the directory"),
        (&["recv", address, "none"], 1, "none: there is no such file"),
        (&["recv", address, "--dir", "nowhere"], 7, "--dir: nowhere"),
        (&["send", "nowhere", "--to", address], 7, "nowhere: "),
        (&["send", "out", "--to", "127.0.0.1"], 2, "a port is missing"),
        (&["serve", "--at", address], 1, address),
        (&["recv", address, "--libudt"], 2, "exactly one name"),
        (&["recv", address, "a", "--libudt", "--streams", "2"], 2, "--streams: the demo server"),
        (&["recv", address, "--meet", "--streams", "2"], 2, "--streams: connections by --meet"),
        (&["recv", address, "--streams", "9"], 2, "--streams"),
        (&["recv", address, "-o", "file"], 2, "--output: accepted is `-`"),
        (&["recv", address, "-o", "-", "--dir", "inbox"], 2, "cannot be used with"),
        (&["send", "out", "--to", address, "--name", "x"], 2, "--name: expected `-`"),
        (&["send", "-", "-", "--to", address], 2, "standard input can be sent once"),
        (&["send", "-", "--to", address, "--name", "a/b"], 2, "expected a name without `/`"),
    ] {
        let result = udt.run(arguments);
        assert_eq!(result.code, Some(code), "{arguments:?}: {}", result.err);
        assert!(result.err.contains(says), "{arguments:?}: {}", result.err);
    }
    let readers = Server::start(&udt, &["inbox", "--streams", "2"], "127.0.0.1:0");
    let result = udt.run(&["send", "out", "--to", &readers.address]);
    assert!(result.code == Some(4) && result.err.contains("this server does not receive files"), "{}", result.err);
    let result = udt.run(&["recv", &readers.address, "--dir", "copy", "--streams", "3"]);
    let says = "the connections of a stream are more than the 2 that the other side allows";
    assert!(result.code == Some(4) && result.err.contains(says), "{}", result.err);
}

/// No name stands for an incomplete file, and the received part is readable by this user alone.
#[cfg(unix)]
#[test]
fn a_full_disk_leaves_no_part_of_a_file_under_its_name() {
    use std::os::unix::fs::PermissionsExt;

    let (udt, _) = place();
    let expected = content(&udt.path().join("out"));
    let server = Server::start(&udt, &["out"], "127.0.0.1:0");
    fs::create_dir(udt.path().join("copy")).expect("a new directory");
    let receive = ["recv", &server.address, "--dir", "copy", "--retries", "0"];
    let result = udt.run_on_a_full_disk(&receive);
    assert_eq!((result.code, result.err.matches("error: ").count()), (Some(7), 1), "{}", result.err);
    assert!(result.err.contains("File too large"), "{}", result.err);
    for (name, bytes) in content(&udt.path().join("copy")) {
        let mode = fs::metadata(udt.path().join("copy").join(&name)).expect("a file").permissions().mode();
        let hidden = name.file_name().is_some_and(|name| name.to_string_lossy().starts_with(".cwnd-"));
        assert!(expected.get(&name) == Some(&bytes) || (hidden && mode & 0o77 == 0), "{}", name.display());
    }
    udt.succeed(&receive);
    assert_eq!(content(&udt.path().join("copy")), expected);
}

/// Waits until some groups of the large file lie in this directory.
fn wait_for_groups(udt: &Udt, directory: &str) {
    let directory = udt.path().join(directory);
    let unfinished = || {
        let parts = fs::read_dir(&directory).into_iter().flatten().flatten();
        parts.filter_map(|entry| entry.metadata().ok()).map(|file| file.len()).max().unwrap_or(0)
    };
    wait_until("five groups have arrived", || unfinished() >= 5 << 20);
}

/// Presses Ctrl-C.
fn interrupt(process: &Child) {
    signal("-INT", process);
}

/// Starts a client that sends slowly, and waits until a part of the large file has arrived.
fn start_sending(udt: &Udt, address: &str) -> Child {
    let mut command = udt.command(&["send", "out", "--to", address, "--rate-limit", "100mbit", "--json"]);
    let client = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary was built");
    wait_for_groups(udt, "inbox/out/deep");
    client
}

/// Sends until a part of the large file has arrived, and presses Ctrl-C then.
fn send_until_interrupted(udt: &Udt, address: &str) {
    let client = start_sending(udt, address);
    interrupt(&client);
    assert_eq!(client.wait_with_output().expect("it ends").status.code(), Some(130));
}

/// From where the large file came last, according to the lines of `--json`.
fn resumed_from(lines: &str) -> u64 {
    let events = lines.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).expect("JSON"));
    let mut begun = events.filter(|event| event["event"] == "started" && event["name"] == "out/deep/large");
    begun.next_back().and_then(|event| event["from"].as_u64()).expect("it begins")
}

/// The server notices it at once, and keeps the received part.
#[test]
fn an_interrupted_client_resumes_where_it_was() {
    let (udt, expected) = place();
    let server = Server::start(&udt, &["inbox", "--writable"], "127.0.0.1:0");
    send_until_interrupted(&udt, &server.address);
    let result = udt.succeed(&["send", "out", "--to", &server.address, "--json"]);
    assert!(resumed_from(&result) >= 4 << 20, "{result}");
    assert_eq!(content(&udt.path().join("inbox")), expected);
}

#[test]
fn an_interrupted_server_keeps_what_has_come() {
    let (udt, expected) = place();
    let serving = ["inbox", "--writable"];
    let mut server = Server::start(&udt, &serving, "127.0.0.1:0");
    let address = server.address.clone();
    let client = start_sending(&udt, &address);
    interrupt(&server.child);
    assert!(server.child.wait().expect("it ends").success());
    let _server = Server::start(&udt, &serving, &address);
    let result = CommandResult::of(&client.wait_with_output().expect("it ends"));
    assert_eq!(result.code, Some(0), "{}", result.err);
    assert!(resumed_from(&result.out) >= 4 << 20, "{}", result.out);
    assert_eq!(content(&udt.path().join("inbox")), expected);
}

#[test]
fn a_change_of_what_is_kept_costs_a_retry_and_nothing_else() {
    let (udt, expected) = place();
    let server = Server::start(&udt, &["inbox", "--writable"], "127.0.0.1:0");
    send_until_interrupted(&udt, &server.address);
    let mut kept =
        fs::read_dir(udt.path().join("inbox/out/deep")).expect("a directory").flatten().map(|entry| entry.path());
    let part = kept.find(|path| path.extension().is_some_and(|extension| extension == "part"));
    let part = fs::OpenOptions::new().write(true).open(part.expect("something is kept")).expect("a file");
    part.write_all_at(b"evil", 1_234_567).expect("a file");
    let result = udt.succeed(&["send", "out", "--to", &server.address, "--json"]);
    assert_eq!(result.matches("\"event\":\"retry\"").count(), 1, "{result}");
    assert_eq!(resumed_from(&result), 1 << 20, "{result}");
    assert_eq!(content(&udt.path().join("inbox")), expected);
}

fn signal(name: &str, process: &Child) {
    let kill = Command::new("kill").args([name, &process.id().to_string()]).status().expect("kill runs");
    assert!(kill.success());
}

/// How long a process takes to end; at most a minute.
fn ends_after(process: &mut Child) -> Duration {
    for polls in 0..3000 {
        if process.try_wait().expect("it is ours").is_some() {
            return Duration::from_millis(20) * polls;
        }
        sleep(Duration::from_millis(20));
    }
    panic!("it does not end");
}

// It is stopped, and neither sends nor closes anything.
#[test]
fn a_server_that_vanished_is_noticed_and_a_signal_ends_its_client() {
    let (udt, _) = place();
    let mut server = Server::start(&udt, &["inbox", "--writable"], "127.0.0.1:0");
    let address = server.address.clone();
    // One of them would wait for the data of the other.
    let start = |what, retries| {
        let arguments = ["send", what, "--to", &address, "--rate-limit", "20mbit", "--retries", retries];
        udt.command(&arguments).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("the binary was built")
    };
    let (mut once, mut patient) = (start("out/deep/large", "0"), start("out", "9"));
    wait_for_groups(&udt, "inbox");
    wait_for_groups(&udt, "inbox/out/deep");
    signal("-STOP", &server.child);
    let took = ends_after(&mut once);
    assert!(took < Duration::from_secs(12), "{took:?}");
    let result = CommandResult::of(&once.wait_with_output().expect("it ends"));
    assert!(result.code == Some(6) && result.err.contains("the peer has timed out"), "{}", result.err);
    // Among attempts to connect and pauses between them.
    let mut says = BufReader::new(patient.stderr.take().expect("it is piped"));
    let mut said = String::new();
    while !said.contains("trying again") {
        assert!(says.read_line(&mut said).expect("its output is text") > 0, "{said}");
    }
    sleep(Duration::from_secs(3));
    signal("-TERM", &patient);
    let took = ends_after(&mut patient);
    assert!(took < Duration::from_secs(2), "{took:?}");
    assert_eq!(patient.wait().expect("it ends").code(), Some(143));
    server.kill();
}

// Its thread waits for data that will not come.
#[test]
fn a_signal_ends_a_server_whose_client_vanished() {
    let (udt, _) = place();
    let mut server = Server::start(&udt, &["inbox", "--writable"], "127.0.0.1:0");
    let arguments = ["send", "out", "--to", &server.address, "--rate-limit", "20mbit"];
    let mut client = udt.command(&arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it was built");
    wait_for_groups(&udt, "inbox/out/deep");
    signal("-STOP", &client);
    sleep(Duration::from_millis(500));
    interrupt(&server.child);
    let took = ends_after(&mut server.child);
    assert!(took < Duration::from_secs(5), "{took:?}");
    client.kill().expect("it can be killed");
    client.wait().expect("it ends");
}

/// Standard error is no terminal here: progress comes as lines.
#[test]
#[expect(clippy::disallowed_methods, reason = "the command's times are those of the system")]
fn progress_without_a_terminal_is_a_line_every_few_seconds() {
    let (udt, _) = place_with(16);
    let server = Server::start(&udt, &["inbox", "--writable"], "127.0.0.1:0");
    let began = Instant::now();
    let result = udt.run(&["send", "out/deep/large", "--to", &server.address, "--rate-limit", "30mbit"]);
    assert_eq!(result.code, Some(0), "{}", result.err);
    let lines: Vec<&str> = result.err.lines().filter(|line| line.contains(" of ") && line.contains("Mbit/s")).collect();
    assert!((1..=began.elapsed().as_secs() / 3).contains(&(lines.len() as u64)), "{}", result.err);
    assert!(
        lines.iter().all(|line| line.contains("Mbit/s with udt, ") && line.contains("limited by")),
        "{}",
        result.err
    );
}

/// A group of a file takes four seconds here.
#[test]
fn progress_on_a_slow_path_moves_at_both_ends_and_the_sender_says_what_limits_it() {
    let (udt, _) = place_with(1);
    fs::create_dir(udt.path().join("copy")).expect("a new directory");
    let slow = ["--rate-limit", "2mbit"];
    let server = Server::start(&udt, &[&["inbox", "--writable"], &slow[..]].concat(), "127.0.0.1:0");
    let address = server.address.as_str();
    let send = [&["send", "out/deep/large", "--to", address, "--json"], &slow[..]].concat();
    let receive = ["recv", address, "large", "--dir", "copy", "--json"];
    for (sends, arguments) in [(true, send.as_slice()), (false, &receive)] {
        let lines = udt.succeed(arguments);
        let events = lines.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).expect("JSON"));
        let progress: Vec<_> = events.filter(|event| event["event"] == "progress").collect();
        let within = |event: &&serde_json::Value| (1..1 << 20).contains(&event["bytes"].as_u64().expect("a number"));
        let mut moved: Vec<_> = progress.iter().filter(within).map(|event| event["bytes"].as_u64()).collect();
        assert!(moved.is_sorted(), "{lines}");
        moved.dedup();
        assert!(moved.len() >= 3, "{lines}");
        assert!(progress.iter().all(|event| event.get("limited_by").is_some() == sends), "{lines}");
    }
}

/// A transfer goes on when progress for people cannot be printed. One whose reader asked for lines ends when the reader is gone.
#[test]
fn a_reader_of_lines_that_is_gone_ends_the_transfer() {
    let (udt, expected) = place();
    let server = Server::start(&udt, &["inbox", "--writable", "--rate-limit", "100mbit"], "127.0.0.1:0");
    let address = server.address.as_str();
    let unread = |arguments: &[&str]| {
        let mut command = udt.command(arguments);
        let mut client = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary was built");
        drop(client.stdout.take());
        CommandResult::of(&client.wait_with_output().expect("it ends"))
    };
    let result = unread(&["send", "out", "--to", address]);
    assert_eq!(result.code, Some(0), "{}", result.err);
    assert_eq!(content(&udt.path().join("inbox")), expected);
    fs::create_dir(udt.path().join("copy")).expect("a new directory");
    let fetch = ["recv", address, "out", "--dir", "copy", "--json"];
    for arguments in [&["send", "out", "--to", address, "--json"][..], &fetch] {
        let result = unread(arguments);
        assert_eq!(result.code, Some(141), "{}", result.err);
        assert_eq!(result.err, "error: the reader of standard output has closed it\n");
    }
    assert!(!udt.path().join("copy/out/deep/large").exists(), "it went on");
    udt.succeed(&fetch);
}
