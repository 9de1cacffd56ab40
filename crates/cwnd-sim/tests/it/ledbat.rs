//! LEDBAT over a bottleneck, against the closed form of its linear controller and what RFC 6817 and the literature state.

use cwnd::{Span, Spec};
use cwnd_sim::{Dumbbell, Era, QueueLimit, Sampling, Setup, Trace};

/// Flows of `specs`, each `apart` after the one before, on 12 Mbit/s (1000 packets/s) and 50 ms, with room for `room` of delay.
fn setup(specs: &[&str], apart: Span, room: Span, duration: Span) -> Setup {
    let flows: Vec<Spec> = specs.iter().map(|text| Spec::parse(text).expect("registered")).collect();
    let packets = (RATE * room.as_secs_f64()) as u32;
    let bell = Dumbbell::new(12_000_000, RTT, QueueLimit::Packets(packets));
    let mut setup = bell.setup(&flows, Era::MODERN, duration, Span::ZERO, 1);
    setup.sampling = Some(Sampling { interval: RTT / 10, internals: true });
    for (flow, place) in setup.flows.iter_mut().zip(0..) {
        flow.start += apart * place;
        flow.delayed_ack = None;
    }
    setup
}

fn run(setup: &Setup) -> Trace {
    cwnd_sim::run(setup, &mut |_| true).expect("a valid setup")
}

/// The delay of the queue in seconds, by sample.
fn delays(trace: &Trace) -> Vec<f64> {
    trace.links[0].queue_bytes.iter().map(|bytes| *bytes as f64 / 1500.0 / RATE).collect()
}

fn mean_after(trace: &Trace, values: &[f64], from: Span) -> f64 {
    let settled = &values[trace.at.partition_point(|at| *at < from.as_nanos())..];
    settled.iter().sum::<f64>() / settled.len() as f64
}

/// Packets per second that each flow delivered from `from` to the end.
fn rates(trace: &Trace, from: Span) -> Vec<f64> {
    let since = trace.at.partition_point(|at| *at < from.as_nanos());
    let seconds = (trace.at[trace.at.len() - 1] - trace.at[since]) as f64 * 1e-9;
    trace
        .flows
        .iter()
        .map(|flow| (flow.delivered[flow.delivered.len() - 1] - flow.delivered[since]) as f64 / seconds)
        .collect()
}

/// Section 2.1: the queue of a lone sender settles at TARGET, with the link full.
#[test]
fn the_queue_of_a_lone_flow_settles_at_the_target() {
    for target in [25, 60, 100] {
        let spec = format!("ledbat:target={target}ms");
        let trace = run(&setup(&[&spec], Span::ZERO, Span::from_millis(400), Span::from_secs(120)));
        let (settled, delays) = (Span::from_secs(80), delays(&trace));
        let mean = 1e3 * mean_after(&trace, &delays, settled);
        let rate = rates(&trace, settled)[0];
        assert!(
            (0.97..=1.03).contains(&(mean / f64::from(target))) && rate > 0.999 * RATE,
            "{target} ms: {mean} ms, {rate}"
        );
    }
}
/// With the queue empty the window grows by GAIN packets per round trip. From there on `w = C (R + q)` and each of `C` acknowledgements per
/// second adds `GAIN (1 - q/T)/w`, so `q' = GAIN (1 - q/T)/(C (R + q))`: `q` is reached after
/// `(C/GAIN) T ((R + T) ln(T/(T - q)) - q)` seconds.
#[test]
fn the_queue_approaches_the_target_as_its_differential_equation_says() {
    let (base, target) = (RTT.as_secs_f64(), 0.1);
    for gain in [1.0, 0.5] {
        let spec = format!("ledbat:gain={gain}");
        let trace = run(&setup(&[&spec], Span::ZERO, Span::from_millis(400), Span::from_secs(60)));
        let delays = delays(&trace);
        let reached = |delay: f64| trace.at[delays.iter().position(|q| *q >= delay).expect("reached")] as f64 * 1e-9;
        let from = reached(0.02);
        let predicted = |q: f64| RATE / gain * target * ((base + target) * (target / (target - q)).ln() - q);
        for delay in [0.04, 0.06, 0.08, 0.09] {
            let (took, closed) = (reached(delay) - from, predicted(delay) - predicted(0.02));
            assert!((took / closed - 1.0).abs() < 0.05, "GAIN {gain}, {delay} s: {took} s, {closed} s by the equation");
        }
    }
}

/// Section 1: it yields to flows that fill the queue beyond TARGET. The queue of Reno has 200 ms, so only the least window remains, two
/// packets in each round trip of about 170 ms.
#[test]
fn it_leaves_the_link_to_reno() {
    let trace = run(&setup(&["ledbat", "reno"], Span::from_secs(30), Span::from_millis(200), Span::from_secs(150)));
    let rates = rates(&trace, Span::from_secs(60));
    assert!(rates[0] <= 0.02 * RATE && rates[1] >= 0.97 * RATE, "{rates:?}");
}

/// Section 4.4: a flow that starts over the full queue of another takes it for its base delay. The queue grows to twice TARGET, and the first
/// flow, which knows better, is left with the least window.
#[test]
fn a_late_comer_takes_the_link() {
    let trace = run(&setup(&["ledbat", "ledbat"], Span::from_secs(60), Span::from_millis(400), Span::from_secs(240)));
    let settled = Span::from_secs(180);
    let (rates, delay) = (rates(&trace, settled), mean_after(&trace, &delays(&trace), settled));
    assert!(rates[1] >= 0.98 * RATE && rates[0] > 0.0, "{rates:?}");
    assert!((0.97..=1.03).contains(&(delay / 0.2)), "{delay} s");
}

/// draft-irtf-iccrg-ledbat-plus-plus section 4.4: slowdowns take a tenth of the time, and drain the queue. A flow that starts over the full queue
/// of another sees the empty path in them, so that the two share the link; under LEDBAT the second has all of it.
#[test]
fn slowdowns_of_ledbatpp_let_a_late_comer_see_the_path() {
    let setup = setup(&["ledbatpp", "ledbatpp"], Span::from_secs(60), Span::from_millis(400), Span::from_secs(240));
    let trace = run(&setup);
    let settled = Span::from_secs(180);
    let (rates, delay) = (rates(&trace, settled), mean_after(&trace, &delays(&trace), settled));
    assert!(rates.iter().all(|rate| *rate >= 0.25 * RATE) && rates[0] + rates[1] >= 0.85 * RATE, "{rates:?}");
    assert!(delay < 0.06, "{delay} s");
}

/// A slowdown begins with two packets for two round trips, and the next begins nine times as long after it as it took.
#[test]
fn slowdowns_of_ledbatpp_take_a_tenth_of_the_time() {
    let trace = run(&setup(&["ledbatpp"], Span::ZERO, Span::from_millis(400), Span::from_secs(120)));
    let (_, slow) = trace.flows[0].internals.iter().find(|(name, _)| *name == "slowdown").expect("it has them");
    let share = mean_after(&trace, slow, Span::from_secs(20));
    let starts = slow.windows(2).filter(|pair| pair[0] == 0.0 && pair[1] == 1.0).count();
    assert!((0.07..=0.13).contains(&share) && starts >= 4, "{share} of the time, {starts} slowdowns");
}

/// It yields to a flow that fills the queue beyond its target.
#[test]
fn ledbatpp_leaves_the_link_to_reno() {
    let trace = run(&setup(&["ledbatpp", "reno"], Span::from_secs(30), Span::from_millis(200), Span::from_secs(150)));
    let rates = rates(&trace, Span::from_secs(60));
    assert!(rates[0] <= 0.05 * RATE && rates[1] >= 0.93 * RATE, "{rates:?}");
}

const RTT: Span = Span::from_millis(50);
/// Packets of 1500 bytes per second.
const RATE: f64 = 1000.0;
