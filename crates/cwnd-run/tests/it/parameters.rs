//! Every parameter of every algorithm with every choice of its others: a value other than the default changes a run, or a warning names it.

use cwnd::registry::{ALGORITHMS, Entry, Kind, Measure, Parameter};
use cwnd::{Algorithm, Spec, Start};
use cwnd_run::run::run;
use cwnd_run::scenario::{Document, Scenario};
use serde_json::{Value, json};

/// Values of texts, and of numbers that are derived unless they are given, by name; those of one algorithm first.
const SAMPLES: &[(&str, &str, &[&str])] = &[
    ("daimd", "alpha", &["1mbit@10mbit^-0.5"]),
    ("daimd", "interval", &["20ms", "rtt"]),
    ("new-aimd", "floor", &["3", "60"]),
    ("scalable", "low_window", &["100"]),
    ("sabul", "initial_rate", &["30mbit"]),
    ("bic", "low_window", &["100"]),
    ("highspeed", "high_window", &["200"]),
    ("sabul", "window", &["20"]),
    ("sabul", "least_rate", &["3mbit"]),
    ("dctcp", "floor", &["40"]),
    ("prague", "floor", &["40"]),
    ("prague", "after", &["5"]),
    ("prague", "rtt_ref", &["100ms"]),
    ("bbr3", "offload", &["100"]),
    ("rule", "grow", &["2/w"]),
    ("rule", "cut", &["max(w*7/8, 1)"]),
    ("rule", "u", &["rtt"]),
    ("rule", "v", &["rtt"]),
    ("", "a", &["2"]),
    ("", "ecn_beta", &["0.9"]),
    ("", "initial_window", &["5"]),
    ("", "floor", &["3"]),
];

/// Parameters of which no value shows with another, or on any of these paths, and why.
const QUIET: &[(&str, &str, &str)] = &[
    ("bbr3", "undo=round", "no recovery here turns out to be an error"),
    ("bbr3", "timeout-saves", "no timeout here turns out to be an error"),
    (
        "ledbatpp",
        "history=",
        "no run here lasts for minutes; the tests of `window/delays.rs` show a base delay that is forgotten",
    ),
    (
        "ledbat",
        "history=",
        "no run here lasts for minutes; the tests of `window/delays.rs` show a base delay that is forgotten",
    ),
];

fn values(entry: &Entry<Algorithm>, parameter: &Parameter) -> Vec<String> {
    let own = |(of, name, _): &&(&str, &str, &[&str])| [entry.name, ""].contains(of) && *name == parameter.name;
    let texts = |values: &[&str]| values.iter().map(ToString::to_string).collect();
    if let Some((_, _, values)) = SAMPLES.iter().find(own) {
        return texts(values);
    }
    match parameter.kind {
        Kind::Number { default: Some(default), range, .. } => {
            let near = [default * 0.5, default * 2.0, default + 1.0].into_iter();
            let other = near.filter(|value| *value != default && range.contains(*value));
            other.map(|value| value.to_string()).collect()
        }
        Kind::Choice { default, options } => {
            texts(&options.iter().copied().filter(|option| *option != default).collect::<Vec<_>>())
        }
        Kind::Quantity { measure: Measure::BitRate, .. } => texts(&["4mbit"]),
        Kind::Quantity { .. } => texts(&["50ms"]),
        Kind::Number { .. } | Kind::Flag | Kind::Text { .. } => {
            panic!("{}:{}: what is a value of it? Add one to SAMPLES", entry.name, parameter.name)
        }
    }
}

/// Paths with losses, marks, a queue that fills, a long pipe, and an application that pauses.
fn paths(entry: &Entry<Algorithm>) -> Vec<Value> {
    let own = ["xcp", "vcp", "decbit"].contains(&entry.name);
    let queue = if own { format!("{}:1bdp", entry.name) } else { "droptail:1bdp".to_string() };
    let path = |rate: &str, rtt: &str, queue: &str, loss: f64, flow: Value| {
        json!({"duration": "8s", "warmup": "0s", "seeds": 1, "sampling": "off",
               "dumbbell": {"rate": rate, "rtt": rtt, "queue": queue, "loss": loss},
               "flow": [flow, {"algorithm": "reno", "start": "2s", "extra_rtt": "7ms"}]})
    };
    // LDA reports each 5 s, and never falls below the rate of TCP.
    let mut reported = path("3mbit", "100ms", &queue, 0.02, json!({}));
    reported["duration"] = json!("60s");
    let marked = if entry.answers_marks() { json!({"ecn": "per-packet"}) } else { json!({}) };
    let reported = (entry.name == "lda").then_some(reported);
    // UDT grows by decades of the spare rate: a ninth of this capacity lies in another one than most of it.
    let decades = (entry.name == "udt").then(|| path("60mbit", "60ms", &queue, 0.02, json!({})));
    // Prague counts 500 round trips before it supposes a longer one.
    let short = (entry.name == "prague")
        .then(|| path("10mbit", "5ms", "red:30p,min=3p,max=3p,weight=1,ecn=yes", 0.0, marked.clone()));
    let others = [
        path("10mbit", "40ms", &queue, 0.002, json!({})),
        path("10mbit", "40ms", "red:60p,ecn=yes", 0.0, marked),
        path("3mbit", "30ms", "droptail:12p", 0.0, json!({})),
        path("100mbit", "60ms", &queue, 0.0, json!({"source": "square:90mbit,2mbit,step=900ms"})),
        path("100mbit", "60ms", &queue, 0.02, json!({"on": ["0s..3s", "5s..8s"]})),
    ];
    others.into_iter().chain(reported).chain(decades).chain(short).collect()
}

/// The digest of a run and its warnings; none where the text is refused.
fn outcome(path: &Value, algorithm: &str) -> Option<(u64, Vec<String>)> {
    Spec::parse(algorithm).ok()?;
    let mut document = path.clone();
    document["flow"][0]["algorithm"] = json!(algorithm);
    let document: Document = serde_json::from_value(document).expect("a document");
    let scenario = Scenario::check(document).unwrap_or_else(|error| panic!("{algorithm}: {error}"));
    let runs = run(vec![scenario], &()).unwrap_or_else(|error| panic!("{algorithm}: {error}"));
    Some((runs[0].traces[0].digest, runs[0].warnings()))
}

/// Whether `context` already implies `value`, as a profile of UDT implies its own rules.
fn is_own(entry: &Entry<Algorithm>, context: &str, value: &str) -> bool {
    let habits = |parts: &[&str]| match Spec::parse(&text(entry, parts)).ok()?.start(&Start::default()) {
        Algorithm::UdtAgent(agent) => Some(*agent.habits()),
        _ => None,
    };
    habits(&[context]).is_some_and(|own| habits(&[context, value]) == Some(own))
}

fn text(entry: &Entry<Algorithm>, parts: &[&str]) -> String {
    let parts: Vec<&str> = parts.iter().copied().filter(|part| !part.is_empty()).collect();
    if parts.is_empty() { entry.name.to_string() } else { format!("{}:{}", entry.name, parts.join(",")) }
}

/// Whether a run with `value` as well as `context` differs from one with `context` alone, a warning names it, or it is refused.
fn shows(entry: &Entry<Algorithm>, context: &str, value: &str, paths: &[Value]) -> bool {
    let number = |text: &str| text.split_once('=').map(|(name, _)| format!("`{name}="));
    let name = number(value).expect("key=value");
    paths.iter().any(|path| {
        let Some((digest, warnings)) = outcome(path, &text(entry, &[context, value])) else { return true };
        warnings.iter().any(|warning| warning.contains(&name))
            || outcome(path, &text(entry, &[context])).is_none_or(|(plain, _)| plain != digest)
    })
}

#[test]
fn every_parameter_changes_a_run_or_is_named() {
    let mut silent = Vec::new();
    let mut tried = 0;
    for entry in ALGORITHMS {
        let paths = paths(entry);
        let choices = entry.parameters.iter().filter(|one| matches!(one.kind, Kind::Choice { .. }));
        let contexts =
            choices.flat_map(|one| values(entry, one).into_iter().map(move |value| format!("{}={value}", one.name)));
        for context in std::iter::once(String::new()).chain(contexts) {
            let others = entry.parameters.iter().filter(|one| !context.starts_with(&format!("{}=", one.name)));
            for parameter in others {
                let of_choice = matches!(parameter.kind, Kind::Choice { .. });
                let values: Vec<String> =
                    values(entry, parameter).iter().map(|value| format!("{}={value}", parameter.name)).collect();
                tried += values.len();
                // Each word of a choice has a meaning of its own, unless the context implies it; of numbers one that shows
                // is enough.
                let shown = |value: &String| shows(entry, &context, value, &paths);
                let others = || values.iter().filter(|value| !is_own(entry, &context, value));
                let missing: Vec<&String> = if of_choice && others().next().is_some() {
                    others().filter(|value| !shown(value)).collect()
                } else if values.iter().any(shown) {
                    Vec::new()
                } else {
                    values.iter().collect()
                };
                silent.extend(missing.into_iter().map(|value| text(entry, &[&context, value])));
            }
        }
    }
    println!("{tried} values tried");
    silent.retain(|text| !QUIET.iter().any(|(of, part, _)| text.split(':').next() == Some(of) && text.contains(part)));
    assert_eq!(silent, [""; 0], "these change no run, and nothing says so");
}
