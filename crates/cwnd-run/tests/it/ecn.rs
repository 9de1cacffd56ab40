//! DCTCP in small data centres: what becomes of retransmissions at a marking queue, and of windows of a packet or two.

use cwnd_run::run::{Runs, run};
use cwnd_run::scenario::Scenario;

fn run_text(text: &str) -> Runs {
    let scenario = Scenario::read("test.toml", text, &[]).unwrap_or_else(|error| panic!("{error}"));
    run(vec![scenario], &()).expect("it runs").remove(0)
}

/// Flows that share less than two packets each, and more than fit below the step: whoever came down to one packet would wait 40 ms for each
/// acknowledgement. Jain's index was 0.26, 0.09 and 0.05.
#[test]
fn many_flows_on_a_short_path_share_it() {
    for flows in [12, 24, 60] {
        let runs = run_text(&format!(
            r#"
            duration = "3s"
            warmup = "1s"
            seeds = 3
            [dumbbell]
            rate = "1gbit"
            rtt = "200us"
            queue = "red:200p,min=10p,max=10p,weight=1,ecn=yes"
            [[flow]]
            algorithm = "dctcp"
            ecn = "per-packet"
            count = {flows}
            "#
        ));
        let jain: Vec<f64> = runs.summaries.iter().filter_map(|summary| summary.jain).collect();
        assert!(jain.len() == 3 && jain.iter().all(|jain| *jain >= 0.9), "{flows} flows: {jain:?}");
    }
}

/// Five short flows cross a link that loses a packet in a hundred on their way to a port that marks from twenty packets on, where ten long
/// ones are: the port drops none of what they send again. One of them took 3.1 s with four timeouts.
#[test]
fn a_marking_port_drops_no_retransmission() {
    let runs = run_text(
        r#"
        duration = "8s"
        warmup = "1s"
        seeds = 3
        [[link]]
        name = "access"
        from = "h1"
        to = "s"
        rate = "10gbit"
        delay = "1us"
        both_ways = false
        queue = "droptail:2000p"
        loss = "periodic:100"
        [[link]]
        name = "clean"
        from = "h2"
        to = "s"
        rate = "10gbit"
        delay = "1us"
        both_ways = false
        queue = "droptail:2000p"
        [[link]]
        name = "port"
        from = "s"
        to = "d"
        rate = "1gbit"
        delay = "250us"
        both_ways = false
        queue = "red:1000p,min=20p,max=20p,weight=1,ecn=yes"
        [[link]]
        from = "d"
        to = "h1"
        delay = "250us"
        both_ways = false
        [[link]]
        from = "d"
        to = "h2"
        delay = "250us"
        both_ways = false
        [[flow]]
        name = "bulk"
        algorithm = "dctcp"
        ecn = "per-packet"
        delayed_ack = "0s"
        count = 10
        from = "h2"
        to = "d"
        extra_rtt = "500us"
        [[flow]]
        name = "short"
        algorithm = "dctcp"
        ecn = "per-packet"
        delayed_ack = "0s"
        count = 5
        from = "h1"
        to = "d"
        start = "3s"
        size = "100p"
        extra_rtt = "500us"
        host = "min_rto=200ms"
        "#,
    );
    for (seed, trace) in runs.traces.iter().enumerate() {
        let port = &trace.links[2];
        assert!(port.marked.last() > Some(&0));
        assert_eq!(port.dropped.last(), Some(&0), "seed {}", seed + 1);
        for flow in &trace.flows[10..] {
            assert_eq!(flow.timeouts.last(), Some(&0), "seed {}, {}", seed + 1, flow.name);
        }
    }
    let again: u64 =
        runs.traces.iter().flat_map(|trace| &trace.flows[10..]).filter_map(|flow| flow.retransmitted.last()).sum();
    assert!(again > 0, "the access link loses packets");
}
