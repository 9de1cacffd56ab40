//! Every setting of a scenario with every other: each changes the run, is warned of, or is refused.
//!
//! The settings come from the schema, so that a new key is tried without being added here. A key whose values are not in the schema has
//! a sample below, and one without a sample fails.

use std::collections::BTreeMap;

use cwnd_run::run::run;
use cwnd_run::scenario::{Document, Scenario, schema};
use serde_json::{Value, json};

/// A key of the schema with a value to try.
#[derive(Clone, Debug, PartialEq)]
struct Setting {
    /// Dotted, with 0 for the element of a list.
    key: String,
    value: Value,
}

/// What came of a document.
#[derive(Clone)]
enum Outcome {
    Refused,
    Ran { trace: String, digest: u64, warnings: Vec<String> },
}

/// How a setting showed next to others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Shown {
    Changed,
    Warned,
    Refused,
    Silent,
}

/// Values for the keys that end so, where the schema has no examples or such as do nothing in a third of a second.
const SAMPLES: &[(&str, &[&str])] = &[
    (
        ".algorithm",
        &["\"cubic\"", "\"udt\"", "\"udt:profile=ns2-2.0\"", "\"bbr3\"", "\"tfrc\"", "\"decbit\"", "\"dctcp\""],
    ),
    ("start", &["\"40ms\""]),
    (".stop", &["\"150ms\"", "\"300ms\"", "\"1s\""]),
    (".on.0", &["\"20ms..150ms\"", "\"0s..300ms\"", "\"0s..\""]),
    (".outage.0", &["\"100ms..130ms\"", "\"300ms..400ms\"", "\"1s..2s\""]),
    ("delayed_ack", &["\"0s\""]),
    ("ack_aggregation", &["\"5ms\""]),
    ("flow.0.wake", &["\"5ms\""]),
    ("flow.0.timer", &["\"50ms\""]),
    ("handshake", &["1", "0"]),
    ("extra_rtt", &["\"15ms\""]),
    ("rtt_spread", &["\"15ms\"", "\"0s\""]),
    ("web.think", &["\"20ms\""]),
    ("web.pages", &["1.5", "1"]),
    ("web.objects", &["2"]),
    ("steps.0.at", &["\"90ms\"", "\"1s\""]),
    ("steps.0.rate", &["\"7mbit\"", "\"20mbit\""]),
    ("steps.0.extra_delay", &["\"3ms\"", "\"0s\""]),
    ("schedule.repeat", &["\"130ms\"", "\"1s\""]),
    ("impairments.aggregate", &["\"4ms\"", "\"0s\""]),
    ("impairments.jitter", &["\"3ms\"", "\"0s\""]),
    ("impairments.reorder", &["\"0.05:3ms\"", "\"0.05:3p\"", "\"0.1:0s\""]),
    ("impairments.policer", &["\"14mbit,burst=30kB\"", "\"9mbit,burst=100B\""]),
    ("reverse_impairments.policer", &["\"20kbit,burst=100B\""]),
    (
        "impairments.shaper",
        &["\"16mbit,burst=9kB\"", "\"20mbit,burst=9kB\"", "\"99mbit,burst=100B\"", "\"19mbit,burst=90kB\""],
    ),
    ("impairments.thin_acks", &["2"]),
    ("impairments.corrupt", &["0.05", "0.0"]),
    ("impairments.duplicate", &["0.05", "0.0"]),
    ("impairments.bleach_ecn", &["true"]),
    ("impairments.mangle_ecn", &["\"ect0\"", "\"ect1\"", "\"ce\""]),
    ("steps.0.loss", &["0.05", "0"]),
    ("steps.0.jitter", &["\"3ms\"", "\"wifi:7ms\"", "\"0s\""]),
    ("steps.0.reorder", &["\"0.05:3ms\"", "\"none\""]),
    ("steps.0.policer", &["\"9mbit,burst=30kB\"", "\"none\""]),
    ("steps.0.aggregate", &["\"4ms\"", "\"none\""]),
    ("steps.0.thin_acks", &["2", "1"]),
    ("steps.0.corrupt", &["0.05", "0.0"]),
    ("steps.0.duplicate", &["0.05", "0.0"]),
    ("steps.0.bleach_ecn", &["true", "false"]),
    ("steps.0.mangle_ecn", &["\"ce\"", "\"none\""]),
    ("steps.0.queue", &["\"droptail:4p\""]),
    ("steps.0.over", &["\"10ms\""]),
    ("flow.0.drop", &["\"data:20 ack:5\""]),
    ("flow.0.mark", &["\"data:20\""]),
    ("flow.0.hold", &["\"data:20=15ms\""]),
    (
        "loss",
        &[
            "0.01",
            "\"periodic:90\"",
            "\"gilbert:to_bad=0.006,to_good=0.3\"",
            "\"gilbert:to_bad=0,to_good=0.3\"",
            "\"gilbert:to_bad=0.1,to_good=0.3,loss_bad=0\"",
        ],
    ),
    (".queue", &QUEUES),
    ("reverse_queue", &QUEUES),
    ("dumbbell.rate", &["\"17mbit\""]),
    ("reverse_rate", &["\"3mbit\""]),
    ("duplex", &["\"half\"", "\"half:access=300us,burst=4\""]),
    ("lot.rate", &["\"17mbit\""]),
    ("link.0.rate", &["\"17mbit\""]),
    ("rtt", &["\"30ms\""]),
    ("link.0.delay", &["\"4ms\""]),
    ("trace", &["\"test.trace\""]),
    ("duration", &["\"250ms\""]),
    ("warmup", &["\"100ms\""]),
    ("first_seed", &["7"]),
    ("seeds", &["2"]),
    ("sampling", &["\"20ms\"", "\"off\""]),
    ("title", &["\"a title\""]),
    ("variation.rtt", &["0.1"]),
    ("variation.jitter", &["0.5"]),
    ("packet", &["\"1600B\""]),
    ("payload", &["\"900B\""]),
    ("ack", &["\"60B\""]),
    (".count", &["2"]),
    ("name", &["\"named\""]),
    (".from", &["\"c\"", "\"r1\""]),
    (".to", &["\"c\"", "\"r1\""]),
    ("src_host", &["\"home\""]),
    ("dst_host", &["\"home\""]),
    (".via.0", &["\"other\""]),
    (".via_back.0", &["\"other back\""]),
    ("flow.0.size", &["\"300p\""]),
    ("flow.0.source", &["\"square:30mbit,2mbit,step=60ms\"", "\"cbr:30mbit\""]),
    ("max_window", &["60", "9000"]),
    ("paced", &["true"]),
    ("slow_start", &["\"limited:12\"", "\"limited:900\"", "\"hystart++\""]),
    ("rate_limited", &["\"draft-11\""]),
    ("resume", &["\"300kB,20ms\"", "\"3kB,20ms\""]),
    ("host", &["\"tso,gro=2ms\"", "\"fq\"", "\"whole\"", "\"min_rto=1ms\"", "\"min_rto=200ms\"", "\"autotune=140kB\""]),
    ("both_ways", &["false"]),
    ("hops", &["2"]),
    ("cbr.0.rate", &["\"cbr:3mbit\"", "\"square:3mbit,1mbit,step=50ms\""]),
    ("arrivals.0.gap", &["\"6ms\""]),
    ("arrivals.0.load", &["0.3"]),
    ("arrivals.0.limit", &["1"]),
    ("arrivals.0.size", &["\"25p\"", "\"pareto:30p,shape=1.5\""]),
];

const QUEUES: [&str; 13] = [
    "\"droptail:9p\"",
    "\"red:20p,ecn=yes\"",
    "\"red:20p,mark_limit=0.1\"",
    "\"rio:30p,in_max=30p\"",
    "\"rio:30p,out_max=12p\"",
    "\"drr:12p\"",
    "\"codel:20p,target=1ms,interval=10ms,ecn=yes\"",
    "\"fq_codel:20p\"",
    "\"fq_codel:20p,ecn=yes\"",
    "\"cake:20p\"",
    "\"pie:20p,target=1ms,update=1ms,burst=0s,ecn=yes,mark_limit=1\"",
    "\"pie:20p,target=1ms,burst=0s,mark_limit=0.5\"",
    "\"xcp:20p\"",
];

/// Paths of a few hundred packets, with losses.
const BASES: [(&str, &str); 4] = [
    (
        "a flow",
        r#"{
        "duration": "300ms", "warmup": "50ms", "seeds": 1, "sampling": "50ms",
        "dumbbell": {"rate": "20mbit", "rtt": "10ms", "queue": "droptail:25p"},
        "flow": [{"algorithm": "reno"}]
    }"#,
    ),
    (
        "traffic both ways",
        r#"{
        "duration": "300ms", "warmup": "50ms", "seeds": 1, "sampling": "50ms",
        "dumbbell": {
            "rate": "20mbit", "rtt": "20ms", "queue": "droptail:15p",
            "schedule": {"steps": [{"at": "110ms", "rate": "15mbit", "extra_delay": "2ms"}]},
            "impairments": {"aggregate": "2ms"}, "reverse_impairments": {"aggregate": "2ms"}
        },
        "flow": [{"algorithm": "reno"}, {"algorithm": "cubic", "direction": "reverse"}],
        "cbr": [{"rate": "cbr:2mbit"}],
        "arrivals": [{"algorithm": "reno", "size": "12p", "gap": "9ms", "web": {"pages": 4, "objects": 1, "think": "5ms"}}]
    }"#,
    ),
    (
        "a row",
        r#"{
        "duration": "300ms", "warmup": "50ms", "seeds": 1, "sampling": "50ms",
        "parking_lot": {"hops": 3, "rate": "20mbit", "rtt": "10ms", "queue": "droptail:25p"},
        "flow": [{"algorithm": "reno"}],
        "arrivals": [{"algorithm": "reno", "size": "10p", "load": 0.1}]
    }"#,
    ),
    (
        "a graph",
        r#"{
        "duration": "300ms", "warmup": "50ms", "seeds": 1, "sampling": "50ms",
        "link": [
            {"from": "a", "to": "b", "rate": "20mbit", "delay": "5ms", "queue": "droptail:15p",
             "schedule": {"steps": [{"at": "110ms", "extra_delay": "2ms"}]},
             "impairments": {"aggregate": "2ms"}},
            {"name": "other", "from": "a", "to": "b", "rate": "18mbit", "delay": "7ms", "queue": "droptail:15p"},
            {"from": "b", "to": "c", "rate": "50mbit", "delay": "1ms", "queue": "droptail:50p"}
        ],
        "flow": [{"algorithm": "reno", "from": "a", "to": "b", "extra_rtt": "10ms"},
                 {"algorithm": "reno", "from": "b", "to": "a", "extra_rtt": "10ms"},
                 {"algorithm": "reno", "from": "a", "to": "c", "extra_rtt": "10ms"}],
        "cbr": [{"rate": "cbr:1mbit", "from": "a", "to": "b"}],
        "arrivals": [{"algorithm": "reno", "size": "40p", "gap": "15ms", "from": "a", "to": "b", "extra_rtt": "10ms"}]
    }"#,
    ),
];

fn try_out(base: &Value, settings: &[&Setting]) -> Outcome {
    let mut document = base.clone();
    for Setting { key, value } in settings {
        set(&mut document, key, value.clone());
    }
    let Ok(mut document) = serde_json::from_value::<Document>(document) else { return Outcome::Refused };
    document.directory = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let Ok(scenario) = Scenario::check(document) else { return Outcome::Refused };
    let Ok(runs) = run(vec![scenario], &()) else { return Outcome::Refused };
    let runs = &runs[0];
    let warnings = runs.warnings();
    // Numbers that are none are not equal to themselves.
    let trace = runs.traces.last().expect("there is a seed");
    Outcome::Ran { trace: format!("{trace:?}"), digest: trace.digest, warnings }
}

/// How `setting` shows in the outcome `with`, compared with the outcome `without` it.
fn shown(setting: &Setting, without: &Outcome, with: &Outcome) -> Shown {
    match (without, with) {
        (_, Outcome::Refused) | (Outcome::Refused, _) => Shown::Refused,
        (_, Outcome::Ran { warnings, .. }) if warnings.iter().any(|warning| names(warning, setting)) => Shown::Warned,
        (Outcome::Ran { trace, .. }, Outcome::Ran { trace: other, .. }) if trace != other => Shown::Changed,
        _ => Shown::Silent,
    }
}

/// Whether a warning is about the setting, or about the part that holds it. Those that runs bring have the value alone.
fn names(warning: &str, Setting { key, value }: &Setting) -> bool {
    let (own, last) = (shown_value(value), key.rsplit('.').next().unwrap_or(key));
    if [format!("`{own}` of "), format!("`{last} = {own}` of ")].iter().any(|said| warning.starts_with(said)) {
        return true;
    }
    let Some((named, _)) = warning.split_once(" = ") else { return false };
    let step = named.strip_suffix(".at").unwrap_or(named);
    key == named || key.strip_prefix(step).is_some_and(|rest| rest.starts_with('.'))
}

/// Puts a value at a key, making tables and lists of one element on the way.
fn set(document: &mut Value, key: &str, value: Value) {
    let mut at = document;
    for part in key.split('.') {
        at = match part.parse::<usize>() {
            Ok(index) => {
                if !at.is_array() {
                    *at = json!([]);
                }
                let list = at.as_array_mut().expect("it is one");
                while list.len() <= index {
                    list.push(Value::Null);
                }
                &mut list[index]
            }
            Err(_) => {
                if !at.is_object() {
                    *at = json!({});
                }
                at.as_object_mut().expect("it is one").entry(part).or_insert(Value::Null)
            }
        };
    }
    *at = value;
}

/// A schema of one name for both would let editors offer `none` where it is refused, and refuse it where it is accepted.
#[test]
fn none_ends_an_impairment_in_a_step_alone() {
    let schema = serde_json::to_value(schema()).expect("JSON");
    for name in ["Reordering", "TokenBucket", "Mangling", "Time"] {
        let described = |name: &str| schema["$defs"][name]["description"].as_str().expect(name).to_string();
        assert!(!described(name).ends_with("`none`"), "{}", described(name));
        assert!(described(&format!("{name}OrNone")).ends_with(", or `none`"), "{name}");
    }
    let words = |name: &str| schema["$defs"][name]["enum"].as_array().expect(name).clone();
    assert!(!words("Mangling").contains(&json!("none")) && words("ManglingOrNone").contains(&json!("none")));
}

/// The leaves of the schema, each with the values that the schema knows.
fn leaves(schema: &Value, at: &Value, key: &str, found: &mut BTreeMap<String, Vec<Value>>) {
    let below = |name: &str| if key.is_empty() { name.to_string() } else { format!("{key}.{name}") };
    if let Some(reference) = at["$ref"].as_str() {
        let path = reference.trim_start_matches('#');
        return leaves(schema, schema.pointer(path).expect("it is there"), key, found);
    }
    if let Some(properties) = at["properties"].as_object() {
        return properties.iter().for_each(|(name, property)| leaves(schema, property, &below(name), found));
    }
    if !at["items"].is_null() {
        return leaves(schema, &at["items"], &below("0"), found);
    }
    let choices = at["anyOf"].as_array().or(at["oneOf"].as_array()).into_iter().flatten();
    let choices: Vec<&Value> = choices.filter(|choice| choice["type"] != "null").collect();
    if choices.iter().any(|choice| choice["const"].is_string()) {
        let words = choices.iter().map(|choice| choice["const"].clone());
        found.entry(key.to_string()).or_default().extend(words);
    } else if let [choice] = choices[..] {
        leaves(schema, choice, key, found);
    } else {
        let known = ["enum", "examples"].iter().filter_map(|list| at[list].as_array()).flatten();
        found.entry(key.to_string()).or_default().extend(known.cloned());
    }
}

fn settings() -> Vec<Setting> {
    let schema = serde_json::to_value(schema()).expect("JSON");
    let mut found = BTreeMap::new();
    leaves(&schema, &schema, "", &mut found);
    let mut unused: Vec<&str> = SAMPLES.iter().map(|(end, _)| *end).collect();
    let mut all = Vec::new();
    for (key, known) in found {
        let sample = SAMPLES.iter().filter(|(end, _)| key.ends_with(end)).max_by_key(|(end, _)| end.len());
        let values = match sample {
            Some((end, values)) => {
                unused.retain(|one| one != end);
                values.iter().map(|text| serde_json::from_str(text).expect("JSON")).collect()
            }
            None => known,
        };
        assert!(!values.is_empty(), "{key}: what is a value of it? Add one to SAMPLES");
        all.extend(values.into_iter().map(|value| Setting { key: key.clone(), value }));
    }
    assert_eq!(unused, [""; 0], "no key ends like this");
    all
}

/// What came of the pairs in a base, and which of them were silent.
fn try_pairs(base: &Value, all: &[Setting], skipped: &[&Setting], silent: &mut Vec<String>) -> BTreeMap<Shown, u32> {
    let plain = try_out(base, &[]);
    let tried: Vec<(&Setting, Outcome)> = all.iter().map(|one| (one, try_out(base, &[one]))).collect();
    let alone = |outcome: &Outcome, one: &Setting| shown(one, &plain, outcome);
    let live = |(one, outcome): &&(&Setting, Outcome)| matches!(alone(outcome, one), Shown::Changed | Shown::Warned);
    let live: Vec<_> = tried.iter().filter(live).collect();
    let mut counts = BTreeMap::new();
    for (index, (one, with_one)) in live.iter().enumerate() {
        for (other, with_other) in &live[index + 1..] {
            let same = one.key == other.key || one.value == other.value;
            if same || (skipped.contains(one) && skipped.contains(other)) {
                continue;
            }
            let both = try_out(base, &[one, other]);
            for (setting, beside, without) in [(one, other, with_other), (other, one, with_one)] {
                let mut how = shown(setting, without, &both);
                assert!(is_true(base, setting, without, &both), "a warning of {setting:?} beside {beside:?} is wrong");
                if how == Shown::Silent && is_changed_later(base, setting, &[beside]) {
                    how = Shown::Changed;
                }
                *counts.entry(how).or_insert(0) += 1;
                let pair = [setting, beside].map(|one| format!("{}={}", one.key, shown_value(&one.value)));
                let excused = QUIET.iter().any(|[one, other]| pair[0].contains(one) && pair[1].contains(other));
                if how == Shown::Silent && !excused {
                    silent.push(pair.join(" beside "));
                }
            }
        }
    }
    counts
}

/// Whether a setting that a warning calls unused has no effect. A setting that replaces another value may have one.
fn is_true(base: &Value, setting: &Setting, without: &Outcome, with: &Outcome) -> bool {
    let (Outcome::Ran { digest: before, .. }, Outcome::Ran { digest: after, warnings, .. }) = (without, with) else {
        return true;
    };
    let said = format!("{} = {} has no effect", setting.key, shown_value(&setting.value));
    let replaces = base.pointer(&format!("/{}", setting.key.replace('.', "/"))).is_some();
    replaces || before == after || !warnings.iter().any(|warning| warning.starts_with(&said))
}

/// Whether a setting changes longer runs next to another, or runs with other draws.
fn is_changed_later(base: &Value, setting: &Setting, beside: &[&Setting]) -> bool {
    [("duration", json!("1500ms")), ("first_seed", json!(2)), ("first_seed", json!(3))].into_iter().any(
        |(key, value)| {
            let other = Setting { key: key.to_string(), value };
            let context: Vec<&Setting> = std::iter::once(&other).chain(beside.iter().copied()).collect();
            let without = try_out(base, &context);
            let with = try_out(base, &context.iter().copied().chain([setting]).collect::<Vec<_>>());
            shown(setting, &without, &with) != Shown::Silent
        },
    )
}

fn shown_value(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_string)
}

/// A setting next to another with an equal meaning, or has nothing to act on for as long as these runs last.
const QUIET: &[[&str; 2]] = &[
    // The other has that in it.
    ["recovery=", "era="],
    ["arrivals.0.recovery=", "recovery="],
    ["arrivals.0.era=", "era="],
    ["recovery=sack", "algorithm=decbit"],
    ["delayed_ack=0s", "era="],
    ["delayed_ack=0s", "algorithm=decbit"],
    ["delayed_ack=0s", "gro="],
    // A sender assumes marks without a queue that marks, once an acknowledgement stands for eight packets.
    ["flow.0.ecn=accecn", "reverse_"],
    ["flow.0.ecn=accecn", "gro="],
    // Without delayed acknowledgements no timer expires in a third of a second.
    ["flow.0.timer=", "era="],
    ["flow.0.timer=", "algorithm=decbit"],
    ["host=whole", "era="],
    // A host that is named has the same flow as one of its own.
    ["_host=home", "queue=cake"],
    ["via", "link.0."],
    // Lost or waiting packets are rare next to it.
    ["loss=", ""],
    ["corrupt=", ""],
    // A report that comes twice says nothing new, and few reports come.
    ["reverse_impairments.duplicate=", "algorithm=tfrc"],
    ["queue=", "corrupt="],
    // Over UDT and datagrams an era acts where a window is not used.
    ["era=", "algorithm="],
    ["algorithm=", "era="],
    ["queue=", "policer="],
    ["arrivals.0.ecn=", "queue=fq_codel"],
    ["policer=", "direction="],
    ["reverse_impairments.shaper=", "reverse_impairments.policer="],
    ["max_window=", "queue="],
    ["web.pages=", ""],
    ["autotune=", ""],
    ["min_rto=200ms", ""],
    ["max_window=", "arrivals.0."],
    ["max_window=", "cbr.0."],
    ["slow_start=", ""],
    ["delayed_ack=0s", "arrivals.0.size="],
    ["delayed_ack=0s", "queue="],
    ["delayed_ack=0s", "steps.0.rate="],
];

/// Settings without an effect on these runs, and with none to be expected: words, what all of them have by default, and a start that
/// losses end before the delay rises.
const SAME: [(&str, &str); 11] = [
    ("flow.0.slow_start", "hystart++"),
    ("handshake", "0"),
    ("title", "a title"),
    ("class", "out"),
    ("direction", "forward"),
    ("era", "modern"),
    ("receiver", "sack"),
    ("recovery", "rack"),
    ("corrupt", "0.0"),
    ("duplicate", "0.0"),
    ("jitter", "0s"),
];

#[test]
fn every_setting_changes_a_run_or_is_named() {
    let mut silent = settings();
    let tried = silent.len();
    let mut ran = vec![false; tried];
    let mut counts = BTreeMap::new();
    let numbered: Vec<(usize, Setting)> = silent.drain(..).enumerate().collect();
    let mut open: Vec<&(usize, Setting)> = numbered.iter().collect();
    for (_, base) in BASES {
        let base: Value = serde_json::from_str(base).expect("JSON");
        let plain = try_out(&base, &[]);
        open.retain(|(index, one)| {
            let with = try_out(&base, &[one]);
            ran[*index] |= matches!(with, Outcome::Ran { .. });
            let mut how = shown(one, &plain, &with);
            if how == Shown::Silent && is_changed_later(&base, one, &[]) {
                how = Shown::Changed;
            }
            let shows = matches!(how, Shown::Changed | Shown::Warned);
            if shows {
                *counts.entry(how).or_insert(0) += 1;
            }
            !shows
        });
    }
    open.retain(|(index, _)| ran[*index]);
    counts.insert(Shown::Refused, ran.iter().filter(|ran| !**ran).count());
    println!("{tried} settings: {counts:?}");
    let usual =
        |one: &Setting| SAME.iter().any(|(key, value)| one.key.ends_with(key) && *value == shown_value(&one.value));
    let silent: Vec<&Setting> = open.into_iter().map(|(_, one)| one).filter(|one| !usual(one)).collect();
    let silent: Vec<String> = silent.iter().map(|one| format!("{}={}", one.key, shown_value(&one.value))).collect();
    assert_eq!(silent, [""; 0], "these change no run, and nothing says so");
}

#[test]
fn every_setting_of_a_flow_beside_every_other() {
    let mut silent = Vec::new();
    let counts = try_pairs(&serde_json::from_str(BASES[0].1).expect("JSON"), &settings(), &[], &mut silent);
    println!("{counts:?}");
    assert_eq!(silent, [""; 0], "{counts:?}");
}

#[test]
#[ignore = "minutes: `cargo xtask test --long`"]
fn every_setting_beside_every_other() {
    let all = settings();
    let (mut silent, mut skipped) = (Vec::new(), Vec::new());
    for (what, base) in BASES {
        let base: Value = serde_json::from_str(base).expect("JSON");
        println!("{what}: {:?}", try_pairs(&base, &all, &skipped, &mut silent));
        // Those of a flow act on each other as they do here.
        skipped = all.iter().filter(|one| !one.key.contains("arrivals") && !one.key.contains("cbr")).collect();
    }
    assert_eq!(silent, [""; 0]);
}
