//! `udt doctor`

mod devices;
mod diagnosis;
mod machine;
mod path;
mod sockets;

use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::path::PathBuf;

use self::diagnosis::{Diagnosis, Verdict};
use clap::Args;
use cwnd::{BitRate, Span, quantity};
use cwnd_run::scenario::Written;
use cwnd_sim::Loss;
use cwnd_sim::notation::LOSSES;
use cwnd_text::{VERSION, decimal, to_json};

use self::path::Echoes;
use crate::arguments::above_zero;
use crate::failure::Failure;

/// Checks of this host.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  udt doctor                    this host
  udt doctor 192.0.2.1          and the path to another one
  udt doctor --dir /srv/in      and the disk for received files
  udt doctor --rate 10gbit --rtt 200ms   for a faster and longer path
  udt doctor --rtt 100ms --loss 0.005    for random loss: which congestion control suits it
Takes about 3 s, and 4 s more with a host, which gets 20 echo requests. Writes a file of 64 MB into the directory and deletes
it; changes nothing else. Commands that fix the findings are shown and not run; those of the system hold until it restarts.")]
pub(crate) struct Arguments {
    /// A host to send data to or receive it from; its path is measured
    host: Option<String>,
    /// The directory for received files
    #[arg(long, value_name = "D", default_value = ".")]
    dir: PathBuf,
    /// The rate of the path, which the host should reach
    #[arg(long, default_value = "1gbit")]
    rate: BitRate,
    /// The round-trip time of the path, for its window [default: measured to HOST if it answers echo requests, else 50ms]
    #[arg(long, value_parser = above_zero)]
    rtt: Option<Span>,
    #[arg(long, default_value = "0", help = format!("The random loss of the path: {}", LOSSES.synopsis()))]
    loss: Written<Loss>,
    /// Print a JSON document, and nothing else
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<String, Failure> {
    let peer = arguments.host.as_deref().map(resolve).transpose()?;
    let echoes = peer.map(path::measure);
    let target = arguments.target(echoes.as_ref().and_then(|echoes| echoes.as_ref().ok()));
    let mut findings = sockets::check(&target);
    findings.extend(devices::check(peer));
    findings.extend(echoes.as_ref().map(path::finding));
    findings.extend(machine::check(&target, &arguments.dir));
    findings.push(path::advise(&target));
    let diagnosis = Diagnosis { version: VERSION, peer: arguments.host.clone(), findings };
    Ok(if arguments.json { to_json(&diagnosis) } else { print(&diagnosis) })
}

/// The demand of a path on a host.
#[derive(Debug)]
struct PathTarget {
    /// bit/s, above zero.
    rate: f64,
    /// Seconds, above zero.
    rtt: f64,
    /// The round-trip time as text.
    rtt_text: String,
    /// The random loss.
    loss: Loss,
    /// The loss as text.
    loss_text: String,
}

impl Arguments {
    /// The demand on the path. Values that no option gives are those of the measured path.
    fn target(&self, echoes: Option<&Echoes>) -> PathTarget {
        let given = self.rtt.map(|rtt| (rtt.as_secs_f64(), quantity::exact(rtt)));
        let measured = || echoes.map(|echoes| (echoes.rtt, format!("{:.3} ms", echoes.rtt * 1e3)));
        let (rtt, rtt_text) = given.or_else(measured).unwrap_or_else(|| (0.05, "50 ms".to_owned()));
        let (loss, loss_text) = (*self.loss.value(), self.loss.text().to_owned());
        PathTarget { rate: self.rate.0, rtt, rtt_text, loss, loss_text }
    }
}

/// The address of a host, which may be followed by a port.
fn resolve(host: &str) -> Result<IpAddr, Failure> {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    let found = (bare, DISCARD).to_socket_addrs().or_else(|_| host.to_socket_addrs());
    let address = found.ok().and_then(|mut addresses| addresses.next());
    address.as_ref().map(SocketAddr::ip).ok_or_else(|| Failure::Input(format!("{host}: no address is known for it")))
}

fn print(diagnosis: &Diagnosis) -> String {
    let mut text = String::new();
    for finding in &diagnosis.findings {
        let verdict = match finding.verdict {
            Verdict::Fine => "fine   ",
            Verdict::Limits => "LIMITS ",
            Verdict::Unknown => "unknown",
        };
        let interface = finding.interface.as_ref().map_or(String::new(), |name| format!(" {name}"));
        let subject = format!("{}{interface}", finding.check.replace('_', " "));
        text += &format!("{verdict} {subject:<18} {}\n{INDENT}{}\n", finding.measured, finding.means);
        for command in &finding.fix {
            text += &format!("{INDENT}# {command}\n");
        }
    }
    let limits = diagnosis.findings.iter().filter(|finding| finding.verdict == Verdict::Limits).count();
    text += &match limits {
        0 => "nothing that was found holds a fast transfer back\n".to_owned(),
        1 => "one of these holds a fast transfer back\n".to_owned(),
        many => format!("{many} of these hold a fast transfer back\n"),
    };
    text
}

/// The verdict of a check.
fn verdict(limits: bool) -> Verdict {
    if limits { Verdict::Limits } else { Verdict::Fine }
}

/// The command that removes a limit, where it is needed.
fn fix(needed: bool, command: String) -> Vec<String> {
    if needed { vec![command] } else { Vec::new() }
}

/// A rate as text.
fn rate(bits_per_second: f64) -> String {
    match bits_per_second {
        rate if rate >= 1e9 => format!("{:.1} Gbit/s", rate * 1e-9),
        rate => format!("{} Mbit/s", decimal(rate * 1e-6, 0)),
    }
}

/// The indent of the lines below the first of a finding.
const INDENT: &str = "                           ";

/// The port with which a route is looked up. Nothing is sent there.
const DISCARD: u16 = 9;

/// The default packet size of UDT, bytes with all headers.
const PACKET: u32 = 1500;

#[cfg(test)]
mod tests {
    use self::diagnosis::Finding;

    use super::*;

    #[test]
    fn hosts_with_and_without_a_port() {
        for (host, address) in
            [("192.0.2.1", "192.0.2.1"), ("192.0.2.1:9000", "192.0.2.1"), ("::1", "::1"), ("[::1]:9000", "::1")]
        {
            assert_eq!(resolve(host).ok().map(|ip| ip.to_string()).as_deref(), Some(address), "{host}");
        }
        assert!(resolve("no host").is_err());
    }

    #[test]
    fn what_limits_stands_out_with_its_commands() {
        let finding = Finding {
            check: "receive_buffer",
            verdict: Verdict::Limits,
            fix: vec!["sysctl -w net.core.rmem_max=16777216".to_owned()],
            ..Finding::unknown("", "at 50 ms, 671 Mbit/s")
        };
        let other = Finding { interface: Some("eth0".to_owned()), ..Finding::unknown("mtu", "no such file") };
        let text = print(&Diagnosis { version: "", peer: None, findings: vec![finding, other] });
        assert_eq!(
            text,
            "LIMITS  receive buffer     not measured\n\
             \x20                          at 50 ms, 671 Mbit/s\n\
             \x20                          # sysctl -w net.core.rmem_max=16777216\n\
             unknown mtu eth0           not measured\n\
             \x20                          no such file\n\
             one of these holds a fast transfer back\n"
        );
    }
}
