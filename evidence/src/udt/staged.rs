//! Table 1 of the DAIMD paper, scaled down to what one host can carry: flows that come and go, in the simulator and on real sockets.

use std::io::{Read, Write};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use cwnd::{Span, Spec};
use cwnd_net::{Options, UdtListener, UdtStream};
use cwnd_papers::{PAPERS, Value};
use cwnd_run::measure::{jain, mean, stability_index};
use cwnd_run::probe::stages::STAGES;
use cwnd_run::run::run;
use cwnd_run::scenario::Scenario;
use cwnd_sim::QueueLimit;
use cwnd_sim::emulate::Emulation;

use super::record::Measured;
use super::run::{Bench, Link, Outcome};
use crate::Error;

/// The flows, in the order in which they start; they stop in the opposite order, a stage apart each.
pub(super) const FLOWS: usize = super::run::CLIENTS;
/// From one start or stop to the next.
pub(super) const STAGE_COUNT: usize = 2 * FLOWS - 1;
/// UDT as libudt has it, and as the paper has it.
pub(super) const ALGORITHMS: [&str; 2] = ["udt", "udt:profile=paper"];
/// Where a row comes from.
pub(super) const SIDES: [&str; 2] = ["simulator", "wire"];

/// The rates of flows in a stage.
struct Stage {
    /// The rate of each flow, in bits on the wire per second.
    rates: Vec<f64>,
    /// The stability index over seconds.
    si: Option<f64>,
    /// The delay of the link, where there was one.
    link_late_p99_s: Option<f64>,
}

/// Both sides of every algorithm, with stages of `seconds` seconds; a row for each stage.
pub(crate) fn measure(seconds: usize, bench: &Bench) -> Result<Measured, Error> {
    let mut measured = Measured::new("table-1", &bench.sources);
    for algorithm in ALGORITHMS {
        for (side, stages) in
            SIDES.into_iter().zip([simulated(algorithm, seconds)?, on_sockets(algorithm, seconds, bench)?])
        {
            for (n, stage) in (1..).zip(stages) {
                let outcome = Outcome {
                    goodput_bps: stage.rates.iter().sum::<f64>() * PAYLOAD / PACKET,
                    jain: jain(&stage.rates),
                    stability_index: stage.si,
                    link_late_p99_s: stage.link_late_p99_s,
                    ..Outcome::default()
                };
                println!("{algorithm}, {side}, stage {n}: {:.1} Mbit/s", outcome.goodput_bps * 1e-6);
                measured.put(&row(algorithm, side, n), outcome);
            }
        }
    }
    Ok(measured)
}

/// The name of a row.
pub(super) fn row(algorithm: &str, side: &str, stage: usize) -> String {
    format!("{algorithm}, {side}, stage {stage}")
}

/// The printed value of a stage: `aggregate` (Mbit/s of 1 Gbit/s), `Jain index` or `SI`.
pub(super) fn printed(what: &str, stage: usize) -> Option<f64> {
    let daimd = PAPERS.iter().find(|paper| paper.id() == "daimd")?;
    let published = daimd.published().ok()?;
    let row = format!("paper: {what}, stage {stage}");
    let rows = &published.result("table-1")?.rows;
    rows.iter().find(|listed| listed.id == row)?.published.as_ref().and_then(Value::number)
}

fn simulated(algorithm: &str, seconds: usize) -> Result<Vec<Stage>, Error> {
    let daimd = PAPERS.iter().find(|paper| paper.id() == "daimd").expect("it is listed");
    let (name, text) = daimd.scenario("testbed").expect("Table 1 is run from it");
    let mut changes = vec![
        format!("duration={}s", STAGE_COUNT * seconds),
        "seeds=1".to_owned(),
        format!("link.0.rate={RATE}bit"),
        format!("link.0.queue=droptail:{QUEUE}p"),
    ];
    for flow in 0..FLOWS {
        changes.push(format!("flow.{flow}.algorithm={algorithm}"));
        changes.push(format!("flow.{flow}.start={}s", flow * seconds));
        changes.push(format!("flow.{flow}.stop={}s", (STAGE_COUNT - flow) * seconds));
    }
    let scenario = Scenario::read(&name, text, &changes).map_err(|error| Error::Scenario(Box::new(error)))?;
    let runs = run(vec![scenario.clone()], &())?.remove(0);
    let kept = (STAGES.of)(&scenario, &runs.traces[0]);
    let stage = |n: usize| Stage {
        rates: kept.all(&format!("stage_{n}_throughput_bps")).to_vec(),
        si: kept.one(&format!("stage_{n}_si")),
        link_late_p99_s: None,
    };
    Ok((1..=STAGE_COUNT).map(stage).collect())
}

fn on_sockets(algorithm: &str, seconds: usize, bench: &Bench) -> Result<Vec<Stage>, Error> {
    let spec = Spec::parse(algorithm).expect("one of the two above");
    // Packets that wait when a flow is to stop are not part of its stages.
    let options = Options::default().algorithm(spec).linger(Span::from_secs(1));
    let any = SocketAddr::from(([127, 0, 0, 1], 0));
    let listener =
        UdtListener::<UdtStream>::bind_with(any, &options).map_err(|error| failed("cannot listen", &error))?;
    let path = Emulation::new(Some(RATE), Span::from_millis(52), QueueLimit::Packets(QUEUE));
    let link = Link::start(listener.local_addr(), &path)?;
    let received: [AtomicU64; FLOWS] = Default::default();
    let start = now();
    let at =
        |second: usize| thread::sleep((start + Duration::from_secs(second as u64)).saturating_duration_since(now()));
    let counts = thread::scope(|scope| {
        for (flow, received) in received.iter().enumerate() {
            let listener = &listener;
            // Flows are a stage apart, so that they are accepted in their order.
            scope.spawn(move || {
                at(flow * seconds);
                if let Ok((stream, _)) = listener.accept() {
                    count(stream, received);
                }
            });
        }
        let (front, options) = (link.at, &options);
        let senders: Vec<_> = (0..FLOWS)
            .map(|flow| {
                scope.spawn(move || {
                    at(flow * seconds);
                    send(front, options, start + Duration::from_secs(((STAGE_COUNT - flow) * seconds) as u64))
                })
            })
            .collect();
        let counts: Vec<[u64; FLOWS]> = (0..=STAGE_COUNT * seconds)
            .map(|second| {
                at(second);
                received.each_ref().map(|bytes| bytes.load(Ordering::Relaxed))
            })
            .collect();
        let sent = senders.into_iter().try_for_each(|sender| sender.join().expect("a sender does not panic"));
        sent.map(|()| counts)
    })?;
    let report = link.stop()?;
    println!(
        "link: {:.0} us late at most (99 %), {} overruns",
        report.forth.late_p99_s.unwrap_or(f64::NAN) * 1e6,
        report.overruns
    );
    bench.in_time(&report)?;
    let late = |stage| Stage { link_late_p99_s: report.forth.late_p99_s, ..stage };
    Ok((0..STAGE_COUNT).map(|stage| late(staged(&counts, stage, seconds))).collect())
}

/// The flows that last through a stage, from the data that had arrived by each second.
fn staged(counts: &[[u64; FLOWS]], stage: usize, seconds: usize) -> Stage {
    let inside = &counts[stage * seconds..=(stage + 1) * seconds];
    let lasting = 0..=stage.min(STAGE_COUNT - 1 - stage);
    let each_second = |flow: usize| {
        let bits = |ends: &[[u64; FLOWS]]| (ends[1][flow] - ends[0][flow]) as f64 * 8.0 * PACKET / PAYLOAD;
        inside.windows(2).map(bits).collect()
    };
    let series: Vec<Vec<f64>> = lasting.map(each_second).collect();
    Stage {
        rates: series.iter().filter_map(|flow| mean(flow)).collect(),
        si: stability_index(&series),
        link_late_p99_s: None,
    }
}

fn count(mut stream: UdtStream, received: &AtomicU64) {
    let mut buffer = vec![0; PIECE];
    while let Ok(read @ 1..) = stream.read(&mut buffer) {
        received.fetch_add(read as u64, Ordering::Relaxed);
    }
}

fn send(front: SocketAddr, options: &Options, end: Instant) -> Result<(), Error> {
    let mut stream = UdtStream::connect_with(front, options).map_err(|error| failed("cannot connect", &error))?;
    let buffer = vec![0; PIECE];
    while now() < end {
        stream.write_all(&buffer).map_err(|error| failed("cannot send", &error))?;
    }
    stream.abort();
    Ok(())
}

fn failed(what: &str, error: &dyn std::error::Error) -> Error {
    Error::Program { command: "udt".to_owned(), reason: format!("{what}: {error}") }
}

#[expect(clippy::disallowed_methods, reason = "real sockets are used in real time")]
fn now() -> Instant {
    Instant::now()
}

/// A tenth of the paper's capacity.
pub(super) const RATE: u64 = 100_000_000;
/// As the simulation of Table 1 has it for ten times the rate: an eighth of a bandwidth-delay product.
const QUEUE: u32 = 100;
/// Bytes of a packet, and what of it is the application's.
const PACKET: f64 = 1500.0;
const PAYLOAD: f64 = 1456.0;
/// The bytes that applications write and read at a time.
const PIECE: usize = 1 << 16;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stage_has_the_flows_that_last_through_it() {
        // Two seconds each; a flow gets 1456 bytes per second while it is there.
        let arrived = |second: usize, flow: usize| second.clamp(2 * flow, 14 - 2 * flow) - 2 * flow;
        let counts: Vec<[u64; FLOWS]> =
            (0..=14).map(|second| [0, 1, 2, 3].map(|flow| 1456 * arrived(second, flow) as u64)).collect();
        for (n, flows) in [1, 2, 3, 4, 3, 2, 1].into_iter().enumerate() {
            let stage = staged(&counts, n, 2);
            assert_eq!(stage.rates, vec![12_000.0; flows], "stage {n}");
            assert_eq!(stage.si, Some(0.0));
        }
    }

    #[test]
    fn the_paper_is_found() {
        assert_eq!(printed("aggregate", 1), Some(902.0));
        assert_eq!(printed("SI", 4), Some(0.16));
        assert_eq!(printed("aggregate", 8), None);
    }
}
