//! The steps of `partner.cpp` on this project's own sockets.

use std::error::Error;
use std::io::{self, Read, Write};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

use cwnd::{BitRate, Span, Spec};
use cwnd_net::{
    Bundles, CloseError, ConnectError, Ended, MAX_STREAMS, MessageOptions, Options, Stats, UdtBundle, UdtListener,
    UdtMessageListener, UdtMessenger, UdtStream,
};
use cwnd_udt::handshake::Refusal;
use rustix::time::{ClockId, clock_gettime};

use crate::interop::clock;
use crate::interop::programs::{PartnerReport, Sample};

/// Carries out the steps and prints a report; whether every step was carried out.
#[must_use]
pub(crate) fn play(arguments: &[String]) -> bool {
    let mut report = PartnerReport::default();
    if let Err(failed) = attempt(arguments, &mut report) {
        (report.failed, report.code) = (Some(failed.what), failed.code);
    }
    report.cpu_s = processor_seconds();
    println!("{}", serde_json::to_string(&report).expect("a record of numbers and text"));
    report.failed.is_none()
}

/// A step that was not carried out, with libudt's number for the reason.
struct Failed {
    what: String,
    code: i32,
}

/// The options of a partner.
struct PartnerOptions {
    options: Options,
    messages: bool,
    sample: bool,
    /// Connections of a stream.
    streams: u8,
}

enum Connection {
    Stream(UdtBundle),
    Messages(UdtMessenger),
}

struct Partner<'a> {
    connection: Connection,
    next_message: u32,
    sample: bool,
    report: &'a mut PartnerReport,
}

fn attempt(arguments: &[String], report: &mut PartnerReport) -> Result<(), Failed> {
    let options = arguments.iter().take_while(|word| word.contains('=')).count();
    let (options, rest) = arguments.split_at(options);
    let given = PartnerOptions::read(options)?;
    let (role, rest) = rest.split_first().ok_or_else(|| wrong("nothing to do"))?;
    let (addresses, steps) = rest.split_at((if role == "meet" { 2 } else { 1 }).min(rest.len()));
    let addresses: Vec<SocketAddr> = addresses
        .iter()
        .map(|text| text.parse().map_err(|_| wrong(format!("address {text}"))))
        .collect::<Result<_, _>>()?;
    let start = clock::now();
    let connection = connect(role, &addresses, &given)?;
    report.connect_s = start.elapsed().as_secs_f64();
    let mut partner = Partner { connection, next_message: 0, sample: given.sample, report };
    for step in steps {
        partner.step(step)?;
    }
    partner.close()
}

impl PartnerOptions {
    fn read(arguments: &[String]) -> Result<Self, Failed> {
        let mut given = Self { options: Options::default(), messages: false, sample: false, streams: 1 };
        for word in arguments {
            let (name, value) = word.split_once('=').ok_or_else(|| wrong(format!("option {word}")))?;
            let unknown = || wrong(format!("option {word}"));
            let number = || value.parse::<u32>().map_err(|_| unknown());
            let options = given.options.clone();
            given.options = match name {
                "type" => {
                    given.messages = value == "message";
                    options
                }
                "mss" => options.mss(u16::try_from(number()?).map_err(|_| unknown())?),
                "window" => options,
                "sample" => {
                    given.sample = value == "1";
                    options
                }
                "receive-buffer" => options.receive_buffer(number()? / 1456),
                "linger" => options.linger(Span::from_secs(u64::from(number()?))),
                "idle-timeout-ms" => options.idle_timeout(Span::from_millis(u64::from(number()?))),
                "algorithm" => options.algorithm(Spec::parse(value).map_err(|error| wrong(error.to_string()))?),
                "rate-mbit" => options.max_rate(BitRate(f64::from(number()?) * 1e6)),
                "ack-every" => options.ack_every(number()?),
                "streams" => {
                    let streams = number()?.try_into().ok().filter(|streams| (1..=MAX_STREAMS).contains(streams));
                    given.streams = streams.ok_or_else(unknown)?;
                    options
                }
                "offload" => options.offload(value == "1"),
                _ => return Err(unknown()),
            };
        }
        Ok(given)
    }
}

fn connect(role: &str, addresses: &[SocketAddr], given: &PartnerOptions) -> Result<Connection, Failed> {
    let PartnerOptions { options, messages, streams, .. } = given;
    let missing = || wrong("an address is missing");
    let first = *addresses.first().ok_or_else(missing)?;
    let ready = || eprintln!("ready");
    Ok(match (role, *messages) {
        ("server", false) => {
            let listener = UdtListener::<UdtStream>::bind_with(first, options).map_err(wrong)?;
            ready();
            Connection::Stream(accept(&listener, *streams)?)
        }
        ("server", true) => {
            let listener = UdtMessageListener::bind_with(first, options).map_err(wrong)?;
            ready();
            Connection::Messages(listener.accept().map_err(wrong)?.0)
        }
        ("client", false) => {
            ready();
            Connection::Stream(UdtBundle::connect_with(first, options, *streams)?)
        }
        ("client", true) => {
            ready();
            Connection::Messages(UdtMessenger::connect_with(first, options)?)
        }
        ("meet", messages) => {
            let peer = *addresses.get(1).ok_or_else(missing)?;
            ready();
            if messages {
                Connection::Messages(UdtMessenger::rendezvous(first, peer, options)?)
            } else {
                Connection::Stream(UdtStream::rendezvous(first, peer, options)?.into())
            }
        }
        _ => return Err(wrong(format!("role {role}"))),
    })
}

/// The connections of a client as one stream.
fn accept(listener: &UdtListener, streams: u8) -> Result<UdtBundle, Failed> {
    if streams == 1 {
        return Ok(listener.accept().map_err(wrong)?.0.into());
    }
    let bundles = Bundles::new(streams);
    thread::scope(|scope| {
        let mut joining = Vec::new();
        for _ in 0..streams {
            let (stream, _) = listener.accept().map_err(wrong)?;
            joining.push(scope.spawn(|| bundles.join(stream, ())));
        }
        let joined = joining.into_iter().map(|thread| thread.join().expect("joining does not panic"));
        let whole = joined.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().next();
        whole.map(|(bundle, _)| bundle).ok_or_else(|| wrong("the connections are not one stream"))
    })
}

impl Partner<'_> {
    fn step(&mut self, text: &str) -> Result<(), Failed> {
        let (name, numbers) = text.split_once(':').unwrap_or((text, ""));
        let numbers: Vec<i64> = numbers.split(',').filter_map(|number| number.parse().ok()).collect();
        let number = |index: usize| numbers.get(index).copied().ok_or_else(|| wrong(format!("step {text}")));
        let unsigned = |index| number(index).and_then(|number| u64::try_from(number).map_err(wrong));
        let start = clock::now();
        match name {
            "send" => self.send(unsigned(0)?)?,
            "send-for" => self.send_for(start + Duration::from_secs(unsigned(0)?))?,
            "receive" => self.receive(unsigned(0)?, PIECE, Duration::ZERO)?,
            "slow" => self.receive(unsigned(0)?, unsigned(1)? as usize, Duration::from_millis(unsigned(2)?))?,
            "receive-all" => self.receive_all()?,
            "messages" => self.messages(unsigned(0)?, unsigned(1)? as usize, number(2)?, number(3)? != 0)?,
            "expect" => self.expect(unsigned(0)?)?,
            "pause" => sleep(Duration::from_millis(unsigned(0)?)),
            _ => return Err(wrong(format!("step {text}"))),
        }
        self.report.transfer_s += start.elapsed().as_secs_f64();
        self.update_report();
        Ok(())
    }

    /// Closes the connection after all sent data has been delivered. It is no failure if the peer has closed it before.
    fn close(self) -> Result<(), Failed> {
        let closed = match self.connection {
            Connection::Stream(stream) => stream.close(),
            Connection::Messages(messenger) => messenger.close(),
        };
        match closed {
            Ok(()) | Err(CloseError::Ended(Ended::PeerClosed)) => Ok(()),
            Err(error) => Err(wrong(error)),
        }
    }

    fn update_report(&mut self) {
        let stats = match &self.connection {
            Connection::Stream(stream) => stream.stats(),
            Connection::Messages(messenger) => messenger.stats(),
        };
        let Some(Stats { udt, .. }) = stats else { return };
        self.report.packets_sent = udt.data_segs_out;
        self.report.retransmitted = udt.retrans;
        self.report.losses_reported = udt.lost;
        self.report.period_us = udt.pacing_rate.map_or(0.0, |rate| 1500.0 * 8e6 / rate.0);
        self.report.rtt_ms = udt.rtt.map_or(0.0, |rtt| rtt.as_secs_f64() * 1e3);
    }

    fn stream(&self) -> Result<&UdtBundle, Failed> {
        match &self.connection {
            Connection::Stream(stream) => Ok(stream),
            Connection::Messages(_) => Err(wrong("a step of streams")),
        }
    }

    fn messenger(&self) -> Result<&UdtMessenger, Failed> {
        match &self.connection {
            Connection::Messages(messenger) => Ok(messenger),
            Connection::Stream(_) => Err(wrong("a step of messages")),
        }
    }

    fn send(&mut self, bytes: u64) -> Result<(), Failed> {
        let until = self.report.sent + bytes;
        let mut buffer = vec![0; PIECE];
        while self.report.sent < until {
            let piece = (until - self.report.sent).min(PIECE as u64) as usize;
            for (at, byte) in (self.report.sent..).zip(&mut buffer[..piece]) {
                *byte = byte_at(at);
            }
            self.stream()?.write_all(&buffer[..piece])?;
            self.report.sent += piece as u64;
        }
        Ok(())
    }

    fn send_for(&mut self, end: Instant) -> Result<(), Failed> {
        let stream = self.stream()?.clone();
        let done = AtomicBool::new(!self.sample);
        thread::scope(|scope| {
            // Writing may block for longer than a sample takes.
            let samples = scope.spawn(|| samples(&stream, &done));
            let sent = self.write_until(end);
            done.store(true, Ordering::Relaxed);
            self.report.samples = samples.join().unwrap_or_default();
            sent
        })
    }

    fn write_until(&mut self, end: Instant) -> Result<(), Failed> {
        let buffer = vec![0; PIECE];
        while clock::now() < end {
            self.report.sent += self.stream()?.write(&buffer)? as u64;
        }
        Ok(())
    }

    fn receive(&mut self, bytes: u64, piece: usize, pause: Duration) -> Result<(), Failed> {
        let until = self.report.received + bytes;
        let mut buffer = vec![0; piece];
        while self.report.received < until {
            sleep(pause);
            let piece = (until - self.report.received).min(piece as u64) as usize;
            let taken = self.stream()?.read(&mut buffer[..piece])?;
            if taken == 0 {
                return Err(Failed { what: "the stream ended early".to_owned(), code: CONNECTION_LOST });
            }
            for (at, byte) in (self.report.received..).zip(&buffer[..taken]) {
                if *byte != byte_at(at) {
                    return Err(wrong(format!("wrong byte at {at}")));
                }
            }
            self.report.received += taken as u64;
        }
        Ok(())
    }

    fn receive_all(&mut self) -> Result<(), Failed> {
        let mut buffer = vec![0; PIECE];
        let mut start = None;
        loop {
            let taken = match self.stream()?.read(&mut buffer) {
                Ok(0) => return Ok(()),
                Ok(taken) => taken,
                // libudt reports an orderly end like this.
                Err(error) if error.kind() == io::ErrorKind::ConnectionReset => return Ok(()),
                Err(error) => return Err(error.into()),
            };
            let second = start.get_or_insert_with(clock::now).elapsed().as_secs() as usize;
            let seconds = &mut self.report.received_each_second;
            seconds.resize(seconds.len().max(second + 1), 0);
            seconds[second] += taken as u64;
            self.report.received += taken as u64;
        }
    }

    fn messages(&mut self, count: u64, size: usize, ttl_ms: i64, in_order: bool) -> Result<(), Failed> {
        let ttl = u64::try_from(ttl_ms).ok().map(Span::from_millis);
        let mut options = MessageOptions::new();
        (options.ttl, options.in_order) = (ttl, in_order);
        for _ in 0..count {
            let number = self.next_message;
            self.next_message += 1;
            let mut message: Vec<u8> = (0..size as u64).map(|at| message_byte(number, at)).collect();
            let head = message.len().min(4);
            message[..head].copy_from_slice(&number.to_le_bytes()[..head]);
            self.messenger()?.send(&message, options).map_err(wrong)?;
            self.report.sent += size as u64;
        }
        Ok(())
    }

    fn expect(&mut self, count: u64) -> Result<(), Failed> {
        let mut seen = std::collections::BTreeSet::new();
        while (seen.len() as u64) < count {
            let message = self.messenger()?.receive().map_err(wrong)?;
            let Some((head, body)) = message.split_first_chunk() else {
                return Err(wrong(format!("a message of {} bytes", message.len())));
            };
            let number = u32::from_le_bytes(*head);
            if (4..).zip(body).any(|(at, byte)| *byte != message_byte(number, at)) {
                return Err(wrong(format!("wrong bytes in message {number}")));
            }
            self.report.out_of_order += u64::from(seen.last().is_some_and(|last| number < *last));
            if !seen.insert(number) {
                return Err(wrong(format!("message {number} came twice")));
            }
            self.report.received += message.len() as u64;
            self.report.messages += 1;
        }
        Ok(())
    }
}

/// Samples of the first connection of a stream every tenth of a second until `done`.
fn samples(stream: &UdtBundle, done: &AtomicBool) -> Vec<Sample> {
    let mut samples = Vec::new();
    while !done.load(Ordering::Relaxed) {
        samples.extend(stream.stats().map(|stats| sample(&stats)));
        sleep(SAMPLE);
    }
    samples
}

fn sample(stats: &Stats) -> Sample {
    let udt = &stats.udt;
    Sample {
        unix_s: clock::unix_s(),
        sent: udt.data_segs_out,
        retransmitted: udt.retrans,
        acked_bytes: udt.bytes_acked,
        lost: udt.lost,
        timeouts: udt.timeouts,
        window: udt.cwnd.0,
        in_flight: udt.in_flight,
        rtt_s: udt.rtt.map_or(0.0, Span::as_secs_f64),
        rate_pps: udt.pacing_rate.map_or(0.0, |rate| rate.0 / (1500.0 * 8.0)),
    }
}

impl From<ConnectError> for Failed {
    fn from(error: ConnectError) -> Self {
        let code = match &error {
            ConnectError::Refused { why: Refusal::Timeout, .. } => NO_SERVER,
            ConnectError::Refused { .. } => REJECTED,
            _ => 0,
        };
        Self { what: error.to_string(), code }
    }
}

impl From<io::Error> for Failed {
    fn from(error: io::Error) -> Self {
        Self { what: error.to_string(), code: CONNECTION_LOST }
    }
}

/// A failure that has no number in libudt.
fn wrong(what: impl Into<Box<dyn Error>>) -> Failed {
    Failed { what: what.into().to_string(), code: 0 }
}

/// The byte at an offset of the stream, as `partner.cpp` has it.
fn byte_at(offset: u64) -> u8 {
    offset.wrapping_mul(31).wrapping_add((offset >> 8).wrapping_mul(17)).wrapping_add(offset >> 16) as u8
}

fn message_byte(number: u32, offset: u64) -> u8 {
    byte_at(offset + 1009 * u64::from(number))
}

fn processor_seconds() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

/// Bytes handed over at once, as the demos of libudt do.
const PIECE: usize = 100_000;

/// The time between two samples.
const SAMPLE: Duration = Duration::from_millis(100);

/// libudt's numbers.
const NO_SERVER: i32 = 1001;
const REJECTED: i32 = 1002;
const CONNECTION_LOST: i32 = 2001;
