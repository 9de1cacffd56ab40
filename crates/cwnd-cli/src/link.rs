//! `cwnd link`

use std::process::{Command, ExitStatus, Stdio};
use std::thread;
use std::time::Duration;

use clap::Args;
use cwnd_link::{RelayError, Side, TunLink};
use cwnd_run::files::to_json;

use crate::emulated::EmulatedLink;
use crate::failure::{Failure, with_exit_codes};

/// A link in front of the kernel's TCP, or of any program.
#[derive(Args, Debug)]
#[command(after_help = with_exit_codes("\
Examples:
  cwnd link --tun --rate 50mbit --delay 20ms --server 'iperf3 -s -1' iperf3 -c 10.77.0.2 -C cubic -t 10
  cwnd link --tun --rate 20mbit --delay 30ms --queue fq_codel:1000p --reorder 0.02:10ms ping -c 5 10.77.0.2
Makes two networks with a TUN interface each, 10.77.0.1 and 10.77.0.2, and runs COMMAND in the first one and --server in the second. When
COMMAND has ended, the link prints what it has carried and how late it was; more than a millisecond for one packet in a hundred is
marked with a warning and exit code 1. What an option says holds for both directions, each drawing for itself. Packets are IP packets;
those of ECN are dropped where they might be marked, and --thin-acks finds no acknowledgements. Needs root, TUN devices and `ip`."))]
pub(crate) struct Arguments {
    /// Between TUN interfaces in networks of its own
    #[arg(long, required = true)]
    tun: bool,
    #[command(flatten)]
    pub(crate) link: EmulatedLink,
    /// What runs in the other network meanwhile, with its arguments after spaces; it has half a second to start
    #[arg(long, value_name = "COMMAND")]
    server: Option<String>,
    /// What is run, with its arguments; it ends the link
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    command: Vec<String>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<String, Failure> {
    let link = &arguments.link;
    if arguments.server.as_ref().is_some_and(|server| server.trim().is_empty()) {
        return Err(Failure::Input("--server: expected a command".to_owned()));
    }
    let [forth, back] = link.emulations()?;
    let failed = |error: RelayError| match error {
        RelayError::Emulation(error) => Failure::Input(error.to_string()),
        error => Failure::Run(error.to_string()),
    };
    let tunnel = TunLink::start(&forth, &back, link.seed, link.spin()).map_err(failed)?;
    let mut server = None;
    if let Some(words) = &arguments.server {
        let words: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
        server = Some(
            tunnel
                .at(Side::Far, || start(&words).and_then(|mut command| spawned(&words, command.spawn())))
                .map_err(failed)??,
        );
        thread::sleep(SETTLING);
    }
    let words = &arguments.command;
    let ended =
        tunnel.at(Side::Near, || start(words).and_then(|mut command| spawned(words, command.status()))).map_err(failed);
    if let Some(mut server) = server {
        let _ = server.kill();
        let _ = server.wait();
    }
    let status: ExitStatus = ended??;
    let report = tunnel.stop().map_err(failed)?;
    let shown = if link.json { to_json(&report) } else { report.to_string() };
    if !status.success() {
        return Err(Failure::Run(format!("`{}` ended with {status}\n{shown}", words.join(" "))));
    }
    match report.warning() {
        Some(warning) => Err(Failure::Run(format!("{warning}; do not use this run\n{shown}"))),
        None => Ok(shown),
    }
}

/// A command of these words, which may read nothing.
fn start(words: &[String]) -> Result<Command, Failure> {
    let (program, arguments) = words.split_first().ok_or_else(|| Failure::Input("no command".to_owned()))?;
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null());
    Ok(command)
}

fn spawned<T>(words: &[String], result: std::io::Result<T>) -> Result<T, Failure> {
    result.map_err(|error| Failure::Run(format!("cannot run `{}`: {error}", words.join(" "))))
}

/// Longer than a server takes to listen.
const SETTLING: Duration = Duration::from_millis(500);
