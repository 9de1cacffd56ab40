//! An algorithm that asks more of the contract than any in the registry, complete enough to be driven by a short script: a skeleton of
//! BBR (delivery-rate samples, rounds, pacing). What it shows is that the contract can say it.

mod bbr;

use cwnd::{Ack, Bytes, Control, Limit, Pacing, Remote, Rtt, Span, Start, Time, View};

fn at(millis: u64) -> Time {
    Time::ZERO + Span::from_millis(millis)
}

/// A round trip of `millis` that has never been different.
fn steady_rtt(millis: u64) -> Rtt {
    Rtt::fixed(Span::from_millis(millis))
}

/// A connection of 1000-byte packets with a round trip of 100 ms.
fn view(millis: u64) -> View {
    let mut view = View::new(at(millis), &Start::default().with_packet(Bytes(1000), Bytes(960)));
    (view.next, view.in_flight) = (1000, 100);
    (view.rtt, view.limit) = (Some(steady_rtt(100)), Limit::Window);
    view
}

fn ack(newly: u32, remote: Remote) -> Ack {
    Ack::new(newly, Time::ZERO).with_remote(remote)
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
