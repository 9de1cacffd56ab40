//! `udt link`

#[cfg(target_os = "linux")]
mod tunnel;

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::Args;
use cwnd::Span;
use cwnd_link::{Plan, Relay, RelayError};
use cwnd_text::to_json;

use crate::arguments::{above_zero, whole};
use crate::connect::socket_address;
use crate::emulated::{self, EmulatedLink};
use crate::failure::{Failure, with_exit_codes};
use crate::signals;

/// A link in user space: between UDP ports, or between TUN interfaces.
#[derive(Args, Debug)]
#[command(
    override_usage = "udt link [OPTIONS] LISTEN TARGET\n       udt link [OPTIONS] --tun [--server COMMAND] -- COMMAND...",
    after_help = with_exit_codes("\
Examples:
  udt link 127.0.0.1:9001 127.0.0.1:9000 --rate 100mbit --delay 25ms
  udt link 127.0.0.1:9001 127.0.0.1:9000 --rate 1gbit --delay 50ms --queue red:1bdp --loss 1e-3
  udt link 127.0.0.1:9001 127.0.0.1:9000 --rate 20mbit --delay 20ms --queue fq_codel:1000p,target=5ms
  udt link 127.0.0.1:9001 127.0.0.1:9000 --trace scenarios/traces/swinging.trace --delay 30ms
  udt link --tun --rate 50mbit --delay 20ms --server 'iperf3 -s -1' -- iperf3 -c 10.77.0.2 -C cubic
  udt link --tun --rate 20mbit --queue fq_codel:1000p --reorder 0.02:10ms -- ping -c 5 10.77.0.2
Clients send to LISTEN instead of TARGET. The link ends with Ctrl-C or after --duration; then it prints the traffic it has carried
and the delays of its timer. Options apply to both directions, each with its own random numbers. The link does not read what it carries:
--thin-acks finds no acknowledgements of TCP there.

--tun creates two networks with a TUN interface each, 10.77.0.1 and 10.77.0.2, and runs COMMAND in the first one and --server in the
second. COMMAND ends the link. If more than 1 % of the packets are late by more than 1 ms, a warning is printed and the exit code
is 1. Both programs end with the link, also by a signal, and so do all their children, except those that leave their process group,
as daemons and `setsid` do. Packets are IP packets; on a link that marks ECN, packets that it would have to mark are dropped.
Root, TUN devices and `ip` are required.")
)]
pub(crate) struct Arguments {
    /// The address for clients; port 0 for any free port
    #[arg(value_parser = socket_address, required_unless_present = "tun", conflicts_with = "tun", requires = "target")]
    listen: Option<SocketAddr>,
    /// The destination of their datagrams
    #[arg(value_parser = socket_address)]
    target: Option<SocketAddr>,
    /// Emulate a link between TUN interfaces in separate networks, for the kernel's TCP or any program
    #[arg(long, requires = "command")]
    tun: bool,
    /// A program to run in the other network, with arguments after spaces; it has 0.5 s to start
    #[arg(long, value_name = "COMMAND", requires = "tun")]
    server: Option<String>,
    /// The command to run, with its arguments
    #[arg(last = true, requires = "tun")]
    command: Vec<String>,
    #[command(flatten)]
    link: EmulatedLink,
    /// End after this time
    #[arg(long, value_name = "TIME", value_parser = above_zero, conflicts_with = "tun")]
    duration: Option<Span>,
    /// Maximum number of clients at a time
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = whole::<usize>(1..=65_535), conflicts_with = "tun")]
    clients: usize,
    /// Remove a client that sends nothing for this time
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = above_zero, conflicts_with = "tun")]
    idle: Span,
}

pub(crate) fn run(arguments: &Arguments) -> Result<String, Failure> {
    let (Some(listen), Some(target)) = (arguments.listen, arguments.target) else {
        return tunnel::run(&arguments.link, arguments.server.as_deref(), &arguments.command);
    };
    let relay = Relay::bind(arguments.plan(listen, target)?).map_err(|error| match error {
        RelayError::Emulation(error) => emulated::refusal(&error),
        error => Failure::Run(error.to_string()),
    })?;
    let stop = Arc::new(AtomicBool::new(false));
    let interrupted = Arc::clone(&stop);
    signals::listen(move || interrupted.store(true, Ordering::Relaxed))?;
    let local = relay.local().map_err(|error| Failure::Run(error.to_string()))?;
    say!("link from {local} to {target}");
    let duration = arguments.duration;
    let report = relay.run(&stop, duration).map_err(|error| Failure::Run(error.to_string()))?;
    Ok(if arguments.link.json { to_json(&report) } else { report.to_string() })
}

#[cfg(not(target_os = "linux"))]
mod tunnel {
    use super::{EmulatedLink, Failure};

    pub(super) fn run(_: &EmulatedLink, _: Option<&str>, _: &[String]) -> Result<String, Failure> {
        Err(Failure::Input("--tun: needs the network namespaces of Linux".to_owned()))
    }
}

impl Arguments {
    fn plan(&self, listen: SocketAddr, target: SocketAddr) -> Result<Plan, Failure> {
        if listen == target {
            return Err(Failure::Input(format!("TARGET: cannot be {target}, where the link itself listens")));
        }
        if target.port() == 0 {
            return Err(Failure::Input(format!("TARGET: cannot be {target}: accepted is a port from 1 to 65535")));
        }
        let [forth, back] = self.link.emulations()?;
        let mut plan = Plan::new(listen, target, forth);
        plan.back = back;
        plan.seed = self.link.seed;
        plan.clients = self.clients;
        plan.idle = self.idle;
        plan.spin = self.link.spin();
        Ok(plan)
    }
}
