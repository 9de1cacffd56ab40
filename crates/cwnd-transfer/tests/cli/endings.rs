//! How commands that use the network end: the exit code, and the last line of `--json`.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::net::UdpSocket;
use std::process::{Command, Stdio};

use serde_json::Value;

use super::started::Started;
use super::{SIGNALS, Udt, is_ignored, wait_until};

/// Checks that the last line, and no other, is the object of a failure of this kind.
fn check(what: &str, code: Option<i32>, out: &str, kind: &str, exit: i32) {
    let lines: Vec<Value> = out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{what}: {line}: {error}")))
        .collect();
    let last = lines.last().unwrap_or_else(|| panic!("{what}: no line"));
    assert_eq!(lines.iter().filter(|line| line["event"] == "error").count(), 1, "{what}: {out}");
    assert_eq!(
        (&last["event"], &last["kind"], &last["exit"]),
        (&"error".into(), &kind.into(), &exit.into()),
        "{what}: {out}"
    );
    assert!(last["error"].as_str().is_some_and(|text| !text.is_empty()), "{what}: {out}");
    assert_eq!(code, Some(exit), "{what}: {out}");
}

/// Two files to send, and an inbox.
fn place() -> Udt {
    let udt = Udt::new();
    fs::create_dir(udt.path().join("out")).expect("a new directory");
    fs::create_dir(udt.path().join("inbox")).expect("a new directory");
    fs::write(udt.path().join("out/large"), vec![7; 40 << 20]).expect("room for it");
    fs::write(udt.path().join("out/small"), "small").expect("room for it");
    udt
}

/// Every command that uses the network, with arguments that it takes.
const COMMANDS: [&[&str]; 8] = [
    &["send", "out"],
    &["recv", "127.0.0.1:9"],
    &["serve", "out"],
    &["meet", "127.0.0.1:0"],
    &["link", "--tun", "--", "true"],
    &["send", "out", "--to", "127.0.0.1:9"],
    &["perf", "127.0.0.1:9"],
    &["link", "127.0.0.1:0", "127.0.0.1:9"],
];

#[test]
fn arguments_that_are_refused_end_json_with_an_object() {
    let udt = place();
    for command in COMMANDS {
        let (words, rest) = command.split_at(1);
        for wrong in ["--nonsense", "--mss=1", "--rate=fast"] {
            let result = udt.run(&[words, &["--json", wrong], rest].concat());
            check(&format!("{command:?} {wrong}"), result.code, &result.out, "usage", 2);
        }
    }
}

#[test]
fn each_kind_of_failure_has_its_code_and_its_object() {
    let udt = place();
    let server = Started::new(&udt, &["serve", "out", "--at", "127.0.0.1:0", "--json"]);
    let (silent, address) = (UdpSocket::bind("127.0.0.1:0").expect("a port"), server.address());
    let nobody = silent.local_addr().expect("it has one").to_string();
    let run = |arguments: &[&str]| udt.run(&[arguments, &["--json"]].concat());
    let mut other = udt.command(&["serve", "out", "--at", "127.0.0.1:0", "--json"]);
    other.env_remove("CWND_CODE");
    let other = Started::of(other);
    let full = udt.run_on_a_full_disk(&["recv", address, "--dir", "inbox", "--retries", "0", "--json"]);
    for (result, kind, exit) in [
        (run(&["recv", address, "nothing", "--dir", "inbox"]), "failed", 1),
        (run(&["recv", other.address(), "--dir", "inbox"]), "unproven", 3),
        (run(&["recv", address, "--plain", "--dir", "inbox"]), "refused", 4),
        (run(&["send", "out", "--to", address]), "refused", 4),
        (run(&["recv", &nobody, "--dir", "inbox"]), "no_answer", 6),
        (run(&["recv", "--meet", &nobody, "--dir", "inbox"]), "no_answer", 6),
        (run(&["send", "out", "--meet", &nobody]), "no_answer", 6),
        (run(&["send", "out", "--to", &nobody]), "no_answer", 6),
        (run(&["perf", &nobody]), "no_answer", 6),
        (run(&["send", "nothing"]), "file", 7),
        (run(&["send", "nothing", "--to", address]), "file", 7),
        (run(&["recv", address, "--dir", "nothing"]), "file", 7),
        (run(&["serve", "nothing"]), "file", 7),
        (run(&["serve", "nothing", "--libudt"]), "file", 7),
        (full, "file", 7),
        (run(&["send", "out", "--expires", "100ms"]), "no_answer", 6),
    ] {
        let out = if result.out.starts_with("{\"event\":\"ready\"") {
            result.out.split_once('\n').expect("lines").1
        } else {
            &result.out
        };
        check(&format!("{kind}: {}", result.err), result.code, out, kind, exit);
    }
}

/// Parses lines of JSON, and finds the event of this name.
fn event(lines: &str, name: &str) -> Option<Value> {
    let mut lines = lines.lines().map(|line| serde_json::from_str::<Value>(line).expect("a line of JSON"));
    lines.find(|line| line["event"] == name)
}

#[test]
fn a_disk_without_room_ends_a_receiver_with_its_code_and_its_report() {
    let udt = place();
    let huge = fs::File::create(udt.path().join("out/huge")).expect("room for a name");
    // Holes, more than any disk has room for.
    huge.set_len(1 << 42).expect("a file with a hole");
    let server = Started::new(&udt, &["serve", "out", "--at", "127.0.0.1:0", "--json"]);
    // Full from the start, and full in the middle.
    let none = udt.run(&["recv", server.address(), "huge", "small", "--dir", "inbox", "--json"]);
    let end = event(&none.out, "ended").unwrap_or_else(|| panic!("no end: {}{}", none.out, none.err));
    assert_eq!((&end["completed"], &end["failed"]), (&1.into(), &1.into()), "{end}");
    check("full from the start", none.code, &none.out, "file", 7);
    let receive = ["recv", server.address(), "large", "small", "--dir", "inbox", "--retries", "0", "--json", "--force"];
    let full = udt.run_on_a_full_disk(&receive);
    let end = event(&full.out, "ended").unwrap_or_else(|| panic!("no end: {}{}", full.out, full.err));
    assert_eq!(end["failed"], 1, "{end}");
    check("full in the middle", full.code, &full.out, "file", 7);
}

/// Whoever reads neither standard error nor standard output gets the code of the failure.
#[test]
fn a_command_that_cannot_say_anything_has_its_code() {
    let udt = place();
    let full = || fs::File::options().write(true).open("/dev/full").expect("a device of Linux");
    for arguments in [&["send", "nothing", "--json"][..], &["perf", "nothing"], &["doctor", "["]] {
        let output = udt.command(arguments).stderr(full()).output().expect("it runs");
        let text = String::from_utf8_lossy(&output.stdout);
        match arguments[0] {
            "send" => check("standard error is full", output.status.code(), &text, "file", 7),
            _ => assert_eq!(output.status.code(), Some(2), "{arguments:?}: {text}"),
        }
    }
    for (arguments, code) in [(&["send", "out", "--json"][..], 7), (&["meet", "127.0.0.1:0", "--json"], 7)] {
        let mut child = udt.command(arguments).stdout(full()).stderr(Stdio::null()).spawn().expect("it runs");
        assert_eq!(child.wait().expect("it ends").code(), Some(code), "{arguments:?}");
    }
    assert_eq!(udt.command(&["key", "own"]).stdout(full()).output().expect("it runs").status.code(), Some(1));
}

#[test]
fn two_files_of_one_name_are_refused_before_anybody_comes() {
    let udt = place();
    fs::write(udt.path().join("small"), "another").expect("room for it");
    let refused = udt.run(&["send", "out/small", "small", "--json"]);
    check("one name twice", refused.code, &refused.out, "usage", 2);
    assert!(refused.err.contains("small: has the name of out/small"), "{}", refused.err);
}

/// A path that cannot be read ends a sender before anybody can come for it.
#[test]
fn a_sender_does_not_wait_with_what_it_cannot_read() {
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::net::UnixListener;
    use std::os::unix::process::CommandExt;

    let udt = place();
    let path = |name: &str| udt.path().join(name);
    let allow = |name: &str, mode| fs::set_permissions(path(name), fs::Permissions::from_mode(mode)).expect("ours");
    udt.file("secret", "secret");
    fs::create_dir(path("closed")).expect("a new directory");
    let _listener = UnixListener::bind(path("socket")).expect("a socket");
    assert!(Command::new("mkfifo").arg(path("pipe")).status().expect("mkfifo runs").success());
    ["secret", "closed"].into_iter().for_each(|name| allow(name, 0));
    allow("", 0o755);
    // Root may read everything.
    let binary = path("udt");
    fs::copy(udt.program(), &binary).expect("room for it");
    let is_root = fs::read(path("secret")).is_ok();
    for name in ["secret", "closed", "pipe", "socket", "/dev/null", "nothing"] {
        for command in [&["send", name, "--json"][..], &["send", name, "--to", "127.0.0.1:9", "--json"]] {
            let mut command = {
                let ours = udt.command(command);
                let mut theirs = Command::new(&binary);
                theirs.args(ours.get_args()).current_dir(udt.path()).env("CWND_CODE", super::CODE);
                theirs
            };
            if is_root {
                command.uid(65_534).gid(65_534);
            }
            let result = super::CommandResult::of(&command.output().expect("it was copied"));
            check(&format!("{name}: {}", result.err), result.code, &result.out, "file", 7);
            assert!(!result.out.contains("ready"), "{name}: {}", result.out);
        }
    }
}

/// The first line waits for its reader here, so that the signal comes before anything else that the command does.
#[test]
fn a_signal_that_comes_with_the_first_line_ends_json_with_an_object() {
    use std::io::Write;
    use std::os::fd::OwnedFd;
    use std::os::unix::net::UnixStream;

    let udt = place();
    for command in [&["send", "out", "--at", "127.0.0.1:0", "--path", "own", "--json"][..]] {
        let (mut reader, writer) = UnixStream::pair().expect("two ends");
        // Until it is full.
        writer.set_nonblocking(true).expect("an option");
        let mut filled = 0;
        while let Ok(written) = (&writer).write(&[b' '; 4096]) {
            filled += written;
        }
        writer.set_nonblocking(false).expect("an option");
        let mut started = udt.command(command);
        let child = started.stdout(OwnedFd::from(writer)).stderr(Stdio::piped()).spawn();
        let mut child = child.expect("the binary was built");
        // It has the other end too.
        drop(started);
        let mut line = String::new();
        let mut says = BufReader::new(child.stderr.take().expect("it is piped"));
        says.read_line(&mut line).expect("its output is text");
        assert!(line.starts_with("congestion control"), "{line}");
        let kill = Command::new("kill").args(["-TERM", &child.id().to_string()]).status().expect("kill runs");
        assert!(kill.success());
        reader.read_exact(&mut vec![0; filled]).expect("what was filled");
        let mut out = String::new();
        reader.read_to_string(&mut out).expect("its output is text");
        check(&format!("{command:?}"), child.wait().expect("it ends").code(), &out, "interrupted", 143);
    }
}

/// A signal that comes when the one measurement has ended well, as of a script that cleans up, is no failure of it.
#[test]
fn a_server_for_one_measurement_ends_well_whatever_signal_comes_after_it() {
    let udt = place();
    let mut server = udt.command(&["perf", "--server", "127.0.0.1:0", "--one-off", "--json"]);
    let mut server = server.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary was built");
    let mut line = String::new();
    let mut says = BufReader::new(server.stderr.take().expect("it is piped"));
    says.read_line(&mut line).expect("its output is text");
    let address = line.split([' ', ',']).find(|word| word.starts_with("127.")).expect("an address");
    udt.succeed(&["perf", address, "--bytes", "1MB"]);
    let _gone_perhaps = Command::new("kill").args(["-INT", &server.id().to_string()]).output();
    let mut out = String::new();
    server.stdout.take().expect("it is piped").read_to_string(&mut out).expect("its output is text");
    assert_eq!(server.wait().expect("it ends").code(), Some(0), "{out}");
    assert!(out.contains("\"bytes\""), "{out}");
}

/// At an address, and at a meeting place.
#[test]
fn a_second_receiver_is_told_at_once_and_the_first_goes_on() {
    let udt = place();
    let meeting_place = Started::new(&udt, &["meet", "127.0.0.1:0", "--json"]);
    let met = meeting_place.address();
    for (send, receive) in [(&["--at", "127.0.0.1:0"][..], &[][..]), (&["--meet", met], &["--meet"])] {
        let sender = Started::new(&udt, &[&["send", "out", "--rate-limit", "60mbit", "--json"], send].concat());
        let receive = [&["recv", sender.address(), "--force", "--dir", "inbox", "--json"], receive].concat();
        let mut first = Started::new(&udt, &receive);
        first.read_until("started");
        let second = udt.run(&receive);
        let lines: Vec<&str> = second.out.lines().filter(|line| !line.contains("\"event\":\"met\"")).collect();
        check(&second.err, second.code, &lines.join("\n"), "busy", 5);
        assert_eq!(lines.len(), 1, "{}", second.out);
        first.child.kill().expect("it can be killed");
        let (_, out) = first.ends();
        assert!(!out.contains("retry") && !out.contains("\"event\":\"error\""), "{out}");
        // A client that is started again takes the place of the first.
        let mut again = Started::new(&udt, &receive);
        again.read_until("started");
        let (code, out) = again.ends();
        assert!(code == Some(0) && !out.contains("retry"), "{out}");
        assert_eq!(sender.ends().0, Some(0));
        fs::remove_dir_all(udt.path().join("inbox/out")).expect("it has come");
    }
}

#[test]
fn a_signal_ends_a_client_with_its_code_and_a_server_with_none() {
    let udt = place();
    for (signal, exit) in SIGNALS.into_iter().filter(|(signal, _)| !is_ignored(signal)) {
        let sender = Started::new(&udt, &["send", "out", "--at", "127.0.0.1:0", "--rate-limit", "20mbit", "--json"]);
        let receiver = Started::new(&udt, &["recv", sender.address(), "--dir", "inbox", "--retries", "0", "--json"]);
        receiver.signal(signal);
        sender.signal(signal);
        for one in [receiver, sender] {
            let (code, out) = one.ends();
            check(signal, code, &out, "interrupted", exit);
        }
        for command in [&["serve", "out", "--at", "127.0.0.1:0", "--json"][..], &["meet", "127.0.0.1:0", "--json"]] {
            let server = Started::new(&udt, command);
            server.signal(signal);
            assert_eq!(server.ends(), (Some(0), String::new()), "{signal} {command:?}");
        }
    }
}

/// Whether a process is there, and is no zombie that nobody has waited for yet.
fn lives(id: &str) -> bool {
    let state = fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    !state.is_empty() && !state.contains(") Z ")
}

/// The processes of a group.
fn group(id: u32) -> Vec<String> {
    let listed = Command::new("ps").args(["-e", "-o", "pid=,pgid=,stat="]).output().expect("ps runs");
    let lines = String::from_utf8(listed.stdout).expect("text");
    let members = lines.lines().filter_map(|line| {
        let [process, group, state] = line.split_whitespace().collect::<Vec<_>>()[..] else { return None };
        (group == id.to_string() && !state.starts_with('Z')).then(|| process.to_owned())
    });
    members.collect()
}

#[test]
fn a_signal_leaves_no_process() {
    use std::os::unix::process::CommandExt;
    let udt = place();
    let servers: [&[&str]; 6] = [
        &["send", "out", "--at", "127.0.0.1:0"],
        &["serve", "out", "--at", "127.0.0.1:0"],
        &["meet", "127.0.0.1:0"],
        &["perf", "--server", "127.0.0.1:0"],
        &["perf", "--server", "127.0.0.1:0", "--one-off"],
        &["link", "127.0.0.1:0", "127.0.0.1:9"],
    ];
    for command in servers {
        for (signal, _) in SIGNALS.into_iter().filter(|(signal, _)| !is_ignored(signal)) {
            let mut child = udt.command(command);
            let child = child.process_group(0).stdout(Stdio::null()).stderr(Stdio::piped()).spawn();
            let mut child = child.expect("the binary was built");
            let mut line = String::new();
            let mut says = BufReader::new(child.stderr.take().expect("it is piped"));
            says.read_line(&mut line).expect("its output is text");
            let kill = Command::new("kill").args([signal, &child.id().to_string()]).status().expect("kill runs");
            assert!(kill.success());
            child.wait().expect("it ends");
            assert_eq!(group(child.id()), Vec::<String>::new(), "{command:?} {signal}");
        }
    }
}

/// The programs of a link have groups of their own, and end with it.
#[test]
fn a_signal_ends_the_programs_of_a_link() {
    let udt = place();
    if udt.run(&["link", "--tun", "--", "true"]).code != Some(0) {
        // It needs root and a device.
        return;
    }
    udt.file("program.sh", "sleep 1000 & echo $! > $1.new; mv $1.new $1; wait");
    let link = ["link", "--tun", "--server", "sh program.sh server", "--", "sh", "program.sh", "client"];
    for signal in ["-INT", "-TERM"] {
        let mut child = udt.command(&link).stderr(Stdio::null()).spawn().expect("the binary was built");
        let id = |name: &str| fs::read_to_string(udt.path().join(name)).map(|text| text.trim().to_owned());
        wait_until("both programs run", || id("server").is_ok() && id("client").is_ok());
        let programs = [id("server"), id("client")].map(|id| id.expect("it is there"));
        let kill = Command::new("kill").args([signal, &child.id().to_string()]).status().expect("kill runs");
        assert!(kill.success());
        child.wait().expect("it ends");
        assert!(!programs.iter().any(|id| lives(id)), "{signal}");
        for name in ["server", "client"] {
            fs::remove_file(udt.path().join(name)).expect("it is there");
        }
    }
}

/// Verified data stays for the next time, and nothing else.
#[test]
fn a_signal_leaves_only_what_can_be_resumed() {
    for (rate, stays) in [("1mbit", false), ("60mbit", true)] {
        for (signal, _) in SIGNALS.into_iter().filter(|(signal, _)| !is_ignored(signal)) {
            let udt = place();
            fs::remove_file(udt.path().join("out/small")).expect("it is there");
            let server = Started::new(&udt, &["serve", "out", "--at", "127.0.0.1:0", "--json", "--rate-limit", rate]);
            let receive = ["recv", server.address(), "--dir", "inbox", "--json", "--retries", "0"];
            let mut receiver = Started::new(&udt, &receive);
            receiver.read_until("started");
            let length = || {
                let parts = fs::read_dir(udt.path().join("inbox")).expect("a directory").flatten();
                parts.filter_map(|part| Some(part.metadata().ok()?.len())).max().unwrap_or(0)
            };
            wait_until("five groups have come", || !stays || length() >= 5 << 20);
            receiver.signal(signal);
            receiver.ends();
            let mut left: Vec<String> = udt.files().into_iter().filter(|file| file.starts_with("inbox/")).collect();
            left.retain(|file| !file.ends_with(".journal") && !file.ends_with(".part"));
            assert_eq!(left, Vec::<String>::new());
            let kept = udt.files().iter().filter(|file| file.ends_with(".part") || file.ends_with(".journal")).count();
            assert_eq!(kept, if stays { 2 } else { 0 }, "{rate} {signal}");
            if stays && signal == "-TERM" {
                let resumed = udt.succeed(&receive);
                assert!(!resumed.contains("\"from\":0,") && !resumed.contains("\"from\":0}"), "{resumed}");
                assert_eq!(udt.files().iter().filter(|file| file.starts_with("inbox/")).count(), 1);
            }
        }
    }
}
