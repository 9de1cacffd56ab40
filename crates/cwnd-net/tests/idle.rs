//! The memory and processor time of idle connections. The only test of its program, since it measures the process.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

mod common;

use std::io::{Read, Write};
use std::thread;
use std::time::Duration;

use common::{listen, local, options, pattern};
use cwnd_net::{UdtPort, UdtStream};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeVal;

#[test]
fn an_idle_connection_costs_a_few_kilobytes_and_next_to_no_processor_time() {
    let options = options().backlog(CONNECTIONS);
    let (listener, address) = listen::<UdtStream>(&options);
    let port = UdtPort::bind(local(), &options).unwrap();
    let word = pattern(1, 100);
    let before = resident();
    let mut held = Vec::new();
    for _ in 0..CONNECTIONS {
        let client: UdtStream = port.connect(address).unwrap();
        let (server, _) = listener.accept().unwrap();
        for (mut from, mut to) in [(&client, &server), (&server, &client)] {
            let mut got = [0; 100];
            from.write_all(&word).unwrap();
            to.read_exact(&mut got).unwrap();
            assert_eq!(got, *word);
        }
        held.push([client, server]);
    }
    // Buffers are freed after a second.
    thread::sleep(Duration::from_secs(3));
    let each = (resident() - before) / (2 * CONNECTIONS as u64);
    println!("{each} bytes for each end of {CONNECTIONS} connections");
    assert!(each < 12_000, "{each} bytes for each end");
    let before = processor_time();
    thread::sleep(Duration::from_secs(1));
    let spent = processor_time() - before;
    println!("{spent:.3} s of processor time in a second");
    // Each end sends a keep-alive once a second: 2,000 datagrams, of some microseconds each.
    assert!(spent < 0.15, "{spent} s of processor time in a second");
    held.into_iter().flatten().for_each(UdtStream::abort);
}

/// Resident memory of this process in bytes.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1024
}

/// Processor time of this process so far in seconds.
fn processor_time() -> f64 {
    let usage = getrusage(UsageWho::RUSAGE_SELF).unwrap();
    let seconds = |time: TimeVal| time.tv_sec() as f64 + time.tv_usec() as f64 * 1e-6;
    seconds(usage.user_time()) + seconds(usage.system_time())
}

const CONNECTIONS: usize = 1_000;
