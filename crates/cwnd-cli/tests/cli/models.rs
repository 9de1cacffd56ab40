//! Each flag of each model with each kind of algorithm: the numbers change, a warning names the flag, or it is refused.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::scope;

use serde_json::Value;

use super::{CommandResult, Cwnd};
use cwnd_terminal::testing::{commands, with};

/// Models of algorithms, and what else is given so that there is something for flags to change.
const MODELS: [(&str, &[&str]); 3] =
    [("model convergence", &[]), ("model response", &[]), ("model rounds", &["--rounds", "2000", "--loss", "1e-5"])];

/// One of each kind: a window with a closed form, one by the clock, one without a closed form, curves, rates with and without a receiver and
/// with bounds of their own, a rule of marks, of delay, of routers, of datagrams, and one that grows without losses.
const KINDS: [&str; 14] = [
    "reno",
    "cubic",
    "htcp",
    "new-aimd",
    "simd",
    "udt",
    "udt:profile=paper",
    "daimd",
    "sabul:least_rate=100kbit",
    "rap",
    "dctcp",
    "vegas",
    "tfrc",
    "miad",
];

/// Values of flags.
const VALUES: [(&str, &str); 13] = [
    ("--capacity", "150"),
    ("--start", "20,30"),
    ("--epsilon", "40"),
    ("--rtt", "30ms"),
    ("--flow-rtt", "50ms,100ms"),
    ("--events", "3"),
    ("--rounds", "5"),
    ("--steps", "3"),
    ("--decrease-rounds", "1"),
    ("--loss", "0.02"),
    ("--seed", "2"),
    ("--packet", "500B"),
    ("--random", "1"),
];

/// Flags whose effect is not in the numbers.
const OTHER: [&str; 8] = ["--json", "--out", "--figure", "--plot", "--width", "--height", "--font", "--font-size"];

/// Flags that leave the numbers unchanged, and why.
const SAME: [(&str, &str, &str); 5] = [
    ("reno", "--steps", "a straight line needs no fine steps"),
    ("new-aimd", "--steps", "a straight line needs no fine steps"),
    ("simd", "--epsilon", "its flows are equal when they first meet the capacity"),
    ("miad", "--epsilon", "its flows never come near each other"),
    ("miad", "--random", "the column says that it is not defined: it outgrows all losses"),
];

/// The numbers of a document and the printed messages.
fn numbers(cwnd: &Cwnd, arguments: &[String]) -> Result<(Value, String), CommandResult> {
    let result = cwnd.run(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
    if result.code != Some(0) {
        return Err(result);
    }
    let document: Value = serde_json::from_str(&result.out).expect("JSON");
    Ok((Value::Array(vec![document["rows"].clone(), document["ends"].clone()]), result.err))
}

/// The fault of a flag, if any.
fn fault(command: &str, given: &[&str], kind: &str, flag: &str, value: &str) -> Option<String> {
    let cwnd = Cwnd::new();
    let given: Vec<&str> = [kind, "--json"].into_iter().chain(given.iter().copied()).collect();
    let plain: Vec<String> = command.split(' ').chain(given.iter().copied()).map(str::to_string).collect();
    let arguments = with(command, &given, flag, value);
    let Ok((before, _)) = numbers(&cwnd, &plain) else { return None };
    match numbers(&cwnd, &arguments) {
        Err(CommandResult { err, .. }) if err.contains(flag) => None,
        Err(CommandResult { err, .. }) => Some(format!("{arguments:?} is refused without naming {flag}: {err}")),
        Ok((after, said)) if after == before && !said.contains(&format!("{flag} ")) => {
            Some(format!("{arguments:?}: {flag} changes nothing, and nothing says so"))
        }
        Ok(_) => None,
    }
}

#[test]
fn each_flag_of_a_model_is_obeyed_for_each_kind_of_algorithm() {
    let all = commands(&Cwnd::new(), "model");
    let mut cases = Vec::new();
    for (command, given) in MODELS {
        let (_, flags) = all.iter().find(|(one, _)| one == command).unwrap_or_else(|| panic!("no `{command}`"));
        for flag in flags.iter().filter(|flag| !OTHER.contains(&flag.as_str())) {
            let value = VALUES.iter().find(|(one, _)| one == flag);
            let (_, value) = value.unwrap_or_else(|| panic!("{flag}: what is a value of it? Add one to VALUES"));
            let own = |kind: &&str| !SAME.iter().any(|(of, one, _)| kind.split(':').next() == Some(of) && one == flag);
            cases.extend(KINDS.into_iter().filter(own).map(|kind| (command, given, kind, flag.as_str(), *value)));
        }
    }
    assert!(cases.len() > 200, "{}", cases.len());
    let (next, faults) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    scope(|threads| {
        for _ in 0..2 {
            threads.spawn(|| {
                while let Some((command, given, kind, flag, value)) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    faults.lock().expect("no panic").extend(fault(command, given, kind, flag, value));
                }
            });
        }
    });
    assert_eq!(faults.into_inner().expect("no panic"), [""; 0]);
}

/// The windows of `--start` are those that the flows have: Jain's index of the first congestion shows them.
#[test]
fn a_start_reaches_rules_that_set_a_rate() {
    let cwnd = Cwnd::new();
    for kind in ["udt", "udt:profile=paper", "daimd", "rap", "sabul:least_rate=100kbit"] {
        let first = |start: &str| -> f64 {
            let walk = ["model", "rounds", kind, "--events", "1", "--json", "--start", start];
            let document: Value = serde_json::from_str(&cwnd.succeed(&walk)).expect("JSON");
            let before = document["rows"][0]["before_packets"].as_array().expect("flows").clone();
            let [one, other] = [0, 1].map(|flow| before[flow].as_f64().expect("packets"));
            other - one
        };
        // All grow by as much, or by less where they are faster: the gap does not close before the first congestion.
        assert!(first("30,30").abs() < 1e-9, "{kind}");
        assert!(first("10,40") > 20.0, "{kind}: {}", first("10,40"));
    }
    let refused = cwnd.run(&["model", "rounds", "sabul"]);
    let expected =
        "error: --start: `sabul` cannot start from 10 packets in a round trip of 100 ms: its rule has 100 packets";
    assert!(refused.code == Some(2) && refused.err.starts_with(expected), "{}", refused.err);
    let refused = cwnd.run(&["algorithms", "sabul", "--card"]);
    assert!(refused.code == Some(2) && refused.err.contains("cannot start from 10 packets"), "{}", refused.err);
}

/// Work that would run for years is refused or ends, and an empty table states why it is empty.
#[test]
fn models_are_bounded_and_say_how_they_ended() {
    let cwnd = Cwnd::new();
    let refused = cwnd.run(&["model", "response", "reno", "--random", "2", "--loss", "1e-12"]);
    let expected = "error: --random, --loss: random loss takes 3000 losses for each algorithm, probability and seed, together 6.0e15 packets";
    assert!(refused.code == Some(2) && refused.err.starts_with(expected), "{}", refused.err);
    let ended = |more: &[&str]| {
        let arguments: Vec<&str> = ["model", "rounds", "reno"].iter().chain(more).copied().collect();
        cwnd.succeed(&arguments).lines().last().unwrap_or_default().to_string()
    };
    let never = "reno: ended after 20 round trips (--rounds): its flows never had 100 packets in the network together";
    assert_eq!(ended(&["--rounds", "20"]), never);
    let lossy = ended(&["--rounds", "20", "--loss", "0.5"]);
    assert!(lossy.ends_with("losses of single flows (--loss) kept the sum below 100 packets"), "{lossy}");
    let few = "reno: ended after 60 round trips (--rounds): 2 of 8 times of common congestion (--events)";
    assert_eq!(ended(&["--rounds", "60"]), few);
}

/// Losses of single flows alone are numbers too: a flag on which they depend is not called idle.
#[test]
fn a_flag_that_changes_random_losses_alone_is_not_idle() {
    let cwnd = Cwnd::new();
    for (algorithm, flag, value) in [("reno", "--seed", "2"), ("rule:grow=age/w", "--rtt", "20ms")] {
        let fixed = ["--loss", "1e-2", "--rounds", "500"];
        let run = cwnd.run(&[&["model", "rounds", algorithm, flag, value][..], &fixed].concat());
        assert!(!run.err.contains(&format!("{flag} has no effect")), "{}", run.err);
    }
}
