//! The side of the kernel: `iperf3` between two networks, an emulated link between them, and `ss` at the sender.

use std::collections::BTreeMap;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use cwnd::Span;
use cwnd_link::{Side, TunLink};
use cwnd_sim::Loss;
use cwnd_sim::emulate::Emulation;

use super::cases::Experiment;
use super::record::Measured;
use crate::Error;
use crate::ns3::output;
use crate::plot::Series;

/// A sample of the sockets of the sender.
struct Sample {
    /// Seconds since the client was started.
    at_s: f64,
    /// By local port.
    sockets: BTreeMap<String, Socket>,
}

/// The values of `ss -ti` for a socket.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Socket {
    window: f64,
    sent: f64,
    retransmitted: f64,
}

/// Runs the kernel's side once.
pub(super) fn run(experiment: &Experiment<'_>, seed: u64) -> Result<Measured, Error> {
    let forth = experiment.path.emulation();
    let back = Emulation { loss: Loss::None, ..forth.clone() };
    let tunnel = TunLink::start(&forth, &back, seed, SPIN)?;
    let settings = tunnel.at(Side::Near, settings)?;
    let mut server = tunnel.at(Side::Far, || {
        Command::new("iperf3").args(["-s", "-1"]).stdout(Stdio::null()).spawn().map_err(|error| program(&error))
    })??;
    thread::sleep(SETTLING);
    let begin_unix_s = unix_s();
    let (report, samples) = tunnel.at(Side::Near, || client(experiment))??;
    let _ = server.kill();
    let _ = server.wait();
    let wire = tunnel.stop()?;
    if let Some(warning) = wire.warning() {
        return Err(Error::Late(warning));
    }
    let from = begin_unix_s + experiment.warmup as f64;
    let measured = from..from + experiment.seconds as f64;
    let waiting =
        wire.samples.iter().filter(|sample| measured.contains(&sample.unix_s)).map(|sample| sample.queue_bytes);
    let (sum, count) = waiting.fold((0.0, 0.0), |(sum, count), bytes| (sum + bytes as f64, count + 1.0));
    let rate = experiment.path.rate.value().0;
    let number = |value: Option<f64>| value.unwrap_or(f64::NAN);
    Ok(Measured {
        kernel: output(Command::new("uname").args(["-srm"]))?.trim().to_owned(),
        date: output(Command::new("date").args(["-u", "+%F"]))?.trim().to_owned(),
        seed,
        goodput_bps: report,
        queue_delay_s: sum / count * 8.0 / rate,
        retransmitted: number(retransmitted(&samples, experiment.warmup as f64)),
        late_p99_s: [wire.forth.late_p99_s, wire.back.late_p99_s].map(number),
        late_max_s: [wire.forth.late_max_s, wire.back.late_max_s].map(number),
        settings,
        window: window(&samples, experiment.warmup as f64),
    })
}

/// The measurement of iperf3's client, and the samples taken meanwhile.
fn client(experiment: &Experiment<'_>) -> Result<(f64, Vec<Sample>), Error> {
    let Experiment { algorithm, path, seconds, warmup, .. } = experiment;
    let words = format!("-c {} -J -C {algorithm} -t {seconds} -O {warmup} -P {}", Side::Far.address(), path.flows);
    let ended = AtomicBool::new(false);
    thread::scope(|scope| {
        let sampler = scope.spawn(|| sample(&ended));
        let client = Command::new("iperf3").args(words.split(' ')).stdin(Stdio::null()).output();
        ended.store(true, Ordering::Relaxed);
        let samples = sampler.join().expect("the sampler does not panic");
        let client = client.map_err(|error| program(&error))?;
        let report: serde_json::Value = serde_json::from_slice(&client.stdout).map_err(|error| program(&error))?;
        let received = report.pointer("/end/sum_received/bits_per_second").and_then(serde_json::Value::as_f64);
        let reason = || report.pointer("/error").map_or("no result".to_owned(), ToString::to_string);
        Ok((received.ok_or_else(|| program(&reason()))?, samples))
    })
}

/// Looks at the sockets until `ended`, on the network this thread is in.
#[expect(clippy::disallowed_methods, reason = "samples of a real sender have real times")]
fn sample(ended: &AtomicBool) -> Vec<Sample> {
    let (start, mut samples) = (Instant::now(), Vec::new());
    while !ended.load(Ordering::Relaxed) {
        let at_s = start.elapsed().as_secs_f64();
        let shown = Command::new("ss").args(["-tinHO", "state", "established"]).output();
        let text = shown.map(|shown| String::from_utf8_lossy(&shown.stdout).into_owned()).unwrap_or_default();
        samples.push(Sample { at_s, sockets: text.lines().filter_map(socket).collect() });
        thread::sleep(INTERVAL);
    }
    samples
}

/// The local port and the numbers of a line of `ss -tinHO`.
fn socket(line: &str) -> Option<(String, Socket)> {
    let mut words = line.split_whitespace();
    let local = words.find(|word| word.contains(':'))?;
    let mut socket = Socket::default();
    for word in words {
        let (key, value) = word.split_once(':').unwrap_or((word, ""));
        let number = || value.rsplit('/').next().and_then(|number| number.parse().ok());
        match key {
            "cwnd" => socket.window = number()?,
            "data_segs_out" => socket.sent = number()?,
            // In flight again, and in all.
            "retrans" => socket.retransmitted = number()?,
            _ => {}
        }
    }
    Some((local.to_owned(), socket))
}

/// The retransmissions of all flows together, each from its first sample behind the warm-up to its last one: they do not end at the same
/// moment.
fn retransmitted(samples: &[Sample], warmup_s: f64) -> Option<f64> {
    let mut ends: BTreeMap<&str, (Socket, Socket)> = BTreeMap::new();
    let measured = samples.iter().filter(|sample| sample.at_s >= warmup_s);
    for (local, socket) in measured.flat_map(|sample| &sample.sockets) {
        ends.entry(local).or_insert((*socket, *socket)).1 = *socket;
    }
    let grown = |of: fn(&Socket) -> f64| ends.values().map(|(first, last)| of(last) - of(first)).sum::<f64>();
    let sent = grown(|socket| socket.sent);
    (sent > 0.0).then(|| grown(|socket| socket.retransmitted) / sent)
}

/// The window of the flow that sent most: the connection over which iperf3 agrees on a test sends little.
fn window(samples: &[Sample], warmup_s: f64) -> Series {
    let sockets = samples.iter().flat_map(|sample| &sample.sockets);
    let Some((local, _)) = sockets.max_by(|a, b| a.1.sent.total_cmp(&b.1.sent)) else { return Series::default() };
    let points = samples.iter().filter_map(|sample| Some((sample.at_s, sample.sockets.get(local)?.window)));
    Series::plotted(points, warmup_s)
}

/// The settings that decide how the kernel sends, in the network of this thread.
fn settings() -> BTreeMap<String, String> {
    let read = |path: String| std::fs::read_to_string(path).map(|text| text.trim().to_owned()).ok();
    let sysctls = SYSCTLS.iter().map(|name| (*name, format!("/proc/sys/net/{}", name.replace('.', "/"))));
    let hystart = ["hystart", "hystart_detect", "fast_convergence"]
        .map(|name| (name, format!("/sys/module/tcp_cubic/parameters/{name}")));
    let mut settings: BTreeMap<String, String> =
        sysctls.chain(hystart).filter_map(|(name, path)| Some((name.to_owned(), read(path)?))).collect();
    // Offloads show in the sizes of packets that the device takes at once.
    if let Ok(device) = output(Command::new("ip").args(["-d", "-o", "link", "show", "up", "scope", "global"])) {
        let words: Vec<&str> = device.split_whitespace().collect();
        let pairs = words.windows(2).filter(|pair| {
            ["qdisc", "gso_max_size", "gso_max_segs", "gro_max_size", "tso_max_size"].contains(&pair[0])
        });
        settings.extend(pairs.map(|pair| (pair[0].to_owned(), pair[1].to_owned())));
    }
    settings
}

fn program(reason: &dyn std::fmt::Display) -> Error {
    Error::Program { command: "iperf3".to_owned(), reason: reason.to_string() }
}

/// Seconds since 1970.
#[expect(clippy::disallowed_methods, reason = "the samples of a link have the time of day")]
fn unix_s() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64()
}

const SYSCTLS: [&str; 9] = [
    "ipv4.tcp_dsack",
    "ipv4.tcp_early_retrans",
    "ipv4.tcp_ecn",
    "ipv4.tcp_no_metrics_save",
    "ipv4.tcp_recovery",
    "ipv4.tcp_sack",
    "ipv4.tcp_timestamps",
    "ipv4.tcp_rmem",
    "ipv4.tcp_wmem",
];

/// Between looks at the sockets; each starts a program, which makes the link late if there are many.
const INTERVAL: Duration = Duration::from_millis(200);
/// Longer than a server takes to listen.
const SETTLING: Duration = Duration::from_millis(300);
const SPIN: Span = Span::from_micros(20);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_ss_is_read() {
        let line = "0 1246208 10.77.0.1:52918 10.77.0.2:5201 cubic wscale:10,10 rto:244 rtt:43.6/0.1 ato:40 mss:1448 pmtu:1500 cwnd:174 \
                    ssthresh:120 bytes_sent:4 bytes_retrans:3 segs_out:9 data_segs_out:2817 retrans:0/12 reordering:9";
        let expected = Socket { window: 174.0, sent: 2817.0, retransmitted: 12.0 };
        assert_eq!(socket(line), Some(("10.77.0.1:52918".to_owned(), expected)));
        assert_eq!(socket(""), None);
    }

    #[test]
    fn the_connection_that_only_controls_the_test_is_not_taken_for_a_flow_although_it_ends_last() {
        let at = |at_s: f64, flows: &[(&str, f64, f64, f64)]| Sample {
            at_s,
            sockets: flows
                .iter()
                .map(|(local, window, sent, retransmitted)| {
                    (local.to_string(), Socket { window: *window, sent: *sent, retransmitted: *retransmitted })
                })
                .collect(),
        };
        let samples = [
            at(0.0, &[("control", 10.0, 5.0, 0.0), ("flow", 10.0, 50.0, 10.0)]),
            at(5.0, &[("control", 13.0, 6.0, 0.0), ("flow", 40.0, 1000.0, 30.0), ("other", 20.0, 500.0, 0.0)]),
            at(6.0, &[("control", 13.0, 6.0, 0.0), ("flow", 50.0, 2000.0, 40.0), ("other", 20.0, 800.0, 3.0)]),
            at(7.0, &[("control", 13.0, 6.0, 0.0), ("flow", 60.0, 3000.0, 50.0)]),
            at(8.0, &[("control", 13.0, 6.0, 0.0)]),
        ];
        assert_eq!(retransmitted(&samples, 5.0), Some(23.0 / 2300.0));
        assert_eq!(window(&samples, 5.0).packets, [40.0, 50.0, 60.0]);
        assert_eq!(retransmitted(&samples[..1], 5.0), None);
    }
}
