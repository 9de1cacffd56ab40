//! IPv6, and IPv4 through sockets of IPv6.

#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

use std::io::{Read, Write};
use std::net::SocketAddr;

use cwnd::Span;
use cwnd_net::{Options, UdtListener, UdtPort, UdtStream};

fn options() -> Options {
    Options::default().linger(Span::from_secs(20)).connect_timeout(Span::from_secs(10))
}

/// A word there and back; the addresses the server saw: its own and its peer's.
fn talk(listener: &UdtListener, to: SocketAddr) -> [String; 2] {
    let client = UdtStream::connect_with(to, &options()).unwrap();
    let (server, from) = listener.accept().unwrap();
    (&client).write_all(b"word").unwrap();
    let mut got = [0; 4];
    (&server).read_exact(&mut got).unwrap();
    (&server).write_all(&got).unwrap();
    (&client).read_exact(&mut got).unwrap();
    assert_eq!(from, server.peer_addr());
    [server.local_addr(), from].map(|address| address.ip().to_string())
}

fn listen(at: &str) -> (UdtListener, u16) {
    let listener: UdtListener = UdtListener::bind_with(at.parse().unwrap(), &options()).unwrap();
    let port = listener.local_addr().port();
    (listener, port)
}

#[test]
fn a_listener_on_every_ipv6_address_answers_from_the_destination_address() {
    let (listener, port) = listen("[::]:0");
    assert_eq!(talk(&listener, SocketAddr::new("::1".parse().unwrap(), port)), ["::1", "::1"]);
}

#[test]
fn a_listener_on_every_ipv6_address_serves_ipv4_too() {
    // Linux says so by `net.ipv6.bindv6only`, which is off unless somebody turned it on.
    let (listener, port) = listen("[::]:0");
    let seen = talk(&listener, SocketAddr::from(([127, 0, 0, 1], port)));
    assert_eq!(seen, ["::ffff:127.0.0.1", "::ffff:127.0.0.1"]);
    let seen = talk(&listener, SocketAddr::from(([127, 0, 0, 2], port)));
    assert_eq!(seen[0], "::ffff:127.0.0.2", "answers leave from the address that was called");
}

#[test]
fn a_listener_on_one_address_serves_no_other() {
    let (listener, port) = listen("[::1]:0");
    assert_eq!(talk(&listener, SocketAddr::new("::1".parse().unwrap(), port)), ["::1", "::1"]);
    let brief = options().connect_timeout(Span::from_millis(300));
    assert!(UdtStream::connect_with(SocketAddr::from(([127, 0, 0, 1], port)), &brief).is_err());
}

#[test]
fn an_ipv6_port_reaches_ipv4_by_its_mapped_address() {
    let (listener, port) = listen("127.0.0.1:0");
    let from = UdtPort::bind("[::]:0".parse().unwrap(), &options()).unwrap();
    let client: UdtStream = from.connect(format!("[::ffff:127.0.0.1]:{port}").parse().unwrap()).unwrap();
    let (server, peer) = listener.accept().unwrap();
    assert!(peer.is_ipv4());
    (&server).write_all(b"word").unwrap();
    let mut got = [0; 4];
    (&client).read_exact(&mut got).unwrap();
    assert_eq!(&got, b"word");
}
