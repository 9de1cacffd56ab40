//! The synchronous-feedback host: the algorithms without packets, as Chiu and Jain (1989) drew them.
//!
//! Flows are notified at once and together that the sum of what they have in the network has reached the capacity. There is no queue, no
//! recovery and no slow start: algorithms begin in congestion avoidance at the window given, and those that set a rate at the rate that
//! this window makes in a round trip ([`unstarted`] finds those that do not). What a rate has in the network is its product with the
//! round trip, or its window if that is less, and its receiver gets evenly spaced packets.
//!
//! Time is counted in round trips of the setup, whatever those of single flows; capacity is the packets of one of them.

mod flow;
mod record;
mod setup;

pub use self::setup::{Clock, FlowSetup, Setup};

use cwnd::registry::{Basis, Parameter, Spec, Transport};
use cwnd::units::{Packets, Span, Time};
use cwnd_trace::Trace;

use crate::ShouldContinue;

use flow::SynchronousFlow;
use record::Recorder;

/// The result.
#[derive(Clone, Debug)]
pub struct Run {
    /// As every host records it.
    pub trace: Trace,
    /// Every time of common congestion.
    pub events: Vec<Event>,
    /// Round trips that passed.
    pub rounds: f64,
    /// It ended before its round trips and its events, because it had done [`MOST_WORK`].
    pub cut_short: bool,
}

/// Common congestion.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// When, in round trips from the start.
    pub at: f64,
    /// The packets of each flow in the network.
    pub before: Vec<f64>,
    /// The packets left after its reaction.
    pub after: Vec<f64>,
}

/// Runs a setup.
#[must_use]
pub fn run(setup: &Setup) -> Run {
    run_while(setup, &|| true)
}

/// Runs a setup, and asks once per round trip whether to go on.
#[must_use]
pub fn run_while(setup: &Setup, should_continue: ShouldContinue<'_>) -> Run {
    let mut host = Host::new(setup.clone());
    host.run(should_continue);
    let (end, rounds, cut_short) = (host.now(), host.at, host.is_spent());
    Run { trace: host.recorder.finish(end, host.steps_done), events: host.events, rounds, cut_short }
}

/// What `spec` looks at and this host does not have; none if it has all of it. Without it the numbers would be those of another
/// algorithm: Reno's, where a queue never grows.
#[must_use]
pub fn unmodelled(spec: &Spec) -> Option<&'static str> {
    match (spec.entry().transport, spec.entry().basis) {
        (Transport::Datagram, _) => Some("it needs the reports of its receiver, which are not modelled"),
        (Transport::Stack, _) => Some("it is a whole stack, and here are no datagrams"),
        (_, Basis::Losses) => None,
        (_, Basis::MarkedShare) => {
            Some("it answers the share of packets that are marked, and here congestion is one sign for all")
        }
        (_, Basis::Delay) => Some("it follows the delay of a queue, and here is none"),
        (_, Basis::DeliveryRate) => Some("it samples the rate at which packets are delivered, which is not modelled"),
        (_, Basis::AckRate) => Some("it measures the rate at which acknowledgements arrive, which is not modelled"),
        (_, Basis::Routers) => Some("it needs what routers write on packets, which is not modelled"),
    }
}

/// The first flow of `setup` that has other than its window in the network when it begins, and how much it has, packets. Its rule has
/// bounds of its own, such as a least rate.
#[must_use]
pub fn unstarted(setup: &Setup) -> Option<(usize, f64)> {
    let has = |index: usize| (index, SynchronousFlow::new(setup, index).in_network());
    let differs = |(index, has): &(usize, f64)| {
        let asked = setup.flows[*index].window.0;
        (has - asked).abs() > 1e-9 * asked
    };
    (0..setup.flows.len()).map(has).find(differs)
}

/// The parameters that were given although `spec` does not ask for them in this host, each with its text: also those of its start, which
/// the setup defines.
#[must_use]
pub fn unread(spec: &Spec) -> Vec<(&'static Parameter, String)> {
    let flow = FlowSetup { algorithm: spec.clone(), window: Packets(10.0), rtt: None };
    spec.unread_from(&flow::start(&Setup { flows: vec![flow], ..Setup::default() }, 0))
}

/// The number of times per round trip that the rules of a setup are applied: at least as often as a reporting algorithm among its flows
/// reports.
#[must_use]
pub fn steps(setup: &Setup) -> u32 {
    let steps = match setup.clock {
        Clock::Rounds => 1,
        Clock::Continuous { steps } => steps.max(1),
    };
    let reports = setup.flows.iter().any(|flow| flow.algorithm.entry().transport == Transport::Reported);
    let of_reports = setup.rtt.as_nanos().div_ceil(REPORT.as_nanos());
    if reports { steps.max(u32::try_from(of_reports).unwrap_or(u32::MAX)) } else { steps }
}

struct Host {
    /// The present setup: a later capacity replaces the first.
    setup: Setup,
    flows: Vec<SynchronousFlow>,
    recorder: Recorder,
    events: Vec<Event>,
    /// Round trips since the start.
    at: f64,
    /// Steps per round trip.
    steps: u32,
    steps_done: u64,
    snapshot: Option<Snapshot>,
}

/// The flows some steps ago, to which they return when congestion falls into a step. An algorithm from outside costs more to copy than
/// to ask, and equal signals give equal flows.
struct Snapshot {
    flows: Vec<SynchronousFlow>,
    at: f64,
    steps: u32,
}

impl Host {
    fn new(setup: Setup) -> Self {
        let flows: Vec<SynchronousFlow> =
            (0..setup.flows.len()).map(|index| SynchronousFlow::new(&setup, index)).collect();
        let steps = steps(&setup);
        let recorder = Recorder::new(&setup);
        Self { setup, flows, recorder, events: Vec::new(), at: 0.0, steps, steps_done: 0, snapshot: None }
    }

    fn run(&mut self, should_continue: ShouldContinue<'_>) {
        self.recorder.sample(self.now(), &self.flows);
        while self.at < self.setup.rounds && self.events.len() < self.setup.events {
            self.step();
            if self.steps_done.is_multiple_of(u64::from(self.steps)) {
                self.recorder.sample(self.now(), &self.flows);
                if !should_continue() {
                    break;
                }
            }
            if self.is_spent() {
                break;
            }
        }
        self.recorder.sample(self.now(), &self.flows);
    }

    /// Whether it has done as much as one run may.
    fn is_spent(&self) -> bool {
        let steps = self.steps_done + SAMPLE * self.steps_done.div_ceil(u64::from(self.steps));
        let shown: u64 = self.flows.iter().map(SynchronousFlow::shown).sum();
        steps.saturating_mul(self.flows.len() as u64).saturating_add(shown) >= MOST_WORK
    }

    fn step(&mut self) {
        self.steps_done += 1;
        let before = self.load();
        let exact = self.exact();
        if exact && self.snapshot.as_ref().is_none_or(|snapshot| snapshot.steps == SNAPSHOT_STEPS) {
            self.snapshot = Some(Snapshot { flows: self.flows.clone(), at: self.at, steps: 0 });
        }
        let length = 1.0 / f64::from(self.steps);
        self.advance(length);
        let after = self.load();
        if after < self.setup.capacity.0 {
            self.snapshot.iter_mut().for_each(|snapshot| snapshot.steps += 1);
            return;
        }
        // Rules apply to a step as a whole, so the sum is a line within it: this is where it reaches the capacity.
        let share = (self.setup.capacity.0 - before) / (after - before);
        if let Some(snapshot) = self.snapshot.take().filter(|_| share > 0.0 && share < 1.0) {
            (self.flows, self.at) = (snapshot.flows, snapshot.at);
            (0..snapshot.steps).for_each(|_| self.advance(length));
            self.advance(share * length);
        }
        self.congest();
    }

    /// Lets `rounds` round trips pass.
    fn advance(&mut self, rounds: f64) {
        let from = self.now();
        self.at += rounds;
        let to = self.now();
        for flow in &mut self.flows {
            flow.advance(from, to, rounds, &self.setup);
        }
    }

    fn congest(&mut self) {
        let now = self.now();
        self.recorder.sample(now, &self.flows);
        let before = self.in_network();
        for flow in &mut self.flows {
            flow.congest(now);
        }
        let later = self.setup.later.get(self.events.len()).copied();
        self.setup.capacity = later.unwrap_or(self.setup.capacity);
        self.events.push(Event { at: self.at, before, after: self.in_network() });
        // A trace has one state per instant: what the reaction left shows a nanosecond later.
        self.recorder.sample(now + Span::from_nanos(1), &self.flows);
        if self.setup.decrease_rounds > 0 {
            let rounds = f64::from(self.setup.decrease_rounds);
            self.at += rounds;
            for flow in &mut self.flows {
                flow.pass_without_feedback(rounds, &self.setup);
            }
        }
    }

    /// Whether the instant of congestion is found within a step: the state of receivers cannot be restored.
    fn exact(&self) -> bool {
        self.setup.clock != Clock::Rounds && self.flows.iter().all(|flow| !flow.has_receiver())
    }

    fn load(&self) -> f64 {
        self.flows.iter().map(|flow| flow.load(self.setup.rtt)).sum()
    }

    fn in_network(&self) -> Vec<f64> {
        self.flows.iter().map(SynchronousFlow::in_network).collect()
    }

    fn now(&self) -> Time {
        Time::ZERO + self.setup.rtt.mul_f64(self.at)
    }
}

/// The most that a run does: steps of flows, packets that receivers see, and 128 for each row of the trace, of which a flow has one per round trip. Half a minute, and at
/// most 1 GB of trace.
pub const MOST_WORK: u64 = 1_000_000_000;
/// The memory of a round trip of a flow besides its steps: a row of its trace.
const SAMPLE: u64 = 128;
/// A sixteenth of the copies, for at most as many steps again at each congestion.
const SNAPSHOT_STEPS: u32 = 16;
/// UDT's SYN: how often a receiver reports.
const REPORT: Span = cwnd::rate::udt::SYN;
