//! The report of flows that come and go: every measure of a run's document, by name, so that a new one is checked too.

use cwnd_report::json::Run;
use cwnd_run::measure::summarise;
use cwnd_run::run::{Runs, run};
use cwnd_run::scenario::Scenario;
use cwnd_trace::{Column, FlowTrace};
use proptest::prelude::*;
use serde_json::Value;

/// A flow to be: its algorithm, start in milliseconds, packets to deliver, milliseconds after its start at which it stops, and those at
/// which it pauses and goes on.
type Flow = (&'static str, u32, Option<u32>, Option<u32>, Option<(u32, u32)>);

const ALGORITHMS: [&str; 5] = ["reno", "cubic", "bbr3", "simd", "udt"];

fn flows() -> impl Strategy<Value = Vec<Flow>> {
    let size = prop_oneof![Just(None), (1_u32..3000).prop_map(Some)];
    let stop = prop_oneof![2 => Just(None), 1 => (1_u32..5000).prop_map(Some)];
    let pause = prop_oneof![2 => Just(None), 1 => (1_u32..2000, 1_u32..2000).prop_map(|(from, span)| Some((from, from + span)))];
    proptest::collection::vec((proptest::sample::select(&ALGORITHMS[..]), 0_u32..8000, size, stop, pause), 1..5)
}

/// The document of a run of eight seconds, measured from the second on, and longer by `longer` seconds.
fn document(path: &str, flows: &[Flow], longer: u32) -> Value {
    case(&text(path, flows, longer))
}

/// The trace with one more flow, which starts after the end of the run.
fn with_latecomer(path: &str, flows: &[Flow]) -> Value {
    let mut runs = runs(&text(path, flows, 0));
    for (trace, summary) in runs.traces.iter_mut().zip(&mut runs.summaries) {
        let (first, none) = (&trace.flows[0], Column::from_elem(0, trace.at.len()));
        let late = FlowTrace {
            start: trace.end + 1_000_000_000,
            sent: none.clone(),
            retransmitted: none.clone(),
            delivered: none.clone(),
            lost: none.clone(),
            in_flight: none.clone(),
            source_limited: none.clone(),
            peer_limited: none,
            links: first.links.clone(),
            ..FlowTrace {
                packet: first.packet,
                payload: first.payload,
                base_rtt: first.base_rtt,
                ..FlowTrace::default()
            }
        };
        trace.flows.push(late);
        *summary = summarise(trace, runs.scenario.bottleneck());
    }
    of(&runs)
}

fn runs(text: &str) -> Runs {
    let scenario = Scenario::read("lives.toml", text, &[]).unwrap_or_else(|error| panic!("{error}\n{text}"));
    run(vec![scenario], &()).expect("it runs").remove(0)
}

fn of(runs: &Runs) -> Value {
    serde_json::to_value(Run::of(runs).expect("one seed")).expect("a document")
}

fn case(text: &str) -> Value {
    of(&runs(text))
}

fn text(path: &str, flows: &[Flow], longer: u32) -> String {
    let mut text = format!("duration = \"{}s\"\nwarmup = \"2s\"\nseeds = 1\n{path}\n", 8 + longer);
    for (algorithm, start, size, stop, pause) in flows {
        text += &format!("[[flow]]\nalgorithm = \"{algorithm}\"\n");
        if let Some(size) = size {
            text += &format!("size = \"{size}p\"\n");
        }
        let end = stop.map_or(String::new(), |stop| format!("{}ms", start + stop));
        // A pause that the end of the flow cuts is none.
        match pause.filter(|(_, on)| stop.is_none_or(|stop| *on < stop)) {
            Some((off, on)) => {
                text += &format!("on = [\"{start}ms..{}ms\", \"{}ms..{end}\"]\n", start + off, start + on);
            }
            None if end.is_empty() => text += &format!("start = \"{start}ms\"\n"),
            None => text += &format!("start = \"{start}ms\"\nstop = \"{end}\"\n"),
        }
    }
    text
}

/// The mean of an estimate, or a plain number.
fn number(value: &Value) -> Option<f64> {
    value.as_f64().or_else(|| value.get("mean")?.as_f64())
}

/// Whether a measure of this name may have this value, with `flows` flows with a goodput, on a path of `capacity` bit/s.
fn is_possible(name: &str, value: f64, flows: usize, capacity: f64) -> bool {
    let (one, most) = (1.0 + 1e-9, flows as f64 + 1e-9);
    match name {
        "utilisation" => (0.0..=one).contains(&value),
        "jain" => (1.0 / flows.max(1) as f64 - 1e-9..=one).contains(&value),
        "goodput_range" => (0.0..=most).contains(&value),
        "stability_index" | "smoothness" => value >= 0.0 && value.is_finite(),
        "size_packets" => value >= 1.0,
        name if name.ends_with("_bps") => (0.0..=capacity).contains(&value),
        name if ["_rate", "_ratio", "_share"].iter().any(|end| name.ends_with(end)) => (0.0..=one).contains(&value),
        name if name.ends_with("_s") => (0.0..=1e3).contains(&value),
        _ => panic!("which values may `{name}` have?"),
    }
}

/// The measures of a document, without its settings.
fn measures(document: &Value) -> impl Iterator<Item = (&str, &Value)> {
    const OTHERS: [&str; 16] = [
        "kind",
        "version",
        "scenario",
        "path",
        "seeds",
        "first_seed",
        "duration_s",
        "warmup_s",
        "bottleneck",
        "warnings",
        "digests",
        "flow",
        "algorithm",
        "completion",
        "link",
        "rate_bps",
    ];
    let all = document.as_object().expect("an object").iter();
    all.map(|(name, value)| (name.as_str(), value)).filter(|(name, _)| !OTHERS.contains(name))
}

fn list<'a>(document: &'a Value, name: &str) -> &'a [Value] {
    document[name].as_array().expect("a list")
}

fn check(document: &Value, capacity: f64) -> Result<(), TestCaseError> {
    let flows = list(document, "flow_goodput_bps").iter().filter(|goodput| !goodput.is_null()).count();
    // The measured time has whole seconds.
    prop_assert_eq!(&document["efficiency_index_bps"], &document["goodput_bps"]);
    for group in list(document, "completion") {
        let count = |name: &str| number(&group[name]).expect("a number");
        prop_assert!((0.0..=count("flows")).contains(&count("completed")), "{group}");
        for way in ["arrived", "acknowledged"] {
            let times = ["p50_s", "p99_s", "slowest_s"].map(|rank| number(&group[way][rank]));
            let known: Vec<f64> = times.into_iter().flatten().collect();
            prop_assert!(
                known.is_sorted() && known.iter().all(|time| is_possible("time_s", *time, 0, capacity)),
                "{group}"
            );
        }
    }
    let parts = [document].into_iter().chain(list(document, "flows")).chain(list(document, "links"));
    for (name, value) in parts.flat_map(measures) {
        let values = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
        for value in values.iter().filter(|value| !["flows", "links"].contains(&name) && !value.is_null()) {
            let value = number(value).unwrap_or(f64::NAN);
            prop_assert!(is_possible(name, value, flows, capacity), "{name} is {value} with {flows} flows");
        }
    }
    Ok(())
}

const PATHS: [&str; 3] = [
    "[dumbbell]\nrate = \"6mbit\"\nrtt = \"30ms\"\nqueue = \"droptail:1bdp\"",
    "[dumbbell]\nrate = \"6mbit\"\nrtt = \"30ms\"\nqueue = \"droptail:8bdp\"\nloss = 0.01\nschedule = { repeat = \"3s\", steps = [{ at = \"1s\", rate = \"2mbit\" }] }",
    "[dumbbell]\nrate = \"6mbit\"\nrtt = \"30ms\"\nqueue = \"droptail:1bdp\"\nimpairments = { policer = \"3mbit,burst=20kB\" }",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn every_measure_stays_in_its_domain(path in proptest::sample::select(&PATHS[..]), flows in flows()) {
        // A packet that straddles the beginning of a life counts whole: one in each round trip at the least.
        check(&document(path, &flows, 0), 6e6 + 12e3 / 0.03)?;
    }

    #[test]
    fn a_flow_that_comes_after_the_end_changes_nothing(path in proptest::sample::select(&PATHS[..]), flows in flows()) {
        let before = document(path, &flows, 0);
        let after = with_latecomer(path, &flows);
        for (name, value) in measures(&before) {
            let (Some(all), Some(more)) = (value.as_array(), after[name].as_array()) else {
                prop_assert_eq!(value, &after[name], "{}", name);
                continue;
            };
            let (same, late) = more.split_at(all.len());
            prop_assert_eq!(all.as_slice(), same, "{}", name);
            for (name, value) in late.iter().filter(|late| late.is_object()).flat_map(measures) {
                prop_assert!(value.is_null(), "{}: {}", name, value);
            }
        }
    }

    #[test]
    fn the_same_life_in_a_longer_run_is_the_same(path in proptest::sample::select(&PATHS[..]), flows in flows()) {
        // All end two seconds or more before the shorter run does.
        let flows = flows.into_iter().map(|(algorithm, start, size, stop, pause)| {
            let start = start / 2;
            (algorithm, start, size.map(|size| size.min(1000)), stop.or(Some(2900)).map(|stop| stop.min(2900)), pause)
        });
        let flows: Vec<Flow> = flows.collect();
        let (short, long) = (document(path, &flows, 0), document(path, &flows, 3));
        // A link is measured over the whole time, in which packets may still be sent again.
        let of_the_run = ["links", "utilisation", "loss_rate", "mark_rate"];
        let differs = |name: &str| of_the_run.contains(&name) || name.starts_with("queue_delay_");
        for (name, value) in measures(&short).filter(|(name, _)| !differs(name)) {
            prop_assert_eq!(value, &long[name], "{}", name);
        }
    }
}

/// A flow of 8 MB that ends soon after the warm-up, over a link that loses nothing after it. All packets that it sends then are
/// retransmissions of packets lost before: a sixth of the transfer.
#[test]
fn a_transfer_that_the_warm_up_cuts_is_counted_whole() {
    let document = case(
        "duration = \"10s\"\nwarmup = \"1s\"\nseeds = 5\nslow_start = \"standard\"\n\
         [dumbbell]\nrate = \"100mbit\"\nrtt = \"60ms\"\nqueue = \"droptail:2bdp\"\nimpairments = { jitter = \"30ms\" }\n\
         [[flow]]\nname = \"f\"\nalgorithm = \"cubic\"\nsize = \"8MB\"\n",
    );
    let flow = &document["flows"][0];
    for name in ["loss_rate", "retransmission_ratio"] {
        let share = number(&flow[name]).expect("a share");
        assert!((0.13..0.19).contains(&share), "{name}: {share}");
    }
    // It has a good part of the 97.3 Mbit/s from the end of the warm-up to its own; the packet across the beginning counts whole.
    let goodput = number(&flow["goodput_bps"]).expect("a rate") * 1e-6;
    assert!((50.0..98.0).contains(&goodput), "{goodput}");
    assert_eq!(number(&document["goodput_bps"]), number(&flow["goodput_bps"]));
}

/// Two flows on 10 Mbit/s, one of which pauses from 10 s to 20 s: half each while both are there, and all for the other meanwhile.
#[test]
fn a_flow_is_measured_in_its_stages() {
    let document = case(
        "duration = \"30s\"\nwarmup = \"0s\"\nseeds = 2\n[dumbbell]\nrate = \"10mbit\"\nrtt = \"20ms\"\n\
         [[flow]]\nname = \"staged\"\nalgorithm = \"cubic\"\non = [\"0s..10s\", \"20s..30s\"]\n\
         [[flow]]\nname = \"always\"\nalgorithm = \"cubic\"\n",
    );
    let payload_mbps = |flow: usize, name: &str| {
        number(&document["flows"][flow][name]).unwrap_or_else(|| panic!("{name} of {flow}")) * 1e-6 * 1500.0 / 1460.0
    };
    // Starts are drawn from a round trip.
    for (flow, expected) in [(0, 5.0), (1, (5.0 + 10.0 + 5.0) / 3.0)] {
        let share = payload_mbps(flow, "fair_share_bps");
        assert!((share - expected).abs() < 0.02, "{flow}: {share}");
    }
    // Together they fill the link: the first in 20 s of 30. Were the pause counted as its time, 9.3 Mbit/s would come out.
    let [staged, always] = [0, 1].map(|flow| payload_mbps(flow, "goodput_bps"));
    let all = (staged * 20.0 + always * 30.0) / 30.0;
    assert!((9.7..10.05).contains(&all) && staged > 2.0, "{staged} {always}");
    let idle = number(&document["flows"][0]["source_limited_share"]).expect("a share");
    assert!(idle < 0.01, "{idle}");
    assert_eq!(document["efficiency_index_bps"], document["goodput_bps"]);
}

/// Time without a flow is no time of `goodput_bps`, and none of the efficiency index.
#[test]
fn the_efficiency_index_is_of_flows_that_are_there() {
    let path = "duration = \"12s\"\nwarmup = \"2s\"\nseeds = 2\n[dumbbell]\nrate = \"10mbit\"\nrtt = \"20ms\"\n\
                [[flow]]\nname = \"f\"\nalgorithm = \"cubic\"\n";
    let part = case(&format!("{path}on = [\"3s..5s\", \"9s..10s\"]\n"));
    let index = number(&part["efficiency_index_bps"]).expect("a rate") * 1e-6;
    assert!((8.5..9.8).contains(&index), "{index}");
    assert_eq!(part["efficiency_index_bps"], part["goodput_bps"]);
    let none = case(&format!("{path}stop = \"1s\"\n"));
    assert!(none["efficiency_index_bps"].is_null() && none["goodput_bps"].is_null(), "{none}");
}

/// A transfer that is over before the measured time has no measures of it, and a warning says so.
#[test]
fn a_flow_that_was_not_there_has_no_measures_and_a_reason() {
    let document = case(
        "duration = \"10s\"\nwarmup = \"5s\"\nseeds = 2\n[dumbbell]\nrate = \"10mbit\"\nrtt = \"20ms\"\n\
         [[flow]]\nname = \"early\"\nalgorithm = \"cubic\"\nsize = \"100p\"\n[[flow]]\nname = \"long\"\nalgorithm = \"cubic\"\n",
    );
    let [early, long] = list(&document, "flows") else { panic!("two flows") };
    for name in [
        "goodput_bps",
        "fair_share_bps",
        "loss_rate",
        "retransmission_ratio",
        "source_limited_share",
        "peer_limited_share",
    ] {
        assert!(early[name].is_null(), "{name}: {}", early[name]);
    }
    assert!(number(&early["completion_time_s"]).is_some_and(|took| took < 2.0));
    assert!(document["flow_goodput_bps"][0].is_null());
    assert_eq!(number(&document["jain"]), Some(1.0), "of one flow");
    let share = number(&long["fair_share_bps"]).expect("a share") * 1e-6;
    assert!((share - 10.0 * 1460.0 / 1500.0).abs() < 1e-3, "{share}");
    let warnings = document["warnings"].to_string();
    assert!(warnings.contains("`early`") && warnings.contains("less than a round trip"), "{warnings}");
}
