//! Servers among clients that only take places.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use cwnd_net::{Options, UdtPort, UdtStream};

use super::{Udt, wait_until};

/// A server that is killed when the test is done with it.
struct Server {
    child: Child,
    address: SocketAddr,
}

impl Server {
    fn start(udt: &Udt, arguments: &[&str]) -> Self {
        let mut child = udt.command(arguments).stderr(Stdio::piped()).spawn().expect("the binary was built");
        let mut says = BufReader::new(child.stderr.take().expect("it is piped"));
        let mut line = String::new();
        says.read_line(&mut line).expect("its output is text");
        let mut words = line.split([' ', ',']).filter_map(|word| word.trim().parse().ok());
        let address = words.next().unwrap_or_else(|| panic!("{line}"));
        // Its lines about each client are read, so that it can continue.
        thread::spawn(move || says.lines().for_each(drop));
        Self { child, address }
    }

    /// The value of the line that begins with `field` in the status of the process.
    fn status(&self, field: &str) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).expect("it runs");
        let line = status.lines().find_map(|line| line.strip_prefix(field)).expect("a field of Linux");
        line.trim_start_matches(':').trim().trim_end_matches(" kB").parse().expect("a number")
    }

    /// Bounds the addresses that its process may map, in bytes.
    fn limit_memory(&self, bytes: &str) {
        let arguments = ["--pid", &self.child.id().to_string(), &format!("--as={bytes}:unlimited")];
        assert!(Command::new("prlimit").args(arguments).status().expect("util-linux is there").success());
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Connections from each of `addresses` addresses, as many as are accepted of `each`, which only keep themselves alive.
fn idle(server: SocketAddr, addresses: u8, each: usize) -> Vec<Vec<UdtStream>> {
    let connect = |host| {
        let port = UdtPort::bind(SocketAddr::from(([127, 0, 9, host], 0)), &Options::default()).expect("a loopback");
        (0..each).filter_map(|_| port.connect(server).ok()).collect()
    };
    (1..=addresses).map(connect).collect()
}

fn alive<'a>(streams: impl IntoIterator<Item = &'a Vec<UdtStream>>) -> usize {
    streams.into_iter().flatten().filter(|stream| stream.stats().is_some()).count()
}

// 701 connections from one socket once ended it, for lack of threads.
#[test]
fn a_server_of_measurements_has_so_many_clients() {
    let udt = Udt::new();
    let server = Server::start(&udt, &["perf", "--server", "127.0.0.1:0"]);
    let address = server.address.to_string();
    let crowd = idle(server.address, 1, 200);
    wait_until("16 clients of one address", || alive(&crowd) <= 16);
    let others = idle(server.address, 6, 20);
    wait_until("64 clients", || alive(others.iter().chain(&crowd)) <= 64);
    wait_until("64 threads, and those of the server", || server.status("Threads") <= 64 + 8);
    udt.succeed(&["perf", &address, "--bytes", "1MB"]);
    crowd.into_iter().chain(others).flatten().for_each(UdtStream::abort);
}

// 64 of them from one socket once left no place for anybody.
#[test]
fn clients_that_request_nothing_hold_no_place() {
    let udt = Udt::new();
    fs::write(udt.path().join("file"), "content").expect("room for it");
    fs::create_dir(udt.path().join("inbox")).expect("a new directory");
    let server = Server::start(&udt, &["serve", "--at", "127.0.0.1:0"]);
    let address = server.address.to_string();
    // On a machine that is busy all may have been dropped, after 30 s, before the client came: then once more.
    let made_room = (0..5).any(|_| {
        let crowd = idle(server.address, 6, 20);
        wait_until("64 clients", || alive(&crowd) <= 64);
        let before = alive(&crowd);
        udt.succeed(&["recv", &address, "file", "--dir", "inbox", "--force"]);
        assert_eq!(fs::read_to_string(udt.path().join("inbox/file")).expect("a file"), "content");
        fs::remove_file(udt.path().join("inbox/file")).expect("a file");
        let after = alive(&crowd);
        crowd.into_iter().flatten().for_each(UdtStream::abort);
        before >= 48 && after >= 47
    });
    assert!(made_room, "one makes room, and the others stay");
}

#[test]
fn who_finds_no_place_is_told_to_try_again_and_finds_one_later() {
    let udt = Udt::new();
    let server = Server::start(&udt, &["perf", "--server", "127.0.0.1:0"]);
    let address = server.address.to_string();
    // As many as one address may have, each of which waits for more than it takes.
    let request = br#"{"perf":1,"reverse":true,"until":{"bytes":18446744073709551615}}"#;
    let request = [&(request.len() as u32).to_be_bytes()[..], request].concat();
    let busy: Vec<_> = (0..16)
        .map(|_| {
            let mut stream =
                UdtStream::connect_with(server.address, &Options::default().receive_buffer(64)).expect("a place");
            stream.write_all(&request).expect("it is open");
            stream.read_exact(&mut [0; 1000]).expect("it is served");
            stream
        })
        .collect();
    let measure = || udt.run(&["perf", &address, "--bytes", "1MB"]);
    let error = measure().err;
    assert!(error.contains("may be full, try again"), "{error}");
    assert_eq!(busy.iter().filter(|stream| stream.stats().is_some()).count(), 16, "its own transfers go on");
    busy.into_iter().for_each(UdtStream::abort);
    wait_until("a place", || measure().code == Some(0));
}

// It once ended.
#[test]
fn a_server_that_can_start_no_thread_drops_the_client_and_goes_on() {
    let udt = Udt::new();
    udt.file("file", "content");
    fs::create_dir(udt.path().join("inbox")).expect("a new directory");
    for arguments in [&["perf", "--server", "127.0.0.1:0"][..], &["serve", "--at", "127.0.0.1:0"]] {
        let server = Server::start(&udt, arguments);
        // The stack of a thread takes 2 MiB of addresses.
        server.limit_memory(&(server.status("VmSize") * 1024 + (1 << 20)).to_string());
        let refused = idle(server.address, 1, 3);
        wait_until("no client", || alive(&refused) == 0);
        server.limit_memory("unlimited");
        let address = server.address.to_string();
        match arguments[0] {
            "perf" => udt.succeed(&["perf", &address, "--bytes", "1MB"]),
            _ => udt.succeed(&["recv", &address, "file", "--dir", "inbox"]),
        };
    }
}

// A client of `--libudt` that read nothing was still there after 45 s.
#[test]
#[expect(clippy::disallowed_methods, reason = "the servers' times are those of the system")]
fn who_requests_nothing_or_reads_nothing_is_dropped_after_half_a_minute() {
    let udt = Udt::new();
    let large = fs::File::create(udt.path().join("large")).expect("room for a name");
    large.set_len(400_000_000).expect("a file with a hole");
    let start = |arguments: &[&str]| Server::start(&udt, &[arguments, &["127.0.0.1:0"]].concat());
    let perf = start(&["perf", "--server"]);
    let plain = start(&["serve", "--plain", "--at"]);
    let encrypted = start(&["serve", "--at"]);
    let demo = start(&["serve", "--libudt", "--at"]);
    // It is full after some packets; until then a client counts as one that reads.
    let options = Options::default().receive_buffer(64);
    let connect = |server: &Server| UdtStream::connect_with(server.address, &options).expect("it has room");
    let mut clients = [&perf, &plain, &encrypted, &demo, &demo].map(connect);
    let [.., reader] = &mut clients;
    reader.write_all(&[5, 0, 0, 0]).and_then(|()| reader.write_all(b"large")).expect("a request");
    let connected = Instant::now();
    for (at, client) in clients.iter().enumerate() {
        while client.stats().is_some() {
            assert!(connected.elapsed() < Duration::from_secs(120), "client {at} is still there");
            thread::sleep(Duration::from_millis(100));
        }
        assert!(connected.elapsed() > Duration::from_secs(25), "client {at} had too little time");
    }
}
