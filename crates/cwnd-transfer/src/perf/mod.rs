//! `udt perf`

mod client;
mod exchange;
mod report;
mod server;

use std::net::SocketAddr;

use clap::Args;
use cwnd::{BitRate, Span, Spec, quantity};
use cwnd_net::Options;
use cwnd_net::cwnd_udt::settings::MSS;

use crate::arguments::{above_zero, whole};
use crate::connect::{algorithm, server_address, socket_address};
use crate::failure::{Failure, with_exit_codes};

/// A measurement, or a server for measurements.
#[derive(Args, Debug)]
#[command(after_help = with_exit_codes("\
Examples:
  udt perf --server                            on this host only: 127.0.0.1:9000
  udt perf --server 0.0.0.0:9000               for every host that reaches this one
  udt perf 192.0.2.1:9000 --time 20s --json
  udt perf 192.0.2.1:9000 --algorithm cubic
  udt perf 192.0.2.1:9000 --reverse
  udt perf 127.0.0.1:9000 --libudt             to libudt's demo `appserver`
  udt perf --server --libudt                   for libudt's demo `appclient`
Nothing is encrypted or authenticated."))]
pub(crate) struct Arguments {
    /// The server, as host:port
    #[arg(value_name = "HOST:PORT", required_unless_present = "server", value_parser = server_address)]
    peer: Option<String>,
    /// Serve instead, at this address
    #[arg(long, value_name = "ADDR:PORT", num_args = 0..=1, default_missing_value = LOCAL, value_parser = socket_address, conflicts_with = "peer")]
    server: Option<SocketAddr>,
    /// Serve one measurement and end
    #[arg(short = '1', long, requires = "server")]
    one_off: bool,
    /// The congestion control of this end [default: udt]
    #[arg(long, value_name = "A", value_parser = algorithm, conflicts_with = "reverse")]
    algorithm: Option<Spec>,
    /// How long to send [default: 10s]
    #[arg(long, conflicts_with_all = ["server", "bytes"], value_parser = above_zero)]
    time: Option<Span>,
    /// How much to send instead, such as 500MB
    #[arg(long, value_name = "N", value_parser = bytes, conflicts_with = "server")]
    bytes: Option<u64>,
    /// A bound on the rate at which this end sends, headers included
    #[arg(long, value_name = "R", conflicts_with = "reverse")]
    rate_limit: Option<BitRate>,
    /// Let the server send, with its own congestion control
    #[arg(long, conflicts_with_all = ["server", "libudt"])]
    reverse: bool,
    /// Acknowledge each N packets that arrive here, besides at the ticks of UDT's clock of 10 ms; with --server or --reverse
    /// [default: 64]
    #[arg(long, value_name = "N", value_parser = whole::<u32>(1..=u32::MAX))]
    ack_every: Option<u32>,
    /// The maximum packet size in bytes, IP and UDP headers included
    #[arg(long, value_name = "BYTES", default_value_t = 1500, value_parser = whole::<u16>(MSS))]
    mss: u16,
    /// Disable segmentation offload (UDP GSO): every datagram passes this host's kernel alone
    #[arg(long)]
    no_gso: bool,
    /// Print one JSON document in the shape of iperf3's, and nothing else
    #[arg(long)]
    pub(super) json: bool,
    /// The other end is a demo of libudt: `appserver`, which discards data, or with --server `appclient`, which sends it
    #[arg(long)]
    libudt: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<String, Failure> {
    if arguments.ack_every.is_some() && arguments.server.is_none() && !arguments.reverse {
        return Err(Failure::Input("--ack-every: nothing arrives here without --server or --reverse".to_owned()));
    }
    match (&arguments.server, &arguments.peer) {
        (Some(local), _) => server::run(arguments, *local),
        (None, Some(peer)) => client::run(arguments, peer),
        (None, None) => Err(Failure::Input("neither a server to measure against nor --server was given".to_owned())),
    }
}

impl Arguments {
    fn options(&self) -> Options {
        crate::connect::options(self.algorithm.as_ref(), self.rate_limit, self.mss)
            .offload(!self.no_gso)
            .ack_every(self.ack_every.unwrap_or(ACK_EVERY))
    }

    fn algorithm(&self) -> &str {
        self.algorithm.as_ref().map_or("udt", Spec::label)
    }
}

/// A number of bytes, with an optional unit of size.
fn bytes(text: &str) -> Result<u64, String> {
    let plain = || text.trim().parse::<u64>().ok().filter(|bytes| *bytes > 0);
    plain()
        .or_else(|| quantity::memory(text).ok())
        .ok_or_else(|| "expected a number of bytes, such as `1000000` or `500MB`, at most `9000TB`".to_owned())
}

/// The default number of packets per acknowledgement.
const ACK_EVERY: u32 = 64;
/// The default address: the loopback, since nothing is encrypted.
const LOCAL: &str = "127.0.0.1:9000";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts() {
        assert_eq!(bytes("1000"), Ok(1_000));
        assert_eq!(bytes("500MB"), Ok(500_000_000));
        assert_eq!(bytes("2 GB"), Ok(2_000_000_000));
        for wrong in ["", "0", "MB", "500Mb", "500mb", "500Mbit", "99999999999999999999", "99999999999GB"] {
            assert!(bytes(wrong).is_err(), "{wrong}");
        }
    }
}
