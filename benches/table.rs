//! Every number of `docs/performance.md` that depends on the machine: `cargo bench -p cwnd-benches --bench table`.
//!
//! `-- --case NAME [SECONDS]` runs one case once, for this number of simulated seconds, and `-- --scenario FILE` each seed of a scenario, one after the other:
//! for profilers. `-- --cells NUMBER` runs this number of small cells one after the other. `-- --ns3 PROGRAM` adds ns-3, with the program that `cargo xtask validate` builds (`target/release/ns3-dumbbell`).

use std::hint::black_box;
use std::process::Command;
use std::thread;
use std::time::Instant;

use cwnd::{Span, Time};
use cwnd_benches::{delivered, lasting, run, setup, yardstick};
use cwnd_lab::bench::{CASES, Case};
use cwnd_run::scenario::Scenario;
use cwnd_sim::{CheckedSetup, Simulation, Trace};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => table(None),
        ["--ns3", program] => table(Some(program)),
        ["--case", name] => once(&setup(find(name), 1)),
        ["--case", name, seconds] => {
            let duration = Span::from_secs_f64(seconds.parse().expect("seconds"));
            once(&lasting(setup(find(name), 1), duration));
        }
        ["--cells", number] => cells(number.parse().expect("a number")),
        ["--scenario", path] => {
            let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{path}: {error}"));
            let scenario = Scenario::read(path, &text, &[]).unwrap_or_else(|error| panic!("{path}: {error}"));
            scenario.seeds().for_each(|seed| once(&scenario.setup(seed)));
        }
        _ => panic!("usage: table [--case NAME [SECONDS] | --cells NUMBER | --scenario FILE | --ns3 PROGRAM]"),
    }
}

fn find(name: &str) -> &'static Case {
    Case::find(name).unwrap_or_else(|| panic!("no case `{name}`"))
}

fn once(setup: &CheckedSetup) {
    let trace = run(setup);
    println!("{} packets delivered in {} events, digest {:016x}", delivered(&trace), trace.events, trace.digest);
}

fn table(ns3: Option<&str>) {
    println!(
        "{:<12} {:>12} {:>8} {:>12} {:>10} {:>10}",
        "case", "packets", "wall s", "million/s", "real time", "yardstick"
    );
    for case in CASES {
        let setup = setup(case, 1);
        // The best of a few runs: what else runs on the machine can only slow them down. The yardstick goes before each.
        let times = if case.endless() < 1_000_000 { 3 } else { 1 };
        let runs: Vec<_> = (0..times).map(|_| (yardstick_rate(), timed(|| run(&setup)))).collect();
        let yardstick = runs.iter().map(|(rate, _)| *rate).fold(0.0, f64::max);
        let wall = runs.iter().map(|(_, (_, wall))| *wall).fold(f64::INFINITY, f64::min);
        let packets = delivered(&runs[0].1.0);
        let rate = packets as f64 / wall;
        println!(
            "{:<12} {packets:>12} {wall:>8.2} {:>12.2} {:>10.2} {:>10.3}",
            case.name,
            rate / 1e6,
            setup.duration.as_secs_f64() / wall,
            rate / yardstick
        );
    }
    println!("yardstick    {:.1} million/s", yardstick_rate() / 1e6);
    scaling();
    cells(1000);
    if let Some(program) = ns3 {
        beside_ns3(program);
    }
}

/// Packets per second of the bare event loop.
fn yardstick_rate() -> f64 {
    let ((delivered, _), wall) = timed(|| yardstick::run(4_000_000));
    delivered as f64 / wall
}

/// Seeds run one after the other, and on all cores.
fn scaling() {
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let seeds: Vec<CheckedSetup> = (0..4 * threads as u64).map(|seed| setup(&CASES[0], seed)).collect();
    let digests = |setups: &[CheckedSetup]| setups.iter().map(|setup| run(setup).digest).collect::<Vec<_>>();
    let (alone, serial) = timed(|| digests(&seeds));
    let (shared, parallel) = timed(|| {
        thread::scope(|scope| {
            let workers: Vec<_> = seeds.chunks(4).map(|share| scope.spawn(|| digests(share))).collect();
            workers.into_iter().flat_map(|worker| worker.join().expect("no worker panics")).collect::<Vec<_>>()
        })
    });
    assert_eq!(alone, shared, "results do not depend on the number of threads");
    println!("{} seeds: {:.2} times as fast on {threads} cores as on one", seeds.len(), serial / parallel);
}

/// Many small cells in one process, as a sweep or a search runs them: seeds of the case `cell`, and the start of each alone.
fn cells(number: u64) {
    let cell = setup(find("cell"), 1);
    let cells: Vec<CheckedSetup> = (0..number).map(|seed| cell.with_seed(seed, None)).collect();
    let (_, starts) = timed(|| cells.iter().for_each(|cell| drop(black_box(Simulation::of(cell)))));
    let (_, runs) = timed(|| cells.iter().for_each(|cell| drop(black_box(run(cell)))));
    let per_cell = 1e6 / number as f64;
    println!("{number} cells: {:.0} evaluations/s, of {:.1} µs to start", number as f64 / runs, starts * per_cell);
}

/// Two seconds of the first case on both sides, in turn.
fn beside_ns3(program: &str) {
    let setup = lasting(setup(&CASES[0], 1), Span::from_secs(2));
    let mut command = Command::new(program);
    command
        .args("--algorithm=reno --rate=1000000000 --rtt=0.05 --limit=4166 --loss=0 --flows=16 --duration=2".split(' '));
    command.args("--warmup=1 --spread=0.05 --jitter=0.9 --interval=1 --seed=1 --trace=/dev/null".split(' '));
    let (output, theirs) = timed(|| command.output().expect("the program of the validation"));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let (_, ours): (Trace, f64) = timed(|| run(&setup));
    let simulated = (Time::ZERO + setup.duration).as_secs_f64();
    println!(
        "simulated seconds per second: {:.2} here, {:.4} in ns-3 (start-up included on both sides): {:.0} times",
        simulated / ours,
        simulated / theirs,
        theirs / ours
    );
}

#[expect(clippy::disallowed_methods, reason = "the speed of the simulator is measured in wall time")]
fn timed<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let start = Instant::now();
    let result = work();
    (result, start.elapsed().as_secs_f64())
}
