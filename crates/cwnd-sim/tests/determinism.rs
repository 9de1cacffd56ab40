//! Same setup and seed, same bytes: on any number of threads, with and without optimisation, today and as recorded.
//!
//! `CWND_BLESS=1 cargo test -p cwnd-sim --test determinism` records the digests anew; the diff then shows which algorithms,
//! queues or eras changed.

use std::fmt::Write as _;
use std::path::Path;
use std::thread;

use cwnd::{ALGORITHMS, Span, Spec};
use cwnd_sim::{
    AckEcho, CakeSetup, CoDelSetup, DecBitSetup, Discipline, DrrSetup, DualPi2Setup, Dumbbell, Era, FqCoDelSetup, Loss,
    PieSetup, QueueLimit, RecoveryScheme, RedSetup, RioSetup, Setup, VcpSetup, XcpSetup,
};

/// Two flows of an algorithm for ten seconds: queueing loss, random loss, recovery, timeouts. Losses are repaired by RFC 6675, and each
/// packet is acknowledged.
fn cell(algorithm: &str, seed: u64) -> Setup {
    let mut setup = flows(algorithm, Era::MODERN, seed);
    for flow in &mut setup.flows {
        (flow.recovery, flow.delayed_ack) = (RecoveryScheme::Sack, None);
    }
    setup
}

/// As the era has it.
fn flows(algorithm: &str, era: Era, seed: u64) -> Setup {
    let bell = Dumbbell {
        loss: Loss::Bernoulli(1e-4),
        ..Dumbbell::new(20_000_000, Span::from_millis(40), QueueLimit::Packets(60))
    };
    let spec = Spec::parse(algorithm).expect("a registered algorithm");
    bell.setup(&[spec.clone(), spec], era, Span::from_secs(10), Span::from_secs(1), seed)
}

/// Two flows of Reno, one of which takes marks, through a queue.
fn queue(discipline: Discipline) -> Setup {
    let mut setup = cell("reno", 1);
    setup.links[0].discipline = discipline;
    setup.flows[1].ecn = Some(AckEcho::Latch);
    setup
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
    compare("digests.txt", ALGORITHMS.iter().map(|entry| (entry.name, cell(entry.name, 1))));
}

/// Its expressions are evaluated per packet, in the shell that Reno has.
#[test]
fn a_rule_that_is_renos_runs_as_reno() {
    for era in [Era::MODERN, Era::NS2_2001] {
        let run = |algorithm: &str| digest(&flows(algorithm, era, 1));
        let reno = run("reno");
        for rule in ["rule", "rule:grow=1/w,cut=w/2", "rule:cut=w/2", "rule:cut=max(w/2, 1), grow=min(1/w, 1)"] {
            assert_eq!(run(rule), reno, "{rule}");
        }
        assert_ne!(run("rule:cut=w*7/8"), reno);
    }
}

#[test]
fn every_profile_of_udt_runs_as_recorded() {
    let profiles = ["paper", "ns2-1.1", "ns2-2.0", "ns2-2.2", "daimd-fitted", "udt4"];
    compare("profiles.txt", profiles.into_iter().map(|name| (name, cell(&format!("udt:profile={name}"), 1))));
}

#[test]
fn every_queue_runs_as_recorded() {
    let marking = RedSetup { mark: true, ..RedSetup::default() };
    let queues = [
        ("droptail", Discipline::DropTail),
        ("red", Discipline::Red(marking)),
        ("rio", Discipline::Rio(RioSetup::default())),
        ("drr", Discipline::Drr(DrrSetup::default())),
        ("codel", Discipline::CoDel(CoDelSetup { mark: true, ..CoDelSetup::default() })),
        ("fq_codel", Discipline::FqCoDel(FqCoDelSetup::default())),
        ("pie", Discipline::Pie(PieSetup { mark: true, ..PieSetup::default() })),
        ("dualpi2", Discipline::DualPi2(DualPi2Setup::RFC)),
        ("dualpi2_linux", Discipline::DualPi2(DualPi2Setup::LINUX)),
        ("cake", Discipline::Cake(CakeSetup::default())),
    ];
    compare("queues.txt", queues.into_iter().map(|(name, discipline)| (name, queue(discipline))));
}

/// Algorithms that hear of congestion from routers, at theirs: without, they answer losses as Reno does.
#[test]
fn every_algorithm_of_a_router_runs_as_recorded_at_its_router() {
    let step = RedSetup { min: 20.0, max: 20.0, weight: 1.0, mark: true, ..RedSetup::default() };
    let routers = [
        ("dctcp", Discipline::Red(step)),
        ("prague", Discipline::DualPi2(DualPi2Setup::RFC)),
        ("xcp", Discipline::Xcp(XcpSetup::default())),
        ("vcp", Discipline::Vcp(VcpSetup::default())),
        ("decbit", Discipline::DecBit(DecBitSetup::default())),
    ];
    let at_its_router = |(name, discipline)| {
        let mut setup = cell(name, 1);
        setup.links[0].discipline = discipline;
        let echo = match name {
            "dctcp" => Some(AckEcho::PerPacket),
            "prague" => Some(AckEcho::Scalable),
            _ => None,
        };
        setup.flows.iter_mut().for_each(|flow| flow.ecn = flow.ecn.or(echo));
        assert_ne!(digest(&setup), digest(&cell(name, 1)), "{name} gets nothing from its router");
        (name, setup)
    };
    compare("routers.txt", routers.into_iter().map(at_its_router));
}

#[test]
fn every_era_runs_as_recorded() {
    compare("eras.txt", Era::ALL.into_iter().map(|era| (era.name, flows("reno", era, 1))));
}

/// Holds the digests of runs against those in a file next to this one.
fn compare(file: &str, runs: impl Iterator<Item = (&'static str, Setup)>) {
    let mut table = String::new();
    for (name, setup) in runs {
        let digest = digest(&setup);
        writeln!(table, "{name:<10} {digest:016x}").expect("a string grows");
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(file);
    if std::env::var_os("CWND_BLESS").is_some() {
        std::fs::write(&path, &table).expect("writable");
    }
    let recorded = std::fs::read_to_string(&path).expect("recorded");
    assert_eq!(
        table, recorded,
        "an algorithm, a queue or the simulator changed; if that is meant, `CWND_BLESS=1 cargo test -p cwnd-sim --test determinism` \
         records it anew"
    );
}
