//! The outcome of a measurement, in the shape of iperf3's JSON.

use std::net::SocketAddr;
use std::time::Duration;

use cwnd_net::Stats;
use cwnd_text::{counted, decimal};
use serde::Serialize;

use super::exchange::{BLOCK, Request, Side, Until};

/// The document. Times are in seconds unless stated otherwise, round-trip times in microseconds.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    pub(super) start: Start,
    pub(super) intervals: Vec<Interval>,
    pub(super) end: End,
}

#[derive(Debug, Serialize)]
pub(super) struct Start {
    connected: [Connected; 1],
    version: &'static str,
    test_start: TestStart,
    /// The receive buffer of this end's UDP socket, bytes: asked for and granted.
    sock_bufsize: usize,
    rcvbuf_actual: usize,
}

#[derive(Debug, Serialize)]
struct Connected {
    socket: u32,
    local_host: String,
    local_port: u16,
    remote_host: String,
    remote_port: u16,
}

#[derive(Debug, Serialize)]
struct TestStart {
    protocol: &'static str,
    num_streams: u32,
    blksize: usize,
    omit: u32,
    /// 0 if bytes are counted instead.
    duration: f64,
    /// 0 if time is.
    bytes: u64,
    blocks: u64,
    reverse: u8,
    offload: u8,
}

#[derive(Debug, Serialize)]
pub(super) struct Interval {
    streams: [Stream; 1],
    sum: Sum,
}

#[derive(Clone, Debug, Serialize)]
struct Stream {
    socket: u32,
    #[serde(flatten)]
    sum: Sum,
    /// The congestion window, bytes.
    snd_cwnd: u64,
    rtt: u64,
    rttvar: u64,
    /// The limit of the sending side at the end of the interval.
    limited_by: &'static str,
}

#[derive(Clone, Debug, Serialize)]
pub(super) struct Sum {
    start: f64,
    end: f64,
    seconds: f64,
    bytes: u64,
    bits_per_second: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    retransmits: Option<u64>,
    omitted: bool,
    sender: bool,
}

#[derive(Debug, Serialize)]
pub(super) struct End {
    streams: [Pair; 1],
    sum_sent: Sum,
    /// None if the other end does not report it.
    sum_received: Option<Sum>,
    cpu_utilization_percent: Cpu,
    cpu_seconds_per_gigabyte: PerGigabyte,
    sender_udt_congestion: Option<String>,
}

#[derive(Debug, Serialize)]
struct Pair {
    sender: Sum,
    receiver: Option<Sum>,
}

#[derive(Debug, Serialize)]
struct Cpu {
    host_total: f64,
    host_user: f64,
    host_system: f64,
    remote_total: Option<f64>,
    remote_user: Option<f64>,
    remote_system: Option<f64>,
}

/// Processor time per 10^9 bytes received.
#[derive(Debug, Serialize)]
struct PerGigabyte {
    host: f64,
    remote: Option<f64>,
}

/// The two ends of a measurement.
#[derive(Debug)]
pub(super) struct Outcome {
    pub(super) local: Side,
    /// None if the other end does not report it.
    pub(super) remote: Option<Side>,
    /// This end sent.
    pub(super) sender: bool,
    pub(super) congestion: Option<String>,
}

impl Start {
    pub(super) fn new(
        local: SocketAddr,
        peer: SocketAddr,
        request: &Request,
        offload: bool,
        stats: Option<&Stats>,
    ) -> Self {
        let (sock_bufsize, rcvbuf_actual) = stats.map_or((0, 0), |stats| stats.socket_buffer);
        let (duration, bytes) = match request.until {
            Until::Seconds(seconds) => (seconds, 0),
            Until::Bytes(bytes) => (0.0, bytes),
        };
        Self {
            connected: [Connected {
                socket: SOCKET,
                local_host: local.ip().to_string(),
                local_port: local.port(),
                remote_host: peer.ip().to_string(),
                remote_port: peer.port(),
            }],
            version: concat!("cwnd ", env!("CARGO_PKG_VERSION")),
            test_start: TestStart {
                protocol: "UDT",
                num_streams: 1,
                blksize: BLOCK,
                omit: 0,
                duration,
                bytes,
                blocks: 0,
                reverse: request.reverse.into(),
                offload: offload.into(),
            },
            sock_bufsize,
            rcvbuf_actual,
        }
    }
}

impl Interval {
    /// A period between two moments, each given with the counters at that moment: `before` is its beginning, `after` its end.
    pub(super) fn new(sender: bool, before: (Duration, Option<&Stats>), after: (Duration, &Stats), mss: u16) -> Self {
        let (from, to) = (before.0.as_secs_f64(), after.0.as_secs_f64());
        let bytes = |stats: &Stats| if sender { stats.udt.bytes_acked } else { stats.udt.bytes_received };
        let stats = after.1;
        let old = before.1;
        let counted = bytes(stats) - old.map_or(0, bytes);
        let retransmits = sender.then(|| stats.udt.retrans - old.map_or(0, |old| old.udt.retrans));
        let sum = Sum::new(from, to, counted, retransmits, sender);
        let micros = |span: Option<cwnd::Span>| span.map_or(0, |span| span.as_nanos() / 1_000);
        let stream = Stream {
            socket: SOCKET,
            sum: sum.clone(),
            snd_cwnd: (stats.udt.cwnd.0 * f64::from(mss)) as u64,
            rtt: micros(stats.udt.rtt),
            rttvar: micros(stats.udt.rttvar),
            limited_by: stats.limited_by(),
        };
        Self { streams: [stream], sum }
    }

    /// A line for a terminal.
    pub(super) fn line(&self) -> String {
        let Sum { start, end, bytes, bits_per_second, retransmits, .. } = &self.sum;
        let [stream] = &self.streams;
        let retransmits = retransmits.map_or_else(String::new, |count| format!("  {count} sent again"));
        format!(
            "{start:6.2}-{end:<6.2} s  {:>10}  {:>13}{retransmits}  rtt {:.3} ms  limited by {}",
            size(*bytes),
            rate(*bits_per_second),
            stream.rtt as f64 / 1e3,
            stream.limited_by,
        )
    }
}

impl Sum {
    fn new(start: f64, end: f64, bytes: u64, retransmits: Option<u64>, sender: bool) -> Self {
        let seconds = end - start;
        let bits_per_second = if seconds > 0.0 { bytes as f64 * 8.0 / seconds } else { 0.0 };
        Self { start, end, seconds, bytes, bits_per_second, retransmits, omitted: false, sender }
    }
}

impl End {
    pub(super) fn new(outcome: &Outcome, elapsed: Duration) -> Self {
        let Outcome { local, remote, sender, congestion } = outcome;
        let (sent, received) = if *sender { (Some(local), remote.as_ref()) } else { (remote.as_ref(), Some(local)) };
        let sum = |side: &Side, sends: bool| {
            Sum::new(0.0, side.seconds, side.bytes, sends.then_some(side.retransmits), *sender)
        };
        let nothing = Side::default();
        let sum_sent = sum(sent.unwrap_or(&nothing), true);
        let sum_received = received.map(|side| sum(side, false));
        let [host_total, host_user, host_system] = local.cpu.percent(elapsed);
        let there = remote.map(|remote| remote.cpu.percent(elapsed));
        let gigabytes = received.or(sent).map_or(0.0, |side| side.bytes as f64 / 1e9).max(1e-9);
        Self {
            streams: [Pair { sender: sum_sent.clone(), receiver: sum_received.clone() }],
            sum_sent,
            sum_received,
            cpu_utilization_percent: Cpu {
                host_total,
                host_user,
                host_system,
                remote_total: there.map(|[total, _, _]| total),
                remote_user: there.map(|[_, user, _]| user),
                remote_system: there.map(|[_, _, system]| system),
            },
            cpu_seconds_per_gigabyte: PerGigabyte {
                host: local.cpu.total_s() / gigabytes,
                remote: remote.map(|remote| remote.cpu.total_s() / gigabytes),
            },
            sender_udt_congestion: congestion.clone(),
        }
    }
}

impl Report {
    /// The outcome in lines for a terminal.
    pub(super) fn text(&self) -> String {
        let end = &self.end;
        let line = |name: &str, sum: &Sum| {
            format!("{name}  {} in {} s: {}", size(sum.bytes), decimal(sum.seconds, 2), rate(sum.bits_per_second))
        };
        let mut text = line("sent    ", &end.sum_sent);
        if let Some(again) = end.sum_sent.retransmits {
            text += &format!(", {} sent again", counted(again, "packet"));
        }
        text.push('\n');
        if let Some(received) = &end.sum_received {
            text += &line("received", received);
            text.push('\n');
        }
        let PerGigabyte { host, remote } = end.cpu_seconds_per_gigabyte;
        text += &format!("cpu       {host:.3} s/GB here");
        if let Some(remote) = remote {
            text += &format!(", {remote:.3} s/GB there");
        }
        let Start { sock_bufsize, rcvbuf_actual, .. } = self.start;
        if rcvbuf_actual < sock_bufsize {
            text += &format!(
                "\nnote      the kernel grants {rcvbuf_actual} of {sock_bufsize} bytes of receive buffer (net.core.rmem_max)"
            );
        }
        text.push('\n');
        text
    }
}

fn size(bytes: u64) -> String {
    match bytes as f64 {
        bytes if bytes >= 1e9 => format!("{} GB", decimal(bytes / 1e9, 3)),
        bytes => format!("{} MB", decimal(bytes / 1e6, 3)),
    }
}

fn rate(bits_per_second: f64) -> String {
    match bits_per_second {
        rate if rate >= 1e9 => format!("{} Gbit/s", decimal(rate / 1e9, 3)),
        rate => format!("{} Mbit/s", decimal(rate / 1e6, 3)),
    }
}

/// iperf3 tells descriptors apart; there is one connection here.
const SOCKET: u32 = 1;
