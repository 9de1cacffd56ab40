//! Windows that are not used: the worked examples of draft-ietf-ccwg-ratelimited-increase, and its rules and those of others by hand.

use cwnd::window::{Policy, RateLimited};
use cwnd::{Congestion, CongestionControl, Limit, Packets, Span, Start};

use crate::host::{TestHost, acked, assert_close, with};

fn sender(spec: &str, window: f64, threshold: Option<f64>, rate_limited: RateLimited) -> TestHost {
    let policy = with(Policy::MODERN, |policy| policy.rate_limited = rate_limited);
    let mut start = Start::default().with_window(Packets(window)).with_policy(policy);
    start.threshold = threshold.map(Packets);
    let mut flow = TestHost::new(spec, &start);
    flow.view.limit = Limit::Source;
    flow
}

/// The application has `packets` to send, and all leave before the first acknowledgement. Each is acknowledged by itself; the window after each.
fn flight(flow: &mut TestHost, packets: u64) -> Vec<f64> {
    flow.view.now += flow.rtt();
    flow.view.round += 1;
    flow.view.next += packets;
    let acknowledge = |left: u64| {
        (flow.view.in_flight, flow.view.delivered) = (left, flow.view.delivered + 1);
        flow.view.now += Span::from_micros(1);
        flow.algorithm.on_ack(&flow.view, &acked(1));
        flow.w()
    };
    (1..=packets).rev().map(acknowledge).collect()
}

/// The window after each of some flights.
fn flights(flow: &mut TestHost, packets: &[u64]) -> Vec<f64> {
    let last = |packets: &u64| flight(flow, *packets).pop().expect("not empty");
    packets.iter().map(last).collect()
}

/// A round trip of a sender with data: each acknowledgement finds as many packets in flight as the window holds.
fn used(flow: &mut TestHost) {
    flow.view.limit = Limit::Window;
    flow.view.now += flow.rtt();
    flow.view.round += 1;
    for _ in 0..flow.w() as u64 {
        flow.view.in_flight = flow.w() as u64;
        flow.view.now += Span::from_micros(1);
        flow.ack(1);
    }
}

/// Section 3.1: ten segments, a pause, then four.
#[test]
fn the_example_in_segments() {
    for (rate_limited, windows) in [
        (RateLimited::None, [20.0, 24.0]),
        (RateLimited::Draft11, [20.0, 20.0]),
        (RateLimited::Linux, [20.0, 20.0]),
        (RateLimited::Rfc9002, [10.0, 10.0]),
    ] {
        let mut flow = sender("reno", 10.0, None, rate_limited);
        assert_eq!(flights(&mut flow, &[10, 4]), windows, "{rate_limited:?}");
    }
}

/// Appendix A, with the window in bytes after each of its 36 acknowledgements.
#[test]
fn the_example_in_bytes() {
    let mut flow = sender("reno", 10.0, None, RateLimited::Draft11);
    let mut bytes = |packets| -> Vec<u32> {
        flight(&mut flow, packets).into_iter().map(|window| (window * 1000.0) as u32).collect()
    };
    assert_eq!(bytes(4), [11_000, 12_000, 13_000, 14_000]);
    assert_eq!(bytes(8), [15_000, 16_000, 17_000, 18_000, 19_000, 20_000, 20_000, 20_000]);
    assert_eq!(bytes(4), [20_000; 4]);
    assert_eq!(bytes(20), (21..=40).map(|thousand| thousand * 1000).collect::<Vec<u32>>());
}

/// The senders of other policies on the flights of appendix A. Linux forgets the initial window, as it counts flights alone.
#[test]
fn the_example_in_bytes_under_other_policies() {
    for (rate_limited, windows) in [
        (RateLimited::None, [14.0, 22.0, 26.0, 46.0]),
        (RateLimited::Rfc9002, [10.0, 10.0, 10.0, 10.0]),
        (RateLimited::Linux, [10.0, 16.0, 16.0, 36.0]),
    ] {
        let mut flow = sender("reno", 10.0, None, rate_limited);
        assert_eq!(flights(&mut flow, &[4, 8, 4, 20]), windows, "{rate_limited:?}");
    }
}

/// Equation 3: a packet above the largest flight, and no more.
#[test]
fn avoidance_stops_a_packet_above_the_largest_flight() {
    let mut flow = sender("reno", 20.0, Some(0.0), RateLimited::Draft11);
    let mut after = flights(&mut flow, &[19; 4]);
    assert_close(after.pop().expect("not empty"), 21.0, 1e-9);
    flights(&mut flow, &[21; 3]);
    assert_close(flow.w(), 22.0, 1e-9);
    flights(&mut flow, &[1, 5, 21, 0].map(|packets| packets.max(1)));
    assert_close(flow.w(), 22.0, 1e-9);
}

/// A window that is used grows as without a limit, by every rule of a window, but for a part of the acknowledgement that takes it past a whole
/// packet: the flight is a packet larger only after it.
#[test]
fn a_used_window_has_no_limit() {
    for spec in ["reno", "cubic", "simd", "iiad", "scalable", "highspeed", "htcp", "exp-tcp", "aimd:b=1/8"] {
        let [limited, free] = [RateLimited::Draft11, RateLimited::None].map(|rate_limited| {
            let mut flow = sender(spec, 40.0, Some(0.0), rate_limited);
            flow.view.next = 40;
            flow.view.limit = Limit::Window;
            flow.on_congestion(&Congestion::loss(39, 1));
            (0..60).for_each(|_| used(&mut flow));
            flow.w()
        });
        assert!(limited > 0.96 * free && limited < 1.01 * free && free > 20.0, "{spec}: {limited}, {free}");
    }
}

/// Each kind of reduction begins the count anew, and leaves the window that it leaves: not even the acknowledgement that comes with it counts,
/// nor does the window fall before packets in flight were counted.
#[test]
fn a_reduction_begins_anew_and_nothing_collapses() {
    type Reduction = fn(&mut TestHost);
    let reduce: [(&str, Reduction, f64); 4] = [
        ("loss", |flow| flow.on_congestion(&Congestion::loss(flow.view.next - 1, 1)), 50.0),
        ("mark", |flow| flow.on_congestion(&Congestion::mark(flow.view.next - 1)), 50.0),
        ("delay", |flow| flow.on_congestion(&Congestion::delay(flow.view.next - 1)), 50.0),
        (
            "idle",
            |flow| {
                let view = flow.view;
                flow.algorithm.on_restart(&view, Span::from_secs(5));
            },
            10.0,
        ),
    ];
    for (name, reduce, left) in reduce {
        let mut flow = sender("reno", 10.0, None, RateLimited::Draft11);
        flow.view.limit = Limit::Window;
        flights(&mut flow, &[10, 20, 40]);
        flow.on_congestion(&Congestion::mark(flow.view.next - 1));
        flights(&mut flow, &[40, 41, 42]);
        while flow.w() < 100.0 {
            used(&mut flow);
        }
        let before = flow.w();
        reduce(&mut flow);
        let cut = flow.w();
        assert_close(cut, left * if left > 10.0 { before / 100.0 } else { 1.0 }, 1e-9);
        // Reported with the event: these packets were in flight before it.
        flow.view.in_flight = 100;
        flow.algorithm.on_ack(&flow.view, &acked(1));
        assert_eq!(flow.w(), cut, "{name}");
        flow.view.limit = Limit::Source;
        flights(&mut flow, &[5; 30]);
        assert_close(flow.w(), cut, 1e-9);
    }
}

/// After a timeout the window starts from one packet, and the flights that it makes let it double.
#[test]
fn slow_start_after_a_timeout_doubles() {
    let mut flow = sender("reno", 64.0, Some(0.0), RateLimited::Draft11);
    used(&mut flow);
    flow.on_congestion(&Congestion::timeout(flow.view.next - 1, false));
    assert_eq!(flights(&mut flow, &[1, 2, 4, 8, 16]), [2.0, 4.0, 8.0, 16.0, 32.0]);
}

/// An undo brings back the window of before, and the flight that it rests on.
#[test]
fn an_undo_restores_the_largest_flight() {
    let mut flow = sender("reno", 64.0, Some(0.0), RateLimited::Draft11);
    flight(&mut flow, 64);
    flow.lose();
    flight(&mut flow, 5);
    let view = flow.view;
    flow.algorithm.on_spurious(&view);
    let restored = flow.w();
    assert_close(restored, 65.0, 0.02);
    flights(&mut flow, &[60; 9]);
    assert_close(flow.w(), 65.0, 1e-9);
}

/// The receiver's window limits as the application does.
#[test]
fn the_receiver_limits_as_the_application_does() {
    let mut flow = sender("reno", 10.0, None, RateLimited::Draft11);
    flow.view.limit = Limit::Peer;
    flow.view.peer_window = Packets(15.0);
    assert_eq!(flights(&mut flow, &[10, 15, 15, 15]), [20.0, 30.0, 30.0, 30.0]);
}

/// limit() of CUBIC is the curve after one window of the largest flight. The curve and the estimate stand while the limit holds the window:
/// 1000 s later it goes on where it was, and half as far again as the flight at most.
#[test]
fn cubic_does_not_run_away_behind_its_limit() {
    let mut flow = sender("cubic", 100.0, Some(0.0), RateLimited::Draft11);
    used(&mut flow);
    flow.lose();
    let cut = flow.w();
    assert_close(cut, 70.7, 0.1);
    flow.view.limit = Limit::Source;
    let held = flights(&mut flow, &[40; 10_000]);
    assert_eq!(held[9_999], cut);
    let estimate = flow.internal("w_est");
    assert!(estimate < 71.5, "{estimate}");
    // K = cbrt(0.3 * 101 / 0.4) = 4.23 s, and a second later C (1.1 - 4.23)^3 + 101 = 88.7.
    for (rounds, window) in [(10, 88.7), (32, 101.0)] {
        (0..rounds).for_each(|_| used(&mut flow));
        assert_close(flow.w(), window, 2.5);
    }
}

/// Linux: congestion avoidance grows after a flight that filled the window, for a window of data.
#[test]
fn linux_grows_after_full_flights() {
    let mut flow = sender("reno", 20.0, Some(0.0), RateLimited::Linux);
    flights(&mut flow, &[19; 10]);
    assert_eq!(flow.w(), 20.0);
    flights(&mut flow, &[20]);
    assert_close(flow.w(), 21.0, 0.03);
    let grown = flow.w();
    flights(&mut flow, &[10, 10, 10]);
    assert_eq!(flow.w(), grown);
}
