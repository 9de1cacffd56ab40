//! Samples the state of a run into columns.

use std::collections::BTreeSet;

use cwnd::host::Spent;
use cwnd::{Packets, Span, Time};
use cwnd_trace::{CbrTrace, Column, FlowArrivalsTrace, FlowTrace, LinkTrace, Pause, SizeClass, Trace};

use crate::demand::Demands;
use crate::flow_arrivals::{CLASSES, Totals};
use crate::setup::Setup;
use crate::traffic::{self, Source};
use crate::world::{Sampler, World};

/// Takes samples at the start, at the end of the warm-up, where flows pause, go on and stop and the last of a group may arrive, at the end
/// of the run, and at an interval between them.
pub(crate) struct Recorder {
    trace: Trace,
    interval: Option<Span>,
    internals: bool,
    next: Time,
    warmup: Time,
    /// When flows pause, go on and stop, ascending.
    changes: Vec<Time>,
    end: Time,
}

impl Recorder {
    /// A recorder with empty columns.
    pub(crate) fn new(setup: &Setup, world: &World) -> Self {
        let (warmup, end) = (Time::ZERO + setup.warmup, Time::ZERO + setup.duration);
        let interval = setup.sampling.map(|sampling| sampling.interval);
        let rows = rows(interval, end);
        let pauses = setup.flows.iter().flat_map(|flow| &flow.pauses).flat_map(|pause| [pause.from, pause.to]);
        let stops =
            setup.flows.iter().chain(setup.flow_arrivals.iter().map(|group| &group.flow)).filter_map(|flow| flow.stop);
        let changes: BTreeSet<Time> = stops.chain(pauses).collect();
        let drawn = world.base_rtts.iter().zip(&world.starts).zip(&world.flows);
        let demands = Demands::of(setup);
        let paused = |pauses: &[traffic::Pause]| -> Vec<Pause> {
            pauses.iter().map(|pause| Pause { from: pause.from.as_nanos(), to: pause.to.as_nanos() }).collect()
        };
        let flows = setup.flows.iter().zip(drawn).enumerate();
        let flows = flows.map(|(index, (flow, ((base_rtt, start), built)))| FlowTrace {
            name: flow.name.clone(),
            algorithm: flow.algorithm.label().to_string(),
            packet: flow.packet.0,
            payload: flow.payload.0,
            start: flow.start.as_nanos(),
            late: start.since(flow.start).as_nanos(),
            stop: flow.stop.map(Time::as_nanos),
            pauses: paused(&flow.pauses),
            links: world.routes.links(built.forward).collect(),
            demand: demands.of_flow(setup, world, index),
            base_rtt: base_rtt.as_nanos(),
            size: if let Source::Packets(size) = flow.source { Some(size) } else { None },
            sent: column(rows),
            retransmitted: column(rows),
            delivered: column(rows),
            lost: column(rows),
            dropped: column(rows),
            marked: column(rows),
            timeouts: column(rows),
            source_limited: column(rows),
            peer_limited: column(rows),
            window: column(rows),
            in_flight: column(rows),
            srtt: column(rows),
            pacing_rate: column(rows),
            ..FlowTrace::default()
        });
        let built = world.flows.get(setup.flows.len()..).unwrap_or_default();
        let cbr = setup.cbr.iter().zip(built).enumerate().map(|(index, (cbr, built))| CbrTrace {
            name: cbr.name.clone(),
            packet: cbr.packet.0,
            start: cbr.start.as_nanos(),
            stop: cbr.stop.map(Time::as_nanos),
            pauses: paused(&cbr.pauses),
            links: world.routes.links(built.forward).collect(),
            demand: demands.of_cbr(setup, index),
            ..CbrTrace::default()
        });
        let flow_arrivals =
            setup.flow_arrivals.iter().zip(&world.flow_arrivals).map(|(group, built)| FlowArrivalsTrace {
                base_rtt: built.base_rtt().as_nanos(),
                links: world.routes.links(built.forward()).collect(),
                name: group.flow.name.clone(),
                algorithm: group.flow.algorithm.label().to_string(),
                packet: group.flow.packet.0,
                payload: group.flow.payload.0,
                start: group.flow.start.as_nanos(),
                stop: group.flow.stop.map(Time::as_nanos),
                ..FlowArrivalsTrace::default()
            });
        let links = setup.links.iter().map(|link| LinkTrace {
            name: link.name.clone(),
            rate: link.rate,
            delay: link.delay.as_nanos(),
            offered: column(rows),
            dropped: column(rows),
            lost: column(rows),
            marked: column(rows),
            carried: column(rows),
            carried_bytes: column(rows),
            queue_packets: column(rows),
            queue_bytes: column(rows),
            ..LinkTrace::default()
        });
        Self {
            trace: Trace {
                at: column(rows),
                warmup: warmup.as_nanos(),
                end: end.as_nanos(),
                flows: flows.collect(),
                cbr: cbr.collect(),
                flow_arrivals: flow_arrivals.collect(),
                links: links.collect(),
                ..Trace::default()
            },
            interval,
            internals: setup.sampling.is_some_and(|sampling| sampling.internals),
            next: Time::ZERO,
            warmup,
            changes: changes.into_iter().collect(),
            end,
        }
    }

    /// The columns so far.
    pub(crate) fn trace(&self) -> &Trace {
        &self.trace
    }

    /// What the samples to come will need, bytes.
    pub(crate) fn memory(&self) -> u64 {
        let Some(interval) = self.interval else { return 0 };
        let samples = self.end.as_nanos() / interval.as_nanos() + self.changes.len() as u64;
        let flow = if self.internals { PER_FLOW + INTERNALS } else { PER_FLOW };
        let lengths = [(self.trace.flows.len(), flow), (self.trace.cbr.len(), 4), (self.trace.flow_arrivals.len(), 9)];
        let columns = lengths.iter().map(|(many, each)| *many as u64 * each).sum::<u64>();
        samples.saturating_mul(8).saturating_mul(1 + columns + self.trace.links.len() as u64 * PER_LINK)
    }

    /// The finished trace.
    pub(crate) fn finish(mut self, world: World, digest: u64, events: u64) -> Trace {
        for (column, flow) in self.trace.flows.iter_mut().zip(world.flows) {
            column.log = flow.sender.into_log();
            if let Some(finite) = &flow.finite {
                column.completed = finite.arrived().map(Span::as_nanos);
                column.acknowledged = finite.acknowledged().map(Span::as_nanos);
            }
        }
        for (column, group) in self.trace.flow_arrivals.iter_mut().zip(world.flow_arrivals) {
            let classes = CLASSES.into_iter().zip(group.tally.classes);
            column.classes = classes
                .map(|(up_to, times)| SizeClass { up_to, arrived: times.arrived, acknowledged: times.acknowledged })
                .collect();
            column.sizes = group.tally.sizes;
        }
        for (column, link) in self.trace.links.iter_mut().zip(world.links) {
            column.wait = link.waits.histogram;
            column.passages = link.loss.passages();
        }
        self.trace.digest = digest;
        self.trace.events = events;
        self.trace
    }

    fn sample_cross_traffic(&mut self, world: &World) {
        let (_, others) = world.flows.split_at(self.trace.flows.len());
        let (cbr, members) = others.split_at(self.trace.cbr.len());
        for (column, flow) in self.trace.cbr.iter_mut().zip(cbr) {
            column.sent.push(flow.sender.state().counts().sent);
            column.delivered.push(flow.delivered);
            column.dropped.push(flow.dropped);
            column.rate.push(flow.sender.state().scheduled_rate().map_or(f64::NAN, |rate| rate as f64));
        }
        let mut totals: Vec<Totals> = world.flow_arrivals.iter().map(|group| group.tally.past).collect();
        for flow in members {
            // A place without a flow has no end to come to.
            if let Some(member) = flow.finite.as_ref().and_then(|finite| finite.member) {
                totals[member.group as usize].add(flow);
            }
        }
        for ((column, group), totals) in self.trace.flow_arrivals.iter_mut().zip(&world.flow_arrivals).zip(totals) {
            column.arrived.push(group.tally.arrived);
            column.refused.push(group.tally.refused);
            column.completed.push(group.tally.completed);
            column.requested.push(group.tally.requested);
            column.sent.push(totals.sent);
            column.retransmitted.push(totals.retransmitted);
            column.delivered.push(totals.delivered);
            column.dropped.push(totals.dropped);
            column.timeouts.push(totals.timeouts);
        }
    }

    fn after(&self, now: Time) -> Time {
        if now >= self.end {
            return Time::MAX;
        }
        let regular = self.interval.map_or(Time::MAX, |interval| {
            let steps = now.as_nanos() / interval.as_nanos() + 1;
            Time::ZERO + interval * steps
        });
        let warmup = if self.warmup > now { self.warmup } else { Time::MAX };
        let change = self.changes.get(self.changes.partition_point(|change| *change <= now)).copied();
        regular.min(warmup).min(change.unwrap_or(Time::MAX)).min(self.end)
    }
}

impl Sampler for Recorder {
    fn next(&self) -> Time {
        self.next
    }

    fn sample(&mut self, world: &mut World, now: Time) {
        self.trace.at.push(now.as_nanos());
        for (column, flow) in self.trace.flows.iter_mut().zip(&world.flows) {
            let counts = flow.sender.state().counts();
            let Spent { source, peer, .. } = flow.sender.state().spent(now);
            column.sent.push(counts.sent);
            column.retransmitted.push(counts.retransmitted);
            column.delivered.push(flow.delivered);
            column.lost.push(counts.lost);
            column.dropped.push(flow.dropped);
            column.marked.push(flow.marked);
            column.timeouts.push(counts.timeouts);
            column.source_limited.push(source.as_nanos());
            column.peer_limited.push(peer.as_nanos());
            column.window.push(flow.sender.state().window().0);
            column.in_flight.push(flow.sender.state().in_flight());
            column.srtt.push(flow.sender.state().rtt().map_or(f64::NAN, |rtt| rtt.smoothed.as_secs_f64()));
            let spacing = flow.sender.state().spacing();
            column.pacing_rate.push(spacing.map_or(f64::NAN, |spacing| (Packets(1.0) / spacing).0));
            if self.internals {
                let mut at = 0;
                flow.sender.state().inspect(&mut |name, value| {
                    if at == column.internals.len() {
                        column.internals.push((name, self::column(self.trace.at.capacity())));
                    }
                    column.internals[at].1.push(value);
                    at += 1;
                });
            }
        }
        self.sample_cross_traffic(world);
        for (column, link) in self.trace.links.iter_mut().zip(&mut world.links) {
            let counts = link.counts;
            let (packets, bytes) = link.queue(now);
            column.offered.push(counts.offered);
            column.dropped.push(counts.dropped);
            column.lost.push(counts.lost);
            column.marked.push(counts.marked);
            column.carried.push(counts.carried);
            column.carried_bytes.push(counts.carried_bytes);
            column.capacity_bytes.extend(link.capacity(now));
            column.queue_packets.push(packets);
            column.queue_bytes.push(bytes);
        }
        self.next = self.after(now);
    }
}

/// For how many samples there is room from the start: at the interval, at the start, at the end of the warm-up, and at the end.
fn rows(interval: Option<Span>, end: Time) -> usize {
    let regular = interval.map_or(0, |interval| (end.as_nanos() / interval.as_nanos()) as usize);
    (regular + 3).min(ROWS)
}

/// An empty column. Growing them was a tenth of what a short run cost.
fn column<T>(rows: usize) -> Column<T> {
    Column::with_capacity(rows)
}

/// Longer columns grow as they are filled, so that a run whose samples would fill the memory fails when they do.
const ROWS: usize = 1 << 12;
/// Columns of a flow, of what algorithms usually show of themselves, and of a link.
const PER_FLOW: u64 = 13;
const INTERNALS: u64 = 4;
const PER_LINK: u64 = 9;
