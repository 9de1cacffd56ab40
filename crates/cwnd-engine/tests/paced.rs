//! A run that follows the clock is exported as a scenario that gives the same run.

use std::num::NonZeroUsize;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use cwnd_engine::{Ended, Frame, Host, Limits, Paced, Pulled, read, read_address};
use serde_json::{Value, json};

/// A host whose clock the test sets, and which keeps its frames.
struct Clocked {
    now: Mutex<Duration>,
    memory: u64,
    frames: Mutex<Vec<Frame>>,
}

impl Host for Clocked {
    fn send(&self, frame: &Frame) {
        let Frame { header, columns } = frame;
        lock(&self.frames).push(Frame { header: header.clone(), columns: columns.clone() });
    }

    fn wanted(&self) -> bool {
        true
    }

    fn now(&self) -> Duration {
        *lock(&self.now)
    }

    fn limits(&self) -> Limits {
        let (time, memory) = (Duration::from_secs(1), self.memory);
        Limits { threads: NonZeroUsize::MIN, memory, clocked_memory: memory, time, more_memory: " (nowhere)" }
    }
}

impl Clocked {
    fn new(memory: u64) -> Self {
        Self { now: Mutex::default(), memory, frames: Mutex::default() }
    }

    /// Advances `run` by some steps of ten milliseconds at ten times real time.
    fn follow(&self, run: &mut Paced, steps: u32) {
        for _ in 0..steps {
            *lock(&self.now) += Duration::from_millis(10);
            run.step(self, Pulled::default()).unwrap_or_else(|ended| panic!("{ended:?}"));
        }
    }

    fn pull(&self, run: &mut Paced, rate: &str) {
        let pulled = Pulled { rate: Some(rate.to_string()), ..Pulled::default() };
        run.step(self, pulled).unwrap_or_else(|ended| panic!("{ended:?}"));
    }

    /// The last header that tells how the run is exported.
    fn exported(&self) -> Value {
        let frames = lock(&self.frames);
        let found = frames.iter().rfind(|frame| frame.header["kind"] == "pulled");
        found.map(|frame| frame.header.clone()).unwrap_or_default()
    }

    /// All values of the column `name`.
    fn column(&self, name: &str) -> Vec<u32> {
        let frames = lock(&self.frames);
        let parts = frames.iter().filter(|frame| frame.header["kind"] == "more").map(|frame| {
            let names = frame.header["columns"].as_array().expect("names");
            let place = names.iter().position(|one| one == name).unwrap_or_else(|| panic!("{name} is in {names:?}"));
            frame.columns[place].iter().map(|value| value.to_bits())
        });
        parts.flatten().collect()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn document() -> Value {
    json!({
        "duration": "3s", "warmup": "1s", "seeds": 2, "dumbbell": { "rate": "8mbit", "rtt": "20ms", "queue": "red:60p" },
        "flow": [{ "algorithm": "reno" }, { "algorithm": "cubic" }],
    })
}

#[test]
fn the_export_is_there_from_the_start_and_is_the_scenario_that_was_asked_for() {
    let host = Clocked::new(1 << 26);
    Paced::new(&host, 7, &document(), 10.0).unwrap_or_else(|ended| panic!("{ended:?}"));
    let exported = host.exported();
    assert_eq!((&exported["id"], &exported["command"]), (&json!(7), &json!("cwnd run live.toml")));
    let read_back = read(exported["toml"].as_str().expect("text")).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(read_back, document());
    let linked = read_address(1, exported["address"].as_str().expect("text"));
    assert_eq!(linked.header["document"], document());
}

#[test]
fn a_pulled_rate_becomes_a_schedule_that_gives_the_same_run() {
    let host = Clocked::new(1 << 26);
    let mut run = Paced::new(&host, 1, &document(), 10.0).unwrap_or_else(|ended| panic!("{ended:?}"));
    host.follow(&mut run, 17);
    host.pull(&mut run, "2mbit");
    host.follow(&mut run, 28);
    host.pull(&mut run, "5mbit");
    host.follow(&mut run, 60);
    let exported = read(host.exported()["toml"].as_str().expect("text")).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(exported["dumbbell"]["schedule"]["steps"].as_array().map(Vec::len), Some(2));
    // The last change was after 4.5 s, so that three seconds would have ended before it.
    assert_eq!(exported["duration"], "15s");
    let again = Clocked::new(1 << 26);
    let mut repeated = Paced::new(&again, 1, &exported, 10.0).unwrap_or_else(|ended| panic!("{ended:?}"));
    again.follow(&mut repeated, 105);
    for name in ["t", "capacity", "queue", "0.window", "1.goodput"] {
        // A link with a schedule has no mean rate at the first instant.
        let (shown, repeated) = (host.column(name).split_off(1), again.column(name).split_off(1));
        assert!(shown.len() > 450 && shown.len() <= repeated.len(), "{} rows of {name}", shown.len());
        assert_eq!(shown, repeated[..shown.len()], "{name}");
    }
}

#[test]
fn a_run_without_memory_names_the_remedy_of_its_host() {
    let host = Clocked::new(1 << 16);
    let mut run = match Paced::new(&host, 1, &document(), 10.0) {
        Ok(run) => run,
        Err(ended) => panic!("{ended:?}"),
    };
    let ended = (0..1000).find_map(|_| {
        *lock(&host.now) += Duration::from_millis(10);
        run.step(&host, Pulled::default()).err()
    });
    assert!(matches!(&ended, Some(Ended::Failed(reason)) if reason.ends_with("(nowhere)")), "{ended:?}");
}
