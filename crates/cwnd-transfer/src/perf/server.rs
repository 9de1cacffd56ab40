//! The server of measurements.

use std::io::{self, Write};
use std::net::SocketAddr;
use std::sync::atomic::AtomicU64;
use std::thread;
use std::time::Duration;

use cwnd_net::{AcceptError, UdtListener, UdtStream};
use cwnd_text::to_json;

use super::Arguments;
use super::exchange::{self, Request, Side, Until, VERSION};
use super::report::{End, Outcome, Report, Start};
use crate::clients::{Clients, Place, bounded};
use crate::clock::Stopwatch;
use crate::connect::bind_failure;
use crate::failure::{Failure, Kind};
use crate::signals;
use crate::usage::Usage;

pub(super) fn run(arguments: &Arguments, local: SocketAddr) -> Result<String, Failure> {
    let listener: UdtListener =
        UdtListener::bind_with(local, &bounded(arguments.options())).map_err(|error| bind_failure(&local, error))?;
    let reach = if local.ip().is_loopback() { "reachable from this host only" } else { "reachable from other hosts" };
    say!("listening on {}, {reach}; nothing is encrypted", listener.local_addr());
    listener.set_timeout(Some(POLL));
    let clients = Clients::default();
    let open = clients.clone();
    signals::listen(move || open.abort())?;
    if arguments.one_off {
        return serve_once(&listener, arguments, &clients);
    }
    thread::scope(|scope| {
        while let Some((stream, peer)) = accept(&listener, &clients)? {
            let Some(place) = clients.admit(&stream, peer) else {
                say!("{peer}: too many clients");
                stream.abort();
                continue;
            };
            let rejected = stream.clone();
            let thread = thread::Builder::new().spawn_scoped(scope, move || {
                match serve(&stream, arguments, || Place::is_busy(std::slice::from_ref(&place))) {
                    Ok(text) => {
                        let mut out = io::stdout().lock();
                        // A failure is ignored: the client has its report.
                        let _printed = out.write_all(text.as_bytes()).and_then(|()| out.flush());
                    }
                    Err(error) => {
                        say!("{peer}: {error}");
                        stream.abort();
                    }
                }
            });
            if let Err(error) = thread {
                say!("{peer}: no thread: {error}");
                rejected.abort();
            }
        }
        // One may have come while the signal was handled.
        clients.abort();
        Ok(String::new())
    })
}

/// Measures with one client.
fn serve_once(listener: &UdtListener, arguments: &Arguments, clients: &Clients) -> Result<String, Failure> {
    let (stream, peer) = accept(listener, clients)?.ok_or(Failure::Interrupted)?;
    let _place = clients.admit(&stream, peer);
    // A signal that comes after the measurement changes nothing of it.
    serve(&stream, arguments, || ()).map_err(|error| match signals::interrupted() {
        true => Failure::Interrupted,
        false => Failure::Transfer(Kind::NoAnswer, format!("{peer}: {error}")),
    })
}

/// The next client; none after a signal.
fn accept(listener: &UdtListener, clients: &Clients) -> Result<Option<(UdtStream, SocketAddr)>, Failure> {
    while !signals::interrupted() {
        clients.sweep();
        match listener.accept() {
            Err(AcceptError::Timeout) => {}
            accepted => return accepted.map(Some).map_err(|error| Failure::Run(error.to_string())),
        }
    }
    Ok(None)
}

/// Measures with one client; calls `requested` once it has said what, or at once if it never does.
fn serve(stream: &UdtStream, arguments: &Arguments, requested: impl FnOnce()) -> io::Result<String> {
    stream.set_read_timeout(Some(TIMEOUT));
    stream.set_write_timeout(Some(TIMEOUT));
    let plain = Request { perf: VERSION, reverse: false, until: Until::Bytes(0) };
    let request = if arguments.libudt { plain } else { exchange::receive(&mut &*stream)? };
    if request.perf != VERSION {
        return Err(io::Error::other(format!("the other end has version {}, this one {VERSION}", request.perf)));
    }
    request.until.check()?;
    requested();
    let start =
        Start::new(stream.local_addr(), stream.peer_addr(), &request, !arguments.no_gso, stream.stats().as_ref());
    let clock = Stopwatch::start();
    let (local, remote) = measure(stream, arguments, &request)?;
    let congestion = request.reverse.then(|| arguments.algorithm().to_owned());
    let outcome = Outcome { local, remote, sender: request.reverse, congestion };
    let report = Report { start, intervals: Vec::new(), end: End::new(&outcome, clock.elapsed()) };
    Ok(if arguments.json { to_json(&report) } else { report.text() })
}

fn measure(stream: &UdtStream, arguments: &Arguments, request: &Request) -> io::Result<(Side, Option<Side>)> {
    let mut stream = stream;
    let (clock, usage, count) = (Stopwatch::start(), Usage::so_far(), AtomicU64::new(0));
    let side = |seconds: Duration| Side::measured(stream, &count, seconds, usage);
    if arguments.libudt {
        let seconds = exchange::receive_plain(&mut stream, &count)?;
        return Ok((side(seconds), None));
    }
    if request.reverse {
        exchange::send_blocks(&mut stream, request.until, &count)?;
        let remote = exchange::receive(&mut stream)?;
        let local = side(clock.elapsed());
        exchange::send(&mut stream, &local)?;
        return Ok((local, Some(remote)));
    }
    let seconds = exchange::receive_blocks(&mut stream, &count)?;
    let local = side(seconds);
    exchange::send(&mut stream, &local)?;
    // Everything is measured: a signal, which aborts the connection, ends the wait for what the client says of it, and nothing else.
    match exchange::receive(&mut stream) {
        Ok(remote) => Ok((local, Some(remote))),
        Err(_) if signals::interrupted() => Ok((local, None)),
        Err(error) => Err(error),
    }
}

/// How often a signal is looked for, and clients are judged.
const POLL: Duration = Duration::from_millis(200);

/// How long a client may send or read nothing while it is its turn.
const TIMEOUT: Duration = Duration::from_secs(30);
