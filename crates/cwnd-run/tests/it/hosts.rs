//! Numbers of docs/access.md: the share of a host with one download next to a host with eight, behind CAKE.

use cwnd_run::measure::{Window, goodput};
use cwnd_run::run::run;
use cwnd_run::scenario::Scenario;

/// The goodput of each flow in the last 5 of 10 s, in Mbit/s.
fn goodputs(set: &[&str]) -> Vec<f64> {
    let lengths = ["warmup=5s", "duration=10s", "seeds=1"];
    let set: Vec<String> = set.iter().chain(&lengths).map(ToString::to_string).collect();
    let scenario = Scenario::read("home-router.toml", HOME, &set).unwrap_or_else(|error| panic!("{error}"));
    let runs = run(vec![scenario], &()).expect("it runs").remove(0);
    let trace = &runs.traces[0];
    let window = Window { from: 5_000_000_000, to: trace.end };
    trace.flows.iter().map(|flow| goodput(trace, flow, window).expect("it sends") / 1e6).collect()
}

/// The share of the first flow in the goodput of all, and that of each other one.
fn shares(set: &[&str]) -> (f64, Vec<f64>) {
    let goodputs = goodputs(set);
    let all: f64 = goodputs.iter().sum();
    (goodputs[0] / all, goodputs[1..].iter().map(|goodput| goodput / all).collect())
}

/// Queues in both directions.
fn queues(isolation: &str) -> [String; 2] {
    ["queue", "reverse_queue"].map(|key| format!("dumbbell.{key}=cake:1000p,isolation={isolation}"))
}

/// The settings of a scenario with queues of this isolation in both directions.
fn isolated<'a>(queues: &'a [String; 2], more: &[&'a str]) -> Vec<&'a str> {
    queues.iter().map(String::as_str).chain(more.iter().copied()).collect()
}

#[test]
fn a_host_gets_half_by_its_address_and_a_ninth_by_its_flows() {
    let one_server = ["flow.0.src_host=server", "flow.1.src_host=server"];
    for (isolation, more, expected) in [
        ("triple-isolate", &[][..], 0.5),
        ("dual-dsthost", &[], 0.5),
        ("dsthost", &[], 0.5),
        // Nine flows of the server count more than the eight to a host.
        ("triple-isolate", &one_server, 1.0 / 9.0),
    ] {
        let queues = queues(isolation);
        let set = isolated(&queues, more);
        let (first, others) = shares(&set);
        assert!((first - expected).abs() < 0.1 * expected, "{set:?}: {first} of all");
        // Flows that share one queue compete in it.
        if isolation != "dsthost" {
            let each = (1.0 - first) / 8.0;
            assert!(others.iter().all(|share| (share - each).abs() < 0.1 * each), "{set:?}: {others:?}");
        }
    }
}

#[test]
fn without_isolation_of_hosts_each_flow_gets_a_ninth() {
    let nobody = ["flow=[{ algorithm = \"cubic\", count = 9 }]"];
    for set in [&nobody[..], &["dumbbell.queue=cake:1000p,isolation=flows", "dumbbell.reverse_queue=cake:1000p"]] {
        let (first, _) = shares(set);
        assert!((first - 1.0 / 9.0).abs() < 0.1 / 9.0, "{set:?}: {first} of all");
    }
}

/// Uploads are from the hosts, whose addresses are sources there.
#[test]
fn uploads_share_by_source() {
    let reversed = "flow=[{ algorithm = \"cubic\", direction = \"reverse\", src_host = \"laptop\", dst_host = \"cloud\" }, { \
         algorithm = \"cubic\", count = 8, direction = \"reverse\", src_host = \"console\", dst_host = \"cloud\" }]";
    for (isolation, expected) in [("dual-srchost", 0.5), ("hosts", 0.5), ("triple-isolate", 1.0 / 9.0)] {
        let queue = format!("dumbbell.reverse_queue=cake:1000p,isolation={isolation}");
        let (first, _) = shares(&[&queue, "dumbbell.reverse_rate=50mbit", reversed]);
        assert!((first - expected).abs() < 0.1 * expected, "{isolation}: {first} of all");
    }
}

/// Flows that come and go have the hosts of their group, whoever had their place before.
#[test]
fn arrivals_and_constant_traffic_have_hosts() {
    let others = "cbr=[{ rate = \"cbr:10mbit\", count = 8, dst_host = \"console\" }]";
    let groups = "arrivals=[{ algorithm = \"reno\", size = \"20p\", gap = \"40ms\", dst_host = \"console\" }, { algorithm = \
                  \"reno\", size = \"20p\", gap = \"40ms\", dst_host = \"phone\" }]";
    let flow = "flow=[{ algorithm = \"cubic\", dst_host = \"laptop\" }]";
    let of_laptop = |isolation| goodputs(&isolated(&queues(isolation), &[others, groups, flow]))[0];
    // The phone has 6 Mbit/s, and laptop and console divide the rest: 22 of 50 Mbit/s on the wire, of which 1460 of 1500 bytes count.
    // As a flow the laptop has at most what each constant one has, 50 / 9 on the wire.
    let (host, flow) = (of_laptop("dual-dsthost"), of_laptop("flows"));
    assert!((19.0..22.5).contains(&host) && flow < 5.5, "{host} {flow}");
}

#[test]
fn a_host_has_a_name() {
    for key in ["flow.0.src_host", "flow.1.dst_host"] {
        let error =
            Scenario::read("home-router.toml", HOME, &[format!("{key}=\" \"")]).expect_err("no name").to_string();
        assert!(error.contains("a name of at least one character"), "{error}");
    }
}

const HOME: &str = include_str!("../../../../scenarios/home-router.toml");
