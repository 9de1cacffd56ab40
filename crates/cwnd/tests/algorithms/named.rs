//! The window algorithms that the papers only name, against numbers worked out by hand.

use cwnd::{Congestion, CongestionControl, Packets, Rtt, Span};

use crate::host::{TestHost, acked, assert_close, with};

/// Round-trip times of which `min` is the least and `latest` the newest, the smoothed and the largest.
fn queueing(min: u64, latest: u64) -> Option<Rtt> {
    Some(with(Rtt::fixed(Span::from_millis(latest)), |rtt| rtt.min = Span::from_millis(min)))
}

/// The windows after each of ten round trips, each a step of the rule as its paper writes it.
fn trace(flow: &mut TestHost) -> [f64; 10] {
    core::array::from_fn(|_| {
        flow.view.now += flow.rtt();
        flow.algorithm.on_fluid(&flow.view, Packets(flow.w()));
        flow.w()
    })
}

#[track_caller]
fn assert_trace(flow: &mut TestHost, expected: [f64; 10]) {
    for (step, (found, expected)) in trace(flow).into_iter().zip(expected).enumerate() {
        assert!((found - expected).abs() < 1e-9, "step {step}: {found}, expected {expected}");
    }
}

/// From 875 to 1000: additive by 32 while the middle is further, then half the way each time.
#[test]
fn bic_searches_by_bisection() {
    let search =
        [907.0, 939.0, 969.5, 984.75, 992.375, 996.1875, 998.09375, 999.046_875, 999.523_437_5, 999.761_718_75];
    assert_trace(&mut TestHost::cut_from("bic", 1000.0), search);
}

#[test]
fn bic_probes_beyond_its_maximum_as_slow_start_does() {
    let probing = [1001.0, 1003.0, 1007.0, 1015.0, 1031.0, 1063.0, 1095.0, 1127.0, 1159.0, 1191.0];
    assert_trace(&mut TestHost::avoiding("bic", 1000.0), probing);
    // The search ends in steps of s_min: 16 to go from a window of 984, in steps of 8, 4 and then no less than 4.
    let steps = [992.0, 996.0, 1000.0, 1001.0, 1003.0, 1007.0, 1015.0, 1031.0, 1063.0, 1095.0];
    assert_trace(&mut TestHost::cut_from("bic:b=0.016,s_min=4", 1000.0), steps);
}

#[test]
fn bic_aims_lower_when_the_maximum_falls() {
    for (spec, w_max) in [("bic", 820.3125), ("bic:fast_convergence=off", 875.0)] {
        let mut flow = TestHost::cut_from(spec, 1000.0);
        flow.lose();
        assert_eq!((flow.w(), flow.internal("w_max")), (765.625, w_max));
    }
    let small = TestHost::avoiding("bic", 13.0);
    assert_close(small.increase(), 1.0, 1e-12);
    assert_close(small.decrease(), 0.5, 1e-12);
}

/// A packet per round trip for a second, then 1 + 10 (t - 1) + ((t - 1)/2)^2, times 2 (1 - beta).
#[test]
fn htcp_grows_faster_the_longer_the_last_congestion_is_past() {
    let mut flow = TestHost::cut_from("htcp", 1000.0);
    for (millis, per_round) in [(1000, 1.0), (1000, 11.25), (3000, 45.0), (5000, 111.25)] {
        flow.view.now += Span::from_millis(millis);
        assert_close(flow.increase(), per_round, 1e-9);
    }
}

#[test]
fn htcp_keeps_what_is_not_queueing() {
    // 1000 packets per second at the first cut, of which nothing is known before; RTTmin/RTTmax at the second.
    for (spec, min, latest, w, kept) in [
        ("htcp", 60, 100, 100.0, 0.6),
        ("htcp", 90, 100, 100.0, 0.8),
        ("htcp", 30, 100, 100.0, 0.5),
        ("htcp", 60, 100, 119.0, 0.6),
        ("htcp", 60, 100, 121.0, 0.5),
        ("htcp", 60, 100, 79.0, 0.5),
        ("htcp:backoff=half", 60, 100, 100.0, 0.5),
    ] {
        let mut flow = TestHost::cut_from(spec, 100.0);
        assert_eq!(flow.w(), 50.0);
        flow.algorithm.on_fluid(&flow.view, Packets((w - 50.0) * 50.0));
        flow.view.rtt = queueing(min, latest);
        flow.lose();
        assert_close(flow.w(), kept * w, 1e-9);
        assert_close(flow.increase(), 2.0 * (1.0 - kept), 1e-9);
    }
}

/// A round trip whose samples are `latest`, over a base of 100 ms, and then the change of the window in the next one.
fn after_a_round_of(flow: &mut TestHost, latest: &[u64]) -> f64 {
    flow.view.in_recovery = true;
    flow.view.round += 1;
    for latest in latest {
        flow.view.rtt = queueing(100, *latest);
        flow.ack(1);
    }
    flow.view.in_recovery = false;
    flow.view.round += 1;
    let before = flow.w();
    flow.ack(1);
    (flow.w() - before) * before
}

/// 20 packets over a base of 100 ms: RTT 110 ms leaves 20 (1 - 100/110) = 1.82 of them in the queue.
#[test]
fn vegas_keeps_one_to_three_packets_in_the_queue() {
    for (least, per_round) in [(100, 1.0), (105, 1.0), (106, 0.0), (110, 0.0), (117, 0.0), (118, -1.0), (200, -1.0)] {
        let mut flow = TestHost::avoiding("vegas", 20.0);
        assert_close(after_a_round_of(&mut flow, &[least + 40, least, least + 40]), per_round, 1e-12);
        assert_close(flow.internal("queued"), 20.0 * (1.0 - 100.0 / least as f64), 1e-12);
    }
    let mut least = TestHost::avoiding("vegas:alpha=0,beta=0", 2.0);
    assert_eq!(after_a_round_of(&mut least, &[200; 3]), 0.0);
}

/// One or two samples of a round trip may all be of acknowledgements that were held back.
#[test]
fn vegas_grows_as_reno_where_it_has_few_samples() {
    for samples in 0..=2 {
        let mut flow = TestHost::avoiding("vegas", 20.0);
        assert_close(after_a_round_of(&mut flow, &[200; 2][..samples]), 1.0, 1e-12);
    }
}

#[test]
fn vegas_doubles_every_other_round_trip_until_a_packet_is_queued() {
    let start = cwnd::Start::default().with_window(Packets(4.0));
    let mut flow = TestHost::new("vegas", &start);
    let windows = [0; 5].map(|_| {
        flow.round();
        flow.w()
    });
    assert_eq!(windows, [8.0, 8.0, 16.0, 16.0, 32.0]);
    // 32 (1 - 100/103) = 0.93: slow start goes on. 33 (1 - 100/104) = 1.27: it ends.
    for (latest, after) in [(103, (33.0, f64::INFINITY)), (104, (33.0, 33.0))] {
        flow.view.rtt = queueing(100, latest);
        (0..3).for_each(|_| flow.ack(1));
        flow.view.round += 1;
        flow.ack(1);
        assert_eq!((flow.w(), flow.internal("ssthresh")), after);
        flow.view.round += 1;
    }
    // Actual times BaseRTT.
    flow.ack(1);
    assert_close(flow.w(), 33.0 * 100.0 / 104.0, 1e-12);
}

/// w = 1000, RTT 110 over a base of 100 ms: 90.9 packets wait. Half the way to 200 of them in two round trips.
#[test]
fn fast_goes_half_the_way_to_alpha_in_two_round_trips() {
    for (spec, latest, per_round) in [
        ("fast", 110, 27.2727),
        ("fast", 125, 0.0),
        ("fast", 200, -75.0),
        ("fast:gamma=1", 110, 54.5455),
        // At most twice the window.
        ("fast:alpha=10000", 100, 500.0),
    ] {
        let mut flow = TestHost::avoiding(spec, 1000.0);
        flow.view.rtt = queueing(100, latest);
        assert_close(flow.increase(), per_round, 1e-4);
    }
    assert_close(TestHost::avoiding("fast", 1000.0).decrease(), 0.125, 1e-12);
}

/// 100 packets per 100 ms, of which 40 ms are queueing: 1000 per second times 60 ms. A sample of 2000 counts for an eighth of an
/// eighth: 7/8 1000 + 1/8 (7/8 1000 + 1/8 2000).
#[test]
fn westwood_keeps_what_the_path_delivers() {
    let mut flow = TestHost::avoiding("westwood", 100.0);
    flow.view.rtt = queueing(60, 100);
    flow.algorithm.on_ack(&flow.view, &acked(0));
    for (delivered, bwe) in [(100, 1000.0), (100, 1000.0), (200, 1015.625)] {
        flow.view.now += Span::from_millis(50);
        flow.algorithm.on_ack(&flow.view, &acked(0));
        flow.view.now += Span::from_millis(50);
        flow.view.delivered += delivered;
        flow.algorithm.on_ack(&flow.view, &acked(0));
        assert_close(flow.internal("bwe"), bwe, 1e-9);
    }
    flow.lose();
    assert_close(flow.w(), 60.9375, 1e-9);
    flow.on_congestion(&Congestion::timeout(flow.view.next, false));
    assert_close(flow.internal("ssthresh"), 60.9375, 1e-9);
}

#[test]
fn westwood_halves_before_it_has_an_estimate_and_keeps_two_packets() {
    assert_eq!(TestHost::avoiding("westwood", 100.0).decrease(), 0.5);
    let mut flow = TestHost::avoiding("westwood", 100.0);
    flow.algorithm.on_ack(&flow.view, &acked(0));
    flow.view.now += Span::from_millis(100);
    flow.view.delivered += 1;
    flow.algorithm.on_ack(&flow.view, &acked(0));
    flow.lose();
    assert_eq!(flow.w(), 2.0);
}

/// A round trip of ten acknowledgements.
fn observe(flow: &mut TestHost, marked: u32) {
    flow.view.round += 1;
    flow.algorithm.on_ack(&flow.view, &with(acked(10), |ack| ack.marked = marked));
}

/// RFC 8257 section 3.3: alpha = (1 - g) alpha + g M, from 1.
#[test]
fn dctcp_filters_the_share_of_marks() {
    let mut flow = TestHost::avoiding("dctcp:g=1/2", 100.0);
    let marks = [0, 10, 5, 0, 0, 10, 2, 0, 5, 10];
    let alphas =
        [0.5, 0.75, 0.625, 0.3125, 0.156_25, 0.578_125, 0.389_062_5, 0.194_531_25, 0.347_265_625, 0.673_632_812_5];
    for (marked, alpha) in marks.into_iter().zip(alphas) {
        observe(&mut flow, marked);
        assert_close(flow.internal("alpha"), alpha, 1e-12);
    }
}

#[test]
fn dctcp_cuts_by_half_of_alpha_for_marks_and_by_half_for_losses() {
    let mut flow = TestHost::avoiding("dctcp", 100.0);
    flow.view.next = 1;
    flow.on_congestion(&Congestion::mark(0));
    assert_eq!(flow.w(), 50.0, "alpha is 1 at first");
    let mut flow = TestHost::avoiding("dctcp:g=1", 100.0);
    flow.view.next = 1;
    // One acknowledgement that covers two packets and carries the echo: two marked.
    flow.algorithm.on_ack(&flow.view, &with(acked(2), |ack| (ack.acks, ack.marked) = (1, 1)));
    flow.algorithm.on_ack(&flow.view, &acked(6));
    observe(&mut flow, 0);
    assert_close(flow.internal("alpha"), 2.0 / 18.0, 1e-12);
    let w = flow.w();
    let mut lost = flow.clone();
    flow.on_congestion(&Congestion::mark(0));
    assert_close(flow.w(), w * (1.0 - 1.0 / 18.0), 1e-12);
    lost.lose();
    assert_close(lost.w(), w / 2.0, 1e-12);
}

/// Linux, tcp_dctcp.c: neither a mark nor a loss leaves less than two packets.
#[test]
fn dctcp_keeps_its_floor() {
    for (spec, marked, lost) in [("dctcp", 2.0, 2.0), ("dctcp:floor=1", 1.5, 1.5), ("dctcp:floor=2.5", 2.5, 2.5)] {
        let mut flow = TestHost::avoiding(spec, 3.0);
        flow.view.next = 1;
        flow.on_congestion(&Congestion::mark(0));
        assert_eq!(flow.w(), marked, "{spec}: half of three packets, since alpha is 1");
        let mut flow = TestHost::avoiding(spec, 3.0);
        flow.lose();
        assert_eq!(flow.w(), lost, "{spec}");
    }
}

/// A base of 100: each cut halves the rest of it and keeps the increments.
#[test]
fn aimd_fc_keeps_what_was_added() {
    let mut flow = TestHost::avoiding("aimd-fc", 100.0);
    let mut windows = Vec::new();
    for _ in 0..5 {
        windows.push(trace(&mut flow)[9]);
        flow.lose();
        windows.push(flow.w());
    }
    assert_eq!(windows, [110.0, 60.0, 70.0, 45.0, 55.0, 42.5, 52.5, 46.25, 56.25, 53.125]);
}
