//! Acknowledgements that a receiver holds back are no queue: what an algorithm is shown of the round trip, and what follows from it.

use cwnd::{Span, Spec};
use cwnd_sim::{Dumbbell, Era, QueueLimit, RateSchedule, Setup, Simulation, Source, Variation};

/// The algorithms that aim at a delay, each with a target that the queue of two bandwidth-delay products holds.
const FOLLOW_DELAY: [&str; 6] = ["vegas", "fast:alpha=8", "westwood", "bbr", "bbr3", "copa:mode=default"];

/// A flow in the default era on a path with a queue of two bandwidth-delay products.
fn path(algorithm: &str, mbit: u64, rtt: Span, duration: Span) -> Setup {
    let packets = (mbit as f64 * 1e6 / 12_000.0 * rtt.as_secs_f64()).ceil();
    let bell = Dumbbell::new(mbit * 1_000_000, rtt, QueueLimit::Packets(2 * packets as u32));
    let spec = Spec::parse(algorithm).expect("a registered algorithm");
    let mut setup = bell.setup(&[spec], Era::MODERN, duration, duration / 2, 1);
    setup.variation = Variation { start: Some(Span::ZERO), rtt: 0.0, jitter: 0.0 };
    assert!(setup.flows[0].delayed_ack.is_some(), "the default era holds acknowledgements back");
    setup
}

/// Packets delivered in the second half.
fn delivered(setup: &Setup) -> f64 {
    let trace = cwnd_sim::run(setup, &mut |_| true).expect("a valid setup");
    let [_, middle, end] = trace.flows[0].delivered[..] else {
        panic!("a sample at the start, in the middle and at the end")
    };
    (end - middle) as f64
}

/// The number that a user found wrong: 61 % of 120 Mbit/s at 40 ms for Vegas.
#[test]
fn vegas_fills_an_empty_path() {
    let setup = path("vegas", 120, Span::from_millis(40), Span::from_secs(20));
    let carried = delivered(&setup) * 12_000.0 / 10.0;
    assert!(carried >= 0.98 * 120e6, "{carried} bit/s");
}

/// A rule that follows the delay reaches with acknowledgements held back what it reaches without.
#[test]
fn rules_that_follow_delay_reach_what_they_reach_without() {
    let mut wrong = Vec::new();
    for algorithm in FOLLOW_DELAY {
        for (mbit, rtt) in [(10, 10), (10, 100), (120, 40), (1000, 10)] {
            // A window that grows by a packet per round trip has filled the path by then.
            let seconds = if mbit < 1000 { 40 } else { 12 };
            let mut setup = path(algorithm, mbit, Span::from_millis(rtt), Span::from_secs(seconds));
            let held = delivered(&setup);
            setup.flows[0].delayed_ack = None;
            let each = delivered(&setup);
            if (held / each - 1.0).abs() > 0.01 {
                wrong.push(format!("{algorithm}, {mbit} Mbit/s, {rtt} ms: {held} instead of {each} packets"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// A packet every 20 ms on an empty path of 40 ms, for 40 s: each acknowledgement waits for a second packet.
#[test]
fn the_shortest_round_trip_is_that_of_the_path() {
    for (algorithm, name) in [("bbr", "rt_prop"), ("bbr3", "min_rtt")] {
        let rtt = Span::from_millis(40);
        let mut setup = path(algorithm, 120, rtt, Span::from_secs(40));
        setup.flows[0].source = Source::Rate(RateSchedule::constant(584_000));
        let mut simulation = Simulation::new(&setup).expect("a valid setup");
        simulation.advance(simulation.end(), |_| true);
        let mut found = f64::NAN;
        simulation.state().flow(0).inspect(&mut |shown, value| found = if shown == name { value } else { found });
        let share = found / rtt.as_secs_f64();
        assert!((1.0..1.01).contains(&share), "{algorithm}: {found} s");
    }
}
