//! Routers that write on packets, and the algorithms that read it.

use cwnd::{Span, Spec};
use cwnd_sim::{
    DecBitSetup, Discipline, Dumbbell, Era, FlowSetup, NodeId, ParkingLot, QueueLimit, Setup, Trace, VcpSetup, XcpSetup,
};

fn spec(name: &str) -> Spec {
    Spec::parse(name).expect("registered")
}

/// `count` flows of `algorithm` over `rate` and `rtt` with a queue of one bandwidth-delay product behind `discipline`.
fn dumbbell(algorithm: &str, count: usize, rate: u64, rtt: Span, discipline: Discipline, seconds: u64) -> Setup {
    let bdp = (rate as f64 * rtt.as_secs_f64() / 12_000.0) as u32;
    let bell = Dumbbell::new(rate, rtt, QueueLimit::Packets(bdp));
    let (duration, warmup) = (Span::from_secs(seconds), Span::from_secs(seconds / 2));
    let mut setup = bell.setup(&vec![spec(algorithm); count], Era::MODERN, duration, warmup, 1);
    setup.links.iter_mut().for_each(|link| link.discipline = discipline);
    setup
}

fn run(setup: &Setup) -> Trace {
    cwnd_sim::run(setup, &mut |_| true).expect("a valid setup")
}

/// The share of the first link's capacity that was used in the second half.
fn utilisation(setup: &Setup, trace: &Trace) -> f64 {
    let carried = &trace.links[0].carried_bytes;
    let bits = (carried[2] - carried[1]) as f64 * 8.0;
    let rate = setup.links[0].rate.expect("a rate") as f64;
    bits / (rate * (setup.duration - setup.warmup).as_secs_f64())
}

fn shares(trace: &Trace) -> Vec<f64> {
    trace.flows.iter().map(|flow| (flow.delivered[2] - flow.delivered[1]) as f64).collect()
}

/// Dropped of all offered to the first link, from the start on.
fn dropped(trace: &Trace) -> f64 {
    let link = &trace.links[0];
    link.dropped[2] as f64 / link.offered[2] as f64
}

#[test]
fn xcp_fills_a_gigabit_without_a_drop() {
    let setup = dumbbell("xcp", 4, 1_000_000_000, Span::from_millis(80), Discipline::Xcp(XcpSetup::default()), 20);
    let trace = run(&setup);
    let (used, shares) = (utilisation(&setup, &trace), shares(&trace));
    assert!(used >= 0.95, "{used}");
    assert_eq!(trace.links[0].dropped[2], 0);
    let mean = shares.iter().sum::<f64>() / 4.0;
    assert!(shares.iter().all(|share| (share / mean - 1.0).abs() < 0.1), "{shares:?}");
}

#[test]
fn xcp_is_max_min_fair_over_two_bottlenecks() {
    // One flow over both links, two more on the first and one more on the second: a third of the first link is the long flow's, and
    // what that leaves of the second, two thirds, the short one's.
    let lot = ParkingLot { hops: 2, rate: 100_000_000, rtt: Span::from_millis(80), queue: QueueLimit::Packets(667) };
    let base = dumbbell("xcp", 1, 100_000_000, Span::from_millis(80), Discipline::DropTail, 60);
    let mut links = lot.links();
    links.iter_mut().for_each(|link| link.discipline = Discipline::Xcp(XcpSetup::default()));
    let flow = |name: &str, from, to| {
        let ends = (NodeId(from), NodeId(to));
        FlowSetup::bulk(name.to_string(), spec("xcp"), Era::MODERN, ends, Span::from_millis(40))
    };
    let flows = vec![flow("long", 0, 2), flow("first", 0, 1), flow("first too", 0, 1), flow("second", 1, 2)];
    let trace = run(&Setup { nodes: lot.nodes(), links, flows, ..base });
    // 8333 packets a second for 30 seconds.
    let whole = 250_000.0;
    for (share, fair) in shares(&trace).into_iter().zip([1.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0, 2.0 / 3.0]) {
        assert!((share / whole / fair - 1.0).abs() < 0.15, "{:?}", shares(&trace));
    }
}

#[test]
fn vcp_drops_less_than_one_percent() {
    let rtt = Span::from_millis(80);
    let setup = dumbbell("vcp", 4, 100_000_000, rtt, Discipline::Vcp(VcpSetup::default()), 120);
    let trace = run(&setup);
    let (used, dropped) = (utilisation(&setup, &trace), dropped(&trace));
    assert!(dropped <= 0.01, "{dropped}");
    assert!(used > 0.9, "{used}");
    let shares = shares(&trace);
    let mean = shares.iter().sum::<f64>() / 4.0;
    assert!(shares.iter().all(|share| (share / mean - 1.0).abs() < 0.2), "{shares:?}");
}

#[test]
fn decbit_keeps_a_short_queue_and_a_busy_line() {
    let rtt = Span::from_millis(40);
    let mut setup = dumbbell("decbit", 2, 10_000_000, rtt, Discipline::DecBit(DecBitSetup::default()), 60);
    // Windows that leave at once queue though the line is half idle, and keep the bit set.
    setup.flows.iter_mut().for_each(|flow| flow.paced = true);
    let trace = run(&setup);
    let used = utilisation(&setup, &trace);
    assert!(used > 0.7, "{used}");
    // The paper's aim: about one packet, with that in transmission.
    let waiting = trace.links[0].wait.mean().expect("packets");
    assert!(waiting < 1.2e6, "{waiting}");
    assert_eq!(trace.links[0].dropped[2], 0);
}

#[test]
fn what_routers_write_wants_selective_acknowledgements() {
    let mut setup = dumbbell("xcp", 1, 10_000_000, Span::from_millis(40), Discipline::DropTail, 2);
    setup.flows[0].recovery = cwnd_sim::RecoveryScheme::Reno;
    assert!(setup.check().expect_err("refused").to_string().contains("`recovery` must be `sack` for `xcp`"));
}
