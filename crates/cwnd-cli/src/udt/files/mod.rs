//! Files over UDT: `cwnd udt send`, `recv` and `serve`.

pub(super) mod recv;
pub(super) mod send;
pub(super) mod serve;

mod client;
mod demo;
mod report;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use clap::Args;
use cwnd::{BitRate, Spec};
use cwnd_net::{Options, UdtStream};
use cwnd_run::scenario::Written;

use crate::failure::Failure;

/// How packets travel.
#[derive(Args, Debug)]
pub(super) struct Travel {
    /// The congestion control of what this end sends [default: udt]
    #[arg(long, value_name = "A")]
    algorithm: Option<Written<Spec>>,
    /// A bound on the rate at which this end sends, headers included
    #[arg(long, value_name = "R")]
    rate_limit: Option<Written<BitRate>>,
    /// The largest packet in bytes, IP and UDP headers included
    #[arg(long, default_value_t = 1500)]
    mss: u16,
}

impl Travel {
    fn options(&self) -> Options {
        super::options(self.algorithm.as_ref(), self.rate_limit.as_ref(), self.mss)
    }
}

/// A host, by name or address, and a port.
fn server_address(text: &str) -> Result<String, String> {
    let (host, port) = text.rsplit_once(':').ok_or("a port is missing, as in 192.0.2.1:9001")?;
    let bare = host.contains(':') && !host.starts_with('[');
    if host.is_empty() || bare || port.parse().map_or(true, |port: u16| port == 0) {
        return Err("not host:port, as in 192.0.2.1:9001 or [2001:db8::1]:9001".to_owned());
    }
    Ok(text.to_owned())
}

/// Bounds on how long the other end may say and take nothing.
fn be_patient(stream: &UdtStream) {
    stream.set_read_timeout(Some(PATIENCE));
    stream.set_write_timeout(Some(PATIENCE));
}

/// Whether Ctrl-C was pressed since [`listen_to_interrupts`].
fn interrupted() -> bool {
    INTERRUPTED.load(Ordering::Relaxed)
}

/// Calls `then` when Ctrl-C is pressed, or the process is asked to end.
fn listen_to_interrupts(then: impl Fn() + Send + 'static) -> Result<(), Failure> {
    ctrlc::set_handler(move || {
        INTERRUPTED.store(true, Ordering::Relaxed);
        then();
    })
    .map_err(|error| Failure::Run(format!("cannot listen to Ctrl-C: {error}")))
}

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// A peer that is gone is found out after 10 s; this is for one that is there and does nothing. A disk may take its time.
const PATIENCE: Duration = Duration::from_secs(300);

/// Clear text stays on this host unless an address says otherwise.
const LOCAL: &str = "127.0.0.1:9001";

#[cfg(test)]
mod tests {
    use super::server_address;

    #[test]
    fn a_server_has_a_host_and_a_port() {
        for good in ["192.0.2.1:9001", "[::1]:9001", "example.org:1"] {
            assert_eq!(server_address(good).as_deref(), Ok(good));
        }
        for bad in ["192.0.2.1", "photos", ":9001", "::1:9001", "example.org:0", "example.org:70000", "example.org:"] {
            assert!(server_address(bad).is_err(), "{bad}");
        }
    }
}
