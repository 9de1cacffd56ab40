//! One environment: episodes on a course, step by step.

use std::sync::Arc;

use cwnd::{Span, Spec, Time};
use cwnd_sim::{FlowState, QueueLimit, Setup, Simulation, State};
use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::course::Course;
use crate::draw::vary;
use crate::observation::{FEATURES, StepReport};
use crate::reward::PathCapacity;
use crate::steered::{Counters, SharedWindow, SteeredMaker};

/// Runs episodes one after another.
pub struct Environment {
    course: Arc<Course>,
    random: Xoshiro256PlusPlus,
    /// That of the current episode.
    setup: Setup,
    simulation: Simulation,
    agents: Vec<Agent>,
    steps: u32,
}

/// The measures of a steered flow over the episode so far.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Totals {
    /// Packets delivered over those that the bottleneck could have carried meanwhile.
    pub goodput: f64,
    /// Mean round-trip time over that of a packet that meets no other.
    pub delay: f64,
    /// Packets found lost, of those delivered or found lost.
    pub loss: f64,
    /// Sum of the rewards.
    pub reward: f64,
}

/// A steered flow.
#[derive(Debug)]
struct Agent {
    flow: usize,
    link: usize,
    window: Arc<SharedWindow>,
    /// The largest window, packets: it bounds the packets that one acknowledgement can release.
    max_window: f64,
    counts: Counts,
    best_rate: f64,
    mean_rtt: f64,
    empty_rtt: f64,
    carried: f64,
    reward: f64,
}

/// Packets of a flow since it began.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    sent: u64,
    delivered: u64,
    lost: u64,
    counters: Counters,
}

impl Environment {
    /// An environment at the start of its first episode.
    #[must_use]
    pub fn new(course: Arc<Course>, seed: u64) -> Self {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let (setup, agents, simulation) = episode(&course, &mut random);
        Self { course, random, setup, simulation, agents, steps: 0 }
    }

    /// Starts the next episode; with a `seed`, the first episode of that seed.
    pub fn reset(&mut self, seed: Option<u64>) {
        if let Some(seed) = seed {
            self.random = Xoshiro256PlusPlus::seed_from_u64(seed);
        }
        (self.setup, self.agents, self.simulation) = episode(&self.course, &mut self.random);
        self.steps = 0;
    }

    /// Applies an action per steered flow, each from -1 to 1, and runs a step: whether it was the last of its episode. NaN counts as 0.
    ///
    /// # Panics
    /// `actions` and `rewards` do not have a number per steered flow, or `observations` not [`FEATURES`] numbers per steered flow.
    pub fn step(&mut self, actions: &[f32], observations: &mut [f32], rewards: &mut [f32]) -> bool {
        let agents = self.agents.len();
        assert!(actions.len() == agents && rewards.len() == agents, "one action and reward per steered flow");
        let gain = self.course.options.gain;
        for (agent, action) in self.agents.iter().zip(actions) {
            let window = agent.window.get() * factor(gain, f64::from(*action));
            agent.window.set(window.min(agent.max_window).max(1.0));
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
        self.agents.iter_mut().for_each(|agent| agent.reward = 0.0);
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

    /// The measures of each steered flow over the episode so far.
    pub fn totals(&self) -> impl Iterator<Item = Totals> {
        self.agents.iter().map(|agent| {
            let Counts { delivered, lost, counters, .. } = agent.counts;
            let (delivered, lost) = (delivered as f64, lost as f64);
            Totals {
                goodput: if agent.carried > 0.0 { delivered / agent.carried } else { 0.0 },
                delay: if counters.rtts > 0.0 { counters.rtt_sum / counters.rtts / agent.empty_rtt } else { 0.0 },
                loss: lost / (delivered + lost).max(1.0),
                reward: agent.reward,
            }
        })
    }

    /// Runs the simulation for a step.
    fn run_step(&mut self) {
        let Self { simulation, agents, course, .. } = self;
        let end = simulation.end();
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
            let report = agent.report(state.flow(agent.flow), now.since(from));
            report.observe(observation);
            let path = PathCapacity { capacity, empty_rtt: agent.empty_rtt };
            let earned = if report.min_rtt > 0.0 { self.course.options.reward.of(&report, path) } else { 0.0 };
            agent.carried += capacity * report.duration;
            agent.reward += earned;
            *reward = earned as f32;
        }
    }
}

impl Agent {
    fn new(setup: &Setup, flow: usize, link: usize, window: Arc<SharedWindow>) -> Self {
        Self {
            flow,
            link,
            window,
            max_window: f64::INFINITY,
            counts: Counts::default(),
            best_rate: 0.0,
            mean_rtt: 0.0,
            empty_rtt: setup.links[link].rate.map_or(0.0, |rate| setup.flows[flow].packet.bits() / rate as f64),
            carried: 0.0,
            reward: 0.0,
        }
    }

    /// The step of `duration` that has just passed.
    fn report(&mut self, flow: FlowState<'_>, duration: Span) -> StepReport {
        let counters = Counters::of(flow);
        let counts = Counts { sent: flow.sent(), delivered: flow.delivered(), lost: flow.lost(), counters };
        let before = std::mem::replace(&mut self.counts, counts);
        let since = |new: u64, old: u64| new.saturating_sub(old) as f64;
        let samples = counters.rtts - before.counters.rtts;
        let rtt = if samples > 0.0 { (counters.rtt_sum - before.counters.rtt_sum) / samples } else { self.mean_rtt };
        let rtt_before = if self.mean_rtt > 0.0 { self.mean_rtt } else { rtt };
        self.mean_rtt = rtt;
        let duration = duration.as_secs_f64();
        let delivered = since(counts.delivered, before.delivered);
        if duration > 0.0 {
            self.best_rate = self.best_rate.max(delivered / duration);
        }
        StepReport {
            duration,
            sent: since(counts.sent, before.sent),
            delivered,
            lost: since(counts.lost, before.lost),
            marked: counters.marked - before.counters.marked,
            rtt,
            rtt_before,
            min_rtt: flow.rtt().map_or(0.0, |rtt| rtt.min.as_secs_f64()),
            best_rate: self.best_rate,
            window: flow.window().0,
        }
    }
}

/// Draws the next episode.
fn episode(course: &Course, random: &mut Xoshiro256PlusPlus) -> (Setup, Vec<Agent>, Simulation) {
    let mut setup = course.setup.clone();
    vary(&mut setup, course.path, &course.options, random);
    let ends = course.steered.iter().zip(&course.bottlenecks);
    let mut agents: Vec<Agent> = ends
        .map(|(&flow, &link)| {
            let window = Arc::new(SharedWindow::default());
            let algorithm = course.options.algorithm.clone();
            let label = algorithm.as_ref().map_or("steered", Spec::label).to_string();
            setup.flows[flow].algorithm =
                Spec::outside(&label, Arc::new(SteeredMaker { window: Arc::clone(&window), algorithm }));
            Agent::new(&setup, flow, link, window)
        })
        .collect();
    let simulation =
        Simulation::new(&setup).expect("the setup of the course was checked, and what is drawn stays in range");
    for agent in &mut agents {
        let link = &setup.links[agent.link];
        let packet = setup.flows[agent.flow].packet;
        let base = simulation.state().flow(agent.flow).base_rtt().as_secs_f64();
        agent.empty_rtt += base;
        let product = link.rate.map_or(0.0, |rate| rate as f64 * agent.empty_rtt / packet.bits());
        let waiting = match link.queue {
            QueueLimit::Packets(packets) => f64::from(packets),
            QueueLimit::Bytes(bytes) => bytes as f64 / f64::from(packet.0),
            QueueLimit::Unlimited => product,
        };
        agent.max_window = (MAX_PATHS * (product + waiting)).max(MIN_MAX_WINDOW);
    }
    (setup, agents, simulation)
}

/// The factor by which an action changes a window (Aurora, section 3).
fn factor(gain: f64, action: f64) -> f64 {
    let action = if action.is_nan() { 0.0 } else { action.clamp(-1.0, 1.0) };
    if action >= 0.0 { 1.0 + gain * action } else { 1.0 / (1.0 - gain * action) }
}

/// The largest window, in multiples of what link and queue hold: with it nearly every packet is lost.
const MAX_PATHS: f64 = 4.0;
/// The largest window on the smallest paths, packets.
const MIN_MAX_WINDOW: f64 = 64.0;

#[cfg(test)]
mod tests {
    use cwnd::registry::Transport;
    use cwnd_sim::{Dumbbell, Era, LinuxHost};

    use super::*;
    use crate::{CourseError, Options};

    #[test]
    fn actions_change_windows_as_in_aurora() {
        for (gain, action, expected) in
            [(0.025, 1.0, 1.025), (0.025, -1.0, 1.0 / 1.025), (1.0, 0.5, 1.5), (1.0, -1.0, 0.5)]
        {
            assert!((factor(gain, action) - expected).abs() < 1e-12, "{gain}, {action}");
        }
        assert!((factor(1.0, 7.0) - 2.0).abs() < 1e-12, "actions are clamped to -1..=1");
        assert!((factor(1.0, f64::NAN) - 1.0).abs() < 1e-12);
    }

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
}
