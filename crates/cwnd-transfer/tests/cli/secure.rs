//! Access to files: who gets them, and who does not.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::UdpSocket;
use std::os::unix::fs::{MetadataExt, symlink};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::Duration;
use std::{fs, thread};

use cwnd_net::UdtStream;
use cwnd_secure::Proof;
use serde_json::Value;

use super::{CODE, CommandResult, SetOnDrop, Udt, wait_until};

/// `udt send` or `udt serve` with `--json`, and what it said first.
struct Sharing {
    child: Child,
    out: BufReader<ChildStdout>,
    ready: Value,
    /// Reads what it says of its clients: one that is not read from waits once the pipe is full.
    said: Option<JoinHandle<String>>,
}

impl Sharing {
    fn start(udt: &Udt, arguments: &[&str]) -> Self {
        let mut command = udt.command(&[arguments, &["--json", "--at", "127.0.0.1:0"]].concat());
        command.env_remove("CWND_CODE");
        Self::of(command)
    }

    fn of(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary was built");
        let mut err = child.stderr.take().expect("it is piped");
        let said = thread::spawn(move || {
            let mut text = String::new();
            err.read_to_string(&mut text).expect("its output is text");
            text
        });
        let mut out = BufReader::new(child.stdout.take().expect("it is piped"));
        let mut line = String::new();
        out.read_line(&mut line).expect("its output is text");
        let ready = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{line}: {error}"));
        Self { child, out, ready, said: Some(said) }
    }

    fn says(&self, key: &str) -> &str {
        self.ready[key].as_str().unwrap_or_else(|| panic!("{key} of {}", self.ready))
    }

    /// Runs a client with this code.
    fn client(&self, udt: &Udt, code: &str, arguments: &[&str]) -> CommandResult {
        let output = udt.command(arguments).env("CWND_CODE", code).output().expect("the binary was built");
        CommandResult::of(&output)
    }

    fn recv(&self, udt: &Udt, code: &str) -> CommandResult {
        self.client(udt, code, &["recv", self.says("address"), "--dir", "inbox"])
    }

    /// Waits until the process ends by itself. Returns its exit code, none if it does not end, and the lines it has printed since.
    fn ends(mut self) -> (Option<i32>, String, String) {
        let (ended, deadline) = mpsc::channel();
        let id = self.child.id().to_string();
        let killer = thread::spawn(move || {
            if deadline.recv_timeout(Duration::from_secs(30)).is_err() {
                let _ = Command::new("kill").args(["-KILL", &id]).status();
            }
        });
        let mut text = String::new();
        self.out.read_to_string(&mut text).expect("its output is text");
        let code = self.child.wait().expect("it ends").code();
        let _ = ended.send(());
        killer.join().expect("it only waits");
        (code, text, self.errors())
    }

    /// Ends the process, and returns the lines it has printed about its clients.
    fn stop(mut self) -> String {
        let killed = Command::new("kill").args(["-INT", &self.child.id().to_string()]).status();
        assert!(killed.expect("kill runs").success());
        self.child.wait().expect("it ends");
        self.errors()
    }

    /// All that it has said of its clients; it has ended.
    fn errors(&mut self) -> String {
        self.said.take().expect("it is asked once").join().expect("it only reads")
    }
}

impl Drop for Sharing {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A directory with something to send, and an inbox.
fn place() -> Udt {
    let udt = Udt::new();
    fs::create_dir_all(udt.path().join("out/deep")).expect("a new directory");
    fs::create_dir(udt.path().join("inbox")).expect("a new directory");
    let large: Vec<u8> = (0..5_u32 << 20).map(|at| (at.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    fs::write(udt.path().join("out/deep/large"), large).expect("room for it");
    fs::write(udt.path().join("out/small"), "small").expect("room for it");
    udt
}

fn has_arrived(udt: &Udt, name: &str, from: &str) -> bool {
    let read = |path: String| fs::read(udt.path().join(path)).ok();
    let arrived = read(format!("inbox/{name}"));
    arrived.is_some() && arrived == read(format!("{from}/{name}"))
}

#[test]
fn who_has_the_code_gets_the_files_and_the_sender_is_done() {
    let udt = place();
    let sender = Sharing::start(&udt, &["send", "out", "out/small"]);
    assert_eq!(sender.says("code").len(), 34);
    let result = sender.recv(&udt, &sender.says("code").to_uppercase().replace('-', ""));
    assert_eq!(result.code, Some(0), "{}", result.err);
    for name in ["out/deep/large", "out/small"] {
        assert!(has_arrived(&udt, name, "."), "{name}");
    }
    assert!(has_arrived(&udt, "small", "out"));
    let (code, out, err) = sender.ends();
    assert_eq!(code, Some(0), "{err}");
    assert!(out.lines().last().is_some_and(|line| line.contains("\"event\":\"ended\"")), "{out}");
}

#[test]
fn several_connections_and_a_choice_by_the_path_are_encrypted_too() {
    let udt = place();
    let sender = Sharing::start(&udt, &["send", "out", "--path", "lossy"]);
    let receive = ["recv", sender.says("address"), "--dir", "inbox", "--streams", "3", "--path", "lossy"];
    let wrong = sender.client(&udt, CODE, &receive);
    assert!(wrong.code == Some(3) && wrong.err.contains("the code is wrong"), "{}", wrong.err);
    assert!(wrong.err.contains("congestion control: bbr, "), "{}", wrong.err);
    let right = sender.client(&udt, sender.says("code"), &receive);
    assert_eq!(right.code, Some(0), "{}", right.err);
    assert!(has_arrived(&udt, "out/deep/large", "."));
    let (code, _, err) = sender.ends();
    assert_eq!(code, Some(0), "{err}");
    assert!(err.contains("congestion control: bbr, ") && err.contains("a wrong code (1 of 5"), "{err}");
    assert!(!err.contains("(2 of 5"), "{err}");
}

#[test]
fn wrong_codes_get_nothing_are_logged_and_limited() {
    let udt = place();
    let server = Sharing::start(&udt, &["serve", "out"]);
    for guess in 1..=5 {
        let result = server.recv(&udt, CODE);
        assert!(result.code == Some(3) && result.err.contains("the code is wrong"), "{guess}: {}", result.err);
    }
    // No proof of this address is looked at any more, not the right one either.
    let result = server.recv(&udt, server.says("code"));
    assert!(result.code == Some(4) && result.err.contains("too many wrong codes"), "{}", result.err);
    assert_eq!(fs::read_dir(udt.path().join("inbox")).expect("a directory").count(), 0);
    let said = server.stop();
    assert_eq!(said.matches("refused, a wrong code").count(), 5, "{said}");
    assert!(said.contains("(5 of 5 from this address)"), "{said}");
}

#[test]
fn one_side_in_the_clear_is_an_error_of_both_and_nothing_passes() {
    let udt = place();
    let secure = Sharing::start(&udt, &["serve", "out"]);
    let result = secure.client(&udt, CODE, &["recv", secure.says("address"), "--dir", "inbox", "--plain"]);
    assert!(result.code == Some(4) && result.err.contains("this server encrypts"), "{}", result.err);
    let said = secure.stop();
    assert!(said.contains("refused, it does not encrypt"), "{said}");

    let plain = Sharing::start(&udt, &["serve", "out", "--plain"]);
    assert!(plain.ready.get("code").is_none());
    let result = plain.recv(&udt, CODE);
    assert!(result.code == Some(4) && result.err.contains("the other side does not encrypt"), "{}", result.err);
    assert!(result.err.contains("--plain, which both sides then need"), "{}", result.err);
    assert_eq!(fs::read_dir(udt.path().join("inbox")).expect("a directory").count(), 0);
    let result = plain.client(&udt, CODE, &["recv", plain.says("address"), "--dir", "inbox", "--plain"]);
    assert_eq!(result.code, Some(0), "{}", result.err);
    assert!(has_arrived(&udt, "small", "out"));
}

#[test]
fn a_code_to_read_is_none_to_write() {
    let udt = place();
    let server = Sharing::start(&udt, &["serve", "inbox", "--writable"]);
    let send = ["send", "out", "--to", server.says("address")];
    let result = server.client(&udt, server.says("code"), &send);
    assert!(result.code == Some(4) && result.err.contains("does not receive files"), "{}", result.err);
    let result = server.client(&udt, server.says("write_code"), &send);
    assert_eq!(result.code, Some(0), "{}", result.err);
    assert!(has_arrived(&udt, "out/deep/large", "."));
}

#[test]
fn a_share_ends_after_a_transfer_or_a_time() {
    let udt = place();
    let once = Sharing::start(&udt, &["serve", "out", "--once"]);
    let result = once.recv(&udt, once.says("code"));
    assert_eq!(result.code, Some(0), "{}", result.err);
    assert_eq!(once.ends().0, Some(0));
    let brief = Sharing::start(&udt, &["serve", "out", "--expires", "300ms"]);
    assert_eq!(brief.ends().0, Some(0));
    let brief = Sharing::start(&udt, &["send", "out", "--expires", "300ms"]);
    let (code, _, err) = brief.ends();
    assert!(code == Some(6) && err.contains("no receiver fetched"), "{err}");
}

#[test]
fn known_keys_are_admitted_with_their_rights_and_others_are_refused() {
    let udt = place();
    let keys = ["server", "reader", "writer", "unknown"].map(|name| udt.succeed(&["key", name]).trim().to_owned());
    assert_eq!(fs::metadata(udt.path().join("reader")).expect("a file").mode() & 0o777, 0o600);
    assert_eq!(udt.succeed(&["key", "reader"]).trim(), keys[1], "it is made once");
    udt.file("friends", &format!("{} read\n{} write\n", keys[1], keys[2]));
    let server = Sharing::start(&udt, &["serve", "inbox", "--writable", "--authorized", "friends", "--key", "server"]);
    assert_eq!(server.says("server_key"), keys[0]);
    let send = |own: &str, expected: &str| {
        let own = ["--key", own, "--server-key", expected];
        udt.run(&[&["send", "out", "--to", server.says("address")], &own[..]].concat())
    };
    for (own, expected, code, says) in [
        ("unknown", &keys[0], 3, "does not know your key"),
        ("reader", &keys[0], 4, "does not receive files"),
        ("writer", &keys[3], 3, "has another key than you expect"),
    ] {
        let result = send(own, expected);
        assert!(result.code == Some(code) && result.err.contains(says), "{own}: {}", result.err);
    }
    let result = server.recv(&udt, CODE);
    assert!(result.err.contains("another kind of proof"), "{}", result.err);
    let result = send("writer", &keys[0]);
    assert_eq!(result.code, Some(0), "{}", result.err);
    assert!(has_arrived(&udt, "out/small", "."));

    fs::set_permissions(udt.path().join("writer"), std::os::unix::fs::PermissionsExt::from_mode(0o640)).expect("ours");
    let result = send("writer", &keys[0]);
    assert!(result.code == Some(2) && result.err.contains("mode 640"), "{}", result.err);
}

/// A writer with a known key that announces one entry, under any name: the kind of the reply, and its reason. None if the server ends the
/// connection.
fn announce(address: &str, proof: &Proof, is_directory: bool, name: &[u8]) -> io::Result<(u8, Option<u8>)> {
    let mut stream = cwnd_secure::connect(UdtStream::connect(address).map_err(io::Error::other)?, proof)?;
    let mut send = |kind: u8, payload: &[u8]| {
        stream.write_all(&[&[kind][..], &(payload.len() as u32).to_le_bytes(), payload].concat())
    };
    send(b'c', &[&b"wndfiles"[..], &[1, 1]].concat())?;
    let (size, mode, times) = (1_u64.to_le_bytes(), 0o644_u32.to_le_bytes(), [0; 12]);
    send(6, &[&[u8::from(is_directory)][..], &size, &mode, &times, name].concat())?;
    send(8, b"")?;
    stream.flush()?;
    let mut receive = || {
        let mut header = [0; 5];
        stream.read_exact(&mut header)?;
        let [kind, length @ ..] = header;
        let mut payload = vec![0; u32::from_le_bytes(length) as usize];
        stream.read_exact(&mut payload)?;
        Ok::<_, io::Error>((kind, payload.first().copied()))
    };
    let _welcome = receive()?;
    receive()
}

#[test]
fn a_writer_with_a_known_key_stays_inside_its_directory() {
    const ACCEPT: u8 = 9;
    const REJECT: u8 = 11;
    let udt = place();
    let at = |name: &str| udt.path().join(name);
    let keys = ["server", "writer"].map(|name| udt.succeed(&["key", name]).trim().to_owned());
    udt.file("friends", &format!("{} write\n", keys[1]));
    fs::create_dir(at("outside")).expect("a new directory");
    symlink(at("outside"), at("inbox/link")).expect("a new link");
    let fifo = Command::new("mkfifo").arg(at("inbox/fifo")).status().expect("there is mkfifo");
    assert!(fifo.success());
    let serve = ["serve", "inbox", "--writable", "--force", "--authorized", "friends", "--key", "server"];
    let server = Sharing::start(&udt, &serve);
    let address = server.says("address");
    let own = fs::read_to_string(at("writer")).expect("a key").trim().parse().expect("a key");
    let proof = Proof::Keys { own, server: keys[0].parse().expect("a key") };
    let reply = |is_directory, name: &[u8]| announce(address, &proof, is_directory, name);
    let accepted = reply(false, b"honest").expect("a writer with the code is admitted");
    assert_eq!(accepted.0, ACCEPT);
    let names: [&[u8]; 9] =
        [b"../escape", b"/escape", b"a/../../escape", b"a//b", b"", b".", b"link/escape", b"fifo", b"nul\0"];
    for name in names {
        for is_directory in [false, true] {
            let reply = reply(is_directory, name);
            let refused = reply.as_ref().map_or(true, |(kind, _)| *kind == REJECT);
            assert!(refused, "{}: {reply:?}", name.escape_ascii());
        }
    }

    // Somebody on the server's host swaps a directory that files go into for a link.
    fs::create_dir(at("many")).expect("a new directory");
    (0..300).for_each(|number| fs::write(at(&format!("many/{number}")), "content").expect("room for it"));
    let (over, swaps) = (AtomicBool::new(false), AtomicU64::new(0));
    thread::scope(|threads| {
        threads.spawn(|| {
            let mut number = 0;
            while !over.load(Ordering::Relaxed) {
                thread::sleep(Duration::from_micros(300));
                let aside = at(&format!("inbox/aside{number}"));
                if fs::rename(at("inbox/many"), &aside).is_err() {
                    continue;
                }
                number += 1;
                swaps.fetch_add(u64::from(symlink(at("outside"), at("inbox/many")).is_ok()), Ordering::Relaxed);
                thread::sleep(Duration::from_micros(100));
                // The server may have made a directory of this name meanwhile.
                let _of_a_link = fs::remove_file(at("inbox/many"));
                let _where_it_is_free = fs::rename(&aside, at("inbox/many"));
            }
        });
        let _over = SetOnDrop(&over);
        for transfers in 0..100 {
            if transfers >= 5 && swaps.load(Ordering::Relaxed) > 10 {
                break;
            }
            let own = ["--key", "writer", "--server-key", &keys[0], "--retries", "0"];
            let _some_may_fail = udt.run(&[&["send", "many", "--to", address], &own[..]].concat());
        }
    });
    assert!(swaps.load(Ordering::Relaxed) > 10, "{swaps:?} swaps");
    // Among the swaps all may have failed.
    udt.run(&["send", "many", "--to", address, "--key", "writer", "--server-key", &keys[0]]);
    let arrived = fs::read_dir(at("inbox")).expect("it is there").map(|entry| entry.expect("readable").path());
    let arrived = arrived.filter(|path| path.is_dir()).map(|path| fs::read_dir(path).map_or(0, Iterator::count));
    assert!(arrived.sum::<usize>() > 0, "none has arrived");
    assert_eq!(fs::read_dir(at("outside")).expect("it is there").count(), 0);
    let mut inside: Vec<_> =
        fs::read_dir(udt.path()).expect("it is there").map(|entry| entry.unwrap().file_name()).collect();
    inside.sort();
    assert!(!inside.iter().any(|name| name == "escape"), "{inside:?}");
}

#[test]
fn the_code_is_asked_for_on_the_terminal_and_is_no_argument() {
    let udt = place();
    let sender = Sharing::start(&udt, &["send", "out"]);
    // Without a terminal and without the variable.
    let mut command = udt.command(&["recv", sender.says("address"), "--dir", "inbox"]);
    let (program, arguments) = (command.get_program().to_owned(), command.get_args().map(ToOwned::to_owned));
    let mut alone = Command::new("setsid");
    alone.arg("--wait").arg(&program).args(arguments).current_dir(udt.path()).env_remove("CWND_CODE");
    let result = CommandResult::of(&alone.output().expect("setsid is there"));
    assert!(result.code == Some(2) && result.err.contains("no code: CWND_CODE is not set"), "{}", result.err);
    assert!(result.err.contains("--plain, which both sides then need"), "{}", result.err);
    let result = CommandResult::of(&command.env("CWND_CODE", "k7m2").output().expect("it was built"));
    assert!(result.code == Some(2) && result.err.contains("CWND_CODE: it has 4 characters"), "{}", result.err);

    // On one, with a slip at first.
    let line = format!("{} recv {} --dir inbox", program.display(), sender.says("address"));
    let mut command = Command::new("script");
    command.args(["-qec", &line, "/dev/null"]).current_dir(udt.path()).env_remove("CWND_CODE");
    let mut terminal = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("script is there");
    let code = sender.says("code");
    let slip = format!("{}{}", if code.starts_with('7') { '8' } else { '7' }, &code[1..]);
    let mut keyboard = terminal.stdin.take().expect("it is piped");
    thread::sleep(Duration::from_millis(300));
    writeln!(keyboard, "{slip}\n{code}").expect("it reads");
    let output = terminal.wait_with_output().expect("it ends");
    drop(keyboard);
    let screen = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && screen.contains("code: "), "{screen}");
    assert!(has_arrived(&udt, "out/small", "."), "{screen}");
}

// Neither a packet of UDT nor a first message of the encryption.
#[test]
fn a_flood_of_garbage_costs_others_little() {
    let udt = place();
    let server = Sharing::start(&udt, &["serve", "out"]);
    let (over, sent) = (AtomicBool::new(false), AtomicU64::new(0));
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a loopback");
    socket.connect(server.says("address")).expect("an address");
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut bytes = [0_u8; 64];
            let mut seed = 28_u64;
            while !over.load(Ordering::Relaxed) {
                for _ in 0..100 {
                    seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    bytes[..8].copy_from_slice(&seed.to_be_bytes());
                    // Every second one is a handshake by its first bytes.
                    if seed & 1 << 40 == 0 {
                        bytes[..4].copy_from_slice(&[0x80, 0, 0, 0]);
                    }
                    sent.fetch_add(u64::from(socket.send(&bytes).is_ok()), Ordering::Relaxed);
                }
                // 100,000 a second, if there is a processor for them.
                thread::sleep(Duration::from_millis(1));
            }
        });
        let _over = SetOnDrop(&over);
        wait_until("a flood", || sent.load(Ordering::Relaxed) > 5000);
        // A server that is descheduled for a while has a socket full of the flood, and a client may get no answer within 3 s.
        let mut results = (0..10).map(|_| server.recv(&udt, server.says("code")));
        let result = results.find(|result| result.code == Some(0) || !result.err.contains("no answer"));
        let result = result.expect("one of ten clients gets an answer");
        assert_eq!(result.code, Some(0), "{}", result.err);
    });
    assert!(has_arrived(&udt, "deep/large", "out"));
    let (said, flood) = (server.stop(), socket.local_addr().expect("it has one").to_string());
    assert!(said.contains(": deep/large, 5242880 bytes") && !said.contains(&flood), "{said}");
}

/// Sends these bytes from standard input.
fn send_input(udt: &Udt, bytes: &[u8]) -> Sharing {
    fs::write(udt.path().join("input"), bytes).expect("room for it");
    let mut shell = Command::new("sh");
    let script = "exec \"$0\" send - --name pipe --json --at 127.0.0.1:0 < input";
    shell.args(["-c", script, udt.program()]).current_dir(udt.path()).env_remove("CWND_CODE");
    Sharing::of(shell)
}

/// Receives to standard output: the process, which has the code.
fn receive_output(udt: &Udt, sender: &Sharing, more: &[&str]) -> Child {
    let mut command = udt.command(&[&["recv", sender.says("address"), "-o", "-"], more].concat());
    command.env("CWND_CODE", sender.says("code")).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().expect("the binary was built")
}

#[test]
fn a_pipe_goes_from_one_side_to_the_other() {
    let udt = place();
    let large = fs::read(udt.path().join("out/deep/large")).expect("a file");
    for bytes in [&large[..], b"some", b""] {
        let sender = send_input(&udt, bytes);
        let output = receive_output(&udt, &sender, &["pipe", "--json"]).wait_with_output().expect("it ends");
        let err = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{err}");
        assert!(output.stdout == bytes, "{} bytes", output.stdout.len());
        assert!(err.lines().all(|line| line.starts_with('{')) && err.contains("\"completed\""), "{err}");
        assert_eq!(sender.ends().0, Some(0));
    }
}

#[test]
fn standard_output_takes_one_file_and_may_be_closed() {
    let udt = place();
    let sender = Sharing::start(&udt, &["serve", "out"]);
    for (names, code) in [(&[][..], 1), (&["deep"], 1), (&["small"], 0), (&["small", "deep/large"], 2)] {
        let output = receive_output(&udt, &sender, names).wait_with_output().expect("it ends");
        let err = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{names:?}: {err}");
        assert_eq!(output.stdout == b"small", code == 0, "{names:?}: {err}");
    }
    let mut receiver = receive_output(&udt, &sender, &["deep/large"]);
    drop(receiver.stdout.take());
    let result = receiver.wait_with_output().expect("it ends");
    let err = String::from_utf8_lossy(&result.stderr);
    assert!(result.status.code() == Some(141) && !err.contains("panicked"), "{err}");
    // A signal ends one whose output nobody reads.
    let mut receiver = receive_output(&udt, &sender, &["deep/large", "--json"]);
    let mut says = BufReader::new(receiver.stderr.take().expect("it is piped"));
    let mut line = String::new();
    while !line.contains("\"started\"") {
        line.clear();
        assert!(says.read_line(&mut line).expect("text") > 0);
    }
    let killed = Command::new("kill").args(["-TERM", &receiver.id().to_string()]).status();
    assert!(killed.expect("kill runs").success());
    assert_eq!(receiver.wait().expect("it ends").code(), Some(143));
}
