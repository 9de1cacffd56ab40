//! Where the two ends of a transfer are: on this host as it is, or each in a network of its own with a link between.

use std::net::Ipv4Addr;

use cwnd::Span;
use cwnd_link::{Side, TunLink, WireReport};
use cwnd_sim::emulate::Emulation;
use cwnd_sim::{Loss, QueueLimit};

use crate::Error;

/// A network path between two programs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Route {
    pub(crate) name: &'static str,
    /// The round-trip time and the probability that a packet to the receiver is lost; none for the loopback.
    pub(crate) link: Option<(u64, f64)>,
}

/// The network of a route.
pub(crate) enum Network {
    Loopback,
    Tunnel(TunLink),
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
        Ok(Self::Tunnel(TunLink::start(&forth, &back, 1, SPIN)?))
    }

    /// Where an end is reached by the other.
    pub(crate) fn address(&self, side: Side) -> Ipv4Addr {
        match self {
            Self::Loopback => Ipv4Addr::LOCALHOST,
            Self::Tunnel(_) => side.address(),
        }
    }

    /// Does `work` at an end: sockets it opens and programs it starts are there.
    pub(crate) fn at<T: Send>(&self, side: Side, work: impl FnOnce() -> Result<T, Error> + Send) -> Result<T, Error> {
        match self {
            Self::Loopback => work(),
            Self::Tunnel(tunnel) => tunnel.at(side, work)?,
        }
    }

    /// Ends it: what its link carried, if there was one.
    pub(crate) fn stop(self) -> Result<Option<WireReport>, Error> {
        match self {
            Self::Loopback => Ok(None),
            Self::Tunnel(tunnel) => Ok(Some(tunnel.stop()?)),
        }
    }
}

/// The rate of the link, bit/s: a host with two cores can emulate it while two programs are busy.
pub(crate) const RATE: u64 = 200_000_000;

/// Packets: queues are a bandwidth-delay product, but not for the shortest paths.
const SHORTEST_QUEUE: u32 = 200;

/// A packet is due each 60 µs.
const SPIN: Span = Span::from_micros(20);
