//! Relays between real sockets on the loopback.

use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use cwnd::Span;
use cwnd_link::{Plan, Relay, Report};
use cwnd_sim::emulate::Emulation;
use cwnd_sim::{Duplex, Loss, QueueLimit, Sharing};

/// A relay on a thread of its own.
struct Running {
    at: SocketAddr,
    stop: Arc<AtomicBool>,
    thread: JoinHandle<Report>,
}

impl Running {
    fn start(target: SocketAddr, forth: &Emulation, spin: Span) -> Self {
        let mut plan = Plan::new(SocketAddr::from(([127, 0, 0, 1], 0)), target, forth.clone());
        plan.back.loss = Loss::None;
        plan.spin = spin;
        let relay = Relay::bind(plan).expect("the loopback can be bound");
        let at = relay.local().expect("it is bound");
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let thread = thread::spawn(move || relay.run(&stopped, None).expect("its sockets can be read"));
        Self { at, stop, thread }
    }

    fn stop(self) -> Report {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().expect("it does not panic")
    }
}

fn socket() -> (UdpSocket, SocketAddr) {
    let socket = UdpSocket::bind("127.0.0.1:0").expect("the loopback can be bound");
    socket.set_read_timeout(Some(Duration::from_secs(5))).expect("not zero");
    let address = socket.local_addr().expect("it is bound");
    (socket, address)
}

#[expect(clippy::disallowed_methods, reason = "a relay delays real datagrams by real time")]
fn now() -> Instant {
    Instant::now()
}

#[test]
fn clients_get_their_own_answers_after_twice_the_delay() {
    let (server, target) = socket();
    let relay = Running::start(target, &Emulation::new(None, Span::from_millis(20), QueueLimit::Unlimited), Span::ZERO);
    let clients: Vec<UdpSocket> = (0..3).map(|_| socket().0).collect();
    let start = now();
    for (client, name) in clients.iter().zip(["one", "two", "three"]) {
        client.send_to(name.as_bytes(), relay.at).expect("the loopback takes it");
    }
    let mut buffer = [0; 100];
    for _ in &clients {
        let (length, from) = server.recv_from(&mut buffer).expect("it arrives");
        server.send_to(&buffer[..length], from).expect("the loopback takes it");
    }
    for (client, name) in clients.iter().zip(["one", "two", "three"]) {
        let length = client.recv(&mut buffer).expect("the answer arrives");
        assert_eq!(&buffer[..length], name.as_bytes());
    }
    assert!(start.elapsed() >= Duration::from_millis(40), "{:?}", start.elapsed());
    let report = relay.stop();
    assert_eq!((report.clients, report.forth.carried, report.back.carried), (3, 3, 3));
    assert!(report.forth.late_max_s.is_some_and(|late| late < 5.0), "{report}");
}

#[test]
fn half_duplex_directions_wait_for_each_other() {
    let (server, target) = socket();
    // A datagram of 1000 bytes with its headers takes a millisecond, and each turn one more.
    let sharing = Sharing { access: Span::from_millis(1), burst: 1 };
    let half = Emulation {
        duplex: Duplex::Half(sharing),
        ..Emulation::new(Some(8_000_000), Span::ZERO, QueueLimit::Packets(60))
    };
    let relay = Running::start(target, &half, Span::ZERO);
    let (client, _) = socket();
    let mut buffer = [0; 2000];
    client.send_to(&[0; 10], relay.at).expect("the loopback takes it");
    let (_, back) = server.recv_from(&mut buffer).expect("it arrives");
    let start = now();
    for number in 0..10_u8 {
        client.send_to(&[number; 972], relay.at).expect("the loopback takes it");
        server.send_to(&[number; 972], back).expect("the loopback takes it");
    }
    for number in 0..10_u8 {
        for socket in [&client, &server] {
            let length = socket.recv(&mut buffer).expect("it arrives");
            assert_eq!(buffer[..length], [number; 972]);
        }
    }
    // Twenty turns of 2 ms, where each direction alone would take half of that.
    assert!(start.elapsed() >= Duration::from_millis(39), "{:?}", start.elapsed());
    relay.stop();
}

#[test]
fn a_line_takes_its_time_and_loses_what_it_should() {
    let (server, target) = socket();
    // 1000 bytes with their headers take a millisecond.
    let rate = Some(8_000_000);
    let lossy = Emulation { loss: Loss::Periodic(4), ..Emulation::new(rate, Span::ZERO, QueueLimit::Packets(60)) };
    let relay = Running::start(target, &lossy, Span::ZERO);
    let (client, _) = socket();
    let start = now();
    for number in 0..80_u8 {
        client.send_to(&[number; 972], relay.at).expect("the loopback takes it");
    }
    let mut buffer = [0; 2000];
    for expected in (0..80_u8).filter(|number| number % 4 != 3) {
        let length = server.recv(&mut buffer).expect("it arrives");
        assert_eq!(buffer[..length], [expected; 972]);
    }
    assert!(start.elapsed() >= Duration::from_millis(60), "{:?}", start.elapsed());
    let report = relay.stop();
    assert_eq!((report.forth.offered, report.forth.lost, report.forth.carried), (80, 20, 60));
}
