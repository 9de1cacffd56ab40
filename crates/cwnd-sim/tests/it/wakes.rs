//! Hosts that wake once in a while, and whose clocks are coarse.

use cwnd::{Bytes, Span, Spec, Time};
use cwnd_sim::{Dumbbell, Era, Loss, QueueLimit, Setup, Simulation, Trace, Variation, run};
use cwnd_stack::{Connection, Ecn, Endpoint, Pair, Shown, Stack, StackSpec, Transmit};

fn setup(spec: Spec) -> Setup {
    let path = Dumbbell::new(20_000_000, Span::from_millis(40), QueueLimit::Packets(100));
    let mut setup = path.setup(&[spec], Era::MODERN, Span::from_secs(5), Span::ZERO, 1);
    setup.variation = Variation { start: Some(Span::ZERO), rtt: 0.0, jitter: 0.0 };
    setup
}

fn named(name: &str) -> Setup {
    setup(Spec::parse(name).expect("registered"))
}

fn trace(setup: &Setup) -> Trace {
    run(setup, &mut |_| true).unwrap_or_else(|error| panic!("{error}"))
}

fn delivered(setup: &Setup) -> f64 {
    trace(setup).flows[0].delivered.last().copied().unwrap_or(0) as f64
}

/// Each end delays by less than an interval; the phases of the seed decide by how much.
#[test]
fn the_shortest_round_trip_contains_the_wait_for_both_hosts() {
    for (wake, seed) in [(1, 1), (5, 2), (20, 3), (20, 4), (100, 5)] {
        let mut setup = named("bbr3");
        (setup.seed, setup.flows[0].wake) = (seed, Some(Span::from_millis(wake)));
        let mut simulation = Simulation::new(&setup).expect("a valid setup");
        simulation.advance(simulation.end(), |_| true);
        let mut shortest = f64::NAN;
        let mut look = |name: &str, value| shortest = if name == "min_rtt" { value } else { shortest };
        simulation.state().flow(0).inspect(&mut look);
        let wake = wake as f64 * 1e-3;
        assert!((0.04..0.042 + 2.0 * wake).contains(&shortest), "{shortest} with {wake}, seed {seed}");
    }
}

/// 20 Mbit/s for 5 s are 8333 packets.
#[test]
fn a_pacer_makes_up_for_a_coarse_clock() {
    for name in ["bbr3", "reno"] {
        let mut setup = named(name);
        setup.flows[0].paced = name == "reno";
        let exact = delivered(&setup);
        setup.flows[0].timer = Some(Span::from_millis(10));
        let coarse = delivered(&setup);
        assert!(coarse > 0.9 * exact, "{name}: {coarse} instead of {exact}");
    }
}

#[test]
fn every_algorithm_has_such_hosts() {
    for entry in cwnd::ALGORITHMS {
        let mut setup = named(entry.name);
        setup.links[0].loss = Loss::Bernoulli(0.001);
        let usual = trace(&setup);
        let flow = &mut setup.flows[0];
        (flow.wake, flow.timer) = (Some(Span::from_millis(2)), Some(Span::from_millis(5)));
        // The run ends with the audit.
        let [late, again] = [trace(&setup), trace(&setup)];
        assert_eq!(late.digest, again.digest, "{}", entry.name);
        assert_ne!(late.digest, usual.digest, "{}", entry.name);
        let [usual, late] = [usual, late].map(|trace| trace.flows[0].delivered.last().copied().unwrap_or(0));
        assert!(late > usual / 10, "{}: {late} instead of {usual}", entry.name);
    }
}

#[test]
fn intervals_out_of_range_are_refused() {
    for (wake, timer, field) in [(0, 1, "wake"), (101, 1, "wake"), (1, 0, "timer"), (1, 1001, "timer")] {
        let mut setup = named("reno");
        (setup.flows[0].wake, setup.flows[0].timer) = (Some(Span::from_millis(wake)), Some(Span::from_millis(timer)));
        let error = setup.check().expect_err("out of range").to_string();
        assert!(error.contains(field) && error.contains("above 0s and at most"), "{error}");
    }
}

/// Sends ten datagrams at once; the receiver answers whenever it is asked after an arrival.
#[derive(Debug)]
struct Burst;

#[derive(Default)]
struct End {
    left: u32,
    answers: bool,
    delivered: u64,
}

impl Stack for Burst {
    fn headers(&self) -> Bytes {
        Bytes(28)
    }

    fn connect(&self, _connection: &Connection) -> Pair {
        Pair {
            sender: Box::new(End { left: 10, ..End::default() }),
            receiver: Box::new(End { answers: true, ..End::default() }),
        }
    }
}

impl Endpoint for End {
    fn submit(&mut self, _now: Time, _bytes: u64) {}

    fn handle_datagram(&mut self, _now: Time, datagram: &[u8], _ecn: Ecn) {
        self.delivered += datagram.len() as u64;
        self.left = u32::from(self.answers);
    }

    fn poll_transmit(&mut self, _now: Time, buffer: &mut Vec<u8>) -> Option<Transmit> {
        self.left = self.left.checked_sub(1)?;
        buffer.resize(if self.answers { 10 } else { 1000 }, 0);
        Some(Transmit::new(Ecn::NotCapable, None))
    }

    fn next_timeout(&mut self, _now: Time) -> Option<Time> {
        None
    }

    fn handle_timeout(&mut self, _now: Time) {}

    fn delivered(&self) -> u64 {
        self.delivered
    }

    fn shown(&self) -> Shown {
        Shown::default()
    }
}

/// Ten datagrams of 1028 bytes leave the line within 4.2 ms.
#[test]
fn a_whole_stack_answers_once_for_all_that_it_finds() {
    let mut setup = setup(StackSpec::new("burst", Burst).into_spec());
    let answers = |setup: &Setup| trace(setup).links[1].carried_bytes.last().copied().unwrap_or(0) / 38;
    assert_eq!(answers(&setup), 10);
    setup.flows[0].wake = Some(Span::from_millis(50));
    // Two wake-ups if one falls among them.
    assert!((1..=2).contains(&answers(&setup)), "{}", answers(&setup));
}
