//! Two endpoints in a simulated network with loss and at least one other fault, both ways at once, by the hundred.
//!
//! A seed draws everything: settings, path, faults, and what the applications do. Every byte must arrive once and in order, or, if
//! the path was gone for long, an end must say why it did not. Time, datagrams, turns of the hosts and memory are bounded.
//!
//! `cargo xtask test --long seeds` runs ten thousand seeds, or as many as `UDT_SEEDS` says, and prints which faults they met and how
//! they ended. A seed that fails is printed, and `UDT_SEED=… cargo test -p cwnd-udt --test simulation -- --nocapture` runs it alone, with
//! `UDT_TRACE=1` showing every packet that leaves.

mod application;
mod line;
mod plan;
mod world;

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use line::PathCounts;
use plan::{FAULTS, Fault, Plan};
use world::{Ending, Outcome};

#[test]
fn hundreds_of_seeds() {
    match std::env::var("UDT_SEED") {
        Ok(seed) => replay(seed.parse().expect("a number")),
        Err(_) => sweep(400),
    }
}

#[test]
#[ignore = "takes minutes; `cargo xtask test --long seeds`"]
fn ten_thousand_seeds() {
    let seeds = std::env::var("UDT_SEEDS").map_or(10_000, |seeds| seeds.parse().expect("a number"));
    sweep(seeds);
}

#[test]
fn a_seed_says_everything() {
    let outcome = |seed| format!("{:?}", world::run(&Plan::new(seed), false));
    for seed in 0..5 {
        assert_eq!(outcome(seed), outcome(seed));
    }
}

fn replay(seed: u64) {
    let plan = Plan::new(seed);
    println!("{plan}\n{plan:#?}");
    let outcome = world::run(&plan, std::env::var_os("UDT_TRACE").is_some());
    println!("{outcome:#?}");
    if let Err(error) = outcome {
        panic!("{plan}: {error}");
    }
}

fn sweep(seeds: u64) {
    let next = AtomicU64::new(0);
    let runs = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(2, usize::from) {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= seeds {
                        break;
                    }
                    let plan = Plan::new(seed);
                    let outcome = catch_unwind(AssertUnwindSafe(|| world::run(&plan, false)));
                    let outcome = outcome.unwrap_or_else(|_| Err("panicked".to_owned()));
                    runs.lock().expect("no run panics outside").push((plan, outcome));
                }
            });
        }
    });
    let mut runs = runs.into_inner().expect("no run panics outside");
    runs.sort_by_key(|(plan, _)| plan.seed);
    report(&runs);
    let failed: Vec<_> = runs.iter().filter_map(|(plan, outcome)| Some((plan, outcome.as_ref().err()?))).collect();
    for (plan, error) in failed.iter().take(10) {
        println!("FAILED {plan}\n  {error}");
    }
    let seeds: Vec<_> = failed.iter().map(|(plan, _)| plan.seed).collect();
    assert!(failed.is_empty(), "{} seeds fail, replay with UDT_SEED: {seeds:?}", failed.len());
}

/// Prints the distribution of the faults and of the endings.
fn report(runs: &[(Plan, Result<Outcome, String>)]) {
    let mut faults: BTreeMap<Fault, u64> = FAULTS.into_iter().map(|fault| (fault, 0)).collect();
    let mut endings: BTreeMap<(Ending, &[String; 2]), u64> = BTreeMap::new();
    let mut met = PathCounts::default();
    let (mut datagrams, mut steps, mut retransmitted, mut seconds, mut longest) = (0, 0, 0, 0.0, (0.0, 0));
    for (plan, outcome) in runs {
        plan.faults().into_iter().for_each(|fault| *faults.entry(fault).or_default() += 1);
        let Ok(outcome) = outcome else { continue };
        *endings.entry((outcome.end, &outcome.reasons)).or_default() += 1;
        outcome.met.iter().for_each(|line| met.add(line));
        datagrams += outcome.datagrams;
        steps += outcome.steps;
        retransmitted += outcome.retransmitted;
        let elapsed = outcome.elapsed.as_secs_f64();
        seconds += elapsed;
        longest = if elapsed > longest.0 { (elapsed, plan.seed) } else { longest };
    }
    println!(
        "{} seeds, {seconds:.0} s of simulated time, the longest {:.0} s (seed {})",
        runs.len(),
        longest.0,
        longest.1
    );
    println!("seeds by fault:");
    faults.iter().for_each(|(fault, count)| println!("  {count:6}  {fault:?}"));
    println!("seeds by ending, and the reasons of the first and the second end:");
    for ((end, [first, second]), count) in &endings {
        println!("  {count:6}  {end:?}: {first}; {second}");
    }
    println!(
        "{datagrams} datagrams, {steps} turns of a host, {retransmitted} packets of data sent again; on the path: {met:?}"
    );
    let lossy = runs.iter().filter(|(plan, _)| plan.lines[0].loss > 0.0).count();
    println!("{lossy} seeds with random loss, from 0 to 10 %");
    for fault in FAULTS {
        assert!(faults[&fault] * 50 > runs.len() as u64, "{fault:?} is hardly ever met");
    }
}
