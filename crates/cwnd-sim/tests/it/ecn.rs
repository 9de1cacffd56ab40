//! Which packets are ECN-capable, and what becomes of marks, over each kind of transport.

use cwnd::registry::Transport;
use cwnd::{ALGORITHMS, Span, Spec};
use cwnd_sim::{
    AckEcho, Discipline, Dumbbell, Era, FlowSetup, Impairments, Loss, Mangling, QueueLimit, RecoveryScheme, RedSetup,
    ReorderBy, Reordering, Setup, SetupError, Trace,
};
use cwnd_trace::{EcnField, Seen};

/// A flow over a path that loses packets before it marks every packet from twenty on.
fn setup(algorithm: &str, echo: AckEcho) -> Setup {
    let bell = Dumbbell {
        loss: Loss::Bernoulli(5e-3),
        ..Dumbbell::new(20_000_000, Span::from_millis(40), QueueLimit::Packets(200))
    };
    let spec = Spec::parse(algorithm).expect("registered");
    let mut setup = bell.setup(&[spec], Era::MODERN, Span::from_secs(10), Span::from_secs(1), 1);
    let step = RedSetup { min: 20.0, max: 20.0, weight: 1.0, mark: true, ..RedSetup::default() };
    setup.links[0].discipline = Discipline::Red(step);
    setup.flows[0].ecn = Some(echo);
    Setup { packet_log: Some(usize::MAX), ..setup }
}

fn run(setup: &Setup) -> Trace {
    cwnd_sim::run(setup, &mut |_| true).expect("a valid setup")
}

/// RFC 3168 section 6.1.5 for classic echoes; with echoes per packet all data is ECN-capable (Linux, `tcp_ecn_send`).
#[test]
fn what_is_sent_again_is_capable_where_marks_come_back_per_packet() {
    let acked = RecoveryScheme::ALL.map(|scheme| ("reno", scheme));
    let routed = ["xcp", "vcp", "decbit"].map(|name| (name, RecoveryScheme::Sack));
    let others = [("dctcp", RecoveryScheme::Rack), ("bbr3", RecoveryScheme::Rack)];
    for (name, scheme) in acked.into_iter().chain(routed).chain(others) {
        for echo in [AckEcho::Latch, AckEcho::PerPacket] {
            let mut setup = setup(name, echo);
            setup.flows[0].recovery = scheme;
            let trace = run(&setup);
            let mut seen = [0, 0];
            for packet in &trace.flows[0].log.packets {
                if let Seen::Data { again, ecn, .. } = packet.seen {
                    seen[usize::from(again)] += 1;
                    let capable = ecn == EcnField::Ect0;
                    assert_eq!(capable, !again || echo == AckEcho::PerPacket, "{name}, {scheme:?}, {echo:?}");
                }
            }
            assert!(seen.iter().all(|packets| *packets > 0), "{name}, {scheme:?}, {echo:?}: {seen:?}");
        }
    }
}

/// The field of every first transmission, as captures show it.
#[test]
fn packets_leave_with_the_code_point_of_their_echo() {
    let kinds = [
        (AckEcho::PerPacket, EcnField::Ect0),
        (AckEcho::Scalable, EcnField::Ect1),
        (AckEcho::AccEcn, EcnField::Ect0),
        (AckEcho::AccEcnScalable, EcnField::Ect1),
        (AckEcho::Counts, EcnField::Ect0),
        (AckEcho::CountsScalable, EcnField::Ect1),
    ];
    for (echo, expected) in kinds {
        let trace = run(&setup("dctcp", echo));
        let first = trace.flows[0].log.packets.iter().filter_map(|packet| match packet.seen {
            Seen::Data { again: false, ecn, .. } => Some(ecn),
            _ => None,
        });
        assert!(first.clone().count() > 1000 && first.clone().all(|ecn| ecn == expected), "{echo:?}");
    }
}

/// Held acknowledgements with counts in the place of a range reach the filter of the reverse path.
#[test]
fn a_filter_of_acknowledgements_reads_those_of_every_echo() {
    for echo in AckEcho::ALL {
        let mut setup = setup("cubic", echo);
        let cake = cwnd_sim::CakeSetup { ack_filter: true, ..cwnd_sim::CakeSetup::default() };
        for link in &mut setup.links {
            link.discipline = Discipline::Cake(cake);
        }
        setup.links[1].rate = Some(200_000);
        let filtered = run(&setup);
        assert!(filtered.flows[0].delivered.last().is_some_and(|packets| *packets > 1000), "{echo:?}");
    }
}

/// The queue treats them so: what a step would drop of a flow that takes part is marked, sent again or not.
#[test]
fn a_step_drops_nothing_of_flows_with_echoes_per_packet() {
    let dropped = |echo| {
        let mut setup = setup("dctcp", echo);
        // 16 flows of at least two packets keep the queue at the step: eight packets are on the way.
        let spec = Spec::parse("dctcp").expect("registered");
        let bell = Dumbbell {
            loss: Loss::Bernoulli(5e-3),
            ..Dumbbell::new(20_000_000, Span::from_millis(5), QueueLimit::Packets(200))
        };
        let flows = bell.setup(&vec![spec; 16], Era::MODERN, Span::from_secs(10), Span::from_secs(1), 1).flows;
        setup.flows = flows.into_iter().map(|flow| FlowSetup { ecn: Some(echo), ..flow }).collect();
        let trace = run(&setup);
        assert!(trace.links[0].marked.last() > Some(&0) && trace.flows[0].retransmitted.last() > Some(&0));
        trace.links[0].dropped.last().copied()
    };
    assert!(dropped(AckEcho::Latch) > Some(0));
    assert_eq!(dropped(AckEcho::PerPacket), Some(0));
}

/// A flow of DCTCP over a step, whose acknowledgements come back over a link with this loss and these impairments.
fn counted(echo: AckEcho, loss: Loss, impairments: Impairments) -> Trace {
    let mut setup = setup("dctcp", echo);
    setup.links[0].loss = Loss::None;
    (setup.links[1].loss, setup.links[1].impairments) = (loss, impairments);
    setup.flows[0].delayed_ack = None;
    run(&setup)
}

/// Where every acknowledgement arrives and covers one packet, a counter of three bits and one without end tell what echoes per packet tell.
#[test]
fn a_counter_of_marks_is_exact_where_all_acknowledgements_arrive() {
    let [each, counts, totals] = [AckEcho::PerPacket, AckEcho::AccEcn, AckEcho::Counts]
        .map(|echo| counted(echo, Loss::None, Impairments::default()));
    assert!(each.links[0].marked.last() > Some(&0));
    for counts in [counts, totals] {
        assert_eq!(each.flows[0].window, counts.flows[0].window);
        assert_eq!(each.flows[0].delivered, counts.flows[0].delivered);
    }
}

/// The packets that a flow delivers and the packets that the queue marks for it.
fn delivered_and_marked(echo: AckEcho, loss: Loss, impairments: Impairments) -> [u64; 2] {
    let trace = counted(echo, loss, impairments);
    [&trace.flows[0].delivered, &trace.links[0].marked].map(|counts| counts.last().copied().expect("rows"))
}

/// RFC 9768 appendix A.2.1: three bits count the marks that are in one acknowledgement of four; of one in sixteen, whose mean exceeds four
/// packets, the sender assumes the least number. Echoes per packet are lost with their acknowledgements, and the queue marks more.
#[test]
fn thinned_acknowledgements_lose_echoes_and_no_counts() {
    let of = |echo, every| {
        let aggregation = Some(Span::from_millis(8));
        let thin = Impairments { aggregation, ack_thinning: Some(every), ..Impairments::default() };
        delivered_and_marked(echo, Loss::None, thin)
    };
    let each = |every| [AckEcho::PerPacket, AckEcho::AccEcn, AckEcho::Counts].map(|echo| of(echo, every));
    for every in [4, 16] {
        let [[echoed, _], [counted, _], [total, _]] = each(every);
        assert!(counted.min(total) * 100 >= echoed * 99, "{every}: {counted}, {total}, {echoed}");
    }
    let [[_, more], [_, fewer], [_, all]] = each(16);
    assert!(fewer.max(all) * 10 < more, "{fewer}, {all}, {more}");
}

/// A sender that misses acknowledgements at random, so that few cover eight packets, assumes marks that were not there: the RFC warns of
/// poor performance.
#[test]
fn lost_acknowledgements_let_a_counter_assume_marks() {
    let of = |echo, loss| delivered_and_marked(echo, Loss::Bernoulli(loss), Impairments::default());
    let [[echoed, _], [counted, fewer]] = [AckEcho::PerPacket, AckEcho::AccEcn].map(|echo| of(echo, 0.6));
    assert!(counted * 3 < echoed * 2 && fewer == 0, "{counted} {echoed}, {fewer}");
}

/// A count of all marks loses none and assumes none; the next acknowledgement that arrives is later.
#[test]
fn lost_acknowledgements_change_no_total() {
    let of = |echo, loss| delivered_and_marked(echo, Loss::Bernoulli(loss), Impairments::default());
    let [delivered, _] = of(AckEcho::PerPacket, 0.0);
    for loss in [0.3, 0.5, 0.6, 0.7] {
        let [total, marked] = of(AckEcho::Counts, loss);
        assert!(total * 100 >= delivered * 97 && marked > 600, "{loss}: {total} of {delivered}, {marked}");
    }
}

/// The numbers of the data packets that leave with ECT, and without.
fn capable_and_bare(setup: &Setup) -> [Vec<u64>; 2] {
    let trace = run(setup);
    let of = |ect: bool| {
        let packets = trace.flows[0].log.packets.iter();
        let number = |packet: &cwnd_trace::Logged| match packet.seen {
            Seen::Data { number, ecn, .. } if (ecn != EcnField::NotEct) == ect => Some(number),
            _ => None,
        };
        packets.filter_map(number).collect()
    };
    [of(true), of(false)]
}

/// RFC 9000 section 13.4.2.1: the ten packets of the initial window leave with ECT. The first acknowledgement shows that the counts lack
/// a packet, and nothing leaves with ECT any more. A link that erases marks and leaves the sender's own ECT, or marks all packets, is not
/// found.
#[test]
fn a_path_without_ect_ends_it_after_the_first_round_trip() {
    let bleach = Impairments { bleach: true, ..Impairments::default() };
    let mangle = |mangling| Impairments { mangling: Some(mangling), ..Impairments::default() };
    let of = |name, echo, impairments: &Impairments| {
        let mut setup = setup(name, echo);
        (setup.links[0].loss, setup.links[0].impairments) = (Loss::None, impairments.clone());
        capable_and_bare(&setup)
    };
    let [zero, one] = [AckEcho::Counts, AckEcho::CountsScalable];
    for (echo, impairments) in
        [(zero, &bleach), (one, &bleach), (one, &mangle(Mangling::Classic)), (zero, &mangle(Mangling::Scalable))]
    {
        for name in ["reno", "dctcp", "bbr3", "xcp"] {
            let [capable, bare] = of(name, echo, impairments);
            let first = if name == "xcp" { bare[0] } else { 10 };
            assert_eq!(capable, (0..first).collect::<Vec<_>>(), "{name}, {echo:?}");
            assert!(bare.len() > 1000, "{name}, {echo:?}: {}", bare.len());
        }
    }
    for (echo, mangling) in [
        (zero, Mangling::Classic),
        (one, Mangling::Scalable),
        (zero, Mangling::Congestion),
        (one, Mangling::Congestion),
    ] {
        assert_eq!(of("dctcp", echo, &mangle(mangling))[1], [], "{echo:?}, {mangling:?}");
    }
    // Without counts nobody notices.
    assert_eq!(of("dctcp", AckEcho::AccEcn, &bleach)[1], []);
}

/// Counts add up where packets and acknowledgements are lost, overtake each other, arrive twice and wait: no sender ends ECT there.
#[test]
fn counts_add_up_on_a_path_that_keeps_ect() {
    let schemes = RecoveryScheme::ALL.map(|scheme| ("reno", scheme));
    let others = [("dctcp", RecoveryScheme::Rack), ("prague", RecoveryScheme::Sack), ("bbr3", RecoveryScheme::Rack)];
    let routed = ["xcp", "vcp"].map(|name| (name, RecoveryScheme::Sack));
    for (name, scheme) in schemes.into_iter().chain(others).chain(routed) {
        for delayed in [None, Some(Span::from_millis(40))] {
            let mut setup = setup(name, AckEcho::CountsScalable);
            let by = ReorderBy::Time(Span::from_millis(30));
            let mess = Impairments {
                reordering: Some(Reordering { probability: 0.02, by }),
                duplication: 0.02,
                ..Impairments::default()
            };
            setup.links[1].loss = Loss::Bernoulli(0.2);
            setup.links.iter_mut().for_each(|link| link.impairments = mess.clone());
            (setup.flows[0].recovery, setup.flows[0].delayed_ack) = (scheme, delayed);
            let [capable, bare] = capable_and_bare(&setup);
            assert!(bare.is_empty() && capable.len() > 300, "{name}, {scheme:?}: {} {}", capable.len(), bare.len());
        }
    }
}

/// RFC 3168 section 5: who does not answer marks must not carry any.
#[test]
fn who_does_not_answer_marks_is_refused_ecn() {
    for entry in ALGORITHMS.iter().filter(|entry| entry.transport != Transport::Stack) {
        let refused = setup(entry.name, AckEcho::Latch).check();
        if entry.answers_marks() {
            assert!(refused.is_ok(), "{}: {refused:?}", entry.name);
        } else {
            assert!(matches!(refused, Err(SetupError::Range { field: "ecn", .. })), "{}: {refused:?}", entry.name);
        }
    }
}

/// Marks reach a sender whose acknowledgements carry what routers wrote too: nothing else slows it down here.
#[test]
fn marks_come_back_with_what_routers_wrote() {
    for name in ["xcp", "decbit"] {
        let delivered = |ecn| {
            let mut setup = setup(name, AckEcho::Latch);
            (setup.links[0].loss, setup.flows[0].ecn) = (Loss::None, ecn);
            if ecn.is_none() {
                (setup.links[0].discipline, setup.links[0].queue) = (Discipline::DropTail, QueueLimit::Unlimited);
            }
            let trace = run(&setup);
            assert_eq!(trace.links[0].dropped.last(), Some(&0), "{name}");
            trace.flows[0].delivered.last().copied()
        };
        assert!(delivered(Some(AckEcho::Latch)) < delivered(None), "{name}");
    }
}
