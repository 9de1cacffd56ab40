//! The max–min fair share of each flow of a run.

use std::collections::BTreeMap;

use cwnd_trace::{FlowTrace, Trace};

use super::curve::Window;
use super::life::{Life, stages};
use super::link::mean_capacity;
use super::maxmin::{RoutedFlow, fill};

/// What max–min fairness would give each flow on average over the parts of `window` in which it is there, payload bits per second: among
/// the flows that are there at each instant, and nothing else, over what the links can carry on average between two changes of who is
/// there. A flow in a pause is not there. A flow whose application is slower has what that hands over. None for a flow that takes no part in the window, or that no link with a rate
/// bounds; for all flows where they would take too long: where the instants at which flows come or go, times the different paths and
/// demands among the flows, are more than 10⁸.
#[must_use]
pub fn fair_shares(trace: &Trace, window: Window) -> Vec<Option<f64>> {
    let mut classes = Classes::of(trace);
    // When each flow comes and when it goes.
    let mut changes: Vec<(u64, bool, usize)> = Vec::new();
    for (index, flow) in trace.flows.iter().enumerate() {
        let stages = stages(trace, flow, window);
        changes.extend(stages.flat_map(|stage| [(stage.from, true, index), (stage.to, false, index)]));
    }
    changes.sort_unstable();
    let instants = changes.chunk_by(|(one, ..), (next, ..)| one == next).count();
    if instants.saturating_mul(classes.all.len()) > MOST_WORK {
        return vec![None; trace.flows.len()];
    }
    let mut bits = vec![0.0; trace.flows.len()];
    let mut carried = vec![0.0; classes.all.len()];
    let mut begun = vec![0.0; trace.flows.len()];
    let mut now = window.from;
    for (at, comes, index) in changes {
        if at > now {
            let stretch = Window { from: now, to: at };
            for (sum, rate) in carried.iter_mut().zip(classes.rates(trace, stretch)) {
                *sum += rate * stretch.seconds();
            }
            now = at;
        }
        let class = classes.of_flow[index];
        if comes {
            classes.all[class].1 += 1;
            begun[index] = carried[class];
        } else {
            classes.all[class].1 -= 1;
            bits[index] += carried[class] - begun[index];
        }
    }
    let share = |(flow, bits): (&FlowTrace, f64)| {
        let seconds = Life::within(trace, flow, window)?.seconds();
        Some(bits / seconds * f64::from(flow.payload) / f64::from(flow.packet)).filter(|share| share.is_finite())
    };
    trace.flows.iter().zip(bits).map(share).collect()
}

/// Flows with one path and one demand, which have one rate.
struct Classes {
    /// Each with the number of its flows that are there.
    all: Vec<(RoutedFlow, u64)>,
    /// The class of each flow.
    of_flow: Vec<usize>,
}

impl Classes {
    /// Those of a run, before any flow is there.
    fn of(trace: &Trace) -> Self {
        let mut known: BTreeMap<(&[u32], Option<u64>), usize> = BTreeMap::new();
        let of_flow = trace.flows.iter().map(|flow| {
            let next = known.len();
            *known.entry((&flow.links, flow.demand)).or_insert(next)
        });
        let of_flow = of_flow.collect();
        let mut all: Vec<_> = known.into_iter().collect();
        all.sort_unstable_by_key(|(_, class)| *class);
        let routed = |((links, demand), _): ((&[u32], Option<u64>), usize)| RoutedFlow {
            links: links.iter().map(|link| *link as usize).collect(),
            demand: demand.map(|demand| demand as f64),
        };
        Self { all: all.into_iter().map(|class| (routed(class), 0)).collect(), of_flow }
    }

    /// The rate of a flow of each class over what the links can carry in `window`, bit/s on the wire; 0 for a class without flows.
    fn rates(&self, trace: &Trace, window: Window) -> Vec<f64> {
        let capacity = trace.links.iter().map(|link| mean_capacity(trace, link, window).unwrap_or(f64::INFINITY));
        let rates = fill(&capacity.collect::<Vec<_>>(), &self.all);
        self.all.iter().zip(rates).map(|((_, count), rate)| if *count > 0 { rate } else { 0.0 }).collect()
    }
}

/// Fair rates of the flows at `flows`, as if they were there and no others, in `window`; bit/s on the wire.
#[must_use]
pub(crate) fn rates_among(trace: &Trace, flows: &[usize], window: Window) -> Vec<f64> {
    let mut classes = Classes::of(trace);
    flows.iter().for_each(|flow| classes.all[classes.of_flow[*flow]].1 += 1);
    let rates = classes.rates(trace, window);
    flows.iter().map(|flow| rates[classes.of_flow[*flow]]).collect()
}

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
    fn a_crowd_of_demands_has_shares_or_none() {
        let own = |index: u64, start| FlowTrace { demand: Some(1000 + index), ..flow(&[0], start, None) };
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
        slow.demand = Some(1_000_000);
        let nowhere = flow(&[], 0, None);
        let flows = vec![flow(&[0], 0, None), flow(&[0], 20, None), slow, nowhere, flow(&[0], 41, None)];
        // Alone with the slow one 7 Mbit/s of 8, then half of 15.
        assert_eq!(shares(&trace(flows, vec![varying])), [Some(7.25), Some(7.5), Some(1.0), None, None]);
    }
}
