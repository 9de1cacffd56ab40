//! Every host driven through the same history shows its algorithm the same views (`cwnd::signal`).
//!
//! The history: an application without data; five packets at 10 ms under a window of four; at 20 ms the first has arrived; at 30 ms the
//! second is missing and the others have arrived; at 40 ms the second has too. Or nothing more is received after 20 ms.

use std::sync::{Arc, Mutex};

use cwnd::{
    Ack as AckSignal, Bytes, Cause, Congestion, CongestionControl, Control, Limit, Maker, Packets, Rtt, Signal, Span,
    Spec, Start, Time, View,
};
use cwnd_model::rounds::{self, Clock, FlowSetup};
use cwnd_udt::connection::{Connection, Transmit};
use cwnd_udt::wire::{FullAck, LossRange, Losses, Packet};
use cwnd_udt::{AckNumber, Agreed, Message, Mode, Seq, Settings, SocketId};

use crate::endpoint::Sender;
use crate::net::packet::{Ack, Block, Body, Report};
use crate::protocol::{SenderConfig, SenderProtocol};
use crate::traffic::source::{Backlog, Pause, Source};
use crate::{Dumbbell, Era, QueueLimit, RecoveryScheme, datagram, udt};

/// A window of four packets, a wake-up at the start, and every signal kept.
#[derive(Clone, Debug, Default)]
struct Recording {
    signals: Arc<Mutex<Vec<Signal>>>,
    woken: bool,
}

impl Recording {
    fn record(&self, signal: &Signal) {
        self.signals.lock().expect("no test panics with it").push(*signal);
    }

    fn spec(&self) -> Spec {
        Spec::outside("recording", Arc::new(self.clone()))
    }

    /// The signals noted since the last call.
    fn take(&self) -> Vec<Signal> {
        std::mem::take(&mut self.signals.lock().expect("no test panics with it"))
    }
}

impl Maker for Recording {
    fn start(&self, _start: &Start) -> Box<dyn CongestionControl> {
        Box::new(self.clone())
    }
}

impl CongestionControl for Recording {
    fn control(&self) -> Control {
        let mut control = Control::window(Packets(4.0));
        control.wake = (!self.woken).then_some(Time::ZERO);
        control
    }

    fn on_ack(&mut self, view: &View, ack: &AckSignal) {
        self.record(&Signal::Ack(*view, *ack));
    }

    fn on_congestion(&mut self, view: &View, event: &Congestion) {
        self.record(&Signal::Congestion(*view, *event));
    }

    fn on_recovered(&mut self, view: &View) {
        self.record(&Signal::Recovered(*view));
    }

    fn on_wake(&mut self, view: &View) {
        self.woken = true;
        self.record(&Signal::Wake(*view));
    }

    fn on_restart(&mut self, view: &View, idle: Span) {
        self.record(&Signal::Restart(*view, idle));
    }

    fn boxed_clone(&self) -> Box<dyn CongestionControl> {
        Box::new(self.clone())
    }
}

/// What a receiver reports.
#[derive(Clone, Copy, Debug)]
enum Feedback {
    /// Packet 0 has arrived.
    First,
    /// Packet 1 is missing; 2, 3 and 4 have arrived.
    Loss,
    /// All have arrived.
    All,
}

/// A host, driven by a clock and a receiver.
trait Host {
    /// Handles due timers, then sends what may leave.
    fn handle_timeout(&mut self, now: Time);
    /// Handles what the receiver sends, then sends what may leave.
    fn handle_feedback(&mut self, now: Time, feedback: Feedback);
    /// When its next timer is due.
    fn next_timeout(&self) -> Time;
    /// Packets found lost so far.
    fn lost(&self) -> u64;
}

/// What the protocols cannot report alike, of the views at 30 and 40 ms.
#[derive(Clone, Copy)]
struct Protocol {
    /// The view at the loss: packets in flight, delivered, rounds, limit.
    at_loss: (u64, u64, u64, Limit),
    /// The view once all have arrived: packets in flight before, limit. None if the protocol retransmits nothing.
    at_end: Option<(u64, Limit)>,
    /// The least retransmission timeout of the era, where there is such a timer.
    timeout: Option<Span>,
}

/// One acknowledgement reports the loss and the three packets above it.
const SACK: Protocol = Protocol {
    at_loss: (4, 4, 1, Limit::Window),
    at_end: Some((1, Limit::Source)),
    timeout: Some(Era::MODERN.min_rto),
};
/// The third duplicate reports the loss; the first two have left room in the window.
const NEW_RENO: Protocol = Protocol { at_loss: (2, 4, 1, Limit::Source), ..SACK };
/// A packet lost is not retransmitted, so that the round ends although it is missing.
const DATAGRAM: Protocol = Protocol { at_loss: (4, 4, 2, Limit::Window), at_end: None, timeout: None };
/// A NAK gives no information about packets above the missing one.
const UDT: Protocol = Protocol { at_loss: (4, 1, 1, Limit::Window), at_end: Some((4, Limit::Window)), timeout: None };

/// One of the simulator's senders.
struct Simulated {
    sender: Sender,
    bodies: fn(Feedback) -> Vec<Body>,
    deadline: Time,
}

impl Simulated {
    fn serve(&mut self, now: Time, body: Option<&Body>) {
        let timers = self.sender.serve(now, body, |_| true);
        self.deadline = timers.release.min(timers.deadline);
    }
}

impl Host for Simulated {
    fn handle_timeout(&mut self, now: Time) {
        self.sender.on_wake(now);
        self.sender.on_deadline(now);
        self.serve(now, None);
    }

    fn handle_feedback(&mut self, now: Time, feedback: Feedback) {
        for body in (self.bodies)(feedback) {
            self.serve(now, Some(&body));
        }
    }

    fn next_timeout(&self) -> Time {
        self.deadline
    }

    fn lost(&self) -> u64 {
        self.sender.state().counts().lost
    }
}

/// A UDT connection as an endpoint drives it: its application writes, and the peer's packets arrive as bytes.
struct Wire {
    core: Connection,
    written: bool,
}

impl Host for Wire {
    fn handle_timeout(&mut self, now: Time) {
        if now >= at(10) && !std::mem::replace(&mut self.written, true) {
            let bytes = 5 * u64::from(self.core.payload());
            assert_eq!(self.core.write(bytes), bytes);
        }
        self.core.handle_timeout(now);
        while let Some(Transmit::Data(_) | Transmit::Message(_)) = self.core.poll_transmit(now) {}
    }

    fn handle_feedback(&mut self, now: Time, feedback: Feedback) {
        let mut bytes = Vec::new();
        udt_message(feedback).control().encode(SocketId::new(1), 0, &mut bytes);
        let Ok(Packet::Control { control, .. }) = Packet::parse(&bytes) else {
            panic!("{feedback:?} is no control packet")
        };
        self.core.handle_control(now, &control);
        self.handle_timeout(now);
    }

    fn next_timeout(&self) -> Time {
        self.core.next_timeout().unwrap_or(Time::MAX)
    }

    fn lost(&self) -> u64 {
        self.core.stats(Time::ZERO).lost
    }
}

fn at(millis: u64) -> Time {
    Time::ZERO + Span::from_millis(millis)
}

fn backlog() -> Backlog {
    let pause = Pause { from: Time::ZERO, to: at(10) };
    Backlog::new(&Source::Packets(5), (Time::ZERO, None), &[pause], Bytes(1500), || unreachable!("no clock"))
}

fn tcp_bodies(feedback: Feedback, sack: bool) -> Vec<Body> {
    let (cumulative, echo, end) = match feedback {
        Feedback::First => (1, at(10), 0),
        Feedback::Loss => (1, at(20), 4),
        Feedback::All => (5, at(30), 0),
    };
    let first = Block { first: u32::from(end > 0), end };
    let ack = Ack { sack: [first, Block::default(), Block::default()], ..Ack::of(cumulative, echo) };
    match feedback {
        Feedback::Loss if !sack => vec![Body::Ack(Ack { sack: [Block::default(); 3], ..ack }); 3],
        _ => vec![Body::Ack(ack)],
    }
}

fn datagram_bodies(feedback: Feedback) -> Vec<Body> {
    let report = |newest, echo, arrivals| {
        vec![Body::Report(Report { newest, echo, held: 0, arrivals, measured: [f32::NAN; 4] })]
    };
    match feedback {
        Feedback::First => report(0, at(10), 1),
        Feedback::Loss => report(4, at(20), 4),
        // Nothing is sent twice.
        Feedback::All => Vec::new(),
    }
}

fn udt_message(feedback: Feedback) -> Message {
    let seq = |number| Seq::new(number).expect("31 bits");
    let ack = |next| {
        let number = AckNumber::new(1).expect("31 bits");
        Message::Ack(FullAck { number, next: seq(next), rtt_us: 10_000, rtt_var_us: 5000, window: 1000, rates: None })
    };
    match feedback {
        Feedback::First => ack(1),
        Feedback::Loss => Message::Nak(Losses::new(LossRange::new(seq(1), seq(1)).expect("a range"))),
        Feedback::All => ack(5),
    }
}

/// Every host of packets, with the algorithm `spec`.
fn hosts(spec: &Spec) -> Vec<(&'static str, Protocol, Box<dyn Host>)> {
    let start = Start::default();
    let config = |recovery| SenderConfig {
        algorithm: spec.start(&start),
        era: Era::MODERN,
        marked_at_one: Era::MODERN.marked_at_one,
        recovery,
        backlog: backlog(),
        max_window: 1000.0,
        packet: start.packet,
        payload: start.payload,
        paced: false,
        tick: None,
        echo: None,
        host: crate::LinuxHost::default(),
    };
    let simulated = |sender, bodies| Box::new(Simulated { sender, bodies, deadline: Time::MAX }) as Box<dyn Host>;
    let tcp = |recovery| Sender::tcp(config(recovery), Time::ZERO);
    let datagrams = datagram::Sender::new(config(RecoveryScheme::Sack), Time::ZERO);
    let bell = Dumbbell::new(10_000_000, Span::from_millis(10), QueueLimit::Packets(100));
    let mut setup = bell.setup(std::slice::from_ref(spec), Era::MODERN, Span::from_secs(1), Span::ZERO, 1);
    setup.flows[0].max_window = Some(1000.0);
    let (udt, _) = udt::ends(&setup.flows[0], &start, backlog(), Time::ZERO);
    let isn = Seq::new(0).expect("31 bits");
    let agreed = Agreed {
        isn_ours: isn,
        isn_theirs: isn,
        payload: 1456,
        peer_id: SocketId::new(1).expect("not 0"),
        peer_window: 1000,
        mode: Mode::Stream,
        opened: Time::ZERO,
        seed: 0,
    };
    let core = Connection::new(&Settings::new(spec.clone()), &agreed, Time::ZERO);
    vec![
        ("TCP with SACK", SACK, simulated(tcp(RecoveryScheme::Sack), |feedback| tcp_bodies(feedback, true))),
        ("TCP NewReno", NEW_RENO, simulated(tcp(RecoveryScheme::NewReno), |feedback| tcp_bodies(feedback, false))),
        ("datagrams", DATAGRAM, simulated(Sender::Datagram(Box::new(datagrams)), datagram_bodies)),
        (
            "UDT in the simulator",
            UDT,
            simulated(Sender::Udt(Box::new(udt)), |feedback| vec![Body::ToSender(udt_message(feedback))]),
        ),
        ("UDT on the wire", UDT, Box::new(Wire { core, written: false })),
    ]
}

/// The view at `now` of a flow that has not sent anything yet.
fn initial(now: Time, protocol: &Protocol) -> View {
    let mut view = View::new(now, &Start::default());
    (view.timeout, view.peer_window) = (protocol.timeout, Packets(1000.0));
    view
}

/// The only view of `signals` that `pick` takes, without what differs by the encapsulation (the payload) and by how many packets of
/// the receiver brought a sample (the variation of the round-trip time).
fn only(signals: &[Signal], pick: impl Fn(&Signal) -> Option<View>) -> View {
    let mut views = signals.iter().filter_map(pick);
    let (mut view, more) = (views.next().unwrap_or_else(|| panic!("no such signal in {signals:?}")), views.next());
    assert_eq!(more, None, "one signal of its kind");
    if let Some(rtt) = &mut view.rtt {
        rtt.variation = Span::ZERO;
    }
    view.payload = Bytes(1460);
    view
}

fn acknowledged(signal: &Signal) -> Option<View> {
    if let Signal::Ack(view, _) = signal { Some(*view) } else { None }
}

fn congested(signal: &Signal) -> Option<View> {
    if let Signal::Congestion(view, _) = signal { Some(*view) } else { None }
}

/// Drives `host` to the first acknowledgement, checks what its algorithm saw, and returns its view.
fn begin(name: &str, protocol: &Protocol, host: &mut dyn Host, recording: &Recording) -> View {
    host.handle_timeout(at(0));
    let woken = |signal: &Signal| if let Signal::Wake(view) = signal { Some(*view) } else { None };
    assert_eq!(only(&recording.take(), woken), initial(at(0), protocol), "{name}, without data");
    host.handle_timeout(at(10));
    assert_eq!(recording.take(), [], "{name}: nothing to report when the first packets leave");
    host.handle_feedback(at(20), Feedback::First);
    let seen = only(&recording.take(), acknowledged);
    let mut expected = initial(at(20), protocol);
    (expected.next, expected.in_flight, expected.delivered, expected.round) = (4, 4, 1, 1);
    (expected.rtt, expected.limit) = (Some(Rtt::fixed(Span::from_millis(10))), Limit::Window);
    assert_eq!(seen, expected, "{name}, first acknowledgement");
    seen
}

#[test]
fn a_loss_and_its_recovery_look_the_same_to_every_algorithm() {
    let recording = Recording::default();
    for (name, protocol, mut host) in hosts(&recording.spec()) {
        let mut expected = begin(name, &protocol, host.as_mut(), &recording);
        host.handle_feedback(at(30), Feedback::Loss);
        let signals = recording.take();
        (expected.now, expected.next, expected.lost) = (at(30), 5, 1);
        (expected.in_flight, expected.delivered, expected.round, expected.limit) = protocol.at_loss;
        assert_eq!(only(&signals, congested), expected, "{name}, loss");
        let Signal::Congestion(_, event) = signals[0] else { panic!("{name}: congestion comes first") };
        assert_eq!(event, Congestion::loss(1, 1), "{name}");
        let Some(at_end) = protocol.at_end else { continue };
        host.handle_feedback(at(40), Feedback::All);
        let signals = recording.take();
        (expected.now, expected.delivered, expected.round) = (at(40), 5, 2);
        ((expected.in_flight, expected.limit), expected.in_recovery) = (at_end, true);
        assert_eq!(only(&signals, acknowledged), expected, "{name}, last one");
        let recovered = |signal: &Signal| if let Signal::Recovered(view) = signal { Some(*view) } else { None };
        (expected.in_flight, expected.in_recovery) = (0, false);
        assert_eq!(only(&signals, recovered), expected, "{name}, recovered");
    }
}

#[test]
fn a_timeout_counts_what_it_takes_for_lost_first() {
    let recording = Recording::default();
    for (name, protocol, mut host) in hosts(&recording.spec()) {
        if protocol.at_end.is_none() {
            continue;
        }
        let mut expected = begin(name, &protocol, host.as_mut(), &recording);
        // A UDT connection sends probes before.
        let (now, lost, signals) = loop {
            let (now, lost) = (host.next_timeout(), host.lost());
            host.handle_timeout(now);
            let signals = recording.take();
            if !signals.is_empty() {
                break (now, lost, signals);
            }
        };
        let [Signal::Congestion(_, event)] = signals[..] else { panic!("{name}: {signals:?}") };
        assert_eq!((event.cause, event.first, event.persistent), (Cause::Timeout, 1, false), "{name}");
        assert!(event.lost > 0, "{name}");
        let lost = lost + u64::from(event.lost);
        (expected.now, expected.next, expected.in_flight, expected.lost) = (now, 5, 4, lost);
        assert_eq!(only(&signals, congested), expected, "{name}, timeout");
        // What follows a timeout is a slow start: no fast recovery begins, and none ends.
        host.handle_feedback(now + Span::from_millis(10), Feedback::All);
        let signals = recording.take();
        let seen = only(&signals, acknowledged);
        assert_eq!((seen.in_recovery, seen.delivered, seen.lost, signals.len()), (false, 5, lost, 1), "{name}");
    }
}

#[test]
fn the_timeout_that_is_shown_is_the_one_that_was_waited_for() {
    let recording = Recording::default();
    for (name, protocol, mut host) in hosts(&recording.spec()) {
        let Some(least) = protocol.timeout else { continue };
        begin(name, &protocol, host.as_mut(), &recording);
        let expiries = [1, 2, 4].map(|doubled| {
            let (at, signals) = loop {
                let at = host.next_timeout();
                host.handle_timeout(at);
                let signals = recording.take();
                if !signals.is_empty() {
                    break (at, signals);
                }
            };
            assert_eq!(only(&signals, congested).timeout, Some(least * doubled), "{name}");
            at
        });
        assert_eq!(expiries[1].since(expiries[0]), least * 2, "{name}");
        assert_eq!(expiries[2].since(expiries[1]), least * 4, "{name}");
    }
}

/// In the models a packet is acknowledged or lost, and nothing else happens.
#[test]
fn models_count_before_they_signal() {
    let recording = Recording::default();
    let rtt = Span::from_millis(10);
    let _ = cwnd_model::bernoulli::mean_window_periodic(&recording.spec(), 3, 6, rtt);
    let counted = |signal: &Signal| match signal {
        Signal::Ack(view, _) | Signal::Congestion(view, _) => (view.delivered, view.lost, view.in_flight, view.limit),
        _ => panic!("{signal:?}"),
    };
    let seen: Vec<_> = recording.take().iter().map(counted).collect();
    let expected = [(1, 0), (2, 0), (2, 1), (3, 1), (4, 1), (4, 2)];
    assert_eq!(seen, expected.map(|(delivered, lost)| (delivered, lost, 1, Limit::Window)));

    let flow = FlowSetup { algorithm: recording.spec(), window: Packets(4.0), rtt: None };
    let setup =
        rounds::Setup { flows: vec![flow], capacity: Packets(2.0), clock: Clock::Rounds, ..rounds::Setup::default() };
    let _ = rounds::run(&rounds::Setup { rounds: 2.0, ..setup });
    let seen: Vec<_> = recording.take().iter().map(counted).collect();
    assert_eq!(seen[..2], [(4, 0, 4, Limit::Window), (4, 1, 4, Limit::Window)]);
}
