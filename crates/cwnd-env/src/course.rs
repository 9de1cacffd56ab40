//! The network of an environment, and what a learner may do in it.

use cwnd::Spec;
use cwnd::registry::Transport;
use cwnd_sim::{LinkId, Setup, SetupError, Simulation, Source, Variation};
use thiserror::Error;

use crate::draw::{Range, Reference};
use crate::reward::Reward;

/// A checked network with flows to steer: episodes on it cannot fail.
#[derive(Clone, Debug)]
pub struct Course {
    pub(crate) setup: Setup,
    pub(crate) steered: Vec<usize>,
    /// The slowest link of each steered flow.
    pub(crate) bottlenecks: Vec<usize>,
    pub(crate) path: Reference,
    pub(crate) options: Options,
}

/// What a learner may do, and what changes from episode to episode.
#[derive(Clone, Debug)]
pub struct Options {
    /// What `1` does to a window: it becomes `1 + gain` times as large, and with `-1` so many times smaller; above 0. Between
    /// these, Aurora's rule: `w (1 + gain a)` for `a` of at least 0, `w / (1 - gain a)` below. Aurora: 0.025.
    pub gain: f64,
    /// A step goes on until so many packets were delivered on average per steered flow; at least 1.
    pub packets: u64,
    /// An episode is cut after so many steps, if it has not come to the end of the setup's duration; at least 1.
    pub steps: u32,
    /// What is rewarded.
    pub reward: Reward,
    /// Rate of the bottleneck, bit/s, drawn evenly over its logarithm; that of the others changes in proportion.
    pub rate: Option<Range>,
    /// Round-trip time of the first steered flow without queueing, seconds, drawn evenly over its logarithm; other delays change in
    /// proportion.
    pub rtt: Option<Range>,
    /// How much may wait in front of a link with a rate, in products of its rate and the round-trip time, drawn evenly over its
    /// logarithm. Without it queues grow with that product. Thresholds of a discipline stay as they are.
    pub queue: Option<Range>,
    /// Probability of random loss on the bottleneck, drawn evenly.
    pub loss: Option<Range>,
    /// Steers in the place of the learner, whose actions change nothing: to measure an algorithm by what the learner is measured by.
    pub algorithm: Option<Spec>,
}

/// A course contradicts itself.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum CourseError {
    /// The algorithm in the learner's place wants another transport.
    #[error("`{0}` cannot steer here: it does not run over acknowledgements of every packet")]
    Algorithm(String),
    /// A steered flow is not one that has something to send all the time.
    #[error("flow {0} cannot be steered: its application must have something to send from its start to the end")]
    Application(usize),
    /// A steered flow crosses no link with a rate.
    #[error("flow {0} cannot be steered: no link of its path has a rate")]
    Bottleneck(usize),
    /// There is no such flow.
    #[error("there is no flow {flow} to steer: there are {flows}")]
    Flow {
        /// The flow asked for.
        flow: usize,
        /// How many there are.
        flows: usize,
    },
    /// An option is outside its range.
    #[error("{option} must be {accepted}")]
    Option {
        /// Its name.
        option: &'static str,
        /// What is accepted.
        accepted: &'static str,
    },
    /// A flow is steered twice, or none at all.
    #[error("the flows to steer must be at least one, and different ones")]
    Steered,
    /// The network itself.
    #[error(transparent)]
    Setup(#[from] SetupError),
}

impl Course {
    /// The network `setup`, of whose flows those with the indices `steered` are the learner's, in this order. What algorithms they
    /// have in the setup makes no difference.
    ///
    /// # Errors
    /// A flow cannot be steered, an option is outside its range, or the setup contradicts itself.
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
        // Nothing is recorded over time: nobody asks for the trace.
        let setup = Setup { sampling: None, packet_log: None, ..setup };
        Ok(Self { setup, steered, bottlenecks, path, options })
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

impl Options {
    fn check(&self) -> Result<(), CourseError> {
        let require = |holds: bool, option, accepted| {
            if holds { Ok(()) } else { Err(CourseError::Option { option, accepted }) }
        };
        let within = |range: Option<Range>, least, most| range.is_none_or(|range| range.is_within(least, most));
        require(self.gain > 0.0 && self.gain <= MAX_GAIN, "gain", "above 0 and at most 15")?;
        require(self.packets > 0, "packets", "at least 1")?;
        require(self.steps > 0, "steps", "at least 1")?;
        require(within(self.rate, 1e3, 1e12), "rate", "a range within 1 kbit/s and 1 Tbit/s")?;
        require(within(self.rtt, 1e-6, 100.0), "rtt", "a range within 1 us and 100 s")?;
        require(within(self.queue, 1e-3, 1e3), "queue", "a range within 0.001 and 1000 bandwidth-delay products")?;
        require(within(self.loss, 0.0, 0.9), "loss", "a range within 0 and 0.9")?;
        let weights = match self.reward {
            Reward::Linear { goodput, delay, loss } => [goodput, delay, loss].iter().all(|weight| weight.is_finite()),
            Reward::Power { loss, margin } => loss.is_finite() && margin >= 1.0,
        };
        require(weights, "the reward", "of finite weights, with a margin of at least 1")?;
        match &self.algorithm {
            Some(spec) if spec.entry().transport != Transport::Acked => {
                Err(CourseError::Algorithm(spec.label().to_string()))
            }
            _ => Ok(()),
        }
    }
}

impl Default for Options {
    /// A window is doubled or halved at most, as slow start and Reno do in a round trip. Ten packets tell something of loss.
    fn default() -> Self {
        Self {
            gain: 1.0,
            packets: 10,
            steps: 400,
            reward: Reward::default(),
            rate: None,
            rtt: None,
            queue: None,
            loss: None,
            algorithm: None,
        }
    }
}

/// Four doublings: what a window sends at once stays within a few times what it was.
const MAX_GAIN: f64 = 15.0;
