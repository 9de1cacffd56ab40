//! Views and acknowledgements for the tests of algorithms.

use crate::signal::{Ack, Limit, Remote, Rtt, View};
use crate::units::{Bytes, Packets, Span, Time};

pub(crate) fn at(millis: u64) -> Time {
    Time::ZERO + Span::from_millis(millis)
}

/// A connection of 1000-byte packets with a round trip of 100 ms that does not vary, limited by the window or rate that the algorithm requests.
pub(crate) fn view(millis: u64) -> View {
    let rtt = Span::from_millis(100);
    View {
        now: at(millis),
        next: 0,
        in_flight: 0,
        in_recovery: false,
        delivered: 0,
        lost: 0,
        rtt: Some(Rtt::fixed(rtt)),
        timeout: None,
        round: 0,
        limit: Limit::Window,
        peer_window: Packets(f64::INFINITY),
        packet: Bytes(1000),
        payload: Bytes(960),
    }
}

/// `newly` packets were acknowledged, one by one, and `remote` came with that.
pub(crate) fn ack(newly: u32, remote: Remote) -> Ack {
    Ack { acks: newly, newly, marked: 0, sent_at: Time::ZERO, sample: None, remote }
}

#[track_caller]
pub(crate) fn close(found: f64, expected: f64) {
    assert!((found - expected).abs() <= 1e-5 * expected.abs(), "{found}, not {expected}");
}
