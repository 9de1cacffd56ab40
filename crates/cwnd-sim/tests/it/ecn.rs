//! Which packets are ECN-capable, and what becomes of marks, over each kind of transport.

use cwnd::registry::Transport;
use cwnd::{ALGORITHMS, Span, Spec};
use cwnd_sim::{
    AckEcho, Discipline, Dumbbell, Era, FlowSetup, Impairments, Loss, QueueLimit, RecoveryScheme, RedSetup, Setup,
    SetupError, Trace,
};
use cwnd_trace::Seen;

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
                if let Seen::Data { again, capable, .. } = packet.seen {
                    seen[usize::from(again)] += 1;
                    assert_eq!(capable, !again || echo == AckEcho::PerPacket, "{name}, {scheme:?}, {echo:?}");
                }
            }
            assert!(seen.iter().all(|packets| *packets > 0), "{name}, {scheme:?}, {echo:?}: {seen:?}");
        }
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

/// A flow of DCTCP over a step, whose acknowledgements come back over a link with these impairments.
fn counted(echo: AckEcho, back: Impairments) -> Trace {
    let mut setup = setup("dctcp", echo);
    (setup.links[0].loss, setup.links[1].impairments) = (Loss::None, back);
    setup.flows[0].delayed_ack = None;
    run(&setup)
}

/// Where every acknowledgement arrives and covers one packet, a counter of three bits tells what echoes per packet tell.
#[test]
fn a_counter_of_marks_is_exact_where_all_acknowledgements_arrive() {
    let [each, counts] = [AckEcho::PerPacket, AckEcho::AccEcn].map(|echo| counted(echo, Impairments::default()));
    assert!(each.links[0].marked.last() > Some(&0));
    assert_eq!(each.flows[0].window, counts.flows[0].window);
    assert_eq!(each.flows[0].delivered, counts.flows[0].delivered);
}

/// RFC 9768 appendix A.2.1: thinning to one acknowledgement in four costs nothing, as three bits count the marks of seven packets. One in
/// sixteen makes a sender assume marks that were not there, "leading to a false high marking rate and poor performance".
#[test]
fn thinned_acknowledgements_change_what_a_sender_knows() {
    let of = |echo, every| {
        let aggregation = Some(Span::from_millis(8));
        let trace = counted(echo, Impairments { aggregation, ack_thinning: Some(every), ..Impairments::default() });
        trace.flows[0].delivered.last().copied().expect("rows")
    };
    let [few, many] = [4, 16].map(|every| of(AckEcho::AccEcn, every));
    assert!(few * 100 >= of(AckEcho::PerPacket, 4) * 99, "{few}");
    assert!(many * 4 < of(AckEcho::PerPacket, 16), "{many}");
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
