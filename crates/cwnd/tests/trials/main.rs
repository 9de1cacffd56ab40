//! An algorithm that asks more of the contract than any in the registry, complete enough to be driven by a short script: a skeleton of
//! BBR (delivery-rate samples, rounds, pacing). What it shows is that the contract can say it.

mod bbr;

use cwnd::signal::Limit;
use cwnd::{Ack, Bytes, Control, Pacing, Packets, Remote, Rtt, Span, Time, View};

fn at(millis: u64) -> Time {
    Time::ZERO + Span::from_millis(millis)
}

/// A round trip of `millis` that has never been different.
fn steady_rtt(millis: u64) -> Rtt {
    let rtt = Span::from_millis(millis);
    Rtt { latest: rtt, smoothed: rtt, variation: Span::ZERO, min: rtt, ack_delay: Span::ZERO }
}

/// A connection of 1000-byte packets with a round trip of 100 ms.
fn view(millis: u64) -> View {
    View {
        now: at(millis),
        next: 1000,
        in_flight: 100,
        in_recovery: false,
        delivered: 0,
        lost: 0,
        rtt: Some(steady_rtt(100)),
        timeout: None,
        round: 0,
        limit: Limit::Window,
        peer_window: Packets(f64::INFINITY),
        packet: Bytes(1000),
        payload: Bytes(960),
    }
}

fn ack(newly: u32, remote: Remote) -> Ack {
    Ack { acks: 1, newly, marked: 0, sent_at: Time::ZERO, sample: None, remote }
}

fn rate(control: &Control) -> f64 {
    match control.pacing {
        Pacing::At(rate) => rate.0,
        other => panic!("a rate is set, not {other:?}"),
    }
}

/// Whether `found` has the four or more digits that `expected` is given with.
fn close(found: f64, expected: f64) {
    assert!((found - expected).abs() <= 2e-4 * expected.abs(), "{found} instead of {expected}");
}
