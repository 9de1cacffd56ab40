//! Many at once: connections, idle ones, strangers, and peers that do not do their part.

#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

mod common;

use std::io::{Read, Write};
use std::net::{SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use common::{listen, local, options, pattern};
use cwnd_net::{Options, UdtListener, UdtPort, UdtStream};
use cwnd_udt::wire::{Handshake, Request};
use cwnd_udt::{Control, Packet, Seq, SocketId};

fn rss() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap();
    text.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() * 4096
}

fn env(name: &str, default: usize) -> usize {
    std::env::var(name).ok().and_then(|v| v.parse().ok()).unwrap_or(default)
}

fn crowd(count: usize, size: usize) {
    let (listener, address) = listen::<UdtStream>(&options().backlog(count).connect_timeout(cwnd::Span::from_secs(30)));
    let port = UdtPort::bind(local(), &options().connect_timeout(cwnd::Span::from_secs(30))).unwrap();
    let began = Instant::now();
    let clients: Vec<UdtStream> = (0..count).map(|_| port.connect(address).unwrap()).collect();
    println!("connected in {:?}, rss {}", began.elapsed(), rss());
    let bytes = pattern(1, size + count);
    let began = Instant::now();
    let times = std::sync::Mutex::new(Vec::new());
    thread::scope(|scope| {
        for (index, stream) in clients.iter().enumerate() {
            let bytes = &bytes;
            thread::Builder::new().stack_size(128 << 10).spawn_scoped(scope, move || {
                (&*stream).write_all(&(index as u32).to_be_bytes()).unwrap();
                (&*stream).write_all(&bytes[index..][..size]).unwrap();
                let mut one = [0];
                (&*stream).read_exact(&mut one).unwrap();
            }).unwrap();
        }
        for _ in 0..count {
            let (stream, _) = listener.accept().unwrap();
            let bytes = &bytes;
            let times = &times;
            thread::Builder::new().stack_size(128 << 10).spawn_scoped(scope, move || {
                let mut index = [0; 4];
                (&stream).read_exact(&mut index).unwrap();
                let index = u32::from_be_bytes(index) as usize;
                let mut got = vec![0; 16 << 10];
                let mut at = 0;
                while at < size {
                    let read = (&stream).read(&mut got).unwrap();
                    assert!(read > 0 && got[..read] == bytes[index + at..][..read]);
                    at += read;
                }
                times.lock().unwrap().push(began.elapsed());
                (&stream).write_all(&[1]).unwrap();
                stream.close().unwrap();
            }).unwrap();
        }
    });
    let mut times = times.into_inner().unwrap();
    times.sort();
    println!("first {:?} median {:?} slowest {:?} rss {}", times[0], times[count / 2], times[count - 1], rss());
    let (mut sent, mut again) = (0, 0);
    for stream in &clients { if let Some(s) = stream.stats() { sent += s.udt.data_segs_out; again += s.udt.retrans as u64; } }
    println!("{sent} {again}");
    drop(clients);
    println!("closed {:?}", began.elapsed());
}

#[test]
fn crowds() {
    crowd(env("N", 100), env("SIZE", 200_000));
}

fn cpu() -> f64 {
    use nix::sys::resource::{UsageWho, getrusage};
    let usage = getrusage(UsageWho::RUSAGE_SELF).unwrap();
    let seconds = |time: nix::sys::time::TimeVal| time.tv_sec() as f64 + time.tv_usec() as f64 * 1e-6;
    seconds(usage.user_time()) + seconds(usage.system_time())
}

#[test]
fn idle() {
    let n = env("N", 1000);
    let used = env("USED", 0);
    let quiet = options().backlog(n);
    let (listener, address) = listen::<UdtStream>(&quiet);
    let port = UdtPort::bind(local(), &quiet).unwrap();
    let before = rss();
    let held: Vec<(UdtStream, UdtStream)> = (0..n)
        .map(|_| {
            let client: UdtStream = port.connect(address).unwrap();
            let server = listener.accept().unwrap().0;
            if used > 0 {
                (&client).write_all(&vec![1; used]).unwrap();
                (&server).read_exact(&mut vec![0; used]).unwrap();
                (&server).write_all(&vec![1; used]).unwrap();
                (&client).read_exact(&mut vec![0; used]).unwrap();
            }
            (client, server)
        })
        .collect();
    println!("memory per end {}", (rss() - before) / (2 * n as u64));
    thread::sleep(Duration::from_secs(3));
    println!("memory per end {}", (rss() - before) / (2 * n as u64));
    let c = cpu();
    thread::sleep(Duration::from_secs(5));
    println!("cpu {} of a core", (cpu() - c) / 5.0);
    for (client, server) in held {
        client.abort();
        server.abort();
    }
}

fn flood_from(sockets: &[UdpSocket], to: SocketAddr, rate: usize, stop: &AtomicBool, sent: &AtomicU64) {
    let began = Instant::now();
    let mut n = 0_u64;
    let handshake = Handshake { version: 4, socket_type: 1, isn: Seq::new(7).unwrap(), mss: 1500, window: 8192, request: Request::Regular, id: SocketId::new(77), cookie: 0, address: [0; 16] };
    let mut bytes = Vec::new();
    Packet::Control { timestamp_us: 0, to: None, control: Control::Handshake(handshake) }.encode(&mut bytes);
    while !stop.load(Ordering::Relaxed) {
        let due = (began.elapsed().as_secs_f64() * rate as f64) as u64;
        while n < due {
            let _ = sockets[n as usize % sockets.len()].send_to(&bytes, to);
            n += 1;
            if n % 64 == 0 && stop.load(Ordering::Relaxed) { break; }
        }
        sent.store(n, Ordering::Relaxed);
        thread::sleep(Duration::from_millis(1));
    }
}

fn rate_of(client: &UdtStream, got: &AtomicU64, secs: f64) -> f64 {
    let _ = client;
    let a = got.load(Ordering::Relaxed);
    let t = Instant::now();
    thread::sleep(Duration::from_secs_f64(secs));
    (got.load(Ordering::Relaxed) - a) as f64 * 8.0 / t.elapsed().as_secs_f64()
}

#[test]
fn flood() {
    let sockets: Vec<UdpSocket> = (0..500_u32).map(|i| {
        let s = UdpSocket::bind(SocketAddr::from(([127, 1, (i >> 8) as u8, i as u8], 0))).unwrap();
        s
    }).collect();
    let o = match env("MBIT", 0) { 0 => options(), m => options().max_rate(cwnd::BitRate(m as f64 * 1e6)) };
    let (listener, address) = listen::<UdtStream>(&options());
    let client = UdtStream::connect_with(address, &o).unwrap();
    let server = listener.accept().unwrap().0;
    let (got, stop, sent) = (AtomicU64::new(0), AtomicBool::new(false), AtomicU64::new(0));
    let (stop2, ) = (AtomicBool::new(false), );
    thread::scope(|scope| {
        let mut threads: Vec<()> = vec![];
        let _ = &mut threads;
        scope.spawn(|| {
            let bytes = vec![1; 1 << 16];
            while !stop.load(Ordering::Relaxed) { (&client).write_all(&bytes).unwrap(); }
            client.clone().abort();
        });
        scope.spawn(|| {
            let mut bytes = vec![1; 1 << 16];
            while let Ok(n) = (&server).read(&mut bytes) { if n == 0 { break; } got.fetch_add(n as u64, Ordering::Relaxed); }
        });
        thread::sleep(Duration::from_secs(1));
        let before = rate_of(&client, &got, 3.0);
        let (m, c) = (rss(), cpu());
        scope.spawn(|| flood_from(&sockets, address, env("RATE", 100_000), &stop2, &sent));
        let during = rate_of(&client, &got, 3.0);
        println!("sent {} ", sent.load(Ordering::Relaxed));
        println!("before {:.1} during {:.1} Mbit/s {}; rss {} -> {} cpu {}", before * 1e-6, during * 1e-6, during / before, m, rss(), (cpu() - c) / 3.0);
        println!("{}", client.stats().unwrap());
        println!("{}", server.stats().unwrap());
        let t = Instant::now();
        let r: Result<UdtStream, _> = UdtStream::connect_with(address, &options());
        println!("connect {:?} {:?}", r.is_ok(), t.elapsed());
        stop2.store(true, Ordering::Relaxed);
        thread::sleep(Duration::from_millis(500));
        let after = rate_of(&client, &got, 2.0);
        println!("after {:.1}", after * 1e-6);
        stop.store(true, Ordering::Relaxed);
    });
}

#[test]
fn stalled() {
    let n = env("N", 100);
    let (listener, address) = listen::<UdtStream>(&options().backlog(n + 1));
    let port = UdtPort::bind(local(), &options()).unwrap();
    let m = rss();
    let held: Vec<(UdtStream, UdtStream)> = (0..n).map(|_| {
        let client: UdtStream = port.connect(address).unwrap();
        let server = listener.accept().unwrap().0;
        client.set_write_timeout(Some(Duration::from_millis(20)));
        let bytes = vec![1; 64 << 10];
        while (&client).write(&bytes).is_ok() {}
        (client, server)
    }).collect();
    if n > 0 { println!("rss per stalled {}", (rss() - m) / n as u64); }
    let client: UdtStream = port.connect(address).unwrap();
    let server = listener.accept().unwrap().0;
    let size = env("SIZE", 200 << 20);
    let (t, c) = (Instant::now(), cpu());
    thread::scope(|scope| {
        scope.spawn(|| {
            let bytes = vec![1; 1 << 16];
            for _ in 0..size >> 16 { (&client).write_all(&bytes).unwrap(); }
        });
        let mut bytes = vec![1; 1 << 16];
        let mut got = 0;
        while got < (size >> 16) << 16 { got += (&server).read(&mut bytes).unwrap(); }
    });
    println!("{n} stalled: {:?} cpu {:.2}", t.elapsed(), cpu() - c);
    for (a, b) in held { a.abort(); b.abort(); }
}
