//! The server as its visitors meet it: admission, the limits of each visitor, and when a run ends.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use cwnd_live::{Limits, Server};
use serde_json::{Value, json};
use socket2::{Domain, Socket, Type};
use tungstenite::protocol::Role;
use tungstenite::{Message, WebSocket};

/// A server on the loopback that ends with this.
struct Running {
    address: SocketAddr,
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Running {
    fn with(limits: Limits) -> Self {
        let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let server = Server::bind(any, Some(TOKEN.to_string()), limits).expect("the loopback has a free port");
        let url = server.url();
        let address = url.trim_start_matches("http://").trim_end_matches("/token/").parse().expect("an address");
        let over = Arc::new(AtomicBool::new(false));
        let thread = thread::spawn({
            let over = Arc::clone(&over);
            move || server.serve(|| !over.load(Ordering::Relaxed))
        });
        Self { address, over, thread: Some(thread) }
    }

    /// A connection from `last` of 127.0.0.0/24.
    fn connect_from(&self, last: u8) -> TcpStream {
        let socket = Socket::new(Domain::IPV4, Type::STREAM, None).expect("the loopback works");
        socket.bind(&SocketAddr::from(([127, 0, 0, last], 0)).into()).expect("the loopback works");
        socket.connect(&self.address.into()).expect("the loopback works");
        let stream = TcpStream::from(socket);
        stream.set_read_timeout(Some(PATIENCE)).expect("a time that is not zero");
        stream
    }

    fn connect(&self) -> TcpStream {
        self.connect_from(1)
    }

    /// The whole answer to a request whose lines end with a line feed.
    fn ask(&self, request: &str) -> String {
        let mut stream = self.connect();
        // One that is refused before its end may be closed before its end.
        let _ = stream.write_all(request.replace('\n', "\r\n").as_bytes());
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        String::from_utf8_lossy(&answer).into_owned()
    }

    fn status(&self, request: &str) -> u16 {
        let answer = self.ask(request);
        answer.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or_else(|| panic!("{request}: {answer}"))
    }

    fn report(&self, scenario: &str) -> String {
        let Self { address, .. } = self;
        let length = "toml=".len() + scenario.len() + scenario.matches('\n').count();
        self.ask(&format!(
            "POST /token/report HTTP/1.1\nHost: {address}\nOrigin: http://{address}\nContent-Length: {length}\n\ntoml={scenario}"
        ))
    }

    fn visit(&self) -> Visitor {
        self.visit_from(1)
    }

    fn visit_from(&self, last: u8) -> Visitor {
        Visitor::over(self.connect_from(last), self.address)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        let ended = self.thread.take().expect("only dropped once").join();
        assert!(ended.is_ok() || thread::panicking(), "the server panicked");
    }
}

/// A page that is open somewhere.
struct Visitor(WebSocket<TcpStream>);

impl Visitor {
    fn over(mut stream: TcpStream, address: SocketAddr) -> Self {
        let request = format!("GET /token/ws HTTP/1.1\nHost: {address}\nOrigin: http://{address}\n{UPGRADE}\n");
        stream.write_all(request.replace('\n', "\r\n").as_bytes()).expect("the loopback works");
        let mut head = Vec::new();
        let mut byte = [0];
        while !head.ends_with(b"\r\n\r\n") {
            stream.read_exact(&mut byte).expect("the loopback works");
            head.push(byte[0]);
        }
        assert!(head.starts_with(b"HTTP/1.1 101 "), "{}", String::from_utf8_lossy(&head));
        let mut visitor = Self(WebSocket::from_raw_socket(stream, Role::Client, None));
        visitor.until("hello");
        visitor
    }

    fn send(&mut self, request: &Value) {
        self.0.send(Message::text(request.to_string())).expect("the loopback works");
    }

    fn run(&mut self, id: u32, document: &Value) {
        self.send(&json!({ "do": "run", "id": id, "document": document }));
    }

    /// The header of the next answer, and its columns.
    fn next(&mut self) -> (Value, Vec<f32>) {
        let message = self.0.read().unwrap_or_else(|error| panic!("no answer came: {error}"));
        let Message::Binary(bytes) = message else { panic!("{message:?}") };
        decode(&bytes)
    }

    /// The next frame of data, skipping pings in between.
    fn next_data(&mut self) -> (Value, Vec<f32>) {
        loop {
            if let Message::Binary(bytes) = self.0.read().expect("it is answered") {
                return decode(&bytes);
            }
        }
    }

    /// The next answer of a kind; those before it are passed over.
    fn until(&mut self, kind: &str) -> Value {
        loop {
            let (header, _) = self.next();
            if header["kind"] == kind {
                return header;
            }
            assert!(header["kind"] != "error", "{header}");
        }
    }

    /// The message of the next answer, an error, skipping `started`.
    fn error(&mut self) -> String {
        loop {
            let (header, _) = self.next();
            match header["kind"].as_str() {
                Some("error") => return header["message"].as_str().expect("a text").to_string(),
                Some("started" | "curves") => {}
                _ => panic!("{header}"),
            }
        }
    }

    /// Whether nothing comes for a while.
    fn receives_nothing(&mut self) -> bool {
        self.0.get_ref().set_read_timeout(Some(Duration::from_millis(300))).expect("a time that is not zero");
        let heard = self.0.read();
        self.0.get_ref().set_read_timeout(Some(PATIENCE)).expect("a time that is not zero");
        matches!(heard, Err(tungstenite::Error::Io(error)) if [ErrorKind::WouldBlock, ErrorKind::TimedOut].contains(&error.kind()))
    }

    /// Whether the server has closed the connection.
    fn is_closed(&mut self) -> bool {
        loop {
            match self.0.read() {
                Ok(Message::Close(_)) => return true,
                Ok(_) => {}
                Err(tungstenite::Error::Io(error)) => {
                    return ![ErrorKind::WouldBlock, ErrorKind::TimedOut].contains(&error.kind());
                }
                Err(_) => return true,
            }
        }
    }
}

/// The header of an answer, and its columns one after the other.
fn decode(bytes: &[u8]) -> (Value, Vec<f32>) {
    let length = u32::from_le_bytes(bytes[..4].try_into().expect("four bytes")) as usize;
    let header = serde_json::from_slice(&bytes[4..4 + length]).expect("a header");
    let (numbers, rest) = bytes[(4 + length).next_multiple_of(4)..].as_chunks::<4>();
    assert!(rest.is_empty());
    (header, numbers.iter().map(|number| f32::from_le_bytes(*number)).collect())
}

/// Done in a few milliseconds.
fn short() -> Value {
    json!({ "duration": "2s", "warmup": "1s", "seeds": 3, "dumbbell": { "rate": "5mbit" }, "flow": [{ "algorithm": "reno" }] })
}

/// Takes hours.
fn endless() -> Value {
    json!({ "duration": "2000s", "seeds": 100, "dumbbell": { "rate": "1gbit" }, "flow": [{ "algorithm": "cubic", "count": 4 }] })
}

/// The limits of one user, with time for a busy machine.
fn limits() -> Limits {
    Limits { time: Duration::from_secs(600), ..Limits::of_one_user(4 << 30) }
}

#[test]
fn strangers_are_refused() {
    let server = Running::with(limits());
    let Running { address, .. } = server;
    let host = format!("Host: {address}");
    let own = format!("{host}\nOrigin: http://{address}");
    let port = address.port();
    for (request, status) in [
        (format!("GET /token/ HTTP/1.1\n{host}\n\n"), 200),
        (format!("GET /token/live.js HTTP/1.1\n{host}\n\n"), 200),
        (format!("GET /token HTTP/1.1\n{host}\n\n"), 307),
        (format!("GET / HTTP/1.1\n{host}\n\n"), 404),
        (format!("GET /live.js HTTP/1.1\n{host}\n\n"), 404),
        (format!("GET /tokem/ HTTP/1.1\n{host}\n\n"), 404),
        (format!("GET /token/../token/ HTTP/1.1\n{host}\n\n"), 404),
        (format!("GET /token/ HTTP/1.1\nHost: example.org:{port}\n\n"), 421),
        (format!("GET /token/ HTTP/1.1\nHost: localhost.example.org:{port}\n\n"), 421),
        (format!("GET /token/ HTTP/1.1\n{host}\n{host}\n\n"), 421),
        ("GET /token/ HTTP/1.1\n\n".to_string(), 421),
        (format!("GET /token/ws HTTP/1.1\n{host}\n{UPGRADE}\n"), 403),
        (format!("GET /token/ws HTTP/1.1\n{host}\nOrigin: http://example.org\n{UPGRADE}\n"), 403),
        (format!("GET /token/ws HTTP/1.1\n{host}\nOrigin: null\n{UPGRADE}\n"), 403),
        (format!("GET /wrong/ws HTTP/1.1\n{own}\n{UPGRADE}\n"), 404),
        (format!("GET /token/ws HTTP/1.1\n{own}\n\n"), 400),
        (format!("POST /token/report HTTP/1.1\n{host}\nContent-Length: 5\n\ntoml="), 403),
        (format!("POST /token/report HTTP/1.1\n{own}\nContent-Length: 5\n\ntoml="), 422),
        (format!("DELETE /token/ HTTP/1.1\n{host}\n\n"), 405),
        ("nonsense\n\n".to_string(), 400),
    ] {
        assert_eq!(server.status(&request), status, "{request}");
    }
}

#[test]
fn a_token_is_random_unless_it_is_given() {
    let url = || {
        let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        Server::bind(any, None, limits()).unwrap().url()
    };
    let token = |url: &str| url.trim_end_matches('/').rsplit('/').next().unwrap().to_string();
    let (one, other) = (token(&url()), token(&url()));
    assert!(one.len() == 32 && one.bytes().all(|byte| byte.is_ascii_hexdigit()), "{one}");
    assert_ne!(one, other);
}

#[test]
fn requests_are_bounded_in_size_and_time() {
    let server = Running::with(Limits { request: Duration::from_millis(400), ..limits() });
    let Running { address, .. } = server;
    let long = format!("GET /token/ HTTP/1.1\nHost: {address}\nX: {}\n\n", "x".repeat(20_000));
    assert_eq!(server.status(&long), 400);
    let many = format!("GET /token/ HTTP/1.1\nHost: {address}\n{}\n", "X: 1\n".repeat(100));
    assert_eq!(server.status(&many), 400);
    let body = 256 * 1024 + 1;
    let own = format!("Host: {address}\nOrigin: http://{address}");
    assert_eq!(server.status(&format!("POST /token/report HTTP/1.1\n{own}\nContent-Length: {body}\n\n")), 413);
    // Bytes that come one by one, each in time, are no whole request in time.
    let mut slow = server.connect();
    let ended = (0..400).find(|_| {
        thread::sleep(Duration::from_millis(50));
        slow.write_all(b"G").is_err()
    });
    assert!(ended.is_some(), "it was served for 20 s");
}

#[test]
fn connections_are_limited_for_each_address_and_in_all() {
    let server = Running::with(Limits { connections: 5, connections_per_address: 3, ..limits() });
    let page = format!("GET /token/ HTTP/1.1\r\nHost: {}\r\n\r\n", server.address);
    let status = |last: u8| -> io::Result<String> {
        let mut stream = server.connect_from(last);
        stream.write_all(page.as_bytes())?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        Ok(answer.split(' ').nth(1).unwrap_or_default().to_string())
    };
    // A connection that was refused may be reset before the answer is read: it is not served in any case.
    let is_served = |last: u8| status(last).is_ok_and(|status| status == "200");
    // One that has ended is counted for a moment longer.
    let comes_to_be_served = |last: u8| {
        (0..600).any(|_| {
            let served = is_served(last);
            if !served {
                thread::sleep(Duration::from_millis(50));
            }
            served
        })
    };
    let own: Vec<_> = (0..3).map(|_| server.visit_from(2)).collect();
    assert!(!is_served(2), "a fourth of the same address is served");
    let others: Vec<_> = (0..2).map(|_| server.visit_from(3)).collect();
    assert!(!is_served(4), "a sixth of all is served");
    drop(others);
    assert!(comes_to_be_served(4), "places that became free are not given to others");
    assert!(!is_served(2), "places of others are given to an address that has its share");
    drop(own);
    assert!(comes_to_be_served(2), "an address does not get its places back");
}

// 256 halves of requests once left no place for anybody, the owner of the server among them.
#[test]
fn halves_of_requests_make_room_for_others() {
    let server = Running::with(Limits { connections: 8, connections_per_address: 4, request: PATIENCE, ..limits() });
    let mut visitor = server.visit_from(9);
    let half = |last: u8| {
        let mut stream = server.connect_from(last);
        stream.write_all(b"GET /token/ HTTP/1.1\r\n").expect("the loopback works");
        stream
    };
    let mut halves: Vec<_> = (0..40).map(|at| half(2 + at / 10)).collect();
    // Each of them is read by a thread of its own: the last ones are there when a whole request is answered.
    assert_eq!(server.status(&format!("GET /token/ HTTP/1.1\nHost: {}\n\n", server.address)), 200);
    visitor.run(1, &short());
    visitor.until("complete");
    // They were told to leave, but for as many as there are places.
    let is_open = |stream: &mut TcpStream| {
        stream.set_read_timeout(Some(Duration::from_millis(10))).expect("a time that is not zero");
        matches!(stream.read(&mut [0]), Err(error) if [ErrorKind::WouldBlock, ErrorKind::TimedOut].contains(&error.kind()))
    };
    let open = halves.iter_mut().map(is_open).filter(|open| *open).count();
    assert!((1..8).contains(&open), "{open} halves of requests have a place");
}

#[test]
fn messages_are_bounded() {
    let server = Running::with(limits());
    let mut other = server.visit();
    let mut visitor = server.visit();
    visitor.send(&json!({ "do": "read", "id": 1, "text": "#".repeat(250 << 10) }));
    let error = visitor.error();
    assert!(error.contains("exactly one of `[dumbbell]`"), "a text of 250 KiB is read, and has no path: {error}");
    // The server may close before all of it was taken.
    let _ = visitor.0.send(Message::text("#".repeat((256 << 10) + 1)));
    assert!(visitor.is_closed());
    other.run(1, &short());
    other.until("complete");
}

#[test]
fn a_page_that_is_not_there_any_more_loses_its_place() {
    // A machine that pauses this test for as long as a page may be idle makes the page that answers late, too: it gets more time then.
    let is_kept = |seconds| page_that_answers_is_kept(Duration::from_secs(seconds));
    assert!([1, 5, 25].into_iter().any(|seconds| is_kept(seconds).is_ok()));
}

/// Two pages that send nothing, one of which reads and so answers pings, as browsers do; the other one is closed.
///
/// # Errors
/// The page that answers was closed, too.
fn page_that_answers_is_kept(idle: Duration) -> tungstenite::Result<()> {
    let server = Running::with(Limits { connections: 2, idle, ..limits() });
    let (mut silent, mut answering) = (server.visit(), server.visit());
    let mut pings = 0;
    while pings < 2 {
        pings += u32::from(answering.0.read()?.is_ping());
    }
    answering.0.send(Message::text(json!({ "do": "stop" }).to_string()))?;
    assert!(silent.is_closed());
    answering.run(1, &short());
    while answering.next_data().0["kind"] != "complete" {}
    Ok(())
}

#[test]
fn what_is_no_request_is_answered_with_an_error() {
    let server = Running::with(limits());
    let mut visitor = server.visit();
    for text in ["", "{}", "[]", r#"{"do":"exec","id":1}"#, r#"{"do":"run","id":-1,"document":{}}"#, "\u{0}"] {
        visitor.0.send(Message::text(text)).unwrap();
        assert!(visitor.error().contains("different versions"), "{text}");
    }
    for part in [
        json!({ "do": "seed", "id": 1, "document": short(), "nth": 1, "engines": 2 }),
        json!({ "do": "join", "id": 1, "run": 0, "nth": 1, "values": "" }),
    ] {
        visitor.0.send(Message::text(part.to_string())).unwrap();
        assert!(visitor.error().contains("all seeds"), "{part}");
    }
    visitor.0.send(Message::binary(vec![0; 100])).unwrap();
    visitor.run(1, &short());
    assert_eq!(visitor.until("complete")["id"], 1);
}

#[test]
fn runs_are_limited_in_time() {
    let server = Running::with(Limits { time: Duration::from_millis(500), ..limits() });
    let mut visitor = server.visit();
    visitor.run(1, &endless());
    let error = visitor.error();
    assert!(error.starts_with("ended after 0.5 s: take a shorter duration"), "{error}");
    visitor.run(2, &short());
    assert_eq!(visitor.until("complete")["seeds"], 3);
    let report = server.report("duration = '2000s'\n[dumbbell]\nrate = '10gbit'\n[[flow]]\nalgorithm = 'cubic'\n");
    assert!(report.starts_with("HTTP/1.1 422 ") && report.contains("ended after 0.5 s"), "{report}");
}

#[test]
fn runs_are_limited_in_memory() {
    let server = Running::with(Limits { memory: 8 << 20, clocked_memory: 1 << 20, threads: 2, ..limits() });
    let mut visitor = server.visit();
    // A queue of a gigabyte that a rate of a constant sender fills.
    let deep = json!({
        "duration": "100s", "seeds": 1, "dumbbell": { "rate": "10mbit", "queue": "droptail:100000p" },
        "flow": [{ "algorithm": "reno" }], "cbr": [{ "rate": "cbr:1gbit" }],
    });
    visitor.run(1, &deep);
    let error = visitor.error();
    assert!(
        error.contains("memory") && error.contains("4 MiB"),
        "the half of 8 MiB is for one of two threads: {error}"
    );
    visitor.send(&json!({ "do": "pace", "id": 2, "document": deep, "speed": 100.0 }));
    let error = loop {
        let (header, _) = visitor.next();
        match header["kind"].as_str() {
            Some("error") => break header["message"].to_string(),
            Some("pulled") => {}
            _ => assert_eq!(header["kind"], "more"),
        }
    };
    assert!(error.contains("memory") && error.contains("1 MiB") && error.contains("a larger `--memory`"), "{error}");
    visitor.run(3, &short());
    assert_eq!(visitor.until("complete")["id"], 3);
    // A report keeps the samples of all its seeds.
    let report = |seeds: u32| {
        server.report(&format!(
            "duration = '20s'\nseeds = {seeds}\nsampling = '1ms'\n[dumbbell]\nrate = '1mbit'\n[[flow]]\nalgorithm = 'reno'\n"
        ))
    };
    assert!(report(1).starts_with("HTTP/1.1 200 "));
    let refused = report(20);
    assert!(refused.starts_with("HTTP/1.1 422 ") && refused.contains("memory"), "{refused}");
}

#[test]
fn scenarios_are_limited_in_flows_and_read_no_files() {
    let server = Running::with(limits());
    let mut visitor = server.visit();
    let mut of = |document: Value| {
        visitor.run(1, &document);
        visitor.error()
    };
    let flows = |count: u64| json!({ "dumbbell": {}, "flow": [{ "algorithm": "reno", "count": count }] });
    assert!(of(flows(1001)).starts_with("1001 flows are too many for the browser: accepted is at most 1000"));
    assert!(of(flows(i64::MAX as u64)).contains("flows are too many"));
    let cross =
        json!({ "dumbbell": {}, "flow": [{ "algorithm": "reno" }], "cbr": [{ "rate": "cbr:1mbit", "count": 1000 }] });
    assert!(of(cross).starts_with("1001 flows"));
    let file = json!({ "dumbbell": { "trace": "/etc/passwd" }, "flow": [{ "algorithm": "reno" }] });
    assert!(of(file).contains("reads no files"));
    assert!(of(json!("text")).contains("TOML"));
    assert!(of(json!({ "flow": [{ "algorithm": "no-such" }] })).contains("no-such"));
}

#[test]
fn a_newer_request_ends_the_run_before_it() {
    let server = Running::with(Limits { runs: 1, ..limits() });
    let mut visitor = server.visit();
    visitor.run(1, &endless());
    assert_eq!(visitor.until("started")["id"], 1);
    visitor.run(2, &short());
    // Its place is free for the next, as it is for others.
    let answer = visitor.until("complete");
    assert_eq!((&answer["id"], &answer["seeds"]), (&json!(2), &json!(3)));
    visitor.run(3, &endless());
    visitor.until("started");
    visitor.send(&json!({ "do": "stop" }));
    visitor.run(4, &endless());
    visitor.until("started");
    // One that cannot be run ends it as well.
    visitor.run(5, &json!({}));
    assert!(!visitor.error().is_empty());
    let mut other = server.visit();
    other.run(1, &short());
    other.until("complete");
    // And so does leaving.
    visitor.run(6, &endless());
    visitor.until("started");
    drop(visitor);
    other.run(2, &short());
    other.until("complete");
}

#[test]
fn runs_at_a_time_are_limited() {
    let server = Running::with(Limits { runs: 1, ..limits() });
    let (mut first, mut second) = (server.visit_from(1), server.visit_from(2));
    first.run(1, &endless());
    // It has its turn.
    first.until("curves");
    second.run(1, &short());
    assert_eq!(second.until("started")["id"], 1);
    assert!(second.receives_nothing(), "it runs beside the one that has the only turn");
    first.send(&json!({ "do": "stop" }));
    assert_eq!(second.until("complete")["id"], 1);
}

#[test]
fn runs_that_follow_the_clock_are_limited() {
    let server = Running::with(Limits { clocked: 1, ..limits() });
    let (mut first, mut second) = (server.visit(), server.visit());
    let pace = json!({ "do": "pace", "id": 1, "document": short(), "speed": 1.0 });
    first.send(&pace);
    first.until("more");
    second.send(&pace);
    let error = second.error();
    assert_eq!(error, "too many runs in real time: try again later");
    first.send(&json!({ "do": "stop" }));
    // Until the first has seen that it is not wanted any more.
    let mut kind = Value::Null;
    for _ in 0..600 {
        second.send(&pace);
        kind = second.next().0["kind"].take();
        if kind == "more" {
            break;
        }
        thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(kind, "more");
}

#[test]
fn a_pulled_rate_becomes_the_schedule_that_gives_the_same_run() {
    let server = Running::with(limits());
    let mut visitor = server.visit();
    visitor.send(&json!({ "do": "pace", "id": 1, "document": short(), "speed": 20.0 }));
    assert_eq!(visitor.until("pulled")["at"], 0.0);
    visitor.until("more");
    visitor.send(&json!({ "do": "pull", "rate": "1mbit" }));
    let pulled = visitor.until("pulled");
    let toml = pulled["toml"].as_str().unwrap();
    assert!(toml.contains("[[dumbbell.schedule.steps]]") && toml.contains("rate = \"1mbit\""), "{toml}");
    visitor.send(&json!({ "do": "read", "id": 2, "text": toml }));
    assert_eq!(visitor.until("document")["document"]["dumbbell"]["rate"], "5mbit");
}

#[test]
fn a_long_run_is_shown_in_parts_that_its_whole_begins_with() {
    let server = Running::with(limits());
    let mut visitor = server.visit();
    // A quarter of a second at least.
    let document = json!({ "duration": "60s", "seeds": 1, "dumbbell": { "rate": "400mbit" }, "flow": [{ "algorithm": "cubic", "count": 2 }] });
    visitor.run(1, &document);
    let mut parts = Vec::new();
    let whole = loop {
        let (header, numbers) = visitor.next();
        if header["kind"] != "curves" {
            assert_eq!(header["kind"], "started");
            continue;
        }
        if header["whole"] == true {
            break (header, numbers);
        }
        parts.push((header, numbers));
    };
    assert!(!parts.is_empty(), "it was shown at its end only");
    let rows = |header: &Value| header["rows"].as_u64().unwrap() as usize;
    let columns = |(header, numbers): &(Value, Vec<f32>), most: usize| -> Vec<Vec<u32>> {
        numbers
            .chunks(rows(header))
            .map(|column| column[..most].iter().map(|value| value.to_bits()).collect())
            .collect()
    };
    assert!(parts.is_sorted_by_key(|(header, _)| rows(header)));
    for part in &parts {
        let length = rows(&part.0);
        assert!(length > 0 && length < rows(&whole.0), "{length} of {}", rows(&whole.0));
        assert_eq!(columns(part, length), columns(&whole, length));
    }
}

#[test]
fn a_run_whose_control_is_released_goes_on_with_its_other_seeds() {
    let server = Running::with(limits());
    let mut visitor = server.visit();
    visitor.run(1, &short());
    let mut measures = Value::Null;
    let expected = loop {
        let (header, _) = visitor.next();
        match header["kind"].as_str() {
            Some("measures") => measures = header,
            Some("complete") => break measures["measures"].take(),
            _ => {}
        }
    };
    visitor.send(&json!({ "do": "run", "id": 2, "document": short(), "moving": true }));
    assert_eq!(visitor.until("started")["seeds"], 3);
    assert_eq!(visitor.until("curves")["whole"], true);
    let first = visitor.until("measures");
    let complete = visitor.until("complete");
    assert_eq!((&complete["seeds"], &first["seeds"]), (&json!(1), &json!(1)));
    // Of a run that is not the last nothing goes on.
    visitor.send(&json!({ "do": "finish", "id": 1 }));
    assert!(visitor.receives_nothing());
    visitor.send(&json!({ "do": "finish", "id": 2 }));
    let (second, last) = (visitor.until("measures"), visitor.until("measures"));
    assert_eq!((&second["seeds"], &last["seeds"]), (&json!(2), &json!(3)));
    assert_eq!(last["measures"]["goodput_bps"]["n"], 3);
    let complete = visitor.until("complete");
    assert_eq!((&complete["id"], &complete["seeds"]), (&json!(2), &json!(3)));
    // The order in which seeds end is in the last bits of a mean.
    let goodput = |measures: &Value| measures["goodput_bps"]["mean"].as_f64().unwrap();
    assert!((goodput(&last["measures"]) / goodput(&expected) - 1.0).abs() < 1e-12);
}

#[test]
fn the_server_ends_while_runs_go_on() {
    let server = Running::with(limits());
    let mut visitor = server.visit();
    visitor.run(1, &endless());
    visitor.until("started");
    let mut idle = server.connect();
    drop(server);
    assert!(visitor.is_closed());
    assert!(!matches!(idle.read(&mut [0; 1]), Ok(1..)), "it was answered");
}

#[test]
fn a_server_of_all_interfaces_is_asked_by_number() {
    let any = SocketAddr::from((IpAddr::from(Ipv4Addr::UNSPECIFIED), 0));
    let server = Server::bind(any, Some(TOKEN.to_string()), limits()).unwrap();
    let port = server.url().trim_end_matches("/token/").rsplit(':').next().unwrap().parse().unwrap();
    let over = Arc::new(AtomicBool::new(false));
    let thread = thread::spawn({
        let over = Arc::clone(&over);
        move || server.serve(|| !over.load(Ordering::Relaxed))
    });
    let running = Running { address: SocketAddr::from((Ipv4Addr::LOCALHOST, port)), over, thread: Some(thread) };
    let status = |host: &str| running.status(&format!("GET /token/ HTTP/1.1\nHost: {host}:{port}\n\n"));
    assert_eq!([status("127.0.0.1"), status("localhost"), status("classroom.example")], [200, 200, 421]);
}

const TOKEN: &str = "token";
const UPGRADE: &str =
    "Upgrade: websocket\nConnection: Upgrade\nSec-WebSocket-Version: 13\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\n";
/// Much longer than anything here takes on a machine that is busy with something else.
const PATIENCE: Duration = Duration::from_secs(120);
