//! Files over UDT: `udt send`, `udt recv` and `udt serve`.

/// The part about `--path` in the help of a command that sends. A test compares the figures with those of docs/files.md.
macro_rules! help_on_paths {
    () => {
        "

Which algorithm for my path, in Mbit/s of one transfer alone on 200 Mbit/s. docs/files.md has all
measurements, and the effect of each on others.
  round trip, loss    own (udt, the default)    shared (cubic)    lossy (bbr)
  10 ms, 0                               181               194             190
  10 ms, 0.5 %                            22                12             190
  100 ms, 0                              167               197             199
  100 ms, 0.01 %                         102                70             192
  100 ms, 0.5 %                           22               3.1             193
`udt doctor HOST` tells which of them suits a path."
    };
}

pub(crate) mod recv;
pub(crate) mod send;
pub(crate) mod serve;

mod channel;
mod client;
mod demo;
mod meeting;
mod offer;
mod proof;
mod report;
mod share;

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::path::Path;
use std::time::Duration;

use clap::{Args, ValueEnum};
use cwnd::{BitRate, Spec};
use cwnd_files::{Directory, Links};
use cwnd_net::cwnd_udt::settings::MSS;
use cwnd_net::{MAX_STREAMS, Options, UdtBundle};

use crate::arguments::whole;
use crate::connect::algorithm;
use crate::failure::{Failure, Kind};

/// `udt send`: to a server, or to a receiver with the code.
pub(crate) fn send(arguments: &send::Arguments) -> Result<String, Failure> {
    match &arguments.to {
        Some(server) => send::run(arguments, server),
        None => offer::run(arguments),
    }
}

/// The options of the transport.
#[derive(Args, Debug)]
pub(super) struct TransportOptions {
    /// The congestion control of this end, by the kind of path; docs/files.md has measured rates of each
    #[arg(long, conflicts_with = "algorithm", help_heading = "Transport")]
    path: Option<PathKind>,
    /// The congestion control of this end, by its name [default: udt]
    #[arg(long, value_name = "A", value_parser = algorithm, help_heading = "Transport")]
    algorithm: Option<Spec>,
    /// A bound on the rate at which this end sends, headers included; at a server, on each connection
    #[arg(long, value_name = "R", help_heading = "Transport")]
    rate_limit: Option<BitRate>,
    /// The largest packet in bytes, IP and UDP headers included
    #[arg(long, value_name = "BYTES", default_value_t = 1500, value_parser = whole::<u16>(MSS), help_heading = "Transport")]
    mss: u16,
}

/// Kinds of paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum PathKind {
    /// A path of your own, without errors: `udt`
    Own,
    /// A path that loses packets at random, as radio links and many long paths do: `bbr`, and acknowledgements after 8 packets. Set it on
    /// both sides
    Lossy,
    /// A path with traffic of others, of which it takes no more than TCP does: `cubic`
    Shared,
}

impl PathKind {
    /// The congestion control of this kind of path, and its effect on others.
    fn choice(self) -> (&'static str, &'static str) {
        match self {
            Self::Own => ("udt", "which takes more than TCP does where both share a long path"),
            Self::Lossy => ("bbr", "which leaves TCP little of a path that both share"),
            Self::Shared => ("cubic", "which shares with TCP evenly, and is slow where packets are lost at random"),
        }
    }
}

impl TransportOptions {
    fn options(&self) -> Options {
        let options = crate::connect::options(self.algorithm.as_ref(), self.rate_limit, self.mss);
        let Some(path) = self.path else { return options };
        let algorithm = Spec::parse(path.choice().0).expect("it is registered");
        let options = options.algorithm(algorithm);
        if path == PathKind::Lossy { options.ack_every(LOSSY_ACKS) } else { options }
    }

    /// Prints the choice of `--path` to standard error.
    fn announce(&self) {
        if let Some((algorithm, effect)) = self.path.map(PathKind::choice) {
            say!("congestion control: {algorithm}, {effect}");
        }
    }

    /// The options of each of `streams` connections, which share the bound on the rate.
    fn options_of_each(&self, streams: u8) -> Options {
        match self.rate_limit {
            Some(rate) => self.options().max_rate(BitRate(rate.0 / f64::from(streams))),
            None => self.options(),
        }
    }

    fn algorithm(&self) -> &str {
        self.path.map_or_else(|| self.algorithm.as_ref().map_or("udt", Spec::label), |path| path.choice().0)
    }
}

/// How symbolic links are treated.
#[derive(Args, Debug)]
struct LinkOptions {
    /// How to treat symbolic links below the directories
    #[arg(long, value_enum, default_value_t = LinkChoice::Skip)]
    links: LinkChoice,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum LinkChoice {
    /// Leave them out, and report them
    Skip,
    /// Send their targets; a server does not leave its directory for that
    Follow,
    /// Send them as links, and create those that lead to a place inside the directory; required on both sides
    Keep,
}

impl LinkOptions {
    fn links(&self) -> Links {
        match self.links {
            LinkChoice::Skip => Links::Skip,
            LinkChoice::Follow => Links::Follow,
            LinkChoice::Keep => Links::Keep,
        }
    }
}

/// The number of connections that a client uses.
#[derive(Args, Debug)]
struct StreamOptions {
    /// Use this number of parallel connections, 1 to 8; on a shared path each takes a share
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = whole::<u8>(1..=MAX_STREAMS), help_heading = "Transport")]
    streams: u8,
}

/// The number of connections that a server allows.
#[derive(Args, Debug)]
struct MostStreamsOptions {
    /// The maximum of --streams of the other side for a transfer, 1 to 8
    #[arg(long, value_name = "N", default_value_t = MAX_STREAMS, value_parser = whole::<u8>(1..=MAX_STREAMS), help_heading = "Transport")]
    streams: u8,
}

/// The addresses at which others reach a socket bound to `bound`: for a wildcard address, that of the interface with the default route.
fn reachable(bound: SocketAddr) -> SocketAddr {
    if !bound.ip().is_unspecified() {
        return bound;
    }
    let (any, far): (IpAddr, IpAddr) = match bound {
        SocketAddr::V4(_) => (Ipv4Addr::UNSPECIFIED.into(), Ipv4Addr::new(192, 0, 2, 1).into()),
        SocketAddr::V6(_) => (Ipv6Addr::UNSPECIFIED.into(), Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1).into()),
    };
    // Sends nothing: the system looks at its routes only.
    let way_out = || {
        let socket = UdpSocket::bind((any, 0))?;
        socket.connect((far, 9))?;
        socket.local_addr()
    };
    let loopback: IpAddr = if bound.is_ipv4() { Ipv4Addr::LOCALHOST.into() } else { Ipv6Addr::LOCALHOST.into() };
    SocketAddr::new(way_out().map_or(loopback, |local| local.ip()), bound.port())
}

/// Bounds the time that reading and writing wait for the other end.
fn set_timeouts(stream: &UdtBundle) {
    stream.set_read_timeout(Some(TIMEOUT));
    stream.set_write_timeout(Some(TIMEOUT));
}

/// The directory of `--dir`.
fn open_directory(dir: &Path) -> Result<Directory, Failure> {
    Directory::open(dir).map_err(|error| Failure::Transfer(Kind::File, format!("--dir: {}: {error}", dir.display())))
}

/// A receiver on a lossy path acknowledges after this number of packets: the fewer, the better `bbr` measures the delivery rate.
const LOSSY_ACKS: u32 = 8;

/// The transport notices after 10 s that a peer is gone. This is for one that is there and neither sends nor receives: a slow disk may
/// cause that, also while a receiver verifies the stored part of a file.
const TIMEOUT: Duration = Duration::from_secs(300);

#[cfg(test)]
mod tests {
    use std::fs;

    #[test]
    fn the_help_has_the_figures_of_the_documentation() {
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/files.md");
        let documented = fs::read_to_string(root).unwrap();
        let rows: Vec<Vec<&str>> = documented.lines().map(|line| line.split('|').map(str::trim).collect()).collect();
        let mut compared = 0;
        for line in help_on_paths!().lines().filter(|line| line.contains(" ms, ")) {
            let (path, figures) = line.trim().split_at(18);
            let (rtt, loss) = path.trim().split_once(", ").unwrap();
            let figures: Vec<&str> = figures.split_whitespace().collect();
            let same = |row: &&Vec<&str>| row.get(1) == Some(&rtt) && row.get(2) == Some(&loss);
            let row = rows.iter().find(same).unwrap_or_else(|| panic!("no row of {path}"));
            assert_eq!(row[3..6], figures, "{path}");
            compared += 1;
        }
        assert_eq!(compared, 5);
    }
}
