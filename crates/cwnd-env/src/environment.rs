//! One environment: episodes on a course, step by step.

use std::sync::Arc;

use cwnd::{Span, Spec, Time};
use cwnd_sim::{Setup, Simulation, State};
use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::course::Course;
use crate::draw::{DrawnPath, vary};
use crate::observation::{FEATURES, StepReport};
use crate::reward::PathCapacity;
use crate::steered::Shared;

/// Runs episodes one after another.
pub struct Environment {
    course: Arc<Course>,
    random: Xoshiro256PlusPlus,
    /// That of the current episode.
    setup: Setup,
    simulation: Simulation,
    agents: Vec<Agent>,
    /// The number of the network among those of the course, and its path.
    drawn: (usize, DrawnPath),
    steps: u32,
}

/// The measures of a steered flow over the steps of the learner in the episode so far: the step that [`Environment::observe`] runs does
/// not count, and neither does the time before the flow's first packet.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Totals {
    /// Packets delivered over those that the bottleneck could have carried meanwhile.
    pub goodput: f64,
    /// Mean of the steps' round-trip times, each weighted by the packets that its step delivered, over that of a packet that meets no
    /// other.
    pub delay: f64,
    /// Packets found lost, of those delivered or found lost.
    pub loss: f64,
    /// Sum of the rewards.
    pub reward: f64,
}

/// A step of a flow, and the capacity of its path meanwhile.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Outcome {
    /// The measurements of the sender.
    pub report: StepReport,
    /// The capacity of the bottleneck, packets per second.
    pub capacity: f64,
    /// The round trip of a packet that meets no other, seconds.
    pub empty_rtt: f64,
}

/// The draws of an episode.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Episode {
    /// The seed of the simulation, which fits into a signed number.
    pub seed: u64,
    /// The number of the network among those of the course.
    pub course: usize,
    /// The path of the first steered flow.
    pub path: DrawnPath,
}

/// A steered flow.
#[derive(Debug)]
struct Agent {
    flow: usize,
    link: usize,
    shared: Arc<Shared>,
    outcome: Outcome,
    empty_rtt: f64,
    sums: Sums,
}

/// Sums over the learner's steps.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    delivered: f64,
    lost: f64,
    /// Of round-trip times times packets delivered, seconds.
    waited: f64,
    /// Packets that the bottleneck could have carried.
    carried: f64,
    reward: f64,
}

impl Environment {
    /// An environment at the start of its first episode.
    #[must_use]
    pub fn new(course: Arc<Course>, seed: u64) -> Self {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let Begun { setup, agents, simulation, drawn } = begin(&course, &mut random);
        Self { course, random, setup, simulation, agents, drawn, steps: 0 }
    }

    /// Starts the next episode; with a `seed`, the first episode of that seed.
    pub fn reset(&mut self, seed: Option<u64>) {
        if let Some(seed) = seed {
            self.random = Xoshiro256PlusPlus::seed_from_u64(seed);
        }
        let Begun { setup, agents, simulation, drawn } = begin(&self.course, &mut self.random);
        (self.setup, self.agents, self.simulation, self.drawn, self.steps) = (setup, agents, simulation, drawn, 0);
    }

    /// Applies an action per steered flow, each from -1 to 1, and runs a step: whether it was the last of its episode. NaN counts as 0.
    ///
    /// # Panics
    /// `actions` and `rewards` do not have a number per steered flow, or `observations` not [`FEATURES`] numbers per steered flow.
    pub fn step(&mut self, actions: &[f32], observations: &mut [f32], rewards: &mut [f32]) -> bool {
        let agents = self.agents.len();
        assert!(actions.len() == agents && rewards.len() == agents, "one action and reward per steered flow");
        for (agent, action) in self.agents.iter().zip(actions) {
            agent.shared.sender().act(f64::from(*action));
        }
        self.steps += 1;
        let from = self.simulation.state().now();
        self.run_step();
        self.record(from, observations, rewards);
        self.is_over()
    }

    /// The observations after a reset.
    ///
    /// # Panics
    /// `observations` does not have [`FEATURES`] numbers per steered flow.
    pub fn observe(&mut self, observations: &mut [f32]) {
        let from = self.simulation.state().now();
        self.run_step();
        let mut rewards = vec![0.0; self.agents.len()];
        self.record(from, observations, &mut rewards);
        self.agents.iter_mut().for_each(|agent| agent.sums = Sums::default());
    }

    /// Whether the current episode has ended.
    #[must_use]
    pub(crate) fn is_over(&self) -> bool {
        self.steps >= self.course.options.steps || self.simulation.state().now() >= self.simulation.end()
    }

    /// Simulated time since the episode began, seconds.
    #[must_use]
    pub fn time(&self) -> f64 {
        self.simulation.state().now().as_secs_f64()
    }

    /// The network it runs on.
    #[must_use]
    pub(crate) fn course(&self) -> &Course {
        &self.course
    }

    /// The measures of each steered flow over the learner's steps in the episode so far.
    pub fn totals(&self) -> impl Iterator<Item = Totals> {
        self.agents.iter().map(|agent| agent.sums.totals(agent.empty_rtt))
    }

    /// The last step of each steered flow.
    pub fn outcomes(&self) -> impl Iterator<Item = Outcome> {
        self.agents.iter().map(|agent| agent.outcome)
    }

    /// The draws of the current episode.
    #[must_use]
    pub fn episode(&self) -> Episode {
        Episode { seed: self.setup.seed, course: self.drawn.0, path: self.drawn.1 }
    }

    /// Runs the simulation for a step: that of a single flow ends by its own clock.
    fn run_step(&mut self) {
        let Self { simulation, agents, course, .. } = self;
        let end = simulation.end();
        if let [agent] = &agents[..] {
            simulation.advance(end, |_| !agent.shared.is_over());
            return;
        }
        let state = simulation.state();
        let delivered = |state: State<'_>| agents.iter().map(|agent| state.flow(agent.flow).delivered()).sum::<u64>();
        let running = agents.iter().map(|agent| state.flow(agent.flow)).filter(|flow| flow.delivered() > 0);
        let (count, longest) = running.fold((0, Span::ZERO), |(count, longest), flow| {
            (count + 1, longest.max(flow.rtt().map_or(flow.base_rtt(), |rtt| rtt.smoothed)))
        });
        let target = delivered(state) + course.options.packets * count.max(1);
        simulation.advance(state.now() + longest, |_| true);
        simulation.advance(end, |state| delivered(state) < target);
    }

    /// Writes the observations and rewards of the step since `from`.
    fn record(&mut self, from: Time, observations: &mut [f32], rewards: &mut [f32]) {
        assert_eq!(observations.len(), self.agents.len() * FEATURES.len(), "an observation per steered flow");
        let state = self.simulation.state();
        let now = state.now();
        let outcomes = observations.chunks_exact_mut(FEATURES.len()).zip(rewards);
        for (agent, (observation, reward)) in self.agents.iter_mut().zip(outcomes) {
            let bottleneck = &self.setup.links[agent.link];
            let packet = self.setup.flows[agent.flow].packet;
            let capacity = bottleneck.mean_rate(from, now).unwrap_or(0.0) / packet.bits();
            let by_own_clock = agent.shared.take_report();
            let report =
                by_own_clock.unwrap_or_else(|| agent.shared.sender().close(now, state.flow(agent.flow).window().0));
            report.observe(observation);
            let path = PathCapacity { capacity, empty_rtt: agent.empty_rtt };
            let earned = if report.min_rtt > 0.0 { self.course.options.reward.of(&report, path) } else { 0.0 };
            agent.outcome = Outcome { report, capacity, empty_rtt: agent.empty_rtt };
            agent.sums.add(&report, capacity, earned);
            *reward = earned as f32;
        }
    }
}

impl Sums {
    fn add(&mut self, report: &StepReport, capacity: f64, reward: f64) {
        self.delivered += report.delivered;
        self.lost += report.lost;
        self.waited += report.rtt * report.delivered;
        self.carried += capacity * report.duration;
        self.reward += reward;
    }

    fn totals(self, empty_rtt: f64) -> Totals {
        let Self { delivered, lost, waited, carried, reward } = self;
        Totals {
            goodput: if carried > 0.0 { delivered / carried } else { 0.0 },
            delay: if delivered > 0.0 { waited / delivered / empty_rtt } else { 0.0 },
            loss: lost / (delivered + lost).max(1.0),
            reward,
        }
    }
}

/// An episode at its start.
struct Begun {
    setup: Setup,
    agents: Vec<Agent>,
    simulation: Simulation,
    /// The number of the network among those of the course, and its path.
    drawn: (usize, DrawnPath),
}

/// Draws the next episode.
fn begin(course: &Course, random: &mut Xoshiro256PlusPlus) -> Begun {
    let (course, nth) = course.draw(random);
    let mut setup = course.setup.clone();
    let path = vary(&mut setup, course.path, &course.options, random);
    let clocked = course.steered() == 1;
    let ends = course.steered.iter().zip(&course.bottlenecks);
    let mut agents: Vec<Agent> = ends
        .map(|(&flow, &link)| {
            let shared = Arc::new(Shared::new(&course.options.steering()));
            let label = course.options.algorithm.as_ref().map_or("steered", Spec::label).to_string();
            setup.flows[flow].algorithm = Spec::outside(&label, Arc::new(course.options.maker(&shared, clocked)));
            let rate = setup.links[link].rate;
            let empty_rtt = rate.map_or(0.0, |rate| setup.flows[flow].packet.bits() / rate as f64);
            Agent { flow, link, shared, outcome: Outcome::default(), empty_rtt, sums: Sums::default() }
        })
        .collect();
    let simulation = Simulation::new(&setup).expect("the setup of the course was checked, and draws stay in range");
    for agent in &mut agents {
        agent.empty_rtt += simulation.state().flow(agent.flow).base_rtt().as_secs_f64();
    }
    Begun { setup, agents, simulation, drawn: (nth, path) }
}

#[cfg(test)]
mod tests {
    use cwnd::registry::Transport;
    use cwnd_sim::{Dumbbell, Era, LinuxHost, QueueLimit};

    use super::*;
    use crate::{CourseError, Lever, Options};

    /// A queue of a fifth of a bandwidth-delay product on 20 Mbit/s and 40 ms.
    fn path(host: LinuxHost) -> Setup {
        let bell = Dumbbell::new(20_000_000, Span::from_millis(40), QueueLimit::Packets(13));
        let reno = Spec::parse("reno").expect("registered");
        let mut setup = bell.setup(&[reno], Era::MODERN, Span::from_secs(6), Span::ZERO, 1);
        setup.flows[0].host = host;
        Setup { sampling: None, ..setup }
    }

    #[test]
    fn every_algorithm_sends_in_the_learners_place_what_it_sends_alone() {
        for entry in cwnd::ALGORITHMS {
            let algorithm = Spec::parse(entry.name).expect("registered");
            // The other kind of host reads an algorithm's slow-start threshold.
            for host in [LinuxHost::default(), LinuxHost { tso: true, fq: true, ..LinuxHost::default() }] {
                let options = Options { algorithm: Some(algorithm.clone()), steps: u32::MAX, ..Options::default() };
                let course = Course::new(path(host), vec![0], options);
                if entry.transport != Transport::Acked {
                    assert!(matches!(course, Err(CourseError::Algorithm(_))), "{}", entry.name);
                    continue;
                }
                let mut environment = Environment::new(Arc::new(course.expect("a course")), 1);
                let (mut seen, mut reward) = (vec![0.0; FEATURES.len()], [0.0]);
                while !environment.step(&[1.0], &mut seen, &mut reward) {}
                let Environment { simulation, mut setup, .. } = environment;
                let steered = simulation.finish(&setup, &mut |_| true).expect("a valid setup");
                setup.flows[0].algorithm = algorithm.clone();
                let alone = cwnd_sim::run(&setup, &mut |_| true).expect("a valid setup");
                assert_eq!(steered.digest, alone.digest, "{}, {host:?}", entry.name);
            }
        }
    }

    #[test]
    fn a_network_that_was_drawn_can_be_built_again() {
        let between = |low, high| Some(crate::Range { low, high });
        let options = Options {
            rate: between(1e6, 3e7),
            rtt: between(0.005, 0.2),
            queue: between(0.3, 3.0),
            loss: between(0.0, 0.01),
            algorithm: Some(Spec::parse("reno").expect("registered")),
            steps: u32::MAX,
            ..Options::default()
        };
        let course = Arc::new(Course::new(path(LinuxHost::default()), vec![0], options).expect("a course"));
        for seed in 0..20 {
            let mut environment = Environment::new(Arc::clone(&course), seed);
            let Episode { seed, path: DrawnPath { rate, rtt, queue, loss }, .. } = environment.episode();
            let (mut seen, mut reward) = (vec![0.0; FEATURES.len()], [0.0]);
            while !environment.step(&[0.0], &mut seen, &mut reward) {}
            let Environment { simulation, setup, .. } = environment;
            let drawn = simulation.finish(&setup, &mut |_| true).expect("a valid setup");
            let bell = Dumbbell::new(rate, Span::from_secs_f64(rtt), QueueLimit::Packets(queue as u32));
            let reno = Spec::parse("reno").expect("registered");
            let mut again = bell.setup(&[reno], Era::MODERN, Span::from_secs(6), Span::ZERO, seed);
            let link = course.path.link;
            again.links[link].loss = cwnd_sim::Loss::Bernoulli(loss.expect("independent losses"));
            again = Setup { sampling: None, ..again };
            again.flows[0].host = LinuxHost::default();
            let again = cwnd_sim::run(&again, &mut |_| true).expect("a valid setup");
            assert_eq!(drawn.digest, again.digest, "{rate} bit/s, {rtt} s, {queue} packets");
        }
    }

    /// Follows what it sees.
    #[derive(Debug)]
    struct Careful;

    impl crate::Policy for Careful {
        fn act(&self, step: &StepReport) -> f64 {
            let mut seen = [0.0; FEATURES.len()];
            step.observe(&mut seen);
            f64::from(careful(&seen))
        }
    }

    fn careful(seen: &[f32]) -> f32 {
        0.4 - seen[1] - 4.0 * seen[3] - 0.1 * seen[5]
    }

    #[test]
    fn a_policy_sends_as_an_algorithm_what_it_sends_in_an_environment() {
        let cubic = Spec::parse("cubic").expect("registered");
        for lever in [Lever::Window, Lever::Rate, Lever::Over(cubic)] {
            for host in [LinuxHost::default(), LinuxHost { tso: true, fq: true, ..LinuxHost::default() }] {
                let options = Options { lever: lever.clone(), steps: u32::MAX, ..Options::default() };
                let steering = options.steering();
                let course = Course::new(path(host), vec![0], options).expect("a course");
                let mut environment = Environment::new(Arc::new(course), 1);
                let (mut seen, mut reward) = (vec![0.0; FEATURES.len()], [0.0]);
                environment.observe(&mut seen);
                while !environment.step(&[careful(&seen)], &mut seen, &mut reward) {}
                assert!(environment.steps > 40, "{lever:?}: {} steps", environment.steps);
                let goodput = environment.totals().next().map_or(0.0, |totals| totals.goodput);
                assert!(goodput > 0.3, "{lever:?}: {goodput}");
                let Environment { simulation, mut setup, .. } = environment;
                let steered = simulation.finish(&setup, &mut |_| true).expect("a valid setup");
                setup.flows[0].algorithm =
                    crate::learnt("careful", Arc::new(Careful), steering).expect("within the ranges");
                let alone = cwnd_sim::run(&setup, &mut |_| true).expect("a valid setup");
                assert_eq!(steered.digest, alone.digest, "{lever:?}, {host:?}");
            }
        }
    }
}
