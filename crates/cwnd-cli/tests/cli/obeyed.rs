//! Each flag of each command together with `--json`: the output stays JSON and differs, or the flag has written a file, or a warning
//! or a refusal names it.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::scope;

use cwnd_terminal::testing::{commands, with};

use super::flags::place;
use super::{CommandResult, Cwnd, SHORT};

/// Commands that print a document, and arguments with which they end soon.
const COMMANDS: [(&str, &[&str]); 11] = [
    ("algorithms", &["reno"]),
    (
        "compare",
        &[
            "reno",
            "--duration",
            "300ms",
            "--warmup",
            "100ms",
            "--seeds",
            "1",
            "--rate",
            "10mbit",
            "--queue",
            "droptail:20p",
        ],
    ),
    ("compare", &["reno", "--duration", "300ms", "--warmup", "100ms", "--seeds", "1", "--aggregate", "2ms"]),
    ("conform", &["reno", "--check", "9438-beta", "--seeds", "1"]),
    ("conform", &["--list"]),
    ("model convergence", &["reno"]),
    ("model response", &["udt:capacity=1gbit", "reno"]),
    ("model rounds", &["simd", "--rounds", "2000", "--loss", "1e-5"]),
    ("model udt", &[]),
    ("run", &["short.toml"]),
    ("sweep", &["sweep.toml", "--no-store"]),
];

/// Commands whose documents say how fast this host is, or take long.
const OTHERS: [&str; 9] =
    ["bench sim", "doctor", "evaluate", "falsify", "overlay", "paper", "sweep status", "trace diff", "trace reference"];

/// The value for each flag; none for those without a value. One with a space is for that command.
const VALUES: [(&str, &str); 77] = [
    ("--duplex", "half:access=1ms"),
    ("--step", "150ms loss=0.3"),
    ("--corrupt", "0.02"),
    ("--duplicate", "0.02"),
    ("--bleach-ecn", ""),
    ("--mangle-ecn", "ce"),
    ("--allow-unclear", ""),
    ("--by", "loss_rate"),
    ("--min-checks", "1"),
    ("--card", ""),
    ("--json", ""),
    ("--list", ""),
    ("--law", "cubic"),
    ("--all", ""),
    ("--paired", ""),
    ("run --check", ""),
    ("sweep --check", ""),
    ("--no-store", ""),
    ("--check", "9438-concave"),
    ("--set", "seeds=1"),
    ("--seeds", "3"),
    ("--rate", "7mbit"),
    ("--rate-step", "150ms:2mbit"),
    ("--rtt", "30ms"),
    ("--queue", "droptail:9p"),
    ("--loss", "0.02"),
    ("--jitter", "3ms"),
    ("--reorder", "0.05:3ms"),
    ("--policer", "8mbit,burst=9kB"),
    ("--shaper", "8mbit,burst=9kB"),
    ("--aggregate", "4ms"),
    ("--thin-acks", "2"),
    ("--trace", "test.trace"),
    ("run --trace", "flent"),
    ("--outage", "120ms..150ms"),
    ("--ecn", "latch"),
    ("--flows", "3"),
    ("--versus", "cubic"),
    ("--recovery", "reno"),
    ("--host", "fq"),
    ("--slow-start", "limited:4"),
    ("--era", "ns2-2001"),
    ("--duration", "250ms"),
    ("--warmup", "50ms"),
    ("--until", "ci<99%"),
    ("--max-seeds", "4"),
    ("--out", "results"),
    ("--suite", "rfc9438"),
    ("--junit", "junit.xml"),
    ("--html", "page.html"),
    ("--baseline", "known.txt"),
    ("--write-baseline", "deviates.txt"),
    ("--capacity", "150"),
    ("model udt --capacity", "2gbit"),
    ("--start", "20,30"),
    ("--epsilon", "2"),
    ("--flow-rtt", "50ms,100ms"),
    ("--events", "3"),
    ("--rounds", "30"),
    ("--steps", "8"),
    ("--decrease-rounds", "1"),
    ("--seed", "2"),
    ("--packet", "500B"),
    ("--random", "1"),
    ("--delays", "20ms"),
    ("--shard", "1/2"),
    ("--chunk", "1s"),
    ("--format", "jsonl"),
    ("--store", "cells"),
    ("--scheduler", "nowhere"),
    ("--memory", "4GB"),
    ("--figure", "figure.svg"),
    ("--plot", "window-1"),
    ("--width", "7cm"),
    ("--height", "5cm"),
    ("--font", "DejaVu Sans"),
    ("--font-size", "9pt"),
];

/// A flag that leaves the document as it is, and why.
const SAME: [(&str, &str, &str); 10] = [
    ("conform", "--allow-unclear", "decides how the command ends"),
    ("conform", "--min-checks", "decides how the command ends"),
    ("", "--memory", "bounds runs, and none of these comes near"),
    ("", "--json", "is given anyway"),
    ("conform", "--suite", "the check is of that document"),
    ("conform", "--list", "is given anyway"),
    ("conform", "--baseline", "decides how the command ends"),
    ("sweep", "--no-store", "is given anyway"),
    ("sweep", "--scheduler", "has another program do it"),
    ("sweep", "--shard", "the one chunk is of the first shard"),
];

struct Case {
    command: &'static str,
    given: &'static [&'static str],
    flag: String,
    value: &'static str,
}

impl Case {
    fn arguments(&self) -> Vec<String> {
        let mut arguments = with(self.command, self.given, &self.flag, self.value);
        if self.value.is_empty() {
            let flag = arguments.iter_mut().find(|word| word.starts_with(&format!("{}=", self.flag)));
            flag.expect("it is there").pop();
        }
        if self.flag != "--json" {
            arguments.push("--json".to_string());
        }
        arguments
    }

    /// The fault, if any.
    fn fault(&self) -> Option<String> {
        let (command, flag) = (self.command, &self.flag);
        let run = |arguments: &[String]| {
            let cwnd = place();
            cwnd.file("known.txt", "");
            cwnd.file("test.trace", &(0..300).map(|at| format!("{at}\n")).collect::<String>());
            let result = cwnd.run(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
            (cwnd, result)
        };
        let arguments = self.arguments();
        let (cwnd, CommandResult { code, out, err }) = run(&arguments);
        if code == Some(2) {
            let named = err.contains(flag.as_str());
            return (!named).then(|| format!("{arguments:?} is refused without naming {flag}: {err}"));
        }
        let document: serde_json::Value = match serde_json::from_str(&out) {
            Ok(document) => document,
            Err(error) => return Some(format!("{arguments:?}: no JSON, {error}: {err}\n{out}")),
        };
        let named =
            |warning: &serde_json::Value| warning.as_str().is_some_and(|text| text.contains(&format!("{flag} ")));
        let warned = document["warnings"].as_array().is_some_and(|warnings| warnings.iter().any(named));
        let written = !self.value.is_empty()
            && cwnd.path().join(self.value).exists()
            && flag != "--baseline"
            && flag != "--trace";
        let same = SAME.iter().any(|(of, one, _)| (of.is_empty() || *of == command) && one == flag);
        if warned || written || same {
            return None;
        }
        let plain: Vec<String> =
            command.split(' ').chain(self.given.iter().copied()).chain(["--json"]).map(str::to_string).collect();
        (run(&plain).1.out == out).then(|| format!("{arguments:?}: {flag} changes nothing, and nothing says so"))
    }
}

#[test]
fn a_flag_that_is_accepted_is_obeyed() {
    let all = commands(&Cwnd::new(), "");
    let documented = all.iter().filter(|(_, flags)| flags.iter().any(|flag| flag == "--json"));
    for (command, _) in documented {
        let known = COMMANDS.iter().any(|(one, _)| one == command) || OTHERS.contains(&command.as_str());
        assert!(known, "how does `cwnd {command} --json` end soon?");
    }
    let mut cases = Vec::new();
    for (command, given) in COMMANDS {
        let flags = all.iter().find(|(one, _)| one == command).map(|(_, flags)| flags.as_slice()).unwrap_or_default();
        for flag in flags {
            let own = format!("{command} {flag}");
            let value = VALUES.iter().find(|(one, _)| *one == own).or(VALUES.iter().find(|(one, _)| one == flag));
            let (_, value) = value.unwrap_or_else(|| panic!("{own}: what is a value of it? Add one to VALUES"));
            cases.push(Case { command, given, flag: flag.clone(), value });
        }
    }
    assert!(cases.len() > 100, "{}", cases.len());
    let (next, faults) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    scope(|threads| {
        for _ in 0..2 {
            threads.spawn(|| {
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let fault = case.fault();
                    faults.lock().expect("no thread panics").extend(fault);
                }
            });
        }
    });
    assert_eq!(faults.into_inner().expect("no thread panics"), [""; 0]);
}

#[test]
fn suites_say_how_many_checks_applied_and_fewer_than_demanded_fail() {
    let cwnd = Cwnd::new();
    let arguments = ["conform", "reno", "--check", "9438-beta", "--check", "5681-initial", "--seeds", "1"];
    let text = cwnd.succeed(&arguments);
    assert!(text.contains("rfc5681: 1 of 1 check applied\nrfc9438: 0 of 1 check applied"), "{text}");
    let suites = ["--suite", "rfc9438", "--suite", "rfc5681", "--min-checks", "1"];
    let few = cwnd.run(&arguments.into_iter().chain(suites).collect::<Vec<_>>());
    assert_eq!(few.code, Some(1));
    assert!(few.err.contains("rfc9438: 0 of 1 check applied to reno; at least 1 must"), "{}", few.err);
}

#[test]
fn a_suite_of_which_nothing_applies_fails() {
    let none = Cwnd::new().run(&["conform", "reno", "--suite", "rfc9406", "--seeds", "1"]);
    assert_eq!(none.code, Some(1));
    assert!(none.err.contains("rfc9406: 0 of 9 checks applied to reno; at least 1 must"), "{}", none.err);
}

#[test]
fn a_file_has_one_option() {
    let cwnd = Cwnd::new();
    cwnd.file("known", "# none\n");
    let files = [("--baseline", "known"), ("--junit", "./known"), ("--html", "known"), ("--write-baseline", "known")];
    for (nth, (second, path)) in files.into_iter().enumerate() {
        for (first, other) in &files[..nth] {
            let judge = ["conform", "reno", "--check", "5681-halve", "--seeds", "1", first, other, second, path];
            let judged = cwnd.run(&judge);
            if (*first, second) == ("--baseline", "--write-baseline") {
                assert_eq!(judged.code, Some(0), "{}", judged.err);
                continue;
            }
            assert_eq!((judged.code, judged.out.as_str()), (Some(2), ""), "{first} {second}");
            let fault = format!("{second}: {path}: {first} names this file too");
            assert!(judged.err.contains(&fault), "{}", judged.err);
        }
    }
}

#[test]
fn the_list_of_checks_is_a_document() {
    let cwnd = Cwnd::new();
    let list = |more: &[&str]| -> serde_json::Value {
        let arguments: Vec<&str> = ["conform", "--list", "--json"].into_iter().chain(more.iter().copied()).collect();
        serde_json::from_str(&cwnd.succeed(&arguments)).expect("JSON")
    };
    let all = list(&[]);
    let checks = all.as_array().expect("a list");
    let text = cwnd.succeed(&["conform", "--list"]);
    assert!(checks.len() > 50 && checks.iter().all(|check| text.contains(check["id"].as_str().expect("an id"))));
    let of_suite = list(&["--suite", "rfc9438"]);
    assert!(
        of_suite
            .as_array()
            .is_some_and(|some| some.len() < checks.len() && some.iter().all(|one| one["suite"] == "rfc9438"))
    );
    let none = cwnd.run(&["conform", "--list", "--suite", "rfc9002", "--check", "9438-beta"]);
    assert_eq!((none.code, none.out.as_str()), (Some(2), ""));
}

/// Options without effect, as they were typed.
#[test]
fn options_that_change_nothing_are_named_as_typed() {
    let cwnd = Cwnd::new();
    let short = ["--duration", "1s", "--warmup", "200ms", "--seeds", "1", "--rate", "10mbit", "--json"];
    let warnings = |more: &[&str]| {
        let arguments: Vec<&str> = ["compare"].iter().chain(more).chain(&short).copied().collect();
        let document: serde_json::Value = serde_json::from_str(&cwnd.succeed(&arguments)).expect("JSON");
        document["warnings"]
            .as_array()
            .expect("a list")
            .iter()
            .map(|one| one.as_str().expect("text").to_string())
            .collect::<Vec<_>>()
    };
    assert_eq!(warnings(&["reno", "cubic"]), [""; 0]);
    assert_eq!(
        warnings(&["reno", "cubic", "--queue", "red:1bdp,ecn=yes"]),
        [
            "--queue red:1bdp,ecn=yes: `ecn=yes` has no effect: no flow that crosses it is ECN-capable: set `--ecn` to `latch`, `per-packet`, `accecn` or `counts`"
        ]
    );
    assert_eq!(
        warnings(&["reno", "cubic", "--ecn", "latch"]),
        [
            "--ecn latch has no effect: no queue on its path marks packets: take one with `ecn=yes`, such as `red:1bdp,ecn=yes`"
        ]
    );
    // Reno has `counts`, the classic variant, instead.
    assert_eq!(
        warnings(&["reno", "--ecn", "counts-l4s"]),
        [
            "reno: --ecn counts-l4s has no effect: no queue on its path marks packets: take one with `ecn=yes`, such as `red:1bdp,ecn=yes`"
        ]
    );
    assert_eq!(
        warnings(&["reno", "udt", "--slow-start", "hystart++"]),
        ["udt: --slow-start hystart++ has no effect: `udt` runs over the protocol of UDT"]
    );
    assert_eq!(warnings(&["reno", "--queue", "red:1bdp,ecn=yes", "--ecn", "latch"]), [""; 0]);
    assert_eq!(
        warnings(&["bbr", "--queue", "red:1bdp,ecn=yes", "--ecn", "latch"]),
        ["bbr: --ecn latch has no effect: senders of `bbr` do not answer marks"]
    );
    assert_eq!(
        warnings(&["udt:lambda=0.5"]),
        [
            "udt:lambda=0.5: `lambda=0.5` has no effect: the other parameters leave it out (share of the old window in eq. 21 (not udt4))"
        ]
    );
    assert_eq!(
        warnings(&["vegas", "--slow-start", "limited:20"]),
        ["vegas: --slow-start limited:20 has no effect: `vegas` grows in slow start by a rule of its own"]
    );
    assert_eq!(warnings(&["reno", "--slow-start", "limited:20"]), [""; 0]);
    let limited = warnings(&["reno", "--slow-start", "limited:100000"]);
    let beyond = "reno: `limited:100000` of reno has no effect: its largest window was ";
    assert!(limited.len() == 1 && limited[0].starts_with(beyond), "{limited:?}");
    assert_eq!(
        warnings(&["reno", "--jitter", "1ns"]),
        ["reno: --jitter 1ns has no effect: packets wait for whole nanoseconds, and less than this"]
    );
    assert_eq!(
        warnings(&["reno", "--reorder", "0:15ms"]),
        ["reno: --reorder 0:15ms has no effect: no packet is held back"]
    );
    let rio = warnings(&["reno", "--queue", "rio:1bdp,ecn=yes", "--ecn", "latch"]);
    assert!(!rio.iter().any(|warning| warning.contains("in_")), "{rio:?}");
    let until = warnings(&["reno", "--until", "ci<0.001%", "--max-seeds", "3", "--loss", "0.01"]);
    assert!(
        until.iter().any(|warning| warning.starts_with("reno: `ci<0.001%` was not reached with 3 seeds")),
        "{until:?}"
    );
    for (line, warning) in [
        (
            "model response reno:ecn_beta=0.8",
            "warning: reno:ecn_beta=0.8: `ecn_beta=0.8` has no effect: the closed form does not depend on it",
        ),
        (
            "conform udt:lambda=1/2 --check 9438-beta --seeds 1",
            "udt:lambda=1/2: `lambda=1/2` has no effect: the other parameters leave it out",
        ),
        (
            "conform reno reno --check 5681-initial --seeds 1",
            "warning: `reno` has no effect: it is named before, and judged once",
        ),
        (
            "algorithms reno:ecn_beta=0.8 --card",
            "warning: reno:ecn_beta=0.8: `ecn_beta=0.8` has no effect: nothing is marked",
        ),
        (
            "algorithms udt:initial_rate=3mbit",
            "warning: udt:initial_rate=3mbit: `initial_rate=3mbit` has no effect: the other parameters leave it out",
        ),
        (
            "model convergence reno:ecn_beta=0.8",
            "warning: reno:ecn_beta=0.8: `ecn_beta=0.8` has no effect: the closed form does not depend on it",
        ),
        (
            "model rounds reno:ecn_beta=0.8",
            "warning: reno:ecn_beta=0.8: `ecn_beta=0.8` has no effect: nothing is marked",
        ),
        ("model response reno --memory 1GB", "warning: --memory has no effect on this command"),
    ] {
        let result = cwnd.run(&line.split(' ').collect::<Vec<_>>());
        let said = result.err + &result.out;
        assert!(result.code.is_some_and(|code| code < 2) && said.contains(warning), "{line}: {said}");
    }
    for (more, error) in [
        (&["--trace", "x"][..], "error: the argument '--rate <RATE>' cannot be used with '--trace <FILE>'"),
        (
            &["--policer", "10mbit,burst=100B"],
            "error: --policer: cannot be 10mbit,burst=100B: accepted is a burst of at least 1500B",
        ),
        (
            &["--outage", "100ms..200ms", "--shaper", "9mbit,burst=9kB"],
            "error: --shaper: cannot be 9mbit,burst=9kB with rates that change (`schedule`, `--outage`) or a `--trace`",
        ),
    ] {
        let arguments: Vec<&str> = ["compare", "reno"].iter().chain(&short).chain(more).copied().collect();
        let result = cwnd.run(&arguments);
        assert!(result.code == Some(2) && result.err.starts_with(error), "{arguments:?}: {}", result.err);
    }
    let file = cwnd.file("idle.toml", &SHORT.replace("[dumbbell]", "[dumbbell]\nqueue = \"codel:100p,ecn=yes\""));
    let checked = cwnd.run(&["run", &file, "--check"]);
    assert!(
        checked.err.starts_with("warning: idle.toml:6: dumbbell.queue = codel:100p,ecn=yes: `ecn=yes` has no effect"),
        "{}",
        checked.err
    );
}

#[test]
fn options_that_would_be_ignored_are_refused() {
    let cwnd = place();
    for (line, error) in [
        ("compare reno --paired", "--paired: there is nothing to take differences of with one algorithm"),
        ("run short.toml --seeds 2 --set seeds=3", "--seeds: `--set seeds=3` sets the same"),
        (
            "run short.toml --set dumbbell.rate=2mbit --set dumbbell.rate=3mbit",
            "--set dumbbell.rate=3mbit: `dumbbell.rate=2mbit` is given too, which would be lost",
        ),
        (
            "conform bbr3+hystart++",
            "bbr3+hystart++: `bbr3` starts in a way of its own, which `+hystart++` would not change",
        ),
        ("paper --no-store", "--no-store: nothing is run without a PAPER, --quick, --full or --check"),
        ("sweep sweep.toml --json --chunk 1s", "--chunk is about files: with --json, name their directory with --out"),
        ("compare reno cubic --paired --json", "the argument '--paired' cannot be used with '--json'"),
    ] {
        let result = cwnd.run(&line.split(' ').collect::<Vec<_>>());
        let named = result.err.starts_with(&format!("error: {error}"));
        assert!(result.code == Some(2) && named, "{line}: {}", result.err);
    }
}
