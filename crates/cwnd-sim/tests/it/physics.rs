//! What theory says of simple networks, and what a run must never do.

use std::num::NonZeroU32;

use cwnd::{Bytes, Span, Spec, Time};
use cwnd_sim::{
    AckEcho, CakeSetup, CbrSetup, Class, CoDelSetup, Discipline, DrrSetup, DualPi2Setup, Dumbbell, Era,
    FlowArrivalsSetup, FlowSetup, FqCoDelSetup, GilbertElliott, Impairments, Interarrival, Loss, MarkedAtOne, Pages,
    ParkingLot, Pause, PieSetup, QueueLimit, RateChange, RateSchedule, Reassembly, RecoveryScheme, RedSetup, RioSetup,
    Sampling, Schedule, Setup, SetupError, Sizes, Source, Trace, Variation, Video,
};
use proptest::prelude::*;

const MBIT: u64 = 1_000_000;

fn spec(text: &str) -> Spec {
    Spec::parse(text).expect("a registered algorithm")
}

fn run(setup: &Setup) -> Trace {
    cwnd_sim::run(setup, &mut |_| true).expect("a valid setup")
}

fn last(curve: &[u64]) -> u64 {
    *curve.last().expect("sampled at the end")
}

/// Packets delivered after the warm-up.
fn measured(trace: &Trace, flow: usize) -> u64 {
    let from = trace.at.binary_search(&trace.warmup).expect("sampled there");
    last(&trace.flows[flow].delivered) - trace.flows[flow].delivered[from]
}

fn quiet() -> Variation {
    Variation { start: Some(Span::ZERO), rtt: 0.0, jitter: 0.0 }
}

#[test]
fn a_queue_of_one_bandwidth_delay_product_keeps_reno_at_full_rate() {
    // 10 Mbit/s x 60 ms = 50 packets; halving 100 leaves 50, which just fills the path.
    let bell = Dumbbell::new(10 * MBIT, Span::from_millis(60), QueueLimit::Packets(50));
    let trace = run(&bell.setup(&[spec("reno")], Era::MODERN, Span::from_secs(60), Span::from_secs(20), 1));
    let share = measured(&trace, 0) as f64 * 12_000.0 / (40.0 * 10e6);
    assert!(share > 0.995, "{share}");
}

#[test]
fn without_a_queue_reno_gets_three_quarters() {
    // The window swings between half and all of the path: 3/4 on average.
    let bell = Dumbbell {
        reverse_queue: QueueLimit::Unlimited,
        ..Dumbbell::new(50 * MBIT, Span::from_millis(48), QueueLimit::Packets(1))
    };
    let mut setup = bell.setup(&[spec("reno")], Era::MODERN, Span::from_secs(120), Span::from_secs(20), 1);
    setup.flows[0].paced = true;
    let trace = run(&setup);
    let share = measured(&trace, 0) as f64 * 12_000.0 / (100.0 * 50e6);
    assert!((0.70..0.80).contains(&share), "{share}");
}

#[test]
fn one_packet_takes_its_propagation_and_transmission_time() {
    let bell = Dumbbell::new(12 * MBIT, Span::from_millis(40), QueueLimit::Packets(10));
    let mut setup = bell.setup(&[spec("reno")], Era::MODERN, Span::from_millis(100), Span::ZERO, 1);
    setup.variation = quiet();
    setup.flows[0].max_window = Some(1.0);
    setup.sampling = Some(Sampling { interval: Span::from_millis(10), internals: false });
    let trace = run(&setup);
    // 40 ms, 1 ms for 1500 bytes at 12 Mbit/s, and 40 bytes back: 26,667 ns.
    assert_eq!(last(&trace.flows[0].delivered), 2);
    assert!((trace.flows[0].srtt.last().expect("sampled") - 0.041_026_667).abs() < 1e-9);
    assert_eq!(trace.flows[0].base_rtt, 40_000_000);
}

#[test]
fn reno_under_random_loss_follows_the_square_root() {
    // sqrt(3/2 / p) for periodic loss; 41.4 packets under Bernoulli loss p = 1e-3 without timeouts or recovery delay.
    let bell = Dumbbell {
        loss: Loss::Bernoulli(1e-3),
        ..Dumbbell::new(10_000 * MBIT, Span::from_millis(100), QueueLimit::Unlimited)
    };
    let trace = run(&bell.setup(&vec![spec("reno"); 8], Era::MODERN, Span::from_secs(400), Span::from_secs(20), 3));
    let delivered: u64 = (0..8).map(|flow| measured(&trace, flow)).sum();
    let window = delivered as f64 / 8.0 / (380.0 / 0.1);
    assert!((36.0..44.0).contains(&window), "{window}");
}

#[test]
fn seeds_give_different_runs_and_equal_seeds_equal_ones() {
    let bell = Dumbbell::new(20 * MBIT, Span::from_millis(40), QueueLimit::Packets(60));
    let setup =
        |seed| bell.setup(&[spec("reno"), spec("cubic")], Era::MODERN, Span::from_secs(10), Span::from_secs(1), seed);
    let (first, again, other) = (run(&setup(1)), run(&setup(1)), run(&setup(2)));
    assert_eq!((first.digest, &first.links), (again.digest, &again.links));
    assert_ne!(first.digest, other.digest);
    assert_ne!(first.flows[0].delivered, other.flows[0].delivered, "without any random loss");
}

#[test]
fn adding_a_flow_leaves_the_draws_of_others_alone() {
    let bell = Dumbbell::new(100 * MBIT, Span::from_millis(40), QueueLimit::Unlimited);
    let base_rtt = |n| {
        let setup = bell.setup(&vec![spec("reno"); n], Era::MODERN, Span::from_millis(10), Span::ZERO, 9);
        run(&setup).flows[0].base_rtt
    };
    assert_eq!(base_rtt(1), base_rtt(2));
}

#[test]
fn a_stopped_source_sends_nothing_and_counts_as_source_limited() {
    let bell = Dumbbell::new(10 * MBIT, Span::from_millis(20), QueueLimit::Packets(20));
    let mut setup = bell.setup(&[spec("reno")], Era::MODERN, Span::from_secs(4), Span::ZERO, 1);
    setup.flows[0].stop = Some(Time::ZERO + Span::from_secs(2));
    let trace = run(&setup);
    let flow = &trace.flows[0];
    assert_eq!(
        last(&flow.sent) - last(&flow.retransmitted),
        last(&flow.delivered),
        "all that was sent arrives in the end"
    );
    assert!((1.9..2.1).contains(&(last(&flow.source_limited) as f64 / 1e9)), "{:?}", flow.source_limited);
}

#[test]
fn a_receivers_window_holds_the_sender_and_is_counted() {
    let bell = Dumbbell::new(100 * MBIT, Span::from_millis(100), QueueLimit::Unlimited);
    let mut setup = bell.setup(&[spec("reno")], Era::MODERN, Span::from_secs(10), Span::from_secs(1), 1);
    setup.flows[0].max_window = Some(10.0);
    let trace = run(&setup);
    let per_second = measured(&trace, 0) as f64 / 9.0;
    assert!((95.0..105.0).contains(&per_second), "{per_second}");
    assert!(last(&trace.flows[0].peer_limited) > 8_000_000_000);
    assert!(*trace.flows[0].window.last().expect("sampled") < 30.0, "a window that is not used does not grow");
}

#[test]
fn parking_lot_routes_cross_the_hops_between_their_ends() {
    let lot = ParkingLot { hops: 3, rate: 10 * MBIT, rtt: Span::from_millis(60), queue: QueueLimit::Packets(50) };
    let bell = Dumbbell::new(10 * MBIT, Span::from_millis(60), QueueLimit::Packets(50));
    let mut setup = bell.setup(&vec![spec("reno"); 4], Era::MODERN, Span::from_secs(30), Span::from_secs(5), 1);
    setup.nodes = lot.nodes();
    setup.links = lot.links();
    for (flow, (from, to)) in setup.flows.iter_mut().zip([(0, 3), (0, 1), (1, 2), (2, 3)]) {
        (flow.from, flow.to) = (cwnd_sim::NodeId(from), cwnd_sim::NodeId(to));
    }
    let trace = run(&setup);
    for hop in 0..3 {
        let load = last(&trace.links[2 * hop].carried_bytes) as f64 * 8.0 / (30.0 * 10e6);
        assert!(load > 0.95, "hop {hop}: {load}");
    }
    let long = measured(&trace, 0);
    assert!((1..4).all(|short| measured(&trace, short) > long), "the long flow loses on every hop");
}

#[test]
fn marks_hold_the_queue_under_every_recovery() {
    for scheme in RecoveryScheme::ALL {
        let bell = Dumbbell::new(20 * MBIT, Span::from_millis(60), QueueLimit::Packets(200));
        let mut setup = bell.setup(&vec![spec("reno"); 4], Era::MODERN, Span::from_secs(30), Span::from_secs(10), 1);
        setup.links[0].discipline =
            Discipline::Red(RedSetup { min: 20.0, max: 60.0, mark: true, ..RedSetup::default() });
        for flow in &mut setup.flows {
            (flow.recovery, flow.ecn) = (scheme, Some(AckEcho::Latch));
        }
        let trace = run(&setup);
        let load = (0..4).map(|flow| measured(&trace, flow)).sum::<u64>() as f64 * 12_000.0 / (20.0 * 20e6);
        assert!(load > 0.95, "{}: {load}", scheme.name());
        // After the slow start nothing is lost, so no scheme has anything to do.
        let late = |curve: &[u64]| last(curve) - curve[1];
        assert_eq!(trace.flows.iter().map(|flow| late(&flow.retransmitted)).sum::<u64>(), 0, "{}", scheme.name());
    }
}

#[test]
fn red_with_ecn_marks_instead_of_dropping() {
    let mut setup = Dumbbell::new(20 * MBIT, Span::from_millis(60), QueueLimit::Packets(200)).setup(
        &[spec("reno"), spec("reno"), spec("cubic")],
        Era::MODERN,
        Span::from_secs(60),
        Span::from_secs(10),
        1,
    );
    let red = RedSetup { min: 20.0, max: 60.0, ..RedSetup::default() };
    setup.links[0].discipline = Discipline::Red(red);
    let dropping = run(&setup);
    setup.links[0].discipline = Discipline::Red(RedSetup { mark: true, ..red });
    setup.flows.iter_mut().for_each(|flow| flow.ecn = Some(AckEcho::Latch));
    let marking = run(&setup);

    let after_warmup = |curve: &[u64]| last(curve) - curve[1];
    assert!(after_warmup(&dropping.links[0].dropped) > 20, "drops without marks");
    assert_eq!(after_warmup(&dropping.links[0].marked), 0);
    assert!(after_warmup(&marking.links[0].marked) > 20, "marks");
    assert_eq!(after_warmup(&marking.links[0].dropped), 0, "and no drops");
    for trace in [&dropping, &marking] {
        let load = after_warmup(&trace.links[0].carried_bytes) as f64 * 8.0 / (50.0 * 20e6);
        let wait = trace.links[0].wait.mean().expect("packets waited") / 1e6;
        assert!(load > 0.95, "{load}");
        // 20 packets are 12 ms, 60 are 36 ms.
        assert!((8.0..40.0).contains(&wait), "{wait} ms");
    }
}

#[test]
fn where_one_packet_each_is_too_much_marked_senders_wait() {
    // 2 Mbit/s x 48 ms = 8 packets for 40 flows: with one packet each, 32 wait in the queue, 192 ms.
    let wait = |marked_at_one, echo| {
        let bell = Dumbbell::new(2 * MBIT, Span::from_millis(48), QueueLimit::Packets(200));
        let era = Era { marked_at_one, ..Era::NS2_2006 };
        let mut setup = bell.setup(&vec![spec("reno"); 40], era, Span::from_secs(60), Span::from_secs(20), 1);
        let red = RedSetup { mark: true, min: 4.0, max: 4.0, weight: 1.0, ..RedSetup::default() };
        setup.links[0].discipline = Discipline::Red(red);
        setup.flows.iter_mut().for_each(|flow| flow.ecn = Some(echo));
        let trace = run(&setup);
        let load = (0..40).map(|flow| measured(&trace, flow)).sum::<u64>() as f64 * 12_000.0 / (40.0 * 2e6);
        (trace.links[0].wait.mean().expect("packets waited") / 1e6, load)
    };
    let (goes_on, full) = wait(MarkedAtOne::None, AckEcho::Latch);
    assert!(goes_on > 150.0 && full > 0.99, "{goes_on} ms, {full}");
    let (waits, load) = wait(MarkedAtOne::Timer, AckEcho::Latch);
    assert!(waits < goes_on / 2.0 && load > 0.9, "{waits} ms, {load}");
    let (backs_off, load) = wait(MarkedAtOne::Backoff, AckEcho::Latch);
    assert!(backs_off < waits && load > 0.8, "{backs_off} ms, {load}");
    // With an echo per packet a sender knows how many were marked, and does not wait.
    for marked_at_one in [MarkedAtOne::Timer, MarkedAtOne::Backoff] {
        assert_eq!(wait(marked_at_one, AckEcho::PerPacket), wait(MarkedAtOne::None, AckEcho::PerPacket));
    }
}

#[test]
fn udt_fills_a_long_fat_path_in_every_profile() {
    for (profile, least) in [("paper", 0.7), ("ns2-1.1", 0.7), ("ns2-2.0", 0.7), ("ns2-2.2", 0.8), ("udt4", 0.85)] {
        let bell = Dumbbell::new(200 * MBIT, Span::from_millis(100), QueueLimit::Packets(1667));
        let spec = spec(&format!("udt:profile={profile}"));
        let mut setup = bell.setup(&[spec.clone(), spec], Era::MODERN, Span::from_secs(60), Span::from_secs(20), 1);
        setup.sampling = Some(Sampling { interval: Span::from_millis(500), internals: true });
        let trace = run(&setup);
        let load = (measured(&trace, 0) + measured(&trace, 1)) as f64 * 12_000.0 / (40.0 * 200e6);
        assert!(load > least, "{profile}: {load}");
        let pairs = trace.flows[0].internals.iter().find(|(name, _)| *name == "pair_rate");
        assert!(pairs.is_some_and(|(_, rates)| rates.last().is_some_and(|rate| *rate > 0.0)), "{profile}: no estimate");
    }
}

#[test]
fn udt_leaves_a_small_window_where_round_trips_are_whole_intervals() {
    // Acknowledgements leave every 10 ms and are back as the next ones leave: what a window sends in a round trip of 20 ms is
    // acknowledged after 30 ms, the 20 + SYN that eq. 21 reckons with, and eq. 21 alone keeps every window. The packet that may
    // leave when as many as the window are unacknowledged (daimd section III) adds 1 - lambda = 1/8 per SYN, 12.5 per second:
    // from 30 to the 167 packets of 100 Mbit/s in 11 s.
    let bell = Dumbbell::new(100 * MBIT, Span::from_millis(20), QueueLimit::Packets(100));
    let spec = spec("udt:profile=paper,capacity=100mbit,start=none,initial_rate=90mbit,initial_window=30");
    let mut setup = bell.setup(&[spec], Era::MODERN, Span::from_secs(30), Span::from_secs(20), 1);
    setup.variation = quiet();
    let load = measured(&run(&setup), 0) as f64 * 12_000.0 / (10.0 * 100e6);
    assert!(load > 0.9, "{load}");
}

#[test]
fn a_capacity_measured_by_packet_pairs_is_that_of_the_bottleneck() {
    let bell = Dumbbell::new(50 * MBIT, Span::from_millis(20), QueueLimit::Packets(100));
    let mut setup = bell.setup(&[spec("udt")], Era::MODERN, Span::from_secs(20), Span::from_secs(5), 1);
    setup.sampling = Some(Sampling { interval: Span::from_millis(500), internals: true });
    let trace = run(&setup);
    let (_, pairs) =
        trace.flows[0].internals.iter().find(|(name, _)| *name == "pair_rate").expect("an internal of udt");
    let capacity = pairs.last().expect("sampled") * 12_000.0;
    assert!((45e6..55e6).contains(&capacity), "{capacity}");
}

#[test]
fn a_setup_that_contradicts_itself_is_refused() {
    let bell = Dumbbell::new(10 * MBIT, Span::from_millis(20), QueueLimit::Packets(20));
    let setup = || bell.setup(&[spec("reno")], Era::MODERN, Span::from_secs(4), Span::ZERO, 1);
    let refused = |change: &dyn Fn(&mut Setup)| {
        let mut setup = setup();
        change(&mut setup);
        cwnd_sim::run(&setup, &mut |_| true).expect_err("must be refused").to_string()
    };
    assert_eq!(refused(&|setup| setup.warmup = setup.duration), "setup: `warmup` must be less than the duration, 4 s");
    assert_eq!(refused(&|setup| setup.flows.clear()), "flows: there must be at least one");
    assert_eq!(refused(&|setup| setup.links.truncate(1)), "flow `1`: no route from `right` to `left`");
    assert_eq!(
        refused(&|setup| setup.links[0].rate = Some(0)),
        "link `bottleneck`: the rate must be at least 1 bit/s and at most 1 Pbit/s"
    );
    assert!(
        refused(&|setup| setup.flows[0].access_rtt = Span::ZERO)
            .contains("lie on its access lines: `variation.rtt` takes up to")
    );
    assert!(refused(&|setup| setup.flows[0].to = cwnd_sim::NodeId(7)).contains("its ends must be nodes"));
    assert_eq!(
        cwnd_sim::run(
            &{
                let mut long = setup();
                long.duration = Span::from_secs(1000);
                long
            },
            &mut |_| false
        ),
        Err(SetupError::Interrupted)
    );
}

fn pause_of(millis: std::ops::Range<u64>) -> Pause {
    let at = |millis| Time::ZERO + Span::from_millis(millis);
    Pause { from: at(millis.start), to: at(millis.end) }
}

fn schedules() -> impl Strategy<Value = RateSchedule> {
    let change = prop_oneof![
        Just(RateChange::Constant),
        (0..50 * MBIT).prop_map(RateChange::Square),
        (0..50 * MBIT).prop_map(RateChange::Walk),
        Just(RateChange::Uniform),
        (0..50 * MBIT).prop_map(RateChange::AdditiveWalk),
        (0.5..3.0_f64).prop_map(RateChange::MultiplicativeWalk),
        (1_u64..20_000, 1_u64..9, 1_u32..9, 1.0..200.0_f64).prop_map(|(frame, key, every, per_second)| {
            RateChange::Frames(Video { frame, key: frame * key, every, per_second })
        }),
    ];
    (0..20 * MBIT, 1_u64..500, change).prop_map(|(initial, step, change)| RateSchedule {
        floor: 1000,
        ceiling: 60 * MBIT,
        ..RateSchedule::stepping(initial, Span::from_millis(step), change)
    })
}

fn sources() -> impl Strategy<Value = Source> {
    prop_oneof![Just(Source::Bulk), (1_u64..1000).prop_map(Source::Packets), schedules().prop_map(Source::Rate)]
}

fn flow_arrivals() -> impl Strategy<Value = (&'static str, Option<Pages>, u64, u32)> {
    let pages = (1.0..5.0_f64, 1.0..5.0_f64, 0_u64..500).prop_map(|(pages, objects, think)| Pages {
        pages,
        objects,
        think: Span::from_millis(think),
    });
    (prop_oneof![Just("reno"), Just("udt")], proptest::option::of(pages), 1_u64..100, 1_u32..200)
}

fn losses() -> impl Strategy<Value = Loss> {
    let bursts = (0.0..0.1_f64, 0.05..1.0_f64, 0.0..0.05_f64, 0.0..=1.0_f64);
    prop_oneof![
        Just(Loss::None),
        (0.0..0.3_f64).prop_map(Loss::Bernoulli),
        (1_u64..50).prop_map(Loss::Periodic),
        bursts.prop_map(|(to_bad, to_good, loss_good, loss_bad)| {
            Loss::GilbertElliott(GilbertElliott { to_bad, to_good, loss_good, loss_bad })
        }),
    ]
}

fn disciplines() -> impl Strategy<Value = Discipline> {
    let weight = prop_oneof![Just(0.002), Just(0.5)];
    let red = (0.0..20.0_f64, 1.0..40.0_f64, weight, any::<[bool; 4]>()).prop_map(
        |(min, width, weight, [gentle, wait, byte_mode, mark])| RedSetup {
            min,
            max: min + width,
            weight,
            gentle,
            wait,
            byte_mode,
            mark,
            ..RedSetup::default()
        },
    );
    // Down to targets that every queue misses, so that there are many drops.
    let threshold = || proptest::option::of((0_u64..5000).prop_map(Span::from_micros));
    let codel = (1_u64..5000, 1_u64..100_000, [threshold(), threshold()], any::<bool>()).prop_map(
        |(target, more, [ce_threshold, l4s_threshold], mark)| CoDelSetup {
            target: Span::from_micros(target),
            interval: Span::from_micros(target + more),
            mark,
            ce_threshold,
            l4s_threshold,
            ..CoDelSetup::default()
        },
    );
    let dual = (1_u64..20, 1_u64..20, 0_u64..2000, any::<[bool; 2]>()).prop_map(
        |(target, update, threshold, [overload, linux])| DualPi2Setup {
            target: Span::from_millis(target),
            update: Span::from_millis(update),
            threshold: Span::from_micros(threshold),
            overload,
            ..if linux { DualPi2Setup::LINUX } else { DualPi2Setup::RFC }
        },
    );
    let fq = (codel.clone(), 1_u32..8, 100_u32..3000, 3000_u64..200_000)
        .prop_map(|(codel, queues, quantum, memory)| FqCoDelSetup { codel, queues, quantum: Bytes(quantum), memory });
    let isolation = proptest::sample::select(cwnd_sim::Isolation::ALL.to_vec());
    let cake = (1_u64..5000, 1_u64..100_000, any::<[bool; 2]>(), isolation).prop_map(
        |(target, more, [mark, ack_filter], isolation)| CakeSetup {
            target: Span::from_micros(target),
            interval: Span::from_micros(target + more),
            mark,
            ack_filter,
            isolation,
            ..CakeSetup::default()
        },
    );
    let pie = (1_u64..20, 1_u64..20, 0_u64..150, any::<[bool; 2]>()).prop_map(
        |(target, update, burst, [mark, derandomize])| PieSetup {
            target: Span::from_millis(target),
            update: Span::from_millis(update),
            burst: Span::from_millis(burst),
            mark,
            derandomize,
            ..PieSetup::default()
        },
    );
    prop_oneof![
        Just(Discipline::DropTail),
        codel.prop_map(Discipline::CoDel),
        fq.prop_map(Discipline::FqCoDel),
        cake.prop_map(Discipline::Cake),
        pie.prop_map(Discipline::Pie),
        dual.prop_map(Discipline::DualPi2),
        red.clone().prop_map(Discipline::Red),
        (red.clone(), red).prop_map(|(inside, outside)| Discipline::Rio(RioSetup { inside, outside })),
        (100_u32..3000).prop_map(|quantum| Discipline::Drr(DrrSetup { quantum: Bytes(quantum) })),
    ]
}

/// Steps after the gaps given, and a period that begins so long after the last one.
fn steps<T>(steps: Vec<(u64, T)>, repeat: Option<u64>) -> Schedule<T> {
    let mut at = Span::ZERO;
    let steps = steps.into_iter().map(|(gap, value)| {
        at = at + Span::from_millis(gap);
        (at, value)
    });
    let steps: Vec<_> = steps.collect();
    Schedule { steps, repeat: repeat.map(|gap| at + Span::from_millis(gap)) }
}

/// Rates that may be zero for a while, and delays.
fn changes() -> impl Strategy<Value = (Schedule<u64>, Schedule<Span>)> {
    let rate = prop_oneof![1 => Just(0), 4 => (MBIT / 10)..200 * MBIT];
    let delay = (0_u64..100).prop_map(Span::from_millis);
    let repeat = || proptest::option::of(1_u64..500);
    let rates = (proptest::collection::vec((1_u64..800, rate), 0..5), repeat()).prop_map(|(mut list, repeat)| {
        if let Some((_, last)) = list.last_mut() {
            *last = (*last).max(MBIT);
        }
        steps(list, repeat)
    });
    let delays = (proptest::collection::vec((1_u64..800, delay), 0..5), repeat());
    (rates, delays.prop_map(|(list, repeat)| steps(list, repeat)))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// Every run ends with an audit of all packets, which panics if one appeared or vanished.
    #[test]
    fn packets_are_conserved(
        seed in any::<u64>(),
        rate in 1_u64..200,
        rtt in 1_u64..200,
        queue in prop_oneof![(0_u32..100).prop_map(QueueLimit::Packets), (0_u64..100_000).prop_map(QueueLimit::Bytes)],
        path in (losses(), disciplines(), changes()),
        era in 0_usize..Era::ALL.len(),
        algorithms in proptest::collection::vec(prop_oneof![Just("reno"), Just("simd"), Just("exp-tcp"), Just("cubic"), Just("udt")], 1..5),
        options in (any::<bool>(), any::<bool>(), prop_oneof![Just(None), (1.0..50.0_f64).prop_map(Some)]),
        source in sources(),
        pause in proptest::option::of((1_u64..1500, 1_u64..1000)),
        cross in proptest::option::of((schedules(), flow_arrivals())),
    ) {
        let bell = Dumbbell::new(rate * MBIT, Span::from_millis(rtt), queue);
        let specs: Vec<_> = algorithms.into_iter().map(spec).collect();
        let mut setup = bell.setup(&specs, Era::ALL[era], Span::from_secs(3), Span::from_secs(1), seed);
        let (loss, discipline, (rate_steps, delay_steps)) = path;
        for link in &mut setup.links {
            (link.discipline, link.rate_steps, link.delay_steps) = (discipline, rate_steps.clone(), delay_steps.clone());
            let duplication = if seed % 5 == 0 { 0.2 } else { 0.0 };
            link.impairments = Impairments { duplication, ..Impairments::default() };
        }
        setup.links[0].loss = loss;
        for (index, flow) in setup.flows.iter_mut().enumerate() {
            let (delayed, paced, max_window) = options;
            flow.class = if index == 0 { Class::In } else { Class::Out };
            let host = |salt: u64| (seed % salt != index as u64).then_some((seed % salt) as u32);
            flow.hosts = cwnd_sim::HostPair { source: host(4), destination: host(5) };
            let echo = if seed % 2 == 0 { AckEcho::Latch } else { AckEcho::PerPacket };
            flow.ecn = (index == 1 && flow.algorithm.entry().answers_marks()).then_some(echo);
            flow.delayed_ack = delayed.then(|| Span::from_millis(40));
            flow.ack_aggregation = (seed % 3 == index as u64).then(|| Span::from_millis(7));
            flow.wake = (seed % 7 == index as u64).then(|| Span::from_millis(1 + seed % 20));
            flow.timer = (seed % 9 == index as u64).then(|| Span::from_millis(10));
            flow.recovery = RecoveryScheme::ALL[(seed as usize % 4 + index) % 4];
            flow.reassembly = if seed % 8 == index as u64 { Reassembly::GoBackN } else { Reassembly::Selective };
            flow.paced = paced;
            flow.handshake = (seed % 3) as u32;
            flow.max_window = max_window;
            flow.source = source;
            // Later than any start.
            flow.pauses = pause.map(|(from, length)| from + 500..from + 500 + length).map(pause_of).into_iter().collect();
        }
        if let Some((schedule, (algorithm, pages, gap, limit))) = cross {
            let flow = FlowSetup { algorithm: spec(algorithm), source: Source::Bulk, pauses: vec![], ..setup.flows[0].clone() };
            setup.cbr.push(CbrSetup {
                name: "cross".to_string(),
                from: flow.from,
                to: flow.to,
                start: Time::ZERO,
                stop: Some(Time::ZERO + Span::from_millis(2500)),
                pauses: vec![pause_of(500..700)],
                access_delay: Span::from_millis(rtt),
                packet: Bytes(777),
                rate: schedule,
                class: Class::Out,
                hosts: cwnd_sim::HostPair::default(),
            });
            setup.flow_arrivals.push(FlowArrivalsSetup {
                flow,
                gap: Interarrival::Constant(Span::from_millis(gap)),
                sizes: Sizes::Pareto { mean: 10.0, shape: 1.2 },
                pages,
                rtt_spread: Span::from_millis(5),
                limit: NonZeroU32::new(limit).expect("drawn from 1"),
            });
        }
        let trace = run(&setup);
        prop_assert!(trace.at.windows(2).all(|pair| pair[0] < pair[1]));
        prop_assert_eq!(trace.at.last().copied(), Some(trace.end));
        prop_assert_eq!(trace.digest, run(&setup).digest);
        // Neither does it matter how often someone looks.
        setup.sampling = Some(Sampling { interval: Span::from_millis(seed % 50 + 1), internals: true });
        prop_assert_eq!(trace.digest, run(&setup).digest);
    }
}
