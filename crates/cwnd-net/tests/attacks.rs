//! Attacks on a port by raw datagrams, and what it may cost.

#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

mod common;
#[path = "common/set_on_drop.rs"]
mod set_on_drop;

use std::io::{Read, Write};
use std::net::{SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use common::{listen, options, pattern};
use cwnd_net::UdtStream;
use cwnd_udt::SocketId;
use cwnd_udt::testing::{data, handshake};
use cwnd_udt::wire::{Control, Packet, Request};
use set_on_drop::SetOnDrop;

/// Tests here measure the memory of the process, and so run one after the other.
static ALONE: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The socket of an attacker, for any number of connections.
struct Attacker {
    socket: UdpSocket,
    clients: u32,
}

impl Attacker {
    fn new(victim: SocketAddr) -> Self {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        socket.connect(victim).unwrap();
        socket.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
        Self { socket, clients: 0 }
    }

    /// Opens another connection: its id, or none if it is refused.
    fn connect(&mut self) -> Option<SocketId> {
        self.clients += 1;
        let (_, cookie) = self.ask(&handshake(Request::Regular, self.clients, 0));
        let answer = self.ask(&handshake(Request::Response, self.clients, cookie));
        Some(answer).filter(|answer| answer.0 != SocketId::new(self.clients)).and_then(|answer| answer.0)
    }

    /// Sends a handshake, and waits for the answer to this client: the id and the cookie in it.
    fn ask(&self, request: &[u8]) -> (Option<SocketId>, u32) {
        let mut buffer = [0; 2000];
        self.send(request);
        loop {
            let Ok(size) = self.socket.recv(&mut buffer) else {
                // The listener was not there yet.
                self.send(request);
                continue;
            };
            if let Ok(Packet::Control { to, control: Control::Handshake(answer), .. }) = Packet::parse(&buffer[..size])
                && to == SocketId::new(self.clients)
            {
                return (answer.id, answer.cookie);
            }
        }
    }

    fn send(&self, datagram: &[u8]) {
        self.socket.send(datagram).unwrap();
    }
}

/// Resident memory of this process in bytes.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1024
}

// 81 KB in all once made 800 MB of memory.
#[test]
fn a_packet_far_ahead_costs_what_a_near_one_does() {
    let _alone = alone();
    let (listener, address) = listen::<UdtStream>(&options().backlog(1000));
    let mut attacker = Attacker::new(address);
    let ids: Vec<_> = (0..1000).map(|_| attacker.connect().unwrap()).collect();
    let accepted: Vec<_> = ids.iter().map(|_| listener.accept().unwrap().0).collect();
    let before = resident();
    for id in &ids {
        // As far as is granted in the beginning, as the handshake says, and as the least buffer is long.
        for number in [511, 25_601, 31] {
            attacker.send(&data(*id, number, 1));
        }
        thread::sleep(Duration::from_micros(300));
    }
    thread::sleep(Duration::from_millis(100));
    let each = resident().saturating_sub(before) / 1000;
    let counted = accepted.iter().filter(|stream| stream.stats().is_some_and(|stats| stats.udt.data_segs_in == 2));
    assert_eq!(counted.count(), 1000, "what was granted has arrived, and nothing else");
    println!("{each} bytes for each connection");
    assert!(each < 12_000, "{each} bytes for each connection");
    accepted.into_iter().for_each(UdtStream::abort);
}

#[test]
fn what_nobody_reads_is_bounded_for_the_port() {
    let _alone = alone();
    let (listener, address) = listen::<UdtStream>(&options().memory(4 << 20));
    let mut attacker = Attacker::new(address);
    let ids: Vec<_> = (0..20).map(|_| attacker.connect().unwrap()).collect();
    let accepted: Vec<_> = ids.iter().map(|_| listener.accept().unwrap().0).collect();
    let before = resident();
    // All but the first, so that nothing can be read.
    for number in 1..512 {
        for id in &ids {
            attacker.send(&data(*id, number, 1456));
        }
        thread::sleep(Duration::from_millis(1));
    }
    thread::sleep(Duration::from_millis(100));
    let kept: u64 = accepted.iter().filter_map(UdtStream::stats).map(|stats| stats.udt.bytes_received).sum();
    let grown = resident().saturating_sub(before);
    println!("{kept} bytes kept of 15 MB, {grown} bytes of memory");
    // Half of it for the one address, and a block of 64 KiB for each connection.
    let bound = (2 << 20) + 20 * (64 << 10);
    assert!((1_000_000..=bound).contains(&kept) && grown < 2 * bound, "{kept} bytes kept, {grown} of memory");
    accepted.into_iter().for_each(UdtStream::abort);
}

#[test]
fn what_nobody_acknowledges_is_bounded_for_the_port() {
    let _alone = alone();
    let written = |memory| {
        let (listener, address) = listen::<UdtStream>(&options().memory(memory));
        let clients: Vec<_> = (0..4).map(|_| UdtStream::connect_with(address, &options()).unwrap()).collect();
        let servers: Vec<_> = clients.iter().map(|_| listener.accept().unwrap().0).collect();
        let enough = AtomicBool::new(false);
        thread::scope(|scope| {
            // Data that the network carries raises the limit of data that may be written ahead; then nothing is read any more.
            let read = |mut client: &UdtStream| client.read_exact(&mut vec![0; 5_000_000]).unwrap();
            let readers: Vec<_> = clients.iter().map(|client| scope.spawn(move || read(client))).collect();
            for mut server in &servers {
                let enough = &enough;
                scope.spawn(move || {
                    server.set_write_timeout(Some(Duration::from_millis(100)));
                    let piece = pattern(1, 65_536);
                    while !enough.load(Ordering::Relaxed) {
                        // A receiver without room still takes two packets for each acknowledgement.
                        let _full = server.write(&piece);
                    }
                });
            }
            let _enough = SetOnDrop(&enough);
            readers.into_iter().for_each(|reader| reader.join().unwrap());
            thread::sleep(Duration::from_millis(500));
        });
        let waiting =
            |stream: &UdtStream| stream.stats().map_or(0, |stats| stats.udt.notsent + stats.udt.unacked * 1456);
        let waiting: u64 = servers.iter().map(waiting).sum();
        servers.into_iter().chain(clients).for_each(UdtStream::abort);
        waiting
    };
    let (narrow, wide) = (written(1 << 20), written(512 << 20));
    println!("{narrow} bytes wait, or {wide} with more memory");
    // Half a megabyte for the one address, and 180 packets for each connection.
    assert!(narrow <= (1 << 19) + 4 * 181 * 1456, "{narrow}");
    assert!(wide > 2 * narrow, "{wide}");
}

#[test]
fn an_address_has_so_many_connections_and_no_more() {
    let _alone = alone();
    let (listener, address) = listen::<UdtStream>(&options().max_clients(5, 3));
    let mut attacker = Attacker::new(address);
    let connected: Vec<bool> = (0..6).map(|_| attacker.connect().is_some()).collect();
    assert_eq!(connected, [true, true, true, false, false, false]);
    // The connection is there until its shutdown has been sent three times.
    listener.accept().unwrap().0.abort();
    thread::sleep(Duration::from_secs(1));
    assert!(attacker.connect().is_some());
}
