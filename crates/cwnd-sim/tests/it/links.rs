//! Links whose rate and delay change, queues that tell flows or classes apart, losses in bursts.

use cwnd::registry::Transport;
use cwnd::{ALGORITHMS, Bytes, Span, Spec, Time};
use cwnd_sim::{
    CakeSetup, CbrSetup, Class, CoDelSetup, DeliveryTrace, Discipline, DrrSetup, Dumbbell, Era, FqCoDelSetup,
    GilbertElliott, Impairments, Jitter, Loss, Noise, PieSetup, QueueLimit, RateSchedule, RecoveryScheme, RedSetup,
    ReorderBy, Reordering, RioSetup, Sampling, Schedule, Setup, TokenBucket, Trace, Variation,
};

const MBIT: u64 = 1_000_000;
const MS: Span = Span::from_millis(1);

fn run(setup: &Setup) -> Trace {
    cwnd_sim::run(setup, &mut |_| true).expect("a valid setup")
}

fn last(curve: &[u64]) -> u64 {
    *curve.last().expect("sampled at the end")
}

/// A dumbbell of 10 Mbit/s and 40 ms with a queue of 50 packets, and flows under `algorithms`.
fn bell(algorithms: &[&str], seconds: u64) -> Setup {
    let specs: Vec<_> = algorithms.iter().map(|name| Spec::parse(name).expect("registered")).collect();
    let bell = Dumbbell::new(10 * MBIT, MS * 40, QueueLimit::Packets(50));
    let mut setup = bell.setup(&specs, Era::MODERN, Span::from_secs(seconds), Span::ZERO, 1);
    setup.sampling = Some(Sampling { interval: MS * 100, internals: false });
    // What the bounds below were set for.
    for flow in &mut setup.flows {
        (flow.recovery, flow.delayed_ack) = (RecoveryScheme::Sack, None);
    }
    setup
}

/// Packets of 1250 bytes at a constant rate over the bottleneck of `setup`.
fn cbr(setup: &Setup, rate: u64, class: Class) -> CbrSetup {
    CbrSetup {
        name: format!("{class:?}"),
        from: setup.flows[0].from,
        to: setup.flows[0].to,
        start: Time::ZERO,
        stop: None,
        pauses: Vec::new(),
        access_delay: Span::ZERO,
        packet: Bytes(1250),
        rate: RateSchedule::constant(rate),
        class,
        hosts: cwnd_sim::HostPair::default(),
    }
}

fn schedule<T>(steps: Vec<(Span, T)>, repeat: Span) -> Schedule<T> {
    Schedule { steps, repeat: Some(repeat) }
}

#[test]
fn a_line_that_never_rests_carries_the_integral_of_its_rate() {
    let disciplines = [
        Discipline::DropTail,
        Discipline::Drr(DrrSetup::default()),
        Discipline::CoDel(CoDelSetup::default()),
        Discipline::FqCoDel(FqCoDelSetup::default()),
        Discipline::Cake(CakeSetup::default()),
        Discipline::Pie(PieSetup::default()),
    ];
    for discipline in disciplines {
        let mut setup = bell(&["reno"], 9);
        setup.variation = Variation { start: Some(Span::ZERO), rtt: 0.0, jitter: 0.0 };
        setup.cbr = vec![cbr(&setup, 50 * MBIT, Class::Out)];
        let link = &mut setup.links[0];
        (link.discipline, link.delay) = (discipline, Span::ZERO);
        // 10 Mbit/s for 1 s, 2 Mbit/s for 0.5 s, nothing for 0.5 s, and over again.
        let steps = vec![(MS * 1000, 2 * MBIT), (MS * 1500, 0)];
        link.rate_steps = schedule(steps, MS * 2000);
        let trace = run(&setup);
        let (carried_bytes, capacity_bytes) = (&trace.links[0].carried_bytes, &trace.links[0].capacity_bytes);
        for (index, at) in trace.at.iter().enumerate() {
            let (periods, phase) = (at / 2_000_000_000, (at % 2_000_000_000) as f64 / 1e9);
            let bits = periods as f64 * 11e6 + 10e6 * phase.min(1.0) + 2e6 * (phase - 1.0).clamp(0.0, 0.5);
            assert!((capacity_bytes[index] as f64 - bits / 8.0).abs() <= 1.0, "at {at}");
            let missing = bits / 8.0 - carried_bytes[index] as f64;
            assert!((0.0..=1500.0).contains(&missing), "at {at}: {missing} bytes");
        }
        assert!(last(&trace.links[0].dropped) > 1000, "the queue was never empty");
    }
}

#[test]
fn a_flow_survives_an_outage() {
    let mut setup = bell(&["reno"], 12);
    setup.links[0].rate_steps = Schedule { steps: vec![(MS * 4000, 0), (MS * 6000, 10 * MBIT)], repeat: None };
    let trace = run(&setup);
    let delivered = |at: u64| trace.flows[0].delivered[trace.at.binary_search(&(at * 1_000_000)).expect("sampled")];
    // 833 packets a second; packets in flight arrive, then none for 2 s.
    assert!(delivered(4000) > 3000, "{}", delivered(4000));
    assert_eq!(delivered(4100), delivered(6000));
    assert!(last(&trace.flows[0].timeouts) > 0, "the retransmission timer ran out meanwhile");
    assert!(last(&trace.flows[0].delivered) - delivered(8000) > 3000, "and it goes on");
}

#[test]
fn round_trip_times_follow_the_delay() {
    let mut setup = bell(&["reno"], 9);
    setup.variation = Variation { start: Some(Span::ZERO), rtt: 0.0, jitter: 0.0 };
    setup.flows[0].max_window = Some(1.0);
    setup.links[0].delay_steps = schedule(vec![(MS * 3000, MS * 30)], MS * 6000);
    let trace = run(&setup);
    let srtt = |at: u64| trace.flows[0].srtt[trace.at.binary_search(&(at * 1_000_000)).expect("sampled")];
    // 40 ms, and 1500 and 40 bytes at 10 Mbit/s: 1.2 ms and 32 us. The delay of 10 ms becomes 30, and 10 again.
    for (at, expected) in [(2900, 0.041_232), (5900, 0.061_232), (8900, 0.041_232)] {
        // Nearly 50 samples, each of which takes an eighth of the old mean away.
        assert!((srtt(at) - expected).abs() < 5e-5, "{} s at {at} ms", srtt(at));
    }
}

#[test]
fn deficit_round_robin_protects_a_flow_from_one_that_does_not_care() {
    let share = |discipline| {
        let mut setup = bell(&["reno"], 40);
        setup.cbr = vec![cbr(&setup, 15 * MBIT, Class::Out)];
        setup.links[0].discipline = discipline;
        let trace = run(&setup);
        assert!(last(&trace.cbr[0].dropped) > 10_000, "15 Mbit/s do not fit");
        last(&trace.flows[0].delivered) as f64 * 12_000.0 / (40.0 * 10e6)
    };
    let (tail, fair) = (share(Discipline::DropTail), share(Discipline::Drr(DrrSetup::default())));
    assert!(tail < 0.02, "{tail}");
    assert!((0.47..0.51).contains(&fair), "{fair}");
}

#[test]
fn deficit_round_robin_shares_bytes_and_not_packets() {
    let mut setup = bell(&["reno", "reno"], 60);
    setup.flows[1].packet = Bytes(500);
    setup.flows[1].payload = Bytes(460);
    setup.links[0].queue = QueueLimit::Bytes(150_000);
    setup.links[0].discipline = Discipline::Drr(DrrSetup::default());
    let trace = run(&setup);
    let [large, small] = [(0, 1500), (1, 500)].map(|(flow, size)| last(&trace.flows[flow].delivered) * size);
    let ratio = large as f64 / small as f64;
    assert!((0.95..1.05).contains(&ratio), "{ratio}");
}

#[test]
fn rio_keeps_what_is_in_from_what_is_out() {
    let mut setup = bell(&["reno"], 20);
    // 4 Mbit/s in and 12 Mbit/s out for 10 Mbit/s: with one class both would lose three of eight.
    setup.cbr = vec![cbr(&setup, 4 * MBIT, Class::In), cbr(&setup, 12 * MBIT, Class::Out)];
    setup.links[0].discipline = Discipline::Rio(RioSetup::default());
    let trace = run(&setup);
    let [inside, outside] = [0, 1].map(|n| last(&trace.cbr[n].dropped) as f64 / last(&trace.cbr[n].sent) as f64);
    assert!(inside < 0.01, "{inside}");
    assert!((0.4..0.6).contains(&outside), "{outside}");

    setup.links[0].discipline = Discipline::Red(RedSetup { gentle: false, ..RedSetup::default() });
    let trace = run(&setup);
    let blind = last(&trace.cbr[0].dropped) as f64 / last(&trace.cbr[0].sent) as f64;
    assert!(blind > 0.3, "{blind}");
}

#[test]
fn bursts_cost_less_than_as_many_single_losses() {
    // One packet in a hundred, alone or ten at a time: a sender reacts once to either.
    let delivered = |loss| {
        let mut setup = bell(&["reno"], 60);
        setup.links[0].loss = loss;
        let trace = run(&setup);
        let lost = last(&trace.links[0].lost) as f64 / last(&trace.links[0].offered) as f64;
        assert!((0.006..0.015).contains(&lost), "{lost}");
        last(&trace.flows[0].delivered)
    };
    let single = delivered(Loss::Bernoulli(0.01));
    let channel = GilbertElliott { to_bad: 0.1 / 99.0, to_good: 0.1, loss_good: 0.0, loss_bad: 1.0 };
    let bursts = delivered(Loss::GilbertElliott(channel));
    assert!(bursts > single * 5 / 4, "{bursts} against {single}");
}

#[test]
fn links_that_contradict_themselves_are_refused() {
    let refused = |change: &dyn Fn(&mut cwnd_sim::LinkSetup)| {
        let mut setup = bell(&["reno"], 1);
        change(&mut setup.links[0]);
        let error = cwnd_sim::run(&setup, &mut |_| true).expect_err("must be refused").to_string();
        error.strip_prefix("link `bottleneck`: ").expect("it names the link").to_string()
    };
    let steps = |steps: &[(u64, u64)], repeat: Option<u64>| Schedule {
        steps: steps.iter().map(|(at, rate)| (MS * *at, *rate)).collect(),
        repeat: repeat.map(|at| MS * at),
    };
    let rates = |given: &[(u64, u64)], repeat| {
        let steps = steps(given, repeat);
        refused(&move |link| link.rate_steps = steps.clone())
    };
    assert_eq!(rates(&[(5, 1), (5, 2)], None), "the instants of a schedule must grow");
    assert_eq!(rates(&[(5, 1)], Some(5)), "a schedule must repeat after its last step");
    assert_eq!(rates(&[(5, u64::MAX)], None), "a later rate must be at least 0 and at most 1 Pbit/s");
    let endless = "`schedule` must be one whose last rate is above 0, or that repeats: an outage must end";
    assert_eq!(rates(&[(5, 1), (6, 0)], None), endless);
    assert_eq!(rates(&[(0, 0)], Some(7)), endless);
    let pure_delay = refused(&|link| (link.rate, link.rate_steps) = (None, steps(&[(5, 1)], None)));
    assert_eq!(pure_delay, "a link of pure delay has no rate that could change");
    let drr = refused(&|link| link.discipline = Discipline::Drr(DrrSetup { quantum: Bytes(0) }));
    assert_eq!(drr, "DRR's quantum has at least one byte");
    let target = Span::from_millis(100);
    let codel = refused(&|link| link.discipline = Discipline::CoDel(CoDelSetup { target, ..CoDelSetup::default() }));
    assert_eq!(codel, "CoDel's target is above zero and below its interval");
    let fq =
        refused(&|link| link.discipline = Discipline::FqCoDel(FqCoDelSetup { queues: 0, ..FqCoDelSetup::default() }));
    assert_eq!(fq, "FQ-CoDel has 1 to 65536 queues");
    let pie = refused(&|link| link.discipline = Discipline::Pie(PieSetup { alpha: f64::NAN, ..PieSetup::default() }));
    assert_eq!(pie, "PIE's alpha and beta are at least 0");
    let inverted = RedSetup { min: 20.0, max: 10.0, ..RedSetup::default() };
    let rio = refused(&|link| {
        link.discipline = Discipline::Rio(RioSetup { inside: inverted, ..RioSetup::default() });
    });
    assert_eq!(rio, "RED wants 0 <= min <= max");
    let channel = GilbertElliott { to_bad: 0.1, to_good: -0.1, loss_good: 0.0, loss_bad: 1.0 };
    assert_eq!(
        refused(&|link| link.loss = Loss::GilbertElliott(channel)),
        "a loss probability is at least 0 and at most 1"
    );
}

#[test]
fn a_link_reorders_behind_every_queue() {
    let disciplines = [
        Discipline::DropTail,
        Discipline::Drr(DrrSetup::default()),
        Discipline::CoDel(CoDelSetup::default()),
        Discipline::FqCoDel(FqCoDelSetup::default()),
        Discipline::Cake(CakeSetup::default()),
    ];
    for (discipline, by) in
        disciplines.into_iter().flat_map(|d| [(d, ReorderBy::Packets(10)), (d, ReorderBy::Time(MS * 20))])
    {
        let in_vain = |probability| {
            let mut setup = bell(&["reno"], 20);
            let reordering = Some(Reordering { probability, by });
            setup.links[0].discipline = discipline;
            setup.links[0].impairments = Impairments { reordering, ..Impairments::default() };
            setup.flows[0].recovery = RecoveryScheme::NewReno;
            let trace = run(&setup);
            last(&trace.flows[0].retransmitted) - last(&trace.flows[0].dropped)
        };
        // A packet that ten others overtake is sent again by a sender that waits for three; without reordering only lost packets are.
        assert!(in_vain(0.01) > in_vain(0.0) + 20, "{discipline:?}, {by:?}");
    }
}

/// Bytes per second that a flow of `algorithm` gets over the bottleneck of `setup`, and packets dropped there.
fn carried(setup: &Setup) -> (f64, u64) {
    let trace = run(setup);
    let seconds = setup.duration.as_secs_f64();
    (last(&trace.links[0].carried_bytes) as f64 / seconds, last(&trace.links[0].dropped))
}

#[test]
fn a_policer_drops_what_a_shaper_delays() {
    let bucket = TokenBucket { rate: 2 * MBIT, burst: Bytes(30_000) };
    let with = |impairments: Impairments| {
        let mut setup = bell(&["reno"], 30);
        setup.links[0].impairments = impairments;
        carried(&setup)
    };
    let (policed, dropped_by_policer) = with(Impairments { policer: Some(bucket), ..Impairments::default() });
    let (shaped, dropped_by_queue) = with(Impairments { shaper: Some(bucket), ..Impairments::default() });
    let most = 250_000.0 + 30_000.0 / 30.0;
    assert!(shaped > 0.95 * most && shaped <= most, "{shaped}");
    assert!(policed > 0.5 * most && policed < 0.97 * most, "{policed}: the bucket is smaller than a window");
    assert!(dropped_by_policer > 4 * dropped_by_queue, "{dropped_by_policer}, {dropped_by_queue}");
}

#[test]
fn a_link_carries_what_its_delivery_trace_allows() {
    // 8 opportunities in 10 ms: 9.6 Mbit/s, all within 3 ms.
    let trace = DeliveryTrace::parse("1\n1\n1\n1\n2\n2\n3\n10").expect("a trace");
    for discipline in [Discipline::DropTail, Discipline::CoDel(CoDelSetup::default())] {
        let mut setup = bell(&["reno"], 20);
        setup.cbr = vec![cbr(&setup, 20 * MBIT, Class::Out)];
        let link = &mut setup.links[0];
        (link.rate, link.discipline) = (Some(trace.mean_rate()), discipline);
        link.deliveries = Some(std::sync::Arc::new(trace.clone()));
        let trace = run(&setup);
        let (carried, capacity) = (last(&trace.links[0].carried_bytes), last(&trace.links[0].capacity_bytes));
        assert_eq!(capacity, 20 * 100 * 8 * 1504);
        // The delay of the link, and packets that wait at the end of an opportunity without room.
        assert!(carried > capacity * 99 / 100 && carried <= capacity, "{discipline:?}: {carried} of {capacity}");
    }
}

#[test]
fn acknowledgements_that_are_compressed_and_thinned_out_carry_a_flow_nevertheless() {
    let with = |impairments: Impairments| {
        let mut setup = bell(&["reno"], 30);
        setup.links[1].impairments = impairments;
        let trace = run(&setup);
        (last(&trace.links[0].carried), last(&trace.links[1].carried))
    };
    let (plain, acks) = with(Impairments::default());
    let bunched = Impairments { aggregation: Some(MS * 8), ..Impairments::default() };
    let (compressed, same_acks) = with(bunched.clone());
    let (thinned, fewer_acks) = with(Impairments { ack_thinning: Some(4), ..bunched });
    assert!(plain * 95 / 100 < compressed && plain * 95 / 100 < thinned, "{plain}, {compressed}, {thinned}");
    assert!(same_acks > acks * 9 / 10 && fewer_acks < acks / 2, "{acks}, {same_acks}, {fewer_acks}");
}

#[test]
fn impairments_that_contradict_themselves_are_refused() {
    let refused = |impairments: Impairments, deliveries: Option<DeliveryTrace>| {
        let mut setup = bell(&["reno"], 1);
        setup.links[0].impairments = impairments;
        setup.links[0].deliveries = deliveries.map(std::sync::Arc::new);
        cwnd_sim::run(&setup, &mut |_| true).expect_err("a contradiction").to_string()
    };
    let bucket = TokenBucket { rate: MBIT, burst: Bytes(3000) };
    let none = Impairments::default;
    let trace = DeliveryTrace::parse("1").ok();
    assert!(refused(Impairments { shaper: Some(bucket), ..none() }, trace).contains("none with rates that change"));
    assert!(refused(Impairments { ack_thinning: Some(2), ..none() }, None).contains("none without `aggregate`"));
    let empty = TokenBucket { burst: Bytes(0), ..bucket };
    assert!(refused(Impairments { policer: Some(empty), ..none() }, None).contains("at least one byte"));
    let reordering = Some(Reordering { probability: 0.1, by: ReorderBy::Packets(0) });
    assert!(refused(Impairments { reordering, ..none() }, None).contains("at least 1 packet"));
}

/// Acknowledgements and reports that overtake one another, arrive twice or not at all: no sender of any protocol counts more than it sent.
#[test]
fn no_sender_is_confused_by_what_comes_back() {
    let none = Impairments::default();
    let by = ReorderBy::Packets(2);
    let back = Impairments {
        reordering: Some(Reordering { probability: 0.1, by }),
        jitter: Some(Jitter { noise: Noise::Uniform(MS * 30), correlation: 0.0, overtaking: true }),
        duplication: 0.1,
        corruption: 0.05,
        ..none.clone()
    };
    let forth = Impairments { reordering: Some(Reordering { probability: 0.05, by }), duplication: 0.05, ..none };
    for entry in ALGORITHMS.iter().filter(|entry| entry.transport != Transport::Stack) {
        let bell = Dumbbell {
            loss: Loss::Bernoulli(0.01),
            ..Dumbbell::new(20_000_000, Span::from_millis(40), QueueLimit::Packets(60))
        };
        let spec = Spec::parse(entry.name).expect("registered");
        let mut setup = bell.setup(&[spec], Era::MODERN, Span::from_secs(5), Span::from_secs(1), 1);
        (setup.links[0].impairments, setup.links[1].impairments) = (forth.clone(), back.clone());
        let trace = cwnd_sim::run(&setup, &mut |_| true).expect("a valid setup");
        let flow = &trace.flows[0];
        let [sent, delivered, lost] = [&flow.sent, &flow.delivered, &flow.lost].map(|counts| counts[counts.len() - 1]);
        assert!(delivered > 20 && delivered <= sent && lost <= sent, "{}: {delivered}, {lost} of {sent}", entry.name);
    }
}
