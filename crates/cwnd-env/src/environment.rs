//! One environment: episodes on a course, step by step.

use std::sync::Arc;

use cwnd::{Span, Spec, Time};
use cwnd_sim::{FlowState, QueueLimit, Setup, Simulation, State};
use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::course::Course;
use crate::draw::vary;
use crate::observation::{FEATURES, Report};
use crate::pilot::{Heard, Pilot, Wheel};
use crate::reward::Path;

/// Runs episodes one after another.
pub struct Environment {
    course: Arc<Course>,
    random: Xoshiro256PlusPlus,
    /// Of the episode under way.
    setup: Setup,
    simulation: Simulation,
    agents: Vec<Agent>,
    steps: u32,
}

/// What a steered flow got over an episode so far.
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
    wheel: Arc<Wheel>,
    /// Its window is held to this: what a packet sets free at once stays bounded.
    max_window: f64,
    counted: Counted,
    best_rate: f64,
    mean_rtt: f64,
    empty_rtt: f64,
    carried: f64,
    reward: f64,
}

/// What a flow has counted since it began.
#[derive(Clone, Copy, Debug, Default)]
struct Counted {
    sent: u64,
    delivered: u64,
    lost: u64,
    heard: Heard,
}

impl Environment {
    /// An environment at the start of its first episode.
    #[must_use]
    pub fn new(course: Arc<Course>, seed: u64) -> Self {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let (setup, agents, simulation) = episode(&course, &mut random);
        Self { course, random, setup, simulation, agents, steps: 0 }
    }

    /// Starts the next episode, with `seed` the first of another series.
    pub fn reset(&mut self, seed: Option<u64>) {
        if let Some(seed) = seed {
            self.random = Xoshiro256PlusPlus::seed_from_u64(seed);
        }
        (self.setup, self.agents, self.simulation) = episode(&self.course, &mut self.random);
        self.steps = 0;
    }

    /// Takes an action per steered flow, each from -1 to 1, and lets a step pass: whether it was the last of its episode. Undefined
    /// actions are 0.
    ///
    /// # Panics
    /// The slices have not the lengths of their kind: one action and one reward per steered flow, and [`FEATURES`] numbers of
    /// observation.
    pub fn step(&mut self, actions: &[f32], observations: &mut [f32], rewards: &mut [f32]) -> bool {
        let agents = self.agents.len();
        assert!(actions.len() == agents && rewards.len() == agents, "one action and reward per steered flow");
        let gain = self.course.options.gain;
        for (agent, action) in self.agents.iter().zip(actions) {
            let window = agent.wheel.get() * factor(gain, f64::from(*action));
            agent.wheel.set(window.min(agent.max_window).max(1.0));
        }
        self.steps += 1;
        let from = self.simulation.state().now();
        self.travel();
        self.look(from, observations, rewards);
        self.is_over()
    }

    /// The observations after a reset.
    ///
    /// # Panics
    /// The slice has not [`FEATURES`] numbers per steered flow.
    pub fn observe(&mut self, observations: &mut [f32]) {
        let from = self.simulation.state().now();
        self.travel();
        let mut rewards = vec![0.0; self.agents.len()];
        self.look(from, observations, &mut rewards);
        self.agents.iter_mut().for_each(|agent| agent.reward = 0.0);
    }

    /// Whether the episode under way has come to its end.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.steps >= self.course.options.steps || self.simulation.state().now() >= self.simulation.end()
    }

    /// Simulated time since the episode began, seconds.
    #[must_use]
    pub fn time(&self) -> f64 {
        self.simulation.state().now().as_secs_f64()
    }

    /// The network it runs on.
    #[must_use]
    pub fn course(&self) -> &Course {
        &self.course
    }

    /// What each steered flow got over the episode so far.
    pub fn totals(&self) -> impl Iterator<Item = Totals> {
        self.agents.iter().map(|agent| {
            let Counted { delivered, lost, heard, .. } = agent.counted;
            let (delivered, lost) = (delivered as f64, lost as f64);
            Totals {
                goodput: if agent.carried > 0.0 { delivered / agent.carried } else { 0.0 },
                delay: if heard.rtts > 0.0 { heard.rtt_sum / heard.rtts / agent.empty_rtt } else { 0.0 },
                loss: lost / (delivered + lost).max(1.0),
                reward: agent.reward,
            }
        })
    }

    /// Lets the time of a step pass.
    fn travel(&mut self) {
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

    /// Tells what happened since `from`.
    fn look(&mut self, from: Time, observations: &mut [f32], rewards: &mut [f32]) {
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
            let path = Path { capacity, empty_rtt: agent.empty_rtt };
            let earned = if report.min_rtt > 0.0 { self.course.options.reward.of(&report, path) } else { 0.0 };
            agent.carried += capacity * report.duration;
            agent.reward += earned;
            *reward = earned as f32;
        }
    }
}

impl Agent {
    fn new(setup: &Setup, flow: usize, link: usize, wheel: Arc<Wheel>) -> Self {
        Self {
            flow,
            link,
            wheel,
            max_window: f64::INFINITY,
            counted: Counted::default(),
            best_rate: 0.0,
            mean_rtt: 0.0,
            empty_rtt: setup.links[link].rate.map_or(0.0, |rate| setup.flows[flow].packet.bits() / rate as f64),
            carried: 0.0,
            reward: 0.0,
        }
    }

    /// The step of `duration` that has just passed.
    fn report(&mut self, flow: FlowState<'_>, duration: Span) -> Report {
        let heard = Heard::of(flow);
        let counted = Counted { sent: flow.sent(), delivered: flow.delivered(), lost: flow.lost(), heard };
        let before = std::mem::replace(&mut self.counted, counted);
        let since = |new: u64, old: u64| new.saturating_sub(old) as f64;
        let samples = heard.rtts - before.heard.rtts;
        let rtt = if samples > 0.0 { (heard.rtt_sum - before.heard.rtt_sum) / samples } else { self.mean_rtt };
        let rtt_before = if self.mean_rtt > 0.0 { self.mean_rtt } else { rtt };
        self.mean_rtt = rtt;
        let duration = duration.as_secs_f64();
        let delivered = since(counted.delivered, before.delivered);
        if duration > 0.0 {
            self.best_rate = self.best_rate.max(delivered / duration);
        }
        Report {
            duration,
            sent: since(counted.sent, before.sent),
            delivered,
            lost: since(counted.lost, before.lost),
            marked: heard.marked - before.heard.marked,
            rtt,
            rtt_before,
            min_rtt: flow.rtt().map_or(0.0, |rtt| rtt.min.as_secs_f64()),
            best_rate: self.best_rate,
            window: flow.window().0,
        }
    }
}

/// The next episode, drawn.
fn episode(course: &Course, random: &mut Xoshiro256PlusPlus) -> (Setup, Vec<Agent>, Simulation) {
    let mut setup = course.setup.clone();
    vary(&mut setup, course.path, &course.options, random);
    let ends = course.steered.iter().zip(&course.bottlenecks);
    let mut agents: Vec<Agent> = ends
        .map(|(&flow, &link)| {
            let wheel = Arc::new(Wheel::default());
            let algorithm = course.options.algorithm.clone();
            let label = algorithm.as_ref().map_or("steered", Spec::label).to_string();
            setup.flows[flow].algorithm =
                Spec::outside(&label, Arc::new(Pilot { wheel: Arc::clone(&wheel), algorithm }));
            Agent::new(&setup, flow, link, wheel)
        })
        .collect();
    let simulation =
        Simulation::new(&setup).expect("a course was run once, and what is drawn is within what links take");
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

/// Aurora's rule, section 3: how a window changes.
fn factor(gain: f64, action: f64) -> f64 {
    let action = if action.is_nan() { 0.0 } else { action.clamp(-1.0, 1.0) };
    if action >= 0.0 { 1.0 + gain * action } else { 1.0 / (1.0 - gain * action) }
}

/// A window of so many times what fits into link and queue loses nearly all it sends: a learner has seen it by then.
const MAX_PATHS: f64 = 4.0;
/// On the smallest paths too a window can be opened by a few doublings.
const MIN_MAX_WINDOW: f64 = 64.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn actions_change_windows_as_in_aurora() {
        for (gain, action, expected) in
            [(0.025, 1.0, 1.025), (0.025, -1.0, 1.0 / 1.025), (1.0, 0.5, 1.5), (1.0, -1.0, 0.5)]
        {
            assert!((factor(gain, action) - expected).abs() < 1e-12, "{gain}, {action}");
        }
        assert!((factor(1.0, 7.0) - 2.0).abs() < 1e-12, "actions are held to -1..=1");
        assert!((factor(1.0, f64::NAN) - 1.0).abs() < 1e-12);
    }
}
