//! The faults of libudt 4.11 that a peer can provoke: shown on libudt, and shown absent here.

use std::io::Write;
use std::net::SocketAddr;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use crate::interop::programs::{Demo, Running};
use crate::interop::proxy::{Datagram, Kind, Proxy};
use crate::interop::raw::{Answer, Proposal, Raw};
use crate::interop::{Error, expect};
use cwnd::Span;
use cwnd_sim::QueueLimit;
use cwnd_sim::emulate::Emulation;
use cwnd_udt::wire::{FullAck, LossRange, Losses};
use cwnd_udt::{AckNumber, Control};

use crate::interop::bench::Side::{Ours, Theirs};
use crate::interop::bench::{Bench, Side, retry, timed};
use crate::interop::scenarios::link;
use crate::ports::free;

/// A packet of 44 bytes has no room for data. libudt divides by that room when it sends: the demo server crashes.
pub(crate) fn packets_without_room(bench: &Bench) -> Result<String, Error> {
    let at = free()?;
    let mut demo = bench.demo(Demo::SendFile, &at.port().to_string())?;
    let mut raw = Raw::new(at)?;
    let proposal = Proposal { mss: 44, ..Proposal::default() };
    let answer = retry(|| raw.open(&proposal))?;
    expect(matches!(answer, Answer::Accepted(_)), || format!("libudt answers {answer:?}"))?;
    raw.send_data(proposal.isn, &4_i32.to_le_bytes())?;
    raw.send_data(proposal.isn.next(), b"none")?;
    let status = demo.wait(Duration::from_secs(5))?;
    expect(status.signal() == Some(SIGFPE), || format!("the demo ended with {status}"))?;

    let at = free()?;
    let server = bench.start(Ours, &format!("server {at} send:1000"))?;
    let answer = Raw::new(at)?.open(&proposal)?;
    expect(!matches!(answer, Answer::Accepted(_)), || format!("here the answer is {answer:?}"))?;
    bench.start(Theirs, &format!("client {at} receive:1000"))?.finish(TIMEOUT)?.succeeded()?;
    server.finish(TIMEOUT)?.succeeded()?;
    Ok("libudt's server crashes by a division by zero; here the next client is served".to_owned())
}

/// A window of four million packets costs libudt a list of eight million entries for two handshake packets.
pub(crate) fn a_window_beyond_the_buffer_is_accepted(bench: &Bench) -> Result<String, Error> {
    let grown = |server: &Running, at: SocketAddr| {
        let before = server.memory();
        let answer = Raw::new(at)?.open(&Proposal { window: 4_000_000, ..Proposal::default() })?;
        expect(matches!(answer, Answer::Accepted(_)), || format!("the answer is {answer:?}"))?;
        sleep(Duration::from_millis(100));
        Ok::<_, Error>(server.memory().saturating_sub(before) as f64 / 1e6)
    };
    let of = |side| {
        let at = free()?;
        grown(&bench.start(side, &format!("server {at} pause:10000"))?, at)
    };
    let (theirs, ours) = (of(Theirs)?, of(Ours)?);
    expect(theirs > 30.0, || format!("libudt grows by {theirs:.1} MB only"))?;
    expect(ours < 5.0, || format!("here it costs {ours:.1} MB"))?;
    Ok(format!("libudt grows by {theirs:.0} MB, this side by {ours:.1} MB"))
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
    let of = |side| {
        let at = free()?;
        let _server = bench.start(side, &format!("server {at} pause:10000"))?;
        open(at)
    };
    let (theirs, ours) = (of(Theirs)?, of(Ours)?);
    expect(matches!(theirs, Answer::Accepted(_)), || format!("libudt answers {theirs:?}"))?;
    expect(!matches!(ours, Answer::Accepted(_)), || format!("here the answer is {ours:?}"))?;
    Ok("libudt accepts a cookie it never gave; this side does not".to_owned())
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
        delay.ok_or_else(|| Error::Expectation("no acknowledgement within a second".to_owned()))
    };
    let of = |side| {
        let at = free()?;
        let _server = bench.start(side, &format!("server {at} receive-all"))?;
        delay(at)
    };
    let (theirs, ours) = (of(Theirs)?, of(Ours)?);
    expect(theirs > Duration::from_millis(60), || format!("libudt acknowledges after {theirs:?}"))?;
    expect(ours < Duration::from_millis(40), || format!("this side acknowledges after {ours:?}"))?;
    Ok(format!("libudt acknowledges after {} ms, this side after {} ms", theirs.as_millis(), ours.as_millis()))
}

/// One loss at the start makes libudt leave slow start with the rate it has measured by then: 16 packets/s.
pub(crate) fn an_early_loss_stalls(bench: &Bench) -> Result<String, Error> {
    let seconds = |side| {
        let at = free()?;
        let server = bench.start(Theirs, &format!("server {at} receive:{EARLY}"))?;
        let path = link::between(at, &Emulation::new(None, Span::from_millis(25), QueueLimit::Unlimited))?;
        let proxy = Proxy::dropping(path.at(), |datagram| {
            datagram.to_target && datagram.kind == Kind::Data && datagram.nth == 4
        })?;
        let client = bench.start(side, &format!("client {} send:{EARLY}", proxy.at()))?;
        let (report, seconds) = timed(|| server.finish(TIMEOUT));
        report?.succeeded()?;
        client.finish(TIMEOUT)?.succeeded()?;
        Ok::<_, Error>(seconds)
    };
    let (theirs, ours) = (seconds(Theirs)?, seconds(Ours)?);
    expect(theirs > 2.0, || format!("libudt takes {theirs:.1} s only"))?;
    expect(ours < theirs / 2.0, || format!("this side takes {ours:.1} s, libudt {theirs:.1} s"))?;
    Ok(format!("5 MB over 50 ms with the fifth packet lost take libudt {theirs:.1} s, this side {ours:.1} s"))
}

/// The server's last word of the set-up is lost, and its data comes first: libudt's client believes itself connected and is not.
pub(crate) fn data_overtakes_the_response(bench: &Bench) -> Result<String, Error> {
    fn accepts(datagram: &Datagram) -> bool {
        !datagram.to_target && datagram.kind == Kind::Acceptance
    }
    // A busy machine may delay data until libudt's client has asked again and is accepted again.
    let before_data = |datagram: &Datagram| accepts(datagram) && !datagram.after_data;
    // Until it has heard the client, this side's server repeats its answer in front of every packet.
    let first = |datagram: &Datagram| accepts(datagram) && datagram.nth == 0;
    let report = |side: Side, lost: fn(&Datagram) -> bool| {
        let at = free()?;
        let _server = bench.start(side, &format!("server {at} send:1000000"))?;
        let proxy = Proxy::dropping(at, lost)?;
        bench.start(Theirs, &format!("client {} receive:1000000", proxy.at()))?.finish(TIMEOUT)
    };
    let (theirs, ours) = (report(Theirs, before_data)?, report(Ours, first)?.succeeded());
    expect(theirs.failed.is_some(), || "libudt's client receives from libudt's server".to_owned())?;
    expect(ours.is_ok(), || format!("libudt's client does not receive from this side's server: {ours:?}"))?;
    Ok(format!(
        "libudt's client fails with {} behind libudt's server, and receives all behind this side's",
        theirs.code
    ))
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
        let first =
            LossRange::new(proposal.isn, proposal.isn).ok_or_else(|| Error::Expectation("a range".to_owned()))?;
        raw.send_control(Control::Nak(Losses::new(first).list()))?;
        raw.drop_request(Duration::from_secs(1))
    };
    let beyond = |side| {
        let at = free()?;
        let _server = bench.start(side, &format!("type=message server {at} messages:1,100,20,1 pause:3000"))?;
        let request = named(at)?.ok_or_else(|| Error::Expectation(format!("{side:?}: nothing is to be dropped")))?;
        Ok::<_, Error>(request.first.offset(request.last))
    };
    let (theirs, ours) = (beyond(Theirs)?, beyond(Ours)?);
    expect(theirs == 1, || format!("libudt names {theirs} more packets"))?;
    expect(ours == 0, || format!("this side names {ours} more packets"))?;
    Ok("libudt's request for a message of one packet names two, this side's one".to_owned())
}

/// An acknowledgement of data that was never sent, or a report of its loss, ends a connection of libudt.
pub(crate) fn one_packet_breaks_a_connection(bench: &Bench) -> Result<String, Error> {
    let survives = |side, bad: &Losses, ack: Option<FullAck>| {
        let at = free()?;
        let server = bench.start(side, &format!("linger=0 server {at} receive:2"))?;
        let proposal = Proposal::default();
        let mut raw = Raw::new(at)?;
        raw.open(&proposal)?;
        raw.send_data(proposal.isn, &[byte_at(0)])?;
        sleep(Duration::from_millis(50));
        raw.send_control(ack.map_or(Control::Nak(bad.list()), Control::Ack))?;
        sleep(Duration::from_millis(50));
        raw.send_data(proposal.isn.next(), &[byte_at(1)])?;
        Ok::<_, Error>(server.finish(Duration::from_secs(8))?.received == 2)
    };
    let far = Proposal::default().isn + 1000;
    let losses = Losses::new(LossRange::new(far, far.next()).ok_or_else(|| Error::Expectation("a range".to_owned()))?);
    let ack = FullAck { number: AckNumber::FIRST, next: far, rtt_us: 1000, rtt_var_us: 100, window: 100, rates: None };
    for (what, ack) in [("acknowledgement", Some(ack)), ("loss report", None)] {
        expect(!survives(Theirs, &losses, ack)?, || format!("libudt survives the {what}"))?;
        expect(survives(Ours, &losses, ack)?, || format!("this side does not survive the {what}"))?;
    }
    Ok("libudt's connections break, this side's go on".to_owned())
}

/// The byte of a partner's stream at a small offset.
fn byte_at(offset: u8) -> u8 {
    offset.wrapping_mul(31)
}

/// The first four bytes of a digest, by the system's own program.
fn md5(text: &str) -> Result<[u8; 4], Error> {
    let mut child = Command::new("md5sum").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    child.stdin.take().map_or(Ok(()), |mut input| input.write_all(text.as_bytes()))?;
    let output = child.wait_with_output()?;
    let digits = String::from_utf8_lossy(&output.stdout).get(..8).map(str::to_owned).unwrap_or_default();
    u32::from_str_radix(&digits, 16)
        .map(u32::to_be_bytes)
        .map_err(|_| Error::Expectation(format!("md5sum printed {digits}")))
}

/// Floating-point exception, which is what a division of integers by zero is called.
const SIGFPE: i32 = 8;

/// Long for everything here but a stalled transfer, and enough for that.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Bytes of a transfer that a loss at its start may hold up.
const EARLY: u64 = 5_000_000;
