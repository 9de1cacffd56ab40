//! Streams over loopback: every byte, in order, both ways.

#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

mod common;

use std::io::{Read, Write};
use std::net::SocketAddr;
use std::thread;
use std::time::Duration;

use common::{listen, options, pattern};
use cwnd::{BitRate, Span, Spec};
use cwnd_net::{CloseError, Options, UdtListener, UdtPort, UdtStream};

/// Sends `size` bytes both ways at once.
fn exchange(local: SocketAddr, options: &Options, size: usize) {
    let listener: UdtListener = UdtListener::bind_with(local, options).unwrap();
    let address = listener.local_addr();
    let (there, back) = (pattern(1, size), pattern(2, size));
    thread::scope(|scope| {
        scope.spawn(|| {
            let (stream, _) = listener.accept().unwrap();
            thread::scope(|scope| {
                scope.spawn(|| (&stream).write_all(&back).unwrap());
                let mut got = vec![0; size];
                (&stream).read_exact(&mut got).unwrap();
                assert!(got == there, "what the server got");
            });
            stream.close().unwrap();
        });
        let stream = UdtStream::connect_with(address, options).unwrap();
        thread::scope(|scope| {
            scope.spawn(|| (&stream).write_all(&there).unwrap());
            let mut got = Vec::new();
            (&stream).read_to_end(&mut got).unwrap();
            assert!(got == back, "what the client got");
        });
    });
}

#[test]
fn bytes_arrive_both_ways() {
    exchange(common::local(), &options(), 3_000_001);
}

#[test]
fn bytes_arrive_both_ways_without_offload() {
    exchange(common::local(), &options().offload(false), 3_000_001);
}

#[test]
fn bytes_arrive_over_ipv6() {
    exchange("[::1]:0".parse().unwrap(), &options(), 300_001);
}

#[test]
fn bytes_arrive_through_buffers_of_a_few_packets() {
    exchange(common::local(), &options().send_buffer(32).receive_buffer(32), 500_001);
}

#[test]
fn bytes_arrive_under_a_window_algorithm() {
    exchange(common::local(), &options().algorithm(Spec::parse("cubic").unwrap()), 3_000_001);
}

#[test]
fn a_socket_on_every_address_answers_from_the_destination_address() {
    let listener: UdtListener = UdtListener::bind_with("0.0.0.0:0".parse().unwrap(), &options()).unwrap();
    let port = listener.local_addr().port();
    // The client would drop answers from 127.0.0.1.
    let client = UdtStream::connect_with(("127.0.0.2", port), &options()).unwrap();
    let (server, _) = listener.accept().unwrap();
    (&client).write_all(b"there").unwrap();
    let mut got = [0; 5];
    (&server).read_exact(&mut got).unwrap();
    (&server).write_all(&got).unwrap();
    (&client).read_exact(&mut got).unwrap();
    assert_eq!((&got, server.local_addr().ip().to_string().as_str()), (b"there", "127.0.0.2"));
}

#[test]
fn many_connections_share_two_ports() {
    let (listener, address) = listen::<UdtStream>(&options());
    let port = UdtPort::bind(common::local(), &options()).unwrap();
    let clients: Vec<UdtStream> = (0..50).map(|_| port.connect(address).unwrap()).collect();
    thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..clients.len() {
                let (stream, _) = listener.accept().unwrap();
                scope.spawn(move || {
                    let mut got = [0; 50_000];
                    (&stream).read_exact(&mut got).unwrap();
                    (&stream).write_all(&got).unwrap();
                    stream.close().unwrap();
                });
            }
        });
        for (seed, stream) in clients.iter().enumerate() {
            let bytes = pattern(seed as u64, 50_000);
            scope.spawn(move || {
                (&*stream).write_all(&bytes).unwrap();
                let mut got = Vec::new();
                (&*stream).read_to_end(&mut got).unwrap();
                assert!(got == bytes, "connection {seed}");
            });
        }
    });
}

#[test]
fn a_slow_reader_delays_nobody_else() {
    let small = options().send_buffer(64).receive_buffer(64);
    let (listener, address) = listen::<UdtStream>(&small);
    let port = UdtPort::bind(common::local(), &small).unwrap();
    let (slow, fast): (UdtStream, UdtStream) = (port.connect(address).unwrap(), port.connect(address).unwrap());
    let (first, second) = (listener.accept().unwrap().0, listener.accept().unwrap().0);
    // Until the buffers of both ends are full.
    slow.set_write_timeout(Some(Duration::from_millis(300)));
    let bytes = pattern(1, 1_000_000);
    let error = (&slow).write_all(&bytes).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::WouldBlock);
    let stuck = slow.stats().unwrap();
    thread::scope(|scope| {
        scope.spawn(|| (&fast).write_all(&bytes).unwrap());
        let mut got = vec![0; bytes.len()];
        (&second).read_exact(&mut got).unwrap();
        assert!(got == bytes);
    });
    assert!(stuck.udt.bytes_acked <= 66 * 1_456, "{} bytes were received", stuck.udt.bytes_acked);
    // Reading makes room, which the sender is granted.
    slow.set_write_timeout(Some(Duration::from_secs(10)));
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut got = vec![0; 200_000];
            (&first).read_exact(&mut got).unwrap();
        });
        (&slow).write_all(&bytes[..100_000]).unwrap();
    });
    slow.abort();
    first.abort();
}

#[test]
fn closing_delivers_everything() {
    let (listener, address) = listen::<UdtStream>(&options());
    let bytes = pattern(3, 2_000_000);
    let sent = bytes.clone();
    let client = thread::spawn(move || {
        // Slow enough that most of it is still here when the stream is closed.
        let options = options().max_rate(BitRate(5e7));
        let mut stream = UdtStream::connect_with(address, &options).unwrap();
        stream.write_all(&sent).unwrap();
        stream.close()
    });
    let (mut stream, _) = listener.accept().unwrap();
    let mut got = Vec::new();
    stream.read_to_end(&mut got).unwrap();
    assert!(got == bytes);
    assert_eq!(client.join().unwrap(), Ok(()));
}

#[test]
fn dropping_delivers_everything_too() {
    let (listener, address) = listen::<UdtStream>(&options());
    let client = thread::spawn(move || {
        UdtStream::connect_with(address, &options()).unwrap().write_all(&[7; 100_000]).unwrap();
    });
    let (mut stream, _) = listener.accept().unwrap();
    let mut got = Vec::new();
    stream.read_to_end(&mut got).unwrap();
    assert_eq!(got, [7; 100_000]);
    client.join().unwrap();
}

#[test]
fn lingering_times_out() {
    let options = options().receive_buffer(32).linger(Span::from_millis(200));
    let (listener, address) = listen::<UdtStream>(&options);
    let mut client = UdtStream::connect_with(address, &options).unwrap();
    let (_unread, _) = listener.accept().unwrap();
    client.write_all(&[0; 100_000]).unwrap();
    assert_eq!(client.close(), Err(CloseError::Lingered));
}

#[test]
fn writing_after_the_peer_closed_fails_and_reading_ends() {
    let (listener, address) = listen::<UdtStream>(&options());
    let mut client = UdtStream::connect_with(address, &options()).unwrap();
    let (mut server, _) = listener.accept().unwrap();
    server.write_all(b"last words").unwrap();
    server.close().unwrap();
    let mut text = String::new();
    client.read_to_string(&mut text).unwrap();
    assert_eq!(text, "last words");
    assert_eq!(client.write(b"?").unwrap_err().kind(), std::io::ErrorKind::BrokenPipe);
    assert_eq!(client.close(), Ok(()));
}

#[test]
fn reading_times_out() {
    let (listener, address) = listen::<UdtStream>(&options());
    let mut client = UdtStream::connect_with(address, &options()).unwrap();
    let (_server, _) = listener.accept().unwrap();
    client.set_read_timeout(Some(Duration::from_millis(20)));
    assert_eq!(client.read(&mut [0; 1]).unwrap_err().kind(), std::io::ErrorKind::WouldBlock);
}

#[test]
fn stats_count_what_happened() {
    let (listener, address) = listen::<UdtStream>(&options());
    let mut client = UdtStream::connect_with(address, &options()).unwrap();
    let (mut server, _) = listener.accept().unwrap();
    client.write_all(&[1; 100_000]).unwrap();
    server.read_exact(&mut [0; 100_000]).unwrap();
    let stats = server.stats().unwrap();
    assert_eq!((stats.udt.bytes_received, stats.udt.data_segs_in), (100_000, 69));
    let line = stats.to_string();
    assert!(line.contains("bytes_received:100000") && line.contains("limited by the application"), "{line}");
}
