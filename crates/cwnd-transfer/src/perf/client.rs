//! The client of a measurement.

use std::io;
use std::sync::atomic::AtomicU64;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use cwnd::Span;
use cwnd_net::UdtStream;
use cwnd_text::to_json;

use super::Arguments;
use super::exchange::{self, Request, Side, Until, VERSION};
use super::report::{End, Interval, Outcome, Report, Start};
use crate::clock::Stopwatch;
use crate::connect::{MAY_BE_FULL, connect_until_signal, is_end};
use crate::failure::{Failure, Kind};
use crate::signals;
use crate::usage::Usage;

pub(super) fn run(arguments: &Arguments, peer: &str) -> Result<String, Failure> {
    let failed = |error: io::Error| {
        let kind = if error.kind() == io::ErrorKind::Other { Kind::Failed } else { Kind::NoAnswer };
        Failure::Transfer(kind, format!("{peer}: {error}"))
    };
    let seconds = arguments.time.map_or(10.0, Span::as_secs_f64);
    let until = arguments.bytes.map_or(Until::Seconds(seconds), Until::Bytes);
    until.check().map_err(|error| Failure::Input(format!("--time: {error}")))?;
    let request = Request { perf: VERSION, reverse: arguments.reverse, until };

    let stream = connect_until_signal(peer, arguments.options())?;
    let start =
        Start::new(stream.local_addr(), stream.peer_addr(), &request, !arguments.no_gso, stream.stats().as_ref());
    let clock = Stopwatch::start();
    let mut intervals = Vec::new();
    let outcome = watched(&stream, arguments, &mut intervals, || measure(&stream, arguments, &request));
    let (local, remote) = outcome.map_err(|error| match is_end(&error) {
        // A signal that comes after the measurement changes nothing of it.
        _ if signals::interrupted() => Failure::Interrupted,
        true => Failure::Transfer(Kind::Refused, format!("{peer}: {MAY_BE_FULL}")),
        false => failed(error),
    })?;
    let elapsed = clock.elapsed();
    // Both ends have reported: an error here changes nothing.
    let _closed = stream.close();
    let congestion = (!arguments.reverse).then(|| arguments.algorithm().to_owned());
    let outcome = Outcome { local, remote, sender: !arguments.reverse, congestion };
    let report = Report { start, intervals, end: End::new(&outcome, elapsed) };
    Ok(if arguments.json { to_json(&report) } else { report.text() })
}

/// Runs `work`, and measures an interval each second meanwhile.
fn watched<T: Send>(
    stream: &UdtStream,
    arguments: &Arguments,
    intervals: &mut Vec<Interval>,
    work: impl FnOnce() -> T + Send,
) -> T {
    let clock = Stopwatch::start();
    thread::scope(|scope| {
        let (running, ended) = mpsc::channel::<()>();
        let worker = scope.spawn(move || {
            let _running = running;
            work()
        });
        let mut before = (Duration::ZERO, None);
        loop {
            let next = Duration::from_secs(intervals.len() as u64 + 1);
            let wait = ended.recv_timeout(next.saturating_sub(clock.elapsed()));
            if let Some(stats) = stream.stats() {
                let now = clock.elapsed();
                let (from, old) = &before;
                let interval = Interval::new(!arguments.reverse, (*from, old.as_ref()), (now, &stats), arguments.mss);
                if !arguments.json {
                    say!("{}", interval.line());
                }
                intervals.push(interval);
                before = (now, Some(stats));
            }
            if wait != Err(RecvTimeoutError::Timeout) {
                return worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            }
        }
    })
}

/// The measurements of both ends; `None` for a server that does not report.
fn measure(stream: &UdtStream, arguments: &Arguments, request: &Request) -> io::Result<(Side, Option<Side>)> {
    let mut stream = stream;
    let (clock, usage, count) = (Stopwatch::start(), Usage::so_far(), AtomicU64::new(0));
    let side = |seconds: Duration| Side::measured(stream, &count, seconds, usage);
    if arguments.libudt {
        exchange::send_plain(&mut stream, request.until, &count)?;
        while stream.stats().is_some_and(|stats| stats.udt.unacked + stats.udt.notsent > 0) {
            thread::sleep(Duration::from_millis(1));
        }
        return Ok((side(clock.elapsed()), None));
    }
    exchange::send(&mut stream, request)?;
    if request.reverse {
        let seconds = exchange::receive_blocks(&mut stream, &count)?;
        let local = side(seconds);
        exchange::send(&mut stream, &local)?;
        return Ok((local, Some(exchange::receive(&mut stream)?)));
    }
    exchange::send_blocks(&mut stream, request.until, &count)?;
    let remote = exchange::receive(&mut stream)?;
    let local = side(clock.elapsed());
    exchange::send(&mut stream, &local)?;
    Ok((local, Some(remote)))
}
