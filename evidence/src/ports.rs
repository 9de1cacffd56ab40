//! Ports for programs that receive their address as an argument.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicU16, Ordering};

/// A port of the loopback at which nothing listens. Each call returns another one.
///
/// It lies below the ports that the kernel hands out by itself, so that no socket bound to port 0 takes it before the program that will listen
/// there.
///
/// # Errors
/// Every port is in use, or none can be bound.
pub(crate) fn free() -> io::Result<SocketAddr> {
    let mut last = io::Error::from(io::ErrorKind::AddrInUse);
    for _ in FIRST..END {
        let nth = TAKEN.fetch_add(1, Ordering::Relaxed);
        // Two processes side by side begin at different ports.
        let offset = (u32::from(nth) + std::process::id() * 97) % u32::from(END - FIRST);
        let at = SocketAddr::from((Ipv4Addr::LOCALHOST, FIRST + offset as u16));
        match UdpSocket::bind(at) {
            Ok(_) => return Ok(at),
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// Below the first port that Linux (32768) and the registry of ports (49152) hand out, and above those of services.
const FIRST: u16 = 20_000;
const END: u16 = 32_000;

static TAKEN: AtomicU16 = AtomicU16::new(0);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_socket_bound_to_port_0_takes_none_of_them() {
        let range = std::fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").expect("Linux tells its range");
        let first: u16 = range.split_whitespace().next().and_then(|port| port.parse().ok()).expect("a port");
        assert!(END <= first, "{END} lies in the ports that are handed out, from {first} on");
    }

    #[test]
    fn no_two_calls_return_the_same_port() {
        let ports: std::collections::BTreeSet<SocketAddr> = (0..200).map(|_| free().expect("a port")).collect();
        assert_eq!(ports.len(), 200);
    }

    #[test]
    fn a_port_in_use_is_passed_over() {
        let held: Vec<UdpSocket> = (0..50).map(|_| UdpSocket::bind(free().expect("a port")).expect("free")).collect();
        let taken: Vec<SocketAddr> = held.iter().map(|socket| socket.local_addr().expect("bound")).collect();
        assert!((0..50).all(|_| !taken.contains(&free().expect("a port"))));
    }
}
