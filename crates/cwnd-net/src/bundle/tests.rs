use super::join::{ID, Request};
use super::*;
use crate::listener::UdtListener;
use std::thread::JoinHandle;

/// A server on the loopback that joins connections.
struct Server {
    listener: UdtListener,
    bundles: Arc<Bundles<()>>,
}

type Joined = io::Result<Option<(UdtBundle, Vec<()>)>>;

impl Server {
    fn new(most: u8) -> Self {
        let listener = UdtListener::bind("127.0.0.1:0".parse().unwrap()).unwrap();
        Self { listener, bundles: Arc::new(Bundles::new(most)) }
    }

    /// Joins `connections` connections, each in its own thread.
    fn start(&self, connections: usize) -> Vec<JoinHandle<Joined>> {
        let joining = |_| {
            let (stream, _) = self.listener.accept().unwrap();
            let bundles = Arc::clone(&self.bundles);
            thread::spawn(move || bundles.join(stream, ()))
        };
        (0..connections).map(joining).collect()
    }

    /// The outcome of `connections` connections.
    fn accept(&self, connections: usize) -> Vec<Joined> {
        self.start(connections).into_iter().map(|thread| thread.join().unwrap()).collect()
    }

    /// Both ends of a bundle.
    fn bundle(&self, streams: u8) -> (UdtBundle, UdtBundle) {
        let address = self.listener.local_addr();
        let client = thread::spawn(move || UdtBundle::connect_with(address, &Options::default(), streams).unwrap());
        let joined = self.accept(usize::from(streams));
        let mut whole: Vec<_> = joined.into_iter().filter_map(|joined| joined.unwrap()).collect();
        assert_eq!(whole.len(), 1, "one thread has them all");
        let (server, values) = whole.pop().unwrap();
        assert_eq!((server.streams().len(), values.len()), (usize::from(streams), usize::from(streams)));
        (client.join().unwrap(), server)
    }

    /// A connection that begins with these bytes.
    fn connect(&self, bytes: &[u8]) -> UdtStream {
        let mut stream = UdtStream::connect(self.listener.local_addr()).unwrap();
        stream.write_all(bytes).unwrap();
        stream
    }
}

/// Bytes that differ from place to place.
fn content(length: usize) -> Vec<u8> {
    (0..length as u64).map(|at| (at.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 56) as u8).collect()
}

fn request(index: u8, count: u8) -> Vec<u8> {
    Request { id: [7; ID], index, count }.bytes()
}

fn chunk(number: u64, length: u32, bytes: &[u8]) -> Vec<u8> {
    [&number.to_le_bytes()[..], &length.to_le_bytes(), bytes].concat()
}

#[test]
fn bytes_arrive_in_order_in_both_directions() {
    for streams in [2, 8] {
        let (client, server) = Server::new(8).bundle(streams);
        let sent = content(3_000_000);
        let echo = thread::spawn(move || {
            let mut all = vec![0; 3_000_000];
            (&server).read_exact(&mut all).unwrap();
            for part in all.chunks(10_007) {
                (&server).write_all(part).unwrap();
            }
            server.close()
        });
        let (mut to, copy) = (client.clone(), sent.clone());
        let writing = thread::spawn(move || copy.chunks(77_777).try_for_each(|part| to.write_all(part)));
        let mut back = Vec::new();
        (&client).read_to_end(&mut back).unwrap();
        assert!(back == sent, "{streams} connections: {} bytes", back.len());
        writing.join().unwrap().unwrap();
        echo.join().unwrap().unwrap();
        assert!(client.stats().is_none(), "the other end has closed it");
    }
}

#[test]
fn all_connections_carry_something() {
    let (client, server) = Server::new(4).bundle(4);
    let reading = thread::spawn(move || io::copy(&mut &server, &mut io::sink()));
    (&client).write_all(&content(20_000_000)).unwrap();
    let sent: Vec<_> = client.streams().iter().map(|stream| stream.stats().unwrap().udt.bytes_sent).collect();
    client.close().unwrap();
    assert_eq!(reading.join().unwrap().unwrap(), 20_000_000);
    assert!(sent.iter().all(|bytes| *bytes > 100_000), "{sent:?}");
}

#[test]
fn what_asks_for_nothing_is_a_connection_of_its_own() {
    let server = Server::new(8);
    let first = request(0, 2);
    // As far as the first bytes go it could be a request.
    for bytes in [b"hello".to_vec(), first[..7].iter().chain(b"abc").copied().collect()] {
        let client = server.connect(&bytes);
        let Ok(Some((mut bundle, _))) = server.accept(1).pop().unwrap() else { panic!("it was joined") };
        client.close().unwrap();
        let mut read = Vec::new();
        bundle.read_to_end(&mut read).unwrap();
        assert_eq!(read, bytes);
    }
}

#[test]
fn more_connections_than_allowed_are_refused_with_the_number() {
    let server = Server::new(2);
    let address = server.listener.local_addr();
    let client = thread::spawn(move || UdtBundle::connect_with(address, &Options::default(), 3));
    assert!(server.accept(3).iter().all(Result::is_err));
    let error = client.join().unwrap().unwrap_err();
    assert!(matches!(error, ConnectError::Streams { most: 2 }), "{error}");
}

#[test]
fn a_server_that_joins_nothing_is_noticed() {
    let listener: UdtListener = UdtListener::bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let error = UdtBundle::connect_with(listener.local_addr(), &Options::default(), 2).unwrap_err();
    assert!(matches!(error, ConnectError::Join(_)), "{error}");
}

#[test]
fn requests_that_do_not_fit_are_refused_and_the_bundle_is_not_harmed() {
    let server = Server::new(4);
    for bad in [request(2, 2), request(0, 1), request(0, 0)] {
        let _client = server.connect(&bad);
        assert_eq!(server.accept(1).pop().unwrap().unwrap_err().kind(), io::ErrorKind::InvalidData);
    }
    let clients = [server.connect(&request(0, 3)), server.connect(&request(1, 3))];
    let mut threads = server.start(2);
    // Whichever request is read first decides which ones do not fit.
    while server.bundles.waiting() < 2 {
        thread::sleep(Duration::from_millis(1));
    }
    let others = [server.connect(&request(1, 3)), server.connect(&request(2, 4))];
    assert!(server.accept(2).iter().all(Result::is_err));
    let last = server.connect(&request(2, 3));
    threads.extend(server.start(1));
    let joined = threads.into_iter().map(|thread| thread.join().unwrap().unwrap());
    assert_eq!(joined.filter(Option::is_some).count(), 1, "one thread has them all");
    drop((clients, others, last));
}

#[test]
fn a_bundle_that_stays_incomplete_is_given_up() {
    let server = Server::new(2);
    let mut client = server.connect(&request(1, 2));
    assert_eq!(server.accept(1).pop().unwrap().unwrap_err().kind(), io::ErrorKind::TimedOut);
    assert!(lock(&server.bundles.pending).is_empty());
    let mut answer = Vec::new();
    let _ended = client.read_to_end(&mut answer);
    assert_eq!(answer, [0]);
}

/// The server's end of a bundle of two, to which the client has sent these bytes on its connections before it closed them.
fn raw(sent: [Vec<u8>; 2]) -> UdtBundle {
    let server = Server::new(2);
    let clients = [0, 1].map(|index| server.connect(&request(index, 2)));
    let joined = server.accept(2).into_iter().find_map(Result::unwrap).unwrap().0;
    for (mut client, bytes) in clients.into_iter().zip(sent) {
        // The server's answer has arrived, so that it has nothing to lose by a connection that is closed.
        client.read_exact(&mut [0]).unwrap();
        client.write_all(&bytes).unwrap();
        client.close().unwrap();
    }
    joined
}

#[test]
fn what_no_bundle_sends_is_an_error() {
    let read = |sent| {
        let mut out = Vec::new();
        let result = raw(sent).read_to_end(&mut out);
        (out, result.map_err(|error| error.kind()))
    };
    let (zero, one, two) = (chunk(0, 3, b"abc"), chunk(1, 2, b"de"), chunk(2, 1, b"f"));
    let beside_zero = |other: Vec<u8>| read([zero.clone(), other]);
    let early = || (b"abc".to_vec(), Err(io::ErrorKind::UnexpectedEof));
    assert_eq!(read([[zero.clone(), two.clone()].concat(), one.clone()]), (b"abcdef".to_vec(), Ok(6)));
    assert_eq!(read([[zero.clone(), one.clone()].concat(), one]).1, Err(io::ErrorKind::InvalidData));
    assert_eq!(beside_zero(chunk(1, 0, b"")).1, Err(io::ErrorKind::InvalidData));
    assert_eq!(beside_zero(chunk(1, u32::MAX, b"")).1, Err(io::ErrorKind::InvalidData));
    assert_eq!(beside_zero(chunk(1, 3, b"de")), early());
    assert_eq!(beside_zero(two), early());
}

// A server that refuses answers on one connection, and closes all.
#[test]
fn what_is_under_way_on_another_connection_is_waited_for_once_one_has_failed() {
    let server = Server::new(2);
    let clients = [0, 1].map(|index| server.connect(&request(index, 2)));
    let mut joined = server.accept(2).into_iter().find_map(Result::unwrap).unwrap().0;
    let [failing, mut late] = clients;
    (&failing).read_exact(&mut [0]).unwrap();
    // Cut off in the middle of a chunk, as one is that the peer aborts.
    (&failing).write_all(&chunk(1, 3, b"de")).unwrap();
    failing.close().unwrap();
    let Bundle::Several(several) = &*joined.0 else { panic!("it has two") };
    while several.incoming.open() == 2 {
        thread::sleep(Duration::from_millis(1));
    }
    late.write_all(&chunk(0, 3, b"abc")).unwrap();
    let mut out = Vec::new();
    let error = joined.read_to_end(&mut out).unwrap_err();
    assert_eq!((out.as_slice(), error.kind()), (&b"abc"[..], io::ErrorKind::UnexpectedEof));
    late.abort();
}

#[test]
fn a_connection_that_breaks_ends_all() {
    let (client, server) = Server::new(3).bundle(3);
    let mut to = server.clone();
    let writing = thread::spawn(move || {
        let part = content(50_000);
        loop {
            if let Err(error) = to.write_all(&part) {
                return error;
            }
        }
    });
    let mut some = vec![0; 2_000_000];
    (&client).read_exact(&mut some).unwrap();
    client.streams()[1].clone().abort();
    let mut rest = Vec::new();
    let error = (&client).read_to_end(&mut rest).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::ConnectionAborted);
    client.abort();
    writing.join().unwrap();
    drop(server);
}

#[test]
fn a_peer_that_does_not_read_bounds_what_is_kept_and_holds_nobody() {
    let (client, server) = Server::new(2).bundle(2);
    client.set_write_timeout(Some(Duration::from_millis(300)));
    let part = content(CHUNK);
    let error = loop {
        if let Err(error) = (&client).write_all(&part) {
            break error;
        }
    };
    assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
    let Bundle::Several(several) = &*server.0 else { panic!("it has two") };
    assert!(several.incoming.kept() <= 32, "{}", several.incoming.kept());
    server.set_read_timeout(Some(Duration::from_millis(1)));
    let deadline = Deadline::after(Some(Duration::from_secs(5)));
    assert_eq!(client.close(), Err(CloseError::Lingered));
    assert!(deadline.left().is_some_and(|left| !left.is_zero()), "closing took longer than 5 s");
    drop(server);
}
