//! The algorithms that the five papers only name: of each, one behaviour that its source describes.

use cwnd::window::SlowStart;
use cwnd::{Span, Spec};
use cwnd_sim::{Dumbbell, Era, QueueLimit, Sampling, Setup, Trace, Variation};

const MBIT: u64 = 1_000_000;

fn spec(text: &str) -> Spec {
    Spec::parse(text).unwrap_or_else(|error| panic!("{error}"))
}

fn run(setup: &Setup) -> Trace {
    cwnd_sim::run(setup, &mut |_| true).expect("a valid setup")
}

fn last(curve: &[u64]) -> u64 {
    *curve.last().expect("sampled at the end")
}

/// Flows that start together, on a bottleneck with room for `queue` packets, sampled ten times per round trip.
fn setup(flows: &[Spec], mbit: u64, rtt: Span, queue: u32, seconds: u64) -> Setup {
    let bell = Dumbbell::new(mbit * MBIT, rtt, QueueLimit::Packets(queue));
    let mut setup = bell.setup(flows, Era::MODERN, Span::from_secs(seconds), Span::ZERO, 1);
    setup.variation = Variation { start: Some(Span::ZERO), rtt: 0.0, jitter: 0.9 };
    setup.sampling = Some(Sampling { interval: rtt / 10, internals: true });
    setup
}

/// RFC 9406 section 1: slow start sends too fast for too long, and loses much; HyStart++ is to lose less.
///
/// Where the window doubles, the queue is first seen in the round after the one that builds it. A queue of one bandwidth-delay
/// product overflows before that; from two on, the round that overflows grows by a quarter instead of doubling; sixteen hold
/// until the five careful rounds are over.
#[test]
fn hystart_overshoots_by_a_quarter_of_what_slow_start_does() {
    for (mbit, millis) in [(100, 50), (1000, 20), (20, 200)] {
        let lost = |slow_start, products: u64| {
            let queue = (products * mbit * 1000 * millis / 12_000) as u32;
            let mut setup = setup(&[spec("reno")], mbit, Span::from_millis(millis), queue, 10);
            setup.flows[0].slow_start = Some(slow_start);
            last(&run(&setup).links[0].dropped) as f64
        };
        for (products, share) in [(1, 1.0), (2, 0.5), (4, 0.3), (16, 0.0)] {
            let [standard, hystart] = [SlowStart::Standard, SlowStart::HyStart].map(|way| lost(way, products));
            let case = format!("{products} bandwidth-delay products at {mbit} Mbit/s: {hystart} and {standard} lost");
            assert!(standard > 0.0 && hystart <= share * standard, "{case}");
        }
    }
}

/// The packets in the queue of the bottleneck from `from` on: the mean over time and the standard deviation.
fn queue(trace: &Trace, from: Span) -> (f64, f64) {
    let link = &trace.links[0];
    let settled = trace.at.partition_point(|at| *at < from.as_nanos());
    let packets: Vec<f64> = link.queue_bytes[settled..].iter().map(|bytes| *bytes as f64 / 1500.0).collect();
    let mean = packets.iter().sum::<f64>() / packets.len() as f64;
    let squares: f64 = packets.iter().map(|packets| (packets - mean) * (packets - mean)).sum();
    (mean, (squares / packets.len() as f64).sqrt())
}
