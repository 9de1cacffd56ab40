//! The path of a scenario in one line.
//!
//! The line is made of the document's own keys, so that a key that is added joins it: whatever differs from its default is named.

use std::collections::BTreeSet;

use cwnd_sim::Loss;
use cwnd_text::counted;
use serde::Serialize;
use toml::{Table, Value};

use super::document::{Document, Dumbbell, FlowGroup, ParkingLot};
use super::quantity::Written;
use crate::measure::digits;

impl Document {
    /// The path and the habits of those who use it in one line: the topology, whatever its links do to packets, traffic that is not
    /// measured, what differs from the defaults of the scenario and of its flows, and the era. A share is in per cent.
    #[must_use]
    pub fn path(&self) -> String {
        let mut parts = Vec::new();
        if let Some(dumbbell) = &self.dumbbell {
            topology(&table(dumbbell), &table(&Dumbbell::default()), &mut parts);
        }
        if let Some(row) = &self.parking_lot {
            parts.push(format!("a row of {}", counted(row.hops, "link")));
            let (mut own, mut usual) = (table(row), table(&ParkingLot::default()));
            own.remove("hops");
            usual.remove("hops");
            topology(&own, &usual, &mut parts);
        }
        for link in self.link.iter().take(MOST_LINKS) {
            let mut link = table(link);
            let ends = [link.remove("from"), link.remove("to")].map(|end| end.as_ref().map(text).unwrap_or_default());
            let mut of_link = Vec::new();
            topology(&link, &Table::from_iter([("both_ways".to_string(), Value::Boolean(true))]), &mut of_link);
            parts.push(format!("{} to {}: {}", ends[0], ends[1], of_link.join(" ")));
        }
        if self.link.len() > MOST_LINKS {
            parts.push(format!("and {} more links", self.link.len() - MOST_LINKS));
        }
        let (mut rest, usual) = (table(&Self { first_seed: 0, ..self.clone() }), table(&Self::default()));
        for key in NO_PATH.iter().chain(&TOPOLOGIES) {
            rest.remove(*key);
        }
        let era = rest.remove("era").as_ref().map(text).unwrap_or_default();
        named(&rest, &usual, "", &mut parts);
        self.flows(&mut parts);
        if self.flow.iter().any(|group| group.era.is_none()) || self.flow.is_empty() {
            parts.push(format!("era {era}"));
        }
        parts.join(", ")
    }

    /// What flows have of their own: of all, or with the names of those that have it.
    fn flows(&self, parts: &mut Vec<String>) {
        let of = |group: &FlowGroup| {
            let mut own = table(group);
            NO_PATH_OF_FLOW.iter().for_each(|key| drop(own.remove(*key)));
            let mut settings = Vec::new();
            named(&own, &table(&FlowGroup::new(group.algorithm.clone(), 1)), "", &mut settings);
            settings
        };
        let groups: Vec<(&FlowGroup, Vec<String>)> = self.flow.iter().map(|group| (group, of(group))).collect();
        let settings: BTreeSet<&String> = groups.iter().flat_map(|(_, settings)| settings).collect();
        for setting in settings {
            let having = || groups.iter().filter(|(_, settings)| settings.contains(setting));
            let names: BTreeSet<&str> =
                having().map(|(group, _)| group.name.as_deref().unwrap_or(group.algorithm.text())).collect();
            let names: Vec<&str> = names.into_iter().collect();
            match (having().count() == groups.len(), names.as_slice()) {
                (true, _) => parts.push(setting.clone()),
                (false, [some @ .., _] | some) if some.len() >= MOST_NAMES => {
                    parts.push(format!("{setting} (of {} and others)", names[..MOST_NAMES].join(", ")));
                }
                (false, _) => parts.push(format!("{setting} (of {})", names.join(", "))),
            }
        }
    }
}

/// Rate, delay and queue by their values alone, then what differs from `usual` by its name.
fn topology(own: &Table, usual: &Table, parts: &mut Vec<String>) {
    let mut rest = own.clone();
    let rate = rest.remove("rate");
    // A link follows its trace instead of a rate.
    parts.extend(rate.filter(|_| !own.contains_key("trace")).as_ref().map(text));
    parts.extend(rest.remove("trace").map(|file| format!("trace {}", text(&file))));
    parts.extend(["rtt", "delay", "queue"].iter().filter_map(|key| rest.remove(*key)).map(|value| text(&value)));
    named(&rest, usual, "", parts);
}

/// What differs from `usual`: `key value`.
fn named(own: &Table, usual: &Table, prefix: &str, parts: &mut Vec<String>) {
    for (key, value) in own {
        if usual.get(key) == Some(value) {
            continue;
        }
        let none = Table::new();
        let (place, name) = match key.strip_prefix("reverse_") {
            Some(name) => ("way back ", name),
            None => (prefix, key.as_str()),
        };
        match value {
            Value::Table(own) => {
                let usual = usual.get(key).and_then(Value::as_table).unwrap_or(&none);
                // What a link does has names of its own.
                let prefix = if name == "impairments" {
                    place.to_string()
                } else {
                    format!("{place}{} ", name.replace('_', " "))
                };
                named(own, usual, &prefix, parts);
            }
            Value::Array(items) => {
                let items: Vec<String> = items.iter().map(text).collect();
                parts.push(format!("{place}{} {}", name.replace('_', " "), items.join(" and ")));
            }
            value => {
                let percent = (name == "loss").then(|| percent(value)).flatten();
                let shown = percent.unwrap_or_else(|| text(value));
                parts.push(format!("{place}{} {shown}", name.replace('_', " ")));
            }
        }
    }
}

/// A probability of loss in per cent; none of another kind of loss.
fn percent(value: &Value) -> Option<String> {
    let written: Written<Loss> = text(value).parse().ok()?;
    let Loss::Bernoulli(share) = written.value() else { return None };
    Some(format!("{} %", digits::percent(*share)))
}

fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Table(keys) => {
            let keys: Vec<String> =
                keys.iter().map(|(key, value)| format!("{} {}", key.replace('_', " "), text(value))).collect();
            keys.join(" ")
        }
        value => value.to_string(),
    }
}

fn table(value: &impl Serialize) -> Table {
    Table::try_from(value).expect("a document has only tables, text and finite numbers")
}

/// The keys of a topology.
const TOPOLOGIES: [&str; 3] = ["dumbbell", "parking_lot", "link"];
/// How long and how often a path is used, and by which flows.
const NO_PATH: [&str; 7] = ["title", "duration", "warmup", "seeds", "first_seed", "sampling", "flow"];
/// Which flows there are, where and when.
const NO_PATH_OF_FLOW: [&str; 13] =
    ["algorithm", "name", "count", "start", "stop", "on", "size", "source", "from", "to", "via", "via_back", "class"];
/// A line names no more links,
const MOST_LINKS: usize = 4;
/// and no more flows that have something of their own.
const MOST_NAMES: usize = 3;

#[cfg(test)]
mod tests {
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

    /// Each of `values` sets one key below `place` to what is not its default and is named in the line; together they are all keys of `T`
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
        ];
        for (key, value) in impairments {
            let quoted = if key == "thin_acks" { value.to_string() } else { format!("\"{value}\"") };
            let line = path("[dumbbell]", &[&format!("dumbbell.impairments.{key}={quoted}")]);
            assert!(line.contains(&format!(", {} {value}", key.replace('_', " "))), "{line}");
            let back = path("[dumbbell]", &[&format!("dumbbell.reverse_impairments.{key}={quoted}")]);
            assert!(back.contains(&format!(", way back {} {value}", key.replace('_', " "))), "{back}");
        }
        assert_eq!(
            impairments.map(|(key, _)| key.to_string()).into_iter().collect::<BTreeSet<_>>(),
            keys::<Impairments>()
        );
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
                ("recovery", "rack"),
                ("host", "tso"),
                ("slow_start", "limited:50"),
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
                ("ecn", "per-packet"),
                ("delayed_ack", "7ms"),
                ("ack_aggregation", "3ms"),
                ("recovery", "rack"),
                ("host", "tso"),
                ("receiver", "go-back-n"),
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
}
