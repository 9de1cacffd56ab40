//! The documents of `--json` and `summary.json`. Keys carry their unit; numbers are in base SI units.

use std::borrow::Cow;

use cwnd::registry::{Entry, Family, Transport};
use cwnd_trace::{FlowArrivalsTrace, Trace};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

pub use super::completion::{CompletionTimes, GroupCompletion};
pub use super::diagnosis::{Diagnosis, Finding, Verdict};
pub use super::traffic::{Arrivals, Cbr, Completion};
use cwnd_lab::compare::{self, Compared};
use cwnd_lab::stationary::Stationarity;
use cwnd_run::measure::{
    Domain, Estimate, Estimates, MEASURES, Measure, Reach, Subject, Window, fair_shares, flow_delay, flow_loss_rate,
    goodput, mean, peer_limited_share, retransmission_ratio, source_limited_share, summarise,
};
use cwnd_run::run::Runs;
use cwnd_run::scenario::{self, Document, Ecn, Scenario};

/// The origin of a result.
#[derive(Debug, JsonSchema, Serialize)]
pub struct Origin {
    /// Always `simulated`: what kind of numbers these are.
    pub kind: &'static str,
    /// The version of cwnd, with the revision of its sources where it was built in a repository.
    pub version: &'static str,
    /// The path, and the stack profile of its hosts, in one line: the settings of the scenario, and the era.
    pub path: String,
    /// The scenario, as it can be written to a file and run again.
    pub scenario: Document,
    /// The number of independent runs.
    pub seeds: u32,
    /// The seed of the first; the others follow one by one.
    pub first_seed: u64,
    /// The length of each run, seconds.
    pub duration_s: f64,
    /// Measuring starts after this time, seconds.
    pub warmup_s: f64,
}

/// A comparison: `cwnd compare --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub struct Comparison {
    /// The origin of the result. The scenario has no flows: each algorithm was put on it in turn.
    #[serde(flatten)]
    pub origin: Origin,
    /// Flows per algorithm.
    pub flows: u32,
    /// The link that measures are taken at.
    pub bottleneck: String,
    /// One object per algorithm, in the order asked for, without those of which a run alone failed.
    pub algorithms: Vec<Algorithm>,
    /// The algorithm that was asked for first, from which differences are taken.
    #[serde(skip)]
    pub reference: String,
    /// The failures. The exit code is then 1.
    pub failures: Vec<FailedComparison>,
    /// Warnings to read before the numbers, a sentence each.
    pub warnings: Vec<String>,
}

/// Runs of a comparison that failed.
#[derive(Debug, JsonSchema, Serialize)]
pub struct FailedComparison {
    /// The algorithm as it was written.
    pub algorithm: String,
    /// The algorithm it runs against; null where all flows are its own.
    pub versus: Option<String>,
    /// The first seed that failed.
    pub seed: u64,
    /// Why.
    pub error: String,
}

/// One algorithm of a comparison.
#[derive(Debug, JsonSchema, Serialize)]
pub struct Algorithm {
    /// The algorithm as it was written.
    pub algorithm: String,
    /// The way in which its packets can be marked; null if they cannot.
    pub ecn: Option<Ecn>,
    /// All flows its own.
    #[serde(flatten)]
    pub measures: Estimates,
    /// Time from the last rise of the bottleneck's rate until 90 % of it is used for 200 ms, seconds; null where its rate never rises, or
    /// rises again and again. Runs that do not get there are left out.
    pub recovery_time_s: Option<Estimate>,
    /// Whether it was measured in a stationary window.
    pub stationarity: Stationarity,
    /// Keys in which it is better than all others: its interval (`low` to `high`) overlaps no other's. Empty unless every algorithm was
    /// measured in a stationary window, over three seeds at least.
    pub best_in: Vec<&'static str>,
    /// The differences from the first algorithm in the compared measures, seed by seed; empty for the first, and where the first failed.
    pub differences: Vec<Difference>,
    /// Together with as many flows of the opponent.
    pub versus: Option<Versus>,
    /// A digest of everything each run delivered, per seed: equal digests are equal runs.
    pub digests: Vec<String>,
}

/// A paired difference.
#[derive(Debug, JsonSchema, Serialize)]
pub struct Difference {
    /// The key of the measure.
    pub key: &'static str,
    /// The mean over seeds of this algorithm's value less that of the first, with the interval of that mean.
    pub difference: Estimate,
}

/// An algorithm against another.
#[derive(Debug, JsonSchema, Serialize)]
pub struct Versus {
    /// The other algorithm.
    pub algorithm: String,
    /// The share of the goodput of all flows, 0..=1.
    pub share: Option<Estimate>,
    /// The mean goodput of its flows over that of the other's.
    pub goodput_ratio: Option<Estimate>,
    /// The measures of both together; `flow_goodput_bps` lists the algorithm's flows first.
    #[serde(flatten)]
    pub measures: Estimates,
}

/// One scenario: `cwnd run --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub struct Run {
    /// The origin of the result.
    #[serde(flatten)]
    pub origin: Origin,
    /// The link that measures without a link's name are taken at.
    pub bottleneck: String,
    /// All flows together.
    #[serde(flatten)]
    pub measures: Estimates,
    /// Every flow, in the order of the scenario.
    pub flows: Vec<FlowResult>,
    /// Every group of finite flows, in the order of the scenario.
    pub completion: Vec<GroupCompletion>,
    /// Every flow without congestion control, in the order of the scenario.
    pub cbr: Vec<Cbr>,
    /// Every group of flows that come and go, in the order of the scenario.
    pub arrivals: Vec<Arrivals>,
    /// Every link, in the order of the scenario.
    pub links: Vec<Link>,
    /// Warnings to read before the numbers, a sentence each.
    pub warnings: Vec<String>,
    /// A digest of everything each run delivered, per seed: equal digests are equal runs.
    pub digests: Vec<String>,
}

/// One flow of a scenario.
#[derive(Debug, JsonSchema, Serialize)]
pub struct FlowResult {
    /// Its name.
    pub flow: String,
    /// Its algorithm as it was written.
    pub algorithm: String,
    /// Payload bits that arrived for the first time, per second of its life after the warm-up. Runs in which that is less than a round
    /// trip are left out, here and below.
    pub goodput_bps: Option<Estimate>,
    /// Packets it had to deliver; null for a flow without end.
    pub size_packets: Option<u64>,
    /// Time from its start, which is that of its handshake or its first packet, to the arrival of the last of them at the receiver, seconds. Runs that ended before are left out.
    pub completion_time_s: Option<Estimate>,
    /// Time from its start to the acknowledgement of all of them at the sender, seconds. Runs that ended before are left out.
    pub acknowledgement_time_s: Option<Estimate>,
    /// Its share under max-min fairness among the flows of this list and of `cbr` and the `arrivals` that are present at each time of its
    /// life, pauses apart, payload bits per second, mean over the seeds. The rate at which a flow sends, or that it is granted, bounds its
    /// share at each time. Arrivals count as their average number of present flows, with a total demand of `arrivals[].requested_bps`. Null
    /// if nothing limits it, or if too many flows come and go for it to be computed.
    pub fair_share_bps: Option<f64>,
    /// Packets the sender found lost as a share of those whose fate it learnt; of all of them where it has delivered all.
    pub loss_rate: Option<Estimate>,
    /// Retransmissions as a share of the data packets sent; of all of them where it has delivered all.
    pub retransmission_ratio: Option<Estimate>,
    /// The smoothed round-trip time above the base one, seconds, mean over the sampled instants of its life: queueing, pauses of the hosts and
    /// held acknowledgements. Null with fewer than 20 of them.
    pub delay_mean_s: Option<Estimate>,
    /// The 99th percentile of that over the sampled instants, seconds.
    pub delay_p99_s: Option<Estimate>,
    /// Share of its life, pauses apart, during which its application had nothing to send, 0..=1.
    pub source_limited_share: Option<Estimate>,
    /// Share of its life during which the receiver's window held it, 0..=1.
    pub peer_limited_share: Option<Estimate>,
}

/// One link of a scenario.
#[derive(Debug, JsonSchema, Serialize)]
pub struct Link {
    /// Its name.
    pub link: String,
    /// Its rate, bit/s; null for a link of pure delay.
    pub rate_bps: Option<u64>,
    /// The measures of a link, taken at this one.
    #[serde(flatten)]
    pub measures: OfLink,
}

/// The measures of a link, in the order of all measures.
#[derive(Debug)]
pub struct OfLink(pub Estimates);

impl OfLink {
    fn all() -> impl Iterator<Item = &'static Measure> {
        MEASURES.iter().copied().filter(|measure| measure.subject == Subject::Link)
    }
}

impl Serialize for OfLink {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(Self::all().map(|measure| (measure.key, measure.of(&self.0))))
    }
}

impl JsonSchema for OfLink {
    fn schema_name() -> Cow<'static, str> {
        "OfLink".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let property = |measure: &Measure| {
            let mut schema = generator.subschema_for::<Option<Estimate>>();
            schema.insert("description".into(), measure.described().replace("the bottleneck", "the link").into());
            (measure.key.to_string(), schema.to_value())
        };
        let properties: Map<String, Value> = Self::all().map(property).collect();
        let required: Vec<&String> = properties.keys().collect();
        json_schema!({ "type": "object", "required": required, "properties": properties })
    }
}

/// The speed of the simulator: `cwnd bench sim --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub struct Bench {
    /// The origin of the result.
    #[serde(flatten)]
    pub origin: Origin,
    /// Flows, without those that come and go.
    pub flows: u32,
    /// Time the simulation took, seconds; one run on one core.
    pub wall_s: f64,
    /// Simulated time over wall time.
    pub real_time_factor: f64,
    /// Data packets that reached their receivers, per second of wall time.
    pub delivered_packets_per_s: f64,
    /// Events handled, per second of wall time.
    pub events_per_s: f64,
    /// Growth of the process's largest resident memory during the run, over the number of flows; null where the system does not
    /// tell, or all flows come and go. It contains the packets in the network.
    pub bytes_per_flow: Option<f64>,
    /// Share of the bottleneck's capacity that was carried after the warm-up, 0..=1.
    pub utilisation: Option<f64>,
    /// Data packets that reached their receivers.
    pub delivered_packets: u64,
    /// Packets dropped or lost at random on all links.
    pub dropped_packets: u64,
    /// Data packets sent again.
    pub retransmitted_packets: u64,
    /// A digest of everything the run delivered; `cwnd run` of the same scenario has the same.
    pub digest: String,
}

/// A description of an algorithm: `cwnd algorithms --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub struct Known {
    /// Its name.
    pub name: &'static str,
    /// Other names that are understood.
    pub aliases: Vec<&'static str>,
    /// One line about it.
    pub title: &'static str,
    /// `core` (subject of a paper), `baseline` (what others compare with), `named` (only mentioned) or `own` (a rule of the user's).
    pub family: &'static str,
    /// `acked` (every packet acknowledged, as in TCP), `reported` (reports on a clock, as in UDT), `datagram` (nothing is sent twice,
    /// and the receiver's half reports when it likes, as in DCCP) or `routed` (as `acked`, with what routers write on packets).
    pub transport: &'static str,
    /// Paper and equation, RFC and section, or the code it follows.
    pub source: &'static str,
    /// Where it departs from its source, a sentence each.
    pub deviations: &'static [&'static str],
    /// Its parameters.
    pub parameters: Vec<Parameter>,
}

/// A parameter of an algorithm.
#[derive(Debug, JsonSchema, Serialize)]
pub struct Parameter {
    /// Its key in `name:key=value`.
    pub name: &'static str,
    /// The effect of the parameter.
    pub help: &'static str,
    /// Its unit; empty for a plain number.
    pub unit: &'static str,
    /// Its default, or how that is derived.
    pub default: String,
    /// The accepted values.
    pub accepted: String,
}

impl Origin {
    fn of(scenario: &Scenario) -> Self {
        Self {
            kind: "simulated",
            version: cwnd_run::VERSION,
            path: scenario.document().path(),
            scenario: scenario.document().clone(),
            seeds: scenario.document().seeds,
            first_seed: scenario.document().first_seed,
            duration_s: scenario.duration().as_secs_f64(),
            warmup_s: scenario.warmup().as_secs_f64(),
        }
    }
}

impl Comparison {
    /// The document of a comparison; none of no algorithms.
    #[must_use]
    pub fn of(compared: &Compared) -> Option<Self> {
        let first = &compared.rows.first()?.alone.scenario;
        let mut origin = Origin::of(first);
        // Keys that only some algorithms have, such as marks, are named with them.
        let groups = compared.rows.iter().flat_map(|row| row.alone.scenario.document().flow.clone());
        origin.path = Document { flow: groups.collect(), ..origin.scenario.clone() }.path();
        let flows = origin.scenario.flow.drain(..).map(|group| group.count).sum();
        let best = Reach::Compared.measures().map(|measure| (measure.key, compared.best(measure)));
        let best: Vec<(&str, Option<usize>)> = best.chain([("recovery_time_s", compared.best_recovery())]).collect();
        let algorithms = compared.rows.iter().enumerate().map(|(index, row)| Algorithm {
            algorithm: row.algorithm.clone(),
            ecn: row.alone.scenario.document().flow.first().and_then(|group| group.ecn.clone()),
            measures: row.estimates.clone(),
            recovery_time_s: row.recovery_time_s,
            stationarity: row.stationarity.clone(),
            best_in: best.iter().filter(|(_, at)| *at == Some(index)).map(|(key, _)| *key).collect(),
            differences: Reach::Compared
                .measures()
                .filter_map(|measure| {
                    Some(Difference { key: measure.key, difference: compared.difference(index, measure)? })
                })
                .collect(),
            versus: row.versus.as_ref().map(Versus::of),
            digests: digests(&row.alone.traces),
        });
        Some(Self {
            origin,
            flows,
            bottleneck: bottleneck(&compared.rows.first()?.alone),
            algorithms: algorithms.collect(),
            reference: compared.reference.clone(),
            failures: compared.failures.iter().map(FailedComparison::of).collect(),
            warnings: compared.warnings(),
        })
    }

    /// Why the windows of algorithms are too short to call anything the best, each with a duration that should be enough.
    pub(crate) fn too_short(&self) -> impl Iterator<Item = String> + '_ {
        self.algorithms.iter().filter_map(|row| {
            let reason = row.stationarity.reason.as_ref()?;
            let longer = row.stationarity.try_duration_s.map(|seconds| format!("; try --duration {seconds}s"));
            Some(format!("{reason}{}", longer.unwrap_or_default()))
        })
    }

    /// The scenario of an algorithm alone.
    #[must_use]
    pub(crate) fn scenario_of(&self, algorithm: &Algorithm) -> Document {
        let group =
            |spec| scenario::FlowGroup { ecn: algorithm.ecn.clone(), ..scenario::FlowGroup::new(spec, self.flows) };
        let groups = algorithm.algorithm.parse().map(group);
        Document { flow: groups.into_iter().collect(), ..self.origin.scenario.clone() }
    }
}

impl FailedComparison {
    fn of(failure: &compare::FailedComparison) -> Self {
        Self {
            algorithm: failure.algorithm.clone(),
            versus: failure.opponent.clone(),
            seed: failure.failed.seed,
            error: failure.failed.error.to_string(),
        }
    }

    /// In a line: what failed, and why.
    pub(crate) fn line(&self) -> String {
        let versus = self.versus.as_ref().map_or_else(|| " alone".to_string(), |versus| format!(" against {versus}"));
        format!("{}{versus}, seed {}: {}", self.algorithm, self.seed, self.error)
    }
}

impl Versus {
    fn of(versus: &compare::Versus) -> Self {
        Self {
            algorithm: versus.opponent.clone(),
            share: versus.share,
            goodput_ratio: versus.ratio,
            measures: versus.runs.estimates(),
        }
    }
}

impl Run {
    /// The document of one scenario's runs; none without runs.
    #[must_use]
    pub fn of(runs: &Runs) -> Option<Self> {
        let first = runs.traces.first()?;
        let windows: Vec<Window> = runs.traces.iter().map(Window::measured).collect();
        let shares: Vec<Vec<Option<f64>>> =
            runs.traces.iter().zip(&windows).map(|(trace, window)| fair_shares(trace, *window)).collect();
        let share = |index: usize| mean(&shares.iter().filter_map(|run| run[index]).collect::<Vec<_>>());
        let flows = (0..first.flows.len()).map(|index| FlowResult::of(runs, &windows, index, share(index)));
        let links = (0..first.links.len()).map(|index| Link::of(runs, first, index));
        Some(Self {
            origin: Origin::of(&runs.scenario),
            bottleneck: bottleneck(runs),
            measures: runs.estimates(),
            flows: flows.collect(),
            completion: GroupCompletion::all(runs),
            cbr: (0..first.cbr.len()).map(|index| Cbr::of(runs, first, index)).collect(),
            arrivals: (0..first.flow_arrivals.len()).map(|index| Arrivals::of(runs, first, index)).collect(),
            links: links.collect(),
            warnings: runs.warnings(),
            digests: digests(&runs.traces),
        })
    }
}

impl FlowResult {
    fn of(runs: &Runs, windows: &[Window], index: usize, fair_share_bps: Option<f64>) -> Self {
        let first = &runs.traces[0];
        let over = |domain, of: fn(&Trace, usize, Window) -> Option<f64>| {
            let measured = runs.traces.iter().zip(windows);
            let values = measured.filter_map(|(trace, window)| of(trace, index, *window));
            Estimate::over(&values.collect::<Vec<_>>(), domain)
        };
        Self {
            flow: first.flows[index].name.clone(),
            algorithm: first.flows[index].algorithm.clone(),
            goodput_bps: over(Domain::POSITIVE, |trace, at, window| goodput(trace, &trace.flows[at], window)),
            size_packets: first.flows[index].size,
            completion_time_s: over(Domain::POSITIVE, |trace, at, _| {
                trace.flows[at].completed.map(|nanos| nanos as f64 * 1e-9)
            }),
            acknowledgement_time_s: over(Domain::POSITIVE, |trace, at, _| {
                trace.flows[at].acknowledged.map(|nanos| nanos as f64 * 1e-9)
            }),
            fair_share_bps,
            loss_rate: over(Domain::SHARE, |trace, at, window| flow_loss_rate(trace, &trace.flows[at], window)),
            retransmission_ratio: over(Domain::SHARE, |trace, at, window| {
                retransmission_ratio(trace, std::slice::from_ref(&trace.flows[at]), window)
            }),
            delay_mean_s: over(Domain::POSITIVE, |trace, at, window| {
                Some(flow_delay(trace, &trace.flows[at], window)?.mean)
            }),
            delay_p99_s: over(Domain::POSITIVE, |trace, at, window| {
                Some(flow_delay(trace, &trace.flows[at], window)?.p99)
            }),
            source_limited_share: over(Domain::SHARE, |trace, at, window| {
                source_limited_share(trace, &trace.flows[at], window)
            }),
            peer_limited_share: over(Domain::SHARE, |trace, at, window| {
                peer_limited_share(trace, &trace.flows[at], window)
            }),
        }
    }
}

impl Link {
    fn of(runs: &Runs, first: &Trace, index: usize) -> Self {
        let summaries: Vec<_> = runs.traces.iter().map(|trace| summarise(trace, index)).collect();
        Self {
            link: first.links[index].name.clone(),
            rate_bps: first.links[index].rate,
            measures: OfLink(Estimates::over(&summaries)),
        }
    }
}

impl Bench {
    /// The document of one timed run: `wall_s` seconds, `grown` bytes of resident memory.
    #[must_use]
    pub fn of(scenario: &Scenario, trace: &Trace, wall_s: f64, grown: Option<u64>) -> Self {
        let flows = trace.flows.len() as u32;
        let last = |curve: &[u64]| curve.last().copied().unwrap_or(0);
        let flow_arrivals = |curve: fn(&FlowArrivalsTrace) -> &[u64]| {
            trace.flow_arrivals.iter().map(|group| last(curve(group))).sum::<u64>()
        };
        let delivered =
            trace.flows.iter().map(|flow| last(&flow.delivered)).sum::<u64>() + flow_arrivals(|group| &group.delivered);
        let per_wall_second = |count: u64| count as f64 / wall_s;
        Self {
            origin: Origin::of(scenario),
            flows,
            wall_s,
            real_time_factor: scenario.duration().as_secs_f64() / wall_s,
            delivered_packets_per_s: per_wall_second(delivered),
            events_per_s: per_wall_second(trace.events),
            bytes_per_flow: grown.filter(|_| flows > 0).map(|grown| grown as f64 / f64::from(flows)),
            utilisation: summarise(trace, scenario.bottleneck()).utilisation,
            delivered_packets: delivered,
            dropped_packets: trace.links.iter().map(|link| last(&link.dropped) + last(&link.lost)).sum(),
            retransmitted_packets: trace.flows.iter().map(|flow| last(&flow.retransmitted)).sum::<u64>()
                + flow_arrivals(|group| &group.retransmitted),
            digest: digest(trace),
        }
    }
}

impl Known {
    /// The description of `entry`.
    #[must_use]
    pub fn of<A>(entry: &Entry<A>) -> Self {
        let parameters = entry.parameters.iter().map(|parameter| Parameter {
            name: parameter.name,
            help: parameter.help,
            unit: parameter.unit,
            default: parameter.default_text(),
            accepted: parameter.accepted(),
        });
        Self {
            name: entry.name,
            aliases: entry.aliases().collect(),
            title: entry.title,
            family: match entry.family {
                Family::Core => "core",
                Family::Baseline => "baseline",
                Family::Named => "named",
                Family::Own => "own",
            },
            transport: match entry.transport {
                Transport::Acked => "acked",
                Transport::Reported => "reported",
                Transport::Datagram => "datagram",
                Transport::Routed => "routed",
                Transport::Stack => "stack",
            },
            source: entry.source,
            deviations: entry.deviations,
            parameters: parameters.collect(),
        }
    }
}

/// The name of the link that measures are taken at.
fn bottleneck(runs: &Runs) -> String {
    let link = runs.traces.first().and_then(|trace| trace.links.get(runs.scenario.bottleneck()));
    link.map_or_else(String::new, |link| link.name.clone())
}

fn digests(traces: &[Trace]) -> Vec<String> {
    traces.iter().map(digest).collect()
}

fn digest(trace: &Trace) -> String {
    format!("{:016x}", trace.digest)
}
