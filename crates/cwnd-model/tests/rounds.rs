//! The synchronous-feedback host against what the papers derive of it.

use std::sync::Arc;

use cwnd::registry::{ALGORITHMS, Maker, Spec, Transport};
use cwnd::units::{Packets, Span};
use cwnd::{CongestionControl, Start};
use cwnd_model::convergence::{self, Scheme};
use cwnd_model::new_aimd;
use cwnd_model::rounds::{Clock, FlowSetup, Run, Setup, run, unmodelled, unread, unstarted};
use proptest::prelude::*;

fn flow(text: &str, window: f64) -> FlowSetup {
    FlowSetup { algorithm: Spec::parse(text).expect("an algorithm"), window: Packets(window), rtt: None }
}

fn setup(text: &str, capacity: f64, windows: &[f64]) -> Setup {
    let flows = windows.iter().map(|window| flow(text, *window)).collect();
    Setup { flows, capacity: Packets(capacity), rounds: 1e5, events: 10, ..Setup::default() }
}

fn jain(windows: &[f64]) -> f64 {
    let sum: f64 = windows.iter().sum();
    sum * sum / (windows.len() as f64 * windows.iter().map(|w| w * w).sum::<f64>())
}

fn near(found: f64, expected: f64, relative: f64) -> bool {
    (found - expected).abs() <= relative * expected.abs()
}

#[test]
fn aimd_walks_as_chiu_and_jain_drew_it() {
    let Run { events, .. } = run(&Setup { events: 4, ..setup("reno", 100.0, &[10.0, 40.0]) });
    let peaks = [(35.0, 65.0), (42.5, 57.5), (46.25, 53.75), (48.125, 51.875)];
    for (at, (event, (x1, x2))) in events.iter().zip(peaks).enumerate() {
        assert!((event.at - 25.0 * (at + 1) as f64).abs() < 1e-9, "{event:?}");
        assert!((event.before[0] - x1).abs() < 1e-9 && (event.before[1] - x2).abs() < 1e-9, "{event:?}");
        assert!((event.after[0] - x1 / 2.0).abs() < 1e-9, "{event:?}");
    }
}

/// A built-in algorithm behind a box.
#[derive(Debug)]
struct Boxed(Spec);

impl Maker for Boxed {
    fn start(&self, start: &Start) -> Box<dyn CongestionControl> {
        self.0.start(start).boxed_clone()
    }
}

#[test]
fn an_algorithm_from_outside_walks_as_one_of_the_registry() {
    for name in ["reno", "simd"] {
        let built_in = setup(name, 100.0, &[10.0, 40.0]);
        let mut outside = built_in.clone();
        for flow in &mut outside.flows {
            flow.algorithm = Spec::outside(name, Arc::new(Boxed(flow.algorithm.clone())));
        }
        assert_eq!(run(&outside).events, run(&built_in).events, "{name}");
    }
}

#[test]
fn exp_tcp_peaks_round_by_round() {
    let setup = Setup { clock: Clock::Rounds, events: 50, ..setup("exp-tcp", 1000.0, &[200.0, 700.0]) };
    let Run { events, .. } = run(&setup);
    let peaks = [(236.14, 767.62), (251.42, 752.42), (266.21, 738.33), (280.49, 725.24), (294.25, 713.08)];
    let mut last = 0.0;
    for ((event, (x1, x2)), length) in events.iter().zip(peaks).zip([26.0, 29.0, 29.0, 29.0, 29.0]) {
        assert!(near(event.before[0], x1, 1e-4) && near(event.before[1], x2, 1e-4), "{event:?}");
        assert!((event.at - last - length).abs() < 1e-9, "{event:?}");
        last = event.at;
    }
    let ratios: Vec<f64> = events.iter().map(|event| event.before[1] / event.before[0]).collect();
    assert_eq!(ratios.len(), 50);
    assert!(ratios.is_sorted_by(|one, next| one > next));
}

#[test]
fn multiplicative_growth_keeps_its_ratio() {
    for text in ["scalable", "mimd"] {
        for clock in [Clock::Rounds, Clock::Continuous { steps: 16 }] {
            let Run { events, .. } = run(&Setup { clock, events: 100, ..setup(text, 1000.0, &[200.0, 700.0]) });
            assert_eq!(events.len(), 100);
            assert!(events.iter().all(|event| near(event.before[1] / event.before[0], 3.5, 1e-9)), "{text}");
        }
    }
}

#[test]
fn additive_decrease_keeps_its_gap() {
    let Run { events, .. } = run(&setup("aiad", 100.0, &[20.0, 50.0]));
    assert!(events.iter().all(|event| near(event.before[1] - event.before[0], 30.0, 1e-9)));
}

#[test]
fn new_aimd_goes_through_its_cycles() {
    let setup = Setup { decrease_rounds: 1, events: 8, ..setup("new-aimd:floor=0", 600.0, &[10.0, 140.0]) };
    let start = new_aimd::Start { capacity: 600.0, x1: 10.0, x2: 140.0 };
    let Run { events, trace, .. } = run(&setup);
    let mut last = -1.0;
    for (cycle, event) in (1..).zip(&events) {
        let [x1, x2] = start.windows(cycle);
        assert!(near(event.before[0], x1, 1e-9) && near(event.before[1], x2, 1e-9), "{event:?}");
        assert!(near(event.at - last - 1.0, start.increments(cycle), 1e-9), "{event:?}");
        let removed = event.before.iter().sum::<f64>() - event.after.iter().sum::<f64>();
        assert!(near(removed, start.decrease(cycle), 1e-9), "{event:?}");
        last = event.at;
    }
    assert!(near(trace.end as f64 * 1e-8, start.totals(8).rounds, 1e-9), "{}", trace.end);
}

#[test]
fn first_rise_of_table_1() {
    for (text, scheme) in [
        ("reno", Scheme::TCP),
        ("aimd:b=1/16", Scheme::aimd(1.0 / 16.0)),
        ("iiad", Scheme::iiad(2.0 / 3.0)),
        ("simd", Scheme::simd(1.0 / 16.0)),
    ] {
        for (w1, w2) in [(10.0, 40.0), (10.0, 80.0), (30.0, 50.0)] {
            let start = convergence::Start { capacity: 100.0, w1, w2, epsilon: 1.0 };
            let expected = scheme.convergence(start);
            let clock = Clock::Continuous { steps: 1024 };
            let Run { events, .. } = run(&Setup { clock, events: 1, ..setup(text, 100.0, &[w1, w2]) });
            let gap = (events[0].before[1] - events[0].before[0]).abs();
            assert!(near(events[0].at, expected.t1, 5e-3), "{text} from ({w1}, {w2}): {} {expected:?}", events[0].at);
            // A gap of nothing is one of half a percent of the windows.
            assert!((gap - expected.delta).abs() <= 5e-3 * expected.delta.max(50.0), "{text}: {gap} {expected:?}");
        }
    }
}

#[test]
fn simd_settles_at_the_fair_point() {
    let Run { events, .. } = run(&Setup { events: 200, ..setup("simd", 100.0, &[10.0, 80.0]) });
    let last = events.last().expect("200 of them");
    assert!(convergence::ratio(last.before[0], last.before[1]) < 1.01, "{last:?}");
    assert!(near(last.before.iter().sum(), 100.0, 1e-9));
}

#[test]
fn a_longer_round_trip_grows_more_slowly() {
    let slow = FlowSetup { rtt: Some(Span::from_millis(200)), ..flow("reno", 20.0) };
    let setup = Setup { flows: vec![flow("reno", 20.0), slow], events: 1, ..setup("reno", 100.0, &[]) };
    let Run { events, .. } = run(&setup);
    // 20 + t and 20 + t/2, the second worth half: 20 + t + 10 + t/4 = 100.
    assert!(near(events[0].at, 56.0, 1e-9), "{events:?}");
    assert!(near(events[0].before[1], 48.0, 1e-9));
}

#[test]
fn random_losses_hit_one_flow_at_a_time_and_follow_their_seed() {
    let setup =
        |seed| Setup { loss: 1e-3, seed, rounds: 2000.0, capacity: Packets(1e9), ..setup("reno", 1.0, &[10.0, 10.0]) };
    let (one, again, other) = (run(&setup(1)).trace, run(&setup(1)).trace, run(&setup(2)).trace);
    assert_eq!(one.digest, again.digest);
    assert_ne!(one.digest, other.digest);
    // 41.4 packets per round trip under random loss of 0.1 %.
    let mean = one.flows[0].delivered.last().map_or(0.0, |sum| *sum as f64 / 2000.0);
    assert!(near(mean, 41.4, 0.15), "{mean}");
}

#[test]
fn rates_reach_the_capacity_too() {
    // 1000 packets per 100 ms are 120 Mbit/s.
    let udt = "udt:profile=ns2-2.2,decrease=per-nak,start=none,capacity=120mbit,initial_window=100000";
    for text in [udt, "daimd"] {
        let Run { events, trace, .. } = run(&Setup { events: 5, ..setup(text, 1000.0, &[10.0, 10.0]) });
        assert_eq!(events.len(), 5, "{text}");
        let event = &events[4];
        assert!(event.after.iter().sum::<f64>() < event.before.iter().sum::<f64>(), "{text}");
        assert!(trace.flows[0].pacing_rate.iter().all(|rate| *rate > 0.0));
    }
}

#[test]
fn every_algorithm_runs_and_writes_a_full_trace() {
    for entry in ALGORITHMS {
        let trace = run(&Setup { rounds: 50.0, ..setup(entry.name, 200.0, &[10.0, 50.0]) }).trace;
        assert!(trace.at.is_sorted_by(|one, next| one < next), "{}", entry.name);
        for flow in &trace.flows {
            assert_eq!(flow.window.len(), trace.at.len());
            assert_eq!(flow.timeouts.len(), trace.at.len());
            assert!(flow.window.iter().all(|w| *w >= 1.0));
        }
        assert_eq!(trace.links[0].carried.len(), trace.at.len());
        assert_eq!(trace.links[0].queue_bytes.len(), trace.at.len());
    }
}

#[test]
fn every_algorithm_starts_at_its_window_or_is_found() {
    for entry in ALGORITHMS.iter().filter(|entry| unmodelled(&Spec::parse(entry.name).expect("registered")).is_none()) {
        let found = unstarted(&setup(entry.name, 1000.0, &[10.0, 40.0]));
        // 1000 packets per second at least, and a round trip of 100 ms.
        let expected = (entry.name == "sabul").then_some((0, 100.0));
        assert_eq!(found.map(|(index, has)| (index, has.round())), expected, "{}", entry.name);
    }
    assert_eq!(unstarted(&setup("sabul:least_rate=100kbit", 1000.0, &[10.0, 40.0])), None);
    // What a rule says of its start is overruled, and found.
    for (text, names) in [
        ("daimd:initial_rate=5mbit", &["initial_rate"][..]),
        ("sabul:initial_rate=5mbit,least_rate=100kbit", &["initial_rate"]),
        ("udt:start=none,initial_window=40,initial_rate=5mbit", &["start", "initial_window", "initial_rate"]),
        ("reno:ecn_beta=0.8", &[]),
    ] {
        assert_eq!(unstarted(&setup(text, 1000.0, &[10.0, 40.0])), None, "{text}");
        let unread = unread(&Spec::parse(text).expect("an algorithm"));
        assert_eq!(unread.iter().map(|(parameter, _)| parameter.name).collect::<Vec<_>>(), names, "{text}");
    }
}

/// The receiver of a window of one packet per round trip sees pairs at the capacity's pace, not at the flow's.
#[test]
fn a_slow_flow_of_udt_measures_the_capacity() {
    // 100 packets per 100 ms. With a known capacity the paths are the same.
    let first = |text: &str| run(&Setup { events: 1, ..setup(text, 100.0, &[1.0, 1.0]) }).events[0].at;
    let (measured, known) = (first("udt:profile=paper"), first("udt:profile=paper,capacity=12mbit"));
    assert!(near(measured, known, 0.2), "{measured} {known}");
}

#[test]
fn what_needs_more_than_synchronous_feedback_says_what() {
    let reason = |text: &str| unmodelled(&Spec::parse(text).expect("registered"));
    for entry in ALGORITHMS {
        let needs_more = matches!(entry.transport, Transport::Datagram | Transport::Routed)
            || ["bbr", "bbr3", "copa", "dctcp", "fast", "ledbat", "ledbatpp", "prague", "vegas", "westwood"]
                .contains(&entry.name);
        assert_eq!(reason(entry.name).is_some(), needs_more, "{}", entry.name);
    }
    assert_eq!(reason("vegas:alpha=1"), Some("it follows the delay of a queue, and here is none"));
}

proptest! {
    #[test]
    fn a_decrease_keeps_jains_index_and_an_increase_raises_it(
        windows in proptest::collection::vec(2.0..100.0_f64, 2..8),
        b in 0.05..0.9_f64,
    ) {
        prop_assume!(jain(&windows) < 0.999);
        let capacity = windows.iter().sum::<f64>() * 1.5;
        let setup = Setup { clock: COARSE, events: 5, ..setup(&format!("aimd:b={b}"), capacity, &windows) };
        let Run { events, .. } = run(&setup);
        let mut before = jain(&windows);
        for event in &events {
            let peak = jain(&event.before);
            prop_assert!(peak > before, "an increase took {before} to {peak}");
            // A window at the floor of two packets cannot be cut in proportion.
            if event.after.iter().all(|w| *w > 2.0) {
                before = jain(&event.after);
                prop_assert!((before - peak).abs() < 1e-12, "a decrease took {peak} to {before}");
            }
        }
    }

    #[test]
    fn new_aimd_and_aimd_halve_the_gap(x1 in 2.0..50.0_f64, n in 1.0..200.0_f64, spare in 10.0..1000.0_f64) {
        let capacity = 2.0 * x1 + n + spare;
        for text in ["new-aimd:floor=0", "reno"] {
            let Run { events, .. } = run(&Setup { clock: COARSE, events: 6, ..setup(text, capacity, &[x1, x1 + n]) });
            let mut gap = n;
            for event in events.iter().take_while(|event| event.before[0] > 4.0) {
                prop_assert!((event.before[1] - event.before[0] - gap).abs() < 1e-9 * capacity);
                gap /= 2.0;
            }
        }
    }
}

/// Straight lines need no fine steps.
const COARSE: Clock = Clock::Continuous { steps: 2 };
