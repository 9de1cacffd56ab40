//! Transfers between two programs of one kind, and what they cost.

use std::ops::Range;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use crate::interop::programs::{PartnerReport, Programs, Running};
use cwnd::Span;
use cwnd_link::{Relay, Report};
use cwnd_net::MAX_STREAMS;
use cwnd_sim::emulate::Emulation;
use serde::{Deserialize, Serialize};

use crate::Error;
use crate::ports;
use crate::provenance::Provenance;

/// The programs, and the sources this one was built from.
pub(crate) struct Bench {
    pub(crate) programs: Programs,
    pub(crate) sources: Provenance,
    /// Nothing is recorded.
    pub(crate) quick: bool,
}

/// Whose sockets both ends use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Who {
    Ours { algorithm: &'static str, offload: bool },
    Theirs,
}

/// A transfer.
pub(crate) struct Plan<'a> {
    pub(crate) who: Who,
    /// The link between the ends; none for the bare loopback.
    pub(crate) path: Option<&'a Emulation>,
    /// Further options of both ends.
    pub(crate) ends: &'a str,
    pub(crate) seconds: usize,
    /// The seconds after the first byte that are counted.
    pub(crate) counted: Range<usize>,
}

/// The outcome.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Outcome {
    pub(crate) goodput_bps: f64,
    /// Processor seconds of the sending program for each 10^9 bytes that arrived.
    pub(crate) sender_cpu_s_per_gb: f64,
    pub(crate) receiver_cpu_s_per_gb: f64,
    /// Data packets sent again, as a share of all that were sent.
    pub(crate) retransmitted: Option<f64>,
    /// How late one datagram in a hundred was at most, where there was a link.
    pub(crate) link_late_p99_s: Option<f64>,
    /// The processor time of the link, as a share of a core.
    pub(crate) link_cpu: Option<f64>,
    /// Datagrams that the link did not get to read.
    pub(crate) link_overruns: Option<u64>,
    /// Jain's index of the rates of several flows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) jain: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) stability_index: Option<f64>,
}

/// A relay on a thread of its own.
pub(crate) struct Link {
    stop: Arc<AtomicBool>,
    thread: thread::JoinHandle<Result<Report, cwnd_link::RelayError>>,
    pub(crate) at: std::net::SocketAddr,
}

impl Who {
    pub(crate) fn name(self) -> String {
        match self {
            Self::Ours { algorithm, offload } => {
                format!("{algorithm}{}", if offload { "" } else { " without offload" })
            }
            Self::Theirs => "libudt".to_owned(),
        }
    }
}

impl Bench {
    /// One transfer, and what it came to. One over a link that was late is done again, a few times.
    pub(crate) fn run(&self, plan: &Plan<'_>) -> Result<Outcome, Error> {
        let mut tries = 1..=TRIES;
        let ([receiver, sender], link) = loop {
            match (self.transfer(plan, ""), tries.next()) {
                (Err(Error::Late(why)), Some(tried)) if tried < TRIES => println!("{}: again, {why}", plan.who.name()),
                (done, _) => break done?,
            }
        };
        let counted = receiver.received_each_second.get(plan.counted.clone()).unwrap_or_default();
        let gigabytes = receiver.received as f64 * 1e-9;
        let outcome = Outcome {
            goodput_bps: counted.iter().sum::<u64>() as f64 * 8.0 / plan.counted.len() as f64,
            sender_cpu_s_per_gb: sender.cpu_s / gigabytes,
            receiver_cpu_s_per_gb: receiver.cpu_s / gigabytes,
            retransmitted: (sender.packets_sent > 0).then(|| sender.retransmitted as f64 / sender.packets_sent as f64),
            link_late_p99_s: link.as_ref().and_then(|link| link.forth.late_p99_s),
            link_cpu: link.as_ref().map(|link| link.cpu_s / link.duration_s),
            link_overruns: link.as_ref().map(|link| link.overruns),
            ..Outcome::default()
        };
        println!("{}: {:.1} Mbit/s", plan.who.name(), outcome.goodput_bps * 1e-6);
        Ok(outcome)
    }

    /// The reports of the receiver, the sender, and the link between them. `options` are for the sender.
    pub(crate) fn transfer(
        &self,
        plan: &Plan<'_>,
        options: &str,
    ) -> Result<([PartnerReport; 2], Option<Report>), Error> {
        let at = free()?;
        let common = match plan.who {
            Who::Ours { algorithm, offload } => format!("algorithm={algorithm} offload={} linger=1", u8::from(offload)),
            Who::Theirs => "linger=1".to_owned(),
        };
        let common = format!("{common} {}", plan.ends);
        let receiver = self.start(plan.who, &format!("{common} server {at} receive-all"))?;
        let link = plan.path.map(|path| Link::start(at, path)).transpose()?;
        let front = link.as_ref().map_or(at, |link| link.at);
        let sender = self.start(plan.who, &format!("{common} {options} client {front} send-for:{}", plan.seconds))?;
        let timeout = Duration::from_secs(plan.seconds as u64 + 90);
        // Data that lingers when the time is over is no longer delivered, which is no failure.
        let sender = sender.finish(timeout)?;
        let receiver = receiver.finish(timeout)?;
        let report = link.map(Link::stop).transpose()?;
        report.iter().try_for_each(|report| self.in_time(report))?;
        Ok(([receiver, sender], report))
    }

    /// Refuses what a link carried that was late or lost datagrams of its own, unless nothing is recorded anyway.
    pub(crate) fn in_time(&self, report: &Report) -> Result<(), Error> {
        let warning = report.warning().filter(|_| !self.quick);
        warning.map_or(Ok(()), |warning| Err(Error::Late(warning)))
    }

    fn start(&self, who: Who, arguments: &str) -> Result<Running, Error> {
        let arguments = arguments.split_whitespace();
        Ok(match who {
            Who::Ours { .. } => {
                let own = std::env::current_exe().map_err(|source| Error::File { path: "partner".into(), source })?;
                Running::start(&own, std::iter::once("partner").chain(arguments))?
            }
            Who::Theirs => Running::start(&self.programs.partner(), arguments)?,
        })
    }
}

impl Link {
    pub(crate) fn start(target: std::net::SocketAddr, emulation: &Emulation) -> Result<Self, Error> {
        let local = std::net::SocketAddr::from(([127, 0, 0, 1], 0));
        let mut plan = cwnd_link::Plan::new(local, target, emulation.clone());
        plan.back.loss = cwnd_sim::Loss::None;
        plan.clients = CLIENTS.max(usize::from(MAX_STREAMS));
        plan.spin = SPIN;
        plan.samples = true;
        let relay = Relay::bind(plan)?;
        let at = relay.local().map_err(|source| Error::File { path: "link".into(), source })?;
        let stop = Arc::new(AtomicBool::new(false));
        let stopping = Arc::clone(&stop);
        Ok(Self { stop, thread: thread::spawn(move || relay.run(&stopping, None)), at })
    }

    pub(crate) fn stop(self) -> Result<Report, Error> {
        self.stop.store(true, Ordering::Relaxed);
        Ok(self.thread.join().expect("the relay does not panic")?)
    }
}

/// A run of TCP on the loopback.
pub(crate) fn tcp(seconds: usize) -> Result<Outcome, Error> {
    let port = free()?.port().to_string();
    let program = |reason: String| Error::Program { command: "iperf3".to_owned(), reason };
    let mut server = Command::new("iperf3")
        .args(["-s", "-1", "-p", &port])
        .stdout(Stdio::null())
        .spawn()
        .map_err(|error| program(error.to_string()))?;
    thread::sleep(Duration::from_millis(300));
    let client =
        Command::new("iperf3").args(["-c", "127.0.0.1", "-J", "-p", &port, "-t", &seconds.to_string()]).output();
    let _ = server.kill();
    let _ = server.wait();
    let output = client.map_err(|error| program(error.to_string()))?;
    let report: serde_json::Value =
        serde_json::from_slice(&output.stdout).map_err(|error| program(error.to_string()))?;
    let end = |path: &str| {
        report
            .pointer(path)
            .and_then(serde_json::Value::as_f64)
            .ok_or_else(|| program(format!("its report has no {path}")))
    };
    let gigabytes = end("/end/sum_received/bytes")? * 1e-9;
    let per_gb = |percent: f64| percent / 100.0 * seconds as f64 / gigabytes;
    let outcome = Outcome {
        goodput_bps: end("/end/sum_received/bits_per_second")?,
        sender_cpu_s_per_gb: per_gb(end("/end/cpu_utilization_percent/host_total")?),
        receiver_cpu_s_per_gb: per_gb(end("/end/cpu_utilization_percent/remote_total")?),
        ..Outcome::default()
    };
    println!("TCP (iperf3): {:.1} Mbit/s", outcome.goodput_bps * 1e-6);
    Ok(outcome)
}

/// An address on the loopback at which nothing listens.
pub(crate) fn free() -> Result<std::net::SocketAddr, Error> {
    ports::free().map_err(|source| Error::File { path: "127.0.0.1".into(), source })
}

/// The maximum attempts of a transfer over a link that is late.
const TRIES: u32 = 4;

/// As many as there are flows at a time, at most.
pub(super) const CLIENTS: usize = 4;

/// At 1 Gbit/s a packet is due each 12 µs, which no sleep can tell apart.
const SPIN: Span = Span::from_micros(20);
