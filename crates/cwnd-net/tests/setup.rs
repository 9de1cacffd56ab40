//! Setting up, refusing and losing connections.

#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

mod common;

use std::io::{ErrorKind, Read, Write};
use std::net::UdpSocket;
use std::thread;
use std::time::Duration;

use common::{listen, local, options};
use cwnd::Span;
use cwnd_net::{AcceptError, ConnectError, Ended, Refusal, UdtListener, UdtPort, UdtStream};

#[test]
fn connecting_without_a_listener_times_out() {
    let nobody = UdpSocket::bind(local()).unwrap().local_addr().unwrap();
    let options = options().connect_timeout(Span::from_millis(300));
    let error = UdtStream::connect_with(nobody, &options).unwrap_err();
    assert!(matches!(error, ConnectError::Refused { why: Refusal::Timeout, .. }), "{error}");
}

#[test]
fn a_full_backlog_refuses_clients() {
    let (listener, address) = listen::<UdtStream>(&options().backlog(2));
    let port = UdtPort::bind(local(), &options()).unwrap();
    let _waiting: Vec<UdtStream> = (0..2).map(|_| port.connect(address).unwrap()).collect();
    let error = port.connect::<UdtStream>(address).unwrap_err();
    assert!(matches!(error, ConnectError::Refused { why: Refusal::Full, .. }), "{error}");
    let _taken = listener.accept().unwrap();
    // The thread processes it in its next iteration.
    thread::sleep(Duration::from_millis(50));
    let _third: UdtStream = port.connect(address).unwrap();
}

#[test]
fn two_ends_meet_without_a_listener() {
    let (one, two) = (UdtPort::bind(local(), &options()).unwrap(), UdtPort::bind(local(), &options()).unwrap());
    let (first, second) = (one.local_addr(), two.local_addr());
    let other = thread::spawn(move || {
        let mut stream: UdtStream = two.rendezvous(first).unwrap();
        stream.write_all(b"met").unwrap();
        stream.close().unwrap();
    });
    let mut stream: UdtStream = one.rendezvous(second).unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    assert_eq!(text, "met");
    other.join().unwrap();
}

#[test]
fn a_listener_that_is_dropped_listens_no_more() {
    let port = UdtPort::bind(local(), &options()).unwrap();
    let first: UdtListener = port.listen();
    // A second listener replaces the first; dropping the first does not close the second.
    let second: UdtListener = port.listen();
    drop(first);
    let caller: UdtStream = UdtStream::connect_with(port.local_addr(), &options()).unwrap();
    let (taken, _) = second.accept().unwrap();
    second.set_timeout(Some(Duration::from_millis(10)));
    assert_eq!(second.accept().unwrap_err(), AcceptError::Timeout);
    drop(second);
    let late = options().connect_timeout(Span::from_millis(300));
    assert!(UdtStream::connect_with(port.local_addr(), &late).is_err());
    // Accepted connections remain.
    (&caller).write_all(b"x").unwrap();
    (&taken).read_exact(&mut [0]).unwrap();
}

#[test]
fn a_silent_peer_times_out() {
    let mut settings = options().idle_timeout(Span::from_millis(600)).settings().clone();
    settings.keep_alive = Span::from_millis(100);
    let options = cwnd_net::Options::new(settings);
    let (listener, address) = listen::<UdtStream>(&options);
    // A proxy between the two, which stops.
    let middle = UdpSocket::bind(local()).unwrap();
    let outside = middle.local_addr().unwrap();
    let relay = thread::spawn(move || {
        let mut client = None;
        let mut buffer = [0; 2_000];
        // Both send something every 100 ms; it stops after fifty packets.
        for _ in 0..50 {
            let (size, from) = middle.recv_from(&mut buffer).unwrap();
            let to = if from == address { client.unwrap() } else { address };
            if from != address {
                client = Some(from);
            }
            middle.send_to(&buffer[..size], to).unwrap();
        }
    });
    let mut stream = UdtStream::connect_with(outside, &options).unwrap();
    let (_kept, _) = listener.accept().unwrap();
    stream.write_all(b"hello").unwrap();
    let error = stream.read(&mut [0; 1]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TimedOut);
    assert_eq!(error.get_ref().unwrap().to_string(), Ended::TimedOut.to_string());
    relay.join().unwrap();
}

#[test]
fn malformed_datagrams_do_no_harm() {
    let (listener, address) = listen::<UdtStream>(&options());
    let sender = UdpSocket::bind(local()).unwrap();
    for size in 0..600 {
        let rubbish = common::pattern(size as u64, size);
        sender.send_to(&rubbish, address).unwrap();
        // Of the types that a listener handles, with random content.
        let mut control = rubbish;
        control.splice(..control.len().min(16), [0x80, (size % 10) as u8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        sender.send_to(&control, address).unwrap();
    }
    let mut client = UdtStream::connect_with(address, &options()).unwrap();
    let (mut server, _) = listener.accept().unwrap();
    client.write_all(b"still here").unwrap();
    let mut got = [0; 10];
    server.read_exact(&mut got).unwrap();
    assert_eq!(&got, b"still here");
}
