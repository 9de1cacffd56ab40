//! The log of packets at a sender.

use cwnd::{Span, Spec};
use cwnd_sim::{AckEcho, Discipline, Dumbbell, Era, Loss, QueueLimit, RedSetup, Setup, Trace};
use cwnd_trace::{PacketLog, Protocol, Seen};

/// A flow of each protocol over a lossy path.
fn setup(packet_log: Option<usize>) -> Setup {
    let bell = Dumbbell {
        loss: Loss::Bernoulli(2e-3),
        ..Dumbbell::new(20_000_000, Span::from_millis(40), QueueLimit::Packets(60))
    };
    let specs = ["reno", "udt"].map(|name| Spec::parse(name).expect("registered"));
    let setup = bell.setup(&specs, Era::MODERN, Span::from_secs(10), Span::from_secs(1), 3);
    Setup { packet_log, ..setup }
}

fn run(setup: &Setup) -> Trace {
    cwnd_sim::run(setup, &mut |_| true).expect("a valid setup")
}

#[test]
fn looking_changes_nothing() {
    let (seen, unseen) = (run(&setup(Some(usize::MAX))), run(&setup(None)));
    assert_eq!((seen.digest, seen.events), (unseen.digest, unseen.events));
    assert!(unseen.flows.iter().all(|flow| flow.log == PacketLog::default()));
    for (seen, unseen) in seen.flows.iter().zip(&unseen.flows) {
        assert_eq!(seen.window, unseen.window);
        assert_eq!(seen.lost, unseen.lost);
    }
}

#[test]
fn the_log_has_every_packet_once() {
    let trace = run(&setup(Some(usize::MAX)));
    let protocols: Vec<_> = trace.flows.iter().map(|flow| flow.log.protocol).collect();
    assert_eq!(protocols, [Protocol::Tcp, Protocol::Udt]);
    for flow in &trace.flows {
        let log = &flow.log;
        let data = log.packets.iter().filter(|packet| matches!(packet.seen, Seen::Data { .. })).count();
        let again = log.packets.iter().filter(|packet| matches!(packet.seen, Seen::Data { again: true, .. })).count();
        assert_eq!(Some(&(data as u64)), flow.sent.last());
        assert_eq!(Some(&(again as u64)), flow.retransmitted.last());
        assert!(again > 0, "the path loses packets");
        assert!(log.packets.is_sorted_by_key(|packet| packet.at));
        assert_eq!(log.iter().map(|(_, bytes)| bytes.len()).sum::<usize>(), log.control.len());
        assert_eq!(log.full, None);
    }
}

#[test]
fn only_marks_are_confirmed() {
    let confirmed = |log: &PacketLog| {
        let confirms = |packet: &&cwnd_trace::Logged| matches!(packet.seen, Seen::Data { reacted: true, .. });
        log.packets.iter().filter(confirms).count()
    };
    let unmarked = run(&setup(Some(usize::MAX)));
    assert!(unmarked.flows.iter().all(|flow| confirmed(&flow.log) == 0), "nothing marks on this path");
    let queue = QueueLimit::Packets(200);
    let bell = Dumbbell::new(20_000_000, Span::from_millis(40), queue);
    let mut marked =
        bell.setup(&[Spec::parse("reno").expect("registered")], Era::MODERN, Span::from_secs(10), Span::ZERO, 3);
    marked.links[0].discipline = Discipline::Red(RedSetup { mark: true, min: 10.0, max: 30.0, ..RedSetup::default() });
    marked.flows[0].ecn = Some(AckEcho::Latch);
    let marked = run(&Setup { packet_log: Some(usize::MAX), ..marked });
    assert!(confirmed(&marked.flows[0].log) > 0);
}

#[test]
fn a_full_log_says_since_when() {
    let trace = run(&setup(Some(100)));
    for flow in &trace.flows {
        assert_eq!(flow.log.packets.len(), 100);
        assert!(flow.log.full >= flow.log.packets.last().map(|packet| packet.at));
    }
}

#[test]
fn reports_and_routers_are_seen_too() {
    let bell = Dumbbell::new(20_000_000, Span::from_millis(40), QueueLimit::Packets(60));
    let specs = ["tfrc", "vcp"].map(|name| Spec::parse(name).expect("registered"));
    let setup = bell.setup(&specs, Era::MODERN, Span::from_secs(5), Span::from_secs(1), 1);
    let trace = run(&Setup { packet_log: Some(usize::MAX), ..setup });
    let [reported, routed] = trace.flows.as_slice() else { panic!("two flows") };
    assert_eq!((reported.log.protocol, routed.log.protocol), (Protocol::Datagrams, Protocol::Tcp));
    let arrivals = reported.log.packets.iter().filter_map(|packet| match packet.seen {
        Seen::Report { newest, arrivals } => Some((newest, arrivals)),
        _ => None,
    });
    let arrivals: Vec<_> = arrivals.collect();
    assert!(arrivals.len() > 10 && arrivals.is_sorted(), "{arrivals:?}");
    let acks = routed.log.packets.iter().filter(|packet| matches!(packet.seen, Seen::Ack { .. })).count();
    assert!(acks > 100, "{acks}");
}
