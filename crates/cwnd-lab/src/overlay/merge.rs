//! Flows of a kernel in the trace of a simulation.

use cwnd_trace::{Column, FlowTrace, Trace};

use super::{KernelFlow, Sample};

/// The trace of a simulated run with the flows of a kernel behind its own. The kernel's clock is set so that its first sample lies
/// `shift` nanoseconds after the beginning of the run; what lies after its end is left out.
///
/// The instants are those of both. Where a flow has no sample at one, its cumulative curves are interpolated, its counts stay as
/// they were, and its states have no value.
#[must_use]
pub fn overlay(simulated: &Trace, kernel: &[KernelFlow], shift: u64) -> Trace {
    let zero = kernel.iter().filter_map(|flow| flow.samples.first()).map(|sample| sample.at).min().unwrap_or(0);
    let on_time = |sample: &Sample| (sample.at - zero).saturating_add(shift);
    let kernel: Vec<TimedFlow> = kernel
        .iter()
        .map(|flow| TimedFlow::new(flow, on_time, simulated.end))
        .filter(|flow| !flow.at.is_empty())
        .collect();
    let mut at: Column<u64> = simulated.at.iter().chain(kernel.iter().flat_map(|flow| &flow.at)).copied().collect();
    at.sort_unstable();
    at.dedup();

    let own = &Onto { from: &simulated.at, to: &at };
    let mut trace = simulated.clone();
    for flow in &mut trace.flows {
        own.lay(flow);
    }
    for cbr in &mut trace.cbr {
        for curve in [&mut cbr.sent, &mut cbr.delivered, &mut cbr.dropped] {
            own.curve(curve);
        }
        own.state(&mut cbr.rate);
    }
    for crowd in &mut trace.crowds {
        let counts = [&mut crowd.arrived, &mut crowd.refused, &mut crowd.completed, &mut crowd.requested];
        let packets = [&mut crowd.sent, &mut crowd.retransmitted, &mut crowd.delivered, &mut crowd.dropped];
        counts.into_iter().chain(packets).chain([&mut crowd.timeouts]).for_each(|curve| own.curve(curve));
    }
    for link in &mut trace.links {
        let counts = [&mut link.offered, &mut link.dropped, &mut link.lost, &mut link.marked, &mut link.carried];
        counts
            .into_iter()
            .chain([&mut link.carried_bytes, &mut link.capacity_bytes])
            .for_each(|curve| own.curve(curve));
        own.count(&mut link.queue_packets);
        own.count(&mut link.queue_bytes);
    }
    for TimedFlow { at: times, mut flow } in kernel {
        Onto { from: &times, to: &at }.lay(&mut flow);
        trace.flows.push(flow);
    }
    trace.at = at;
    trace
}

/// The most memory that [`overlay`] needs for the trace it makes, bytes.
#[must_use]
pub fn memory(simulated: &Trace, kernel: &[KernelFlow]) -> u64 {
    let kept = kernel.iter().map(|flow| (flow.samples.len() as u64).min(RESOLUTION + 1));
    let instants = simulated.at.len() as u64 + kept.sum::<u64>();
    let internals = simulated.flows.iter().map(|flow| flow.internals.len()).sum::<usize>() + kernel.len();
    let columns = 1
        + (simulated.flows.len() + kernel.len()) * PER_FLOW
        + internals
        + simulated.cbr.len() * 4
        + simulated.crowds.len() * 9
        + simulated.links.len() * 9;
    instants.saturating_mul(8 * columns as u64)
}

/// A kernel's flow at its own instants.
struct TimedFlow {
    at: Vec<u64>,
    flow: FlowTrace,
}

impl TimedFlow {
    fn new(kernel: &KernelFlow, on_time: impl Fn(&Sample) -> u64, end: u64) -> Self {
        let mut samples: Vec<(u64, &Sample)> = Vec::new();
        let resolution = (end / RESOLUTION).max(1);
        for sample in &kernel.samples {
            let at = on_time(sample);
            if at > end {
                break;
            }
            // Of many within what a plot can show, the last.
            match samples.last_mut() {
                Some(last) if at / resolution == last.0 / resolution => *last = (at, sample),
                _ => samples.push((at, sample)),
            }
        }
        let mss = u64::from(kernel.mss.max(1));
        let whole = |of: &dyn Fn(&Sample) -> u64| samples.iter().map(|(_, sample)| of(sample)).collect::<Column<u64>>();
        let real = |of: &dyn Fn(&Sample) -> f64| samples.iter().map(|(_, sample)| of(sample)).collect::<Column<f64>>();
        let none = || Column::from_elem(0, samples.len());
        let algorithm = kernel.algorithm.as_ref().map_or("Linux".to_string(), |name| format!("{name} (Linux)"));
        let packet = kernel.mss.saturating_add(HEADERS);
        let flow = FlowTrace {
            name: format!("measured {}", kernel.name),
            algorithm,
            packet,
            payload: kernel.mss,
            start: samples.first().map_or(0, |(at, _)| *at),
            sent: whole(&|sample| sample.acked / mss + sample.in_flight),
            retransmitted: whole(&|sample| sample.retransmitted.unwrap_or(0)),
            delivered: whole(&|sample| sample.acked / mss),
            lost: none(),
            dropped: none(),
            marked: none(),
            timeouts: none(),
            source_limited: none(),
            peer_limited: none(),
            window: real(&|sample| sample.window),
            in_flight: whole(&|sample| sample.in_flight),
            srtt: real(&|sample| sample.srtt),
            pacing_rate: real(&|sample| sample.pacing / (f64::from(packet) * 8.0)),
            internals: vec![("ssthresh", real(&|sample| sample.threshold))],
            ..FlowTrace::default()
        };
        Self { at: samples.into_iter().map(|(at, _)| at).collect(), flow }
    }
}

/// Columns at some instants become columns at others, among which the first are.
struct Onto<'a> {
    from: &'a [u64],
    to: &'a [u64],
}

impl Onto<'_> {
    fn lay(&self, flow: &mut FlowTrace) {
        let curves = [
            &mut flow.sent,
            &mut flow.retransmitted,
            &mut flow.delivered,
            &mut flow.lost,
            &mut flow.dropped,
            &mut flow.marked,
            &mut flow.timeouts,
            &mut flow.source_limited,
            &mut flow.peer_limited,
        ];
        curves.into_iter().for_each(|curve| self.curve(curve));
        self.count(&mut flow.in_flight);
        [&mut flow.window, &mut flow.srtt, &mut flow.pacing_rate].into_iter().for_each(|state| self.state(state));
        flow.internals.iter_mut().for_each(|(_, state)| self.state(state));
    }

    /// A cumulative curve: between two samples it grows evenly.
    fn curve(&self, values: &mut Column<u64>) {
        self.each(
            values,
            |values, at, index| {
                let (before, after) = (values[index], values.get(index + 1).copied());
                let Some(after) = after else { return before };
                let (from, to) = (self.from[index], self.from[index + 1]);
                let grown =
                    u128::from(after.saturating_sub(before)) * u128::from(at - from) / u128::from(to - from).max(1);
                before + u64::try_from(grown).unwrap_or(0)
            },
            0,
        );
    }

    /// A count that stays as it was until the next sample.
    fn count(&self, values: &mut Column<u64>) {
        self.each(values, |values, _, index| values[index], 0);
    }

    /// A state that is known at samples only.
    fn state(&self, values: &mut Column<f64>) {
        self.each(values, |values, at, index| if self.from[index] == at { values[index] } else { f64::NAN }, f64::NAN);
    }

    /// `value` of the column, the instant and the last sample not after it; `before` in front of the first. Empty columns stay so.
    fn each<T: Copy>(&self, values: &mut Column<T>, value: impl Fn(&[T], u64, usize) -> T, before: T) {
        if values.len() != self.from.len() {
            return;
        }
        let mut next = 0;
        let laid = self.to.iter().map(|at| {
            while self.from.get(next).is_some_and(|from| from <= at) {
                next += 1;
            }
            next.checked_sub(1).map_or(before, |index| value(values, *at, index))
        });
        *values = laid.collect();
    }
}

/// Samples kept of a kernel's flow: more than any plot has columns.
const RESOLUTION: u64 = 20_000;
/// Columns of a flow besides its internals.
const PER_FLOW: usize = 13;
/// IPv4 and TCP with time stamps.
const HEADERS: u32 = 52;
