//! Messages over loopback: whole, or not at all.

#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

mod common;

use std::thread;
use std::time::Duration;

use common::{listen, options, pattern};
use cwnd::Span;
use cwnd_net::{MessageOptions, ReceiveError, SendError, UdtMessenger, UdtStream};

const IN_ORDER: MessageOptions = MessageOptions::new().in_order();

#[test]
fn messages_keep_their_bounds_both_ways() {
    let (listener, address) = listen::<UdtMessenger>(&options());
    let client = UdtMessenger::connect_with(address, &options()).unwrap();
    let (server, _) = listener.accept().unwrap();
    let sizes = [1, 1_456, 1_457, 100_000, 7, 2_912, 500_000];
    thread::scope(|scope| {
        scope.spawn(|| {
            for (seed, size) in sizes.into_iter().enumerate() {
                let got = server.receive().unwrap();
                assert!(got == pattern(seed as u64, size), "message {seed}");
                server.send(&got, IN_ORDER).unwrap();
            }
        });
        for (seed, size) in sizes.into_iter().enumerate() {
            client.send(&pattern(seed as u64, size), IN_ORDER).unwrap();
        }
        for (seed, size) in sizes.into_iter().enumerate() {
            assert!(client.receive().unwrap() == pattern(seed as u64, size), "message {seed} back");
        }
    });
    client.close().unwrap();
    assert!(matches!(server.receive(), Err(ReceiveError::Ended(_))));
}

#[test]
fn a_reader_that_sleeps_bounds_what_is_accepted() {
    let small = options().send_buffer(64).receive_buffer(64);
    let (listener, address) = listen::<UdtMessenger>(&small);
    let client = UdtMessenger::connect_with(address, &small).unwrap();
    let (server, _) = listener.accept().unwrap();
    client.set_write_timeout(Some(Duration::from_millis(300)));
    let mut sent = 0_u32;
    while client.send(&sent.to_be_bytes(), IN_ORDER).is_ok() {
        sent += 1;
        assert!(sent < 1_000, "nobody reads");
    }
    client.set_write_timeout(None);
    // Those of the sender's buffer, of the receiver's, and 64 packets that lie with the application.
    assert!(sent <= 64 + 64 + 2 + 64, "{sent} were accepted");
    // Everything accepted arrives, in order, and then there is room again.
    for number in 0..sent {
        assert_eq!(server.receive().unwrap(), number.to_be_bytes());
    }
    client.send(b"again", IN_ORDER).unwrap();
    assert_eq!(server.receive().unwrap(), b"again");
}

#[test]
fn an_expired_message_is_dropped_and_the_next_arrives() {
    let small = options().receive_buffer(32);
    let (listener, address) = listen::<UdtMessenger>(&small);
    let client = UdtMessenger::connect_with(address, &small).unwrap();
    let (server, _) = listener.accept().unwrap();
    // The first fill the receiver, so that those that follow wait here.
    for _ in 0..200 {
        client.send(&[1; 1_000], IN_ORDER).unwrap();
    }
    client.send(&[2; 1_000], IN_ORDER.ttl(Span::from_millis(50))).unwrap();
    client.send(&[3; 1_000], IN_ORDER).unwrap();
    thread::sleep(Duration::from_millis(200));
    let got: Vec<u8> = (0..201).map(|_| server.receive().unwrap()[0]).collect();
    assert_eq!((got[199], got[200]), (1, 3));
}

#[test]
fn expired_messages_make_room_although_nobody_reads() {
    let small = options().send_buffer(64).receive_buffer(64);
    let (listener, address) = listen::<UdtMessenger>(&small);
    let client = UdtMessenger::connect_with(address, &small).unwrap();
    let (server, _) = listener.accept().unwrap();
    client.set_write_timeout(Some(Duration::from_secs(2)));
    for number in 0..400_u32 {
        client
            .send(&[&number.to_be_bytes()[..], &[0; 4_000]].concat(), IN_ORDER.ttl(Span::from_millis(10)))
            .unwrap_or_else(|error| panic!("message {number}: {error}"));
    }
    assert!(client.stats().unwrap().udt.expired > 100);
    // A reader that starts now gets whole messages, and those sent from now on.
    client.send(b"the last", IN_ORDER).unwrap();
    while server.receive().unwrap() != b"the last" {}
}

#[test]
fn messages_that_cannot_be_sent_are_refused() {
    let (listener, address) = listen::<UdtMessenger>(&options().send_buffer(32));
    let client = UdtMessenger::connect_with(address, &options().send_buffer(32)).unwrap();
    let _server = listener.accept().unwrap();
    assert_eq!(client.send(b"", IN_ORDER), Err(SendError::Empty));
    let buffer = 32 * 1_456;
    assert_eq!(client.send(&[0; 50_000], IN_ORDER), Err(SendError::TooLong { bytes: 50_000, buffer }));
}

#[test]
fn a_stream_does_not_become_a_messenger() {
    let (_listener, address) = listen::<UdtMessenger>(&options());
    let error = UdtStream::connect_with(address, &options()).unwrap_err();
    assert!(error.to_string().contains("refused"), "{error}");
}
