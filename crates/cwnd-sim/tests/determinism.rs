//! Same setup and seed, same bytes: on any number of threads, with and without optimisation, today and as recorded.
//!
//! `CWND_BLESS=1 cargo test -p cwnd-sim --test determinism` records the digests anew; the diff then shows which algorithms changed.

use std::fmt::Write as _;
use std::path::Path;
use std::thread;

use cwnd::{ALGORITHMS, Span, Spec};
use cwnd_sim::{Dumbbell, Era, Loss, QueueLimit, Setup};

/// Two flows of an algorithm for ten seconds: queueing loss, random loss, recovery, time-outs.
fn cell(algorithm: &str, seed: u64) -> Setup {
    let bell = Dumbbell {
        loss: Loss::Bernoulli(1e-4),
        ..Dumbbell::new(20_000_000, Span::from_millis(40), QueueLimit::Packets(60))
    };
    let spec = Spec::parse(algorithm).expect("a registered algorithm");
    bell.setup(&[spec.clone(), spec], Era::MODERN, Span::from_secs(10), Span::from_secs(1), seed)
}

fn digest(setup: &Setup) -> u64 {
    cwnd_sim::run(setup, &mut |_| true).expect("a valid setup").digest
}

#[test]
fn the_thread_count_changes_nothing() {
    let cells: Vec<_> = (0..8).map(|n| cell(["reno", "cubic", "simd", "udt"][n % 4], n as u64)).collect();
    let alone: Vec<_> = cells.iter().map(digest).collect();
    let mut shared = vec![0; cells.len()];
    thread::scope(|scope| {
        for (cells, digests) in cells.chunks(4).zip(shared.chunks_mut(4)) {
            scope.spawn(|| cells.iter().zip(digests).for_each(|(cell, slot)| *slot = digest(cell)));
        }
    });
    assert_eq!(alone, shared);
}

#[test]
fn every_algorithm_runs_as_recorded() {
    let mut table = String::new();
    for entry in ALGORITHMS {
        let digest = digest(&cell(entry.name, 1));
        writeln!(table, "{:<10} {digest:016x}", entry.name).expect("a string grows");
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/digests.txt");
    if std::env::var_os("CWND_BLESS").is_some() {
        std::fs::write(&path, &table).expect("writable");
    }
    let recorded = std::fs::read_to_string(&path).expect("recorded");
    assert_eq!(table, recorded, "an algorithm or the simulator changed: see the top of this file");
}
