//! Transfers of files, encrypted, over UDT on a simulated path with loss and other faults and an active attacker: no wrong byte, and no hang.
//!
//! A seed draws the path, what goes wrong on it, the files, and what the attacker does. Handshake, records and files are those of the real
//! programs, each end in a thread; simulated time passes only while both wait for the network.

#![expect(clippy::unwrap_used, reason = "the helpers of tests fail as tests do")]

#[path = "simulated/world.rs"]
mod world;

// The path and its faults are those on which UDT itself is tested.
#[path = "../../cwnd-udt/tests/simulation/line.rs"]
mod line;
#[expect(dead_code, reason = "of a plan only the path is used")]
#[path = "../../cwnd-udt/tests/simulation/plan.rs"]
mod plan;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use cwnd_files::{Directory, Outcome, ReceiveOptions, ServeOptions, Source, TransferError, send, serve};
use cwnd_secure::{Access, Code, Proof, SecureError, accept, connect};

use line::PathCounts;
use plan::Draw;
use world::{Attack, World};

type Ended = Result<Outcome, TransferError>;

/// The outcome of the seeds.
#[derive(Debug, Default)]
struct Totals {
    /// Transfers that were complete in spite of the attacker.
    complete: u64,
    /// Transfers that were complete over a second connection only.
    again: u64,
    /// Transfers by what the attacker did, and how many of them were complete nevertheless.
    attacks: BTreeMap<String, (u64, u64)>,
    met: PathCounts,
    seconds: f64,
}

/// One connection; what the client and the server say.
fn transfer(from: &Path, to: &Path, seed: u64, attack: Attack) -> ([Ended; 2], PathCounts, f64) {
    let (world, [client, server]) = World::new(seed, attack);
    let (code, inbox) = (Code::from_bits([seed as u8; 16]), Directory::open(to).unwrap());
    let access = Access::by_codes(vec![code.clone()]);
    let failed = |error: SecureError| TransferError::Io(error.into());
    let serving = thread::spawn(move || {
        let (stream, _) = accept(server, &access, || true).map_err(failed)?;
        serve(stream, &inbox, &ServeOptions::writable(ReceiveOptions::new()), &mut |_| true)
    });
    let source = Source::at(from).unwrap();
    let sending = thread::spawn(move || {
        let stream = connect(client, &Proof::Code(code)).map_err(failed)?;
        send(stream, &[source], &mut |_| true)
    });
    let (met, seconds) = world.run();
    ([sending.join().unwrap(), serving.join().unwrap()], met, seconds)
}

/// The files under their final names; unfinished files have others.
fn finished(directory: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(directory).into_iter().flatten().map(|entry| entry.unwrap().path());
    let named = entries.filter(|path| !path.file_name().unwrap().to_string_lossy().starts_with(".cwnd-"));
    named.map(|path| (path.file_name().unwrap().to_string_lossy().into_owned(), fs::read(&path).unwrap())).collect()
}

/// An attacked transfer, and then one on the same path that is left alone.
fn survives(seed: u64) -> (Attack, bool, PathCounts, f64) {
    let mut draw = Draw::new(seed);
    let place = tempfile::tempdir().unwrap();
    let (from, to) = (place.path().join("out"), place.path().join("in"));
    fs::create_dir(&from).unwrap();
    fs::create_dir(&to).unwrap();
    for number in 0..draw.between(1, 4) {
        let most = draw.pick(&[300, 100_000, 100_000, (1 << 20) + 200_000]);
        let bytes: Vec<u8> = (0..draw.between(0, most)).map(|_| draw.next() as u8).collect();
        fs::write(from.join(format!("file {number}")), bytes).unwrap();
    }
    let attack = Attack::draw(&mut draw);
    let expected = finished(&from);
    let ([sent, served], met, seconds) = transfer(&from, &to, seed, attack);
    let arrived = finished(&to.join("out"));
    for (name, bytes) in &arrived {
        assert!(expected.get(name) == Some(bytes), "seed {seed}, {attack:?}: {name} is wrong");
    }
    let complete = matches!((&sent, &served), (Ok(sent), Ok(served)) if sent.failed + served.failed == 0);
    if complete {
        assert!(arrived == expected, "seed {seed}, {attack:?}: files are missing");
    }
    assert!(complete || attack != Attack::None, "seed {seed}: {sent:?} {served:?}");
    let ([sent, served], _, more) = transfer(&from, &to, seed, Attack::None);
    assert!(sent.is_ok() && served.is_ok(), "seed {seed}, after {attack:?}: {sent:?} {served:?}");
    assert!(finished(&to.join("out")) == expected, "seed {seed}, after {attack:?}: files are missing or wrong");
    (attack, complete, met, seconds + more)
}

/// Runs all seeds, a few at a time.
fn run(seeds: std::ops::Range<u64>) {
    let (done, outcomes) = mpsc::channel();
    for lane in 0..LANES {
        let (seeds, done) = (seeds.clone(), done.clone());
        thread::spawn(move || {
            seeds.filter(|seed| seed % LANES == lane).for_each(|seed| done.send(survives(seed)).unwrap());
        });
    }
    drop(done);
    let mut totals = Totals::default();
    for _ in seeds.clone() {
        // A panic of a lane closes the channel once the others are through.
        let outcome = outcomes.recv_timeout(Duration::from_secs(300)).expect("a transfer has failed, or hangs");
        let (attack, complete, met, seconds) = outcome;
        if complete {
            totals.complete += 1;
        } else {
            totals.again += 1;
        }
        let of_kind = totals.attacks.entry(attack.name()).or_default();
        *of_kind = (of_kind.0 + 1, of_kind.1 + u64::from(complete));
        totals.met.add(&met);
        totals.seconds += seconds;
    }
    println!("{} seeds, 0 wrong bytes: {totals:#?}", seeds.end - seeds.start);
    assert!(totals.complete > 0 && totals.again > 0);
}

#[test]
fn encrypted_transfers_survive_the_path_and_an_attacker() {
    run(0..50);
}

#[test]
#[ignore = "takes minutes; `cargo xtask test --long attacked`"]
fn ten_thousand_encrypted_transfers_over_udt() {
    run(1_000..11_000);
}

const LANES: u64 = 4;
