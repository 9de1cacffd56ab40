//! The contents of the line.

use schemars::{JsonSchema, schema_for};

use super::*;
use crate::scenario::{Impairments, Link, Source, Variation};

fn path(base: &str, items: &[&str]) -> String {
    let items: Vec<String> = items.iter().map(ToString::to_string).collect();
    let source = Source::read("test", base, &items).unwrap_or_else(|error| panic!("{items:?}: {error}"));
    Document::of(&source).unwrap_or_else(|error| panic!("{items:?}: {error}")).path()
}

fn keys<T: JsonSchema>() -> BTreeSet<String> {
    let schema = schema_for!(T);
    schema.get("properties").and_then(serde_json::Value::as_object).expect("a record").keys().cloned().collect()
}

/// Each of `values` sets one key below `place` to a value that is not its default and that the line names; together they are all keys of `T`
/// but `others`.
fn all_named<T: JsonSchema>(base: &str, place: &str, values: &[(&str, &str)], others: &[&str]) {
    let set: BTreeSet<String> =
        values.iter().map(|(key, _)| *key).chain(others.iter().copied()).map(String::from).collect();
    assert_eq!(set, keys::<T>(), "every key of {place} is tried here");
    for (key, value) in values {
        let quoted = if value.starts_with(['[', '{']) { (*value).to_string() } else { format!("\"{value}\"") };
        let number = value.parse::<f64>().is_ok() || ["true", "false"].contains(value);
        let item = format!("{place}{key}={}", if number { value } else { quoted.as_str() });
        let line = path(base, &[&item]);
        let named = value.replace(['"', '=', ',', '[', ']', '{', '}'], " ");
        assert_ne!(line, path(base, &[]), "{item}");
        for word in named.split_whitespace() {
            assert!(
                line.contains(&word.replace('_', " ")) || *key == "loss" || *key == "reverse_loss",
                "{item}: {line}"
            );
        }
    }
}

const ROW: &str = "[parking_lot]";
const LINKS: &str = "[[link]]\nfrom = 'a'\nto = 'b'\nrate = '10mbit'\ndelay = '5ms'\nqueue = 'droptail:20p'";
const FLOW: &str = "[[flow]]\nalgorithm = 'reno'\n[[flow]]\nalgorithm = 'cubic'";

#[test]
fn every_key_of_a_path_is_in_its_line() {
    all_named::<Dumbbell>(
        "[dumbbell]",
        "dumbbell.",
        &[
            ("rate", "7mbit"),
            ("rtt", "33ms"),
            ("queue", "droptail:17p"),
            ("loss", "0.07"),
            ("schedule", "{ steps = [{ at = \"3s\", rate = \"2mbit\" }] }"),
            ("trace", "file.up"),
            ("outage", "[\"3s..4s\"]"),
            ("impairments", "{ jitter = \"3ms\" }"),
            ("reverse_impairments", "{ aggregate = \"4ms\" }"),
            ("reverse_rate", "3mbit"),
            ("reverse_queue", "droptail:19p"),
            ("reverse_loss", "0.02"),
            ("duplex", "half:burst=3"),
        ],
        &[],
    );
    let impairments = [
        ("jitter", "3ms"),
        ("reorder", "0.02:15ms"),
        ("policer", "5mbit,burst=30kB"),
        ("shaper", "6mbit,burst=31kB"),
        ("aggregate", "4ms"),
        ("thin_acks", "3"),
        ("corrupt", "0.01"),
        ("duplicate", "0.01"),
        ("bleach_ecn", "true"),
        ("mangle_ecn", "ce"),
    ];
    for (key, value) in impairments {
        let quoted = if ["thin_acks", "corrupt", "duplicate", "bleach_ecn"].contains(&key) {
            value.to_string()
        } else {
            format!("\"{value}\"")
        };
        let line = path("[dumbbell]", &[&format!("dumbbell.impairments.{key}={quoted}")]);
        assert!(line.contains(&format!(", {} {value}", key.replace('_', " "))), "{line}");
        let back = path("[dumbbell]", &[&format!("dumbbell.reverse_impairments.{key}={quoted}")]);
        assert!(back.contains(&format!(", reverse {} {value}", key.replace('_', " "))), "{back}");
    }
    assert_eq!(impairments.map(|(key, _)| key.to_string()).into_iter().collect::<BTreeSet<_>>(), keys::<Impairments>());
    all_named::<ParkingLot>(
        ROW,
        "parking_lot.",
        &[("hops", "5"), ("rate", "7mbit"), ("rtt", "33ms"), ("queue", "droptail:17p"), ("loss", "0.07")],
        &[],
    );
    all_named::<Link>(
        LINKS,
        "link.0.",
        &[
            ("name", "uplink"),
            ("from", "c"),
            ("to", "d"),
            ("both_ways", "false"),
            ("rate", "7mbit"),
            ("delay", "33ms"),
            ("queue", "droptail:17p"),
            ("loss", "0.07"),
            ("schedule", "{ steps = [{ at = \"3s\", rate = \"2mbit\" }] }"),
            ("trace", "file.up"),
            ("outage", "[\"3s..4s\"]"),
            ("impairments", "{ jitter = \"3ms\" }"),
            ("duplex", "half:burst=3"),
        ],
        &[],
    );
    all_named::<Variation>("[dumbbell]", "variation.", &[("start", "3s"), ("rtt", "0.2"), ("jitter", "0.3")], &[]);
}

#[test]
fn every_habit_is_in_the_line() {
    all_named::<Document>(
        "[dumbbell]",
        "",
        &[
            ("era", "ns2-2001"),
            ("recovery", "newreno"),
            ("host", "tso"),
            ("slow_start", "limited:50"),
            ("rate_limited", "linux"),
            ("packet", "1400B"),
            ("payload", "1300B"),
            ("ack", "60B"),
            ("variation", "{ rtt = 0.2 }"),
            ("cbr", "[{ rate = \"cbr:2mbit\" }]"),
        ],
        &[NO_PATH.as_slice(), TOPOLOGIES.as_slice(), &["arrivals"]].concat(),
    );
    all_named::<FlowGroup>(
        FLOW,
        "flow.0.",
        &[
            ("direction", "reverse"),
            ("extra_rtt", "3ms"),
            ("paced", "true"),
            ("slow_start", "limited:50"),
            ("rate_limited", "linux"),
            ("resume", "300kB,40ms"),
            ("ecn", "per-packet"),
            ("delayed_ack", "7ms"),
            ("ack_aggregation", "3ms"),
            ("wake", "1ms"),
            ("timer", "10ms"),
            ("handshake", "2"),
            ("recovery", "newreno"),
            ("host", "tso"),
            ("receiver", "go-back-n"),
            ("drop", "data:6 ack:3"),
            ("mark", "data:7"),
            ("hold", "data:8=15ms"),
            ("max_window", "33"),
            ("era", "ns2-2001"),
        ],
        &NO_PATH_OF_FLOW,
    );
}

#[test]
fn lines() {
    assert_eq!(path("[dumbbell]", &["first_seed=18446744073709551615"]), path("[dumbbell]", &[]));
    assert_eq!(path(FLOW, &["flow.0.era=ns2-2001", "flow.1.era=ns2-2001"]), "era ns2-2001");
    assert_eq!(path("[dumbbell]", &[]), "100mbit, 50ms, droptail:1bdp, era modern");
    assert_eq!(path("[dumbbell]", &["dumbbell.loss=0.07"]), "100mbit, 50ms, droptail:1bdp, loss 7 %, era modern");
    assert_eq!(
        path("[dumbbell]", &["dumbbell.loss=periodic:100", "dumbbell.trace=a.up", "host=tso"]),
        "trace a.up, 50ms, droptail:1bdp, loss periodic:100, host tso, era modern"
    );
    assert_eq!(path(FLOW, &["flow.1.ecn=latch"]), "ecn latch (of cubic), era modern");
    assert_eq!(path(FLOW, &["flow.0.ecn=latch", "flow.1.ecn=latch"]), "ecn latch, era modern");
    assert_eq!(path(ROW, &[]), "a row of 3 links, 100mbit, 50ms, droptail:1bdp, era modern");
    assert_eq!(path(LINKS, &[]), "a to b: 10mbit 5ms droptail:20p, era modern");
}

/// A scenario in which every key that has a default is written with it has the line of the one without them. Keys whose default is their
/// absence are named, so that a new key is thought of.
#[test]
fn defaults_that_are_written_change_no_line() {
    let written = |what: &str, keys: BTreeSet<String>, given: &[(&str, &str)], absent: &[&str], required: &[&str]| {
        let set: BTreeSet<String> = given
            .iter()
            .map(|(key, _)| *key)
            .chain(absent.iter().copied())
            .chain(required.iter().copied())
            .map(String::from)
            .collect();
        assert_eq!(set, keys, "{what}: every key has a place");
    };
    let same = |base: &str, place: &str, given: &[(&str, &str)]| {
        let items: Vec<String> = given.iter().map(|(key, value)| format!("{place}{key}={value}")).collect();
        for item in &items {
            assert_eq!(path(base, &[item]), path(base, &[]), "{item}");
        }
        assert_eq!(path(base, &items.iter().map(String::as_str).collect::<Vec<_>>()), path(base, &[]));
    };
    let document = [
        ("duration", "60s"),
        ("warmup", "10s"),
        ("seeds", "5"),
        ("first_seed", "1"),
        ("era", "modern"),
        ("recovery", "rack"),
        ("host", "plain"),
        ("slow_start", "standard"),
        ("rate_limited", "rfc9002"),
        ("packet", "1.5kB"),
        ("payload", "1460B"),
        ("ack", "40B"),
        ("sampling", "100ms"),
    ];
    let own = ["title", "variation", "dumbbell", "parking_lot", "link", "flow", "cbr", "arrivals"];
    written("a scenario", keys::<Document>(), &document, &own, &[]);
    same("[dumbbell]", "", &document);
    let Variation { rtt, jitter, .. } = Variation::default();
    let [rtt, jitter] = [rtt, jitter].map(|share| share.to_string());
    let variation = [("rtt", rtt.as_str()), ("jitter", jitter.as_str())];
    written("a variation", keys::<Variation>(), &variation, &["start"], &[]);
    same("[dumbbell]", "variation.", &variation);
    let dumbbell = [
        ("rate", "100mbit"),
        ("rtt", "50ms"),
        ("queue", "droptail:1bdp"),
        ("loss", "0.0"),
        ("outage", "[]"),
        (
            "impairments",
            "{ jitter = \"0s\", aggregate = \"0s\", thin_acks = 1, corrupt = 0.0, duplicate = 0.0, bleach_ecn = false }",
        ),
        ("reverse_impairments", "{}"),
        ("reverse_rate", "0.1gbit"),
        ("reverse_queue", "droptail:1bdp"),
        ("reverse_loss", "0"),
        ("duplex", "full"),
    ];
    written("a dumbbell", keys::<Dumbbell>(), &dumbbell, &["schedule", "trace"], &[]);
    same("[dumbbell]", "dumbbell.", &dumbbell);
    let impairments = [
        ("jitter", "0s"),
        ("aggregate", "0s"),
        ("thin_acks", "1"),
        ("corrupt", "0"),
        ("duplicate", "0"),
        ("bleach_ecn", "false"),
    ];
    written("impairments", keys::<Impairments>(), &impairments, &["reorder", "policer", "shaper", "mangle_ecn"], &[]);
    let row = [("hops", "3"), ("rate", "100mbit"), ("rtt", "50ms"), ("queue", "droptail:1bdp"), ("loss", "0.0")];
    written("a row", keys::<ParkingLot>(), &row, &[], &[]);
    same(ROW, "parking_lot.", &row);
    let link = [
        ("both_ways", "true"),
        ("loss", "0"),
        ("outage", "[]"),
        ("impairments", "{ jitter = \"0s\" }"),
        ("duplex", "full"),
    ];
    let absent = ["name", "rate", "queue", "schedule", "trace"];
    written("a link", keys::<Link>(), &link, &absent, &["from", "to", "delay"]);
    same(LINKS, "link.0.", &link);
    let flow = [
        ("count", "1"),
        ("start", "0s"),
        ("on", "[]"),
        ("direction", "forward"),
        ("via", "[]"),
        ("via_back", "[]"),
        ("extra_rtt", "0ms"),
        ("paced", "false"),
        ("slow_start", "standard"),
        ("rate_limited", "rfc9002"),
        ("delayed_ack", "40ms"),
        ("ack_aggregation", "0s"),
        ("recovery", "rack"),
        ("host", "plain"),
        ("receiver", "sack"),
        ("class", "out"),
        ("handshake", "0"),
        ("era", "modern"),
    ];
    let absent = [
        "name",
        "stop",
        "size",
        "source",
        "from",
        "to",
        "ecn",
        "resume",
        "max_window",
        "drop",
        "mark",
        "hold",
        "wake",
        "timer",
        "src_host",
        "dst_host",
    ];
    written("a flow", keys::<FlowGroup>(), &flow, &absent, &["algorithm"]);
    same(FLOW, "flow.0.", &flow);
    let cbr = [
        ("count", "1"),
        ("start", "0s"),
        ("on", "[]"),
        ("direction", "forward"),
        ("class", "out"),
        ("packet", "1500B"),
    ];
    written("cbr", keys::<Cbr>(), &cbr, &["name", "stop", "from", "to", "src_host", "dst_host"], &["rate"]);
    same("[dumbbell]\n[[cbr]]\nrate = 'cbr:2mbit'", "cbr.0.", &cbr);
    let arrivals = [
        ("start", "0s"),
        ("stop", "60s"),
        ("direction", "forward"),
        ("via", "[]"),
        ("via_back", "[]"),
        ("extra_rtt", "0s"),
        ("rtt_spread", "0s"),
        ("delayed_ack", "40ms"),
        ("class", "out"),
        ("handshake", "0"),
        ("recovery", "rack"),
        ("era", "modern"),
        ("limit", "10000"),
    ];
    let absent = ["gap", "web", "name", "from", "to", "ecn", "src_host", "dst_host"];
    written("arrivals", keys::<Arrivals>(), &arrivals, &absent, &["algorithm", "size", "load"]);
    same("[dumbbell]\n[[arrivals]]\nalgorithm = 'reno'\nsize = '10p'\nload = 0.5", "arrivals.0.", &arrivals);
}

#[test]
fn other_traffic_and_windows_have_what_was_written() {
    assert_eq!(
        path("[dumbbell]", &["cbr=[{ rate = \"cbr:2mbit\", start = \"3s\" }]"]),
        "100mbit, 50ms, droptail:1bdp, cbr (rate cbr:2mbit, start 3s), era modern"
    );
    let arrivals = "arrivals=[{ algorithm = \"reno\", size = \"10p\", load = 0.5 }]";
    assert_eq!(
        path("[dumbbell]", &[arrivals]),
        "100mbit, 50ms, droptail:1bdp, arrivals reno (load 0.5, size 10p), era modern"
    );
    assert_eq!(path(FLOW, &["flow.0.max_window=10"]), "max window 10 packets (of reno), era modern");
    let twins = "[[flow]]\nalgorithm = 'reno'\n[[flow]]\nalgorithm = 'reno'";
    assert_eq!(path(twins, &["flow.1.max_window=2.5"]), "max window 2.5 packets (of [[flow]] 2), era modern");
    assert_eq!(path(FLOW, &["host=tso", "flow.0.host=plain"]), "host tso, host plain (of reno), era modern");
}
