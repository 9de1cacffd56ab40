//! Many connections, unanswered handshakes, and peers that read nothing or vanish. Larger numbers are measured by
//! `cargo xtask evidence -- udt load`.

#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

mod common;
#[path = "common/set_on_drop.rs"]
mod set_on_drop;

use std::io::{Read, Write};
use std::net::{SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use common::{listen, local, options, pattern};
use cwnd::Span;
use cwnd_net::{Options, UdtListener, UdtPort, UdtStream};
use cwnd_udt::testing::first_handshake;
use set_on_drop::SetOnDrop;

/// Bytes `from..` of `content`, through a connection.
fn carry(client: &UdtStream, server: &UdtStream, content: &[u8]) {
    thread::scope(|scope| {
        scope.spawn(|| (&*client).write_all(content).unwrap());
        let mut got = vec![0; content.len()];
        (&*server).read_exact(&mut got).unwrap();
        assert!(got == content);
    });
}

/// Writes until the buffers are full: how many bytes fit.
fn fill(mut stream: &UdtStream) -> usize {
    stream.set_write_timeout(Some(Duration::from_millis(50)));
    let mut written = 0;
    while let Ok(size) = stream.write(&[1; 65_536]) {
        written += size;
    }
    written
}

#[test]
fn two_hundred_transfers_at_once_all_arrive() {
    let options = options().backlog(200);
    let (listener, address) = listen::<UdtStream>(&options);
    let port = UdtPort::bind(local(), &options).unwrap();
    let pairs: Vec<(UdtStream, UdtStream)> =
        (0..200).map(|_| (port.connect(address).unwrap(), listener.accept().unwrap().0)).collect();
    let content = pattern(1, 100_200);
    thread::scope(|scope| {
        for (index, (client, server)) in pairs.iter().enumerate() {
            let content = &content[index..][..100_000];
            scope.spawn(move || carry(client, server, content));
        }
    });
    // Closing two hundred one after the other would take some round trips for each.
    for (client, server) in pairs {
        client.abort();
        server.abort();
    }
}

#[test]
fn peers_that_do_not_read_cost_little_and_delay_nobody() {
    let (listener, address) = listen::<UdtStream>(&options());
    let port = UdtPort::bind(local(), &options()).unwrap();
    let stuck: Vec<(UdtStream, UdtStream)> =
        (0..20).map(|_| (port.connect(address).unwrap(), listener.accept().unwrap().0)).collect();
    for (client, _unread) in &stuck {
        let lies = fill(client);
        // 37 MB would fit into the buffers at either end.
        assert!(lies < 8_000_000, "{lies} bytes lie between them");
    }
    let (client, server): (UdtStream, _) = (port.connect(address).unwrap(), listener.accept().unwrap().0);
    carry(&client, &server, &pattern(1, 5_000_000));
    for (client, server) in stuck {
        client.abort();
        server.abort();
    }
}

#[test]
fn peers_that_vanish_delay_nobody() {
    let quick = options().idle_timeout(Span::from_millis(3_000));
    let listener: UdtListener = UdtListener::bind_with(local(), &quick).unwrap();
    // A proxy that drops the packets of the client once `deaf` is set.
    let middle = UdpSocket::bind(local()).unwrap();
    middle.set_read_timeout(Some(Duration::from_millis(20))).unwrap();
    let (outside, inside) = (middle.local_addr().unwrap(), listener.local_addr());
    let (deaf, over) = (AtomicBool::new(false), AtomicBool::new(false));
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut client = None;
            let mut buffer = [0; 2_000];
            while !over.load(Ordering::Relaxed) {
                let Ok((size, from)) = middle.recv_from(&mut buffer) else { continue };
                let to = if from == inside { client } else { Some(inside) };
                client = if from == inside { client } else { Some(from) };
                if let Some(to) = to.filter(|_| from == inside || !deaf.load(Ordering::Relaxed)) {
                    middle.send_to(&buffer[..size], to).unwrap();
                }
            }
        });
        let _over = SetOnDrop(&over);
        let vanishing = UdtStream::connect_with(outside, &quick.clone().offload(false)).unwrap();
        let (half_dead, _) = listener.accept().unwrap();
        deaf.store(true, Ordering::Relaxed);
        fill(&half_dead);
        let client = UdtStream::connect_with(inside, &quick).unwrap();
        let (server, _) = listener.accept().unwrap();
        carry(&client, &server, &pattern(1, 5_000_000));
        // Without any packet of the peer the connection times out.
        let error = (&half_dead).read(&mut [0]).unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::TimedOut);
        vanishing.abort();
    });
}

#[test]
fn a_flood_of_handshakes_stops_neither_transfers_nor_new_clients() {
    let (listener, address) = listen::<UdtStream>(&options());
    let client = UdtStream::connect_with(address, &options()).unwrap();
    let (server, _) = listener.accept().unwrap();
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            let sockets: Vec<UdpSocket> =
                (1..50).map(|host| UdpSocket::bind(SocketAddr::from(([127, 1, 0, host], 0))).unwrap()).collect();
            let word = first_handshake();
            while !over.load(Ordering::Relaxed) {
                for socket in &sockets {
                    let _lost = socket.send_to(&word, address);
                }
                // Twice as many a second as are answered. Without a pause the few of the new client are lost among
                // hundreds of thousands a second, and the test measures how fast this machine sends and receives.
                thread::sleep(Duration::from_millis(1));
            }
        });
        let _over = SetOnDrop(&over);
        carry(&client, &server, &pattern(1, 3_000_000));
        // Half of its handshakes are not answered, and the socket of a busy machine may have no room for more.
        let another = UdtStream::connect_with(address, &options().connect_timeout(Span::from_secs(30))).unwrap();
        let (accepted, _) = listener.accept().unwrap();
        carry(&another, &accepted, &pattern(2, 100_000));
    });
}

#[test]
fn the_window_is_what_the_path_needs() {
    let (listener, address) = listen::<UdtStream>(&Options::default());
    let client = UdtStream::connect(address).unwrap();
    let (server, _) = listener.accept().unwrap();
    carry(&client, &server, &pattern(1, 100_000));
    let room = server.stats().unwrap().udt.rcv_space;
    // Less the data read last, which has not been reported to the protocol.
    assert!((400..=512).contains(&room), "{room} packets for a small one: the least there is");
    carry(&client, &server, &pattern(1, 30_000_000));
    let room = server.stats().unwrap().udt.rcv_space;
    assert!((513..=25_600).contains(&room), "{room} packets for a long one");
    let small = UdtStream::connect_with(address, &options().receive_buffer(64)).unwrap();
    let (server, _) = listener.accept().unwrap();
    carry(&server, &small, &pattern(1, 3_000_000));
    assert!(small.stats().unwrap().udt.rcv_space <= 64, "the option is the most there is");
}
