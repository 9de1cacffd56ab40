//! How well a gigabit of full packets crosses a link on this host, with different spins.
//!
//! `cargo run --release -p cwnd-link --example gigabit`, on a machine that does nothing else.

use std::error::Error;
use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use cwnd::Span;
use cwnd_link::{Plan, Relay};
use cwnd_sim::QueueLimit;
use cwnd_sim::emulate::Emulation;

fn main() -> Result<(), Box<dyn Error>> {
    for spin in [Span::ZERO, Span::from_micros(20), Span::from_micros(100)] {
        let server = UdpSocket::bind("127.0.0.1:0")?;
        let link = Emulation::new(Some(1_000_000_000), Span::from_millis(50), QueueLimit::Packets(8333));
        let mut plan = Plan::new(SocketAddr::from(([127, 0, 0, 1], 0)), server.local_addr()?, link);
        plan.spin = spin;
        let relay = Relay::bind(plan)?;
        let (at, stop) = (relay.local()?, AtomicBool::new(false));
        let (sent, gaps, report) = thread::scope(|scope| {
            let relay = scope.spawn(|| relay.run(&stop, None));
            let sender = scope.spawn(|| send(at));
            let gaps = gaps(&server);
            stop.store(true, Ordering::Relaxed);
            (sender.join().expect("it does not panic"), gaps, relay.join().expect("it does not panic"))
        });
        let mut gaps = gaps?;
        gaps.sort_by(f64::total_cmp);
        let quantile = |q: f64| gaps.get((gaps.len() as f64 * q) as usize).copied().unwrap_or(f64::NAN);
        let [low, middle, high] = [0.1, 0.5, 0.9].map(quantile);
        println!(
            "spin {spin}: {} sent; gaps in us: 10 % {low:.1}, 50 % {middle:.1}, 90 % {high:.1}\n{}",
            sent?, report?
        );
    }
    Ok(())
}

/// Sends a little more than the link carries, a millisecond's worth at a time.
fn send(to: SocketAddr) -> io::Result<u32> {
    let socket = UdpSocket::bind("127.0.0.1:0")?;
    let (start, mut sent) = (now(), 0);
    while start.elapsed() < Duration::from_secs(3) {
        while f64::from(sent) < start.elapsed().as_secs_f64() * 85_000.0 {
            socket.send_to(&[0; 1472], to)?;
            sent += 1;
        }
        thread::sleep(Duration::from_millis(1));
    }
    Ok(sent)
}

/// The times between arrivals in microseconds, until nothing comes any more.
fn gaps(server: &UdpSocket) -> io::Result<Vec<f64>> {
    server.set_read_timeout(Some(Duration::from_millis(500)))?;
    let (mut buffer, mut gaps, mut last) = ([0; 2000], Vec::new(), None::<Instant>);
    while server.recv(&mut buffer).is_ok() {
        let at = now();
        gaps.extend(last.map(|last| (at - last).as_secs_f64() * 1e6));
        last = Some(at);
    }
    Ok(gaps)
}

#[expect(clippy::disallowed_methods, reason = "it measures what happens in real time")]
fn now() -> Instant {
    Instant::now()
}
