//! The little of HTTP/1.1 that a page needs, and which requests are accepted.
//!
//! A request has to name this server as its host, by number or as `localhost`, so that no foreign name leads a browser here. Its path has
//! to begin with the token. Any request other than reading a page has to come from that page (`Origin`).

use std::io::{self, Read, Write};
use std::net::{IpAddr, Shutdown, SocketAddr, TcpStream};
use std::time::Duration;

use tungstenite::handshake::derive_accept_key;

use crate::clock::Stopwatch;

/// An authorized request.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Request {
    /// A part of the page, by its name.
    Page(&'static Part),
    /// A report of the scenario in the body.
    Report(String),
    /// The page without the slash at its end.
    Slash,
    /// A WebSocket, with the key of its handshake.
    Socket(String),
}

/// A part of the page.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) name: &'static str,
    media: &'static str,
    pub(crate) bytes: &'static [u8],
}

/// Why a request is refused: the status with its reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Refused(pub(crate) u16, pub(crate) &'static str);

/// Decides which requests are accepted.
#[derive(Clone, Debug)]
pub(crate) struct Gate {
    pub(crate) address: SocketAddr,
    pub(crate) token: String,
}

impl Gate {
    /// Reads a request from `stream` and checks it. It has to arrive whole within `limit`, however slowly its bytes come.
    pub(crate) fn request(&self, stream: &mut TcpStream, limit: Duration) -> io::Result<Result<Request, Refused>> {
        let mut bytes = Vec::new();
        let mut buffer = [0; 4096];
        let watch = Stopwatch::start();
        loop {
            let read = stream.read(&mut buffer)?;
            if watch.elapsed() > limit {
                return Err(io::ErrorKind::TimedOut.into());
            }
            if read == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            bytes.extend_from_slice(&buffer[..read]);
            let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
            let mut head = httparse::Request::new(&mut headers);
            match head.parse(&bytes) {
                Ok(httparse::Status::Complete(length)) => {
                    let (method, path) = (head.method.unwrap_or_default(), head.path.unwrap_or_default());
                    let checked = self.check(method, path, head.headers);
                    let Ok(Wanted::Report(body)) = checked else {
                        return Ok(checked.map(|wanted| match wanted {
                            Wanted::Page(part) => Request::Page(part),
                            Wanted::Socket(key) => Request::Socket(key),
                            Wanted::Slash | Wanted::Report(_) => Request::Slash,
                        }));
                    };
                    let mut rest = bytes.split_off(length);
                    let have = rest.len().min(body);
                    rest.resize(body, 0);
                    let mut missing = &mut rest[have..];
                    while !missing.is_empty() {
                        let read = stream.read(missing)?;
                        if read == 0 || watch.elapsed() > limit {
                            return Err(io::ErrorKind::UnexpectedEof.into());
                        }
                        missing = &mut missing[read..];
                    }
                    let text = String::from_utf8(rest).map_err(|_| Refused(400, "Bad Request"));
                    return Ok(text.map(Request::Report));
                }
                Ok(httparse::Status::Partial) if bytes.len() < MAX_HEAD => {}
                _ => return Ok(Err(Refused(400, "Bad Request"))),
            }
        }
    }

    fn check(&self, method: &str, path: &str, headers: &[httparse::Header<'_>]) -> Result<Wanted, Refused> {
        let header = |name: &str| {
            let mut found = headers.iter().filter(|header| header.name.eq_ignore_ascii_case(name));
            let value = found.next().and_then(|header| std::str::from_utf8(header.value).ok())?;
            found.next().is_none().then(|| value.trim())
        };
        let host = header("host").filter(|host| self.is_own(host)).ok_or(Refused(421, "Misdirected Request"))?;
        let (token, name) = path.strip_prefix('/').and_then(|path| path.split_once('/')).unwrap_or((path, ""));
        if !equal(token.trim_start_matches('/').as_bytes(), self.token.as_bytes()) {
            return Err(Refused(404, "Not Found"));
        }
        let own_origin = || header("origin").and_then(|origin| origin.strip_prefix("http://")) == Some(host);
        match (method, name) {
            ("GET", "") if !path.ends_with('/') => Ok(Wanted::Slash),
            ("GET", "ws") if !own_origin() => Err(Refused(403, "Forbidden")),
            ("GET", "ws") => {
                let upgrades = header("upgrade").is_some_and(|value| value.eq_ignore_ascii_case("websocket"));
                let version = header("sec-websocket-version") == Some("13");
                let key = header("sec-websocket-key").filter(|_| upgrades && version);
                key.map(|key| Wanted::Socket(key.to_string())).ok_or(Refused(400, "Bad Request"))
            }
            ("GET", name) => {
                PARTS.iter().find(|part| part.name == name).map(Wanted::Page).ok_or(Refused(404, "Not Found"))
            }
            ("POST", "report") if own_origin() => {
                let length = header("content-length").and_then(|length| length.parse().ok());
                length.filter(|length| *length <= MAX_BODY).map(Wanted::Report).ok_or(Refused(413, "Content Too Large"))
            }
            ("POST", "report") => Err(Refused(403, "Forbidden")),
            _ => Err(Refused(405, "Method Not Allowed")),
        }
    }

    /// Whether a host is this server by number, or the loopback's name where it listens there.
    fn is_own(&self, host: &str) -> bool {
        let (name, port) = match host.rsplit_once(':') {
            Some((name, port)) if !port.ends_with(']') => (name, port.parse().unwrap_or(0)),
            _ => (host, 80),
        };
        let name = name.trim_start_matches('[').trim_end_matches(']');
        let by_number = name.parse().is_ok_and(|ip: IpAddr| {
            let listens_to_all = self.address.ip().is_unspecified();
            listens_to_all || ip == self.address.ip()
        });
        let by_name = name.eq_ignore_ascii_case("localhost")
            && (self.address.ip().is_loopback() || self.address.ip().is_unspecified());
        port == self.address.port() && (by_number || by_name)
    }
}

/// A request whose body has not been read.
enum Wanted {
    Page(&'static Part),
    /// With the length of its body.
    Report(usize),
    Slash,
    Socket(String),
}

/// Answers with a part of the page.
pub(crate) fn send_part(stream: &mut TcpStream, part: &Part) -> io::Result<()> {
    let policy = "Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; \
                  connect-src 'self'; img-src 'self' data: blob:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";
    respond(stream, (200, "OK"), &[&format!("Content-Type: {}", part.media), policy], part.bytes)
}

/// Answers with a report, whose scripts are its own and reach nothing of this server's.
pub(crate) fn send_report(stream: &mut TcpStream, html: &str) -> io::Result<()> {
    let policy = "Content-Security-Policy: sandbox allow-scripts allow-downloads; connect-src 'none'";
    respond(stream, (200, "OK"), &["Content-Type: text/html; charset=utf-8", policy], html.as_bytes())
}

/// Answers that it is elsewhere.
pub(crate) fn redirect(stream: &mut TcpStream, token: &str) -> io::Result<()> {
    respond(stream, (307, "Temporary Redirect"), &[&format!("Location: /{token}/")], b"")
}

/// Answers that it is refused, with the reason.
pub(crate) fn refuse(stream: &mut TcpStream, Refused(status, reason): Refused, why: &str) -> io::Result<()> {
    respond(stream, (status, reason), &["Content-Type: text/plain; charset=utf-8"], why.as_bytes())
}

/// Completes the handshake of a WebSocket (RFC 6455 section 4.2.2).
pub(crate) fn upgrade(stream: &mut TcpStream, key: &str) -> io::Result<()> {
    let accept = derive_accept_key(key.as_bytes());
    let answer = format!(
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: {accept}\r\n\r\n"
    );
    stream.write_all(answer.as_bytes())
}

fn respond(stream: &mut TcpStream, (status, reason): (u16, &str), headers: &[&str], body: &[u8]) -> io::Result<()> {
    let mut head = format!("HTTP/1.1 {status} {reason}\r\nContent-Length: {}\r\nConnection: close\r\n", body.len());
    for header in headers.iter().chain(COMMON) {
        head.push_str(header);
        head.push_str("\r\n");
    }
    head.push_str("\r\n");
    stream.write_all(head.as_bytes())?;
    stream.write_all(body)
}

/// Closes a connection in stages (RFC 9112 section 9.6): one that is closed with bytes unread is reset, and the answer may be lost.
pub(crate) fn close(mut stream: TcpStream) -> io::Result<()> {
    stream.shutdown(Shutdown::Write)?;
    stream.set_read_timeout(Some(LINGER))?;
    let (watch, mut unread) = (Stopwatch::start(), [0; 4096]);
    while watch.elapsed() < LINGER && stream.read(&mut unread)? > 0 {}
    Ok(())
}

/// Whether two texts are equal, in a time that does not depend on where they differ.
fn equal(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.iter().zip(b).fold(0, |difference, (a, b)| difference | (a ^ b)) == 0
}

/// The page, as `npm run build` in `page/` makes it, and the licence of the library that is bundled with it.
pub(crate) static PARTS: [Part; 4] = [
    Part { name: "", media: "text/html; charset=utf-8", bytes: include_bytes!("../page/dist/index.html") },
    Part { name: "live.css", media: "text/css; charset=utf-8", bytes: include_bytes!("../page/dist/live.css") },
    Part { name: "live.js", media: "text/javascript; charset=utf-8", bytes: include_bytes!("../page/dist/live.js") },
    Part { name: "licences.txt", media: "text/plain; charset=utf-8", bytes: include_bytes!("../page/vendor/LICENSE") },
];

const COMMON: &[&str] = &[
    "Cache-Control: no-store",
    "Cross-Origin-Opener-Policy: same-origin",
    "Referrer-Policy: same-origin",
    "X-Content-Type-Options: nosniff",
];

/// For a client to have read its answer.
const LINGER: Duration = Duration::from_millis(500);
/// A browser sends about twenty.
const MAX_HEADERS: usize = 64;
const MAX_HEAD: usize = 16 << 10;
/// As the largest message of a session.
const MAX_BODY: usize = 256 << 10;

#[cfg(test)]
mod tests {
    use super::*;

    fn gate(address: &str) -> Gate {
        Gate { address: address.parse().unwrap(), token: "secret".to_string() }
    }

    fn check(gate: &Gate, line: &str, headers: &[(&str, &str)]) -> Result<Wanted, Refused> {
        let (method, path) = line.split_once(' ').unwrap();
        let headers: Vec<_> =
            headers.iter().map(|(name, value)| httparse::Header { name, value: value.as_bytes() }).collect();
        gate.check(method, path, &headers)
    }

    #[test]
    fn only_this_host_with_the_token_is_answered() {
        let gate = gate("127.0.0.1:8080");
        let status = |line: &str, host: &str| check(&gate, line, &[("Host", host)]).err().map(|refused| refused.0);
        assert_eq!(status("GET /secret/", "127.0.0.1:8080"), None);
        assert_eq!(status("GET /secret/live.js", "localhost:8080"), None);
        for host in ["example.org:8080", "127.0.0.1", "127.0.0.1:80", "127.0.0.2:8080", "", "localhost.evil:8080"] {
            assert_eq!(status("GET /secret/", host), Some(421), "{host}");
        }
        for path in ["/", "/Secret/", "/secre/", "/secrets/", "/x/secret/", "/live.js", "//secret/live.js"] {
            assert_eq!(status(&format!("GET {path}"), "127.0.0.1:8080"), Some(404), "{path}");
        }
        assert_eq!(status("GET /secret/../x", "127.0.0.1:8080"), Some(404));
        assert_eq!(status("PUT /secret/", "127.0.0.1:8080"), Some(405));
        assert_eq!(check(&gate, "GET /secret/", &[]).err(), Some(Refused(421, "Misdirected Request")));
        let twice = [("Host", "127.0.0.1:8080"), ("host", "127.0.0.1:8080")];
        assert_eq!(check(&gate, "GET /secret/", &twice).err(), Some(Refused(421, "Misdirected Request")));
    }

    #[test]
    fn runs_and_reports_are_for_the_page_itself() {
        let gate = gate("[::1]:8080");
        let own = ("Host", "[::1]:8080");
        let socket = [("Upgrade", "websocket"), ("Sec-WebSocket-Version", "13"), ("Sec-WebSocket-Key", "k")];
        let with = |origin: Option<&'static str>| {
            let origin = origin.map(|origin| ("Origin", origin));
            let headers: Vec<_> = [own].into_iter().chain(socket).chain(origin).collect();
            check(&gate, "GET /secret/ws", &headers).err().map(|refused| refused.0)
        };
        assert_eq!(with(Some("http://[::1]:8080")), None);
        for origin in [None, Some("null"), Some("http://example.org"), Some("https://[::1]:8080")] {
            assert_eq!(with(origin), Some(403), "{origin:?}");
        }
        let report = |length| {
            let headers = [own, ("Origin", "http://[::1]:8080"), ("Content-Length", length)];
            check(&gate, "POST /secret/report", &headers).err().map(|refused| refused.0)
        };
        assert_eq!([report("10"), report("300000"), report("-1")], [None, Some(413), Some(413)]);
        let foreign = [own, ("Origin", "http://example.org"), ("Content-Length", "10")];
        assert_eq!(check(&gate, "POST /secret/report", &foreign).err(), Some(Refused(403, "Forbidden")));
    }

    #[test]
    fn an_address_of_all_interfaces_is_asked_by_number() {
        let gate = gate("0.0.0.0:9000");
        let answers = |host: &str| check(&gate, "GET /secret/", &[("Host", host)]).is_ok();
        assert!(answers("192.0.2.7:9000") && answers("localhost:9000"));
        assert!(!answers("classroom.example:9000") && !answers("192.0.2.7:9001"));
    }
}
