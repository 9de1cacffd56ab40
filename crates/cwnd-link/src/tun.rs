//! A link between two networks of this host, for any program and the kernel's own TCP.

use std::fs::{self, File};
use std::io::{self, Write};
use std::net::Ipv4Addr;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use cwnd::Span;
use cwnd_sim::emulate::Emulation;
use nix::sched::{CloneFlags, setns, unshare};
use tappers::Tun;

use crate::relay::RelayError;
use crate::wire::{Wire, WireReport};

/// Two network namespaces with a TUN interface each, and a [`Wire`] between them; root may make them. They are gone when this is dropped
/// and no program is left in them.
#[derive(Debug)]
pub struct TunLink {
    namespaces: [File; 2],
    stop: Arc<AtomicBool>,
    wire: Option<thread::JoinHandle<Result<WireReport, RelayError>>>,
}

/// One of the two networks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Where data comes from, 10.77.0.1: the first link begins there.
    Near,
    /// Where it goes, 10.77.0.2.
    Far,
}

impl TunLink {
    /// Makes the networks and starts to carry packets between them. `spin` is as in [`Plan`](crate::Plan::spin).
    ///
    /// # Errors
    /// [`RelayError::Emulation`] if a link is configured wrongly, [`RelayError::Network`] if a network cannot be made: without root, TUN
    /// devices or the program `ip`.
    pub fn start(forth: &Emulation, back: &Emulation, seed: u64, spin: Span) -> Result<Self, RelayError> {
        let (near, sender) = namespace(Side::Near)?;
        let (far, receiver) = namespace(Side::Far)?;
        let wire = Wire::new([sender, receiver], forth, back, seed, spin)?;
        let stop = Arc::new(AtomicBool::new(false));
        let stopping = Arc::clone(&stop);
        let wire = Some(thread::spawn(move || wire.run(&stopping)));
        Ok(Self { namespaces: [near, far], stop, wire })
    }

    /// Does `work` on a thread in one of the networks: sockets it opens and programs it starts are there.
    ///
    /// # Errors
    /// [`RelayError::Network`] if the thread cannot go there.
    pub fn at<T: Send>(&self, side: Side, work: impl FnOnce() -> T + Send) -> Result<T, RelayError> {
        let namespace = &self.namespaces[side as usize];
        let there = || {
            setns(namespace, CloneFlags::CLONE_NEWNET).map_err(|error| RelayError::Network(error.into()))?;
            Ok(work())
        };
        thread::scope(|scope| scope.spawn(there).join().expect("the work does not panic"))
    }

    /// Ends it: what the links carried.
    ///
    /// # Errors
    /// [`RelayError::Receive`] if reading from a device failed.
    pub fn stop(mut self) -> Result<WireReport, RelayError> {
        self.stop.store(true, Ordering::Relaxed);
        let wire = self.wire.take().expect("nobody else stops it");
        wire.join().expect("a wire does not panic")
    }
}

impl Drop for TunLink {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

impl Side {
    /// The address of its interface.
    #[must_use]
    pub const fn address(self) -> Ipv4Addr {
        match self {
            Self::Near => Ipv4Addr::new(10, 77, 0, 1),
            Self::Far => Ipv4Addr::new(10, 77, 0, 2),
        }
    }
}

/// A network that exists as long as the file is open, and its one interface other than the loopback.
fn namespace(side: Side) -> Result<(File, Tun), RelayError> {
    let make = move || -> io::Result<(File, Tun)> {
        unshare(CloneFlags::CLONE_NEWNET)?;
        let namespace = File::open("/proc/thread-self/ns/net")?;
        let mut tun = Tun::new()?;
        tun.set_nonblocking(true)?;
        let name = tun.name()?;
        let name = name.name().to_string_lossy().into_owned();
        // As long a queue as a burst needs, so that packets are lost on the link and nowhere else; TCP's buffers shall not bound it.
        let commands = format!(
            "link set lo up\nlink set {name} mtu 1500 txqueuelen 20000 up\naddress add {}/24 dev {name}\n",
            side.address()
        );
        let mut ip = Command::new("ip").args(["-batch", "-"]).stdin(Stdio::piped()).spawn()?;
        ip.stdin.take().map(|mut stdin| stdin.write_all(commands.as_bytes())).transpose()?;
        let status = ip.wait()?;
        if !status.success() {
            return Err(io::Error::other(format!("`ip -batch` ended with {status}")));
        }
        for buffer in ["tcp_rmem", "tcp_wmem"] {
            fs::write(format!("/proc/sys/net/ipv4/{buffer}"), "4096 131072 67108864")?;
        }
        // The path metrics that one connection learnt would bind the next one.
        fs::write("/proc/sys/net/ipv4/tcp_no_metrics_save", "1")?;
        Ok((namespace, tun))
    };
    thread::spawn(make).join().expect("the setup does not panic").map_err(RelayError::Network)
}
