//! Two ports that reach each other through a relay alone, on the sockets with which they have asked it for each other.

#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

use std::io::{Read, Write};
use std::net::{SocketAddr, UdpSocket};
use std::thread;
use std::time::Duration;

use cwnd::Span;
use cwnd_meet::{Client, Handled, Limits, Response, Role, Room, Rooms};
use cwnd_net::{Options, UdtPort, UdtStream};

/// Serves until nothing has come for a second.
fn relay(socket: &UdpSocket) {
    let mut rooms = Rooms::new([5; 32], Limits::default());
    socket.set_read_timeout(Some(Duration::from_secs(1))).unwrap();
    let mut buffer = vec![0; 1 << 16];
    while let Ok((length, from)) = socket.recv_from(&mut buffer) {
        let _lost_at_worst = match rooms.handle(Duration::ZERO, from, &buffer[..length]) {
            Handled::Answer(answer) => socket.send_to(&answer, from),
            Handled::Forward(to) => socket.send_to(&buffer[..length], to),
            Handled::Dropped => Ok(0),
        };
    }
}

/// A port on the socket that has met the other one at the relay, and where the relay sees the other.
fn meet(relay: SocketAddr, room: Room, role: Role) -> (UdtPort, SocketAddr) {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
    let mut client = Client::new(room, role);
    let mut buffer = [0; 100];
    loop {
        socket.send_to(&client.request(), relay).unwrap();
        let Ok((length, _)) = socket.recv_from(&mut buffer) else { continue };
        match client.handle(&buffer[..length]) {
            Response::Peer(peer) => {
                let options = Options::default().rendezvous_timeout(Span::from_secs(20)).linger(Span::from_secs(20));
                return (UdtPort::on(socket, &options).unwrap(), peer);
            }
            Response::Waiting => thread::sleep(Duration::from_millis(10)),
            // The other end may have begun its rendezvous.
            Response::Challenge | Response::Ignored => {}
            Response::Busy | Response::Full => panic!("there is room for two"),
        }
    }
}

#[test]
fn what_a_relay_passes_on_is_a_connection_and_so_is_what_it_introduces() {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let at = socket.local_addr().unwrap();
    let serving = thread::spawn(move || relay(&socket));
    // Each pair has a room of its own: time stands still for the relay, and a pair that it relays keeps its places.
    for (relayed, room) in [(true, Room([8; 16])), (false, Room([9; 16]))] {
        let host = thread::spawn(move || {
            let (port, peer) = meet(at, room, Role::Host);
            let mut stream: UdtStream = port.rendezvous(if relayed { at } else { peer }).unwrap();
            let mut all = Vec::new();
            stream.read_to_end(&mut all).unwrap();
            (port.local_addr(), all)
        });
        let (port, peer) = meet(at, room, Role::Guest);
        let mut stream: UdtStream = port.rendezvous(if relayed { at } else { peer }).unwrap();
        let sent: Vec<u8> = (0..300_000_u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
        stream.write_all(&sent).unwrap();
        stream.close().unwrap();
        let (local, received) = host.join().unwrap();
        assert_eq!(local, peer, "the socket that the relay has seen became the port");
        assert!(received == sent);
    }
    serving.join().unwrap();
}
