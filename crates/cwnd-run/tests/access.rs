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
