//! `udt meet`

use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use clap::Args;
use cwnd::Span;
use cwnd::quantity;
use cwnd_meet::{Handled, Limits, Rooms};
use serde::Serialize;
use socket2::SockRef;

use crate::arguments::{above_zero, whole};
use crate::clock::Stopwatch;
use crate::failure::{Failure, with_exit_codes};
use crate::signals;

/// Runs a meeting place for two ends behind NAT.
#[derive(Args, Debug)]
#[command(after_help = with_exit_codes("\
Examples:
  udt meet                                      on a machine that both ends reach, as meet.example.org
  udt send photos --meet meet.example.org:9002  here; prints a code
  udt recv --meet meet.example.org:9002         there; asks for the code
Both ends learn at which address the other is seen, and connect directly. Where their NATs do not allow that, the data
passes through here, encrypted. This command sees the addresses of both, and when and how much they send through
it, but neither the code nor what the files or their names are; it stores nothing. Ctrl-C ends it."))]
pub(crate) struct Arguments {
    /// The address at which both ends reach it, as address:port
    #[arg(value_name = "ADDRESS", value_parser = crate::connect::socket_address, default_value = "0.0.0.0:9002")]
    at: SocketAddr,
    /// Maximum number of pairs at a time
    #[arg(long, value_name = "N", default_value_t = 1024, value_parser = whole::<usize>(1..=1_000_000))]
    rooms: usize,
    /// Maximum number of ends at a time with one address, or in one /64 of IPv6
    #[arg(long, value_name = "N", default_value_t = 32, value_parser = whole::<usize>(1..=1_000_000))]
    per_address: usize,
    /// Maximum data forwarded for one pair, both directions together
    #[arg(long, value_name = "SIZE", default_value = "100GB", value_parser = quantity::memory)]
    bytes: u64,
    /// Maximum time for one pair
    #[arg(long, value_name = "TIME", default_value = "24h", value_parser = above_zero)]
    lifetime: Span,
    /// Print an object with the address, and nothing else, on standard output
    #[arg(long)]
    pub(crate) json: bool,
}

/// The first line of the command.
#[derive(Serialize)]
struct Ready {
    event: &'static str,
    address: SocketAddr,
}

pub(crate) fn run(arguments: &Arguments) -> Result<String, Failure> {
    let Arguments { at, rooms, per_address, bytes, lifetime, json } = arguments;
    let failed = |error: io::Error| Failure::Run(format!("{at}: {error}"));
    let mut key = [0; 32];
    getrandom::fill(&mut key).map_err(|error| Failure::Run(format!("no random numbers: {error}")))?;
    let lifetime = Duration::from_secs_f64(lifetime.as_secs_f64());
    let limits = Limits { rooms: *rooms, per_address: *per_address, bytes: *bytes, lifetime };
    let socket = UdpSocket::bind(at).map_err(failed)?;
    socket.set_read_timeout(Some(POLL)).map_err(failed)?;
    // The kernel grants less without an error, and datagrams may be lost as on any path.
    let _best_effort = SockRef::from(&socket).set_recv_buffer_size(SOCKET_BUFFER);
    let _best_effort = SockRef::from(&socket).set_send_buffer_size(SOCKET_BUFFER);
    let stop = Arc::new(AtomicBool::new(false));
    let interrupted = Arc::clone(&stop);
    signals::listen(move || interrupted.store(true, Ordering::Relaxed))?;
    let address = socket.local_addr().map_err(failed)?;
    say!("meeting place at {address}");
    if *json {
        let ready = Ready { event: "ready", address };
        crate::print(&(serde_json::to_string(&ready).unwrap_or_default() + "\n"))?;
    }
    serve(&socket, &mut Rooms::new(key, limits), &stop).map_err(failed)?;
    Ok(String::new())
}

/// Handles datagrams until `stop` is set.
fn serve(socket: &UdpSocket, rooms: &mut Rooms, stop: &AtomicBool) -> io::Result<()> {
    let clock = Stopwatch::start();
    let mut buffer = vec![0; LONGEST];
    while !stop.load(Ordering::Relaxed) {
        let (length, from) = match socket.recv_from(&mut buffer) {
            Ok(received) => received,
            Err(error) if is_passing(&error) => continue,
            Err(error) => return Err(error),
        };
        // A datagram that cannot be sent is lost, as any datagram may be.
        let _lost_at_worst = match rooms.handle(clock.elapsed(), from, &buffer[..length]) {
            Handled::Answer(answer) => socket.send_to(&answer, from),
            Handled::Forward(to) => socket.send_to(&buffer[..length], to),
            Handled::Dropped => Ok(0),
        };
    }
    Ok(())
}

/// Whether an error belongs to a wait that ended, or to a datagram sent before.
fn is_passing(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionRefused, ConnectionReset, Interrupted, TimedOut, WouldBlock};
    matches!(error.kind(), ConnectionRefused | ConnectionReset | Interrupted | TimedOut | WouldBlock)
}

/// The interval between checks for an interruption.
const POLL: Duration = Duration::from_millis(200);
/// The data of a tenth of a second at 300 Mbit/s.
const SOCKET_BUFFER: usize = 4 << 20;
/// The longest datagram of UDP.
const LONGEST: usize = 1 << 16;
