//! Links that share one channel.

use cwnd::{Bytes, Span, Spec, Time};
use cwnd_sim::{
    CakeSetup, CbrSetup, Class, CoDelSetup, DeliveryTrace, Discipline, DrrSetup, DualPi2Setup, Dumbbell, Era,
    FqCoDelSetup, HalfDuplex, LinkId, PieSetup, QueueLimit, RateSchedule, RecoveryScheme, RedSetup, Sampling, Schedule,
    Setup, Sharing, TokenBucket, Trace, Variation,
};

const MBIT: u64 = 1_000_000;
const MS: Span = Span::from_millis(1);

fn run(setup: &Setup) -> Trace {
    cwnd_sim::run(setup, &mut |_| true).expect("a valid setup")
}

fn share(setup: &mut Setup, sharing: Sharing) {
    setup.links.iter_mut().for_each(|link| link.half_duplex = Some(HalfDuplex { channel: 0, sharing }));
}

/// Flows of Reno with windows of 100 packets on a channel of 10 Mbit/s and 40 ms, where no queue overflows.
fn bell(flows: usize, sharing: Sharing) -> Setup {
    let specs = vec![Spec::parse("reno").expect("registered"); flows];
    let bell = Dumbbell::new(10 * MBIT, MS * 40, QueueLimit::Unlimited);
    let mut setup = bell.setup(&specs, Era::MODERN, MS * 30_000, Span::ZERO, 1);
    setup.sampling = Some(Sampling { interval: MS * 1000, internals: false });
    setup.variation = Variation { start: Some(Span::ZERO), rtt: 0.0, jitter: 0.0 };
    for flow in &mut setup.flows {
        (flow.recovery, flow.delayed_ack, flow.max_window) = (RecoveryScheme::Sack, None, Some(100.0));
    }
    share(&mut setup, sharing);
    setup
}

/// Packets per second from 10 s to the end.
fn rate(trace: &Trace, curve: &[u64]) -> f64 {
    let at = |seconds: u64| trace.at.binary_search(&(seconds * 1_000_000_000)).expect("sampled");
    (curve[at(30)] - curve[at(10)]) as f64 / 20.0
}

fn close(found: f64, expected: f64) {
    assert!((found / expected - 1.0).abs() < 0.002, "{found}, not {expected}");
}

/// Adds packets of a constant rate, in bytes and bits per second, in the direction of the link at `link`.
fn overload(setup: &mut Setup, link: usize, size: u32, rate: u64) {
    let (from, to) = (setup.links[link].from, setup.links[link].to);
    setup.cbr.push(CbrSetup {
        name: format!("over {link}"),
        from,
        to,
        start: Time::ZERO,
        stop: None,
        pauses: Vec::new(),
        access_delay: Span::ZERO,
        packet: Bytes(size),
        rate: RateSchedule::constant(rate),
        class: Class::Out,
        hosts: cwnd_sim::HostPair::default(),
    });
}

#[test]
fn acknowledgements_take_their_share_of_the_channel() {
    let goodput = |sharing, delayed| {
        let mut setup = bell(1, sharing);
        setup.flows[0].delayed_ack = delayed;
        let trace = run(&setup);
        assert_eq!(trace.flows[0].dropped.last(), Some(&0));
        rate(&trace, &trace.flows[0].delivered) * 12_000.0
    };
    // Data of 1500 bytes and an acknowledgement of 40: C·S/(S+A), and C·2S/(2S+A) with one for two.
    close(goodput(Sharing::default(), None), 10e6 * 1500.0 / 1540.0);
    close(goodput(Sharing::default(), Some(MS * 40)), 10e6 * 3000.0 / 3040.0);
    // Each transmission costs 0.5 ms more: 1.2 + 0.5 + 0.032 + 0.5 ms.
    let access = MS / 2;
    close(goodput(Sharing { access, burst: 1 }, None), 12_000.0 / 2.232e-3);
    // Per turn of eight packets, and one of eight acknowledgements.
    close(goodput(Sharing { access, burst: 8 }, None), 12_000.0 / (1.232e-3 + 1e-3 / 8.0));
}

#[test]
fn the_directions_may_have_rates_of_their_own() {
    let mut setup = bell(1, Sharing::default());
    setup.links[1].rate = Some(MBIT);
    let trace = run(&setup);
    // 1.2 ms, and 0.32 ms for 40 bytes.
    close(rate(&trace, &trace.flows[0].delivered), 1.0 / 1.52e-3);
}

#[test]
fn directions_take_turns_by_packets() {
    for burst in [1, 5] {
        let mut setup = bell(1, Sharing { access: Span::ZERO, burst });
        setup.flows[0].max_window = Some(1.0);
        overload(&mut setup, 0, 1250, 20 * MBIT);
        overload(&mut setup, 1, 250, 20 * MBIT);
        setup.links.iter_mut().for_each(|link| link.queue = QueueLimit::Packets(50));
        let trace = run(&setup);
        // 1 ms and 0.2 ms: the same number of packets, five times the bytes.
        for link in &trace.links {
            close(rate(&trace, &link.carried_bytes), if link.name == "reverse" { 250.0 } else { 1250.0 } / 1.2e-3);
        }
    }
}

#[test]
fn one_direction_has_what_the_other_leaves() {
    let mut setup = bell(1, Sharing::default());
    setup.flows[0].max_window = Some(1.0);
    overload(&mut setup, 0, 1250, 20 * MBIT);
    overload(&mut setup, 1, 250, MBIT);
    setup.links.iter_mut().for_each(|link| link.queue = QueueLimit::Packets(50));
    let trace = run(&setup);
    let [forth, back] = [0, 1].map(|link| rate(&trace, &trace.links[link].carried_bytes) * 8.0);
    close(forth + back, 10e6);
    assert!((1e6..1.02e6).contains(&back), "{back}: all of it, and a few acknowledgements");
}

#[test]
fn flows_of_both_directions_are_equal() {
    let mut setup = bell(2, Sharing::default());
    let flow = &mut setup.flows[1];
    (flow.from, flow.to) = (flow.to, flow.from);
    let trace = run(&setup);
    let [forth, back] = [0, 1].map(|flow| rate(&trace, &trace.flows[flow].delivered));
    assert!((forth / back - 1.0).abs() < 0.01, "{forth} and {back}");
    // Acknowledgements wait behind the data of the other flow. The windows, 200 packets, take 246.4 ms. All acknowledgements leave at the end, within
    // 6.4 ms, and the first packet that one of them releases comes 30 ms after it: the channel rests for 23.6 ms.
    close((forth + back) * 12_320.0, 10e6 * 246.4 / 270.0);
}

#[test]
fn every_queue_that_waits_for_the_channel_conserves_packets_and_is_unobserved() {
    let disciplines = [
        Discipline::DropTail,
        Discipline::Drr(DrrSetup::default()),
        Discipline::CoDel(CoDelSetup::default()),
        Discipline::FqCoDel(FqCoDelSetup::default()),
        Discipline::Cake(CakeSetup { ack_filter: true, ..CakeSetup::default() }),
        Discipline::DualPi2(DualPi2Setup::RFC),
    ];
    for discipline in disciplines {
        let mut setup = bell(3, Sharing { access: MS / 10, burst: 4 });
        setup.duration = MS * 6000;
        let flow = &mut setup.flows[1];
        (flow.from, flow.to) = (flow.to, flow.from);
        for link in &mut setup.links {
            (link.queue, link.discipline) = (QueueLimit::Packets(20), discipline);
        }
        // An outage of one direction holds the channel for both.
        setup.links[0].rate_steps = Schedule { steps: vec![(MS * 2000, 0), (MS * 2300, 10 * MBIT)], repeat: None };
        let often = Sampling { interval: MS, internals: false };
        let digests = [None, Some(often)].map(|sampling| run(&Setup { sampling, ..setup.clone() }));
        assert_eq!(digests[0].digest, digests[1].digest, "{discipline:?}");
        let trace = &digests[1];
        let dropped: u64 = trace.links.iter().filter_map(|link| link.dropped.last()).sum();
        assert!(dropped > 10, "{discipline:?}: {dropped}");
        let carried = |link: usize, at: usize| trace.links[link].carried_bytes[at];
        assert_eq!(carried(1, 2100), carried(1, 2290), "{discipline:?}");
        assert!(carried(1, 5990) > carried(1, 2400));
        let alone = Setup {
            links: setup.links.iter().map(|link| cwnd_sim::LinkSetup { half_duplex: None, ..link.clone() }).collect(),
            ..setup
        };
        assert_ne!(run(&alone).digest, trace.digest);
    }
}

#[test]
fn what_cannot_share_a_channel_is_refused() {
    let refused = |change: &dyn Fn(&mut Setup)| {
        let mut setup = bell(1, Sharing::default());
        change(&mut setup);
        setup.check().expect_err("no channel").to_string()
    };
    let queue = |discipline| refused(&|setup| setup.links[1].discipline = discipline);
    for error in [queue(Discipline::Red(RedSetup::default())), queue(Discipline::Pie(PieSetup::default()))] {
        assert!(error.starts_with("link `reverse`: `duplex` must be `full` with this queue"), "{error}");
    }
    let bucket = TokenBucket { rate: MBIT, burst: Bytes(9000) };
    let error = refused(&|setup| setup.links[0].impairments.shaper = Some(bucket));
    assert!(error.contains("a `shaper`"), "{error}");
    let deliveries = || DeliveryTrace::parse("3\n9").ok().map(std::sync::Arc::new);
    assert!(refused(&|setup| setup.links[0].deliveries = deliveries()).contains("`trace`"));
    assert!(refused(&|setup| share(setup, Sharing { access: Span::ZERO, burst: 0 })).contains("`burst` of at least 1"));
    assert!(refused(&|setup| share(setup, Sharing { access: MS * 1001, burst: 1 })).contains("at most 1 s"));
    assert!(refused(&|setup| setup.links[0].rate = None).contains("without a `rate`"));
    let other = HalfDuplex { channel: 0, sharing: Sharing { access: MS, burst: 1 } };
    assert!(refused(&|setup| setup.links[1].half_duplex = Some(other)).contains("other links of its channel"));
    let tapped = cwnd_sim::Tap { link: LinkId(0), faults: Vec::new(), record: true };
    let mut setup = bell(1, Sharing::default());
    setup.taps.push(tapped);
    run(&setup);
}
