//! A real look at the host the tests run on, whatever it is like.

use std::collections::BTreeSet;

use serde_json::Value;

use super::Udt;

const CHECKS: [&str; 10] = [
    "receive_buffer",
    "send_buffer",
    "overruns",
    "input_queue",
    "segmentation",
    "processor",
    "timer",
    "clock",
    "descriptors",
    "congestion_control",
];

#[test]
fn checks_of_this_host_change_nothing() {
    let udt = Udt::new();
    let before = std::fs::read_to_string("/proc/sys/net/core/rmem_max").ok();
    let document: Value = serde_json::from_str(&udt.succeed(&["doctor", "127.0.0.1", "--json"])).expect("JSON");
    assert_eq!(document["peer"], "127.0.0.1");
    let findings = document["findings"].as_array().expect("a list");
    let named = |check: &str| findings.iter().find(|finding| finding["check"] == check);
    for check in CHECKS.iter().chain(&["route", "echo", "disk"]) {
        let finding = named(check).unwrap_or_else(|| panic!("{check} is looked at"));
        let verdict = finding["verdict"].as_str().expect("a word");
        assert!(["fine", "limits", "unknown"].contains(&verdict), "{finding}");
        assert_eq!(finding["value"].is_null(), verdict == "unknown", "{finding}");
        assert!(!finding["means"].as_str().expect("a sentence").is_empty(), "{finding}");
        // Only a limit has a command.
        assert!(verdict == "limits" || finding["fix"] == Value::Array(Vec::new()), "{finding}");
    }
    let commands: BTreeSet<&str> = findings
        .iter()
        .flat_map(|finding| finding["fix"].as_array().expect("a list"))
        .filter_map(Value::as_str)
        .collect();
    let keys: BTreeSet<&str> = commands.iter().filter_map(|command| command.split('=').next()).collect();
    assert_eq!(keys.len(), commands.len(), "two values for one setting: {commands:?}");
    let number = |check: &str| named(check).and_then(|finding| finding["value"].as_f64());
    // Properties that every host has that runs this: a transfer moves, and 64 MB come to the disk.
    assert!(number("processor").is_some_and(|rate| rate > 1e6) && number("disk").is_some_and(|rate| rate > 1e6));
    if let Some(most) = before.as_deref().and_then(|text| text.trim().parse::<f64>().ok()) {
        let granted = number("receive_buffer").expect("a port can be opened");
        // The default of 8 MiB, or the maximum of the system.
        assert_eq!(granted, most.min(8_388_608.0));
        assert_eq!(named("receive_buffer").expect("it is there")["verdict"] == "limits", granted < 8_388_608.0);
    }
    assert_eq!(std::fs::read_to_string("/proc/sys/net/core/rmem_max").ok(), before);
    assert_eq!(udt.files(), Vec::<String>::new());
}

#[test]
fn findings_are_printed_for_people() {
    let udt = Udt::new();
    let text = udt.succeed(&["doctor"]);
    for check in CHECKS {
        let words = ["fine   ", "LIMITS ", "unknown"].map(|verdict| format!("{verdict} {}", check.replace('_', " ")));
        assert!(text.lines().any(|line| words.iter().any(|words| line.starts_with(words))), "{check} in {text}");
    }
    assert!(text.trim_end().ends_with("a fast transfer back"), "{text}");
    let lossy = udt.succeed(&["doctor", "--rate", "100mbit", "--rtt", "100ms", "--loss", "0.005"]);
    assert!(lossy.contains("LIMITS  congestion control") && lossy.contains("# udt send PATH --path lossy"), "{lossy}");
    let result = udt.run(&["doctor", "no.such.host.invalid"]);
    assert_eq!(result.code, Some(2), "{}", result.err);
    assert!(result.err.contains("no address is known for it"), "{}", result.err);
    let elsewhere = udt.succeed(&["doctor", "--dir", "nowhere"]);
    assert!(elsewhere.contains("unknown disk") && elsewhere.contains("nowhere: "), "{elsewhere}");
}
