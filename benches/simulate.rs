//! How fast the simulator is, case by case: `cargo bench -p cwnd-benches --bench simulate`. Throughput is in packets delivered per
//! second of wall time.

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use cwnd_benches::{delivered, run, setup, yardstick};
use cwnd_lab::bench::CASES;

fn simulate(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("simulate");
    group.sample_size(10);
    group.throughput(Throughput::Elements(1_000_000));
    group.bench_function("yardstick", |bencher| bencher.iter(|| yardstick::run(1_000_000)));
    // A million flows take too long to be run again and again: the table runs them once.
    for case in CASES.iter().filter(|case| case.endless() < 1_000_000) {
        let setup = setup(case, 1);
        group.throughput(Throughput::Elements(delivered(&run(&setup))));
        group.bench_function(case.name, |bencher| {
            bencher.iter_batched(|| setup.clone(), |setup| run(&setup), BatchSize::PerIteration);
        });
    }
    group.finish();
}

criterion_group!(benches, simulate);
criterion_main!(benches);
