//! The faults of libudt 4.11 that a peer can provoke: shown on libudt, and shown absent here.

use std::io::Write;
use std::net::SocketAddr;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use cwnd::Span;
use cwnd_interop::programs::{Demo, Running};
use cwnd_interop::proxy::{Kind, Proxy};
use cwnd_interop::raw::{Answer, Proposal, Raw};
use cwnd_interop::{Error, expect};
use cwnd_sim::QueueLimit;
use cwnd_sim::emulate::Emulation;
use cwnd_udt::wire::{FullAck, LossRange, Losses};
use cwnd_udt::{AckNumber, Control, Seq};

use crate::bench::{Bench, free, timed};
use crate::scenarios::link;

/// A packet of 44 bytes has no room for data. libudt divides by that room when it sends: the demo server dies.
pub(crate) fn packets_without_room(bench: &Bench) -> Result<String, Error> {
    let at = free()?;
    let mut demo = bench.demo(Demo::SendFile, &at.port().to_string())?;
    let mut raw = Raw::new(at)?;
    let proposal = Proposal { mss: 44, ..Proposal::default() };
    let answer = patiently(|| raw.open(&proposal))?;
    expect(matches!(answer, Answer::Accepted(_)), || format!("libudt answers {answer:?}"))?;
    raw.send_data(proposal.isn, &4_i32.to_le_bytes())?;
    raw.send_data(proposal.isn.next(), b"none")?;
    let status = demo.wait(Duration::from_secs(5))?;
    expect(status.signal() == Some(SIGFPE), || format!("the demo ended with {status}"))?;
    Ok("libudt's server dies of a division by zero".to_owned())
}

/// A window of four million packets costs libudt a list of eight million entries for two handshake packets.
pub(crate) fn a_window_is_believed(bench: &Bench) -> Result<String, Error> {
    let grown = |server: &Running, at: SocketAddr| {
        let before = server.memory();
        let answer = Raw::new(at)?.open(&Proposal { window: 4_000_000, ..Proposal::default() })?;
        expect(matches!(answer, Answer::Accepted(_)), || format!("the answer is {answer:?}"))?;
        sleep(Duration::from_millis(100));
        Ok::<_, Error>(server.memory().saturating_sub(before) as f64 / 1e6)
    };
    let at = free()?;
    let theirs = grown(&bench.theirs(&format!("server {at} pause:10000"))?, at)?;
    expect(theirs > 30.0, || format!("libudt grows by {theirs:.1} MB only"))?;
    Ok(format!("libudt grows by {theirs:.0} MB"))
}

/// libudt's cookie is a hash of what everybody knows, so that a client need not be where it says it is.
pub(crate) fn a_cookie_is_worked_out(bench: &Bench) -> Result<String, Error> {
    let open = |at: SocketAddr| {
        let mut raw = Raw::new(at)?;
        // Minutes since the listener was opened, with the address as the listener sees it.
        let text = format!("127.0.0.1:{}:0", raw.local()?.port());
        let digest = md5(&text)?;
        let cookie = u32::from_le_bytes(digest);
        raw.ask(&Proposal::default(), cookie)
    };
    let at = free()?;
    let _server = bench.theirs(&format!("server {at} pause:10000"))?;
    let answer = open(at)?;
    expect(matches!(answer, Answer::Accepted(_)), || format!("libudt answers {answer:?}"))?;
    Ok("libudt accepts a cookie it never gave".to_owned())
}

/// The first flight of full packets is acknowledged after 10 ms by the book, and after 100 ms by libudt.
pub(crate) fn the_first_ack_is_late(bench: &Bench) -> Result<String, Error> {
    let delay = |at: SocketAddr| {
        let proposal = Proposal::default();
        let mut raw = Raw::new(at)?;
        raw.open(&proposal)?;
        for number in 0..16 {
            raw.send_data(proposal.isn + number, &[7; 1456])?;
        }
        let full = |control: &Control<'_>| matches!(control, Control::Ack(_));
        let delay = raw.wait_for(Duration::from_secs(1), full)?;
        delay.ok_or_else(|| Error::Unmet("no acknowledgement within a second".to_owned()))
    };
    let at = free()?;
    let _server = bench.theirs(&format!("server {at} receive-all"))?;
    let theirs = delay(at)?;
    expect(theirs > Duration::from_millis(60), || format!("libudt acknowledges after {theirs:?}"))?;
    Ok(format!("libudt acknowledges after {} ms", theirs.as_millis()))
}

/// One loss at the start makes libudt leave slow start with the rate it has measured by then: 16 packets/s.
pub(crate) fn an_early_loss_stalls(bench: &Bench) -> Result<String, Error> {
    let seconds = |at: SocketAddr, start: &dyn Fn(SocketAddr) -> Result<Running, Error>, server: Running| {
        let path = link::between(at, &Emulation::new(None, Span::from_millis(25), QueueLimit::Unlimited))?;
        let proxy = Proxy::start(path.at(), |passing| passing.forth && passing.kind == Kind::Data && passing.nth == 4)?;
        let client = start(proxy.at())?;
        let (told, seconds) = timed(|| server.finish(Duration::from_secs(60)));
        told?.good()?;
        client.finish(Duration::from_secs(60))?.good()?;
        Ok::<_, Error>(seconds)
    };
    let at = free()?;
    let client = |at: SocketAddr| bench.theirs(&format!("client {at} send:{EARLY}"));
    let theirs = seconds(at, &client, bench.theirs(&format!("server {at} receive:{EARLY}"))?)?;
    expect(theirs > 2.0, || format!("libudt takes {theirs:.1} s only"))?;
    Ok(format!("5 MB over 50 ms with the fifth packet lost take libudt {theirs:.1} s"))
}

/// The server's last word of the set-up is lost, and its data comes first: libudt's client believes itself connected and is not.
pub(crate) fn data_overtakes_the_response(bench: &Bench) -> Result<String, Error> {
    let lost =
        |passing: &cwnd_interop::proxy::Passing| !passing.forth && passing.kind == Kind::Handshake && passing.nth == 1;
    let at = free()?;
    let _server = bench.theirs(&format!("server {at} send:1000000"))?;
    let proxy = Proxy::start(at, lost)?;
    let client = bench.theirs(&format!("client {} receive:1000000", proxy.at()))?;
    let told = client.finish(Duration::from_secs(20))?;
    expect(told.failed.is_some(), || "libudt's client receives from libudt's server".to_owned())?;
    Ok(format!("libudt's client fails with {} behind libudt's server", told.code))
}

/// When a message has outlived its time, libudt's request to drop it names the first packet of the next message too.
pub(crate) fn a_drop_request_names_one_too_many(bench: &Bench) -> Result<String, Error> {
    let named = |at: SocketAddr| {
        let mut raw = Raw::new(at)?;
        let proposal = Proposal { socket_type: 2, ..Proposal::default() };
        raw.open(&proposal)?;
        // Heard of, so that it sends; then the message is reported lost, long after its 20 ms.
        raw.send_control(Control::KeepAlive)?;
        sleep(Duration::from_millis(300));
        let first = LossRange::new(proposal.isn, proposal.isn).ok_or_else(|| Error::Unmet("a range".to_owned()))?;
        raw.send_control(Control::Nak(Losses::new(first).list()))?;
        raw.drop_request(Duration::from_secs(1))
    };
    let at = free()?;
    let server = bench.theirs(&format!("type=message server {at} messages:1,100,20,1 pause:3000"))?;
    let theirs = named(at)?;
    drop(server);
    let theirs = theirs.ok_or_else(|| Error::Unmet("libudt asks for nothing to be dropped".to_owned()))?;
    expect(theirs.first.offset(theirs.last) == 1, || format!("libudt drops {theirs:?}"))?;
    Ok("libudt's request for a message of one packet names two".to_owned())
}

/// An acknowledgement of what was never sent, or a report of its loss, ends a connection of libudt.
pub(crate) fn one_packet_breaks_a_connection(bench: &Bench) -> Result<String, Error> {
    let survives = |start: &dyn Fn(SocketAddr) -> Result<Running, Error>, far: fn(Seq) -> Bad| {
        let at = free()?;
        let server = start(at)?;
        let proposal = Proposal::default();
        let mut raw = Raw::new(at)?;
        raw.open(&proposal)?;
        raw.send_data(proposal.isn, &[byte_at(0)])?;
        sleep(Duration::from_millis(50));
        match far(proposal.isn) {
            Bad::Ack(ack) => raw.send_control(Control::Ack(ack))?,
            Bad::Nak(losses) => raw.send_control(Control::Nak(losses.list()))?,
        }
        sleep(Duration::from_millis(50));
        raw.send_data(proposal.isn.next(), &[byte_at(1)])?;
        Ok::<_, Error>(server.finish(Duration::from_secs(8))?.failed.is_none())
    };
    let theirs = |at: SocketAddr| bench.theirs(&format!("linger=0 server {at} receive:2"));
    for (what, far) in [("acknowledgement", bad_ack as fn(Seq) -> Bad), ("loss report", bad_nak)] {
        expect(!survives(&theirs, far)?, || format!("libudt survives the {what}"))?;
    }
    Ok("libudt's connections break".to_owned())
}

enum Bad {
    Ack(FullAck),
    Nak(Losses),
}

fn bad_ack(isn: Seq) -> Bad {
    Bad::Ack(FullAck {
        number: AckNumber::FIRST,
        next: isn + 1000,
        rtt_us: 1000,
        rtt_var_us: 100,
        window: 100,
        rates: None,
    })
}

fn bad_nak(isn: Seq) -> Bad {
    let range = LossRange::new(isn + 1000, isn + 1001).expect("it runs forwards");
    Bad::Nak(Losses::new(range))
}

/// The byte of a partner's stream at a small offset.
fn byte_at(offset: u8) -> u8 {
    offset.wrapping_mul(31)
}

/// Asks again while a server without a sign of being ready starts.
fn patiently<T>(mut attempt: impl FnMut() -> Result<T, Error>) -> Result<T, Error> {
    for _ in 0..20 {
        if let Ok(found) = attempt() {
            return Ok(found);
        }
        sleep(Duration::from_millis(50));
    }
    attempt()
}

/// The first four bytes of a digest, by the system's own program.
fn md5(text: &str) -> Result<[u8; 4], Error> {
    let mut child = Command::new("md5sum").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    child.stdin.take().map_or(Ok(()), |mut input| input.write_all(text.as_bytes()))?;
    let output = child.wait_with_output()?;
    let digits = String::from_utf8_lossy(&output.stdout).get(..8).map(str::to_owned).unwrap_or_default();
    u32::from_str_radix(&digits, 16).map(u32::to_be_bytes).map_err(|_| Error::Unmet(format!("md5sum printed {digits}")))
}

/// Floating-point exception, which is what a division of integers by zero is called.
const SIGFPE: i32 = 8;

/// Bytes of a transfer that a loss at its start may hold up.
const EARLY: u64 = 5_000_000;
