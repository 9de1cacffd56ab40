//! How fast the simulator is: `cargo bench -p cwnd-benches`. Throughput is in packets delivered per second of wall time.

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use cwnd::{Span, Spec};
use cwnd_sim::{Dumbbell, Era, QueueLimit, Setup};

/// Flows of one algorithm over a queue of one bandwidth-delay product.
fn dumbbell(algorithm: &str, flows: usize, rate: u64, rtt: Span, duration: Span) -> Setup {
    let product = rate as f64 * rtt.as_secs_f64() / 12_000.0;
    let bell = Dumbbell::new(rate, rtt, QueueLimit::Packets(product as u32));
    let spec = Spec::parse(algorithm).expect("a registered algorithm");
    bell.setup(&vec![spec; flows], Era::MODERN, duration, Span::ZERO, 1)
}

fn delivered(setup: &Setup) -> u64 {
    let trace = cwnd_sim::run(setup, &mut |_| true).expect("a valid setup");
    trace.flows.iter().filter_map(|flow| flow.delivered.last()).sum()
}

fn simulate(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("simulate");
    group.sample_size(10);
    let ms = Span::from_millis;
    for (name, setup) in [
        ("16 reno, 1 Gbit/s, 50 ms", dumbbell("reno", 16, 1_000_000_000, ms(50), Span::from_secs(5))),
        ("16 cubic, 1 Gbit/s, 50 ms", dumbbell("cubic", 16, 1_000_000_000, ms(50), Span::from_secs(5))),
        ("16 udt, 1 Gbit/s, 50 ms", dumbbell("udt", 16, 1_000_000_000, ms(50), Span::from_secs(5))),
        ("64 reno, 10 Gbit/s, 20 ms", dumbbell("reno", 64, 10_000_000_000, ms(20), Span::from_secs(1))),
    ] {
        group.throughput(Throughput::Elements(delivered(&setup)));
        group.bench_function(name, |bencher| {
            bencher.iter_batched(|| setup.clone(), |setup| delivered(&setup), BatchSize::PerIteration);
        });
    }
    group.finish();
}

criterion_group!(benches, simulate);
criterion_main!(benches);
