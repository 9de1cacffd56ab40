//! Texts: help, completions, and the keys of JSON output.

use std::collections::BTreeSet;
use std::fs;

use cwnd_terminal::testing::broken_at_the_width;
use serde_json::Value;

use super::{Udt, root};

/// Every key that `udt doctor --json` prints stands in docs/files.md.
#[test]
fn every_json_key_of_the_doctor_is_documented() {
    let page = fs::read_to_string(root().join("docs/files.md")).expect("text");
    let document: Value = serde_json::from_str(&Udt::new().succeed(&["doctor", "--json"])).expect("JSON");
    let keys = |prefix: &str, value: &Value| -> Vec<String> {
        value.as_object().expect("an object").keys().map(|key| format!("{prefix}{key}")).collect()
    };
    let mut all: BTreeSet<String> = keys("", &document).into_iter().filter(|key| key != "findings").collect();
    for finding in document["findings"].as_array().expect("a list") {
        all.extend(keys("findings[].", finding));
    }
    assert!(all.len() >= 10, "{all:?}");
    for key in all {
        let listed = page.contains(&format!("| `{key}` |")) || page.contains(&format!("| `{key}[]` |"));
        assert!(listed, "`{key}` is not documented");
    }
}

#[test]
fn help_has_examples() {
    let udt = Udt::new();
    for (arguments, examples) in [
        (&["--help"][..], &["udt send photos", "udt perf --server"][..]),
        (&["send", "--help"], &["--to 192.0.2.1:9001", "--path lossy", "no_answer"]),
        (&["link", "--help"], &["--tun --rate 50mbit", "--queue <QUEUE>"]),
        (&["serve", "--help"], &["--writable", "--libudt --at 9000"]),
    ] {
        let text = udt.succeed(arguments);
        for example in examples {
            assert!(text.contains(example), "{example} in\n{text}");
        }
    }
}

#[test]
fn completions_know_the_commands() {
    for shell in ["bash", "zsh", "fish"] {
        assert!(Udt::new().succeed(&["completions", shell]).contains("doctor"), "{shell}");
    }
}

#[test]
fn help_is_broken_at_the_width_of_the_terminal() {
    let seen = broken_at_the_width(&Udt::new());
    assert!(seen > 7, "{seen} commands have examples");
}
