//! Streams over loopback: every byte, in order, both ways.

use std::io::{Read, Write};
use std::thread;

use cwnd_net::{Options, UdtListener, UdtStream};

/// Bytes that differ at every offset, so that none can be lost, doubled or moved unseen.
fn pattern(seed: u64, size: usize) -> Vec<u8> {
    let mut state = seed;
    let next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    };
    std::iter::repeat_with(next).take(size).collect()
}

fn exchange(options: &Options, size: usize) {
    let listener: UdtListener = UdtListener::bind_with("127.0.0.1:0".parse().unwrap(), options).unwrap();
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
    exchange(&Options::default().linger(cwnd::Span::from_secs(3)), 3_000_001);
}

#[test]
fn bytes_arrive_both_ways_without_offload() {
    exchange(&Options::default().linger(cwnd::Span::from_secs(3)).offload(false), 3_000_001);
}
