//! Streams for tasks, on a runtime of one thread.

#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

mod common;

use std::future::Future;
use std::net::{SocketAddr, UdpSocket};
use std::time::Duration;

use common::{local, options, pattern};
use cwnd::Span;
use cwnd_net::{AsyncUdtListener, AsyncUdtStream, CloseError, ConnectError, UdtPort, UdtStream};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::timeout;

/// Runs a test on its own thread, with a timeout.
fn run<T>(test: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(async { timeout(Duration::from_secs(60), test).await.expect("the test hangs") })
}

fn listen() -> (AsyncUdtListener, SocketAddr) {
    let listener = AsyncUdtListener::bind_with(local(), &options()).unwrap();
    let address = listener.local_addr();
    (listener, address)
}

/// Both ends of a connection.
async fn pair() -> (AsyncUdtStream, AsyncUdtStream) {
    let (mut listener, address) = listen();
    let client = AsyncUdtStream::connect_with(address, &options()).await.unwrap();
    (client, listener.accept().await.unwrap().0)
}

const SOON: Duration = Duration::from_millis(50);

#[test]
fn bytes_go_there_and_back() {
    run(async {
        let (client, server) = pair().await;
        let bytes = pattern(1, 3_000_001);
        let echo = tokio::spawn(async move {
            let (mut from, mut to) = tokio::io::split(server);
            assert_eq!(tokio::io::copy(&mut (&mut from).take(3_000_001), &mut to).await.unwrap(), 3_000_001);
            to.shutdown().await.unwrap();
        });
        let (mut from, mut to) = tokio::io::split(client);
        let sent = bytes.clone();
        let sending = tokio::spawn(async move { to.write_all(&sent).await.unwrap() });
        let mut got = Vec::new();
        from.read_to_end(&mut got).await.unwrap();
        assert!(got == bytes);
        sending.await.unwrap();
        echo.await.unwrap();
    });
}

#[test]
fn many_connections_need_no_threads() {
    run(async {
        let (mut listener, address) = listen();
        let port = UdtPort::bind(local(), &options()).unwrap();
        let threads = || std::fs::read_dir("/proc/self/task").map_or(0, Iterator::count);
        let before = threads();
        let mut tasks = Vec::new();
        for seed in 0..100 {
            let mut client = AsyncUdtStream::connect_from(&port, address).await.unwrap();
            let (mut server, _) = listener.accept().await.unwrap();
            tasks.push(tokio::spawn(async move {
                let mut got = vec![0; 30_000];
                server.read_exact(&mut got).await.unwrap();
                server.write_all(&got).await.unwrap();
                server.close().await.unwrap();
            }));
            tasks.push(tokio::spawn(async move {
                let bytes = pattern(seed, 30_000);
                client.write_all(&bytes).await.unwrap();
                let mut got = Vec::new();
                client.read_to_end(&mut got).await.unwrap();
                assert!(got == bytes, "connection {seed}");
            }));
        }
        // Other tests of this program come and go meanwhile, with some threads each.
        assert!(threads() < before + 50, "{} threads, {before} before", threads());
        for task in tasks {
            task.await.unwrap();
        }
    });
}

#[test]
fn a_writer_waits_for_its_reader() {
    run(async {
        let (mut client, mut server) = pair().await;
        let bytes = pattern(1, 20_000_000);
        let mut written = 0;
        while let Ok(size) = timeout(Duration::from_millis(300), client.write(&bytes[written..])).await {
            written += size.unwrap();
        }
        assert!(written < 10_000_000, "{written} bytes lie between a writer and an idle reader");
        let mut got = vec![0; written];
        server.read_exact(&mut got).await.unwrap();
        assert!(got == bytes[..written], "a write that was cancelled took nothing");
        client.write_all(&bytes[written..written + 1_000]).await.unwrap();
        server.read_exact(&mut got[..1_000]).await.unwrap();
        assert!(got[..1_000] == bytes[written..written + 1_000]);
    });
}

#[test]
fn cancelled_reads_and_accepts_lose_nothing() {
    run(async {
        let (mut listener, address) = listen();
        assert!(timeout(SOON, listener.accept()).await.is_err());
        let mut client = AsyncUdtStream::connect_with(address, &options()).await.unwrap();
        let (mut server, from) = listener.accept().await.unwrap();
        assert_eq!((from, server.peer_addr()), (client.local_addr(), client.local_addr()));
        assert!(timeout(SOON, server.read_u8()).await.is_err());
        client.write_all(b"here").await.unwrap();
        let mut got = [0; 4];
        server.read_exact(&mut got).await.unwrap();
        assert_eq!(&got, b"here");
        let stats = server.stats().await.unwrap();
        assert_eq!(stats.udt.bytes_received, 4);
    });
}

#[test]
fn a_cancelled_connect_leaves_no_connection() {
    run(async {
        let (mut listener, address) = listen();
        let port = UdtPort::bind(local(), &options()).unwrap();
        // The request has been sent; if the answer has arrived, the stream is dropped too.
        drop(timeout(Duration::ZERO, AsyncUdtStream::connect_from(&port, address)).await);
        if let Ok(accepted) = timeout(Duration::from_secs(1), listener.accept()).await {
            let (mut server, _) = accepted.unwrap();
            let mut nothing = Vec::new();
            let _ended = server.read_to_end(&mut nothing).await;
            assert_eq!(nothing, []);
        }
        let _another = AsyncUdtStream::connect_from(&port, address).await.unwrap();
    });
}

#[test]
fn connecting_without_a_listener_times_out() {
    let nobody = UdpSocket::bind(local()).unwrap().local_addr().unwrap();
    let options = options().connect_timeout(Span::from_millis(200));
    let error = run(AsyncUdtStream::connect_with(nobody, &options)).unwrap_err();
    assert!(matches!(error, ConnectError::Refused { .. }), "{error}");
}

#[test]
fn halves_may_go_one_after_the_other_and_dropping_delivers() {
    run(async {
        let (client, mut server) = pair().await;
        let (from, mut to) = tokio::io::split(client);
        drop(from);
        to.write_all(&[7; 500_000]).await.unwrap();
        drop(to);
        let mut got = Vec::new();
        server.read_to_end(&mut got).await.unwrap();
        assert!(got == [7; 500_000]);
    });
}

#[test]
fn shutting_down_waits_for_the_peer_and_reports_a_timeout() {
    run(async {
        let (mut client, mut server) = pair().await;
        client.write_all(b"all of it").await.unwrap();
        client.shutdown().await.unwrap();
        assert_eq!(client.read(&mut [0]).await.unwrap(), 0);
        assert_eq!(client.write(b"?").await.unwrap_err().kind(), std::io::ErrorKind::NotConnected);
        let mut got = String::new();
        server.read_to_string(&mut got).await.unwrap();
        assert_eq!(got, "all of it");

        let brief = options().linger(Span::from_millis(100)).receive_buffer(32);
        let mut listener = AsyncUdtListener::bind_with(local(), &brief).unwrap();
        let mut client = AsyncUdtStream::connect_with(listener.local_addr(), &brief).await.unwrap();
        let (_unread, _) = listener.accept().await.unwrap();
        client.write_all(&[0; 200_000]).await.unwrap();
        assert_eq!(client.close().await, Err(CloseError::Lingered));
    });
}

#[test]
fn tasks_and_threads_interoperate() {
    let (listener, address) = common::listen::<UdtStream>(&options());
    let thread = std::thread::spawn(move || {
        use std::io::{Read, Write};
        let (mut stream, _) = listener.accept().unwrap();
        stream.write_all(b"from a thread").unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        text
    });
    run(async {
        let mut stream = AsyncUdtStream::connect_with(address, &options()).await.unwrap();
        let mut got = [0; 13];
        stream.read_exact(&mut got).await.unwrap();
        stream.write_all(b"from a task").await.unwrap();
        stream.close().await.unwrap();
        assert_eq!(&got, b"from a thread");
    });
    assert_eq!(thread.join().unwrap(), "from a task");
}

#[test]
fn aborting_loses_what_was_not_delivered_and_ends_the_peer() {
    run(async {
        let (mut client, mut server) = pair().await;
        client.write_all(&[7; 200_000]).await.unwrap();
        client.abort();
        let mut got = Vec::new();
        // An error only if a packet is missing: the peer cannot know of data that was never sent.
        let _ended = server.read_to_end(&mut got).await;
        assert!(got.iter().all(|byte| *byte == 7) && got.len() <= 200_000);
    });
}
