//! The network of an environment and the flows that a learner steers.

use cwnd::random::uniform;
use cwnd_sim::{LinkId, Setup, Simulation, Source, Variation};
use rand_core::Rng;
use rand_xoshiro::Xoshiro256PlusPlus;

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
    /// Other networks for an episode.
    others: Vec<Course>,
}

impl Course {
    /// The network `setup`, of whose flows the learner steers those with the indices `steered`, in this order. The algorithms that they
    /// have in the setup are ignored.
    ///
    /// # Errors
    /// `steered` is empty, has an index twice or one that does not exist; a steered flow does not send all the time or crosses no link
    /// with a rate; an option is outside its range; or the setup is invalid.
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
        let bottlenecks = slowest.into_iter().map(|(_, link)| link).collect();
        // The trace is not used: nothing is sampled.
        let setup = Setup { sampling: None, packet_log: None, ..setup };
        Ok(Self { setup, steered, bottlenecks, path, options, others: Vec::new() })
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

    /// How many flows the learner steers.
    #[must_use]
    pub fn steered(&self) -> usize {
        self.steered.len()
    }

    /// The names of the flows the learner steers.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.steered.iter().map(|flow| self.setup.flows[*flow].name.as_str())
    }
}
