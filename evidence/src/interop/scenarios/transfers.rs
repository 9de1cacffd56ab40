//! Data between this side and libudt, in both roles, every byte compared.

use std::net::SocketAddr;
use std::time::Duration;

use crate::interop::programs::PartnerReport;
use crate::interop::proxy::Proxy;
use crate::interop::{Error, expect};
use cwnd::Span;
use cwnd_sim::emulate::Emulation;
use cwnd_sim::{Impairments, Loss, QueueLimit, ReorderBy, Reordering};
use cwnd_udt::Seq;

use crate::interop::bench::Side::{Ours, Theirs};
use crate::interop::bench::{Bench, Side};
use crate::interop::scenarios::link::{self, RelayThread};
use crate::ports::free;

/// The path between the two ends.
enum Between {
    Nothing,
    Link(Box<Emulation>),
    /// Packets that are numbered from here on, as the server sees them.
    Numbers(Seq),
}

/// One end, and its task.
struct End<'a> {
    side: Side,
    options: &'a str,
    steps: &'a str,
}

const fn end<'a>(side: Side, steps: &'a str) -> End<'a> {
    End { side, options: "", steps }
}

const fn messages<'a>(side: Side, steps: &'a str) -> End<'a> {
    End { side, options: "type=message", steps }
}

/// A server, a client, and their reports once both have taken all their steps.
fn play(bench: &Bench, between: &Between, server: &End<'_>, client: &End<'_>) -> Result<[PartnerReport; 2], Error> {
    let at = free()?;
    let serving = bench.start(server.side, &format!("{} server {at} {}", server.options, server.steps))?;
    let (mut path, mut proxy) = (None::<RelayThread>, None::<Proxy>);
    let front: SocketAddr = match between {
        Between::Nothing => at,
        Between::Link(emulation) => path.insert(link::between(at, emulation)?).at(),
        Between::Numbers(first) => proxy.insert(Proxy::renumbering(at, *first)?).at(),
    };
    let calling = bench.start(client.side, &format!("{} client {front} {}", client.options, client.steps))?;
    // Both have ended before one of them is judged.
    let report = [serving.finish(TIMEOUT), calling.finish(TIMEOUT)];
    let [serving, calling] = report;
    Ok([serving?.succeeded()?, calling?.succeeded()?])
}

/// 50 ms of round trip, one packet in a hundred lost, some overtaken or doubled.
fn lossy() -> Between {
    let reordering = Reordering { probability: 0.01, by: ReorderBy::Time(Span::from_millis(2)) };
    Between::Link(Box::new(Emulation {
        loss: Loss::Bernoulli(0.01),
        impairments: Impairments { reordering: Some(reordering), duplication: 0.001, ..Impairments::default() },
        ..Emulation::new(Some(200_000_000), Span::from_millis(25), QueueLimit::Packets(800))
    }))
}

/// Streams in both directions at both roles; the mean rate of the larger transfer.
fn streams(bench: &Bench, between: &Between, megabytes: u64) -> Result<String, Error> {
    let (large, small) = (megabytes * 1_000_000, megabytes * 100_000);
    let send = format!("send:{large} receive:{small} pause:200");
    let receive = format!("receive:{large} send:{small} {READ}");
    let mut said = Vec::new();
    for (server, client, what) in [(Ours, Theirs, "received here"), (Theirs, Ours, "sent here")] {
        let [report, _] = play(bench, between, &end(server, &receive), &end(client, &send))?;
        said.push(format!("{:.0} Mbit/s {what}", large as f64 * 8e-6 / report.transfer_s));
    }
    for (server, client) in [(Ours, Theirs), (Theirs, Ours)] {
        play(bench, between, &end(server, &send), &end(client, &receive))?;
    }
    Ok(said.join(", "))
}

pub(crate) fn streams_on_a_clean_path(bench: &Bench) -> Result<String, Error> {
    streams(bench, &Between::Nothing, 50)
}

pub(crate) fn streams_on_a_lossy_path(bench: &Bench) -> Result<String, Error> {
    streams(bench, &lossy(), 5)
}

/// The numbers of packets wrap after 16, of 31 bits.
pub(crate) fn numbers_wrap(bench: &Bench) -> Result<String, Error> {
    let first = Seq::new(0x7fff_fff0).expect("it has 31 bits");
    streams(bench, &Between::Numbers(first), 5)
}

/// Messages of one packet and of many, in order and not.
fn exchange(bench: &Bench, between: &Between) -> Result<String, Error> {
    let send = "messages:200,100,-1,1 messages:20,100000,-1,1 messages:100,3000,-1,0 expect:50 pause:200";
    let receive = &format!("expect:320 messages:50,5000,-1,1 {READ}");
    for (server, client) in [(Ours, Theirs), (Theirs, Ours)] {
        let ends = play(bench, between, &messages(server, receive), &messages(client, send))?;
        expect(ends.iter().map(|report| report.messages).eq([320, 50]), || format!("{ends:?}"))?;
        play(bench, between, &messages(server, send), &messages(client, receive))?;
    }
    Ok("370 messages each time".to_owned())
}

pub(crate) fn messages_on_a_clean_path(bench: &Bench) -> Result<String, Error> {
    exchange(bench, &Between::Nothing)
}

pub(crate) fn messages_on_a_lossy_path(bench: &Bench) -> Result<String, Error> {
    exchange(bench, &lossy())
}

/// Messages that must not overtake each other, over a path that loses some: they come in order.
pub(crate) fn messages_in_order(bench: &Bench) -> Result<String, Error> {
    for (server, client) in [(Ours, Theirs), (Theirs, Ours)] {
        let ends = [messages(server, "expect:500"), messages(client, "messages:500,2000,-1,1 pause:500")];
        let [report, _] = play(bench, &lossy(), &ends[0], &ends[1])?;
        expect(report.out_of_order == 0, || format!("{} messages came out of order", report.out_of_order))?;
    }
    Ok(String::new())
}

/// Messages that outlive their time on a path that loses a tenth of the packets: some are given up, and what comes is whole.
pub(crate) fn messages_out_of_time(bench: &Bench) -> Result<String, Error> {
    let plain = Emulation::new(Some(50_000_000), Span::from_millis(20), QueueLimit::Packets(500));
    let path = Between::Link(Box::new(Emulation { loss: Loss::Bernoulli(0.1), ..plain }));
    // Ours to theirs. The reference's own requests take part of the next message with them: not an end to be relied on.
    // The last message has no end of its time: it comes when all before it have come or were given up. A shutdown would not do, since
    // the path may lose every one of them.
    let ours = "messages:500,3000,60,0 pause:1500 messages:1,100,-1,1";
    let ends = [messages(Theirs, "expect-through:500 pause:2000"), messages(Ours, ours)];
    let [report, _] = play(bench, &path, &ends[0], &ends[1])?;
    let came = report.messages - 1;
    expect((1..500).contains(&came), || format!("{came} of 500 messages came"))?;
    Ok(format!("{came} of 500 messages came in time"))
}

/// A reader that takes its time, behind a buffer of 64 packets.
pub(crate) fn slow_readers(bench: &Bench) -> Result<String, Error> {
    for (server, client) in [(Ours, Theirs), (Theirs, Ours)] {
        let reader = End { side: server, options: "receive-buffer=93184", steps: "slow:3000000,20000,5" };
        let [_, sender] = play(bench, &Between::Nothing, &reader, &end(client, "send:3000000"))?;
        expect(sender.sent == 3_000_000, || format!("{sender:?}"))?;
    }
    Ok(String::new())
}

/// Both call each other; whoever is first waits for the other.
pub(crate) fn rendezvous(bench: &Bench) -> Result<String, Error> {
    for (first, second) in [(Ours, Theirs), (Theirs, Ours)] {
        for kind in ["type=stream", "type=message"] {
            let steps = match kind {
                "type=stream" => ["send:2000000 receive:1000000 pause:200", "receive:2000000 send:1000000 pause:500"],
                _ => ["messages:50,2000,-1,1 expect:50 pause:200", "expect:50 messages:50,2000,-1,1 pause:500"],
            };
            let [a, b] = [free()?, free()?];
            let early = bench.start(first, &format!("{kind} meet {a} {b} {}", steps[0]))?;
            std::thread::sleep(Duration::from_millis(600));
            let late = bench.start(second, &format!("{kind} meet {b} {a} {}", steps[1]))?;
            let ends = [early.finish(TIMEOUT), late.finish(TIMEOUT)];
            ends.into_iter().try_for_each(|report| report?.succeeded().map(drop))?;
        }
    }
    Ok("both orders, streams and messages".to_owned())
}

/// A stream is asked for where messages are served, and the reverse.
pub(crate) fn other_type(bench: &Bench) -> Result<String, Error> {
    for (server, client) in [(Ours, Theirs), (Theirs, Ours)] {
        for kinds in [["stream", "message"], ["message", "stream"]] {
            let at = free()?;
            let _serving = bench.start(server, &format!("type={} server {at} pause:9000", kinds[0]))?;
            let report = bench.start(client, &format!("type={} client {at}", kinds[1]))?.finish(TIMEOUT)?;
            expect(report.code == REJECTED, || format!("the client reports {:?} ({})", report.failed, report.code))?;
        }
    }
    Ok(format!("code {REJECTED}"))
}

/// Nobody listens.
pub(crate) fn nobody_there(bench: &Bench) -> Result<String, Error> {
    let report = crate::interop::bench::timed(|| bench.start(Ours, &format!("client {}", free()?))?.finish(TIMEOUT));
    let (report, seconds) = (report.0?, report.1);
    expect(report.code == NO_SERVER, || format!("reported {:?} ({})", report.failed, report.code))?;
    expect((2.9..3.6).contains(&seconds), || format!("after {seconds:.1} s"))?;
    Ok(format!("given up after {seconds:.2} s"))
}

/// libudt is killed in the middle of a transfer; the idle timeout of this side is 3 s.
pub(crate) fn killed(bench: &Bench) -> Result<String, Error> {
    let mut said = Vec::new();
    for (steps, theirs) in
        [("receive-all", "send-for:60"), ("send-for:60", "receive-all"), ("receive-all", "pause:60000")]
    {
        let at = free()?;
        let here = bench.start(Ours, &format!("idle-timeout-ms=3000 server {at} {steps}"))?;
        let mut there = bench.start(Theirs, &format!("client {at} {theirs}"))?;
        std::thread::sleep(Duration::from_millis(1000));
        there.kill();
        let (report, seconds) = crate::interop::bench::timed(|| here.finish(Duration::from_secs(20)));
        let report = report?;
        expect(report.failed.is_some(), || "the end of the stream looked like an orderly one".to_owned())?;
        expect((1.5..5.0).contains(&seconds), || format!("noticed after {seconds:.1} s"))?;
        said.push(format!("{seconds:.1}"));
    }
    Ok(format!("noticed after {} s", said.join(", ")))
}

/// The last to send gives the other side time to read: a client of libudt that the shutdown overtakes before its first call to
/// receive gets the error that the connection is lost, also by a server of libudt. The last to read waits a little less: libudt hands data
/// to its reader before it acknowledges them, and a reader that closes at once may prevent that.
const READ: &str = "pause:500";

/// Long for a transfer of some megabytes at a percent of loss, by a sender that stumbles.
const TIMEOUT: Duration = Duration::from_secs(90);

/// libudt's numbers.
const NO_SERVER: i32 = 1001;
const REJECTED: i32 = 1002;
