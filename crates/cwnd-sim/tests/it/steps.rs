//! A run in steps is the same run.

use cwnd::{Span, Spec, Time};
use cwnd_sim::{Dumbbell, Era, QueueLimit, Sampling, Setup, Simulation, Source};

fn cell(algorithms: &[&str]) -> Setup {
    let bell = Dumbbell::new(20_000_000, Span::from_millis(40), QueueLimit::Packets(60));
    let specs: Vec<Spec> = algorithms.iter().map(|name| Spec::parse(name).expect("registered")).collect();
    let setup = bell.setup(&specs, Era::MODERN, Span::from_secs(5), Span::from_secs(1), 1);
    Setup { sampling: Some(Sampling { interval: Span::from_millis(70), internals: true }), ..setup }
}

#[test]
fn steps_leave_no_trace() {
    let setup = cell(&["reno", "udt", "cubic"]);
    let whole = cwnd_sim::run(&setup, &mut |_| true).expect("a valid setup");
    let mut simulation = Simulation::new(&setup).expect("a valid setup");
    // Steps of uneven lengths, each also broken off after seven events.
    for step in 1..200 {
        let until = simulation.state().now() + Span::from_micros(step * 131);
        let mut events = 0;
        simulation.advance(until, |_| {
            events += 1;
            events <= 7
        });
        assert!(simulation.advance(until, |_| true));
        assert_eq!(simulation.state().now(), until);
    }
    let stepped = simulation.finish(&setup, &mut |_| true).expect("not interrupted");
    assert_eq!(format!("{stepped:?}"), format!("{whole:?}"));
}

#[test]
fn a_step_lasts_a_round_trip_and_ten_packets() {
    let mut simulation = Simulation::new(&cell(&["reno"])).expect("a valid setup");
    for _ in 0..20 {
        let (from, before) = (simulation.state().now(), simulation.state().flow(0).delivered());
        let rtt = simulation.state().flow(0).rtt().map_or(Span::from_millis(40), |rtt| rtt.smoothed);
        assert!(simulation.advance(from + rtt, |_| true));
        let end = simulation.end();
        simulation.advance(end, |state| state.flow(0).delivered() < before + 10);
        let state = simulation.state();
        assert!(state.now() >= from + rtt && state.flow(0).delivered() >= before + 10);
        assert!(state.flow(0).delivered() < before + 200, "a step is short");
    }
}

#[test]
fn the_end_is_the_end() {
    let mut setup = cell(&["reno"]);
    setup.flows[0].source = Source::Packets(100);
    let mut simulation = Simulation::new(&setup).expect("a valid setup");
    assert!(simulation.advance(Time::MAX, |_| true));
    assert_eq!(simulation.state().now(), simulation.end());
    let flow = simulation.state().flow(0);
    assert_eq!((flow.delivered(), flow.sent() - flow.lost()), (100, 100));
}
