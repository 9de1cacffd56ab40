//! Every word of a setting that consists of several (queues, hosts, losses, rates) next to every other: it changes a run, a warning names
//! it, or it is refused.
//!
//! The words are those that the error messages list, so that a new one without a sample here fails.

use std::collections::BTreeMap;

use cwnd::notation::Form;
use cwnd_run::run::run;
use cwnd_run::scenario::{Document, Quantity, Queue, Scenario};
use cwnd_sim::Loss;
use cwnd_sim::notation::{HOSTS, LOSSES, QUEUES, RATE_SCHEDULES};
use serde_json::{Value, json};

/// A quantity of several words.
struct Family {
    /// Where it is set.
    key: &'static str,
    /// What the words stand behind.
    plain: &'static str,
    /// Words with their samples.
    words: &'static [&'static str],
    /// Paths, of which one at least shows each word.
    paths: fn() -> Vec<Value>,
}

const EARLY: [&str; 15] = [
    "min=4p",
    "min=9p",
    "max=9p",
    "max=60p",
    "max_p=0.5",
    "weight=0.2",
    "weight=1",
    "gentle=no",
    "wait=no",
    "bytes=yes",
    "ecn=yes",
    "ecn=no",
    "mark_limit=0.3",
    "mark_limit=1",
    "gentle=yes",
];

const FAMILIES: [Family; 16] = [
    Family { key: "/dumbbell/queue", plain: "red:20p", words: &EARLY, paths: queues },
    Family {
        key: "/dumbbell/queue",
        plain: "rio:20p",
        words: &[
            "in_min=2p",
            "in_max=16p",
            "out_min=2p",
            "out_max=9p",
            "out_max_p=0.5",
            "in_max_p=0.5",
            "in_ecn=yes",
            "out_ecn=yes",
            "ecn=yes",
        ],
        paths: queues,
    },
    Family { key: "/dumbbell/queue", plain: "drr:20p", words: &["quantum=500B"], paths: queues },
    Family {
        key: "/dumbbell/queue",
        plain: "codel:60p",
        words: &["target=1ms", "interval=20ms", "ecn=yes", "ce_threshold=2ms", "l4s_threshold=1ms"],
        paths: queues,
    },
    Family {
        key: "/dumbbell/queue",
        plain: "fq_codel:60p",
        words: &["target=1ms", "interval=20ms", "ecn=yes", "ecn=no", "queues=1", "quantum=300B", "memory=9kB"],
        paths: queues,
    },
    Family {
        key: "/dumbbell/queue",
        plain: "cake:60p",
        words: &[
            "target=1ms",
            "interval=20ms",
            "ecn=yes",
            "ecn=no",
            "ack_filter=yes",
            "ack_filter=no",
            "isolation=flows",
            "isolation=dsthost",
        ],
        paths: narrow,
    },
    Family {
        key: "/dumbbell/queue",
        plain: "pie:60p",
        words: &[
            "target=1ms",
            "update=3ms",
            "alpha=9",
            "beta=9",
            "burst=0s",
            "ecn=yes",
            "mark_limit=0.02",
            "derandomize=yes",
        ],
        paths: queues,
    },
    Family {
        key: "/dumbbell/queue",
        plain: "dualpi2:60p",
        words: &[
            "target=1ms",
            "update=3ms",
            "alpha=9",
            "beta=9",
            "coupling=4",
            "threshold=3ms",
            "range=5ms",
            "spared=9",
            "share=0.5",
            "overload=no",
        ],
        paths: low_latency,
    },
    Family { key: "/dumbbell/queue", plain: "xcp:60p", words: &["alpha=0.2", "beta=0.1", "gamma=0.5"], paths: routers },
    Family {
        key: "/dumbbell/queue",
        plain: "vcp:60p",
        words: &["target=0.5", "queue_weight=2", "interval=50ms"],
        paths: routers,
    },
    Family { key: "/dumbbell/queue", plain: "decbit:60p", words: &["threshold=4"], paths: routers },
    Family {
        key: "/host",
        plain: "",
        words: &["tso", "fq", "gro=2ms", "autotune=140kB", "whole", "min_rto=90ms", "min_rto=1s"],
        paths: hosts,
    },
    Family {
        key: "/dumbbell/loss",
        plain: "gilbert:to_bad=0.01,to_good=0.3",
        words: &["loss_bad=0.5", "loss_bad=0", "loss_bad=1", "loss_good=0.01", "loss_good=0.5", "loss_good=0"],
        paths: queues,
    },
    Family {
        key: "/dumbbell/loss",
        plain: "gilbert:to_bad=0,to_good=0.3",
        words: &["loss_bad=0.5", "loss_good=0.01", "loss_good=0.5"],
        paths: queues,
    },
    Family { key: "/cbr/0/rate", plain: "video:3kB", words: &["key=1", "key=5", "every=3", "fps=12.5"], paths: rates },
    Family {
        key: "/cbr/0/rate",
        plain: "square:3mbit,1mbit,step=100ms",
        words: &["floor=2mbit", "floor=500kbit", "floor=4mbit", "ceiling=2mbit", "ceiling=9mbit", "rest_of=4mbit"],
        paths: rates,
    },
];

/// Words whose samples stand in what the others are put behind.
const ELSEWHERE: [&str; 6] = ["to_bad", "to_good", "step", "reach", "factor", "in_"];

/// Words next to which others have no visible effect here, with the reason.
const QUIET: [[&str; 3]; 3] = [
    // Without draws the first drop comes after the burst.
    ["pie:60p", "derandomize=yes", "burst="],
    // The memory is full before the delay is above either target.
    ["fq_codel:60p", "memory=9kB", "target="],
    // Half of the rate leaves no queue.
    ["vcp:60p", "target=0.5", "queue_weight="],
];

fn base(flows: &Value) -> Value {
    json!({
        "duration": "1500ms", "warmup": "0s", "seeds": 1, "sampling": "off",
        "dumbbell": {"rate": "10mbit", "rtt": "20ms", "queue": "droptail:20p"},
        "cbr": [{"rate": "cbr:1mbit", "packet": "400B"}],
        "flow": flows
    })
}

fn queues() -> Vec<Value> {
    let marked = json!([{"algorithm": "reno", "ecn": "latch", "count": 2}, {"algorithm": "cubic", "ecn": "latch", "class": "in"}]);
    let plain = json!([{"algorithm": "reno", "count": 2}, {"algorithm": "cubic", "direction": "reverse"}]);
    let full = |rate: &str, packet: &str| {
        let mut path = base(&marked);
        path["cbr"][0] = json!({"rate": rate, "packet": packet});
        path
    };
    let [busy, over] = [full("cbr:9500kbit", "400B"), full("cbr:25mbit", "1500B")];
    let mut alone = base(&json!([{"algorithm": "reno"}]));
    alone.as_object_mut().expect("a table").remove("cbr");
    let scalable = base(&json!([{"algorithm": "prague", "ecn": "l4s"}, {"algorithm": "cubic", "ecn": "latch"}]));
    vec![base(&marked), base(&plain), alone, busy, over, scalable]
}

/// Those, and a line that acknowledgements alone fill.
fn narrow() -> Vec<Value> {
    let mut narrow = base(&json!([{"algorithm": "cubic", "direction": "reverse"}, {"algorithm": "reno"}]));
    (narrow["dumbbell"]["rate"], narrow["dumbbell"]["reverse_rate"]) = (json!("1mbit"), json!("50mbit"));
    let hosts = json!([{"algorithm": "cubic", "count": 3, "dst_host": "home"}, {"algorithm": "reno"}]);
    [vec![narrow, base(&hosts)], queues()].concat()
}

/// Scalable senders next to classic ones, and as much of either that its probability stays high.
fn low_latency() -> Vec<Value> {
    let both = json!([{"algorithm": "prague", "ecn": "l4s", "count": 2}, {"algorithm": "cubic", "count": 2}]);
    let mut over = base(&both);
    over["cbr"][0] = json!({"rate": "cbr:25mbit", "packet": "1500B"});
    vec![base(&both), base(&json!([{"algorithm": "prague", "ecn": "l4s"}])), over]
}

fn rates() -> Vec<Value> {
    vec![base(&json!([{"algorithm": "reno"}]))]
}

fn routers() -> Vec<Value> {
    ["xcp", "vcp", "decbit", "reno"].map(|algorithm| base(&json!([{"algorithm": algorithm, "count": 2}]))).to_vec()
}

fn hosts() -> Vec<Value> {
    let mut lossy = base(&json!([{"algorithm": "reno"}]));
    lossy["dumbbell"]["loss"] = json!(0.2);
    vec![lossy, base(&json!([{"algorithm": "cubic"}])), base(&json!([{"algorithm": "bbr"}, {"algorithm": "vegas"}]))]
}

/// The digest of a run and its warnings; none where the text is refused.
fn outcome(path: &Value, key: &str, text: &str) -> Option<(u64, Vec<String>)> {
    let mut document = path.clone();
    let (table, last) = key.rsplit_once('/').expect("a pointer");
    document.pointer_mut(table).expect("a table")[last] = json!(text);
    let document: Document = serde_json::from_value(document).ok()?;
    let runs = run(vec![Scenario::check(document).ok()?], &()).ok()?;
    Some((runs[0].traces[0].digest, runs[0].warnings()))
}

fn text(plain: &str, words: &[&str]) -> String {
    let head = if plain.is_empty() { Vec::new() } else { vec![plain] };
    let words: Vec<&str> = head.into_iter().chain(words.iter().copied()).collect();
    if words.is_empty() { "plain".to_string() } else { words.join(",") }
}

fn name(word: &str) -> &str {
    word.split('=').next().unwrap_or(word)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Shown {
    Changed,
    Warned,
    Refused,
    Default,
    Silent,
}

/// How a word shows behind others on a path.
fn shown(family: &Family, path: &Value, context: &[&str], word: &str) -> Shown {
    let with: Vec<&str> = context.iter().copied().chain([word]).collect();
    let Some((digest, warnings)) = outcome(path, family.key, &text(family.plain, &with)) else { return Shown::Refused };
    let key = family.key.trim_start_matches('/').replace('/', ".");
    let about = |warning: &String| Some(warning.strip_prefix(&format!("{key} = "))?.to_string());
    let about: Vec<String> = warnings.iter().filter_map(about).collect();
    let part = |warning: &String| {
        let part = warning.split_once(": `").map_or("", |(_, part)| part.split('`').next().unwrap_or_default());
        part.split(',').any(|one| one == word)
    };
    let said = text(family.plain, &with);
    if about.iter().any(|warning| warning.starts_with(&format!("{said} has"))) {
        return Shown::Warned;
    }
    let plain = outcome(path, family.key, &text(family.plain, context)).map(|(plain, _)| plain);
    if about.iter().any(part) {
        assert!(plain.is_none_or(|plain| plain == digest), "a warning of {word} in {said} is wrong: {about:?}");
        return Shown::Warned;
    }
    if plain == Some(digest) { Shown::Silent } else { Shown::Changed }
}

/// Whether a word is the default.
fn is_default(family: &Family, context: &[&str], word: &str) -> bool {
    let with: Vec<&str> = context.iter().copied().chain([word]).collect();
    let [with, without] = [&with[..], context].map(|words| text(family.plain, words));
    match family.key {
        "/dumbbell/queue" => Queue::read(&with) == Queue::read(&without),
        "/dumbbell/loss" => Loss::read(&with) == Loss::read(&without),
        _ => false,
    }
}

#[test]
fn every_word_beside_every_other() {
    let (mut silent, mut counts) = (Vec::new(), BTreeMap::new());
    for family in &FAMILIES {
        let paths = (family.paths)();
        for word in family.words {
            let contexts = family.words.iter().filter(|other| name(other) != name(word)).map(|other| vec![*other]);
            for context in std::iter::once(Vec::new()).chain(contexts) {
                let each = paths.iter().map(|path| shown(family, path, &context, word));
                let mut how = each.min().expect("there are paths");
                if how == Shown::Silent && is_default(family, &context, word) {
                    how = Shown::Default;
                }
                *counts.entry(how).or_insert(0) += 1;
                let said = text(family.plain, &context);
                let excused = QUIET.iter().any(|[plain, other, own]| {
                    said.starts_with(plain) && said.contains(other) && word.starts_with(own)
                });
                if how == Shown::Silent && !excused {
                    silent.push(format!("{word} behind {said}"));
                }
            }
        }
    }
    println!("{counts:?}");
    assert_eq!(silent, [""; 0], "these change no run, and nothing says so");
}

#[test]
fn every_word_has_a_sample() {
    let known: Vec<&str> =
        FAMILIES.iter().flat_map(|family| family.words).map(|word| name(word)).chain(ELSEWHERE).collect();
    fn parameters<T>(form: &'static Form<T>) -> impl Iterator<Item = &'static str> {
        form.parameters[form.positional..].iter().map(|one| one.name)
    }
    let queues = QUEUES.forms.iter().flat_map(parameters);
    let losses = LOSSES.forms.iter().flat_map(parameters);
    let rates = RATE_SCHEDULES.forms.iter().flat_map(parameters);
    for word in queues.chain(losses).chain(rates).chain(HOSTS.forms.iter().flat_map(parameters)) {
        assert!(known.iter().any(|one| *one == word || word.ends_with(&format!("_{one}"))), "{word}: {ADD}");
    }
}

/// What to do where a word has no sample.
const ADD: &str = "what is a value of it? Add one to FAMILIES";
