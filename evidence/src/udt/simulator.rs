//! One link, once simulated and once real.

use std::path::Path;

use crate::interop::programs::Sample;
use cwnd::{Bytes, Span, Spec};
use cwnd_link::Sample as LinkSample;
use cwnd_report::page::Report;
use cwnd_report::plot::{Axis, Shown};
use cwnd_run::measure::{Estimates, summarise};
use cwnd_run::run::run;
use cwnd_run::scenario::Scenario;
use cwnd_sim::QueueLimit;
use cwnd_sim::emulate::Emulation;
use cwnd_trace::{Column, FlowTrace, LinkTrace, Trace};

use super::record::Measured;
use super::run::{Bench, Outcome, Plan, Who};
use crate::Error;
use crate::plot::{self, Panel, Series};

/// Runs UDT on both, for `seconds` seconds; writes a report with both traces, and the specification of a plot of their curves.
pub(crate) fn compare(bench: &Bench, seconds: u64, report: &Path, picture: &Path) -> Result<Measured, Error> {
    let scenario =
        Scenario::read("evidence/udt", &toml(seconds), &[]).map_err(|error| Error::Scenario(Box::new(error)))?;
    let simulated = run(vec![scenario.clone()], &())?.remove(0);
    let setup = scenario.setup(1);
    let link = &setup.links[scenario.bottleneck()];
    let path = Emulation::new(link.rate, Span::from_millis(25), QueueLimit::Packets(QUEUE));
    let who = Who::Ours { algorithm: "udt", offload: true };
    let plan = Plan { who, path: Some(&path), ends: "", seconds: seconds as usize + 1, counted: 0..1 };
    let ([_, sender], relay) = bench.transfer(&plan, "sample=1")?;
    let late = relay.as_ref().and_then(|relay| relay.forth.late_p99_s);
    let wire = trace(&sender.samples, &relay.map(|relay| relay.samples).unwrap_or_default(), &simulated.traces[0]);
    let wire_measures = Estimates::over(&[summarise(&wire, scenario.bottleneck())]);

    let mut measured = Measured::new("simulator", &bench.sources);
    for (who, trace, link_late_p99_s) in [("simulator", &simulated.traces[0], None), ("wire", &wire, late)] {
        measured.put(who, Outcome { link_late_p99_s, ..outcome(trace) });
    }
    let simulated_measures = simulated.estimates();
    let shown = vec![
        Shown { label: "simulator".to_owned(), measures: &simulated_measures, trace: &simulated.traces[0] },
        Shown { label: "wire".to_owned(), measures: &wire_measures, trace: &wire },
    ];
    let page = Report {
        link: None,
        title: "UDT in the simulator and on the wire".to_owned(),
        question: "Does UDT do over real sockets what it does in the simulator?".to_owned(),
        command: "cargo xtask validate udt".to_owned(),
        revision: bench.sources.to_string(),
        seeds: vec![1],
        warmup_s: scenario.warmup().as_secs_f64(),
        path: scenario.document().path(),
        scenario_toml: scenario.to_toml(),
        bottleneck: scenario.bottleneck(),
        warnings: vec![
            "the run called `wire` is one of real sockets over an emulated link, on a host that does other things too"
                .to_owned(),
        ],
        algorithms: vec![Spec::parse("udt").expect("the registry has it")],
        shown,
    };
    save(report, &page.html())?;
    let curves: Vec<[Series; 2]> = [&simulated.traces[0], &wire].into_iter().fold(Vec::new(), |mut panels, trace| {
        for (index, series) in curves(trace).into_iter().enumerate() {
            match panels.get_mut(index) {
                None => panels.push([series, Series::default()]),
                Some(panel) => panel[1] = series,
            }
        }
        panels
    });
    let axes = [
        ("Throughput", Axis::new("throughput_mbps", "Throughput (Mbit/s)")),
        ("Rate asked for, up to four times the link's", Axis::new("rate_pps", "Rate (packets/s)")),
        ("Losses so far", Axis::new("lost_packets", "Lost (packets)")),
        ("Queue", Axis::new("queue_packets", "Queue (packets)")),
    ];
    let panels = axes.into_iter().zip(&curves).map(|((title, axis), [simulated, wire])| Panel {
        title: title.to_owned(),
        axis,
        ours: wire,
        theirs: simulated,
    });
    plot::write(picture, ["simulator", "wire"], &panels.collect::<Vec<_>>())?;
    Ok(measured)
}

/// The columns of the wire, as the simulator would have written them, on the instants of the sender's samples.
fn trace(samples: &[Sample], link: &[LinkSample], like: &Trace) -> Trace {
    let Some(first) = samples.first() else { return Trace::default() };
    let nanos = |unix_s: f64| ((unix_s - first.unix_s) * 1e9).max(0.0) as u64;
    let (flow, line) = (&like.flows[0], &like.links[0]);
    let samples: Vec<&Sample> = samples.iter().filter(|sample| nanos(sample.unix_s) <= like.end).collect();
    let column = |of: fn(&Sample) -> u64| samples.iter().map(|sample| of(sample)).collect::<Column<u64>>();
    let known = |of: fn(&Sample) -> f64| {
        samples
            .iter()
            .map(|sample| Some(of(sample)).filter(|value| *value > 0.0).unwrap_or(f64::NAN))
            .collect::<Column<f64>>()
    };
    let payload = u64::from(flow.payload);
    let zeros = Column::from_elem(0, samples.len());
    let at_link = |of: fn(&LinkSample) -> u64| {
        let latest = |sample: &&Sample| link.iter().take_while(|state| state.unix_s <= sample.unix_s).last();
        samples.iter().map(|sample| latest(sample).map_or(0, of)).collect::<Column<u64>>()
    };
    let dropped = at_link(|state| state.dropped + state.lost);
    Trace {
        at: samples.iter().map(|sample| nanos(sample.unix_s)).collect(),
        warmup: like.warmup,
        end: samples.last().map_or(0, |sample| nanos(sample.unix_s)),
        flows: vec![FlowTrace {
            sent: column(|sample| sample.sent),
            retransmitted: column(|sample| sample.retransmitted),
            delivered: samples.iter().map(|sample| sample.acked_bytes / payload).collect(),
            lost: column(|sample| sample.lost),
            dropped,
            marked: zeros.clone(),
            timeouts: column(|sample| sample.timeouts),
            source_limited: zeros.clone(),
            peer_limited: zeros,
            window: samples.iter().map(|sample| sample.window).collect(),
            in_flight: column(|sample| sample.in_flight),
            srtt: known(|sample| sample.rtt_s),
            pacing_rate: known(|sample| sample.rate_pps),
            internals: Vec::new(),
            ..flow.clone()
        }],
        links: vec![LinkTrace {
            name: line.name.clone(),
            rate: line.rate,
            delay: line.delay,
            offered: at_link(|state| state.offered),
            dropped: at_link(|state| state.dropped),
            lost: at_link(|state| state.lost),
            marked: at_link(|state| state.marked),
            carried: at_link(|state| state.carried),
            carried_bytes: at_link(|state| state.carried_bytes),
            queue_packets: at_link(|state| state.queue_packets),
            queue_bytes: at_link(|state| state.queue_bytes),
            ..LinkTrace::default()
        }],
        ..Trace::default()
    }
}

/// Throughput in Mbit/s over half seconds, the rate asked for, losses so far, the queue.
fn curves(trace: &Trace) -> [Series; 4] {
    let flow = &trace.flows[0];
    let seconds: Vec<f64> = trace.at.iter().map(|at| *at as f64 * 1e-9).collect();
    let payload = f64::from(flow.payload) * 8e-6;
    let throughput = (0..seconds.len().saturating_sub(STEP)).map(|index| {
        let (from, to) = (index, index + STEP);
        let packets = (flow.delivered[to] - flow.delivered[from]) as f64;
        ((seconds[from] + seconds[to]) / 2.0, packets * payload / (seconds[to] - seconds[from]))
    });
    // Slow start asks for a packet each microsecond, next to which nothing else would be visible.
    let line = trace.links.first().and_then(|link| link.rate).map_or(f64::INFINITY, |rate| rate as f64);
    let highest = SHOWN * line / Bytes(flow.packet).bits();
    let rate = flow.pacing_rate.iter().map(|rate| if *rate <= highest { *rate } else { f64::NAN }).collect();
    let of = |values: Vec<f64>| Series::plotted(seconds.iter().copied().zip(values), 0.0);
    let whole = |values: &[u64]| of(values.iter().map(|value| *value as f64).collect());
    let queue = trace.links.first().map(|link| whole(&link.queue_packets)).unwrap_or_default();
    [Series::plotted(throughput, 0.0), of(rate), whole(&flow.lost), queue]
}

/// The numbers of the table, from the end of the warm-up on.
fn outcome(trace: &Trace) -> Outcome {
    let flow = &trace.flows[0];
    let from = trace.at.partition_point(|at| *at < trace.warmup);
    let grown = |column: &[u64]| {
        let ends = column.get(from).zip(column.last());
        ends.map_or(0.0, |(first, last)| last.saturating_sub(*first) as f64)
    };
    let seconds =
        trace.at.get(from).zip(trace.at.last()).map_or(f64::NAN, |(first, last)| (last - first) as f64 * 1e-9);
    Outcome {
        goodput_bps: grown(&flow.delivered) * Bytes(flow.payload).bits() / seconds,
        retransmitted: Some(grown(&flow.retransmitted) / grown(&flow.sent)),
        ..Outcome::default()
    }
}

fn toml(seconds: u64) -> String {
    format!(
        "title = \"UDT alone on 100 Mbit/s and 50 ms\"\nduration = \"{seconds}s\"\nwarmup = \"{}s\"\nseeds = 1\n\
         [variation]\nstart = \"0ms\"\n\
         [dumbbell]\nrate = \"100mbit\"\nrtt = \"50ms\"\nqueue = \"droptail:{QUEUE}p\"\n\
         [[flow]]\nalgorithm = \"udt\"\n",
        seconds / 4,
    )
}

fn save(path: &Path, text: &str) -> Result<(), Error> {
    let directory = path.parent().unwrap_or(path);
    let written = std::fs::create_dir_all(directory).and_then(|()| std::fs::write(path, text));
    written.map_err(|source| Error::File { path: path.to_owned(), source })
}

/// A bandwidth-delay product of 1500-byte packets: 100 Mbit/s for 50 ms.
const QUEUE: u32 = 417;

/// Rates above this multiple of the link's are not shown.
const SHOWN: f64 = 4.0;

/// Samples of 100 ms between the ends of an interval of throughput.
const STEP: usize = 5;
