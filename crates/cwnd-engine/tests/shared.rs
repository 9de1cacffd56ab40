//! A run whose seeds several engines share gives what one engine gives.

use std::num::NonZeroUsize;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use cwnd_engine::{Begun, Frame, Host, Limits, Prepared};
use serde_json::{Value, json};

/// Keeps the headers of its frames.
struct Kept {
    memory: u64,
    headers: Mutex<Vec<Value>>,
}

impl Host for Kept {
    fn send(&self, frame: &Frame) {
        self.headers.lock().unwrap_or_else(PoisonError::into_inner).push(frame.header.clone());
    }

    fn wanted(&self) -> bool {
        true
    }

    fn now(&self) -> Duration {
        Duration::ZERO
    }

    fn limits(&self) -> Limits {
        let (time, memory) = (Duration::from_secs(1), self.memory);
        Limits { threads: NonZeroUsize::MIN, memory, clocked_memory: memory, time, more_memory: "" }
    }
}

impl Kept {
    fn new(memory: u64) -> Self {
        Self { memory, headers: Mutex::default() }
    }

    fn of(&self, kind: &str) -> Vec<Value> {
        let headers = self.headers.lock().unwrap_or_else(PoisonError::into_inner);
        headers.iter().filter(|header| header["kind"] == kind).cloned().collect()
    }
}

fn prepared(apart: bool) -> Prepared {
    let document = json!({
        "duration": "4s", "warmup": "1s", "seeds": 5,
        "dumbbell": { "rate": "8mbit", "rtt": "20ms", "queue": "red:60p" },
        "flow": [{ "algorithm": "reno", "count": 2 }, { "algorithm": "cubic" }],
    });
    Prepared::of(&document, apart).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn the_measures_are_those_of_one_engine_in_any_order() {
    for apart in [false, true] {
        let alone = Kept::new(1 << 30);
        let mut begun = Begun::new(&alone, 7, prepared(apart));
        assert!(begun.first(&alone));
        begun.rest(&alone);

        let (page, other) = (Kept::new(1 << 30), Kept::new(1 << 30));
        let mut begun = Begun::new(&page, 7, prepared(apart));
        let mut helper = Begun::helping(7, prepared(apart));
        assert!(begun.first(&page));
        for nth in [4, 1, 3] {
            helper.seed(&other, nth, TWO);
        }
        begun.seed(&page, 2, TWO);
        assert!(page.of("complete").is_empty(), "some seeds are missing");
        for measured in other.of("measured") {
            let number = |key: &str| measured[key].as_u64().expect("a place") as usize;
            let values = measured["values"].as_str().expect("text");
            begun.join(&page, number("run"), number("nth"), values).expect("its own text");
        }
        assert_eq!(page.of("complete").len(), 1);
        for run in 0..if apart { 2 } else { 1 } {
            let last = |kept: &Kept| kept.of("measures").into_iter().rfind(|header| header["run"] == run);
            let (found, expected) = (last(&page).expect("measures"), last(&alone).expect("measures"));
            assert_eq!(found["seeds"], 5);
            assert!(found["measures"]["goodput_bps"]["ci95"].as_f64().is_some_and(|half| half > 0.0));
            assert_eq!(found, expected);
        }
        assert!(other.of("measures").is_empty(), "a helper has estimates of some seeds only");
    }
}

#[test]
fn one_engine_runs_what_the_others_did_not() {
    let page = Kept::new(1 << 30);
    let mut begun = Begun::new(&page, 7, prepared(false));
    assert!(begun.first(&page));
    begun.seed(&page, 3, TWO);
    begun.rest(&page);
    let seeds: Vec<Value> = page.of("measures").iter().map(|header| header["seeds"].clone()).collect();
    assert_eq!(seeds, [1, 2, 3, 4, 5]);
    assert_eq!(page.of("complete").len(), 1);
}

#[test]
fn engines_share_the_memory_of_a_run() {
    let host = Kept::new(1 << 30);
    let mut helper = Begun::helping(7, prepared(false));
    helper.seed(&host, 1, NonZeroUsize::new(1 << 20).expect("not zero"));
    assert!(host.of("measured").is_empty());
    let errors = host.of("error");
    assert_eq!(errors[0]["part"], true);
    assert!(
        errors.len() == 1 && errors[0]["message"].as_str().is_some_and(|text| text.contains("memory")),
        "{errors:?}"
    );
}

#[test]
fn what_is_no_measure_is_refused() {
    let page = Kept::new(1 << 30);
    let mut begun = Begun::new(&page, 7, prepared(false));
    assert!(begun.first(&page));
    assert!(begun.join(&page, 0, 1, "{}").is_err());
    assert_eq!(page.of("measures").len(), 1);
}

const TWO: NonZeroUsize = NonZeroUsize::MIN.saturating_add(1);
