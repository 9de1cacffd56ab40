//! `cwnd udt link`

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::Args;
use cwnd::Span;
use cwnd_link::{Plan, Relay, RelayError};
use cwnd_run::files::to_json;
use cwnd_run::scenario::Written;

use crate::arguments::{above_zero, whole};
use crate::emulated::EmulatedLink;
use crate::failure::{Failure, with_exit_codes};
use crate::signals;
use crate::udt::socket_address;

/// A link in user space.
#[derive(Args, Debug)]
#[command(after_help = with_exit_codes("\
Examples:
  cwnd udt link 127.0.0.1:9001 127.0.0.1:9000 --rate 100mbit --delay 25ms
  cwnd udt link 127.0.0.1:9001 127.0.0.1:9000 --rate 1gbit --delay 50ms --queue red:1bdp --loss 1e-3
  cwnd udt link 127.0.0.1:9001 127.0.0.1:9000 --rate 20mbit --delay 20ms --queue fq_codel:1000p,target=5ms
  cwnd udt link 127.0.0.1:9001 127.0.0.1:9000 --delay 10ms --reorder 0.01:2ms --duplicate 0.001
  cwnd udt link 127.0.0.1:9001 127.0.0.1:9000 --trace scenarios/traces/swinging.trace --delay 30ms
Clients send to LISTEN instead of TARGET. The link ends with Ctrl-C or after --duration; then it prints what it has carried
and how late it was. What an option says holds for both directions, each drawing for itself. It does not read what it carries:
--thin-acks finds no acknowledgements of TCP there."))]
pub(crate) struct Arguments {
    /// Where clients send to; port 0 for any that is free
    #[arg(value_parser = socket_address)]
    listen: SocketAddr,
    /// Where their datagrams go
    #[arg(value_parser = socket_address)]
    target: SocketAddr,
    #[command(flatten)]
    pub(super) link: EmulatedLink,
    /// End after this time
    #[arg(long, value_name = "TIME", value_parser = above_zero)]
    duration: Option<Written<Span>>,
    /// Clients at a time
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = whole::<usize>(1..=65_535))]
    clients: usize,
    /// Forget a client from whom nothing came for this long
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = above_zero)]
    idle: Written<Span>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<String, Failure> {
    let relay = Relay::bind(arguments.plan()?).map_err(|error| match error {
        RelayError::Emulation(error) => Failure::Input(error.to_string()),
        error => Failure::Run(error.to_string()),
    })?;
    let stop = Arc::new(AtomicBool::new(false));
    let interrupted = Arc::clone(&stop);
    signals::listen(move || interrupted.store(true, Ordering::Relaxed))?;
    let local = relay.local().map_err(|error| Failure::Run(error.to_string()))?;
    say!("link from {local} to {}", arguments.target);
    let duration = arguments.duration.as_ref().map(|duration| *duration.value());
    let report = relay.run(&stop, duration).map_err(|error| Failure::Run(error.to_string()))?;
    Ok(if arguments.link.json { to_json(&report) } else { report.to_string() })
}

impl Arguments {
    fn plan(&self) -> Result<Plan, Failure> {
        let (listen, target) = (self.listen, self.target);
        if listen == target {
            return Err(Failure::Input(format!("TARGET: cannot be {target}, where the link itself listens")));
        }
        if target.port() == 0 {
            return Err(Failure::Input(format!("TARGET: cannot be {target}: accepted is a port from 1 to 65535")));
        }
        let [forth, back] = self.link.emulations()?;
        let mut plan = Plan::new(self.listen, self.target, forth);
        plan.back = back;
        plan.seed = self.link.seed;
        plan.clients = self.clients;
        plan.idle = *self.idle.value();
        plan.spin = self.link.spin();
        Ok(plan)
    }
}
