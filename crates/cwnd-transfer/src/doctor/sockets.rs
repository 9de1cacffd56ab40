//! UDP sockets: buffers, packets lost in them, segmentation offload.

use std::fs;
use std::io::{self, IoSliceMut};
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use super::diagnosis::Finding;
use cwnd_net::{Options, UdtPort};
use cwnd_text::counted;
use quinn_udp::{BATCH_SIZE, RecvMeta, Transmit, UdpSockRef, UdpSocketState};
use socket2::{Domain, Protocol, Socket, Type};

use super::{PACKET, PathTarget, fix, rate, verdict};

pub(super) fn check(target: &PathTarget) -> Vec<Finding> {
    let [receive, send] = buffers(target)
        .unwrap_or_else(|why| [Finding::unknown("receive_buffer", why.clone()), Finding::unknown("send_buffer", why)]);
    let segmentation = segmentation().unwrap_or_else(|error| Finding::unknown("segmentation", error.to_string()));
    vec![receive, send, overruns(), input_queue(), segmentation]
}

/// The buffers that a port requests, and those that it gets.
fn buffers(target: &PathTarget) -> Result<[Finding; 2], String> {
    let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let port = UdtPort::bind(any, &Options::default()).map_err(|error| error.to_string())?;
    let (asked, granted) = port.socket_buffer();
    let covered = granted as f64 / f64::from(CHARGED) * f64::from(PACKET) * 8.0 / target.rate;
    let receive = buffer("receive_buffer", "rmem_max", (asked, granted), target, |window| {
        format!(
            "at {} a receiver that is descheduled for {:.1} ms loses packets; at {} a whole window fits up to {}",
            rate(target.rate),
            covered * 1e3,
            target.rtt_text,
            rate(window)
        )
    });
    let sent = send_buffer(asked).map_err(|error| error.to_string())?;
    let send = buffer("send_buffer", "wmem_max", (asked, sent), target, |window| {
        let fits = rate(window);
        format!("bursts up to this size wait for the device; at {} a whole window fits up to {fits}", target.rtt_text)
    });
    Ok([receive, send])
}

fn send_buffer(bytes: usize) -> io::Result<usize> {
    let socket = Socket::new(Domain::IPV4, Type::DGRAM, Some(Protocol::UDP))?;
    socket.set_send_buffer_size(bytes)?;
    Ok(socket.send_buffer_size()? / KERNEL_DOUBLES)
}

fn buffer(
    check: &'static str,
    key: &str,
    (asked, granted): (usize, usize),
    target: &PathTarget,
    means: impl FnOnce(f64) -> String,
) -> Finding {
    let limits = granted < asked;
    let mebibytes = |bytes: usize| bytes as f64 / f64::from(1 << 20);
    Finding {
        measured: format!("{:.1} MiB of {:.1} MiB", mebibytes(granted), mebibytes(asked)),
        value: Some(granted as f64),
        unit: "bytes",
        verdict: verdict(limits),
        means: means(granted as f64 / f64::from(CHARGED) * f64::from(PACKET) * 8.0 / target.rtt),
        fix: fix(limits, widen(key)),
        ..Finding::unknown(check, "")
    }
}

/// The command that lets sockets have as large a buffer as any port requests.
fn widen(key: &str) -> String {
    format!("sysctl -w net.core.{key}={WIDE}")
}

/// The largest buffer that a socket may have, in bytes.
fn most(key: &str) -> Option<u64> {
    fs::read_to_string(format!("/proc/sys/net/core/{key}")).ok()?.trim().parse().ok()
}

/// Datagrams dropped because their socket was full, since the system was started.
fn overruns() -> Finding {
    let table = fs::read_to_string("/proc/net/snmp").ok();
    let counters = table.as_deref().and_then(|table| counter(table, "InDatagrams").zip(counter(table, "RcvbufErrors")));
    let Some((received, lost)) = counters else { return Finding::unknown("overruns", "the system does not report it") };
    let share = lost as f64 / (received + lost).max(1) as f64;
    let limits = share > LOST;
    Finding {
        measured: format!("{lost} of {received} datagrams found their socket full since the start of the system"),
        value: Some(share),
        verdict: verdict(limits),
        means: if limits {
            "each is a loss to its sender, who slows down: larger buffers, or fewer other programs".to_owned()
        } else {
            "fewer than one in ten thousand".to_owned()
        },
        fix: fix(limits && most("rmem_max").is_none_or(|most| most < WIDE), widen("rmem_max")),
        ..Finding::unknown("overruns", "")
    }
}

/// A counter of UDP in the form of `/proc/net/snmp`: a line of names, then a line of values.
fn counter(table: &str, name: &str) -> Option<u64> {
    let mut lines = table.lines().filter(|line| line.starts_with("Udp:")).map(str::split_whitespace);
    let (names, mut values) = (lines.next()?, lines.next()?);
    let at = names.clone().position(|word| word == name)?;
    values.nth(at)?.parse().ok()
}

/// Packets dropped between the device and the protocols.
fn input_queue() -> Finding {
    let table = fs::read_to_string("/proc/net/softnet_stat").ok();
    // A line for each processor: handled and dropped packets first, hexadecimal.
    let column = |line: &str, at| u64::from_str_radix(line.split_whitespace().nth(at)?, 16).ok();
    let sum = |at| table.as_ref().and_then(|table| table.lines().map(|line| column(line, at)).sum::<Option<u64>>());
    let Some((handled, dropped)) = sum(0).zip(sum(1)) else {
        return Finding::unknown("input_queue", "the system does not report it");
    };
    let share = dropped as f64 / (handled + dropped).max(1) as f64;
    let limits = share > LOST;
    Finding {
        measured: format!("{} dropped before any protocol saw them, {handled} handled", counted(dropped, "packet")),
        value: Some(share),
        verdict: verdict(limits),
        means: "every drop is a loss to its sender".to_owned(),
        fix: fix(limits, "sysctl -w net.core.netdev_max_backlog=10000".to_owned()),
        ..Finding::unknown("input_queue", "")
    }
}

/// Whether the kernel sends and receives many datagrams per call, measured on the loopback.
fn segmentation() -> io::Result<Finding> {
    let open = || -> io::Result<(Socket, UdpSocketState)> {
        let socket = Socket::new(Domain::IPV4, Type::DGRAM, Some(Protocol::UDP))?;
        socket.bind(&SocketAddr::from((Ipv4Addr::LOCALHOST, 0)).into())?;
        let state = UdpSocketState::new(UdpSockRef::from(&socket))?;
        Ok((socket, state))
    };
    let ((from, sending), (to, receiving)) = (open()?, open()?);
    // On the loopback a datagram arrives at once or not at all.
    to.set_nonblocking(false)?;
    to.set_read_timeout(Some(Duration::from_secs(1)))?;
    let most = sending.max_gso_segments();
    let batch = most.min(TRIED);
    let payload = vec![0; batch * SEGMENT];
    let destination = to.local_addr()?.as_socket().ok_or(io::ErrorKind::AddrNotAvailable)?;
    let segment_size = (batch > 1).then_some(SEGMENT);
    let transmit = Transmit { destination, ecn: None, contents: &payload, segment_size, src_ip: None };
    sending.try_send(UdpSockRef::from(&from), &transmit)?;
    let mut memory = vec![0; BATCH_SIZE << 16];
    let mut meta = [RecvMeta::default(); BATCH_SIZE];
    let mut chunks = memory.chunks_exact_mut(1 << 16);
    let mut slices: [IoSliceMut<'_>; BATCH_SIZE] =
        std::array::from_fn(|_| IoSliceMut::new(chunks.next().unwrap_or_default()));
    receiving.recv(UdpSockRef::from(&to), &mut slices, &mut meta)?;
    let received = meta[0].len.div_ceil(meta[0].stride.max(1));
    let limits = batch < 2 || received < 2;
    Ok(Finding {
        measured: format!("{batch} datagrams sent by a call, {received} received by one"),
        value: Some(batch.min(received) as f64),
        unit: "datagrams",
        verdict: verdict(limits),
        means: if limits {
            "every datagram passes the kernel alone, at some five times the processor time; Linux can do better from 5.0 on"
                .to_owned()
        } else {
            "GSO and GRO work: the kernel is passed once for many datagrams".to_owned()
        },
        ..Finding::unknown("segmentation", "")
    })
}

/// Linux charges 2,304 bytes of a receive buffer for a packet of 1,500, and grants twice what it reports.
const CHARGED: u32 = 1_152;

/// Linux reports twice the requested size.
const KERNEL_DOUBLES: usize = if cfg!(target_os = "linux") { 2 } else { 1 };

/// At 1 Gbit/s one loss in ten thousand packets reduces the rate ten times a second.
const LOST: f64 = 1e-4;

/// More than any port requests.
const WIDE: u64 = 16 << 20;

/// Datagrams to be tried together, and the bytes of each: 64 KB are the most.
const TRIED: usize = 16;
const SEGMENT: usize = 1_400;

#[cfg(test)]
mod tests {
    use crate::doctor::diagnosis::Verdict;

    use super::*;

    #[test]
    fn counters_are_read_by_name() {
        let table =
            "Ip: Forwarding\nIp: 1\nUdp: InDatagrams NoPorts InErrors OutDatagrams RcvbufErrors\nUdp: 70 1 2 3 4\n";
        assert_eq!((counter(table, "InDatagrams"), counter(table, "RcvbufErrors")), (Some(70), Some(4)));
        assert_eq!(counter(table, "Forwarding"), None);
    }

    #[test]
    fn a_short_buffer_is_reported_with_its_rate_and_its_command() {
        let target = PathTarget {
            rate: 1e9,
            rtt: 0.05,
            rtt_text: "50ms".to_owned(),
            loss: cwnd_sim::Loss::None,
            loss_text: "0".to_owned(),
        };
        let short = buffer("receive_buffer", "rmem_max", (8 << 20, 1 << 20), &target, |window| format!("{window:.0}"));
        // 910 packets of 1,500 bytes in 50 ms.
        assert_eq!((short.measured.as_str(), short.means.as_str()), ("1.0 MiB of 8.0 MiB", "218453333"));
        assert_eq!((short.verdict, short.fix), (Verdict::Limits, vec![widen("rmem_max")]));
        let whole = buffer("receive_buffer", "rmem_max", (8 << 20, 8 << 20), &target, |_| String::new());
        assert_eq!((whole.verdict, whole.fix.len()), (Verdict::Fine, 0));
    }
}
