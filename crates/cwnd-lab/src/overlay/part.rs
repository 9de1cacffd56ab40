//! An input of an overlay on the common time.

use std::path::Path;

use cwnd_trace::{Column, FlowTrace, Trace};

use super::{RecordedFlow, Sample, Source, end};

/// One input of an overlay. All of its instants are on the common time.
#[derive(Clone, Debug)]
pub struct Part {
    /// The name of its flows.
    pub label: String,
    /// Where its numbers come from.
    pub source: Source,
    /// The path that its flows used, in one line; none where the input does not tell.
    pub path: Option<String>,
    /// Whether it reports retransmissions.
    pub knows_retransmissions: bool,
    /// Whether it reports delivered data. The qlog of some stacks does not.
    pub knows_delivered: bool,
    /// A trace for everything that shares its instants: a run, or one recorded flow.
    pub traces: Vec<Trace>,
}

impl Part {
    /// Runs, whose beginning lies `offset` nanoseconds after that of the common time.
    #[must_use]
    pub fn simulated(label: &str, traces: Vec<Trace>, offset: u64) -> Self {
        let traces = traces.into_iter().map(|trace| named(later(trace, offset), label)).collect();
        Self {
            label: label.to_string(),
            source: Source::Simulated,
            path: None,
            knows_retransmissions: true,
            knows_delivered: true,
            traces,
        }
    }

    /// Recorded flows, the first sample of which lies at `offset` nanoseconds; what lies after `until` is left out.
    #[must_use]
    pub fn recorded(label: &str, source: Source, flows: &[RecordedFlow], offset: u64, until: Option<u64>) -> Self {
        let first = flows.iter().filter_map(|flow| flow.samples.first()).map(|sample| sample.at).min().unwrap_or(0);
        let on_time = |sample: &Sample| (sample.at - first).saturating_add(offset);
        let last = flows.iter().filter_map(|flow| flow.samples.last()).map(on_time).max().unwrap_or(0);
        let until = until.unwrap_or(last).min(last);
        let traces = flows.iter().map(|flow| trace(flow, source, on_time, until));
        let traces = traces.filter(|trace| !trace.flows.is_empty()).map(|trace| named(trace, label)).collect();
        let knows_retransmissions =
            flows.iter().flat_map(|flow| &flow.samples).all(|sample| sample.retransmitted.is_some());
        let knows_delivered =
            source != Source::Qlog || flows.iter().flat_map(|flow| &flow.samples).any(|sample| sample.acked > 0);
        Self { label: label.to_string(), source, path: None, knows_retransmissions, knows_delivered, traces }
    }

    /// The last instant of it, nanoseconds.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.traces.iter().map(end).max().unwrap_or(0)
    }

    /// The memory that its traces take, bytes.
    #[must_use]
    pub fn memory(&self) -> u64 {
        let of = |trace: &Trace| {
            let internals = trace.flows.iter().map(|flow| flow.internals.len()).sum::<usize>();
            let columns = 1 + trace.flows.len() * PER_FLOW + internals + trace.links.len() * PER_LINK;
            (trace.at.len() as u64).saturating_mul(8 * columns as u64)
        };
        self.traces.iter().map(of).sum()
    }
}

/// Labels of inputs by the names of their files, longer or numbered where those are the same.
#[must_use]
pub fn labels(paths: &[&Path]) -> Vec<String> {
    let short = |path: &Path| match path.file_name() {
        Some(name) => name.to_string_lossy().into_owned(),
        None => path.display().to_string(),
    };
    let same = |path: &Path| paths.iter().filter(|other| short(other) == short(path)).count() > 1;
    let names: Vec<String> =
        paths.iter().map(|path| if same(path) { path.display().to_string() } else { short(path) }).collect();
    let numbered = names.iter().enumerate().map(|(index, name)| {
        let before = names[..index].iter().filter(|other| *other == name).count();
        if before > 0 { format!("{name} ({})", before + 1) } else { name.clone() }
    });
    numbered.collect()
}

/// The trace with the label in front of its names.
fn named(mut trace: Trace, label: &str) -> Trace {
    trace.flows.iter_mut().for_each(|flow| flow.name = format!("{label}: {}", flow.name));
    trace.links.iter_mut().for_each(|link| link.name = format!("{label}: {}", link.name));
    trace
}

/// The trace `offset` nanoseconds later, with nothing before that.
fn later(mut trace: Trace, offset: u64) -> Trace {
    if offset == 0 {
        return trace;
    }
    let shift = |at: &mut u64| *at = at.saturating_add(offset);
    trace.at.iter_mut().for_each(shift);
    shift(&mut trace.warmup);
    shift(&mut trace.end);
    for flow in &mut trace.flows {
        shift(&mut flow.start);
        flow.stop.as_mut().into_iter().for_each(shift);
        flow.pauses.iter_mut().for_each(|pause| {
            shift(&mut pause.from);
            shift(&mut pause.to);
        });
    }
    from_zero(trace)
}

/// The trace with an instant 0, at which nothing has happened.
fn from_zero(mut trace: Trace) -> Trace {
    if trace.at.first().is_none_or(|first| *first == 0) {
        return trace;
    }
    trace.at.insert(0, 0);
    let count = |column: &mut Column<u64>| {
        if !column.is_empty() {
            column.insert(0, 0);
        }
    };
    for flow in &mut trace.flows {
        curves(flow).into_iter().for_each(count);
        count(&mut flow.in_flight);
        let states = [&mut flow.window, &mut flow.srtt, &mut flow.pacing_rate];
        states.into_iter().for_each(|state| state.insert(0, f64::NAN));
        flow.internals.iter_mut().for_each(|(_, state)| state.insert(0, f64::NAN));
    }
    for link in &mut trace.links {
        let counts = [&mut link.offered, &mut link.dropped, &mut link.lost, &mut link.marked, &mut link.carried];
        let more = [&mut link.carried_bytes, &mut link.capacity_bytes, &mut link.queue_packets, &mut link.queue_bytes];
        counts.into_iter().chain(more).for_each(count);
    }
    trace.cbr.clear();
    trace.flow_arrivals.clear();
    trace
}

/// The cumulative curves of a flow.
fn curves(flow: &mut FlowTrace) -> [&mut Column<u64>; 9] {
    [
        &mut flow.sent,
        &mut flow.retransmitted,
        &mut flow.delivered,
        &mut flow.lost,
        &mut flow.dropped,
        &mut flow.marked,
        &mut flow.timeouts,
        &mut flow.source_limited,
        &mut flow.peer_limited,
    ]
}

/// A recorded flow up to `until`; without a flow where it begins later.
fn trace(recorded: &RecordedFlow, source: Source, on_time: impl Fn(&Sample) -> u64, until: u64) -> Trace {
    let mut samples: Vec<(u64, &Sample)> = Vec::new();
    let resolution = (until / RESOLUTION).max(1);
    for sample in &recorded.samples {
        let at = on_time(sample);
        if at > until {
            break;
        }
        // Of many within what a plot can show, the last; the first shows where it begins.
        let is_first = samples.len() == 1;
        match samples.last_mut() {
            Some(last) if at == last.0 || !is_first && at / resolution == last.0 / resolution => *last = (at, sample),
            _ => samples.push((at, sample)),
        }
    }
    let Some((last, _)) = samples.last().copied() else { return Trace::default() };
    let mss = u64::from(recorded.mss.max(1));
    let whole = |of: &dyn Fn(&Sample) -> u64| samples.iter().map(|(_, sample)| of(sample)).collect::<Column<u64>>();
    let real = |of: &dyn Fn(&Sample) -> f64| samples.iter().map(|(_, sample)| of(sample)).collect::<Column<f64>>();
    let none = || Column::from_elem(0, samples.len());
    // Fewer packets may be in flight than were acknowledged since, where some were given up; no fewer were sent.
    let mut most = 0;
    let sent = samples.iter().map(|(_, sample)| {
        most = most.max(sample.acked / mss + sample.in_flight);
        most
    });
    let sent: Column<u64> = sent.collect();
    let algorithm = match (&recorded.algorithm, source) {
        (Some(name), Source::Kernel) => format!("{name} (Linux)"),
        (None, Source::Kernel) => "Linux".to_string(),
        (Some(name), _) => name.clone(),
        (None, _) => "unknown".to_string(),
    };
    let packet = recorded.mss.saturating_add(HEADERS);
    let flow = FlowTrace {
        name: recorded.name.clone(),
        algorithm,
        packet,
        payload: recorded.mss,
        start: samples.first().map_or(0, |(at, _)| *at),
        stop: Some(last),
        sent,
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
    let at = samples.into_iter().map(|(at, _)| at).collect();
    from_zero(Trace { at, end: last, flows: vec![flow], ..Trace::default() })
}

/// Samples kept of a recorded flow: more than any plot has columns.
const RESOLUTION: u64 = 20_000;
/// Columns of a flow besides its internals, and of a link.
const PER_FLOW: usize = 13;
const PER_LINK: usize = 9;
/// IPv4 and TCP with time stamps.
const HEADERS: u32 = 52;
