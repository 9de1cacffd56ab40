//! Helpers of the tests.

use std::net::SocketAddr;

use cwnd::Span;
use cwnd_net::{Options, Socket, UdtListener};

/// Bytes that differ at every offset, so that none can be lost, doubled or moved unseen.
pub(crate) fn pattern(seed: u64, size: usize) -> Vec<u8> {
    let mut state = seed;
    let next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    };
    std::iter::repeat_with(next).take(size).collect()
}

/// Options under which a test that fails does so soon.
pub(crate) fn options() -> Options {
    Options::default().linger(Span::from_secs(20)).connect_timeout(Span::from_secs(10))
}

/// A port of the system's choice on this host.
pub(crate) fn local() -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], 0))
}

/// A listener on this host, and where it listens.
pub(crate) fn listen<S: Socket>(options: &Options) -> (UdtListener<S>, SocketAddr) {
    let listener = UdtListener::bind_with(local(), options).unwrap();
    let address = listener.local_addr();
    (listener, address)
}
