//! The rules on hand-made signals: a path of 100 packets per 100 ms round trip, one acknowledgement per round.

use super::*;
use crate::signal::{Limit, RateSample, Remote, Rtt};
use crate::units::Bytes;

/// A flow and what its host counts.
struct Bbr3Harness {
    bbr: Bbr3,
    now: Time,
    delivered: u64,
    lost: u64,
    in_recovery: bool,
    limit: Limit,
    limited: bool,
}

impl Bbr3Harness {
    fn new() -> Self {
        let start = Start { packet: Bytes(1000), seed: 1, ..Start::default() };
        Self {
            bbr: Bbr3::new(Settings::default(), &start),
            now: Time::ZERO,
            delivered: 0,
            lost: 0,
            in_recovery: false,
            limit: Limit::Rate,
            limited: false,
        }
    }

    /// A flow in `state` of ProbeBW, its pipe full at 1000 packets/s and 100 ms.
    fn probing_until(state: State) -> Self {
        let mut flow = Self::new();
        for delivered in [100; 4] {
            flow.round(delivered, 289);
        }
        assert_eq!(flow.state(), State::Drain);
        flow.round(100, 200);
        assert_eq!(flow.state(), State::Cruise, "100 left in flight, where Down ends too");
        for _ in 0..100 {
            if flow.state() == state {
                return flow;
            }
            flow.round(100, 150);
        }
        panic!("{state:?} never came");
    }

    fn view(&self, in_flight: u64) -> View {
        let rtt = Span::from_millis(100);
        View {
            now: self.now,
            next: 1_000_000,
            in_flight,
            in_recovery: self.in_recovery,
            delivered: self.delivered,
            lost: self.lost,
            rtt: Some(Rtt::fixed(rtt)),
            timeout: None,
            round: 0,
            limit: self.limit,
            peer_window: Packets(f64::INFINITY),
            packet: Bytes(1000),
            payload: Bytes(960),
        }
    }

    /// The sample of a packet that left a round trip ago with `in_flight` packets.
    fn sample(&self, delivered: u64, lost: u64, in_flight: u64) -> RateSample {
        RateSample {
            delivered,
            lost,
            interval: Span::from_millis(100),
            prior_delivered: self.delivered - delivered,
            prior_in_flight: in_flight,
            limited: self.limited,
        }
    }

    /// A round trip in which `delivered` packets were delivered and none lost; `in_flight` were before the acknowledgement.
    fn round(&mut self, delivered: u64, in_flight: u64) {
        self.lossy_round(delivered, 0, in_flight);
    }

    /// A round with `lost` packets found lost before.
    fn lossy_round(&mut self, delivered: u64, lost: u64, in_flight: u64) {
        self.now += Span::from_millis(100);
        self.delivered += delivered;
        let sample = self.sample(delivered, lost, in_flight);
        let newly = u32::try_from(delivered).expect("few packets");
        let ack = Ack { acks: 1, newly, marked: 0, sent_at: self.now, sample: Some(sample), remote: Remote::default() };
        self.bbr.on_ack(&self.view(in_flight), &ack);
    }

    /// Every second packet of `count` is found lost; each left with `in_flight` packets in the network.
    fn lose(&mut self, count: u64, in_flight: u64) {
        for at in 0..count {
            self.lost += 1;
            let sample = RateSample { prior_delivered: self.delivered, ..self.sample(0, at + 1, in_flight) };
            let event = Congestion { sample: Some(sample), ..Congestion::loss(2 * at, 1) };
            self.bbr.on_congestion(&self.view(in_flight), &event);
            self.in_recovery = true;
        }
    }

    fn state(&self) -> State {
        self.bbr.0.state
    }

    fn cwnd(&self) -> f64 {
        self.bbr.control().window.0
    }

    fn rate(&self) -> f64 {
        match self.bbr.control().pacing {
            Pacing::At(rate) => rate.0,
            other => panic!("a rate is set, not {other:?}"),
        }
    }
}

fn close(found: f64, expected: f64) {
    assert!((found - expected).abs() <= 1e-9 * expected.abs(), "{found} instead of {expected}");
}

#[test]
fn startup_doubles_until_three_flat_rounds_then_drains() {
    let mut flow = Bbr3Harness::new();
    // Ten packets in an unknown round trip, taken for a millisecond.
    close(flow.rate(), 27_700.0);
    // Delivered in the round, pacing rate and window after it. The window grows by the acknowledged packets up to twice the estimate.
    let script = [
        (10, 277.0, 20.0), // the first round trip is known: ten packets in 100 ms, 2.77 times
        (20, 548.46, 40.0),
        (40, 1096.92, 80.0),
        (80, 2193.84, 160.0),
        (100, 2742.3, 260.0), // 1.25 times 80: not flat yet
        (100, 2742.3, 360.0), // twice the product, and 100 of aggregation: one acknowledgement stands for a round trip
        (100, 2742.3, 360.0),
    ];
    for (round, (delivered, rate, window)) in script.into_iter().enumerate() {
        flow.round(delivered, 289);
        assert_eq!(flow.state(), State::Startup, "round {round}");
        close(flow.rate(), rate);
        close(flow.cwnd(), window);
    }
    flow.round(100, 289);
    assert_eq!(flow.state(), State::Drain, "the third flat round");
    close(flow.rate(), 0.5 * 0.99 * 1000.0);
    close(flow.cwnd(), 300.0);
}

#[test]
fn limited_rounds_never_end_startup() {
    let mut flow = Bbr3Harness::new();
    flow.limited = true;
    for _ in 0..50 {
        flow.round(20, 20);
        assert_ne!(flow.state(), State::Drain);
    }
    assert_eq!(flow.bbr.0.max_bw.get(), 200.0, "a limited sample above the estimate is evidence all the same");
    flow.round(10, 10);
    assert_eq!(flow.bbr.0.max_bw.get(), 200.0);
}

#[test]
fn loss_ends_startup_also_of_a_limited_flow() {
    let mut flow = Bbr3Harness::new();
    flow.limited = true;
    for delivered in [10, 20, 40] {
        flow.round(delivered, 100);
    }
    flow.lose(6, 100);
    flow.lossy_round(40, 6, 100);
    assert_eq!(flow.state(), State::Drain, "six ranges, 6 % lost, a round in recovery");
    assert!(flow.bbr.0.full_pipe.now && flow.bbr.0.full_pipe.reached);
    // The estimated product is 40 packets, and so are the packets delivered in the round.
    close(flow.bbr.0.bounds.inflight_longterm, 40.0);
}

#[test]
fn five_ranges_or_two_percent_do_not_end_startup() {
    for (ranges, in_flight) in [(5, 100), (6, 300)] {
        let mut flow = Bbr3Harness::new();
        for delivered in [10, 20, 40] {
            flow.round(delivered, in_flight);
        }
        flow.lose(ranges, in_flight);
        flow.lossy_round(80, ranges, in_flight);
        assert_eq!(flow.state(), State::Startup, "{ranges} of {in_flight}");
    }
}

#[test]
fn drain_ends_after_three_rounds_whatever_is_in_flight() {
    let mut flow = Bbr3Harness::new();
    for _ in 0..4 {
        flow.round(100, 289);
    }
    for _ in 0..3 {
        flow.round(100, 289);
        assert_eq!(flow.state(), State::Drain);
    }
    flow.round(100, 289);
    assert_eq!(flow.state(), State::Down);
}

#[test]
fn a_cycle_goes_through_its_states_with_their_gains() {
    let mut flow = Bbr3Harness::probing_until(State::Cruise);
    close(flow.rate(), 990.0);
    let wait = flow.bbr.0.cycle.wait;
    assert!(wait >= Span::from_secs(2) && wait < Span::from_secs(3));
    let since = flow.bbr.0.cycle.stamp;
    while flow.state() == State::Cruise {
        flow.round(100, 150);
    }
    assert_eq!(flow.state(), State::Refill);
    assert_eq!(flow.now, since + Span::from_millis(100 * (wait.as_nanos() / 100_000_000 + 1)));
    flow.round(100, 150);
    assert_eq!(flow.state(), State::Up);
    close(flow.rate(), 1.25 * 990.0);
    // 2.25 times the product, 100 of aggregation (one acknowledgement per round trip) and 2 packets.
    close(flow.bbr.0.max_inflight(), 327.0);
    for _ in 0..2 {
        flow.round(100, 150);
        assert_eq!(flow.state(), State::Up);
    }
    flow.round(100, 150);
    assert_eq!(flow.state(), State::Down, "three flat rounds");
    close(flow.rate(), 0.9 * 0.99 * 1000.0);
    flow.round(100, 201);
    assert_eq!(flow.state(), State::Down, "101 left in flight");
    flow.round(100, 200);
    assert_eq!(flow.state(), State::Cruise, "100 left");
}

#[test]
fn a_small_flow_probes_as_often_as_reno() {
    let mut flow = Bbr3Harness::new();
    // 8 packets per round trip: a probe after eight rounds, long before two seconds.
    for _ in 0..4 {
        flow.round(8, 16);
    }
    let begun = loop {
        if flow.state() == State::Cruise {
            break flow.bbr.0.rounds.count - u64::from(flow.bbr.0.cycle.rounds_since_probe_up);
        }
        flow.round(8, 8);
    };
    while flow.state() == State::Cruise {
        flow.round(8, 8);
    }
    assert_eq!(flow.bbr.0.rounds.count - begun, 8);
}

#[test]
fn loss_in_cruise_lowers_the_short_term_bounds_until_the_next_probe() {
    let mut flow = Bbr3Harness::probing_until(State::Cruise);
    let cwnd = flow.cwnd();
    flow.lose(3, 100);
    flow.lossy_round(97, 3, 100);
    // The baseline is the estimate and the window; the packets delivered in the round before are the latest.
    close(flow.bbr.0.bounds.bw_shortterm, 1000.0);
    close(flow.bbr.0.bounds.inflight_shortterm, (0.7 * cwnd).max(100.0));
    flow.lose(3, 100);
    flow.lossy_round(50, 3, 100);
    // 970 was delivered in the last round: the first of the two rounds' samples.
    close(flow.bbr.0.bounds.bw_shortterm, 970.0);
    close(flow.rate(), 0.99 * 970.0);
    while flow.state() == State::Cruise {
        flow.round(50, 50);
    }
    assert!(flow.bbr.0.bounds.bw_shortterm.is_infinite() && flow.bbr.0.bounds.inflight_shortterm.is_infinite());
}

#[test]
fn loss_above_two_percent_ends_a_probe_and_the_next_one_is_cautious() {
    let mut flow = Bbr3Harness::probing_until(State::Up);
    flow.lose(2, 125);
    assert_eq!(flow.state(), State::Up, "2 of 125 is 1.6 %");
    flow.lose(3, 125);
    assert_eq!(flow.state(), State::Down);
    // The third lost packet of 125 passed 2 %: (2.48 - 2)/0.98 of it.
    let longterm = flow.bbr.0.bounds.inflight_longterm;
    close(longterm, 124.0 + (0.02 * 124.0 - 2.0) / 0.98);
    flow.bbr.on_recovered(&flow.view(100));
    flow.in_recovery = false;
    assert!(flow.cwnd() <= longterm);

    while flow.state() != State::Up {
        flow.round(100, 100);
    }
    flow.round(100, 123);
    assert_eq!(flow.state(), State::Up);
    flow.round(100, 124);
    assert_eq!(flow.state(), State::Down, "the bound holds 124 whole packets");
    // The feedback shows no loss: the pipe is refilled at once and probed without caution.
    flow.round(100, 110);
    assert_eq!(flow.state(), State::Refill);
}

#[test]
fn the_bound_grows_faster_with_every_round_in_which_it_is_used_up() {
    let mut flow = Bbr3Harness::probing_until(State::Cruise);
    flow.bbr.0.bounds.inflight_longterm = 100.0;
    while flow.state() != State::Up {
        flow.round(100, 100);
    }
    flow.limit = Limit::Window;
    for expected in [101.0, 103.0] {
        // The packets acknowledged in a round are the window of the round before.
        flow.round(flow.cwnd().floor() as u64, 100);
        assert_eq!(flow.state(), State::Up);
        close(flow.bbr.0.bounds.inflight_longterm, expected);
    }
    // One packet for every window, half a window, quarter, …: 1, 2, 4, 8 and 16 in a round; at most one for each acknowledged.
    let bbr = &mut *flow.bbr.0;
    bbr.start_probe_bw_refill(0);
    bbr.window.cwnd = 160.0;
    for expected in [160.0, 80.0, 40.0, 20.0, 10.0, 5.0, 2.5, 1.25, 1.0] {
        bbr.raise_inflight_longterm_slope();
        close(bbr.cycle.up_acked_per_inc, expected);
    }
}

#[test]
fn probe_rtt_halves_the_flight_for_200_ms_and_a_round() {
    let mut flow = Bbr3Harness::probing_until(State::Cruise);
    while flow.state() != State::ProbeRtt {
        flow.round(100, 150);
        assert!(flow.now < Time::ZERO + Span::from_secs(6));
    }
    assert!(flow.now > Time::ZERO + Span::from_secs(5));
    close(flow.cwnd(), 50.0);
    let max_bw = flow.bbr.0.max_bw.get();
    // 50 are in flight as it begins.
    let begun = flow.now;
    while flow.state() == State::ProbeRtt {
        flow.round(50, 50);
    }
    assert_eq!(flow.now.since(begun), Span::from_millis(300), "more than 200 ms");
    assert_eq!(flow.state(), State::Cruise);
    close(flow.bbr.0.max_bw.get(), max_bw);
    assert!(flow.cwnd() > 200.0, "the window before");
}

#[test]
fn probe_rtt_returns_to_startup_if_the_pipe_was_not_full() {
    let mut flow = Bbr3Harness::new();
    flow.limited = true;
    let mut seen = false;
    for _ in 0..70 {
        flow.round(20, 20);
        seen |= flow.state() == State::ProbeRtt;
    }
    assert!(seen);
    assert_eq!(flow.state(), State::Startup);
}

#[test]
fn idleness_is_as_good_as_a_probe_of_the_round_trip() {
    let mut flow = Bbr3Harness::probing_until(State::Cruise);
    flow.now += Span::from_secs(6);
    flow.limit = Limit::Source;
    flow.bbr.on_restart(&flow.view(0), Span::from_secs(6));
    close(flow.rate(), 990.0);
    flow.round(10, 10);
    assert_ne!(flow.state(), State::ProbeRtt);
    assert!(!flow.bbr.0.idle_restart);
    flow.round(10, 10);
    assert_ne!(flow.state(), State::ProbeRtt);
}

#[test]
fn a_timeout_leaves_one_packet_and_the_window_returns() {
    let mut flow = Bbr3Harness::probing_until(State::Cruise);
    flow.lost += 100;
    let sample = RateSample { prior_delivered: flow.delivered, ..flow.sample(0, 100, 100) };
    let event = Congestion { lost: 100, sample: Some(sample), ..Congestion::timeout(7, false) };
    flow.bbr.on_congestion(&flow.view(100), &event);
    close(flow.cwnd(), 1.0);
    flow.round(1, 1);
    close(flow.cwnd(), 4.0);
    flow.round(40, 40);
    assert!(flow.cwnd() < 50.0);
    flow.round(59, 59);
    // All that was lost has arrived: the window returns. The few packets it held until then made it time to probe as Reno would
    // (section 5.3.3.8.3), which lifted the bounds that the timeout had set.
    assert!(flow.cwnd() >= 300.0, "{}", flow.cwnd());
}

#[test]
fn spurious_losses_are_undone() {
    let mut flow = Bbr3Harness::probing_until(State::Up);
    flow.lose(5, 125);
    assert_eq!(flow.state(), State::Down);
    flow.lossy_round(95, 5, 125);
    assert!(flow.bbr.0.bounds.inflight_longterm < 125.0);
    flow.bbr.on_spurious(&flow.view(30));
    assert_eq!(flow.state(), State::Refill, "the probe begins again");
    assert!(flow.bbr.0.bounds.inflight_longterm.is_infinite() && flow.bbr.0.bounds.bw_shortterm.is_infinite());
    assert!(flow.cwnd() > 2.0 * 95.0, "twice the product and the aggregated packets: {}", flow.cwnd());

    let mut flow = Bbr3Harness::new();
    for delivered in [10, 20, 40] {
        flow.round(delivered, 100);
    }
    flow.lose(6, 100);
    flow.lossy_round(40, 6, 100);
    assert_eq!(flow.state(), State::Drain);
    flow.bbr.on_spurious(&flow.view(30));
    assert_eq!(flow.state(), State::Startup);
    assert!(!flow.bbr.0.full_pipe.reached);
}

#[test]
fn the_window_is_never_below_four_packets_on_the_smallest_path() {
    let mut flow = Bbr3Harness::new();
    // One packet per round trip, less than a packet in flight at the rate.
    for _ in 0..80 {
        flow.round(1, 4);
        assert!(flow.cwnd() >= 4.0);
    }
    close(flow.bbr.0.max_bw.get(), 10.0);
}

#[test]
fn a_rule_that_is_left_out_does_nothing() {
    let without = |state, rule| {
        let mut flow = Bbr3Harness::probing_until(state);
        flow.bbr.0.settings.without = Some(rule);
        flow
    };
    let mut flow = without(State::Cruise, Rule::ShortTerm);
    flow.lose(3, 100);
    flow.lossy_round(97, 3, 100);
    assert!(flow.bbr.0.bounds.bw_shortterm.is_infinite() && flow.bbr.0.bounds.inflight_shortterm.is_infinite());

    for (rule, infinite) in [(Rule::ShortTermRate, [true, false]), (Rule::ShortTermVolume, [false, true])] {
        let mut flow = without(State::Cruise, rule);
        flow.lose(3, 100);
        flow.lossy_round(97, 3, 100);
        let bounds = &flow.bbr.0.bounds;
        assert_eq!([bounds.bw_shortterm, bounds.inflight_shortterm].map(f64::is_infinite), infinite, "{rule:?}");
    }

    let mut flow = without(State::Up, Rule::LongTerm);
    flow.lose(5, 125);
    assert_eq!(flow.state(), State::Down, "loss ends a probe all the same");
    assert!(flow.bbr.0.bounds.inflight_longterm.is_infinite());

    for (rule, bounded) in [(Rule::LimitedLoss, true), (Rule::Margin, false)] {
        let mut flow = without(State::Up, rule);
        flow.limited = true;
        flow.lose(5, 125);
        assert_eq!(flow.bbr.0.bounds.inflight_longterm.is_finite(), bounded, "{rule:?}");
    }

    let mut flow = without(State::Cruise, Rule::ProbeRtt);
    while flow.now < Time::ZERO + Span::from_secs(12) {
        flow.round(100, 150);
        assert_ne!(flow.state(), State::ProbeRtt);
    }

    let mut flow = without(State::Up, Rule::Patience);
    flow.round(100, 150);
    assert_eq!(flow.state(), State::Down, "one flat round");

    let mut flow = without(State::Cruise, Rule::Margin);
    flow.round(100, 150);
    close(flow.rate(), 1000.0);

    for (rule, saved) in [(Rule::TimeoutSaves, Some(State::Up)), (Rule::Margin, None)] {
        let mut flow = without(State::Up, rule);
        flow.lose(5, 125);
        let event = Congestion { lost: 100, ..Congestion::timeout(7, true) };
        flow.bbr.on_congestion(&flow.view(100), &event);
        assert_eq!(flow.bbr.0.undo.state, saved, "{rule:?}");
    }
    for (name, _) in Rule::ALL {
        assert!(crate::Spec::parse(&alloc::format!("bbr3:without={name}")).is_ok(), "{name}");
    }
}
