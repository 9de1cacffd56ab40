//! Where the two ends of a transfer are: on this host as it is, or each in a network of its own with a link between.

use std::fs::File;
use std::io::Write;
use std::net::Ipv4Addr;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use cwnd::Span;
use cwnd_link::{RelayError, Wire, WireReport};
use cwnd_sim::emulate::Emulation;
use cwnd_sim::{Loss, QueueLimit};
use nix::sched::{CloneFlags, setns, unshare};
use tappers::Tun;

use crate::Error;

/// A network path between two programs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Route {
    pub(crate) name: &'static str,
    /// The round-trip time and the probability that a packet to the receiver is lost; none for the loopback.
    pub(crate) link: Option<(u64, f64)>,
}

/// An end of a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Sender,
    Receiver,
}

/// The network of a route.
pub(crate) enum Network {
    Loopback,
    Tunnel(Tunnel),
}

/// Two networks with a TUN interface each, and what carries packets from one to the other.
pub(crate) struct Tunnel {
    namespaces: [File; 2],
    stop: Arc<AtomicBool>,
    relay: Option<thread::JoinHandle<Result<WireReport, RelayError>>>,
}

impl Network {
    /// Sets it up; anything but the loopback needs root.
    pub(crate) fn of(route: &Route) -> Result<Self, Error> {
        let Some((rtt_ms, loss)) = route.link else { return Ok(Self::Loopback) };
        let delay = Span::from_micros(rtt_ms * 500);
        let packets = (RATE as f64 * rtt_ms as f64 * 1e-3 / 12_000.0).max(f64::from(SHORTEST_QUEUE));
        let back = Emulation::new(Some(RATE), delay, QueueLimit::Packets(packets as u32));
        let loss = if loss > 0.0 { Loss::Bernoulli(loss) } else { Loss::None };
        let forth = Emulation { loss, ..back.clone() };
        let (first, sender) = namespace(End::Sender)?;
        let (second, receiver) = namespace(End::Receiver)?;
        let wire = Wire::new([sender, receiver], &forth, &back, 1, SPIN)?;
        let stop = Arc::new(AtomicBool::new(false));
        let stopping = Arc::clone(&stop);
        let relay = Some(thread::spawn(move || wire.run(&stopping)));
        Ok(Self::Tunnel(Tunnel { namespaces: [first, second], stop, relay }))
    }

    /// Where an end is reached by the other.
    pub(crate) fn address(&self, end: End) -> Ipv4Addr {
        match self {
            Self::Loopback => Ipv4Addr::LOCALHOST,
            Self::Tunnel(_) => end.address(),
        }
    }

    /// Does `work` at an end: sockets it opens and programs it starts are there.
    pub(crate) fn at<T: Send>(&self, end: End, work: impl FnOnce() -> Result<T, Error> + Send) -> Result<T, Error> {
        let Self::Tunnel(Tunnel { namespaces, .. }) = self else { return work() };
        let space = &namespaces[end as usize];
        let there = || {
            setns(space, CloneFlags::CLONE_NEWNET).map_err(network)?;
            work()
        };
        thread::scope(|scope| scope.spawn(there).join().expect("the work does not panic"))
    }

    /// Ends it: what its link carried, if there was one.
    pub(crate) fn stop(self) -> Result<Option<WireReport>, Error> {
        let Self::Tunnel(mut tunnel) = self else { return Ok(None) };
        tunnel.stop.store(true, Ordering::Relaxed);
        let relay = tunnel.relay.take().map(thread::JoinHandle::join);
        Ok(relay.transpose().expect("the relay does not panic").transpose()?)
    }
}

impl Drop for Tunnel {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

impl End {
    const fn address(self) -> Ipv4Addr {
        match self {
            Self::Sender => Ipv4Addr::new(10, 77, 0, 1),
            Self::Receiver => Ipv4Addr::new(10, 77, 0, 2),
        }
    }
}

/// A network that is kept as long as the file is open, and its one interface beside the loopback.
fn namespace(end: End) -> Result<(File, Tun), Error> {
    let make = move || {
        unshare(CloneFlags::CLONE_NEWNET).map_err(network)?;
        let space = File::open("/proc/thread-self/ns/net").map_err(at_tunnel)?;
        let mut tun = Tun::new().map_err(at_tunnel)?;
        tun.set_nonblocking(true).map_err(at_tunnel)?;
        let name = tun.name().map_err(at_tunnel)?;
        let name = name.name().to_string_lossy().into_owned();
        // As long a queue as a burst needs, so that packets are lost on the link and nowhere else; TCP's buffers shall not bound it.
        let commands = format!(
            "link set lo up\nlink set {name} mtu 1500 txqueuelen 20000 up\naddress add {}/24 dev {name}\n",
            end.address()
        );
        let mut ip = Command::new("ip").args(["-batch", "-"]).stdin(Stdio::piped()).spawn().map_err(at_tunnel)?;
        ip.stdin.take().map(|mut stdin| stdin.write_all(commands.as_bytes())).transpose().map_err(at_tunnel)?;
        let status = ip.wait().map_err(at_tunnel)?;
        if !status.success() {
            return Err(Error::Program { command: "ip -batch".to_owned(), reason: status.to_string() });
        }
        for buffer in ["tcp_rmem", "tcp_wmem"] {
            let path = format!("/proc/sys/net/ipv4/{buffer}");
            std::fs::write(&path, "4096 131072 67108864")
                .map_err(|source| Error::File { path: path.into(), source })?;
        }
        Ok((space, tun))
    };
    thread::spawn(make).join().expect("the setup does not panic")
}

fn network(error: nix::errno::Errno) -> Error {
    at_tunnel(error.into())
}

fn at_tunnel(source: std::io::Error) -> Error {
    Error::File { path: "a network of its own".into(), source }
}

/// Of the link, bit/s: what a host with two cores emulates beside two programs that are busy.
pub(crate) const RATE: u64 = 200_000_000;

/// Packets: queues are a bandwidth-delay product, but not for the shortest paths.
const SHORTEST_QUEUE: u32 = 200;

/// A packet is due each 60 µs.
const SPIN: Span = Span::from_micros(20);
