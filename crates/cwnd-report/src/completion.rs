//! How long finite flows of a scenario take, group by group.

use cwnd_run::measure::{Domain, Estimate};
use cwnd_run::run::Runs;
use cwnd_trace::FlowTrace;
use schemars::JsonSchema;
use serde::Serialize;

/// A group of finite flows: an entry of `[[flow]]` with a `size`. Times count from the start of each flow, which is its request: its
/// handshake, or its first packet.
#[derive(Debug, JsonSchema, Serialize)]
pub struct GroupCompletion {
    /// The name of the group, or its algorithm.
    pub group: String,
    /// How many flows it has.
    pub flows: u32,
    /// Packets of each of them.
    pub size_packets: u64,
    /// Flows of which the last packet had arrived by the end of a run.
    pub completed: Option<Estimate>,
    /// To the arrival of the last packet at the receiver.
    pub arrived: CompletionTimes,
    /// To the acknowledgement of all packets at the sender.
    pub acknowledged: CompletionTimes,
}

/// Completion times of the flows of a group by nearest rank, seconds. A flow that has not completed ranks last. Runs in which the flow of a
/// rank has not completed are left out.
#[derive(Debug, JsonSchema, Serialize)]
pub struct CompletionTimes {
    /// The median.
    pub p50_s: Option<Estimate>,
    /// The 99th percentile.
    pub p99_s: Option<Estimate>,
    /// The slowest flow: the query completion time of a partition and aggregation where all start together.
    pub slowest_s: Option<Estimate>,
}

impl GroupCompletion {
    /// Every group of finite flows, in the order of the scenario.
    pub(super) fn all(runs: &Runs) -> Vec<Self> {
        let mut begin = 0;
        let mut groups = Vec::new();
        for group in &runs.scenario.document().flow {
            let own = begin..begin + group.count as usize;
            begin = own.end;
            let flows: Vec<&[FlowTrace]> =
                runs.traces.iter().filter_map(|trace| trace.flows.get(own.clone())).collect();
            let Some(size_packets) = flows.first().and_then(|flows| flows.first()?.size) else { continue };
            let completed = flows.iter().map(|flows| flows.iter().filter(|flow| flow.completed.is_some()).count());
            let completed: Vec<f64> = completed.map(|count| count as f64).collect();
            groups.push(Self {
                group: group.name.clone().unwrap_or_else(|| group.algorithm.text().trim().to_string()),
                flows: group.count,
                size_packets,
                completed: Estimate::over(&completed, Domain::POSITIVE),
                arrived: CompletionTimes::of(&flows, |flow| flow.completed),
                acknowledged: CompletionTimes::of(&flows, |flow| flow.acknowledged),
            });
        }
        groups
    }
}

impl CompletionTimes {
    /// Of the same flows in several runs.
    fn of(runs: &[&[FlowTrace]], time: fn(&FlowTrace) -> Option<u64>) -> Self {
        let at = |share: f64| {
            let times: Vec<f64> = runs.iter().filter_map(|flows| ranked(flows, time, share)).collect();
            Estimate::over(&times, Domain::POSITIVE)
        };
        Self { p50_s: at(0.5), p99_s: at(0.99), slowest_s: at(1.0) }
    }
}

/// The least time by which this share of the flows has completed, seconds; none if it has not.
fn ranked(flows: &[FlowTrace], time: fn(&FlowTrace) -> Option<u64>, share: f64) -> Option<f64> {
    let mut times: Vec<u64> = flows.iter().map(|flow| time(flow).unwrap_or(u64::MAX)).collect();
    times.sort_unstable();
    let rank = (share * times.len() as f64).ceil() as usize;
    let nanos = times.get(rank.max(1) - 1).copied().filter(|nanos| *nanos < u64::MAX)?;
    Some(nanos as f64 * 1e-9)
}

#[cfg(test)]
mod tests {
    use cwnd_run::run::run;
    use cwnd_run::scenario::Scenario;

    use super::*;
    use crate::{json, text};

    fn flows(times: &[Option<u64>]) -> Vec<FlowTrace> {
        let flow = |completed: &Option<u64>| FlowTrace { completed: *completed, ..FlowTrace::default() };
        times.iter().map(flow).collect()
    }

    #[test]
    fn ranks_by_hand() {
        let second = 1_000_000_000;
        let all = flows(&(1..=200).map(|nth| Some(nth * second)).collect::<Vec<_>>());
        let at = |flows: &[FlowTrace], share| ranked(flows, |flow| flow.completed, share);
        assert_eq!([0.5, 0.99, 1.0].map(|share| at(&all, share)), [Some(100.0), Some(198.0), Some(200.0)]);
        // Two of three: the slowest has not completed.
        let two = flows(&[Some(2 * second), None, Some(second)]);
        assert_eq!([0.5, 0.99, 1.0].map(|share| at(&two, share)), [Some(2.0), None, None]);
        assert_eq!(at(&[], 0.5), None);
    }

    /// Thirty flows fill the table of flows, and the second group is still there.
    #[test]
    fn every_group_has_its_row() {
        let scenario = "duration = \"3s\"\nwarmup = \"0s\"\nseeds = 2\n[dumbbell]\nrate = \"100mbit\"\nrtt = \"40ms\"\nqueue = \"droptail:500p\"\n\
             [[flow]]\nalgorithm = \"reno\"\ncount = 30\nsize = \"10p\"\n\
             [[flow]]\nname = \"large\"\nalgorithm = \"cubic\"\ncount = 2\nsize = \"1GB\"\n\
             [[flow]]\nalgorithm = \"bbr\"\n";
        let scenario = Scenario::read("test.toml", scenario, &[]).unwrap_or_else(|error| panic!("{error}"));
        let runs = run(vec![scenario], &()).expect("it runs").remove(0);
        let document = json::Run::of(&runs).expect("a run");
        let [small, large] = &document.completion[..] else { panic!("{:?}", document.completion) };
        assert_eq!((small.group.as_str(), small.flows, small.size_packets), ("reno", 30, 10));
        let mean = |estimate: Option<Estimate>| estimate.expect("they complete").mean;
        assert_eq!(mean(small.completed), 30.0);
        let CompletionTimes { p50_s, p99_s, slowest_s } = &small.arrived;
        let [median, high, slowest] = [p50_s, p99_s, slowest_s].map(|time| mean(*time));
        assert!(0.03 < median && median < high && high == slowest, "{median} {high} {slowest}");
        assert!(mean(small.acknowledged.slowest_s) > slowest);
        assert_eq!((large.completed.map(|count| count.mean), large.arrived.p50_s), (Some(0.0), None));
        let text = text::run(&document);
        for expected in ["and 9 more flows", "reno ", "large ", "30 of 30", "0 of 2", "to the last acknowledgement"] {
            assert!(text.contains(expected), "{expected}: {text}");
        }
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    }
}
