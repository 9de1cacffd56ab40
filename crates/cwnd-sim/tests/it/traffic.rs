//! Sources, traffic without congestion control, and groups of arriving flows of short flows.

use std::num::NonZeroU32;

use cwnd::{Bytes, Span, Spec, Time};
use cwnd_sim::{
    CbrSetup, Class, Dumbbell, Era, FlowArrivalsSetup, Interarrival, Pages, Pause, QueueLimit, RateChange,
    RateSchedule, Sampling, Setup, Sizes, Source, Trace, Variation, Video,
};

const MBIT: u64 = 1_000_000;
const MS: Span = Span::from_millis(1);

fn spec(text: &str) -> Spec {
    Spec::parse(text).expect("a registered algorithm")
}

fn run(setup: &Setup) -> Trace {
    cwnd_sim::run(setup, &mut |_| true).expect("a valid setup")
}

fn at(span: Span) -> Time {
    Time::ZERO + span
}

fn last(curve: &[u64]) -> u64 {
    *curve.last().expect("sampled at the end")
}

/// The curve's value at an instant that was sampled.
fn value<T: Copy>(trace: &Trace, curve: &[T], instant: Span) -> T {
    curve[trace.at.binary_search(&instant.as_nanos()).expect("sampled")]
}

/// One flow of 1500-byte packets on an otherwise empty path without anything drawn: 12 Mbit/s make a packet take 1 ms; half of
/// the round trip of 40 ms lies on the access line; an acknowledgement of 75 bytes takes 50 us.
fn clear(duration: Span) -> Setup {
    let bell = Dumbbell::new(12 * MBIT, MS * 40, QueueLimit::Unlimited);
    let mut setup = bell.setup(&[spec("reno")], Era::NS2_2004, duration, Span::ZERO, 1);
    setup.variation = Variation { start: Some(Span::ZERO), rtt: 0.0, jitter: 0.0 };
    setup.flows[0].ack = Bytes(75);
    setup
}

/// Flows like the one of `setup`, arriving at random instead of it.
fn group(setup: &Setup, gap: Span, sizes: Sizes) -> FlowArrivalsSetup {
    FlowArrivalsSetup {
        flow: setup.flows[0].clone(),
        gap: Interarrival::Constant(gap),
        sizes,
        pages: None,
        rtt_spread: Span::ZERO,
        limit: const { NonZeroU32::new(10_000).expect("above zero") },
    }
}

fn cbr(setup: &Setup, rate: RateSchedule) -> CbrSetup {
    CbrSetup {
        name: "cross".to_string(),
        from: setup.flows[0].from,
        to: setup.flows[0].to,
        start: Time::ZERO,
        stop: None,
        pauses: Vec::new(),
        access_delay: MS * 5,
        packet: Bytes(1000),
        rate,
        class: Class::default(),
        hosts: cwnd_sim::HostPair::default(),
    }
}

/// Slow start by hand, two packets at first. The first two leave at 0 and are acknowledged 41.05 and 42.05 ms later (20 access,
/// 1 transmission, 10 and 10 propagation, 0.05 for the acknowledgement); each acknowledgement releases two packets. Those of the
/// second round leave at 41.05 and 42.05 and are acknowledged 82.10, 83.10, 84.10 and 85.10 ms after the start: two packets come
/// per millisecond, so the line transmits them one after the other. The last two of the third round leave at 85.10, queue
/// behind the six before from 105.10 on, are transmitted by 110.10, and arrive at 120.10. Their acknowledgement comes at 130.15.
const FOURTEEN_ARRIVED: u64 = 120_100_000;
const FOURTEEN_ACKNOWLEDGED: u64 = 130_150_000;

#[test]
fn a_finite_flow_takes_as_long_as_slow_start_needs() {
    let mut setup = clear(MS * 200);
    setup.flows[0].source = Source::Packets(14);
    let trace = run(&setup);
    let flow = &trace.flows[0];
    assert_eq!(flow.size, Some(14));
    assert_eq!((flow.completed, flow.acknowledged), (Some(FOURTEEN_ARRIVED), Some(FOURTEEN_ACKNOWLEDGED)));
    assert_eq!((last(&flow.sent), last(&flow.delivered)), (14, 14));
    // The last packets fill the window; from the acknowledgement of the seventh on, at 123.15 ms, it has room for nothing.
    assert_eq!(last(&flow.source_limited), 200_000_000 - 123_150_000);

    setup.duration = MS * 125;
    let cut = run(&setup);
    assert_eq!((cut.flows[0].completed, cut.flows[0].acknowledged), (Some(FOURTEEN_ARRIVED), None));
    setup.flows[0].start = at(MS * 10);
    assert_eq!(run(&setup).flows[0].completed, None, "five milliseconds are missing");
}

#[test]
fn finite_flows_complete_over_loss_and_under_every_transport() {
    for algorithm in ["reno", "cubic", "exp-tcp", "udt"] {
        let bell = Dumbbell::new(12 * MBIT, MS * 40, QueueLimit::Packets(10));
        let setup = bell.setup(&vec![spec(algorithm); 3], Era::MODERN, Span::from_secs(60), Span::ZERO, 1);
        let mut setup = Setup { links: setup.links.clone(), ..setup };
        setup.links[0].loss = cwnd_sim::Loss::Bernoulli(0.02);
        setup.flows.iter_mut().for_each(|flow| flow.source = Source::Packets(500));
        for flow in &run(&setup).flows {
            assert_eq!(last(&flow.delivered), 500, "{algorithm}");
            let (completed, acknowledged) = (flow.completed.expect(algorithm), flow.acknowledged.expect(algorithm));
            // At least 500 ms of transmission and a round trip.
            assert!(530_000_000 < completed && completed < acknowledged, "{algorithm}: {completed} {acknowledged}");
        }
    }
}

#[test]
fn a_clocked_source_is_the_limit_and_its_window_does_not_grow() {
    for (era, grows) in [(Era::MODERN, false), (Era::LINUX_2_6, false), (Era::NS2_2006, true)] {
        let mut setup = clear(Span::from_secs(10));
        setup.flows[0].era = era;
        setup.flows[0].source = Source::Rate(RateSchedule::constant(480_000));
        let trace = run(&setup);
        let flow = &trace.flows[0];
        // A packet at 0, 25, …, 10000 ms, two at most in the network.
        assert_eq!(last(&flow.sent), 401);
        let window = *flow.window.last().expect("sampled");
        if grows {
            assert!(window > 300.0, "{}: {window}", era.name);
        } else {
            assert_eq!(window, era.initial_window, "{}", era.name);
            assert_eq!(last(&flow.source_limited), 10_000_000_000, "{}: all the time", era.name);
        }
    }
}

#[test]
fn a_video_leaves_frame_by_frame_at_its_mean_rate() {
    // Each second a key frame of 37.5 kB and 29 of 3.75 kB; the window has room for each of them.
    let video = Video { frame: 3750, key: 37_500, every: 30, per_second: 30.0 };
    let mut setup = clear(Span::from_secs(10));
    setup.flows[0].source = Source::Rate(RateSchedule::video(video));
    setup.flows[0].era = Era { initial_window: 64.0, ..Era::MODERN };
    setup.sampling = Some(Sampling { interval: MS * 10, internals: false });
    let trace = run(&setup);
    let flow = &trace.flows[0];
    // 25 packets at 0 s, 2 or 3 every 33 ms, and at 10 s the key frame of the next second.
    assert_eq!(last(&flow.sent), 10 * (37_500 + 29 * 3750) / 1500 + 25);
    let sent = |after: u64| value(&trace, &flow.sent, MS * after);
    assert_eq!([10, 30, 40, 990, 1010].map(sent), [25, 25, 27, 97, 122]);
    assert_eq!(
        trace.flows[0].demand,
        cwnd_trace::Demand::Stages(vec![cwnd_trace::DemandStage { from: 0, rate: 1_170_000 }])
    );
}

#[test]
fn what_a_clocked_source_cannot_send_waits_at_the_sender() {
    // 24 Mbit/s for a second, then nothing, over 12 Mbit/s: two seconds of packets.
    let schedule = RateSchedule::stepping(24 * MBIT, Span::from_secs(1), RateChange::Square(0));
    let mut setup = clear(Span::from_secs(4));
    setup.flows[0].source = Source::Rate(schedule);
    setup.flows[0].stop = Some(at(MS * 1500));
    setup.flows[0].max_window = Some(50.0);
    setup.sampling = Some(Sampling { interval: MS * 100, internals: false });
    let trace = run(&setup);
    let flow = &trace.flows[0];
    assert_eq!(last(&flow.delivered), 2001);
    let (early, late) = (value(&trace, &flow.delivered, MS * 500), value(&trace, &flow.delivered, MS * 1900));
    assert_eq!(late - early, 1400, "the line is busy");
    let after = last(&flow.source_limited) as f64 / 1e9;
    assert!((1.8..1.95).contains(&after), "only after two seconds and what slow start cost, {after}");
}

#[test]
fn a_paused_flow_sends_nothing_and_starts_again_with_a_small_window() {
    for (era, after) in [(Era::MODERN, 10.0), (Era::LINUX_2_6, 3.0)] {
        let mut setup = clear(Span::from_secs(8));
        setup.flows[0].era = era;
        setup.flows[0].max_window = Some(60.0);
        setup.flows[0].pauses = vec![
            Pause { from: at(Span::from_secs(1)), to: at(Span::from_secs(6)) },
            Pause { from: at(MS * 6500), to: at(MS * 7000) },
        ];
        setup.flows[0].stop = Some(at(MS * 7500));
        setup.sampling = Some(Sampling { interval: MS * 100, internals: false });
        let trace = run(&setup);
        let flow = &trace.flows[0];
        let sent = |millis| value(&trace, &flow.sent, MS * millis);
        assert_eq!(sent(1000), sent(5900));
        assert!(value(&trace, &flow.window, MS * 5900) > 30.0);
        assert_eq!(value(&trace, &flow.window, MS * 6000), after, "RFC 5681 section 4.1");
        assert_eq!(sent(6000) - sent(5900), after as u64);
        assert!(sent(6500) > sent(6000) && sent(6500) == sent(6900), "the second pause");
        assert!(sent(7100) > sent(6900) && sent(7500) == sent(8000), "the stop");
    }
}

#[test]
fn constant_rate_is_constant_whatever_the_network_does() {
    // 12 Mbit/s of 1000-byte packets into 6 Mbit/s: a packet each 2/3 ms, half of them dropped.
    let mut setup = clear(Span::from_secs(10));
    setup.links[0].rate = Some(6 * MBIT);
    setup.links[0].queue = QueueLimit::Packets(5);
    setup.cbr = vec![cbr(&setup, RateSchedule::constant(12 * MBIT))];
    setup.flows.clear();
    let trace = run(&setup);
    let cross = &trace.cbr[0];
    assert_eq!((last(&cross.sent), cross.name.as_str()), (15_001, "cross"));
    assert_eq!(last(&cross.dropped), last(&trace.links[0].dropped));
    // The line is always busy: one arrives after 5 + 4/3 + 10 ms, then one each 4/3 ms.
    assert_eq!(last(&cross.delivered), 7488);
}

#[test]
fn a_square_wave_leaves_reno_what_it_does_not_take() {
    let schedule = RateSchedule::stepping(10 * MBIT, Span::from_secs(10), RateChange::Square(2 * MBIT));
    let bell = Dumbbell::new(12 * MBIT, MS * 40, QueueLimit::Packets(40));
    let mut setup = bell.setup(&[spec("reno")], Era::MODERN, Span::from_secs(60), Span::from_secs(1), 1);
    setup.cbr = vec![cbr(&setup, schedule)];
    setup.sampling = Some(Sampling { interval: Span::from_secs(1), internals: false });
    let trace = run(&setup);
    let cross = &trace.cbr[0];
    let rates = [1, 11, 21].map(|second| value(&trace, &cross.rate, Span::from_secs(second)));
    assert_eq!(rates, [10e6, 2e6, 10e6]);
    let mean = |curve: &[u64], from: u64, to: u64| {
        let packets = value(&trace, curve, Span::from_secs(to)) - value(&trace, curve, Span::from_secs(from));
        packets as f64 / (to - from) as f64
    };
    // 1250 and 250 packets of 1000 bytes a second.
    assert!((mean(&cross.sent, 1, 9) - 1250.0).abs() < 1.0 && (mean(&cross.sent, 11, 19) - 250.0).abs() < 1.0);
    let [low, high] = [(22, 30), (34, 40)].map(|(from, to)| mean(&trace.flows[0].delivered, from, to) * 12_000.0 / 1e6);
    assert!((1.0..2.2).contains(&low), "of 2 Mbit/s: {low}");
    assert!((9.0..10.1).contains(&high), "of 10 Mbit/s: {high}");
}

#[test]
fn a_cbr_flow_keeps_its_times() {
    let mut setup = clear(Span::from_secs(10));
    let schedule = RateSchedule { rest_of: Some(3 * MBIT), ..RateSchedule::constant(MBIT) };
    setup.cbr = vec![CbrSetup {
        start: at(Span::from_secs(1)),
        stop: Some(at(Span::from_secs(9))),
        pauses: vec![Pause { from: at(Span::from_secs(3)), to: at(Span::from_secs(5)) }],
        ..cbr(&setup, schedule)
    }];
    setup.sampling = Some(Sampling { interval: MS * 500, internals: false });
    let trace = run(&setup);
    let sent = |millis| value(&trace, &trace.cbr[0].sent, MS * millis);
    // 2 Mbit/s: 250 packets a second, one of them at once.
    assert_eq!([500, 1000, 2500, 3000, 4500, 5000, 8500, 10_000].map(sent), [0, 1, 376, 500, 500, 501, 1376, 1500]);
}

#[test]
fn flows_of_a_group_do_not_touch_each_other_on_a_path_that_is_free() {
    // So far apart that none meets another.
    let mut setup = clear(Span::from_secs(200_000));
    setup.flow_arrivals = vec![group(&setup, Span::from_secs(2000), Sizes::Constant(14))];
    setup.flows.clear();
    let trace = run(&setup);
    let group = &trace.flow_arrivals[0];
    assert!((70..130).contains(&last(&group.arrived)), "{}", last(&group.arrived));
    assert_eq!(last(&group.completed), last(&group.arrived));
    let class = &group.classes[1];
    assert_eq!((class.up_to, class.arrived.count()), (100, last(&group.arrived)));
    assert_eq!(class.arrived.mean(), Some(FOURTEEN_ARRIVED as f64));
    assert_eq!(class.acknowledged.max(), Some(FOURTEEN_ACKNOWLEDGED));
}

/// A group of Pareto sizes at 80 % of a line with a short queue, which stops in time for all to end.
fn busy(algorithm: &str, pages: Option<Pages>, seed: u64) -> Setup {
    let bell = Dumbbell::new(50 * MBIT, MS * 40, QueueLimit::Packets(50));
    let mut setup = bell.setup(&[spec(algorithm)], Era::MODERN, Span::from_secs(90), Span::from_secs(5), seed);
    let sizes = Sizes::Pareto { mean: 30.0, shape: 1.35 };
    setup.flow_arrivals = vec![FlowArrivalsSetup {
        gap: Interarrival::of_load(0.8, 50 * MBIT, sizes, Bytes(1500)),
        pages,
        rtt_spread: MS * 20,
        ..group(&setup, MS, sizes)
    }];
    setup.flow_arrivals[0].flow.stop = Some(at(Span::from_secs(30)));
    setup.flows.clear();
    setup
}

#[test]
fn a_group_delivers_what_was_asked_for_whatever_it_loses() {
    for algorithm in ["reno", "cubic", "udt"] {
        let trace = run(&busy(algorithm, None, 3));
        let group = &trace.flow_arrivals[0];
        // 111 arrivals a second for 30 s; the standard deviation is 58.
        assert!((3100..3570).contains(&last(&group.arrived)), "{algorithm}: {}", last(&group.arrived));
        assert_eq!((last(&group.completed), last(&group.refused)), (last(&group.arrived), 0), "{algorithm}");
        assert_eq!(last(&group.delivered), last(&group.requested), "{algorithm}");
        assert!(last(&group.dropped) > 100, "{algorithm}: there was loss");
        // Control packets of UDT's senders take the same way.
        let others = last(&trace.links[0].dropped) - last(&group.dropped);
        assert!(
            if algorithm == "udt" { others < last(&group.dropped) / 10 } else { others == 0 },
            "{algorithm}: {others}"
        );
        let counted: u64 = group.classes.iter().map(|class| class.acknowledged.count()).sum();
        assert_eq!(counted, group.sizes.count(), "{algorithm}");
        assert!(counted < last(&group.arrived), "{algorithm}: not those of the warm-up");
        let medians = group.classes.iter().filter_map(|class| class.arrived.quantile(0.5));
        assert!(medians.is_sorted(), "{algorithm}: larger flows take longer");
    }
}

#[test]
fn groups_are_the_same_for_every_algorithm_and_differ_by_seed() {
    let [reno, again, cubic] = ["reno", "reno", "cubic"].map(|algorithm| run(&busy(algorithm, None, 3)));
    assert_eq!((reno.digest, &reno.flow_arrivals), (again.digest, &again.flow_arrivals));
    assert_ne!(reno.digest, cubic.digest);
    assert_eq!(
        (&reno.flow_arrivals[0].arrived, &reno.flow_arrivals[0].sizes),
        (&cubic.flow_arrivals[0].arrived, &cubic.flow_arrivals[0].sizes)
    );
    assert_ne!(reno.flow_arrivals[0].sizes, run(&busy("reno", None, 4)).flow_arrivals[0].sizes);
}

#[test]
fn readers_ask_a_slow_network_for_less() {
    let pages = Pages { pages: 5.0, objects: 3.0, think: Span::from_secs(1) };
    let requested = |rate| {
        let mut setup = busy("reno", Some(pages), 3);
        setup.links[0].rate = Some(rate);
        setup.flow_arrivals[0].gap = Interarrival::Constant(Span::from_secs(1));
        setup.duration = Span::from_secs(29);
        last(&run(&setup).flow_arrivals[0].requested)
    };
    let (fast, slow) = (requested(1000 * MBIT), requested(MBIT));
    // A session asks for 15 objects of 30.5 packets, if it has the time.
    assert!((5_000..25_000).contains(&fast), "{fast}");
    assert!(slow < fast / 2, "{slow} of {fast}");

    let mut setup = busy("reno", Some(pages), 3);
    setup.flow_arrivals[0].gap = Interarrival::Constant(MS * 500);
    let trace = run(&setup);
    let group = &trace.flow_arrivals[0];
    assert_eq!(last(&group.completed), last(&group.arrived), "all read to the end");
    // 60 sessions of 15 objects; both numbers are geometric, and scatter.
    assert!((500..1500).contains(&last(&group.arrived)), "{}", last(&group.arrived));
}

#[test]
fn a_group_that_asks_for_too_much_is_refused() {
    let mut setup = busy("reno", None, 3);
    setup.links[0].rate = Some(MBIT);
    setup.flow_arrivals[0].limit = const { NonZeroU32::new(4).expect("above zero") };
    let trace = run(&setup);
    let group = &trace.flow_arrivals[0];
    for at in 0..trace.at.len() {
        assert!(group.arrived[at] - group.refused[at] - group.completed[at] <= 4);
    }
    assert!(last(&group.refused) > last(&group.completed), "most");
    assert_eq!(last(&group.completed) + last(&group.refused), last(&group.arrived));
}

#[test]
fn traffic_that_contradicts_itself_is_refused() {
    let refused = |change: &dyn Fn(&mut Setup)| {
        let mut setup = clear(Span::from_secs(1));
        setup.cbr = vec![cbr(&setup, RateSchedule::constant(MBIT))];
        setup.flow_arrivals = vec![group(&setup, MS, Sizes::Constant(1))];
        change(&mut setup);
        cwnd_sim::run(&setup, &mut |_| true).expect_err("must be refused").to_string()
    };
    let pause = Pause { from: at(MS * 10), to: at(MS * 10) };
    assert_eq!(
        refused(&|setup| setup.flows[0].pauses = vec![pause]),
        "flow `1`: its pauses must follow each other between its start and its stop"
    );
    assert_eq!(
        refused(&|setup| setup.flows[0].source = Source::Packets(0)),
        "flow `1`: it must send at least 1 packet"
    );
    let walk = RateSchedule::stepping(MBIT, MS, RateChange::MultiplicativeWalk(1.5));
    assert_eq!(
        refused(&|setup| setup.cbr[0].rate = walk),
        "cbr `cross`: `rate` must be a multiplicative walk with a floor above 0, without which it decays to 0"
    );
    assert_eq!(
        refused(&|setup| setup.cbr[0].to = cwnd_sim::NodeId(0)),
        "cbr `cross`: its ends must be different nodes"
    );
    assert_eq!(
        refused(&|setup| setup.flow_arrivals[0].sizes = Sizes::Pareto { mean: 10.0, shape: 1.0 }),
        "arrivals `1`: the shape of the sizes must be above 1: no mean else"
    );
    assert_eq!(
        refused(&|setup| setup.flow_arrivals[0].flow.source = Source::Packets(3)),
        "arrivals `1`: its flows have neither a source nor pauses of their own"
    );
    assert_eq!(
        refused(&|setup| setup.flow_arrivals[0].gap = Interarrival::Constant(Span::ZERO)),
        "arrivals `1`: `gap` must be at least 1us"
    );
}
