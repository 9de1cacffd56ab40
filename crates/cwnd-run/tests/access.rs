//! The scenarios of access networks: each is read, runs, and gives the recorded digest.
//!
//! `CWND_BLESS=1 cargo test -p cwnd-run --test access` records the digests anew; the diff then shows which scenarios changed.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use cwnd_run::run::run;
use cwnd_run::scenario::Scenario;

/// All of them, in the order of their names.
fn files() -> Vec<PathBuf> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/access");
    let entries = fs::read_dir(&directory).unwrap_or_else(|error| panic!("{}: {error}", directory.display()));
    let mut files: Vec<PathBuf> =
        entries.map(|entry| entry.expect("an entry").path()).filter(|path| path.is_file()).collect();
    files.sort();
    files
}

/// A scenario as it is, with other settings.
fn read(path: &Path, settings: &[&str]) -> Scenario {
    let text = fs::read_to_string(path).expect("readable");
    let settings: Vec<String> = settings.iter().map(ToString::to_string).collect();
    Scenario::read(&path.display().to_string(), &text, &settings).unwrap_or_else(|error| panic!("{error}"))
}

fn name(path: &Path) -> String {
    path.file_stem().expect("a name").to_string_lossy().into_owned()
}

/// Four seconds include the changes of most paths.
#[test]
fn every_scenario_runs_as_recorded() {
    let scenarios: Vec<Scenario> =
        files().iter().map(|path| read(path, &["duration=4s", "warmup=0s", "seeds=1"])).collect();
    assert!(scenarios.len() >= 20, "{}", scenarios.len());
    let mut found = String::new();
    for (path, runs) in files().iter().zip(run(scenarios, &()).unwrap()) {
        let trace = &runs.traces[0];
        assert!(trace.flows.iter().all(|flow| flow.delivered.last().is_some_and(|packets| *packets > 0)), "{path:?}");
        let _ = writeln!(found, "{} {:016x}", name(path), trace.digest);
    }
    let record = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/access.txt");
    if std::env::var_os("CWND_BLESS").is_some() {
        fs::write(&record, &found).unwrap();
    }
    assert_eq!(found, fs::read_to_string(&record).unwrap_or_default(), "see the head of this file");
}

/// With turns of 16 packets: 16 of 1500 bytes, one access, 8 acknowledgements, one access. With single ones: 2 packets and an acknowledgement,
/// three accesses. A few are acknowledged one by one, out of order after a loss.
#[test]
fn a_channel_that_is_shared_carries_what_turns_and_acknowledgements_leave() {
    let wifi = files().into_iter().find(|path| name(path) == "wifi-channel").expect("it is there");
    let share = |duplex: &str| {
        let duplex = format!("dumbbell.duplex={duplex}");
        let scenario = read(&wifi, &["duration=10s", "warmup=3s", "seeds=1", &duplex]);
        let runs = run(vec![scenario], &()).unwrap();
        let trace = &runs[0].traces[0];
        let from = trace.at.iter().position(|at| *at == 3_000_000_000).expect("a sample");
        let carried = &trace.links[0].carried_bytes;
        (carried.last().expect("a sample") - carried[from]) as f64 * 8.0 / (7.0 * 60e6)
    };
    let (packet, ack, access) = (12_000.0 / 60e6, 320.0 / 60e6, 100e-6);
    let expected = [
        ("full", 1.0),
        ("half", 2.0 * packet / (2.0 * packet + ack)),
        ("half:access=100us,burst=16", 16.0 * packet / (16.0 * packet + 8.0 * ack + 2.0 * access)),
        ("half:access=100us", 2.0 * packet / (2.0 * packet + ack + 3.0 * access)),
    ];
    for (duplex, expected) in expected {
        let found = share(duplex);
        assert!((found - expected).abs() < 0.008, "{duplex}: {found}, not {expected}");
    }
}

#[test]
fn of_two_queues_in_series_the_one_before_the_slower_link_fills() {
    let path = files().into_iter().find(|path| name(path) == "modem-behind-router").expect("it is there");
    let waits = |settings: &[&str]| {
        let settings: Vec<&str> = ["duration=15s", "warmup=5s", "seeds=1"].iter().chain(settings).copied().collect();
        let runs = run(vec![read(&path, &settings)], &()).unwrap();
        let links = &runs[0].traces[0].links;
        ["router", "modem"].map(|name| {
            let link = links.iter().find(|link| link.name == name).expect("it is there");
            link.wait.mean().expect("packets") / 1e6
        })
    };
    let [router, modem] = waits(&[]);
    assert!(router < 0.1 && modem > 100.0, "{router} and {modem} ms");
    let [router, modem] = waits(&["link.0.impairments.shaper=19mbit,burst=3kB"]);
    assert!((0.5..20.0).contains(&router) && modem < 2.0, "{router} and {modem} ms");
}

/// A scenario of C4 begins its clock with the handshake of QUIC: each transfer starts 1.5 of its round-trip times late, or half a second or
/// a second later; jitter of 7 ms in each direction belongs to the round trip.
#[test]
fn transfers_of_c4_start_when_their_request_has_arrived() {
    let mut read_any = false;
    for path in files().iter().filter(|path| name(path).starts_with("c4-")) {
        let setup = read(path, &[]).setup(1);
        let jitter = if name(path).contains("bad-wifi") { 14e-3 } else { 0.0 };
        let way: f64 = setup.links.iter().map(|link| link.delay.as_secs_f64()).sum();
        for flow in &setup.flows {
            let late = flow.start.as_secs_f64() - 1.5 * (way + flow.access_rtt.as_secs_f64() + jitter);
            let offset = [0.0, 0.5, 1.0].iter().any(|offset| (late - offset).abs() < 1e-9);
            assert!(offset, "{path:?}: {late} s after the request");
            read_any = true;
        }
    }
    assert!(read_any);
}
