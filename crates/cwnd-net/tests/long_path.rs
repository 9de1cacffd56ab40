//! A long fat path between real sockets, with default options.

#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use cwnd::Span;
use cwnd_link::{Plan, Relay, Report};
use cwnd_net::{Stats, UdtListener, UdtStream};
use cwnd_sim::QueueLimit;
use cwnd_sim::emulate::Emulation;

/// The speed depends on the host, but windows and buffers must not limit it on any host.
#[test]
fn neither_windows_nor_buffers_limit_a_long_fat_path() {
    let (sender, receiver, link) = transfer(Duration::from_secs(6));
    let reports = || format!("{sender}\n{receiver}\n{link}");
    assert!(link.forth.carried_bps > 5e6, "nothing to judge by:\n{}", reports());
    // Whenever the path could carry more, there was more to send, and room for it at the peer.
    let spent = sender.udt.limited;
    let all = spent.window + spent.rate + spent.source + spent.peer;
    let held = (spent.source + spent.peer).as_secs_f64() / all.as_secs_f64();
    assert!(held < 0.25, "{held}:\n{}", reports());
    // The window has grown with the use of the path: to twice its capacity, and the least window.
    let path = link.forth.carried_bps / 8.0 / 1_500.0 * sender.udt.minrtt.unwrap().as_secs_f64();
    assert!(receiver.udt.rcv_space as f64 > (2.0 * path).min(20_000.0), "{path} packets:\n{}", reports());
}

/// Sends for that long over a link of 200 Mbit/s and 100 ms there and back: the statistics of both ends, and the report of the link.
fn transfer(length: Duration) -> (Stats, Stats, Report) {
    let listener: UdtListener = UdtListener::bind(LOCAL).unwrap();
    let path = Emulation::new(Some(200_000_000), Span::from_millis(50), QueueLimit::Packets(1_667));
    let relay = Relay::bind(Plan::new(LOCAL, listener.local_addr(), path)).unwrap();
    let at = relay.local().unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    let stopped = Arc::clone(&stop);
    let relay = thread::spawn(move || relay.run(&stopped, None).unwrap());
    let mut client = UdtStream::connect(at).unwrap();
    let (mut server, _) = listener.accept().unwrap();
    let ends = (client.clone(), server.clone());
    let writer = thread::spawn(move || while client.write_all(&[1; 65_536]).is_ok() {});
    let reader = thread::spawn(move || while matches!(server.read(&mut [0; 65_536]), Ok(1..)) {});
    thread::sleep(length);
    let (sender, receiver) = (ends.0.stats().unwrap(), ends.1.stats().unwrap());
    ends.0.abort();
    ends.1.abort();
    writer.join().unwrap();
    reader.join().unwrap();
    stop.store(true, Ordering::Relaxed);
    (sender, receiver, relay.join().unwrap())
}

const LOCAL: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);
