//! The rates that the flows of a setup would have alone, as far as they are known before the run: its seed draws all rates that change.

use cwnd::{Span, Time};
use cwnd_trace::{Demand, DemandStage};

use crate::net::steps::Steps;
use crate::random::Stream;
use crate::setup::{FlowSetup, Setup};
use crate::tcp::largest_window;
use crate::traffic::{CbrSetup, RateSchedule, Source};
use crate::world::World;

/// The largest number of recorded stages of each demand.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Demands {
    most: usize,
    end: Time,
}

/// From when on, and the rate, bit/s.
type Stages = Vec<(Time, u64)>;

impl Demands {
    /// Those of a setup.
    pub(crate) fn of(setup: &Setup) -> Self {
        let bounded = |flow: &&FlowSetup| flow.max_window.is_some() || matches!(flow.source, Source::Rate(_));
        let many = setup.flows.iter().filter(bounded).count() + setup.cbr.len();
        Self { most: (MOST_STAGES_OF_ALL / many.max(1)).min(MOST_STAGES), end: Time::ZERO + setup.duration }
    }

    /// That of flow `index`: the less of what its application hands over and what its receiver grants in each round trip.
    pub(crate) fn of_flow(self, setup: &Setup, world: &World, index: usize) -> Demand {
        let flow = &setup.flows[index];
        let handed = match &flow.source {
            Source::Rate(rate) => {
                Some(self.of_schedule(rate, world.starts[index], World::source_draws(setup, index as u32)))
            }
            Source::Bulk | Source::Packets(_) => None,
        };
        let grown = flow.host.autotune.map(|buffer| largest_window(buffer, flow.payload) as f64);
        let window = flow.max_window.or(grown);
        let granted = window.map(|window| self.of_window(window * flow.packet.bits(), setup, world, index));
        match (handed, granted) {
            (None, None) => Demand::Unbounded,
            (Some(stages), None) | (None, Some(stages)) => written(stages),
            (Some(one), Some(other)) => {
                written(one.zip(other).map(|(one, other)| least(&one, &other)).filter(|both| both.len() <= self.most))
            }
        }
    }

    /// That of the flow without congestion control with this index.
    pub(crate) fn of_cbr(self, setup: &Setup, index: usize) -> Demand {
        let CbrSetup { rate, start, .. } = &setup.cbr[index];
        written(self.of_schedule(rate, *start, World::cbr_draws(setup, index, "rate")))
    }

    /// The rates of a schedule that starts at `start` with these draws; none if they are too many.
    fn of_schedule(self, schedule: &RateSchedule, start: Time, draws: Stream) -> Option<Stages> {
        let mut stages: Stages = vec![(Time::ZERO, 0)];
        for (at, rate) in schedule.rates(start, draws).take_while(|(at, _)| *at < self.end) {
            // Before its start it is not there.
            let from = if at == start { Time::ZERO } else { at };
            match stages.last_mut() {
                Some(last) if from == Time::ZERO => last.1 = rate,
                Some(last) if last.1 == rate => {}
                _ => stages.push((from, rate)),
            }
            if stages.len() > self.most {
                return None;
            }
        }
        Some(stages)
    }

    /// A window of `bits` in each round trip of flow `index`, as long as that is without queues; none if it changes too often.
    fn of_window(self, bits: f64, setup: &Setup, world: &World, index: usize) -> Option<Stages> {
        let flow = &world.flows[index];
        let route = world.routes.links(flow.forward).chain(world.routes.links(flow.reverse));
        let links = route.map(|link| &setup.links[link as usize]);
        let varying: Vec<(Span, Steps<Span>)> =
            links.filter_map(|link| Some((link.delay, Steps::new(link.delay, &link.delay_steps)?))).collect();
        let base = world.base_rtts[index].as_nanos();
        let mut stages: Stages = Vec::new();
        let mut at = 0;
        while at < self.end.as_nanos() || stages.is_empty() {
            let now: Vec<(Span, u64)> = varying.iter().map(|(_, steps)| steps.at(at)).collect();
            let usual: u64 = varying.iter().map(|(initial, _)| initial.as_nanos()).sum();
            let delay: u64 = now.iter().map(|(delay, _)| delay.as_nanos()).sum();
            let rtt = (base + delay).saturating_sub(usual).max(1);
            stages.push((Time::from_nanos(at), (bits * 1e9 / rtt as f64) as u64));
            if stages.len() > self.most {
                return None;
            }
            at = now.iter().map(|(_, until)| *until).min().unwrap_or(u64::MAX);
        }
        Some(stages)
    }
}

fn written(stages: Option<Stages>) -> Demand {
    let stage = |(from, rate): (Time, u64)| DemandStage { from: from.as_nanos(), rate };
    stages.map_or(Demand::Measured, |stages| Demand::Stages(stages.into_iter().map(stage).collect()))
}

/// The lower of two rates at each instant. Both begin with the run.
fn least(one: &Stages, other: &Stages) -> Stages {
    let rate = |stages: &Stages, at: Time| stages[stages.partition_point(|(from, _)| *from <= at).saturating_sub(1)].1;
    let mut instants: Vec<Time> = one.iter().chain(other).map(|(from, _)| *from).collect();
    instants.sort_unstable();
    instants.dedup();
    instants.into_iter().map(|at| (at, rate(one, at).min(rate(other, at)))).collect()
}

/// Of a demand, and of all together: some 16 MB.
const MOST_STAGES: usize = 1000;
const MOST_STAGES_OF_ALL: usize = 1_000_000;
