//! The curves of a run as columns of a frame.

use cwnd_report::plot::colour;
use cwnd_run::address::averaged_over;
use cwnd_run::measure::{Window, fair_shares, flow_loss_rate, stages};
use cwnd_trace::{FlowTrace, LinkTrace, Trace};
use serde_json::{Value, json};

/// The names and the owners of the columns: the part of a header that is the same for every frame of a run.
pub(crate) fn describe(trace: &Trace, bottleneck: usize) -> Value {
    let shares = fair_shares(trace, Window { from: 0, to: trace.end });
    let flows = shown(trace).into_iter().map(|index| {
        let (flow, share) = (&trace.flows[index], shares[index]);
        let colour = colour::of(&flow.algorithm);
        json!({
            "name": flow.name,
            "algorithm": flow.algorithm,
            "light": colour.light,
            "dark": colour.dark,
            "base_rtt": flow.base_rtt as f64 * 1e-6,
            "start": seconds(flow.start),
            "fair": share.map(|share| share * 1e-6),
        })
    });
    let link = trace
        .links
        .get(bottleneck)
        .map(|link| json!({ "name": link.name, "rate": link.rate.map(|rate| rate as f64 * 1e-6) }));
    json!({
        "columns": names(trace),
        "flows": flows.collect::<Vec<_>>(),
        "flows_in_all": trace.flows.len(),
        "link": link,
        "warmup": seconds(trace.warmup),
        "end": seconds(trace.end),
    })
}

/// Where each flow was on average, in the part of the measured time in which it lives: its share of lost packets and its window.
pub(crate) fn operating_points(trace: &Trace) -> Value {
    let measured = Window::measured(trace);
    let points = shown(trace).into_iter().map(|index| &trace.flows[index]).map(|flow| {
        let windows = stages(trace, flow, measured).filter_map(|stage| {
            let from = trace.at.partition_point(|at| *at < stage.from);
            let to = trace.at.partition_point(|at| *at <= stage.to);
            flow.window.get(from..to)
        });
        let windows: Vec<f64> = windows.flatten().copied().collect();
        let mean = (!windows.is_empty()).then(|| windows.iter().sum::<f64>() / windows.len() as f64);
        json!({ "loss": flow_loss_rate(trace, flow, measured), "window": mean })
    });
    points.collect()
}

/// The flows that a page gets, in the order of the scenario: the same number of each algorithm, as far as there are as many.
fn shown(trace: &Trace) -> Vec<usize> {
    let mut algorithms: Vec<&str> = trace.flows.iter().map(|flow| flow.algorithm.as_str()).collect();
    algorithms.sort_unstable();
    algorithms.dedup();
    if trace.flows.len() <= MAX_SHOWN {
        return (0..trace.flows.len()).collect();
    }
    let each = (MAX_SHOWN / algorithms.len()).max(1);
    let mut taken = vec![0; algorithms.len()];
    let wanted = |index: &usize| {
        let known = algorithms.binary_search(&trace.flows[*index].algorithm.as_str());
        known.is_ok_and(|group| {
            taken[group] += 1;
            taken[group] <= each
        })
    };
    (0..trace.flows.len()).filter(wanted).collect()
}

/// The columns from row `from` on, in the order of their names.
pub(crate) fn rows(trace: &Trace, bottleneck: usize, from: usize) -> Vec<Vec<f32>> {
    let mut columns = vec![trace.at[from..].iter().map(|at| seconds(*at) as f32).collect()];
    for flow in shown(trace).into_iter().map(|index| &trace.flows[index]) {
        let back = samples_averaged(trace, flow);
        let rate = |counts: &[u64], bytes: u32| per_second(trace, counts, back, from, f64::from(bytes) * 8e-6);
        columns.push(plain(&flow.window[from..]));
        columns.push(rate(&flow.delivered, flow.payload));
        columns.push(rate(&flow.sent, flow.packet));
        columns.push(flow.srtt[from..].iter().map(|rtt| (rtt * 1e3) as f32).collect());
        columns.push(counts(&flow.lost[from..]));
        columns.push(counts(&flow.timeouts[from..]));
        columns.push(counts(&flow.retransmitted[from..]));
        columns.extend(internals(flow).map(|(_, values)| plain(&values[from..])));
    }
    if let Some(link) = trace.links.get(bottleneck) {
        columns.push(counts(&link.queue_packets[from..]));
        let drops: Vec<u64> = link.dropped[from..].iter().zip(&link.lost[from..]).map(|(a, b)| a + b).collect();
        columns.push(counts(&drops));
        columns.push(counts(&link.marked[from..]));
        columns.push(capacity(trace, link, from));
    }
    columns
}

fn names(trace: &Trace) -> Vec<String> {
    let mut names = vec!["t".to_string()];
    for (index, flow) in shown(trace).into_iter().map(|index| &trace.flows[index]).enumerate() {
        let own = ["window", "goodput", "rate", "rtt", "lost", "timeouts", "retransmitted"].into_iter();
        let all = own.chain(internals(flow).map(|(name, _)| name));
        names.extend(all.map(|name| format!("{index}.{name}")));
    }
    names.extend(["queue", "drops", "marks", "capacity"].map(String::from));
    names
}

/// The internals that the page draws: the threshold of slow start, and the state of algorithms that have some.
fn internals(flow: &FlowTrace) -> impl Iterator<Item = (&'static str, &[f64])> {
    let shown = flow.internals.iter().filter(|(name, _)| ["ssthresh", "state"].contains(name));
    shown.map(|(name, values)| (*name, values.as_slice()))
}

/// Over how many samples a rate is averaged.
fn samples_averaged(trace: &Trace, flow: &FlowTrace) -> usize {
    let interval = trace.at.get(1).copied().unwrap_or(1).max(1);
    averaged_over(flow).div_ceil(interval).clamp(1, 400) as usize
}

/// The rise of a cumulative count per second over the last `back` samples, times `unit`.
fn per_second(trace: &Trace, counts: &[u64], back: usize, from: usize, unit: f64) -> Vec<f32> {
    let one = |row: usize| {
        let before = row.saturating_sub(back);
        let nanos = trace.at[row] - trace.at[before];
        let rise = (counts[row] - counts[before]) as f64;
        if nanos == 0 { 0.0 } else { (rise * unit / (nanos as f64 * 1e-9)) as f32 }
    };
    (from..trace.at.len()).map(one).collect()
}

/// The rate of the line at each instant, Mbit/s: constant, or the growth of its capacity since the sample before.
fn capacity(trace: &Trace, link: &LinkTrace, from: usize) -> Vec<f32> {
    if link.capacity_bytes.is_empty() {
        let rate = link.rate.map_or(f32::NAN, |rate| rate as f32 * 1e-6);
        return vec![rate; trace.at.len() - from];
    }
    per_second(trace, &link.capacity_bytes, 1, from, 8e-6)
}

fn plain(values: &[f64]) -> Vec<f32> {
    values.iter().map(|value| *value as f32).collect()
}

fn counts(values: &[u64]) -> Vec<f32> {
    values.iter().map(|value| *value as f32).collect()
}

fn seconds(nanos: u64) -> f64 {
    nanos as f64 * 1e-9
}

/// Three times the number of lines that a reader can distinguish on a plot.
const MAX_SHOWN: usize = 24;

#[cfg(test)]
mod tests {
    use super::*;

    fn trace() -> Trace {
        let flow = FlowTrace {
            packet: 1250,
            payload: 1000,
            base_rtt: 1,
            window: vec![1.0, 2.0, 3.0].into(),
            delivered: vec![0, 100, 300].into(),
            sent: vec![0, 100, 300].into(),
            srtt: vec![f64::NAN, 0.05, 0.06].into(),
            lost: vec![0, 0, 1].into(),
            timeouts: vec![0; 3].into(),
            retransmitted: vec![0, 0, 1].into(),
            internals: vec![("alpha", vec![0.0; 3].into()), ("ssthresh", vec![f64::INFINITY, 9.0, 9.0].into())],
            ..FlowTrace::default()
        };
        let link = LinkTrace {
            rate: Some(4_000_000),
            queue_packets: vec![0, 1, 2].into(),
            dropped: vec![0, 0, 1].into(),
            lost: vec![0, 1, 1].into(),
            marked: vec![0; 3].into(),
            ..LinkTrace::default()
        };
        let at = [0, 100_000_000, 200_000_000];
        Trace { at: at.into(), end: 200_000_000, flows: vec![flow], links: vec![link], ..Trace::default() }
    }

    #[test]
    fn there_is_a_column_for_each_name() {
        let trace = trace();
        let columns = rows(&trace, 0, 1);
        let names = names(&trace);
        assert_eq!(names.len(), columns.len());
        let column = |name: &str| columns[names.iter().position(|known| known == name).unwrap()].clone();
        assert_eq!(column("t"), [0.1, 0.2]);
        // 100 packets of 8000 bits in 0.1 s, then 200.
        assert_eq!(column("0.goodput"), [8.0, 16.0]);
        assert_eq!(column("0.rtt"), [50.0, 60.0]);
        assert_eq!(column("0.ssthresh"), [9.0, 9.0]);
        assert_eq!(column("0.retransmitted"), [0.0, 1.0]);
        assert_eq!(column("drops"), [1.0, 2.0]);
        assert_eq!(column("capacity"), [4.0, 4.0]);
    }

    #[test]
    fn no_algorithm_is_hidden_behind_the_flows_of_another() {
        let flow = |algorithm: &str| FlowTrace { algorithm: algorithm.to_string(), ..FlowTrace::default() };
        let mut many = Trace { flows: vec![flow("reno"); 40], ..Trace::default() };
        many.flows.extend([flow("cubic"), flow("bbr3")]);
        let algorithms: Vec<&str> = shown(&many).iter().map(|index| many.flows[*index].algorithm.as_str()).collect();
        assert_eq!((algorithms.len(), &algorithms[8..]), (10, &["cubic", "bbr3"][..]));
        assert_eq!(shown(&trace()), [0]);
    }

    #[test]
    fn a_link_that_changes_has_the_rate_of_each_interval() {
        let mut trace = trace();
        trace.links[0].capacity_bytes = vec![0, 50_000, 75_000].into();
        assert_eq!(rows(&trace, 0, 0).pop().unwrap(), [0.0, 4.0, 2.0]);
    }
}
