//! Numbers of docs/l4s.md: goodput and delay of each flow by queue, by bursts and by the variant of Prague.

use cwnd_run::measure::{FlowDelay, Window, flow_delay, goodput};
use cwnd_run::run::run;
use cwnd_run::scenario::Scenario;

/// Goodput in Mbit/s and delay of each flow of the first seed between `from` and `to`, seconds.
fn flows(text: &str, set: &[&str], from: u64, to: u64) -> Vec<(f64, FlowDelay)> {
    let ends = [format!("warmup={from}s"), format!("duration={to}s"), "seeds=1".to_owned()];
    let set: Vec<String> = set.iter().map(ToString::to_string).chain(ends).collect();
    let scenario = Scenario::read("test.toml", text, &set).unwrap_or_else(|error| panic!("{error}"));
    let runs = run(vec![scenario], &()).expect("it runs").remove(0);
    let trace = &runs.traces[0];
    let window = Window { from: from * 1_000_000_000, to: trace.end };
    let measured = |flow| {
        let delay = flow_delay(trace, flow, window).expect("more than 20 samples");
        (goodput(trace, flow, window).expect("it sends") * 1e-6, delay)
    };
    trace.flows.iter().map(measured).collect()
}

/// Prague alone, without the lengths.
const ALONE: &str = r#"
    [dumbbell]
    rate = "50mbit"
    rtt = "20ms"
    queue = "dualpi2:250ms"
    [[flow]]
    algorithm = "prague"
    ecn = "l4s"
"#;

/// Prague next to CUBIC.
fn both() -> String {
    format!("{ALONE}[[flow]]\nalgorithm = \"cubic\"\n")
}

#[test]
fn each_flow_of_a_dual_queue_has_its_own_delay() {
    let [prague, cubic] = flows(&both(), &[], 20, 60)[..] else { panic!("two flows") };
    assert!((32.0..36.0).contains(&prague.0) && (13.0..16.5).contains(&cubic.0), "{prague:?} {cubic:?}");
    assert!(prague.1.p99 < 1e-3 && (0.013..0.018).contains(&cubic.1.mean), "{prague:?} {cubic:?}");
}

/// The share of Prague, and the mean delay of both in milliseconds.
#[test]
fn in_one_queue_both_wait_and_the_kind_of_queue_decides_who_gets_more() {
    let queues = [
        ("codel:250ms,ecn=yes", 0.88..0.97, 5.0..9.0),
        ("pie:250ms,ecn=yes", 0.88..0.97, 14.0..17.0),
        ("droptail:1bdp", 0.42..0.60, 12.0..15.0),
        ("droptail:250ms", 0.08..0.22, 215.0..230.0),
    ];
    for (queue, shares, delays) in queues {
        let queued = format!("dumbbell.queue={queue}");
        let set = [queued.as_str(), "flow.1.ecn=latch"];
        let set = if queue.contains("ecn") { &set[..] } else { &set[..1] };
        let [prague, cubic] = flows(&both(), set, 20, 60)[..] else { panic!("two flows") };
        assert!(shares.contains(&(prague.0 / (prague.0 + cubic.0))), "{queue}: {prague:?} {cubic:?}");
        for (_, delay) in [prague, cubic] {
            assert!(delays.contains(&(delay.mean * 1e3)), "{queue}: {delay:?}");
        }
    }
}

#[test]
fn bursts_of_sixteen_packets_cost_delay_and_little_goodput() {
    let paced = flows(ALONE, &[], 20, 60)[0];
    let bursts = flows(ALONE, &["flow.0.wake=4ms"], 20, 60)[0];
    assert!(bursts.0 > 0.98 * paced.0, "{bursts:?}, paced {paced:?}");
    assert!(paced.1.mean < 1.2e-3 && (3e-3..5e-3).contains(&bursts.1.mean), "{bursts:?}, paced {paced:?}");
}

#[test]
fn the_parameters_of_udp_prague_find_capacity_sooner() {
    let growing = ["dumbbell.rate=20mbit", "dumbbell.schedule.steps=[{ at = \"20s\", rate = \"200mbit\" }]"];
    let after = |algorithm: &str| {
        let set = [growing[0], growing[1], &format!("flow.0.algorithm={algorithm}")];
        flows(ALONE, &set, 20, 25)[0]
    };
    let (linux, udp) = (after("prague"), after("prague:growth=1ms"));
    assert!((55.0..75.0).contains(&linux.0) && (140.0..175.0).contains(&udp.0), "{udp:?}, Linux {linux:?}");
    assert!(udp.1.p99 < 2e-3, "{udp:?}");

    let start =
        |algorithm: &str| flows(ALONE, &["dumbbell.rtt=40ms", &format!("flow.0.algorithm={algorithm}")], 0, 4)[0].0;
    let (linux, udp) = (start("prague"), start("prague:alpha=0"));
    assert!((13.0..16.0).contains(&linux) && (16.0..19.0).contains(&udp), "{udp}, Linux {linux}");
}
