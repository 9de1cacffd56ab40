//! What goes ahead of its time arrives at its time: a run in one go, which does so, and one that is looked at between any two
//! events, which may not, end with the same trace.

use std::num::NonZeroU32;

use cwnd::registry::Transport;
use cwnd::{ALGORITHMS, Span, Spec, Time};
use cwnd_sim::{
    AckEcho, CbrSetup, Class, CoDelSetup, Discipline, Dumbbell, Era, Fault, FlowArrivalsSetup, FlowSetup, Interarrival,
    LinkId, LinuxHost, Loss, ParkingLot, QueueLimit, RateSchedule, RedSetup, Sampling, Schedule, Setup, Simulation,
    Sizes, Source, Tap,
};
use proptest::prelude::*;

/// What a dumbbell may have besides flows there and queues without loss.
#[derive(Clone, Copy, Debug)]
enum Twist {
    Nothing,
    LossThere,
    LossBack,
    Red,
    CoDelThere,
    CoDelBack,
    DelaySteps,
    Taps,
    Cbr,
    CbrBack,
    FlowArrivals,
    FiniteFlow,
    FlowBack,
    DelayedAcks,
    Aggregation,
    Wakes,
    Paced,
    Pauses,
    NoAccessDelay,
    PacketLog,
    SlowBack,
    Chain,
    LinuxSenders,
    LinuxReceivers,
    Handshakes,
    HandshakesLost,
}

const TWISTS: [Twist; 26] = [
    Twist::Nothing,
    Twist::LossThere,
    Twist::LossBack,
    Twist::Red,
    Twist::CoDelThere,
    Twist::CoDelBack,
    Twist::DelaySteps,
    Twist::Taps,
    Twist::Cbr,
    Twist::CbrBack,
    Twist::FlowArrivals,
    Twist::FiniteFlow,
    Twist::FlowBack,
    Twist::DelayedAcks,
    Twist::Aggregation,
    Twist::Wakes,
    Twist::Paced,
    Twist::Pauses,
    Twist::NoAccessDelay,
    Twist::PacketLog,
    Twist::SlowBack,
    Twist::Chain,
    Twist::LinuxSenders,
    Twist::LinuxReceivers,
    Twist::Handshakes,
    Twist::HandshakesLost,
];

fn cbr(from: cwnd_sim::NodeId, to: cwnd_sim::NodeId) -> CbrSetup {
    CbrSetup {
        name: "cbr".to_string(),
        from,
        to,
        start: Time::ZERO,
        stop: None,
        pauses: Vec::new(),
        access_delay: Span::from_millis(3),
        packet: cwnd::Bytes(500),
        rate: RateSchedule::constant(1_000_000),
        class: Class::Out,
        hosts: cwnd_sim::HostPair::default(),
    }
}

/// Changes the flows that have hosts of TCP.
fn over_tcp(setup: &mut Setup, change: impl Fn(&mut FlowSetup)) {
    let tcp = |flow: &&mut FlowSetup| flow.algorithm.entry().transport == Transport::Acked;
    setup.flows.iter_mut().filter(tcp).for_each(change);
}

impl Twist {
    fn apply(self, setup: &mut Setup) {
        let (left, right) = (Dumbbell::LEFT, Dumbbell::RIGHT);
        match self {
            Self::Nothing => {}
            Self::LossThere => setup.links[0].loss = Loss::Bernoulli(1e-3),
            Self::LossBack => setup.links[1].loss = Loss::Bernoulli(0.1),
            Self::Red => {
                setup.links[0].discipline = Discipline::Red(RedSetup { mark: true, ..RedSetup::default() });
                setup.flows[0].ecn = Some(AckEcho::Latch);
            }
            Self::CoDelThere => setup.links[0].discipline = Discipline::CoDel(CoDelSetup::default()),
            Self::CoDelBack => setup.links[1].discipline = Discipline::CoDel(CoDelSetup::default()),
            Self::DelaySteps => {
                let steps = vec![
                    (Span::from_millis(300), Span::from_millis(1)),
                    (Span::from_millis(700), Span::from_millis(20)),
                ];
                setup.links[1].delay_steps = Schedule { steps, repeat: None };
            }
            Self::Taps => {
                let data = |number| Fault::Data { flow: 0, number, transmission: 1 };
                setup.taps.push(Tap { link: LinkId(0), faults: vec![data(20), data(40), data(41)], record: true });
                setup.taps.push(Tap { link: LinkId(1), faults: vec![Fault::Ack { flow: 0, nth: 30 }], record: true });
            }
            Self::Cbr => setup.cbr.push(cbr(left, right)),
            Self::CbrBack => setup.cbr.push(cbr(right, left)),
            Self::FlowArrivals => setup.flow_arrivals.push(FlowArrivalsSetup {
                flow: setup.flows[0].clone(),
                gap: Interarrival::Constant(Span::from_millis(20)),
                sizes: Sizes::Constant(10),
                pages: None,
                rtt_spread: Span::ZERO,
                limit: const { NonZeroU32::new(1000).expect("above zero") },
            }),
            Self::Handshakes => setup.flows.iter_mut().zip([2, 0, 1]).for_each(|(flow, trips)| flow.handshake = trips),
            Self::HandshakesLost => {
                setup.links[1].loss = Loss::Bernoulli(0.5);
                setup.flows.iter_mut().for_each(|flow| flow.handshake = 2);
            }
            Self::FiniteFlow => setup.flows[0].source = Source::Packets(500),
            Self::FlowBack => (setup.flows[0].from, setup.flows[0].to) = (right, left),
            Self::DelayedAcks => setup.flows[0].delayed_ack = Some(Span::from_millis(100)),
            Self::Aggregation => setup.flows[0].ack_aggregation = Some(Span::from_millis(3)),
            Self::Wakes => {
                let flow = setup.flows.last_mut().expect("there is a flow");
                (flow.wake, flow.timer) = (Some(Span::from_millis(2)), Some(Span::from_millis(7)));
            }
            Self::Paced => setup.flows.iter_mut().for_each(|flow| flow.paced = !flow.host.fq),
            Self::Pauses => {
                let (from, to) = (Time::from_nanos(500_000_000), Time::from_nanos(800_000_000));
                setup.flows[0].pauses = vec![cwnd_sim::Pause { from, to }];
            }
            Self::NoAccessDelay => {
                setup.flows.iter_mut().for_each(|flow| flow.access_rtt = Span::ZERO);
                (setup.variation.rtt, setup.variation.jitter) = (0.0, 0.0);
            }
            Self::PacketLog => setup.packet_log = Some(1000),
            // Acknowledgements are lost in the queue.
            Self::SlowBack => (setup.links[1].rate, setup.links[1].queue) = (Some(300_000), QueueLimit::Packets(10)),
            Self::Chain => {
                let lot = ParkingLot {
                    hops: 2,
                    rate: 10_000_000,
                    rtt: Span::from_millis(20),
                    queue: QueueLimit::Packets(30),
                };
                (setup.nodes, setup.links) = (lot.nodes(), lot.links());
                setup.flows[0].to = cwnd_sim::NodeId(2);
            }
            Self::LinuxSenders => over_tcp(setup, |flow| {
                flow.host = LinuxHost { tso: true, fq: !flow.paced, ..flow.host };
            }),
            Self::LinuxReceivers => over_tcp(setup, |flow| {
                let (gro, autotune) = (Some(Span::from_millis(3)), Some(cwnd::Bytes(300_000)));
                flow.host = LinuxHost { gro, autotune, ..flow.host };
            }),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn the_trace_is_the_same(
        algorithms in proptest::collection::vec(0..ALGORITHMS.len(), 1..4),
        acked in any::<bool>(),
        era in 0..Era::ALL.len(),
        twists in proptest::collection::vec(0..TWISTS.len(), 0..3),
        interval in proptest::option::of(1_u64..200),
        seed in 0_u64..1000,
    ) {
        // Data goes ahead only where all receivers acknowledge what they get at once: half of all runs.
        let name = |index: &usize| if acked { ["reno", "cubic", "vegas"][index % 3] } else { ALGORITHMS[*index].name };
        let specs: Vec<Spec> = algorithms.iter().map(|index| Spec::parse(name(index)).expect("registered")).collect();
        let bell = Dumbbell::new(10_000_000, Span::from_millis(40), QueueLimit::Packets(30));
        let mut setup = bell.setup(&specs, Era::ALL[era], Span::from_secs(2), Span::from_millis(500), seed);
        setup.sampling = interval.map(|millis| Sampling { interval: Span::from_millis(millis), internals: true });
        for twist in &twists {
            TWISTS[*twist].apply(&mut setup);
        }
        let looked_at = Simulation::new(&setup).map(|mut simulation| {
            let mut events = 0_u32;
            assert!(simulation.advance(Time::MAX, |_| { events += 1; events < EVENTS }), "{EVENTS} events in two seconds");
            simulation.finish(&setup, &mut |_| true).expect("not interrupted")
        });
        let alone = cwnd_sim::run(&setup, &mut |_| true);
        let in_parts = Simulation::new(&setup).map(|simulation| {
            let mut simulation = simulation.unobserved();
            for millis in [1, 350, 500, 1200, 1999] {
                simulation.proceed(Time::from_nanos(millis * 1_000_000), &setup, &mut |_| true).expect("not interrupted");
                let whole = &alone.as_ref().expect("the same setup").at;
                let due = whole.partition_point(|at| *at <= millis * 1_000_000);
                assert_eq!(simulation.recorded().at[..], whole[..due], "samples until {millis} ms");
            }
            simulation.finish(&setup, &mut |_| true).expect("not interrupted")
        });
        prop_assert_eq!(format!("{alone:?}"), format!("{in_parts:?}"), "in parts");
        prop_assert_eq!(format!("{alone:?}"), format!("{looked_at:?}"), "{:?}", twists.iter().map(|at| TWISTS[*at]).collect::<Vec<_>>());
    }
}

/// Far more than two seconds at 10 Mbit/s need: a run that handles as many does not move on.
const EVENTS: u32 = 10_000_000;
