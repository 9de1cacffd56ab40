//! The network of an environment and the flows that a learner steers.

use cwnd::random::uniform;
use cwnd_sim::{LinkId, LinkSetup, QueueLimit, Setup, Simulation, Source, Variation};
use rand_core::Rng;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::bounds::MAX_PACKETS;
use crate::draw::Reference;
use crate::error::CourseError;
use crate::options::Options;

/// A checked network with flows to steer: episodes on it cannot fail.
#[derive(Clone, Debug)]
pub struct Course {
    pub(crate) setup: Setup,
    pub(crate) steered: Vec<usize>,
    /// The slowest link of each steered flow.
    pub(crate) bottlenecks: Vec<usize>,
    pub(crate) path: Reference,
    pub(crate) options: Options,
    /// The maximum number of packets in flight and in queues.
    packets: f64,
    /// Other networks for an episode.
    others: Vec<Course>,
}

impl Course {
    /// The network `setup`, of whose flows the learner steers those with the indices `steered`, in this order. The algorithms that they
    /// have in the setup are ignored.
    ///
    /// # Errors
    /// `steered` is empty, has an index twice or one that does not exist; a steered flow does not send all the time or crosses no link
    /// with a rate; an option is outside its range; the path may hold more than [`MAX_PACKETS`] packets, or any number of them; or the setup
    /// is invalid.
    pub fn new(setup: Setup, steered: Vec<usize>, options: Options) -> Result<Self, CourseError> {
        options.check()?;
        let mut different = steered.clone();
        different.sort_unstable();
        different.dedup();
        if steered.is_empty() || different.len() < steered.len() {
            return Err(CourseError::Steered);
        }
        for &flow in &steered {
            let found = setup.flows.get(flow).ok_or(CourseError::Flow { flow, flows: setup.flows.len() })?;
            if found.source != Source::Bulk || found.stop.is_some() || !found.pauses.is_empty() {
                return Err(CourseError::Application(flow));
            }
        }
        let paths = setup.paths()?;
        let rate = |link: &LinkId| setup.links[link.0 as usize].rate.map(|rate| (rate, link.0 as usize));
        let slowest = |&flow: &usize| paths[flow].iter().filter_map(rate).min().ok_or(CourseError::Bottleneck(flow));
        let slowest = steered.iter().map(slowest).collect::<Result<Vec<_>, _>>()?;
        let (rate, link) = slowest[0];
        let plain = Setup { variation: Variation { rtt: 0.0, ..setup.variation }, ..setup.clone() };
        let rtt = Simulation::new(&plain)?.state().flow(steered[0]).base_rtt().as_secs_f64();
        if rtt <= 0.0 {
            return Err(CourseError::Option { option: "the round-trip time", accepted: "above zero" });
        }
        let path = Reference { link, rate: rate as f64, rtt, packet: setup.flows[steered[0]].packet };
        let mut crossed: Vec<usize> =
            steered.iter().flat_map(|&flow| paths[flow].iter()).map(|link| link.0 as usize).collect();
        crossed.sort_unstable();
        crossed.dedup();
        let packets = most_packets(crossed.iter().map(|link| &setup.links[*link]), path, &options)?;
        if packets > MAX_PACKETS as f64 {
            return Err(CourseError::Packets { packets });
        }
        let bottlenecks = slowest.into_iter().map(|(_, link)| link).collect();
        // The trace is not used: nothing is sampled.
        let setup = Setup { sampling: None, packet_log: None, ..setup };
        Ok(Self { setup, steered, bottlenecks, path, options, packets, others: Vec::new() })
    }

    /// The course whose episodes are on its own network or on `other`'s; of several alternatives one is drawn for each episode, evenly.
    ///
    /// # Errors
    /// Not as many flows are steered on the two.
    pub fn or(mut self, other: Self) -> Result<Self, CourseError> {
        if other.steered() != self.steered() {
            return Err(CourseError::Steered);
        }
        self.others.push(other);
        Ok(self)
    }

    /// The network of the next episode, and its number among the alternatives.
    pub(crate) fn draw(&self, random: &mut Xoshiro256PlusPlus) -> (&Self, usize) {
        if self.others.is_empty() {
            return (self, 0);
        }
        let nth = (uniform(random.next_u64()) * (1 + self.others.len()) as f64) as usize;
        match nth.checked_sub(1).and_then(|nth| self.others.get(nth)) {
            Some(other) => (other, nth),
            None => (self, 0),
        }
    }

    /// How many packets are in flight and in queues on the way of the steered flows at most, on whichever network is drawn.
    #[must_use]
    pub fn packets(&self) -> f64 {
        self.others.iter().map(|other| other.packets).fold(self.packets, f64::max)
    }

    /// The number of flows that the learner steers.
    #[must_use]
    pub fn steered(&self) -> usize {
        self.steered.len()
    }

    /// The names of the flows the learner steers.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.steered.iter().map(|flow| self.setup.flows[*flow].name.as_str())
    }
}

/// The packets that are in flight and in the queues of `links` at most, for the largest draws.
///
/// # Errors
/// A queue has no limit.
fn most_packets<'a>(
    links: impl Iterator<Item = &'a LinkSetup>,
    path: Reference,
    options: &Options,
) -> Result<f64, CourseError> {
    let (rate, rtt) =
        (options.rate.map_or(path.rate, |range| range.high), options.rtt.map_or(path.rtt, |range| range.high));
    let (rate_factor, rtt_factor) = (rate / path.rate, rtt / path.rtt);
    let products = |rate: f64| rate * rtt / path.packet.bits();
    let mut packets = products(rate);
    for link in links {
        let Some(own) = link.rate else { continue };
        packets += match (options.queue, link.queue) {
            (Some(range), _) => range.high * products(own as f64 * rate_factor),
            (None, QueueLimit::Packets(packets)) => f64::from(packets) * rate_factor * rtt_factor,
            (None, QueueLimit::Bytes(bytes)) => 8.0 * bytes as f64 / path.packet.bits() * rate_factor * rtt_factor,
            (None, QueueLimit::Unlimited) => return Err(CourseError::Unlimited(link.name.clone())),
        };
    }
    Ok(packets)
}
