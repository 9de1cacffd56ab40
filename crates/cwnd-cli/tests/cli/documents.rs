//! Texts: help, lists, and the generated files that are checked in.

use std::fs;

use serde_json::Value;

use super::{Cwnd, root};

/// Checked-in files equal what the program prints. `cargo xtask generate` writes them anew.
#[test]
fn generated_files_are_fresh() {
    let cwnd = Cwnd::new();
    for (path, arguments) in [
        ("docs/scenario.schema.json", &["schema"][..]),
        ("docs/sweep.schema.json", &["schema", "sweep"]),
        ("docs/cross.md", &["docs", "cross"]),
        ("docs/notation.md", &["docs", "notation"]),
    ] {
        let checked_in = fs::read_to_string(root().join(path)).expect("it is checked in");
        assert!(checked_in == cwnd.succeed(arguments), "{path} is stale: run `cargo xtask generate`");
    }
}

/// Every key of a document is on the page on JSON, except those of the scenario, which has a schema.
#[test]
fn every_json_key_is_documented() {
    let cwnd = Cwnd::new();
    let page = cwnd.succeed(&["docs", "json"]);
    let scenario = cwnd.file("short.toml", super::SHORT);
    let sweep = cwnd.file("s.toml", "scenario = \"short.toml\"\n[grid]\n\"flow.0.algorithm\" = [\"reno\", \"simd\"]\n");
    let short = ["--duration", "2s", "--warmup", "1s"];
    for (title, arguments) in [
        (
            "cwnd compare",
            [&["compare", "reno", "--seeds", "1", "--versus", "cubic", "--json"][..], &short[..]].concat(),
        ),
        ("cwnd run", vec!["run", &scenario, "--json"]),
        ("cwnd sweep", vec!["sweep", &sweep, "--json", "--no-store"]),
        ("cwnd evaluate", vec!["evaluate", "reno", "--quick", "--seeds", "1", "--json", "--no-store"]),
        ("cwnd bench sim", [&["bench", "sim", "--rate", "10mbit", "--json"][..], &short[..]].concat()),
        ("cwnd doctor", vec!["doctor", "--json"]),
        ("cwnd model response", vec!["model", "response", "reno", "new-aimd", "--json"]),
        ("cwnd model convergence", vec!["model", "convergence", "simd", "exp-tcp", "--json"]),
        ("cwnd model rounds", vec!["model", "rounds", "reno", "--json"]),
        ("cwnd model udt", vec!["model", "udt", "--json"]),
        ("cwnd paper PAPER", vec!["paper", "newaimd", "example", "--json"]),
        ("cwnd conform SUBJECT", vec!["conform", "cubic", "--check", "9438-beta", "--seeds", "2", "--json"]),
        (
            "cwnd falsify",
            vec!["falsify", "bbr", "--property", "starvation", "--evaluations", "16", "--seeds", "1", "--json"],
        ),
        ("cwnd algorithms NAME --card", vec!["algorithms", "simd:beta=1/8", "--card", "--json"]),
        ("cwnd algorithms NAME", vec!["algorithms", "udt", "--json"]),
    ] {
        let section = page.split(&format!("## `{title} --json`")).nth(1).expect("a section per command");
        let section = section.split("\n## ").next().expect("never empty");
        let document: Value = serde_json::from_str(&cwnd.succeed(&arguments)).expect("JSON");
        let mut keys = Vec::new();
        collect(&document, "", &mut keys);
        assert!(keys.len() > 5);
        for key in keys {
            assert!(section.contains(&format!("| `{key}` |")), "{title}: `{key}` is not documented");
        }
    }
}

fn collect(value: &Value, path: &str, keys: &mut Vec<String>) {
    match value {
        Value::Object(members) if !(members.contains_key("ci95") && members.contains_key("mean")) => {
            for (name, member) in members {
                let list = if member.is_array() { "[]" } else { "" };
                let path = if path.is_empty() { format!("{name}{list}") } else { format!("{path}.{name}{list}") };
                keys.push(path.clone());
                if name != "scenario" {
                    collect(member, &path, keys);
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, path, keys)),
        _ => {}
    }
}

#[test]
fn help_has_examples() {
    let cwnd = Cwnd::new();
    for (arguments, examples) in [
        (&["--help"][..], &["cwnd live", "cwnd compare", "cwnd algorithms simd"][..]),
        (
            &["compare", "--help"],
            &["--versus reno", "--queue droptail:0.5bdp", "--ecn per-packet", "[default: 100mbit]", "[default: 5]"],
        ),
        (&["run", "--help"], &["--set flow.0.algorithm=simd", "cwnd schema"]),
        (&["bench", "sim", "--help"], &["--print-scenario", "[default: 1gbit]"]),
        (&["algorithms", "--help"], &["cwnd algorithms simd", "aimd:a=1,b=1/8"]),
    ] {
        let text = cwnd.succeed(arguments);
        for example in examples {
            assert!(text.contains(example), "{example} in\n{text}");
        }
    }
}

#[test]
fn an_algorithm_is_described_with_its_parameters() {
    let expected = "\
aimd: additive increase, multiplicative decrease

source     Chiu and Jain 1989; TCP-friendly a from b: simd section 2
transport  a transport that acknowledges packets as they arrive, as TCP

  a  increase per round trip, in packets
      default: 3b/(2-b), TCP-friendly
      accepted: above 0 and at most 1000000

  b  fraction of the window removed on congestion
      default: 0.5
      accepted: above 0 and below 1

  ecn_beta  fraction of the window kept for a mark in congestion avoidance, at least that for a loss (RFC 8511: 0.8 for Reno, 0.85 for CUBIC)
      default: as for a loss
      accepted: above 0 and below 1
";
    assert_eq!(Cwnd::new().succeed(&["algorithms", "aimd"]), expected);
}

#[test]
fn the_list_names_every_algorithm() {
    let cwnd = Cwnd::new();
    let given = cwnd.succeed(&["algorithms", "simd:beta=1/8"]);
    assert!(given.contains("\n      given: 0.125\n      default: "), "{given}");
    let alias = cwnd.succeed(&["algorithms", "aimd-fc"]);
    assert!(alias.starts_with("new-aimd: ") && alias.contains("\nalso       aimd-fc\n"), "{alias}");
    let list = cwnd.succeed(&["algorithms"]);
    let all: Value = serde_json::from_str(&cwnd.succeed(&["algorithms", "--json"])).expect("JSON");
    let names: Vec<&str> = all.as_array().expect("a list").iter().filter_map(|entry| entry["name"].as_str()).collect();
    for name in [
        "reno",
        "cubic",
        "aimd",
        "aiad",
        "iiad",
        "simd",
        "exp-tcp",
        "new-aimd",
        "daimd",
        "udt",
        "highspeed",
        "scalable",
    ] {
        assert!(names.contains(&name), "{name}");
    }
    for name in names {
        assert!(list.contains(&format!("  {name} ")), "{name} in\n{list}");
    }
}

#[test]
fn completions_know_the_commands() {
    let cwnd = Cwnd::new();
    for shell in ["bash", "zsh", "fish"] {
        assert!(cwnd.succeed(&["completions", shell]).contains("algorithms"), "{shell}");
    }
}

#[test]
fn the_manual_has_a_page_for_each_command() {
    let cwnd = Cwnd::new();
    fs::create_dir(cwnd.path().join("man")).expect("it is new");
    assert_eq!(cwnd.succeed(&["manual", "man"]), "");
    for page in ["cwnd.1", "cwnd-compare.1", "cwnd-bench-sim.1"] {
        let text = fs::read_to_string(cwnd.path().join("man").join(page)).expect("it was written");
        assert!(text.contains(".SH NAME") && text.contains(".SH OPTIONS"), "{page}: {text}");
    }
    cwnd.refuses(&["manual", "nowhere"], "error: cannot write to `nowhere`: ");
}
