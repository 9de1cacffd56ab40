//! One port and very many: connections at once, idle ones, forged handshakes, and peers that do not read.
//!
//! Both ends of every connection are in this program, each end on one UDP port.

use std::io::{Read, Write};
use std::net::{SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use cwnd::{BitRate, Span};
use cwnd_net::{Options, UdtListener, UdtPort, UdtStream};
use cwnd_udt::testing::first_handshake;
use serde::{Deserialize, Serialize};

/// The measurements.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Load {
    pub(crate) idle: Idle,
    pub(crate) crowd: Vec<Crowd>,
    pub(crate) flood: Vec<Flood>,
    pub(crate) stalled: Vec<Stalled>,
}

/// Connections on which nothing happens, after each end has sent some bytes.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Idle {
    pub(crate) connections: usize,
    /// Resident memory for each end.
    pub(crate) bytes_per_end: f64,
    /// Both ends of all together, as a share of a core.
    pub(crate) cpu: f64,
}

/// Transfers that begin at one moment.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Crowd {
    pub(crate) connections: usize,
    pub(crate) bytes: usize,
    pub(crate) connect_s: f64,
    /// From that moment to the last byte of the first, the median and the slowest.
    pub(crate) first_s: f64,
    pub(crate) median_s: f64,
    pub(crate) slowest_s: f64,
}

/// Forged handshakes during a transfer.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Flood {
    /// The bound on the transfer's rate; none if it takes what it can.
    pub(crate) limit_bps: Option<f64>,
    /// Handshakes that came in each second.
    pub(crate) rate: f64,
    pub(crate) before_bps: f64,
    pub(crate) during_bps: f64,
    /// Resident memory more than before, in bytes.
    pub(crate) grown: i64,
    /// Until another client was connected meanwhile; none if it was not.
    pub(crate) connect_s: Option<f64>,
}

/// A transfer while other peers do not do their part.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Stalled {
    /// A third of them read a few bytes now and then, the others nothing.
    pub(crate) each: usize,
    pub(crate) alone_bps: f64,
    pub(crate) beside_bps: f64,
    /// Resident memory for each of them, both ends.
    pub(crate) bytes_per_peer: f64,
}

/// How much of each.
pub(crate) struct Sizes {
    pub(crate) repetitions: usize,
    pub(crate) idle: usize,
    pub(crate) crowd: usize,
    pub(crate) bytes: usize,
    pub(crate) seconds: u64,
    pub(crate) stalled: usize,
}

/// Measures everything. Idle measurements come first, while no memory is left over from others.
pub(crate) fn measure(sizes: &Sizes) -> Result<Load, Failure> {
    let mut load = Load { idle: idle(sizes.idle)?, crowd: Vec::new(), flood: Vec::new(), stalled: Vec::new() };
    println!("{:?}", load.idle);
    for _ in 0..sizes.repetitions {
        load.stalled.push(stalled(sizes)?);
        for limit in [Some(1e9), None] {
            load.flood.push(flood(sizes, limit)?);
        }
        load.crowd.push(crowd(sizes)?);
        println!("{:?}\n{:?}\n{:?}", load.stalled.last(), load.flood, load.crowd.last());
    }
    Ok(load)
}

/// Whatever stands in the way of a measurement.
type Failure = Box<dyn std::error::Error + Send + Sync>;

fn idle(count: usize) -> Result<Idle, Failure> {
    let options = options().backlog(count);
    let (listener, port) = (UdtListener::<UdtStream>::bind_with(LOCAL, &options)?, UdtPort::bind(LOCAL, &options)?);
    let before = resident();
    let mut held = Vec::new();
    for _ in 0..count {
        let client: UdtStream = port.connect(listener.local_addr())?;
        let (server, _) = listener.accept()?;
        for (from, to) in [(&client, &server), (&server, &client)] {
            let (mut from, mut to) = (from, to);
            from.write_all(&[1; 100])?;
            to.read_exact(&mut [0; 100])?;
        }
        held.push([client, server]);
    }
    thread::sleep(Duration::from_secs(3));
    let bytes_per_end = (resident() - before) as f64 / (2 * count) as f64;
    let (began, spent) = (now(), processor());
    thread::sleep(Duration::from_secs(5));
    let cpu = (processor() - spent) / began.elapsed().as_secs_f64();
    held.into_iter().flatten().for_each(UdtStream::abort);
    Ok(Idle { connections: count, bytes_per_end, cpu })
}

fn crowd(sizes: &Sizes) -> Result<Crowd, Failure> {
    let (count, size) = (sizes.crowd, sizes.bytes);
    let options = options().backlog(count);
    let (listener, port) = (UdtListener::<UdtStream>::bind_with(LOCAL, &options)?, UdtPort::bind(LOCAL, &options)?);
    let began = now();
    let (mut clients, mut servers) = (Vec::new(), Vec::new());
    for _ in 0..count {
        clients.push(port.connect::<UdtStream>(listener.local_addr())?);
        servers.push(listener.accept()?.0);
    }
    let connect_s = began.elapsed().as_secs_f64();
    // A connection sends data from its number on, so that no two send equal data.
    let content = pattern(size + count);
    let began = now();
    let (times, failures) = (Mutex::new(Vec::new()), Mutex::new(Vec::new()));
    let judge = |done: Result<(), Failure>| {
        if let Err(failure) = done {
            failures.lock().unwrap_or_else(PoisonError::into_inner).push(failure);
        }
    };
    thread::scope(|scope| -> Result<(), Failure> {
        for (index, (client, server)) in clients.iter().zip(&servers).enumerate() {
            let wanted = &content[index..][..size];
            let (judge, times) = (&judge, &times);
            small_thread().spawn_scoped(scope, move || judge((&*client).write_all(wanted).map_err(Failure::from)))?;
            small_thread().spawn_scoped(scope, move || {
                judge(check(server, wanted));
                times.lock().unwrap_or_else(PoisonError::into_inner).push(began.elapsed().as_secs_f64());
            })?;
        }
        Ok(())
    })?;
    clients.into_iter().chain(servers).for_each(UdtStream::abort);
    if let Some(failure) = failures.into_inner().unwrap_or_else(PoisonError::into_inner).pop() {
        return Err(failure);
    }
    let mut times = times.into_inner().unwrap_or_else(PoisonError::into_inner);
    times.sort_by(f64::total_cmp);
    let (first_s, median_s, slowest_s) = (times[0], times[count / 2], times[count - 1]);
    Ok(Crowd { connections: count, bytes: size, connect_s, first_s, median_s, slowest_s })
}

fn flood(sizes: &Sizes, limit_bps: Option<f64>) -> Result<Flood, Failure> {
    let options = limit_bps.map_or_else(options, |limit| options().max_rate(BitRate(limit)));
    let transfer = Transfer::new(&options)?;
    let sockets: Vec<UdpSocket> = (0..SOURCES)
        .map(|source| UdpSocket::bind(SocketAddr::from(([127, 1, (source >> 8) as u8, source as u8], 0))))
        .collect::<Result<_, _>>()?;
    let (flooding, sent) = (AtomicBool::new(true), AtomicU64::new(0));
    transfer.run(|rate| {
        let before_bps = rate(sizes.seconds);
        let memory = resident();
        thread::scope(|scope| {
            scope.spawn(|| send_forged_handshakes(&sockets, transfer.listener.local_addr(), &flooding, &sent));
            let came = sent.load(Ordering::Relaxed);
            let began = now();
            let during_bps = rate(sizes.seconds);
            let came = (sent.load(Ordering::Relaxed) - came) as f64 / began.elapsed().as_secs_f64();
            let grown = resident() - memory;
            let began = now();
            let another = UdtStream::connect_with(transfer.listener.local_addr(), &Options::default());
            let connect_s = another.ok().map(|stream| {
                stream.abort();
                began.elapsed().as_secs_f64()
            });
            flooding.store(false, Ordering::Relaxed);
            Flood { limit_bps, rate: came, before_bps, during_bps, grown, connect_s }
        })
    })
}

/// First handshakes of clients that do not exist, 100,000 a second as far as one thread can.
fn send_forged_handshakes(sockets: &[UdpSocket], to: SocketAddr, flooding: &AtomicBool, sent: &AtomicU64) {
    let word = first_handshake();
    let (began, mut count) = (now(), 0_u64);
    while flooding.load(Ordering::Relaxed) {
        let due = (began.elapsed().as_secs_f64() * FLOOD) as u64;
        // In bursts of half a millisecond at most, without making up for missed time.
        let until = due.min(count + 50);
        while count < until {
            let _lost = sockets[count as usize % sockets.len()].send_to(&word, to);
            count += 1;
        }
        sent.store(count, Ordering::Relaxed);
        if count >= due {
            thread::sleep(Duration::from_micros(200));
        }
    }
}

fn stalled(sizes: &Sizes) -> Result<Stalled, Failure> {
    let options = options().backlog(4 * sizes.stalled + 2);
    let transfer = Transfer::new(&options)?;
    let each = sizes.stalled;
    let port = UdtPort::bind(LOCAL, &options)?;
    let memory = resident();
    let mut idle = Vec::new();
    let mut slow = Vec::new();
    for index in 0..3 * each {
        let client: UdtStream = port.connect(transfer.listener.local_addr())?;
        let (server, _) = transfer.listener.accept()?;
        // Until nothing fits any more.
        server.set_write_timeout(Some(Duration::from_millis(20)));
        while (&server).write(&[1; 65_536]).is_ok() {}
        if index % 3 == 0 { slow.push((client, server)) } else { idle.push((client, server)) }
    }
    let bytes_per_peer = (resident() - memory) as f64 / (3 * each) as f64;
    let reading = AtomicBool::new(true);
    let stalled = transfer.run(|rate| {
        thread::scope(|scope| {
            scope.spawn(|| {
                while reading.load(Ordering::Relaxed) {
                    for (client, server) in &slow {
                        let _ = (&*client).read(&mut [0; 2_000]);
                        let _ = (&*server).write(&[1; 2_000]);
                    }
                    thread::sleep(Duration::from_millis(50));
                }
            });
            let beside_bps = rate(sizes.seconds);
            reading.store(false, Ordering::Relaxed);
            beside_bps
        })
    });
    idle.into_iter().chain(slow).for_each(|(client, server)| {
        client.abort();
        server.abort();
    });
    let beside_bps = stalled?;
    let alone_bps = Transfer::new(&options)?.run(|rate| rate(sizes.seconds))?;
    Ok(Stalled { each, alone_bps, beside_bps, bytes_per_peer })
}

/// A transfer that goes on for as long as something is measured.
struct Transfer {
    listener: UdtListener<UdtStream>,
    client: UdtStream,
    server: UdtStream,
}

impl Transfer {
    fn new(options: &Options) -> Result<Self, Failure> {
        let listener: UdtListener = UdtListener::bind_with(LOCAL, options)?;
        let client = UdtStream::connect_with(listener.local_addr(), options)?;
        let (server, _) = listener.accept()?;
        Ok(Self { listener, client, server })
    }

    /// Runs it meanwhile; `measure` can ask what it comes to, in bit/s over some seconds.
    fn run<R>(&self, measure: impl FnOnce(&dyn Fn(u64) -> f64) -> R) -> Result<R, Failure> {
        let (going, got) = (AtomicBool::new(true), AtomicU64::new(0));
        let rate = |seconds| {
            let (began, before) = (now(), got.load(Ordering::Relaxed));
            thread::sleep(Duration::from_secs(seconds));
            (got.load(Ordering::Relaxed) - before) as f64 * 8.0 / began.elapsed().as_secs_f64()
        };
        thread::scope(|scope| {
            scope.spawn(|| {
                while going.load(Ordering::Relaxed) {
                    if (&self.client).write_all(&[1; 65_536]).is_err() {
                        break;
                    }
                }
                self.client.clone().abort();
            });
            scope.spawn(|| {
                let mut piece = vec![0; 65_536];
                while let Ok(size @ 1..) = (&self.server).read(&mut piece) {
                    got.fetch_add(size as u64, Ordering::Relaxed);
                }
            });
            // Slow start is over.
            thread::sleep(Duration::from_secs(1));
            let result = measure(&rate);
            going.store(false, Ordering::Relaxed);
            Ok(result)
        })
    }
}

/// Reads as many bytes as are wanted, and compares them.
fn check(mut stream: &UdtStream, wanted: &[u8]) -> Result<(), Failure> {
    let mut piece = [0; 16_384];
    let mut at = 0;
    while at < wanted.len() {
        let size = stream.read(&mut piece)?;
        if size == 0 || wanted[at..].get(..size) != Some(&piece[..size]) {
            return Err(format!("byte {at} or one of the {size} after it is wrong").into());
        }
        at += size;
    }
    Ok(())
}

/// Bytes that differ from offset to offset.
fn pattern(size: usize) -> Vec<u8> {
    let mut state = 1_u64;
    let next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    };
    std::iter::repeat_with(next).take(size).collect()
}

fn options() -> Options {
    Options::default().connect_timeout(Span::from_secs(10)).linger(Span::from_secs(60))
}

/// Two thousand of them at a time.
fn small_thread() -> thread::Builder {
    thread::Builder::new().stack_size(128 * 1024)
}

/// Resident memory of this program, bytes.
fn resident() -> i64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<i64>().ok());
    kilobytes.unwrap_or_default() * 1024
}

/// Processor time of this program, seconds.
fn processor() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields).split_whitespace();
    // The fourteenth and fifteenth field, of which the name was the second; Linux counts a hundred in a second.
    fields.skip(11).take(2).filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() / 100.0
}

#[expect(clippy::disallowed_methods, reason = "what real sockets do takes real time")]
fn now() -> Instant {
    Instant::now()
}

const LOCAL: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 0);
/// Strangers' addresses.
const SOURCES: u32 = 500;
/// Their handshakes in a second.
const FLOOD: f64 = 100_000.0;
