//! The window shell: slow start, cuts, timeouts, epochs, restart, undo, and the habits of eras.

use cwnd::registry::Transport;
use cwnd::window::{Policy, SlowStart};
use cwnd::{Cause, Congestion, CongestionControl, Limit, Packets, Rtt, Span, Spec, Start};

use crate::host::{NS2, Random, TestHost, acked, assert_close, with};

const MODERN: Policy = Policy::MODERN;

fn start(window: f64, threshold: Option<f64>, policy: Policy) -> Start {
    let start = Start::default().with_window(Packets(window)).with_policy(policy);
    with(start, |start| start.threshold = threshold.map(Packets))
}

#[test]
fn slow_start_doubles_up_to_the_threshold_and_avoidance_adds_one_per_round() {
    let mut flow = TestHost::new("reno", &start(1.0, Some(32.0), MODERN));
    let mut windows = vec![flow.w()];
    for _ in 0..5 {
        flow.round();
        windows.push(flow.w());
    }
    assert_eq!(windows, [1.0, 2.0, 4.0, 8.0, 16.0, 32.0]);
    flow.round();
    assert_close(flow.w(), 33.0, 0.02);
}

#[test]
fn avoidance_from_the_start_opens_an_epoch() {
    let mut flow = TestHost::new("simd", &start(50.0, Some(50.0), MODERN));
    flow.ack(1);
    assert_eq!(flow.internal("w0"), 50.0);
    assert!(flow.w() > 50.0);
}

#[test]
fn the_end_of_slow_start_opens_an_epoch() {
    for (spec, name) in [("simd", "w0"), ("exp-tcp", "cwnd0"), ("new-aimd", "base"), ("cubic", "w_max")] {
        let mut flow = TestHost::new(spec, &start(2.0, Some(32.0), MODERN));
        flow.ack(30);
        assert_eq!(flow.internal(name), 32.0, "{spec}");
    }
    // simd footnote 2: w_max = w0/(1-b), and alpha belongs to that.
    let mut flow = TestHost::new("simd", &start(2.0, Some(93.75), MODERN));
    flow.ack(92);
    assert_close(flow.internal("alpha"), 0.055_339, 1e-4);
}

/// ns-2 halves in slow start and at the very first decrease, whatever the scheme; from then on the scheme decides, also after
/// a timeout.
#[test]
fn the_first_cut_of_ns2() {
    let mut flow = TestHost::new("simd", &start(100.0, None, NS2));
    flow.lose();
    assert_eq!(flow.w(), 50.0, "in slow start");
    flow.lose();
    assert_eq!(flow.w(), 50.0 * 15.0 / 16.0, "the second decrease");

    let mut flow = TestHost::new("simd", &start(100.0, Some(10.0), NS2));
    flow.lose();
    assert_eq!((flow.w(), flow.internal("w0")), (50.0, 50.0), "in avoidance, but the first");

    flow.on_congestion(&Congestion::timeout(flow.view.next, false));
    flow.ack(24);
    assert_eq!(flow.w(), 25.0);
    flow.ack(1);
    flow.view.next += 100;
    let before = flow.w();
    flow.lose();
    assert_eq!(flow.w(), before - before / 16.0, "after a timeout");

    let mut flow = TestHost::new("simd", &start(100.0, None, MODERN));
    flow.lose();
    assert_eq!(flow.w(), 93.75, "today the scheme decides");
}

#[test]
fn a_timeout_starts_over_from_one_packet() {
    let mut flow = TestHost::new("cubic", &start(100.0, Some(10.0), MODERN));
    flow.view.next = 100;
    flow.on_congestion(&Congestion::timeout(0, false));
    // RFC 9438 section 4.8: the threshold is cut by beta_cubic.
    assert_eq!((flow.w(), flow.internal("ssthresh")), (1.0, 70.0));
    // RFC 5681 section 3.1: a second expiry for the same packet holds the threshold.
    flow.on_congestion(&Congestion::timeout(0, true));
    assert_eq!((flow.w(), flow.internal("ssthresh")), (1.0, 70.0));
    // Losses before the timeout belong to it.
    flow.on_congestion(&Congestion::loss(99, 1));
    assert_eq!((flow.w(), flow.internal("ssthresh")), (1.0, 70.0));
    // The repair is slow start, whatever the host calls it.
    flow.view.in_recovery = true;
    flow.ack(10);
    assert_eq!(flow.w(), 11.0);
    // A later loss is repaired without growth.
    flow.lose();
    let cut = flow.w();
    assert_close(cut, 7.7, 1e-12);
    flow.ack(5);
    assert_eq!(flow.w(), cut);
}

#[test]
fn a_timeout_of_ns2_halves_at_every_expiry() {
    let mut flow = TestHost::new("cubic", &start(100.0, Some(10.0), NS2));
    flow.on_congestion(&Congestion::timeout(0, false));
    assert_eq!(flow.internal("ssthresh"), 50.0);
    flow.on_congestion(&Congestion::timeout(0, true));
    assert_eq!((flow.w(), flow.internal("ssthresh")), (1.0, 2.0));
}

#[test]
fn a_timeout_voids_the_rules_history() {
    let mut flow = TestHost::cut_from("new-aimd", 200.0);
    assert_eq!(flow.internal("base"), 100.0);
    flow.on_congestion(&Congestion::timeout(flow.view.next, false));
    let mut undisturbed = flow.clone();
    undisturbed.ack(49);
    assert_eq!((undisturbed.w(), undisturbed.internal("base")), (50.0, 50.0), "where slow start ends");
    flow.view.next += 200;
    flow.ack(9);
    // Congestion in slow start: there is a base of 10 and nothing added, not the old base of 100.
    flow.lose();
    assert_eq!((flow.w(), flow.internal("base")), (5.0, 5.0));
}

/// A host that reports only the second timeout, of a flow that was never in slow start.
#[test]
fn a_timeout_is_repaired_by_slow_start_in_any_case() {
    let mut flow = TestHost::avoiding("exp-tcp", 40.0);
    flow.ack(1);
    flow.on_congestion(&Congestion::timeout(0, true));
    flow.ack(1);
    assert_eq!((flow.w(), flow.internal("cwnd0")), (2.0, 2.0));
}

#[test]
fn tahoe_cuts_and_starts_over() {
    let mut flow = TestHost::avoiding("reno", 40.0);
    flow.view.next = 40;
    flow.on_congestion(&with(Congestion::loss(0, 1), |event| event.restart = true));
    assert_eq!((flow.w(), flow.internal("ssthresh")), (1.0, 20.0));
    flow.view.in_recovery = true;
    flow.ack(19);
    assert_eq!(flow.w(), 20.0);
}

/// A mark has cut already: the loss of the same window only takes the window to one packet.
#[test]
fn tahoe_does_not_cut_twice_for_one_window() {
    let mut flow = TestHost::avoiding("reno", 40.0);
    flow.view.next = 40;
    flow.on_congestion(&Congestion::mark(30));
    assert_eq!(flow.w(), 20.0);
    flow.on_congestion(&with(Congestion::loss(31, 1), |event| event.restart = true));
    assert_eq!((flow.w(), flow.internal("ssthresh")), (1.0, 20.0));
}

#[test]
fn reno_cuts_again_for_a_loss_it_takes_for_another_event() {
    let mut flow = TestHost::avoiding("reno", 40.0);
    flow.view.next = 40;
    flow.on_congestion(&Congestion::loss(0, 1));
    flow.on_congestion(&Congestion::loss(5, 1));
    assert_eq!(flow.w(), 20.0);
    flow.on_congestion(&with(Congestion::loss(5, 1), |event| event.separate = true));
    assert_eq!((flow.w(), flow.internal("ssthresh")), (10.0, 10.0));
}

/// RFC 5681 equation 4: packets that arrived out of order are outstanding, though not in the network. CUBIC may take the window (RFC 9438
/// section 4.6), and ns-2 does.
#[test]
fn reno_halves_what_is_outstanding_of_a_window_that_is_not_used() {
    let after = |spec: &str, policy, limit, outstanding, event: &Congestion| {
        let mut flow = TestHost::new(spec, &start(40.0, Some(0.0), policy));
        (flow.view.limit, flow.view.next, flow.view.in_flight) = (limit, outstanding, 3);
        flow.on_congestion(event);
        flow.internal("ssthresh")
    };
    let (loss, mark, timeout) = (Congestion::loss(0, 1), Congestion::mark(0), Congestion::timeout(0, false));
    for event in [loss, mark, timeout] {
        for limit in [Limit::Source, Limit::Peer] {
            assert_eq!(after("reno", MODERN, limit, 10, &event), 5.0, "{event:?}");
            assert_eq!(after("reno", MODERN, limit, 90, &event), 20.0, "never more than of the window: {event:?}");
            assert_eq!(after("reno", MODERN, limit, 1, &event), 2.0, "{event:?}");
        }
        for limit in [Limit::Window, Limit::Rate] {
            assert_eq!(after("reno", MODERN, limit, 10, &event), 20.0, "{event:?}");
        }
        assert_eq!(after("reno", NS2, Limit::Source, 10, &event), 20.0, "{event:?}");
        assert_eq!(after("cubic", MODERN, Limit::Source, 10, &event), 28.0, "{event:?}");
    }
    assert_eq!(after("reno:ecn_beta=0.8", MODERN, Limit::Source, 10, &mark), 8.0);
}

#[test]
fn marks_cut_like_losses_and_marked_acknowledgements_do_not_grow() {
    let mut flow = TestHost::avoiding("reno", 40.0);
    flow.algorithm.on_ack(&flow.view, &with(acked(10), |ack| ack.marked = 1));
    assert_eq!(flow.w(), 40.0);
    for cause in [Cause::Mark, Cause::Delay, Cause::Loss] {
        let before = flow.w();
        flow.view.next += 40;
        flow.on_congestion(&with(Congestion::mark(flow.view.next - 1), |event| event.cause = cause));
        assert_eq!(flow.w(), before / 2.0, "{cause:?}");
    }
}

/// RFC 9438 section 4.6, from the pseudocode: a loss leaves at least two packets, a mark at least one, and the threshold is at least two.
#[test]
fn congestion_leaves_what_its_cause_allows() {
    let linux = with(MODERN, |policy| policy.mark_floor = 2);
    let after = |policy, window, event: &Congestion| {
        let mut flow = TestHost::new("reno", &start(window, Some(0.0), policy));
        flow.view.next = 1;
        flow.on_congestion(event);
        (flow.w(), flow.internal("ssthresh"))
    };
    let (loss, mark, timeout) = (Congestion::loss(0, 1), Congestion::mark(0), Congestion::timeout(0, false));
    for (policy, window, event, left) in [
        (MODERN, 3.0, loss, (2.0, 2.0)),
        (MODERN, 3.0, mark, (1.5, 2.0)),
        (MODERN, 1.5, mark, (1.0, 2.0)),
        (linux, 3.0, mark, (2.0, 2.0)),
        (NS2, 3.0, loss, (1.5, 2.0)),
        (NS2, 1.5, loss, (1.0, 2.0)),
        (MODERN, 100.0, timeout, (1.0, 50.0)),
        // No congestion makes a window larger.
        (MODERN, 1.5, loss, (1.5, 2.0)),
        (linux, 1.0, mark, (1.0, 2.0)),
    ] {
        assert_eq!(after(policy, window, &event), left, "{window} packets, {event:?}, {policy:?}");
    }
}

/// What a timeout leaves is no longer one packet once marked ones are acknowledged: it would wait for the delayed acknowledgement of each.
#[test]
fn marks_do_not_keep_a_window_below_their_floor() {
    for (spec, policy, floor) in [
        ("reno", MODERN, 1.0),
        ("reno", with(MODERN, |policy| policy.mark_floor = 2), 2.0),
        ("dctcp:floor=3", MODERN, 3.0),
    ] {
        let mut flow = TestHost::new(spec, &start(10.0, None, policy));
        flow.on_congestion(&Congestion::timeout(0, false));
        assert_eq!(flow.w(), 1.0);
        for _ in 0..4 {
            flow.view.next += 1;
            flow.on_congestion(&Congestion::mark(flow.view.next - 1));
            flow.algorithm.on_ack(&flow.view, &with(acked(1), |ack| ack.marked = 1));
        }
        assert_eq!(flow.w(), floor, "{spec}");
    }
}

/// Over a receiver that delays acknowledgements a window of one packet is a packet per delay. Whoever comes to it without a timeout
/// stays there: no algorithm may, whatever losses and delays it meets, nor for marks where no timer paces it.
#[test]
fn nothing_but_a_timeout_leaves_one_packet() {
    let policy = with(MODERN, |policy| policy.mark_floor = 2);
    for entry in cwnd::ALGORITHMS.iter().filter(|entry| entry.transport == Transport::Acked) {
        let mut random = Random(7);
        let capped = with(start(10.0, None, policy), |start| start.max_window = Packets(50.0));
        let mut flow = TestHost::new(entry.name, &capped);
        let mut least = f64::INFINITY;
        for _ in 0..2000 {
            let millis = 100 + (400.0 * random.unit() * random.unit()) as u64;
            let rtt = Span::from_millis(millis);
            flow.view.rtt = Some(with(Rtt::fixed(rtt), |rtt| rtt.min = Span::from_millis(100)));
            flow.view.now += rtt;
            (0..flow.w().min(50.0) as u32).for_each(|_| flow.ack(1));
            flow.view.round += 1;
            flow.view.in_flight = flow.w().min(50.0) as u64;
            let cause = [Cause::Loss, Cause::Mark, Cause::Delay][(3.0 * random.unit()) as usize];
            if random.unit() < 0.7 {
                let first = flow.view.next;
                flow.view.next += 1;
                let lost = u32::from(cause == Cause::Loss);
                flow.view.lost += u64::from(lost);
                flow.on_congestion(&with(Congestion::loss(first, lost), |event| event.cause = cause));
                // What BBR sends while it repairs a loss is its own business.
                flow.algorithm.on_recovered(&flow.view);
            }
            least = least.min(flow.w());
        }
        assert!(least >= 2.0, "{}: {least}", entry.name);
    }
}

/// RFC 3168 section 5 wants the answer to a mark to be that to a loss.
#[test]
fn a_mark_is_answered_or_the_entry_says_so() {
    let hears = |transport: Transport| matches!(transport, Transport::Acked | Transport::Routed);
    for entry in cwnd::ALGORITHMS.iter().filter(|entry| hears(entry.transport)) {
        let mut flow = TestHost::avoiding(entry.name, 100.0);
        flow.ack(10);
        let before = format!("{:?}", flow.algorithm);
        flow.on_congestion(&Congestion::mark(flow.view.next - 1));
        assert_eq!(format!("{:?}", flow.algorithm) != before, entry.answers_marks(), "{}", entry.name);
    }
}

/// RFC 8511: in congestion avoidance a mark leaves `ecn_beta` of the window, as threshold too. A loss leaves its usual share, and a mark that ends
/// slow start leaves that of a loss.
#[test]
fn abe_by_hand() {
    for (spec, by_mark, by_loss) in [
        ("reno:ecn_beta=0.8", 80.0, 50.0),
        ("aimd:b=1/8,ecn_beta=0.9", 90.0, 87.5),
        ("cubic:ecn_beta=0.85", 85.0, 70.0),
        ("reno", 50.0, 50.0),
        ("aimd:b=1/8", 87.5, 87.5),
        ("cubic", 70.0, 70.0),
    ] {
        for (event, left) in [(Congestion::mark(99), by_mark), (Congestion::loss(99, 1), by_loss)] {
            let mut flow = TestHost::avoiding(spec, 100.0);
            flow.view.next = 100;
            flow.on_congestion(&event);
            assert_close(flow.w(), left, 1e-12);
            assert_eq!(flow.internal("ssthresh"), flow.w(), "{spec}");
            let mut starting = TestHost::new(spec, &start(100.0, None, MODERN));
            starting.view.next = 100;
            starting.on_congestion(&event);
            assert_close(starting.w(), by_loss, 1e-12);
        }
    }
    // CUBIC: from 85 back to a maximum of 100 packets in K = cbrt(15 / 0.4) = cbrt(37.5) = 3.347 s.
    let mut flow = TestHost::avoiding("cubic:ecn_beta=0.85", 100.0);
    flow.view.next = 100;
    flow.on_congestion(&Congestion::mark(99));
    assert_close(flow.internal("w_max"), 100.0, 1e-12);
    assert_close(flow.internal("k"), 3.347, 5e-4);
    // Once per window of data, and at least one packet.
    flow.on_congestion(&Congestion::mark(99));
    assert_close(flow.w(), 85.0, 1e-12);
    let mut small = TestHost::avoiding("reno:ecn_beta=0.8", 1.1);
    small.view.next = 1;
    small.on_congestion(&Congestion::mark(0));
    assert_eq!((small.w(), small.internal("ssthresh")), (1.0, 2.0));
}

#[test]
fn abe_takes_no_more_for_a_mark_than_a_loss_does() {
    for text in
        ["reno:ecn_beta=0.49", "aimd:b=1/8,ecn_beta=0.8", "cubic:ecn_beta=0.6", "reno:ecn_beta=1", "cubic:ecn_beta=-1"]
    {
        let error = Spec::parse(text).err().map(|error| error.to_string()).unwrap_or_default();
        assert!(error.contains("for `ecn_beta`: accepted is "), "{text}: {error}");
    }
    assert!(Spec::parse("cubic:beta=0.5,ecn_beta=0.6").is_ok());
}

#[test]
fn the_window_stays_within_its_bounds() {
    let capped = with(start(10.0, None, MODERN), |start| start.max_window = Packets(20.0));
    let mut flow = TestHost::new("reno", &capped);
    flow.ack(100);
    assert_eq!(flow.w(), 20.0);
    // The receiver's window bounds what can have been in the network when congestion hits.
    flow.view.peer_window = Packets(12.0);
    flow.lose();
    assert_eq!(flow.w(), 6.0);
}

#[test]
fn an_undefined_start_is_the_smallest() {
    let undefined = with(start(f64::NAN, Some(f64::NAN), MODERN), |start| start.max_window = Packets(f64::NAN));
    assert_eq!(TestHost::new("reno", &undefined).w(), 1.0);
}

#[test]
fn no_growth_while_the_source_or_the_receiver_holds_the_sender() {
    for limit in [Limit::Source, Limit::Peer] {
        let mut modern = TestHost::new("reno", &start(10.0, None, MODERN));
        let mut ns2 = TestHost::new("reno", &start(10.0, None, NS2));
        (modern.view.limit, ns2.view.limit) = (limit, limit);
        modern.ack(5);
        ns2.ack(5);
        assert_eq!((modern.w(), ns2.w()), (10.0, 15.0));
    }
}

#[test]
fn growth_counts_packets_today_and_acknowledgements_in_ns2() {
    let delayed = with(acked(4), |ack| ack.acks = 2);
    for (policy, window) in [(MODERN, 14.0), (NS2, 12.0)] {
        let mut flow = TestHost::new("reno", &start(10.0, None, policy));
        flow.algorithm.on_ack(&flow.view, &delayed);
        assert_eq!(flow.w(), window);
    }
}

/// ns-2 before 2006: the window is truncated, then cut, then truncated again. 10.9 is 10, 9.375, 9.
#[test]
fn truncation() {
    let policy = with(MODERN, |policy| policy.truncate = true);
    let mut flow = TestHost::new("simd", &start(10.9, Some(0.0), policy));
    flow.lose();
    assert_eq!(flow.w(), 9.0);
}

/// RFC 3742 section 2 with max_ssthresh = 100: K = int(cwnd / 50).
#[test]
fn limited_slow_start() {
    let policy = with(MODERN, |policy| policy.slow_start = SlowStart::Limited { max_threshold: 100 });
    for (w, k) in [(99.0, 1.0), (100.0, 1.0), (101.0, 2.0), (149.0, 2.0), (150.0, 3.0), (200.0, 4.0), (1000.0, 20.0)] {
        let mut flow = TestHost::new("reno", &start(w, None, policy));
        flow.ack(1);
        assert_close(flow.w() - w, 1.0 / k, 1e-12);
    }
    // Half of max_ssthresh per round trip, and the rounding of K adds at most half of that.
    let mut flow = TestHost::new("reno", &start(100.0, None, policy));
    flow.ack(1);
    for _ in 0..40 {
        let before = flow.w();
        flow.round();
        let growth = flow.w() - before;
        assert!((49.0..=75.0).contains(&growth), "{growth} at {before}");
    }
    // EXP-TCP brings its own.
    let mut flow = TestHost::new("exp-tcp", &start(1000.0, None, policy));
    flow.ack(1);
    assert_close(flow.w() - 1000.0, 0.05, 1e-12);
}

#[test]
fn a_restart_takes_the_initial_window() {
    let mut flow = TestHost::new("reno", &start(4.0, Some(100.0), MODERN));
    flow.ack(96);
    assert_eq!(flow.w(), 100.0);
    flow.algorithm.on_restart(&flow.view, Span::from_millis(900));
    assert_eq!(flow.w(), 100.0, "not idle for longer than the retransmission timeout");
    flow.algorithm.on_restart(&flow.view, Span::from_millis(1100));
    assert_eq!((flow.w(), flow.internal("ssthresh")), (4.0, 100.0));

    // RFC 2861: a threshold far below the window rises to three quarters of it.
    let mut flow = TestHost::new("new-aimd", &start(2.0, Some(20.0), MODERN));
    flow.ack(18);
    flow.rounds(60);
    let reached = flow.w();
    flow.algorithm.on_restart(&flow.view, Span::from_secs(5));
    assert_eq!((flow.w(), flow.internal("ssthresh")), (2.0, 0.75 * reached));
    // Where slow start ends anew, the rule's history begins anew: the old base was 20.
    flow.ack(80);
    assert!(flow.internal("base") >= 0.75 * reached);
}

#[test]
fn the_retransmission_timeout_follows_the_round_trip_time() {
    let mut flow = TestHost::new("reno", &start(4.0, Some(100.0), MODERN));
    flow.ack(96);
    flow.view.rtt = Some(with(Rtt::fixed(Span::from_secs(1)), |rtt| rtt.variation = Span::from_millis(500)));
    flow.algorithm.on_restart(&flow.view, Span::from_millis(2900));
    assert_eq!(flow.w(), 100.0);
    flow.algorithm.on_restart(&flow.view, Span::from_millis(3100));
    assert_eq!(flow.w(), 4.0);
}

#[test]
fn ns2_does_not_restart() {
    let mut flow = TestHost::new("reno", &start(4.0, Some(100.0), NS2));
    flow.ack(96);
    flow.algorithm.on_restart(&flow.view, Span::from_secs(60));
    assert_eq!(flow.w(), 100.0);
}

#[test]
fn a_spurious_cut_is_undone() {
    for spec in ["reno", "simd", "exp-tcp", "cubic", "new-aimd", "highspeed"] {
        let mut flow = TestHost::cut_from(spec, 100.0);
        flow.rounds(10);
        let untouched = flow.clone();
        flow.lose();
        flow.algorithm.on_spurious(&flow.view);
        assert_eq!(flow.w(), untouched.w(), "{spec}");
        // It grows on as if nothing had happened, and a real loss in the same window is a decrease of its own.
        let (mut grown, mut expected) = (flow.clone(), untouched.clone());
        grown.ack(50);
        expected.ack(50);
        assert_eq!(grown.w(), expected.w(), "{spec}");
        flow.on_congestion(&Congestion::loss(flow.view.next - 1, 1));
        assert!(flow.w() < untouched.w(), "{spec}");
        // There is one event to undo, not two.
        flow.algorithm.on_spurious(&flow.view);
        let undone = flow.w();
        flow.algorithm.on_spurious(&flow.view);
        assert_eq!(flow.w(), undone, "{spec}");
    }
}

#[test]
fn a_spurious_timeout_is_undone_to_before_its_first_expiry() {
    let mut flow = TestHost::cut_from("cubic", 100.0);
    flow.rounds(10);
    let untouched = flow.clone();
    flow.on_congestion(&Congestion::timeout(flow.view.next - 1, false));
    flow.on_congestion(&Congestion::timeout(flow.view.next - 1, true));
    flow.algorithm.on_spurious(&flow.view);
    assert_eq!(flow.w(), untouched.w());
    assert_eq!(flow.internal("ssthresh"), untouched.internal("ssthresh"));
}
