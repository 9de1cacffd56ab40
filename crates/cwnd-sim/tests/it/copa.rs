//! Copa over a bottleneck, against what its paper derives and states (Arun and Balakrishnan, NSDI 2018).

use cwnd::{Span, Spec};
use cwnd_sim::{Dumbbell, Era, QueueLimit, Sampling, Setup, Trace, Variation};

/// Flows of `specs` that start together on `mbit` Mbit/s and 50 ms, with room for `products` bandwidth-delay products, a minute long and
/// sampled ten times per round trip.
fn setup(specs: &[&str], mbit: u64, products: u64) -> Setup {
    let flows: Vec<Spec> = specs.iter().map(|text| Spec::parse(text).expect("registered")).collect();
    let packets = (products * mbit * 50_000 / 12_000) as u32;
    let bell = Dumbbell::new(mbit * 1_000_000, RTT, QueueLimit::Packets(packets));
    let mut setup = bell.setup(&flows, Era::MODERN, Span::from_secs(60), Span::ZERO, 1);
    setup.variation = Variation { start: Some(RTT), rtt: 0.0, jitter: 0.9 };
    setup.sampling = Some(Sampling { interval: RTT / 10, internals: true });
    // The paper's receiver acknowledges each packet.
    setup.flows.iter_mut().for_each(|flow| flow.delayed_ack = None);
    setup
}

fn run(setup: &Setup) -> Trace {
    cwnd_sim::run(setup, &mut |_| true).expect("a valid setup")
}

/// The queue of the bottleneck in packets after `from`.
fn queue(trace: &Trace, from: Span) -> Vec<f64> {
    let settled = trace.at.partition_point(|at| *at < from.as_nanos());
    trace.links[0].queue_bytes[settled..].iter().map(|bytes| *bytes as f64 / 1500.0).collect()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Packets per second that each flow delivered after `from`.
fn rates(trace: &Trace, from: Span) -> Vec<f64> {
    let since = trace.at.partition_point(|at| *at < from.as_nanos());
    let seconds = (trace.at[trace.at.len() - 1] - trace.at[since]) as f64 * 1e-9;
    let delivered = |curve: &[u64]| (curve[curve.len() - 1] - curve[since]) as f64 / seconds;
    trace.flows.iter().map(|flow| delivered(&flow.delivered)).collect()
}

/// Section 3: the queue moves between nothing and 2.5/delta packets for each flow, around 1/delta.
#[test]
fn flows_keep_a_queue_of_a_packet_over_delta_each_and_the_link_full() {
    for flows in [1, 2, 4] {
        for mbit in [10, 24, 100] {
            let trace = run(&setup(&vec!["copa:mode=default"; flows], mbit, 2));
            let queue = queue(&trace, SETTLED);
            let each = 2.0 * flows as f64;
            let (mean, most) = (mean(&queue), queue.iter().copied().fold(0.0, f64::max));
            let rates = rates(&trace, SETTLED);
            let utilisation = rates.iter().sum::<f64>() * 12e-3 / mbit as f64;
            let case =
                format!("{flows} flows at {mbit} Mbit/s: {mean} packets, at most {most}, {utilisation}, {rates:?}");
            assert!((each..=1.3 * each).contains(&mean), "{case}");
            // A packet of another flow may arrive at each instant.
            assert!((2.0 * each..=2.5 * each + flows as f64).contains(&most), "{case}");
            assert!(utilisation >= 0.994 && jain(&rates) >= 0.999, "{case}");
        }
    }
}

/// What a large velocity does to the window is undone within a few round trips, whatever the phase in which it meets the target.
#[test]
fn a_flow_settles_on_a_large_product_whatever_the_seed() {
    for seed in 1..=6 {
        let mut setup = setup(&["copa:mode=default"], 150, 8);
        setup.seed = seed;
        let queue = queue(&run(&setup), SETTLED);
        let (mean, most) = (mean(&queue), queue.iter().copied().fold(0.0, f64::max));
        assert!((2.0..=3.0).contains(&mean) && most <= 7.0, "seed {seed}: {mean} packets, at most {most}");
    }
}

/// Section 2.2: in the default mode a flow that fills queues leaves nearly nothing; the other mode gets a share next to it.
#[test]
fn the_competitive_mode_holds_its_own_beside_reno() {
    let share = |copa| {
        let rates = rates(&run(&setup(&[copa, "reno"], 24, 2)), SETTLED);
        rates[0] / (rates[0] + rates[1])
    };
    let [default, switching] = ["copa:mode=default", "copa"].map(share);
    assert!(default < 0.1, "{default}");
    assert!((0.3..0.7).contains(&switching), "{switching}");
}

/// The letter of section 2.1: a velocity that has grown large is in force against its direction until the window is over. It takes the
/// congestion window too far, from where it has to come back.
#[test]
fn a_velocity_that_outlasts_its_direction_costs_utilisation() {
    let utilisation = |copa| rates(&run(&setup(&[copa], 100, 2)), SETTLED).iter().sum::<f64>() * 12e-3 / 100.0;
    let [window, reversal] = ["copa:mode=default,reset=window", "copa:mode=default"].map(utilisation);
    assert!(window < 0.98 && reversal > 0.99, "{window} {reversal}");
}

fn jain(rates: &[f64]) -> f64 {
    let sum: f64 = rates.iter().sum();
    sum * sum / (rates.len() as f64 * rates.iter().map(|rate| rate * rate).sum::<f64>())
}

const RTT: Span = Span::from_millis(50);
const SETTLED: Span = Span::from_secs(20);
