//! Handshakes between two endpoints, and requests without a valid cookie.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use cwnd::Span;
use proptest::prelude::*;

use super::listening::MAX_ANSWERS;
use super::*;
use crate::connection::Transmit;
use crate::settings::Mode;

const MILLISECOND: Span = Span::from_millis(1);

fn address(last: u8) -> SocketAddr {
    SocketAddr::new(IpAddr::V4(Ipv4Addr::new(10, 0, 0, last)), 9000)
}

fn at(millis: u64) -> Time {
    Time::ZERO + Span::from_millis(millis)
}

fn arrived(now: Time) -> Arrived {
    Arrived { now, coalesced: false }
}

fn endpoint(seed: u8) -> Endpoint {
    Endpoint::new(&EndpointConfig::new([seed; 32]))
}

fn listening(seed: u8, settings: &Settings, backlog: usize) -> Endpoint {
    let mut server = endpoint(seed);
    server.listen(settings.clone(), backlog).unwrap();
    server
}
use crate::wire::{Message, Request};

/// Endpoints on a network of one millisecond, and what a wire-tapper decides to lose.
struct Net<F> {
    now: Time,
    ends: Vec<(SocketAddr, Endpoint)>,
    flight: VecDeque<(Time, SocketAddr, SocketAddr, Vec<u8>)>,
    lose: F,
    sent: Vec<Datagram>,
}

impl<F: FnMut(&Datagram) -> bool> Net<F> {
    fn new(ends: Vec<Endpoint>, lose: F) -> Self {
        let ends = (1..).map(address).zip(ends).collect();
        Self { now: Time::ZERO, ends, flight: VecDeque::new(), lose, sent: Vec::new() }
    }

    fn end(&mut self, index: usize) -> &mut Endpoint {
        &mut self.ends[index].1
    }

    fn run(&mut self, until: Time) {
        while self.now < until {
            while let Some((_, from, to, datagram)) = self.flight.pop_front_if(|(due, ..)| *due <= self.now) {
                if let Some((_, end)) = self.ends.iter_mut().find(|(address, _)| *address == to) {
                    end.handle(arrived(self.now), from, &datagram);
                }
            }
            for (from, end) in &mut self.ends {
                end.handle_timeout(self.now);
                while let Some(sent) = end.poll_transmit(self.now) {
                    let mut datagram = Vec::new();
                    sent.encode(&mut datagram);
                    if !(self.lose)(&sent) {
                        self.flight.push_back((self.now + MILLISECOND, *from, sent.to, datagram));
                    }
                    self.sent.push(sent);
                }
            }
            self.now += MILLISECOND.min(until.since(self.now));
        }
    }

    fn events(&mut self, index: usize) -> Vec<Event> {
        std::iter::from_fn(|| self.end(index).poll_event()).map(|(_, event)| event).collect()
    }

    fn handshakes(&self) -> Vec<Request> {
        let handshake = |sent: &Datagram| match &sent.transmit {
            Transmit::Handshake(handshake) => Some(handshake.request),
            _ => None,
        };
        self.sent.iter().filter_map(handshake).collect()
    }
}

fn all_arrive(_: &Datagram) -> bool {
    false
}

fn is(sent: &Datagram, request: Request) -> bool {
    matches!(&sent.transmit, Transmit::Handshake(handshake) if handshake.request == request)
}

fn accepted(events: &[Event]) -> usize {
    events.iter().filter(|event| matches!(event, Event::Accepted { .. })).count()
}

/// A client's handshake as bytes.
fn request(client: u32, request: Request, cookie: u32, change: impl FnOnce(&mut Handshake)) -> Vec<u8> {
    let mut handshake = Handshake {
        version: 4,
        socket_type: 1,
        isn: Seq::new(77).unwrap(),
        mss: 1500,
        window: 8192,
        request,
        id: SocketId::new(client),
        cookie,
        address: [0; 16],
    };
    change(&mut handshake);
    let mut datagram = Vec::new();
    Control::Handshake(handshake).encode(None, 0, &mut datagram);
    datagram
}

/// The handshake an endpoint sends next.
fn answer(endpoint: &mut Endpoint, now: Time) -> Option<Handshake> {
    endpoint.poll_transmit(now).map(|sent| match sent.transmit {
        Transmit::Handshake(handshake) => handshake,
        other => panic!("{other:?}"),
    })
}

/// The answer of a server to a client that returns its cookie.
fn connect_from(server: &mut Endpoint, now: Time, client: u32, change: impl Fn(&mut Handshake)) -> Option<Handshake> {
    server.handle(arrived(now), address(9), &request(client, Request::Regular, 0, &change));
    let cookie = answer(server, now).expect("a challenge").cookie;
    server.handle(arrived(now), address(9), &request(client, Request::Response, cookie, &change));
    answer(server, now)
}

#[test]
fn a_client_connects_with_four_handshakes() {
    let settings = Settings { mss: 1400, receive_buffer: 1000, ..Settings::default() };
    let mut net = Net::new(vec![endpoint(1), listening(2, &settings, 1)], all_arrive);
    net.end(0).connect(at(0), address(2), Settings::default()).unwrap();
    net.run(at(10));
    assert_eq!(net.events(0), [Event::Connected]);
    assert_eq!(net.events(1), [Event::Accepted { from: address(1) }]);
    assert_eq!(net.handshakes(), [Request::Regular, Request::Regular, Request::Response, Request::Response]);
    let agreed = |net: &mut Net<_>, index| net.end(index).table.get(0).unwrap().open().unwrap().agreed;
    let (client, server) = (agreed(&mut net, 0), agreed(&mut net, 1));
    assert_eq!((client.payload, server.payload), (1356, 1356));
    assert_eq!((client.peer_window, server.peer_window), (1000, 25_600));
    assert_eq!(client.isn_ours, client.isn_theirs);
    assert_eq!((client.isn_ours, client.isn_theirs), (server.isn_theirs, server.isn_ours));
    assert_ne!(client.seed, server.seed);
}

#[test]
fn any_one_lost_handshake_is_made_up_for() {
    for lost in 0..4 {
        let mut count = 0;
        let lose = |sent: &Datagram| {
            let handshake = matches!(sent.transmit, Transmit::Handshake(_));
            count += u32::from(handshake);
            handshake && count == lost + 1
        };
        let mut net = Net::new(vec![endpoint(1), listening(2, &Settings::default(), 1)], lose);
        net.end(0).connect(at(0), address(2), Settings::default()).unwrap();
        net.run(at(400));
        assert_eq!(net.events(0), [Event::Connected], "without handshake {lost}");
        assert_eq!(accepted(&net.events(1)), 1, "without handshake {lost}");
        assert_eq!(net.end(1).connections(), 1, "the repeated answer names the same connection");
    }
}

#[test]
fn an_unreachable_server_is_given_up_after_three_seconds() {
    let mut net = Net::new(vec![endpoint(1)], all_arrive);
    net.end(0).connect(at(0), address(2), Settings::default()).unwrap();
    net.run(at(3000));
    assert_eq!(net.events(0), []);
    net.run(at(3002));
    assert_eq!(net.events(0), [Event::Refused(Refusal::Timeout)]);
    assert_eq!(net.sent.len(), 12, "one each 250 ms");
    assert_eq!(net.end(0).next_timeout(), None);
}

#[test]
fn a_host_that_wakes_late_sends_once() {
    let mut client = endpoint(1);
    client.connect(at(0), address(2), Settings::default()).unwrap();
    for late in [0, 2900] {
        client.handle_timeout(at(late));
        let sent = std::iter::from_fn(|| client.poll_transmit(at(late))).count();
        assert_eq!(sent, 1, "at {late} ms");
    }
}

#[test]
fn a_refusal_is_reported_as_one() {
    let messages = Settings { mode: Mode::Messages, ..Settings::default() };
    let mut net = Net::new(vec![endpoint(1), listening(2, &messages, 1)], all_arrive);
    net.end(0).connect(at(0), address(2), Settings::default()).unwrap();
    net.run(at(10));
    assert_eq!(net.events(0), [Event::Refused(Refusal::Rejected)]);
    assert_eq!((net.events(1), net.end(1).connections(), net.end(1).stats().rejected), (vec![], 0, 1));
}

#[test]
fn a_client_without_room_is_told_to_try_again() {
    let mut net = Net::new(vec![endpoint(1), listening(2, &Settings::default(), 0)], all_arrive);
    net.end(0).connect(at(0), address(2), Settings::default()).unwrap();
    net.run(at(10));
    assert_eq!(net.events(0), [Event::Refused(Refusal::Full)]);
    assert_eq!(Refusal::Full.to_string(), "the other side is full, try again");
}

/// A server with `max_clients` places for clients, of which half are for one address.
fn roomy(max_clients: u32) -> Endpoint {
    let max_clients_per_address = max_clients / 2;
    let bounds = EndpointConfig {
        max_clients,
        max_clients_per_address,
        clients_make_room: true,
        ..EndpointConfig::new([2; 32])
    };
    let mut server = Endpoint::new(&bounds);
    server.listen(Settings::default(), 2 * max_clients as usize).unwrap();
    server
}

/// The answer of a server to a client at `from`, whose id is its port, and the connection if it was accepted. The host accepts it, and
/// removes connections that have ended.
fn come(server: &mut Endpoint, from: SocketAddr) -> (Request, Option<Handle>) {
    let answers = |server: &mut Endpoint, sent: &[u8]| -> Vec<Handshake> {
        server.handle(arrived(at(0)), from, sent);
        let sent = std::iter::from_fn(|| server.poll_transmit(at(0)));
        sent.filter_map(|sent| if let Transmit::Handshake(sent) = sent.transmit { Some(sent) } else { None }).collect()
    };
    let client = u32::from(from.port());
    // Answers without a cookie are limited, which is another test's.
    server.answers.0 = MAX_ANSWERS;
    let cookie = answers(server, &request(client, Request::Regular, 0, |_| ()))[0].cookie;
    let answer = answers(server, &request(client, Request::Response, cookie, |_| ()))[0].request;
    let mut accepted = None;
    while let Some((handle, event)) = server.poll_event() {
        match event {
            Event::Accepted { .. } => {
                server.accept(handle);
                accepted = Some(handle);
            }
            _ => server.remove(handle),
        }
    }
    (answer, accepted)
}

fn from(network: u8, host: u8, port: u16) -> SocketAddr {
    SocketAddr::from(([192, 0, network, host], port))
}

// 8 addresses with 850 new connections a second once left no time to anybody else.
#[test]
fn a_crowd_takes_no_place_of_a_network_that_has_fewer() {
    let mut server = roomy(64);
    let (answer, honest) = come(&mut server, from(100, 1, 1));
    assert_eq!(answer, Request::Response);
    for port in 1..3_000 {
        assert_eq!(come(&mut server, from((port % 8) as u8, 1, port)).0, Request::Response);
        assert!(server.connections() <= 64 && server.clients.len() <= 64, "as many as are allowed");
    }
    assert!(server.connection(honest.unwrap()).is_some(), "it lost its place");
    let (answer, late) = come(&mut server, from(101, 1, 1));
    assert_eq!(answer, Request::Response, "the crowd has every place");
    assert!((1..100).all(|port| come(&mut server, from(1, 1, 10_000 + port)).0 == Request::Response));
    assert!(server.connection(late.unwrap()).is_some());
    assert_eq!(server.waiting, 0);
}

// After 120 handshakes an honest client of the same address was refused for some seconds.
#[test]
fn who_connects_often_makes_room_for_its_own_address() {
    let mut server = roomy(64);
    let kept = come(&mut server, from(1, 1, 1)).1.unwrap();
    server.set_standing(kept, Standing::Kept);
    for port in 2..500 {
        assert_eq!(come(&mut server, from(1, 1, port)).0, Request::Response, "{port}");
    }
    assert!(server.connection(kept).is_some() && server.clients.len() == 32);
    assert_eq!(server.stats().evicted, 499 - 32);
}

#[test]
fn who_is_kept_makes_no_room() {
    let mut server = roomy(8);
    for port in 1..5 {
        for network in [1, 2] {
            let kept = come(&mut server, from(network, 1, port)).1.unwrap();
            server.set_standing(kept, Standing::Kept);
        }
    }
    assert_eq!(come(&mut server, from(3, 1, 1)), (Request::Rejected, None));
    assert_eq!((server.connections(), server.stats().evicted), (8, 0));
}

#[test]
fn the_backlog_counts_connections_that_nobody_has_taken() {
    let mut server = listening(2, &Settings::default(), 2);
    let connect_from = |server: &mut Endpoint, client| connect_from(server, at(0), client, |_| ()).unwrap().request;
    assert_eq!(connect_from(&mut server, 1), Request::Response);
    let (first, _) = server.poll_event().unwrap();
    assert_eq!(connect_from(&mut server, 2), Request::Response);
    assert_eq!(connect_from(&mut server, 3), Request::Rejected);
    server.accept(first);
    server.accept(first);
    assert_eq!(connect_from(&mut server, 3), Request::Response);
    assert_eq!(connect_from(&mut server, 4), Request::Rejected);
    server.remove(server.table.handle(1));
    assert_eq!(connect_from(&mut server, 4), Request::Response);
}

#[test]
fn connections_end_where_the_host_wants() {
    let mut server = Endpoint::new(&EndpointConfig { max_connections: 2, ..EndpointConfig::new([2; 32]) });
    server.listen(Settings::default(), 100).unwrap();
    let requests: Vec<_> =
        (1..4).map(|client| connect_from(&mut server, at(0), client, |_| ()).unwrap().request).collect();
    assert_eq!(requests, [Request::Response, Request::Response, Request::Rejected]);
    assert_eq!(server.connect(at(0), address(3), Settings::default()), Err(OpenError::Full));
}

#[test]
fn an_address_has_so_many_connections_and_no_more() {
    let config = EndpointConfig { max_clients: 5, max_clients_per_address: 3, ..EndpointConfig::new([2; 32]) };
    let mut server = Endpoint::new(&config);
    server.listen(Settings::default(), 100).unwrap();
    let mut connect_from = |from: SocketAddr, client| {
        server.handle(arrived(at(0)), from, &request(client, Request::Regular, 0, |_| ()));
        let cookie = answer(&mut server, at(0)).unwrap().cookie;
        server.handle(arrived(at(0)), from, &request(client, Request::Response, cookie, |_| ()));
        let accepted = answer(&mut server, at(0)).unwrap().request == Request::Response;
        (accepted, server.connections())
    };
    let greedy = |port| SocketAddr::new(address(9).ip(), port);
    let answers = [
        connect_from(greedy(1), 1),
        connect_from(greedy(1), 2),
        connect_from(greedy(2), 3),
        connect_from(greedy(3), 4),
    ];
    assert_eq!(answers, [(true, 1), (true, 2), (true, 3), (false, 3)]);
    assert_eq!(
        [connect_from(address(7), 5), connect_from(address(6), 6), connect_from(address(5), 7)],
        [(true, 4), (true, 5), (false, 5)]
    );
    server.remove(server.table.handle(1));
    assert_eq!(answer(&mut server, at(0)), None);
    assert_eq!(server.clients.len(), 4, "a connection that is removed counts no more");
}

/// Clients at `addresses` addresses send every packet but the first, with `len` bytes each, the farthest ones first.
fn server_full_of_gaps(addresses: u8, clients: u32, len: usize, memory: u64) -> Endpoint {
    let config = EndpointConfig { memory, ..EndpointConfig::new([2; 32]) };
    let mut server = Endpoint::new(&config);
    let settings = Settings { backlog: Some(2700), ..Settings::default() };
    server.listen(settings, 1000).unwrap();
    for client in 1..=clients {
        let from = address(100 + (client % u32::from(addresses)) as u8);
        server.handle(arrived(at(0)), from, &request(client, Request::Regular, 0, |_| ()));
        let cookie = answer(&mut server, at(0)).unwrap().cookie;
        server.handle(arrived(at(0)), from, &request(client, Request::Response, cookie, |_| ()));
        let id = answer(&mut server, at(0)).unwrap().id.unwrap();
        for number in (1..30_000).rev() {
            let mut data: Vec<u8> =
                [77 + number, 0xc000_0001, 0, id.get()].into_iter().flat_map(u32::to_be_bytes).collect();
            data.resize(16 + len, 0);
            server.handle(arrived(at(0)), from, &data);
        }
    }
    server
}

fn held(server: &Endpoint, clients: u32) -> Vec<u64> {
    (0..clients).map(|place| server.table.get(place).and_then(Entry::connection).unwrap().held()).collect()
}

#[test]
fn what_lies_beyond_the_grant_is_refused() {
    for len in [1, 1456] {
        let server = server_full_of_gaps(1, 1, len, u64::MAX);
        let connection = server.table.get(0).and_then(Entry::connection).unwrap();
        let stats = connection.stats(at(0));
        assert_eq!((stats.data_segs_in, stats.no_room, stats.missing), (511, 30_000 - 512, 511), "{len} bytes");
        assert_eq!(connection.held(), 511 * (len as u64 + 128));
    }
}

#[test]
fn the_memory_of_a_peer_an_address_and_a_port_is_bounded() {
    let mib = 1 << 20;
    // Limited by the grant, by half of the memory of the port, by all of it. Each connection has a block in addition.
    for (addresses, clients, most) in [(1, 1, 512 * 1584), (1, 20, mib / 2), (20, 20, mib)] {
        let server = server_full_of_gaps(addresses, clients, 1456, mib);
        let held = held(&server, clients);
        let total: u64 = held.iter().sum();
        assert!(total <= most + u64::from(clients) * 64 * 1024, "{clients} at {addresses}: {held:?}");
        assert!(2 * total > most, "{clients} at {addresses}: {held:?}");
        assert!(held.iter().all(|held| *held >= 60_000), "nobody is left without: {held:?}");
    }
    let mut server = server_full_of_gaps(20, 20, 1456, mib);
    assert!(server.memory.taken() > mib / 2 && server.stats().no_memory > 0);
    for place in 0..20 {
        server.remove(server.table.handle(place));
    }
    assert_eq!(server.memory.taken(), 0);
}

// A libudt server crashes after a largest packet of 44 bytes at its next `send`.
#[test]
fn largest_packets_of_no_use_are_refused() {
    let mut server = listening(2, &Settings::default(), 100);
    for mss in [0, 1, 43, 44, 45, 75, 65_536, 0x8000_0000, u32::MAX] {
        let answer = connect_from(&mut server, at(0), 5, |handshake| handshake.mss = mss).unwrap();
        assert_eq!(answer.request, Request::Rejected, "{mss}");
    }
    assert_eq!(server.connections(), 0);
    let smallest = connect_from(&mut server, at(0), 5, |handshake| handshake.mss = 76).unwrap();
    assert_eq!((smallest.request, smallest.mss), (Request::Response, 76));
    assert_eq!(server.table.get(0).unwrap().open().unwrap().agreed.payload, 32);
}

// libudt allocates twice as many entries as the peer's window says: 63 MB for two packets of 64 bytes.
#[test]
fn windows_are_bounded() {
    let mut server = listening(2, &Settings::default(), 100);
    for window in [0, 0x8000_0000, u32::MAX] {
        let answer = connect_from(&mut server, at(0), 5, |handshake| handshake.window = window).unwrap();
        assert_eq!(answer.request, Request::Rejected, "{window}");
    }
    for (place, (window, granted)) in [(1, 2), (100, 100), (0x7fff_ffff, 1 << 20)].into_iter().enumerate() {
        let client = 10 + place as u32;
        connect_from(&mut server, at(0), client, |handshake| handshake.window = window);
        assert_eq!(server.table.get(place as u32).unwrap().open().unwrap().agreed.peer_window, granted);
    }
}

#[test]
fn other_versions_and_nameless_clients_are_refused() {
    let mut server = listening(2, &Settings::default(), 100);
    for version in [0, 3, 5, u32::MAX] {
        let answer = connect_from(&mut server, at(0), 5, |handshake| handshake.version = version).unwrap();
        assert_eq!((answer.request, answer.version), (Request::Rejected, version));
    }
    server.handle(arrived(at(0)), address(9), &request(0, Request::Regular, 0, |_| ()));
    assert_eq!(answer(&mut server, at(0)), None);
}

// libudt computes cookies from the address and the minute, without a secret, so that anybody can compute them.
#[test]
fn cookies_hold_for_one_address_one_server_and_two_minutes() {
    let mut server = listening(2, &Settings::default(), 100);
    let mut other = listening(3, &Settings::default(), 100);
    let now = at(59_999);
    for server in [&mut server, &mut other] {
        server.handle(arrived(now), address(9), &request(5, Request::Regular, 0, |_| ()));
    }
    let cookie = answer(&mut server, now).unwrap().cookie;
    assert_ne!(answer(&mut other, now).unwrap().cookie, cookie);
    let mut bring = |now: u64, from: SocketAddr, cookie: u32| {
        server.handle(arrived(at(now)), from, &request(5, Request::Response, cookie, |_| ()));
        answer(&mut server, at(now)).map(|answer| answer.request)
    };
    assert_eq!(bring(60_000, address(8), cookie), None, "another address");
    assert_eq!(bring(60_000, SocketAddr::new(address(9).ip(), 9001), cookie), None, "another port");
    assert_eq!(bring(60_000, address(9), cookie ^ 1), None, "another cookie");
    assert_eq!(bring(120_000, address(9), cookie), None, "the minute after the next");
    assert_eq!(bring(119_999, address(9), cookie), Some(Request::Response), "libudt refuses the minute before");
    assert_eq!(server.stats().invalid_cookies, 4);
}

// libudt opens a connection for any second word with a good cookie, even that of a rendezvous.
#[test]
fn a_listener_answers_clients_only() {
    let mut server = listening(2, &Settings::default(), 100);
    server.handle(arrived(at(0)), address(9), &request(5, Request::Regular, 0, |_| ()));
    let cookie = answer(&mut server, at(0)).unwrap().cookie;
    for word in [Request::Rendezvous, Request::Agreement, Request::Rejected, Request::Other(7)] {
        server.handle(arrived(at(0)), address(9), &request(5, word, cookie, |_| ()));
        assert_eq!(answer(&mut server, at(0)), None, "{word:?}");
    }
    assert_eq!(server.connections(), 0);
}

#[test]
fn requests_without_a_cookie_cost_nothing_and_are_not_amplified() {
    let mut server = listening(2, &Settings::default(), 100);
    let mut answers = 0;
    // A hundred in each millisecond of a second.
    for client in 0..100_000 {
        let now = at(u64::from(client / 100));
        let datagram = request(client + 1, Request::Regular, 0, |_| ());
        server.handle(arrived(now), address(client as u8), &datagram);
        if client % 100 == 99 {
            while let Some(sent) = server.poll_transmit(now) {
                let mut reply = Vec::new();
                sent.encode(&mut reply);
                assert_eq!(reply.len(), datagram.len());
                answers += 1;
            }
        }
    }
    assert_eq!((server.connections(), server.peers.len(), server.replies.len()), (0, 0, 0));
    assert_eq!(answers, MAX_ANSWERS + 25_000 - 25, "1,024 at once, then one for each 40 us until the last question");
    assert_eq!(server.stats().unanswered, 100_000 - answers);
}

#[test]
fn so_many_answers_wait_and_so_many_clients_are_remembered() {
    let mut server = listening(2, &Settings::default(), 100);
    for client in 0..3000 {
        // Slowly enough for each of them to be answered.
        server.handle(arrived(at(client.into())), address(9), &request(client + 1, Request::Regular, 0, |_| ()));
    }
    assert_eq!(server.replies.len(), 1024);

    let mut server = listening(2, &Settings::default(), 100);
    for client in 0..300 {
        let answer = connect_from(&mut server, at(client.into()), client + 1, |_| ()).unwrap();
        assert_eq!(answer.request, Request::Response);
        let (handle, _) = server.poll_event().unwrap();
        server.remove(handle);
    }
    assert_eq!(server.closed_clients.len(), 256);
}

// libudt's blocking connect succeeds without a connection when data overtakes the answer.
#[test]
fn data_before_the_answer_does_not_connect() {
    let lost_once = {
        let mut count = 0;
        move |sent: &Datagram| {
            let answer = is(sent, Request::Response) && sent.id.is_some();
            count += u32::from(answer);
            answer && count == 1
        }
    };
    let mut net = Net::new(vec![endpoint(1), listening(2, &Settings::default(), 1)], lost_once);
    let handle = net.end(0).connect(at(0), address(2), Settings::default()).unwrap();
    net.run(at(10));
    let id = net.end(0).table.get(0).unwrap().id;
    let mut data = vec![0, 0, 0, 1, 0xc0, 0, 0, 1, 0, 0, 0, 0];
    data.extend(id.get().to_be_bytes());
    data.push(1);
    assert_eq!(net.end(0).handle(arrived(at(10)), address(2), &data), None);
    assert_eq!(net.events(0), []);
    net.run(at(300));
    assert_eq!(net.events(0), [Event::Connected]);
    assert!(net.end(0).connection(handle).is_some());
}

// And so is libudt's client when ours is the server.
#[test]
fn a_server_repeats_its_answer_until_it_hears_from_the_client() {
    let mut server = listening(2, &Settings::default(), 1);
    let response = connect_from(&mut server, at(0), 5, |_| ()).unwrap();
    let (handle, _) = server.poll_event().unwrap();
    let first_two = |server: &mut Endpoint, now| {
        let mut sent = Vec::new();
        while sent.len() < 2 {
            server.handle_timeout(now);
            sent.extend(std::iter::from_fn(|| server.poll_transmit(now)));
            assert!(now < at(60_000), "a connection says something once in a while");
        }
        sent
    };
    let write = |server: &mut Endpoint| server.with(handle, |connection| connection.write(1));
    write(&mut server);
    // It needs some time to set up the connection, and loses packets until then.
    assert_eq!((server.poll_transmit(at(1)).is_none(), server.next_timeout()), (true, Some(at(20))));
    let sent = first_two(&mut server, at(20));
    assert_eq!(sent[0].transmit, Transmit::Handshake(response));
    assert!(matches!(sent[1].transmit, Transmit::Data(_)), "{sent:?}");
    let mut handshakes = Vec::new();
    Message::KeepAlive.control().encode(response.id, 0, &mut handshakes);
    server.handle(arrived(at(22)), address(9), &handshakes);
    write(&mut server);
    let sent = std::iter::from_fn(|| server.poll_transmit(at(1000))).next().unwrap();
    assert!(matches!(sent.transmit, Transmit::Data(_)), "{sent:?}");
}

#[test]
fn a_late_request_of_a_client_long_gone_opens_nothing() {
    let mut server = listening(2, &Settings::default(), 10);
    server.handle(arrived(at(0)), address(9), &request(5, Request::Regular, 0, |_| ()));
    let cookie = answer(&mut server, at(0)).unwrap().cookie;
    let second = request(5, Request::Response, cookie, |_| ());
    server.handle(arrived(at(0)), address(9), &second);
    let (handle, _) = server.poll_event().unwrap();
    assert!(answer(&mut server, at(0)).is_some());
    server.remove(handle);
    assert_eq!((server.connections(), server.peers.len()), (0, 0));
    server.handle(arrived(at(1)), address(9), &second);
    assert_eq!((server.connections(), server.poll_event()), (0, None));
    let next = request(5, Request::Response, cookie, |handshake| handshake.isn = Seq::new(78).unwrap());
    server.handle(arrived(at(1)), address(9), &next);
    assert!(matches!(server.poll_event(), Some((_, Event::Accepted { .. }))));
}

// libudt ends a connection at one packet with the right id; its ids count down from one known at the last connection.
#[test]
fn packets_count_from_the_peers_address_only() {
    let mut server = listening(2, &Settings::default(), 1);
    let response = connect_from(&mut server, at(0), 5, |_| ()).unwrap();
    let mut shutdown = Vec::new();
    Message::Shutdown.control().encode(response.id, 0, &mut shutdown);
    let _ = server.poll_event();
    for from in [address(8), SocketAddr::new(address(9).ip(), 9001)] {
        server.handle(arrived(at(1)), from, &shutdown);
        assert_eq!(server.poll_event(), None);
    }
    assert_eq!(server.stats().misdirected, 2);
    server.handle(arrived(at(1)), address(9), &shutdown);
    while server.poll_transmit(at(1)).is_some() {}
    server.handle_timeout(at(1000));
    while server.poll_transmit(at(1000)).is_some() {}
    assert!(matches!(server.poll_event(), Some((_, Event::Connection(_)))));
}

// libudt's listener does not answer a cookie of the minute before; its own clients fail then.
#[test]
fn a_client_asks_again_for_a_cookie_that_went_stale() {
    let mut client = endpoint(1);
    client.connect(at(0), address(2), Settings::default()).unwrap();
    let mut servers = [listening(2, &Settings::default(), 1), listening(3, &Settings::default(), 1)];
    for now in 0..3000 {
        // The first server hands out the cookie; the second, with another key, takes over.
        let server = &mut servers[usize::from(now > 20)];
        client.handle_timeout(at(now));
        while let Some(sent) = client.poll_transmit(at(now)) {
            let mut datagram = Vec::new();
            sent.encode(&mut datagram);
            if now < 20 && is(&sent, Request::Response) {
                continue;
            }
            server.handle(arrived(at(now)), address(1), &datagram);
        }
        while let Some(sent) = server.poll_transmit(at(now)) {
            let mut datagram = Vec::new();
            sent.encode(&mut datagram);
            client.handle(arrived(at(now)), address(2), &datagram);
        }
        if let Some((_, event)) = client.poll_event() {
            assert_eq!(event, Event::Connected);
            assert!((1000..1010).contains(&now), "four times without an answer, at 0, 250, 500 and 750 ms; not {now}");
            return;
        }
    }
    panic!("no connection");
}

#[test]
fn forged_answers_do_not_concern_a_client() {
    let mut client = endpoint(1);
    client.connect(at(0), address(2), Settings::default()).unwrap();
    let first = answer(&mut client, at(0)).unwrap();
    let mut say = |handshake: Handshake| {
        let mut datagram = Vec::new();
        Control::Handshake(handshake).encode(first.id, 0, &mut datagram);
        client.handle(arrived(at(1)), address(2), &datagram);
        (answer(&mut client, at(1)).map(|answer| answer.request), client.poll_event().map(|(_, event)| event))
    };
    let server = SocketId::new(99);
    for request in [Request::Response, Request::Rejected] {
        assert_eq!(say(Handshake { request, id: server, ..first }), (None, None), "{request:?} before a cookie");
    }
    let wrong = Seq::new(first.isn.get() ^ 1).unwrap();
    assert_eq!(say(Handshake { isn: wrong, cookie: 3, ..first }), (None, None), "another initial number");
    assert_eq!(say(Handshake { id: server, cookie: 3, ..first }), (None, None), "another id");
    assert_eq!(say(Handshake { cookie: 3, ..first }), (Some(Request::Response), None));
    let response = Handshake { request: Request::Response, id: server, ..first };
    assert_eq!(say(Handshake { isn: wrong, ..response }), (None, None), "another initial number");
    let small = Event::Refused(Refusal::Mss { bytes: 44 });
    assert_eq!(say(Handshake { mss: 44, ..response }), (None, Some(small)));
}

#[test]
fn both_ends_of_a_rendezvous_find_each_other_in_any_order() {
    for late in [0, 1, 600, 5_000] {
        for lost in 0..6 {
            let mut count = 0;
            let lose = |_: &Datagram| {
                count += 1;
                count == lost
            };
            let mut net = Net::new(vec![endpoint(1), endpoint(2)], lose);
            net.end(0).rendezvous(at(0), address(2), Settings { mss: 1400, ..Settings::default() }).unwrap();
            net.run(at(late));
            net.end(1).rendezvous(at(late), address(1), Settings::default()).unwrap();
            net.run(at(late + 800));
            for index in [0, 1] {
                let events = net.events(index);
                assert_eq!(events.first(), Some(&Event::Connected), "end {index}, {late} ms late, {lost} lost");
            }
            let agreed = |net: &mut Net<_>, index| net.end(index).table.get(0).unwrap().open().unwrap().agreed;
            let (one, other) = (agreed(&mut net, 0), agreed(&mut net, 1));
            assert_eq!((one.isn_ours, one.isn_theirs), (other.isn_theirs, other.isn_ours));
            assert_ne!(one.isn_ours, other.isn_ours);
            assert_eq!((one.payload, other.payload), (1356, 1356));
        }
    }
}

// libudt's end believes them, whatever their destination id.
#[test]
fn forged_handshakes_do_not_take_a_rendezvous_over() {
    let forged = |kind, id, change: fn(&mut Handshake)| request(id, kind, 0, change);
    // Before the other end comes, and between its handshakes.
    for late in [0, 300] {
        let mut net = Net::new(vec![endpoint(1), endpoint(2)], all_arrive);
        net.end(0).rendezvous(at(0), address(2), Settings::default()).unwrap();
        net.run(at(late));
        net.end(1).rendezvous(at(late), address(1), Settings::default()).unwrap();
        for kind in [Request::Rendezvous, Request::Response, Request::Response, Request::Agreement] {
            let now = net.now;
            net.end(0).handle(arrived(now), address(2), &forged(kind, 666, |_| ()));
            assert_eq!(net.events(0), [], "{kind:?} after {late} ms");
            net.run(now + MILLISECOND);
        }
        net.run(at(late + 800));
        for index in [0, 1] {
            assert_eq!(net.events(index).first(), Some(&Event::Connected), "end {index}, {late} ms late");
        }
        let agreed = |net: &mut Net<_>, index| net.end(index).table.get(0).unwrap().open().unwrap().agreed;
        let (one, other) = (agreed(&mut net, 0), agreed(&mut net, 1));
        assert_eq!((one.isn_ours, one.isn_theirs), (other.isn_theirs, other.isn_ours), "{late} ms late");
    }
}

// A flood of forged first handshakes, each with another id, cannot keep the two apart.
#[test]
fn a_rendezvous_goes_on_among_forged_handshakes() {
    let mut net = Net::new(vec![endpoint(1), endpoint(2)], all_arrive);
    net.end(0).rendezvous(at(0), address(2), Settings::default()).unwrap();
    net.end(1).rendezvous(at(0), address(1), Settings::default()).unwrap();
    let mut connected = [false; 2];
    for id in 1..=800 {
        net.run(at(id));
        for (index, connected) in connected.iter_mut().enumerate() {
            let (now, from) = (net.now, address(2 - index as u8));
            net.end(index).handle(arrived(now), from, &request(id as u32, Request::Rendezvous, 0, |_| ()));
            *connected |= net.events(index).contains(&Event::Connected);
        }
    }
    assert_eq!(connected, [true; 2]);
    let ids = |net: &mut Net<_>, index: usize| {
        let entry = net.end(index).table.get(0).unwrap();
        (entry.id, entry.open().unwrap().agreed.peer_id)
    };
    let (one, other) = (ids(&mut net, 0), ids(&mut net, 1));
    assert_eq!(one, (other.1, other.0));
}

#[test]
fn a_rendezvous_without_the_other_is_given_up_and_may_be_tried_again() {
    let mut net = Net::new(vec![endpoint(1)], all_arrive);
    let handle = net.end(0).rendezvous(at(0), address(2), Settings::default()).unwrap();
    assert_eq!(net.end(0).rendezvous(at(0), address(2), Settings::default()), Err(OpenError::Repeated));
    net.run(at(30_001));
    assert_eq!(net.events(0), [Event::Refused(Refusal::Timeout)]);
    net.end(0).remove(handle);
    assert!(net.end(0).rendezvous(at(30_001), address(2), Settings::default()).is_ok());
}

#[test]
fn a_rendezvous_says_at_the_end_what_was_wrong_with_the_other() {
    let mut net = Net::new(vec![endpoint(1), endpoint(2)], all_arrive);
    net.end(0).rendezvous(at(0), address(2), Settings::default()).unwrap();
    net.end(1).rendezvous(at(0), address(1), Settings { mode: Mode::Messages, ..Settings::default() }).unwrap();
    net.run(at(30_001));
    assert_eq!(net.events(0), [Event::Refused(Refusal::Mode(Mode::Stream))]);
    assert_eq!(net.events(1), [Event::Refused(Refusal::Mode(Mode::Messages))]);
}

#[test]
fn a_full_packet_to_an_ipv6_address_is_no_longer_than_set() {
    let peer = SocketAddr::new(IpAddr::V6(Ipv6Addr::LOCALHOST), 9000);
    let mut client = endpoint(1);
    client.connect(at(0), peer, Settings::default()).unwrap();
    let handshake = answer(&mut client, at(0)).unwrap();
    // The peer takes 44 off and sends 40 + 8 + 16 + 1436 bytes.
    assert_eq!(handshake.mss, 1480);
    assert_eq!(handshake.address, [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0]);
}

/// Two endpoints with `count` connections between them.
fn connected(count: u32, settings: &Settings) -> (Net<impl FnMut(&Datagram) -> bool + use<>>, Vec<Handle>) {
    let mut net = Net::new(vec![endpoint(1), listening(2, settings, count as usize)], all_arrive);
    let connect = |net: &mut Net<_>| {
        net.run(net.now + Span::from_micros(100));
        net.ends[0].1.connect(net.now, address(2), settings.clone()).unwrap()
    };
    let handles = (0..count).map(|_| connect(&mut net)).collect();
    net.run(net.now + Span::from_millis(10));
    assert_eq!(net.events(0).len(), count as usize);
    (net, handles)
}

#[test]
fn connections_take_turns_and_pairs_stay_together() {
    let (mut net, handles) = connected(3, &Settings::default());
    let start = net.now;
    for handle in &handles {
        net.end(0).with(*handle, |connection| connection.write(1_000_000));
    }
    let mut sent = Vec::new();
    for late in 0..20 {
        let now = start + Span::from_millis(late);
        net.end(0).handle_timeout(now);
        sent.extend(std::iter::from_fn(|| net.end(0).poll_transmit(now)));
    }
    let data: Vec<_> = sent
        .iter()
        .filter_map(|sent| match &sent.transmit {
            Transmit::Data(data) => Some((sent.handle, data)),
            _ => None,
        })
        .collect();
    let turns: Vec<_> = data.chunk_by(|one, next| one.0 == next.0).map(|turn| (turn[0].0, turn.len())).collect();
    assert!(data.len() >= 48 && turns.iter().all(|(_, length)| *length <= 17), "{turns:?}");
    for handle in handles {
        let packets = data.iter().filter(|(from, _)| *from == Some(handle)).count();
        assert_eq!(packets * 3, data.len(), "{turns:?}");
    }
    let seconds: Vec<_> = (1..data.len()).filter(|at| data[*at].1.pair).collect();
    assert!(!seconds.is_empty());
    for at in seconds {
        assert_eq!((data[at - 1].0, data[at - 1].1.number + 1), (data[at].0, data[at].1.number));
    }
}

#[test]
fn ten_thousand_idle_connections_are_asked_only_when_they_are_due() {
    let (mut net, _) = connected(10_000, &Settings::default());
    net.run(at(5000));
    let before = net.sent.len();
    net.run(at(15_000));
    // Each end of each says something once a second.
    let sent = net.sent.len() - before;
    assert!((190_000..=210_000).contains(&sent), "{sent}");
    let end = net.end(0);
    let next = end.next_timeout().unwrap();
    end.handle_timeout(Time::from_nanos(next.as_nanos() - 1));
    assert!(end.turns.is_empty(), "nobody is asked before the time");
    assert_eq!(end.timers.first(), Some(next));
    assert!(size_of::<Connection>() < 2048, "{} bytes", size_of::<Connection>());
}

// libudt seeds its generator with the time of day, and counts its ids down.
#[test]
fn ids_and_initial_numbers_do_not_follow_from_each_other() {
    let mut client = endpoint(1);
    let mut draw = || {
        client.connect(at(0), address(2), Settings::default()).unwrap();
        let first = answer(&mut client, at(0)).unwrap();
        [first.isn.get(), first.id.unwrap().get()]
    };
    let draws: Vec<_> = (0..200).map(|_| draw()).collect();
    for pair in draws.windows(2) {
        for (one, next) in pair[0].into_iter().zip(pair[1]) {
            // Two random numbers of 30 bits are this near with a probability of 2^-19.
            assert!(one.abs_diff(next) > 1 << 10, "{pair:?}");
        }
    }
    let mut other = endpoint(2);
    other.connect(at(0), address(2), Settings::default()).unwrap();
    assert_ne!(answer(&mut other, at(0)).unwrap().isn.get(), draws[0][0]);
}

#[test]
fn handles_outlive_their_connections_without_harm() {
    let mut client = endpoint(1);
    let first = client.connect(at(0), address(2), Settings::default()).unwrap();
    client.remove(first);
    let second = client.connect(at(0), address(2), Settings::default()).unwrap();
    assert_ne!(first, second);
    client.remove(first);
    assert_eq!(client.connections(), 1);
    assert!(answer(&mut client, at(0)).is_some());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Bytes of any kind, mostly with the ids of connections that exist and handshakes that go on.
    #[test]
    fn arbitrary_datagrams_break_nothing(
        datagrams in prop::collection::vec((0..12_u8, any::<[u32; 4]>(), prop::collection::vec(any::<u8>(), 0..64)), 0..60)
    ) {
        let settings = Settings { send_buffer: 64, receive_buffer: 64, ..Settings::default() };
        let mut net = Net::new(vec![endpoint(1), listening(2, &settings, 4)], all_arrive);
        net.end(0).connect(at(0), address(2), settings.clone()).unwrap();
        net.end(1).rendezvous(at(0), address(3), settings).unwrap();
        net.run(at(20));
        let mut now = at(20);
        for (kind, [first, info, to, time], body) in datagrams {
            let end = usize::from(kind % 2);
            let table = &net.end(end).table;
            let ids: Vec<_> = (0..3).filter_map(|place| table.get(place)).map(|entry| entry.id.get()).collect();
            let to = if to % 4 == 0 { 0 } else { ids.get(to as usize % 4).copied().unwrap_or(to) };
            let first = if kind < 10 { 0x8000_0000 | u32::from(kind) << 16 } else { first };
            let mut datagram: Vec<u8> = [first, info, time, to].into_iter().flat_map(u32::to_be_bytes).collect();
            datagram.extend(body);
            let from = [address(2), address(1), address(3)][time as usize % 3];
            net.end(end).handle(arrived(now), from, &datagram);
            now += Span::from_millis(u64::from(time % 64));
            net.run(now);
            prop_assert!(net.end(end).connections() <= 6);
        }
    }
}
