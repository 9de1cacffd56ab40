//! The parts of documents about traffic that comes and goes, or that nothing controls.

use cwnd_trace::{FlowArrivalsTrace, Histogram, SizeClass, Trace};
use schemars::JsonSchema;
use serde::Serialize;

use cwnd_run::measure::{Curve, Domain, Estimate, Window, life_of_arrivals, seconds_of_cbr};
use cwnd_run::run::Runs;

/// A flow without congestion control, measured while it sends: from its start to its stop and without its pauses, X
#[derive(Debug, JsonSchema, Serialize)]
pub struct Cbr {
    /// Its name.
    pub cbr: String,
    /// Bits sent, headers included, per second.
    pub sent_bps: Option<Estimate>,
    /// The received part of it.
    pub delivered_bps: Option<Estimate>,
    /// Packets dropped or lost at random as a share of those sent; those still on their way count as neither.
    pub loss_rate: Option<Estimate>,
}

/// Flows that came and went, measured while they may arrive: from the start to the stop of the arrivals, as far as that lies after the
/// warm-up. All rates are null if they may for less than a round trip
/// then.
#[derive(Debug, JsonSchema, Serialize)]
pub struct Arrivals {
    /// Their name.
    pub arrivals: String,
    /// Their algorithm as it was written.
    pub algorithm: String,
    /// Flows that arrived, refused or not, per second.
    pub flows_per_s: Option<Estimate>,
    /// The share of them refused because too many were present, 0..=1.
    pub refused_share: Option<Estimate>,
    /// Bits asked for by flows that were admitted, headers included, per second.
    pub requested_bps: Option<Estimate>,
    /// Payload bits that arrived for the first time, per second.
    pub goodput_bps: Option<Estimate>,
    /// Mean size of the admitted flows, packets.
    pub size_mean_packets: Option<Estimate>,
    /// Retransmissions as a share of the data packets sent.
    pub retransmission_ratio: Option<Estimate>,
    /// How long the admitted flows took, from the start to the arrival of the last packet, by size.
    pub completion: Vec<Completion>,
}

/// How long flows of like size took. Flows not complete at the end of a run are not counted.
#[derive(Debug, JsonSchema, Serialize)]
pub struct Completion {
    /// Packets of the largest flows counted here, smaller ones being counted in the row before; null for no bound.
    pub up_to_packets: Option<u64>,
    /// How many completed in all runs together.
    pub flows: u64,
    /// Mean time, seconds.
    pub mean_s: Option<Estimate>,
    /// The median.
    pub p50_s: Option<Estimate>,
    /// The 95th percentile.
    pub p95_s: Option<Estimate>,
    /// The 99th percentile.
    pub p99_s: Option<Estimate>,
}

impl Cbr {
    pub(super) fn of(runs: &Runs, first: &Trace, index: usize) -> Self {
        let bits = 8.0 * f64::from(first.cbr[index].packet);
        // Outside its life nothing is sent, and packets that arrive or are dropped then were sent in it.
        let rise = |trace: &Trace, curve: &[u64]| Curve::new(&trace.at, curve).rise(Window::measured(trace));
        let per_second = |trace: &Trace, curve: &[u64]| {
            seconds_of_cbr(trace, &trace.cbr[index]).map(|seconds| rise(trace, curve) / seconds)
        };
        Self {
            cbr: first.cbr[index].name.clone(),
            sent_bps: over(runs, Domain::POSITIVE, |trace| Some(bits * per_second(trace, &trace.cbr[index].sent)?)),
            delivered_bps: over(runs, Domain::POSITIVE, |trace| {
                Some(bits * per_second(trace, &trace.cbr[index].delivered)?)
            }),
            loss_rate: over(runs, Domain::SHARE, |trace| {
                seconds_of_cbr(trace, &trace.cbr[index])?;
                let sent = rise(trace, &trace.cbr[index].sent);
                (sent > 0.0).then(|| rise(trace, &trace.cbr[index].dropped) / sent)
            }),
        }
    }
}

impl Arrivals {
    pub(super) fn of(runs: &Runs, first: &Trace, index: usize) -> Self {
        let FlowArrivalsTrace { name, algorithm, packet, payload, .. } = &first.flow_arrivals[index];
        let group = |of: fn(&FlowArrivalsTrace) -> &[u64]| {
            move |trace: &Trace| {
                let group = &trace.flow_arrivals[index];
                let life = life_of_arrivals(trace, group)?;
                // Nothing is counted before its start, where there may be no sample.
                let counted = Window { from: Window::measured(trace).from, to: life.to };
                Some(Curve::new(&trace.at, of(group)).rise(counted) / life.seconds())
            }
        };
        let share = |part: fn(&FlowArrivalsTrace) -> &[u64], whole: fn(&FlowArrivalsTrace) -> &[u64]| {
            over(runs, Domain::SHARE, |trace| {
                let whole = group(whole)(trace).filter(|whole| *whole > 0.0)?;
                Some(group(part)(trace)? / whole)
            })
        };
        let (packet, payload) = (8.0 * f64::from(*packet), 8.0 * f64::from(*payload));
        let classes = (0..first.flow_arrivals[index].classes.len()).map(|class| Completion::of(runs, index, class));
        Self {
            arrivals: name.clone(),
            algorithm: algorithm.clone(),
            flows_per_s: over(runs, Domain::POSITIVE, group(|group| &group.arrived)),
            refused_share: share(|group| &group.refused, |group| &group.arrived),
            requested_bps: over(runs, Domain::POSITIVE, |trace| Some(packet * group(|group| &group.requested)(trace)?)),
            goodput_bps: over(runs, Domain::POSITIVE, |trace| Some(payload * group(|group| &group.delivered)(trace)?)),
            size_mean_packets: over(runs, Domain::POSITIVE, |trace| trace.flow_arrivals[index].sizes.mean()),
            retransmission_ratio: share(|group| &group.retransmitted, |group| &group.sent),
            completion: classes.collect(),
        }
    }
}

impl Completion {
    fn of(runs: &Runs, group: usize, class: usize) -> Self {
        let times = |what: fn(&Histogram) -> Option<f64>| {
            over(runs, Domain::POSITIVE, |trace| Some(what(&class_of(trace, group, class).arrived)? * 1e-9))
        };
        Self {
            up_to_packets: runs
                .traces
                .first()
                .map(|trace| class_of(trace, group, class).up_to)
                .filter(|up_to| *up_to < u64::MAX),
            flows: runs.traces.iter().map(|trace| class_of(trace, group, class).arrived.count()).sum(),
            mean_s: times(Histogram::mean),
            p50_s: times(|times| times.quantile(0.5).map(|nanos| nanos as f64)),
            p95_s: times(|times| times.quantile(0.95).map(|nanos| nanos as f64)),
            p99_s: times(|times| times.quantile(0.99).map(|nanos| nanos as f64)),
        }
    }
}

fn class_of(trace: &Trace, group: usize, class: usize) -> &SizeClass {
    &trace.flow_arrivals[group].classes[class]
}

/// The estimate over the runs that have a value.
fn over(runs: &Runs, domain: Domain, of: impl Fn(&Trace) -> Option<f64>) -> Option<Estimate> {
    Estimate::over(&runs.traces.iter().filter_map(of).collect::<Vec<_>>(), domain)
}

#[cfg(test)]
mod tests {
    use cwnd_run::run::run;
    use cwnd_run::scenario::Scenario;

    use crate::json::Run;

    /// The document of 4 s, of which 3 are measured, on 20 Mbit/s.
    fn document(sampling: &str, more: &str) -> Run {
        let text = format!(
            "duration = \"4s\"\nwarmup = \"1s\"\nseeds = 1\nsampling = \"{sampling}\"\nvariation = {{ start = \"0s\", rtt = 0, jitter = 0 }}\n\
             [dumbbell]\nrate = \"20mbit\"\nrtt = \"20ms\"\nqueue = \"droptail:1000p\"\n\
             [[flow]]\nalgorithm = \"reno\"\nmax_window = 5\n{more}\n"
        );
        let scenario = Scenario::read("test.toml", &text, &[]).unwrap_or_else(|error| panic!("{error}"));
        let runs = run(vec![scenario], &()).expect("it runs").remove(0);
        Run::of(&runs).expect("a run")
    }

    #[test]
    fn a_flow_without_congestion_control_is_measured_while_it_sends() {
        // 3 Mbit/s are 250 packets per second.
        for life in ["", "start = \"2s\"", "stop = \"2s\"", "on = [\"0s..1500ms\", \"2s..2500ms\", \"3s..\"]"] {
            for sampling in ["100ms", "off"] {
                let run = document(sampling, &format!("[[cbr]]\nrate = \"cbr:3mbit\"\n{life}"));
                let [sent, delivered] =
                    [run.cbr[0].sent_bps, run.cbr[0].delivered_bps].map(|rate| rate.expect("it sends").mean);
                assert!((sent / 3e6 - 1.0).abs() < 0.01, "{life}: {sent}");
                // Packets that are in flight for 10 ms and more at the end are missing.
                assert!((delivered / 3e6 - 1.0).abs() < 0.03, "{life}: {delivered}");
                assert_eq!(run.cbr[0].loss_rate.map(|loss| loss.mean), Some(0.0), "{life}");
            }
        }
        let gone = document("100ms", "[[cbr]]\nrate = \"cbr:3mbit\"\nstop = \"500ms\"");
        assert!(gone.cbr[0].sent_bps.is_none() && gone.cbr[0].loss_rate.is_none());
        // The path has a round trip of 20 ms.
        for life in ["start = \"3.99s\"", "start = \"3s\"\nstop = \"3.001s\"", "on = [\"2s..2001ms\", \"3s..3001ms\"]"]
        {
            let short = document("100ms", &format!("[[cbr]]\nrate = \"cbr:3mbit\"\n{life}"));
            assert!(short.cbr[0].sent_bps.is_none() && short.cbr[0].delivered_bps.is_none(), "{life}");
            assert!(short.cbr[0].loss_rate.is_none(), "{life}");
            let said = short.warnings.iter().any(|said| said.contains("less than a round trip of the measured time"));
            assert!(said, "{life}: {:?}", short.warnings);
        }
    }

    #[test]
    fn a_group_is_measured_while_it_may_arrive() {
        let rate = |life: &str, sampling: &str| {
            let group = "[[arrivals]]\nalgorithm = \"reno\"\nsize = \"5p\"\ngap = \"5ms\"";
            document(sampling, &format!("{group}\n{life}")).arrivals[0].flows_per_s
        };
        let group = |life: &str, sampling: &str| rate(life, sampling).expect("they arrive").mean;
        // 200 per second, give or take three deviations of the arrivals in half a second or more.
        for life in ["", "start = \"2s\"", "stop = \"2s\"", "start = \"1500ms\"\nstop = \"2s\""] {
            for sampling in ["100ms", "off"] {
                let rate = group(life, sampling);
                assert!((rate - 200.0).abs() < 60.0, "{life}, {sampling}: {rate}");
            }
        }
        for life in ["start = \"3.99s\"", "start = \"3s\"\nstop = \"3.001s\"", "stop = \"500ms\""] {
            assert!(rate(life, "100ms").is_none(), "{life}");
        }
    }
}
