//! Queues under active management do what their RFCs promise: delays near the target, equal shares, no wait for sparse flows.

use cwnd::{Bytes, Span, Spec, Time};
use cwnd_sim::{
    AckEcho, CakeSetup, CbrSetup, Class, CoDelSetup, Discipline, Dumbbell, Era, FqCoDelSetup, PieSetup, QueueLimit,
    RateSchedule, RecoveryScheme, Setup, Trace,
};

const MBIT: u64 = 1_000_000;
const MS: Span = Span::from_millis(1);
const CODEL: Discipline = Discipline::CoDel(CODEL_SETUP);
/// Both disciplines with a queue per flow.
fn flow_queues() -> [Discipline; 2] {
    [Discipline::FqCoDel(FqCoDelSetup::default()), Discipline::Cake(CakeSetup::default())]
}
const CODEL_SETUP: CoDelSetup = CoDelSetup {
    target: Span::from_millis(5),
    interval: Span::from_millis(100),
    mtu: Bytes(1500),
    mark: false,
    ce_threshold: None,
    l4s_threshold: None,
};

/// A link of `mbit` Mbit/s and `rtt` ms under `discipline`, with room for 1000 packets, and flows of `algorithms` for 40 s.
fn bell(discipline: Discipline, (mbit, rtt): (u64, u64), algorithms: &[&str]) -> Setup {
    let specs: Vec<_> = algorithms.iter().map(|name| Spec::parse(name).expect("registered")).collect();
    let bell = Dumbbell::new(mbit * MBIT, MS * rtt, QueueLimit::Packets(1000));
    let mut setup = bell.setup(&specs, Era::MODERN, Span::from_secs(40), Span::from_secs(10), 1);
    setup.links[0].discipline = discipline;
    // What the bounds below were set for.
    for flow in &mut setup.flows {
        (flow.recovery, flow.delayed_ack) = (RecoveryScheme::Sack, None);
    }
    setup
}

/// Data of `packet` bytes at a constant rate over the bottleneck of `setup`.
fn cbr(setup: &Setup, rate: u64, packet: u32) -> CbrSetup {
    CbrSetup {
        name: "cbr".to_string(),
        from: setup.flows[0].from,
        to: setup.flows[0].to,
        start: Time::ZERO,
        stop: None,
        pauses: Vec::new(),
        access_delay: Span::ZERO,
        packet: Bytes(packet),
        rate: RateSchedule::constant(rate),
        class: Class::Out,
        hosts: cwnd_sim::HostPair::default(),
    }
}

fn run(setup: &Setup) -> Trace {
    cwnd_sim::run(setup, &mut |_| true).expect("a valid setup")
}

/// The share `q` of the packets that entered the bottleneck's queue after the warm-up waited at most this time, milliseconds.
fn quantile(trace: &Trace, q: f64) -> f64 {
    trace.links[0].wait.quantile(q).expect("packets came") as f64 / 1e6
}

fn mean(trace: &Trace) -> f64 {
    trace.links[0].wait.mean().expect("packets came") / 1e6
}

fn last(curve: &[u64]) -> u64 {
    *curve.last().expect("sampled at the end")
}

/// What a curve has grown by since the end of the warm-up.
fn grown(trace: &Trace, curve: &[u64]) -> u64 {
    let warmup = trace.at.binary_search(&trace.warmup).expect("sampled");
    last(curve) - curve[warmup]
}

/// Of the bottleneck at `mbit` Mbit/s.
fn utilisation(trace: &Trace, mbit: u64) -> f64 {
    grown(trace, &trace.links[0].carried_bytes) as f64 * 8.0 / (30 * mbit * MBIT) as f64
}

#[test]
fn codel_keeps_a_standing_queue_near_its_target() {
    // 10 Mbit/s and 100 ms, 45 Mbit/s and 50 ms, 100 Mbit/s and 20 ms: drop-tail would have these packets wait for 0.1 to 1 s.
    for path in [(10, 100), (45, 50), (100, 20)] {
        let trace = run(&bell(CODEL, path, &["reno"; 4]));
        assert!((3.0..7.5).contains(&quantile(&trace, 0.5)), "{path:?}: {} ms", quantile(&trace, 0.5));
        assert!(quantile(&trace, 0.95) < 15.0, "{path:?}: {} ms", quantile(&trace, 0.95));
        assert!(utilisation(&trace, path.0) > 0.9, "{path:?}: {}", utilisation(&trace, path.0));
        assert_eq!(last(&trace.links[0].marked), 0);
    }
}

#[test]
fn codel_does_not_hold_one_flow_back() {
    // Reno halves its window: without a queue it would use three quarters of the path. A queue below the target adds to that.
    let trace = run(&bell(CODEL, (45, 20), &["reno"]));
    assert!(quantile(&trace, 0.95) < 7.5, "{} ms", quantile(&trace, 0.95));
    assert!((0.85..1.0).contains(&utilisation(&trace, 45)), "{}", utilisation(&trace, 45));
}

#[test]
fn codel_marks_instead_of_dropping() {
    let marking = |ecn: Option<AckEcho>| {
        let mut setup = bell(Discipline::CoDel(CoDelSetup { mark: true, ..CODEL_SETUP }), (10, 100), &["reno"; 4]);
        setup.flows.iter_mut().for_each(|flow| flow.ecn = ecn);
        let trace = run(&setup);
        let sent_again = trace.flows.iter().map(|flow| last(&flow.retransmitted)).sum::<u64>();
        (last(&trace.links[0].dropped), last(&trace.links[0].marked), sent_again, quantile(&trace, 0.5))
    };
    let (dropped, marked, sent_again, median) = marking(Some(AckEcho::Latch));
    assert_eq!((dropped, sent_again), (0, 0));
    assert!(marked > 50, "{marked}");
    assert!((3.0..7.5).contains(&median), "{median} ms");
    let (dropped, marked, ..) = marking(None);
    assert_eq!(marked, 0);
    assert!(dropped > 50, "{dropped}");
}

/// The smoothed round-trip time of a flow with one packet at a time, ms, next to four others.
fn ping(discipline: Discipline) -> f64 {
    let mut setup = bell(discipline, (10, 40), &["reno"; 5]);
    setup.variation.rtt = 0.0;
    setup.flows[4].max_window = Some(1.0);
    setup.flows[4].packet = Bytes(200);
    setup.flows[4].payload = Bytes(160);
    let trace = run(&setup);
    1e3 * trace.flows[4].srtt.last().expect("sampled")
}

#[test]
fn queues_of_flows_let_a_sparse_flow_pass() {
    // 40 ms, 200 and 40 bytes at 10 Mbit/s take 0.19 ms; then the rest of the packet on the line, 0 to 1.2 ms. And a jitter.
    for discipline in flow_queues() {
        let sparse = ping(discipline);
        assert!((40.2..42.5).contains(&sparse), "{discipline:?}: {sparse} ms");
    }
    // It waits with the others behind CoDel alone, and with all of them in a long queue.
    assert!(ping(CODEL) > 45.0, "{} ms", ping(CODEL));
    assert!(ping(Discipline::DropTail) > 500.0, "{} ms", ping(Discipline::DropTail));
}

#[test]
fn queues_of_flows_share_equally_among_unequals() {
    // Round-trip times of 20 and 60 ms, a multiplicative increase, CUBIC, and one that does not care and sends 10 Mbit/s.
    let shares = |discipline| {
        let mut setup = bell(discipline, (20, 20), &["reno", "reno", "mimd", "cubic"]);
        setup.flows[1].access_rtt = setup.flows[1].access_rtt + MS * 40;
        setup.cbr = vec![cbr(&setup, 10 * MBIT, 1500)];
        let trace = run(&setup);
        let flows = trace.flows.iter().map(|flow| grown(&trace, &flow.delivered));
        let packets: Vec<_> = flows.chain([grown(&trace, &trace.cbr[0].delivered)]).collect();
        // Of a fifth of 20 Mbit/s for 30 s.
        packets.into_iter().map(|packets| packets as f64 * 12_000.0 / 120e6).collect::<Vec<_>>()
    };
    for discipline in flow_queues() {
        let fair = shares(discipline);
        assert!(fair.iter().all(|share| (0.8..1.1).contains(share)), "{discipline:?}: {fair:?}");
    }
    let tail = shares(Discipline::DropTail);
    assert!(tail.iter().any(|share| *share < 0.5) && tail.iter().any(|share| *share > 1.8), "{tail:?}");
}

#[test]
fn queues_of_flows_share_bytes_and_not_packets() {
    for discipline in flow_queues() {
        let mut setup = bell(discipline, (10, 20), &["reno"]);
        setup.cbr = vec![cbr(&setup, 8 * MBIT, 1500), cbr(&setup, 8 * MBIT, 300)];
        let trace = run(&setup);
        let [large, small] = [(0, 1500), (1, 300)].map(|(n, size)| grown(&trace, &trace.cbr[n].delivered) * size);
        let ratio = large as f64 / small as f64;
        assert!((0.97..1.03).contains(&ratio), "{discipline:?}: {ratio}");
    }
}

#[test]
fn queues_of_flows_keep_unresponsive_ones_within_the_limit() {
    // 40 Mbit/s for 10: CoDel drops ever more often, but the limit of the queue does most of it.
    for discipline in flow_queues() {
        let mut setup = bell(discipline, (10, 20), &["reno"]);
        setup.links[0].queue = QueueLimit::Packets(200);
        setup.cbr = (0..4).map(|_| cbr(&setup, 10 * MBIT, 1500)).collect();
        let trace = run(&setup);
        assert!(trace.links[0].queue_packets.iter().all(|packets| *packets <= 200));
        let share = grown(&trace, &trace.flows[0].delivered) as f64 * 12_000.0 / (30e6 * 10.0 / 5.0);
        assert!((0.8..1.05).contains(&share), "{discipline:?}: {share}");
        assert!((0.99..1.01).contains(&utilisation(&trace, 10)), "{discipline:?}: {}", utilisation(&trace, 10));
    }
}

#[test]
fn blue_empties_the_queue_of_a_flow_that_never_slows_down() {
    // 12 Mbit/s for 10: a sixth has to go. CoDel's drops get more frequent by its schedule, and the limit of 200 packets, 240 ms, drops the
    // rest. BLUE's probability rises with each overflow.
    let delay = |discipline| {
        let mut setup = bell(discipline, (10, 20), &["reno"]);
        setup.links[0].queue = QueueLimit::Packets(200);
        setup.flows[0].max_window = Some(1.0);
        setup.cbr = vec![cbr(&setup, 12 * MBIT, 1500)];
        mean(&run(&setup))
    };
    let [codel, cobalt] = flow_queues().map(delay);
    assert!(cobalt < 10.0 && codel > 50.0, "{codel} ms, {cobalt} ms");
}

#[test]
fn cake_keeps_queues_below_its_target() {
    for path in [(10, 100), (45, 50), (100, 20)] {
        let trace = run(&bell(Discipline::Cake(CakeSetup::default()), path, &["reno"; 4]));
        assert!(quantile(&trace, 0.5) < 5.0, "{path:?}: {} ms", quantile(&trace, 0.5));
        assert!(quantile(&trace, 0.95) < 15.0, "{path:?}: {} ms", quantile(&trace, 0.95));
        assert!(utilisation(&trace, path.0) > 0.85, "{path:?}: {}", utilisation(&trace, path.0));
    }
}

#[test]
fn cake_marks_instead_of_dropping() {
    let mut setup = bell(Discipline::Cake(CakeSetup::default()), (10, 100), &["reno"; 4]);
    setup.flows.iter_mut().for_each(|flow| flow.ecn = Some(AckEcho::Latch));
    let trace = run(&setup);
    assert_eq!(last(&trace.links[0].dropped), 0);
    assert!(last(&trace.links[0].marked) > 50, "{}", last(&trace.links[0].marked));
}

#[test]
fn the_ack_filter_makes_room_on_a_narrow_way_back() {
    // 50 Mbit/s of packets of 1500 bytes make 4167 acknowledgements of 40 bytes a second, 1.33 Mbit/s: more than half of it does not fit.
    let through = |ack_filter| {
        let mut setup = bell(Discipline::DropTail, (50, 40), &["cubic"]);
        (setup.links[1].rate, setup.links[1].queue) = (Some(500_000), QueueLimit::Packets(1000));
        setup.links[1].discipline = Discipline::Cake(CakeSetup { ack_filter, ..CakeSetup::default() });
        let trace = run(&setup);
        let (delay, dropped) = (trace.links[1].wait.mean().expect("they came") / 1e6, last(&trace.links[1].dropped));
        assert!(utilisation(&trace, 50) > 0.99, "{}", utilisation(&trace, 50));
        assert!(dropped > 40_000, "{dropped}");
        delay
    };
    // Without it they wait for COBALT to catch up. With it two wait at most, of which the older is the next to go.
    let [without, with] = [false, true].map(through);
    assert!(with < 1.0 && without > 50.0, "{without} ms, {with} ms");
}

#[test]
fn pie_keeps_to_its_target_under_light_and_heavy_load() {
    // Pan et al. (2013): 10 Mbit/s and 100 ms; 5 flows, 50 flows, and 5 next to two that send 6 Mbit/s each.
    for (flows, unyielding) in [(5, 0), (50, 0), (5, 2)] {
        for derandomize in [false, true] {
            let pie = PieSetup { derandomize, ..PieSetup::default() };
            let mut setup = bell(Discipline::Pie(pie), (10, 100), &vec!["reno"; flows]);
            setup.cbr = (0..unyielding).map(|_| cbr(&setup, 6 * MBIT, 1500)).collect();
            let trace = run(&setup);
            let load = format!("{flows} flows, {unyielding} unyielding, {derandomize}: {} ms", mean(&trace));
            assert!((12.0..19.0).contains(&mean(&trace)), "{load}");
            assert!(quantile(&trace, 0.95) < 50.0, "{load}, {} ms", quantile(&trace, 0.95));
            assert!(utilisation(&trace, 10) > 0.95, "{load}, {}", utilisation(&trace, 10));
        }
    }
}

#[test]
fn pie_keeps_to_another_target() {
    for target in [10, 40] {
        let pie = PieSetup { target: MS * target, ..PieSetup::default() };
        let trace = run(&bell(Discipline::Pie(pie), (45, 50), &["reno"; 16]));
        let share = mean(&trace) / target as f64;
        assert!((0.8..1.2).contains(&share), "{} ms for {target}", mean(&trace));
    }
}

#[test]
fn pie_marks_while_the_probability_is_low() {
    let counts = |flows| {
        let pie = PieSetup { mark: true, ..PieSetup::default() };
        let mut setup = bell(Discipline::Pie(pie), (10, 100), &vec!["reno"; flows]);
        setup.flows.iter_mut().for_each(|flow| flow.ecn = Some(AckEcho::Latch));
        let trace = run(&setup);
        (grown(&trace, &trace.links[0].marked), grown(&trace, &trace.links[0].dropped))
    };
    // Four flows need about a percent. Fifty have windows of two or three packets, which takes more than a tenth.
    let (marked, dropped) = counts(4);
    assert!(marked > 10 * dropped, "{marked} marked, {dropped} dropped");
    let (marked, dropped) = counts(50);
    assert!(dropped > marked, "{marked} marked, {dropped} dropped");
}
