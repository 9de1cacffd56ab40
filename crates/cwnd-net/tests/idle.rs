//! The memory of idle connections. The only test of its program, since it measures the memory of the process.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

mod common;

use std::io::{Read, Write};
use std::thread;
use std::time::Duration;

use common::{listen, local, options, pattern};
use cwnd_net::{UdtPort, UdtStream};

#[test]
fn an_idle_connection_costs_a_few_kilobytes() {
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
    held.into_iter().flatten().for_each(UdtStream::abort);
}

/// Resident memory of this process in bytes.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1024
}

const CONNECTIONS: usize = 1_000;
