//! The max–min fair share of each flow of a run.

use std::borrow::Cow;
use std::collections::BTreeMap;

use cwnd_trace::{CbrTrace, Demand, FlowArrivalsTrace, FlowTrace, Trace};

use super::curve::{Curve, NANOS_PER_SECOND, Window};
use super::life::{Life, stages, stages_of, whole};
use super::link::mean_capacity;
use super::load::Load;
use super::maxmin::{RoutedFlow, fill};

/// The max–min fair rate of each flow on average over the parts of `window` in which it is there, payload bits per second: among
/// the flows that are there at each instant, those without congestion control included, over what the links can carry
/// then, as samples show it. A flow in a pause is not there. A flow's own demand bounds it at each instant: the rate of its
/// application or schedule, and the window of its receiver. A group is there while its flows may arrive, as the number of flows
/// that it has on average in that part of the window, and their average demand bounds them together. None for a flow that takes no part in the window, or that no link
/// with a rate bounds; for all flows where they would take too long: where the instants at which flows come or go, their bounds or the
/// rates of links change, times the different paths and bounds among the flows, are more than 10⁸.
#[must_use]
pub fn fair_shares(trace: &Trace, window: Window) -> Vec<Option<f64>> {
    let mut classes = Classes::of(trace, window);
    let mut changes = classes.changes(window);
    for (index, party) in parties(trace).enumerate() {
        changes.extend(
            party
                .stages(trace, window)
                .flat_map(|stage| [(stage.from, Change::Comes(index)), (stage.to, Change::Goes(index))]),
        );
    }
    changes.extend(capacity_changes(trace, window).map(|at| (at, Change::Capacity)));
    changes.sort_unstable();
    let instants = changes.chunk_by(|(one, ..), (next, ..)| one == next).count();
    if instants.saturating_mul(classes.all.len()) > MOST_WORK {
        return vec![None; trace.flows.len()];
    }
    let mut bits = vec![0.0; classes.of_party.len()];
    let mut carried = vec![0.0; classes.all.len()];
    let mut begun = vec![0.0; classes.of_party.len()];
    let mut now = window.from;
    for (at, change) in changes {
        if at > now {
            let stretch = Window { from: now, to: at };
            for (sum, rate) in carried.iter_mut().zip(classes.rates(trace, stretch)) {
                *sum += rate * stretch.seconds();
            }
            now = at;
        }
        match change {
            Change::Goes(party) => {
                let class = classes.of_party[party];
                classes.all[class].1 -= classes.flows_of_party[party];
                bits[party] += carried[class] - begun[party];
            }
            // Of the next stretch, what the links can carry is looked up.
            Change::Capacity => {}
            Change::Bound(class, rate) => classes.all[class].0.demand = Some(rate as f64),
            Change::Comes(party) => {
                classes.come(party);
                begun[party] = carried[classes.of_party[party]];
            }
        }
    }
    let share = |(flow, bits): (&FlowTrace, f64)| {
        let seconds = Life::within(trace, flow, window)?.seconds();
        Some(bits / seconds * f64::from(flow.payload) / f64::from(flow.packet)).filter(|share| share.is_finite())
    };
    trace.flows.iter().zip(bits).map(share).collect()
}

/// An event at an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Change {
    /// A party goes.
    Goes(usize),
    /// The bound of a class changes, bit/s.
    Bound(usize, u64),
    /// A party comes.
    Comes(usize),
    /// A change of the capacity of a link.
    Capacity,
}

/// The samples in `window` between which and the next one a link can carry more or less than before.
fn capacity_changes(trace: &Trace, window: Window) -> impl Iterator<Item = u64> + '_ {
    let varying = trace.links.iter().filter(|link| !link.capacity_bytes.is_empty());
    let changes = varying.flat_map(|link| {
        let samples = || trace.at.iter().zip(&link.capacity_bytes);
        let rates = samples().zip(samples().skip(1)).map(|((from, less), (to, more))| {
            (*from, more.saturating_sub(*less) as f64 / to.saturating_sub(*from).max(1) as f64)
        });
        let rates: Vec<(u64, f64)> = rates.collect();
        let differ = |pair: &[(u64, f64)]| (pair[0].1 - pair[1].1).abs() > STEADY * pair[0].1.max(pair[1].1);
        rates.windows(2).filter(|pair| differ(pair)).map(|pair| pair[1].0).collect::<Vec<_>>()
    });
    changes.filter(move |at| (window.from..window.to).contains(at))
}

/// Who shares links: flows, and after them those without congestion control and groups of arriving flows.
#[derive(Clone, Copy)]
enum Party<'a> {
    Flow(&'a FlowTrace),
    Cbr(&'a CbrTrace),
    FlowArrivals(&'a FlowArrivalsTrace),
}

fn parties(trace: &Trace) -> impl Iterator<Item = Party<'_>> {
    let others = trace.cbr.iter().map(Party::Cbr).chain(trace.flow_arrivals.iter().map(Party::FlowArrivals));
    trace.flows.iter().map(Party::Flow).chain(others)
}

impl<'a> Party<'a> {
    fn links(self) -> &'a [u32] {
        match self {
            Self::Flow(flow) => &flow.links,
            Self::Cbr(cbr) => &cbr.links,
            Self::FlowArrivals(group) => &group.links,
        }
    }

    /// How many flows it is, and their bound where that is known beforehand, which for a group is what it asks for in `window`.
    fn demand(self, trace: &Trace, window: Window) -> (u64, Cow<'a, Demand>) {
        match self {
            Self::Flow(flow) => (1, Cow::Borrowed(&flow.demand)),
            Self::Cbr(cbr) => (1, Cow::Borrowed(&cbr.demand)),
            Self::FlowArrivals(group) => {
                let life = self.stages(trace, window).next().unwrap_or(window);
                let load = Load::of(trace, group, life);
                (load.flows, Cow::Owned(Demand::constant(load.each as u64)))
            }
        }
    }

    fn stages(self, trace: &Trace, window: Window) -> Box<dyn Iterator<Item = Window> + 'a> {
        match self {
            Self::Flow(flow) => Box::new(stages(trace, flow, window)),
            Self::Cbr(cbr) => Box::new(stages_of(whole(trace, cbr.start, cbr.stop), &cbr.pauses, window)),
            Self::FlowArrivals(group) => Box::new(stages_of(whole(trace, group.start, group.stop), &[], window)),
        }
    }

    /// Its bound in `window` where that is not known beforehand, bit/s on the wire: what it sent, if that was less than the network would have
    /// carried. For an hundredth of the time or more, its application or its receiver held it.
    fn measured(self, trace: &Trace, window: Window) -> Option<f64> {
        let rise = |values: &[u64]| Curve::new(&trace.at, values).rise(window);
        let (packet, sent, held) = match self {
            Self::Flow(flow) => (flow.packet, &flow.sent, rise(&flow.source_limited) + rise(&flow.peer_limited)),
            Self::Cbr(cbr) => (cbr.packet, &cbr.sent, f64::INFINITY),
            Self::FlowArrivals(_) => return None,
        };
        let bits = rise(sent) * f64::from(packet) * 8.0;
        (held / NANOS_PER_SECOND >= HELD * window.seconds()).then(|| bits / window.seconds())
    }
}

/// Parties with one path and one bound, which have one rate.
struct Classes<'a> {
    /// Each with the number of its flows that are there.
    all: Vec<(RoutedFlow, u64)>,
    /// The bound of each class.
    demands: Vec<Cow<'a, Demand>>,
    /// Those whose bound is measured, each with its class.
    measured: Vec<(usize, Party<'a>)>,
    /// The class of each party.
    of_party: Vec<usize>,
    /// The number of flows of each party.
    flows_of_party: Vec<u64>,
}

impl<'a> Classes<'a> {
    /// Those of a run, before any flow is there; groups of arriving flows as they are in `window`.
    fn of(trace: &'a Trace, window: Window) -> Self {
        let mut classes = Self {
            all: Vec::new(),
            demands: Vec::new(),
            measured: Vec::new(),
            of_party: Vec::new(),
            flows_of_party: Vec::new(),
        };
        let mut known: BTreeMap<(&[u32], Cow<'_, Demand>), usize> = BTreeMap::new();
        for party in parties(trace) {
            let (flows, demand) = party.demand(trace, window);
            let next = classes.all.len();
            // The measurements of one party are not those of another.
            let class = match &*demand {
                Demand::Measured => next,
                _ => *known.entry((party.links(), demand.clone())).or_insert(next),
            };
            if class == next {
                let links = party.links().iter().map(|link| *link as usize).collect();
                classes.all.push((RoutedFlow { links, demand: None }, 0));
                classes.measured.extend((*demand == Demand::Measured).then_some((class, party)));
                classes.demands.push(demand);
            }
            classes.of_party.push(class);
            classes.flows_of_party.push(flows);
        }
        classes
    }

    /// Flows of the class of `party` come.
    fn come(&mut self, party: usize) {
        self.all[self.of_party[party]].1 += self.flows_of_party[party];
    }

    /// When bounds change in `window`; those in force at its begin are set.
    fn changes(&mut self, window: Window) -> Vec<(u64, Change)> {
        let mut changes = Vec::new();
        for (class, demand) in self.demands.iter().enumerate() {
            let Demand::Stages(stages) = &**demand else { continue };
            let first = stages.partition_point(|stage| stage.from <= window.from);
            let later = stages.get(first..).unwrap_or_default().iter().take_while(|stage| stage.from < window.to);
            changes.extend(later.map(|stage| (stage.from, Change::Bound(class, stage.rate))));
            let now = first.checked_sub(1).map(|last| stages[last].rate as f64);
            self.all[class].0.demand = now;
        }
        changes
    }

    /// The rate of a party of each class over what the links can carry in `window`, bit/s on the wire; 0 for a class without any.
    fn rates(&mut self, trace: &Trace, window: Window) -> Vec<f64> {
        for (class, party) in &self.measured {
            self.all[*class].0.demand = party.measured(trace, window);
        }
        let capacity = trace.links.iter().map(|link| mean_capacity(trace, link, window).unwrap_or(f64::INFINITY));
        let rates = fill(&capacity.collect::<Vec<_>>(), &self.all);
        self.all.iter().zip(rates).map(|((_, count), rate)| if *count > 0 { rate } else { 0.0 }).collect()
    }
}

/// Whether fair rates are others at another time, of the same flows.
#[must_use]
pub(crate) fn rates_vary(trace: &Trace) -> bool {
    let varies = |demand: &Demand| match demand {
        Demand::Unbounded => false,
        Demand::Stages(stages) => stages.len() > 1,
        Demand::Measured => true,
    };
    !trace.cbr.is_empty()
        || !trace.flow_arrivals.is_empty()
        || trace.links.iter().any(|link| !link.capacity_bytes.is_empty())
        || trace.flows.iter().any(|flow| varies(&flow.demand))
}

/// Fair rates of the flows at `flows` in `window`, as if of all flows they alone were there, with traffic without congestion control and
/// the groups of arriving flows that are there throughout; over the bounds at its begin, bit/s on the wire. A group is as it is in the whole run.
#[must_use]
pub(crate) fn rates_among(trace: &Trace, flows: &[usize], window: Window) -> Vec<f64> {
    let mut classes = Classes::of(trace, Window { from: 0, to: trace.end });
    classes.changes(window);
    let throughout = |party: Party<'_>| party.stages(trace, window).next() == Some(window);
    let others = (0..).zip(parties(trace)).skip(trace.flows.len()).filter(|(_, party)| throughout(*party));
    let others: Vec<usize> = others.map(|(index, _)| index).collect();
    flows.iter().chain(&others).for_each(|party| classes.come(*party));
    let rates = classes.rates(trace, window);
    flows.iter().map(|flow| rates[classes.of_party[*flow]]).collect()
}

/// The share of the time that makes a bound.
const HELD: f64 = 0.01;
/// The share by which a rate between two samples differs from that before, of the larger, without being another one.
const STEADY: f64 = 0.001;
/// Rates that are computed, one for each class after each change: some seconds of work.
const MOST_WORK: usize = 100_000_000;

#[cfg(test)]
mod tests {
    use cwnd_trace::{LinkTrace, Pause};

    use super::*;

    const SECOND: u64 = 1_000_000_000;

    fn flow(links: &[u32], start: u64, stop: Option<u64>) -> FlowTrace {
        FlowTrace {
            packet: 1500,
            payload: 1200,
            links: links.into(),
            start: start * SECOND,
            stop: stop.map(|stop| stop * SECOND),
            ..FlowTrace::default()
        }
    }

    fn link(rate: u64) -> LinkTrace {
        LinkTrace { rate: Some(rate), ..LinkTrace::default() }
    }

    fn trace(flows: Vec<FlowTrace>, links: Vec<LinkTrace>) -> Trace {
        Trace { at: (0..=40).map(|k| k * SECOND).collect(), end: 40 * SECOND, flows, links, ..Trace::default() }
    }

    /// In Mbit/s of the wire, to whole kbit/s.
    fn shares(trace: &Trace) -> Vec<Option<f64>> {
        let wire = |share: f64| (share / 0.8 * 1e-3).round() * 1e-3;
        fair_shares(trace, Window { from: 0, to: 40 * SECOND }).into_iter().map(|share| share.map(wire)).collect()
    }

    #[test]
    fn a_parking_lot_without_and_with_its_long_flow() {
        let links = || vec![link(50_000_000), link(25_000_000)];
        // The long flow shares the narrow link; the first cross flow has the rest of the wide one.
        let all = trace(vec![flow(&[0, 1], 0, None), flow(&[0], 0, None), flow(&[1], 0, None)], links());
        assert_eq!(shares(&all), [12.5, 37.5, 12.5].map(Some));
        // Half of the time the cross flows have their links to themselves.
        let half = trace(vec![flow(&[0, 1], 20, None), flow(&[0], 0, None), flow(&[1], 0, None)], links());
        assert_eq!(shares(&half), [12.5, 43.75, 18.75].map(Some));
    }

    #[test]
    fn flows_that_come_and_go_share_what_there_is_then() {
        // Four flows from 0, 10, 20 and 30 s on; the third one stops at 30 s.
        let starts = [(0, None), (10, None), (20, Some(30)), (30, None)];
        let flows = starts.map(|(start, stop)| flow(&[0], start, stop)).into();
        // 12, 6, 4 and 4 Mbit/s each in the four stretches of 10 s.
        let expected = [(12.0 + 6.0 + 4.0 + 4.0) / 4.0, (6.0 + 4.0 + 4.0) / 3.0, 4.0, 4.0];
        let expected = expected.map(|share: f64| Some((share * 1e3).round() * 1e-3));
        assert_eq!(shares(&trace(flows, vec![link(12_000_000)])), expected);
    }

    #[test]
    fn flows_share_with_those_that_do_not_pause() {
        let staged =
            FlowTrace { pauses: vec![Pause { from: 10 * SECOND, to: 20 * SECOND }], ..flow(&[0], 0, Some(30)) };
        let trace = trace(vec![staged, flow(&[0], 0, Some(30))], vec![link(10_000_000)]);
        // Half each in two of three stretches of 10 s; the other has all of the pause.
        assert_eq!(shares(&trace), [5.0, 6.667].map(Some));
        // In the pause alone one of them takes no part.
        let pause = Window { from: 12 * SECOND, to: 15 * SECOND };
        assert_eq!(fair_shares(&trace, pause), [None, Some(8e6)]);
    }

    /// 20,000 flows with as many demands. All of them start together, or each at an instant of its own.
    #[test]
    fn a_group_of_demands_has_shares_or_none() {
        let own = |index: u64, start| FlowTrace { demand: Demand::constant(1000 + index), ..flow(&[0], start, None) };
        let together: Vec<FlowTrace> = (0..20_000).map(|index| own(index, 0)).collect();
        let all = fair_shares(&trace(together, vec![link(1_000_000_000)]), Window { from: 0, to: 40 * SECOND });
        assert!(all.iter().zip(1000_u32..).all(|(share, demand)| {
            share.is_some_and(|share| (share / 0.8 / f64::from(demand) - 1.0).abs() < 1e-9)
        }));
        let apart = |index: u64| FlowTrace { late: index, ..own(index, 0) };
        let trace = trace((0..20_000).map(apart).collect(), vec![link(1_000_000_000)]);
        assert!(fair_shares(&trace, Window { from: 0, to: 40 * SECOND }).iter().all(Option::is_none));
    }

    #[test]
    fn a_capacity_that_changes_and_demands_count() {
        // 8 Mbit/s for 20 s and 16 Mbit/s for 20 s.
        let mut varying = link(8_000_000);
        varying.capacity_bytes = (0..=40).map(|k: u64| 1_000_000 * (k + k.saturating_sub(20))).collect();
        let mut slow = flow(&[0], 0, None);
        slow.demand = Demand::constant(1_000_000);
        let nowhere = flow(&[], 0, None);
        let flows = vec![flow(&[0], 0, None), flow(&[0], 20, None), slow, nowhere, flow(&[0], 41, None)];
        // Alone with the slow one 7 Mbit/s of 8, then half of 15.
        assert_eq!(shares(&trace(flows, vec![varying])), [Some(7.25), Some(7.5), Some(1.0), None, None]);
    }

    /// A group on link 0 that asks for `packets` packets a second, with `present` flows.
    fn group(packets: u64, present: u64) -> FlowArrivalsTrace {
        FlowArrivalsTrace {
            packet: 1500,
            links: [0].as_slice().into(),
            arrived: (0..=40).map(|k| 3 * k + 2 + present).collect(),
            refused: vec![2; 41].into(),
            completed: (0..=40).map(|k| 3 * k).collect(),
            requested: (0..=40).map(|k| k * packets).collect(),
            ..FlowArrivalsTrace::default()
        }
    }

    fn beside(group: FlowArrivalsTrace, flows: Vec<FlowTrace>, links: Vec<LinkTrace>) -> Vec<Option<f64>> {
        shares(&Trace { flow_arrivals: vec![group], ..trace(flows, links) })
    }

    #[test]
    fn a_group_has_what_it_asks_for() {
        let beside = |group, flows| beside(group, vec![flow(&[0], 0, None); flows], vec![link(20_000_000)]);
        // 500 packets of 12,000 bits a second.
        assert_eq!(beside(group(500, 8), 1), [14.0].map(Some));
        assert_eq!(beside(group(500, 0), 1), [14.0].map(Some));
        assert_eq!(beside(group(500, 8), 2), [7.0, 7.0].map(Some));
        // 18 Mbit/s in three flows next to two bulk flows are more than a fifth of the link for each, in nine flows they are less.
        assert_eq!(beside(group(1500, 3), 2), [4.0, 4.0].map(Some));
        assert_eq!(beside(group(1500, 30), 2), [1.0, 1.0].map(Some));
        // A single transfer of 30 Mbit/s for 40 s.
        assert_eq!(beside(group(2500, 1), 1), [10.0].map(Some));
    }

    #[test]
    fn a_group_is_there_while_its_flows_may_arrive() {
        let early = FlowArrivalsTrace { start: 10 * SECOND, stop: Some(20 * SECOND), ..group(500, 8) };
        // 14 Mbit/s for 10 s and 20 Mbit/s for 30 s.
        assert_eq!(beside(early, vec![flow(&[0], 0, None)], vec![link(20_000_000)]), [18.5].map(Some));
        let late = FlowArrivalsTrace { start: 50 * SECOND, ..group(500, 8) };
        assert_eq!(beside(late, vec![flow(&[0], 0, None)], vec![link(20_000_000)]), [20.0].map(Some));
    }

    #[test]
    fn a_group_counts_on_its_links() {
        // The long flow shares what the group leaves of the first link, and the cross flow has the rest of the second.
        let flows = vec![flow(&[0, 1], 0, None), flow(&[0], 0, None), flow(&[1], 0, None)];
        assert_eq!(beside(group(500, 8), flows, vec![link(20_000_000), link(30_000_000)]), [7.0, 7.0, 23.0].map(Some));
    }

    /// What a run has is either traffic, which counts, or none.
    #[test]
    fn all_traffic_counts() {
        let Trace { at, warmup, end, digest, events, links, flows, cbr, flow_arrivals } = Trace {
            flows: vec![FlowTrace::default()],
            cbr: vec![CbrTrace::default()],
            flow_arrivals: vec![FlowArrivalsTrace::default()],
            ..Trace::default()
        };
        let traffic = flows.len() + cbr.len() + flow_arrivals.len();
        assert_eq!(
            parties(&Trace { at, warmup, end, digest, events, links, flows, cbr, flow_arrivals }).count(),
            traffic
        );
    }
}
