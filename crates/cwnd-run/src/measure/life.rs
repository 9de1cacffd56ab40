//! The life of a flow: all that is measured of a flow is measured while it is there, as far as that lies in a window.
//!
//! A flow lives from its start, as drawn, until its application stops or the last packet of a finite flow arrives, otherwise to the end
//! of the run. It is there in its stages: in its life without the pauses of its application. Packets that arrive in a pause or after
//! the stop are not counted. It takes part in a window if it is a transfer that begins and ends inside, or if its stages share at least a
//! round trip without queueing with it: over less than that, the packets on the way when it begins or ends outweigh all others.

use cwnd_trace::{CbrTrace, FlowArrivalsTrace, FlowTrace, Pause, Trace};

use super::curve::{Curve, NANOS_PER_SECOND, Window};

/// The part of a flow's life that lies in a window.
#[derive(Clone, Debug)]
pub(crate) struct Life<'a> {
    trace: &'a Trace,
    flow: &'a FlowTrace,
    /// When it is there: that part without its pauses, ascending, at least one.
    pub(crate) stages: Vec<Window>,
    /// Where its counters are read: one window for each stage. Before its start and after its last packet they stand still, and the
    /// trace may have no sample there: these windows reach to the beginning and to the end of the measured one, or to the stop.
    counted: Vec<Window>,
    /// Where its transmissions are counted instead if it is a finite flow that has completed by the end of the window: from the beginning
    /// of the run, pauses included. A transfer is counted whole. Cut at the warm-up, losses of the packets sent before would be
    /// divided by the packets sent after it.
    transfer: Option<Window>,
}

/// From the start of a flow to its end.
#[must_use]
pub fn lifetime(trace: &Trace, flow: &FlowTrace) -> Window {
    let from = flow.start.saturating_add(flow.late);
    let completed = flow.completed.map(|after| from.saturating_add(after));
    let to = flow.stop.into_iter().chain(completed).fold(trace.end, u64::min);
    Window { from, to }
}

/// The parts of `window` in which a flow is there: its life without the pauses of its application. They ascend, and none is empty.
pub fn stages<'a>(trace: &Trace, flow: &'a FlowTrace, window: Window) -> impl Iterator<Item = Window> + use<'a> {
    stages_of(lifetime(trace, flow), &flow.pauses, window)
}

/// The time from `start` to `stop` in a run.
pub(crate) fn whole(trace: &Trace, start: u64, stop: Option<u64>) -> Window {
    Window { from: start, to: stop.map_or(trace.end, |stop| stop.min(trace.end)) }
}

/// The parts of `window` that lie in `life` without `pauses`.
pub(crate) fn stages_of(life: Window, pauses: &[Pause], window: Window) -> impl Iterator<Item = Window> + use<'_> {
    let part = Window { from: life.from.max(window.from), to: life.to.min(window.to) };
    let first = pauses.partition_point(|pause| pause.to <= part.from);
    let last = pauses.partition_point(|pause| pause.from < part.to);
    let pauses = pauses.get(first..last).unwrap_or_default();
    let begins = [part.from].into_iter().chain(pauses.iter().map(|pause| pause.to));
    let ends = pauses.iter().map(|pause| pause.from).chain([part.to]);
    begins.zip(ends).map(|(from, to)| Window { from, to }).filter(|stage| stage.from < stage.to)
}

/// Whether a flow is there in some part of `window`.
#[must_use]
pub fn is_there(trace: &Trace, flow: &FlowTrace, window: Window) -> bool {
    stages(trace, flow, window).next().is_some()
}

/// Whether a flow is there during all of `window`.
#[must_use]
pub(crate) fn is_throughout(trace: &Trace, flow: &FlowTrace, window: Window) -> bool {
    stages(trace, flow, window).next() == Some(window)
}

impl Window {
    /// From the end of the warm-up to the end of the run: where everything is measured unless said otherwise. Nothing is where that is
    /// shorter than a round trip and a packet of the slowest traffic: then it is empty, at the end of the run.
    #[must_use]
    pub fn measured(trace: &Trace) -> Self {
        let whole = Self::after_warmup(trace);
        if whole.length() < Self::shortest(trace) { Self { from: trace.end, ..whole } } else { whole }
    }

    /// From the end of the warm-up to the end of the run, however short that is.
    pub(crate) fn after_warmup(trace: &Trace) -> Self {
        Self { from: trace.warmup, to: trace.end }
    }

    /// The least time in which something can be measured after the warm-up, nanoseconds: a round trip, without queueing, and a packet of
    /// the slowest of those that are there. Over less than that, a flow has what chance gives it.
    pub(crate) fn shortest(trace: &Trace) -> u64 {
        let whole = Self::after_warmup(trace);
        let flows = trace.flows.iter().filter(|flow| stages(trace, flow, whole).next().is_some());
        let flows = flows.map(|flow| flow.base_rtt + packet_time(trace, &flow.links, flow.packet));
        let cbr = trace.cbr.iter().map(|cbr| packet_time(trace, &cbr.links, cbr.packet));
        flows.chain(cbr).chain(trace.flow_arrivals.iter().map(|group| group.base_rtt)).max().unwrap_or(0)
    }
}

/// The time that a packet of `packet` bytes takes to pass the slowest of `links`, nanoseconds.
fn packet_time(trace: &Trace, links: &[u32], packet: u32) -> u64 {
    let rates = links.iter().filter_map(|link| trace.links.get(*link as usize)?.rate.filter(|rate| *rate > 0));
    rates.min().map_or(0, |rate| (f64::from(packet) * 8.0 * NANOS_PER_SECOND / rate as f64) as u64)
}

impl<'a> Life<'a> {
    /// What a flow has of `window`; none if it does not take part in it.
    pub(crate) fn within(trace: &'a Trace, flow: &'a FlowTrace, window: Window) -> Option<Self> {
        let life = lifetime(trace, flow);
        let stages: Vec<Window> = stages(trace, flow, window).collect();
        let to = flow.stop.map_or(window.to, |stop| stop.min(window.to));
        let mut counted = stages.clone();
        counted
            .first_mut()
            .filter(|first| first.from == life.from)
            .into_iter()
            .for_each(|first| first.from = window.from);
        counted.last_mut().filter(|last| last.to == life.to).into_iter().for_each(|last| last.to = to);
        let transfer = (flow.completed.is_some() && life.to < to).then_some(Window { from: 0, to });
        // A transfer has an end of its own, however soon it comes.
        let whole = flow.completed.is_some() && life.from >= window.from && life.to <= window.to && life.to < trace.end;
        let throughout = stages == [window];
        let takes_part = !stages.is_empty() && (whole || throughout || length(&stages) >= flow.base_rtt);
        takes_part.then_some(Self { trace, flow, stages, counted, transfer })
    }

    /// For how many seconds it is there.
    pub(crate) fn seconds(&self) -> f64 {
        length(&self.stages) as f64 / NANOS_PER_SECOND
    }

    /// How far a cumulative count rises.
    pub(crate) fn rise(&self, of: impl Fn(&FlowTrace) -> &[u64]) -> f64 {
        let curve = Curve::new(&self.trace.at, of(self.flow));
        self.counted.iter().map(|window| curve.rise(*window)).sum()
    }

    /// The rise of a cumulative count per second.
    pub(crate) fn per_second(&self, of: impl Fn(&FlowTrace) -> &[u64]) -> f64 {
        self.rise(of) / self.seconds()
    }

    /// The share of the time during which the application had nothing to send. After its last packet a finite flow has nothing to send either.
    pub(crate) fn source_limited(&self) -> f64 {
        let end = |windows: &[Window]| windows.last().map_or(0, |last| last.to);
        let beyond = end(&self.counted) - end(&self.stages);
        let nanos = self.rise(|flow| &flow.source_limited) - beyond as f64;
        (nanos / NANOS_PER_SECOND / self.seconds()).clamp(0.0, 1.0)
    }

    /// How far a count of transmissions rises: of packets sent, found lost, retransmitted, in flight.
    pub(crate) fn sent(&self, of: impl Fn(&FlowTrace) -> &[u64]) -> f64 {
        match self.transfer {
            Some(transfer) => Curve::new(&self.trace.at, of(self.flow)).rise(transfer),
            None => self.rise(of),
        }
    }

    /// Transmissions whose fate the sender has learnt: those sent, with the packets in flight at the beginning of each stage and without
    /// those in flight at its end.
    pub(crate) fn settled(&self) -> f64 {
        self.sent(|flow| &flow.sent) - self.sent(|flow| &flow.in_flight)
    }
}

/// For how many seconds of the measured time a flow without congestion control sends: from its start to its stop, without its pauses.
/// None where that is less than twice the delay of its path and a packet's transmission.
#[must_use]
pub fn seconds_of_cbr(trace: &Trace, cbr: &CbrTrace) -> Option<f64> {
    let window = Window::measured(trace);
    let stages: Vec<Window> = stages_of(whole(trace, cbr.start, cbr.stop), &cbr.pauses, window).collect();
    let delay: u64 = cbr.links.iter().filter_map(|link| Some(trace.links.get(*link as usize)?.delay)).sum();
    let least = 2 * delay + packet_time(trace, &cbr.links, cbr.packet);
    let takes_part = !stages.is_empty() && (stages == [window] || length(&stages) >= least);
    takes_part.then(|| length(&stages) as f64 / NANOS_PER_SECOND)
}

/// The part of the measured time in which flows of a group may arrive: from its start to its stop. None where that is less than a round
/// trip without queueing.
#[must_use]
pub fn life_of_arrivals(trace: &Trace, group: &FlowArrivalsTrace) -> Option<Window> {
    let window = Window::measured(trace);
    let life = stages_of(whole(trace, group.start, group.stop), &[], window).next()?;
    (life == window || life.length() >= group.base_rtt).then_some(life)
}

/// Nanoseconds in `stages` together.
fn length(stages: &[Window]) -> u64 {
    stages.iter().map(|stage| stage.to - stage.from).sum()
}

/// Seconds during which at least one of `lives` is there.
pub(crate) fn seconds_of_all<'a>(lives: impl IntoIterator<Item = &'a Life<'a>>) -> f64 {
    let mut stages: Vec<Window> = lives.into_iter().flat_map(|life| life.stages.iter().copied()).collect();
    stages.sort_by_key(|stage| stage.from);
    let mut covered = 0.0;
    let mut until = 0;
    for stage in stages {
        let new = Window { from: stage.from.max(until), to: stage.to };
        covered += new.seconds();
        until = until.max(stage.to);
    }
    covered
}
