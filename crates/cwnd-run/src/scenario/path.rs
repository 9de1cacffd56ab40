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
use super::traffic::{Arrivals, Cbr};
use crate::measure::digits;

impl Document {
    /// The path and the habits of those who use it in one line: the topology, whatever its links do to packets, traffic that is not
    /// measured, what differs from the defaults of the scenario and of its flows, and the era. A share is in per cent.
    #[must_use]
    pub fn path(&self) -> String {
        self.unadorned().path_of_keys()
    }

    fn path_of_keys(&self) -> String {
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
        for key in ["cbr", "arrivals"] {
            rest.remove(key);
        }
        named(&rest, &usual, "", &mut parts);
        parts.extend(others(
            "arrivals",
            self.arrivals.iter().map(|group| {
                let usual = Arrivals { load: None, ..Arrivals::new(group.algorithm.clone(), group.size.clone(), 0.0) };
                unusual(&table(group), &table(&usual), &["algorithm", "size"])
            }),
        ));
        parts.extend(others(
            "cbr",
            self.cbr.iter().map(|group| unusual(&table(group), &table(&Cbr::new(group.rate.clone())), &["rate"])),
        ));
        self.flows(&mut parts);
        if self.flow.iter().any(|group| group.era.is_none()) || self.flow.is_empty() {
            parts.push(format!("era {era}"));
        }
        parts.join(", ")
    }

    /// The settings that flows have of their own: of all, or with the names of those that have it.
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
            let names: BTreeSet<&str> = having().map(|(group, _)| label(group)).collect();
            // A name that others without the setting have too says where it stands.
            let shared = |name: &str| groups.iter().any(|(group, own)| label(group) == name && !own.contains(setting));
            let places: Vec<String> = (1..)
                .zip(&groups)
                .filter(|(_, (group, own))| own.contains(setting) && shared(label(group)))
                .map(|(at, _)| format!("[[flow]] {at}"))
                .collect();
            let names: Vec<&str> = names.into_iter().filter(|name| !shared(name)).collect();
            let names: Vec<&str> = names.into_iter().chain(places.iter().map(String::as_str)).collect();
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

/// The name of a group of flows.
fn label(group: &FlowGroup) -> &str {
    group.name.as_deref().unwrap_or(group.algorithm.text())
}

/// The settings of other traffic after its name; none without other traffic.
fn others(key: &str, groups: impl Iterator<Item = Table>) -> Option<String> {
    let one = |mut group: Table| {
        let mut titles: Vec<String> =
            TITLES.iter().filter_map(|key| group.remove(*key)).map(|value| text(&value)).collect();
        let rest = titles.split_off(titles.len().min(1));
        let words: Vec<String> = rest.into_iter().chain(group.iter().map(|(key, value)| word(key, value))).collect();
        titles.extend((!words.is_empty()).then(|| format!("({})", words.join(", "))));
        titles.join(" ")
    };
    let groups: Vec<String> = groups.map(one).collect();
    (!groups.is_empty()).then(|| format!("{key} {}", groups.join(" and ")))
}

/// A key with its value.
fn word(key: &str, value: &Value) -> String {
    format!("{} {}", key.replace('_', " "), text(value))
}

/// The keys that differ from the usual, and those that are `always` there.
fn unusual(own: &Table, usual: &Table, always: &[&str]) -> Table {
    let shown = |(key, value): &(&String, &Value)| always.contains(&key.as_str()) || usual.get(*key) != Some(value);
    own.iter().filter(shown).map(|(key, value)| (key.clone(), value.clone())).collect()
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

/// The differences from `usual`: `key value`.
fn named(own: &Table, usual: &Table, prefix: &str, parts: &mut Vec<String>) {
    for (key, value) in own {
        if usual.get(key) == Some(value) {
            continue;
        }
        let none = Table::new();
        let (place, name) = match key.strip_prefix("reverse_") {
            Some(name) => ("reverse ", name),
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
                let shown = match name {
                    "loss" => percent(value),
                    "max_window" => value.as_float().map(|packets| format!("{packets} packets")),
                    _ => None,
                };
                let shown = shown.unwrap_or_else(|| text(value));
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
            let keys: Vec<String> = keys.iter().map(|(key, value)| word(key, value)).collect();
            keys.join(" ")
        }
        value => value.to_string(),
    }
}

fn table(value: &impl Serialize) -> Table {
    Table::try_from(value).expect("a document has only tables, text and finite numbers")
}

/// The name of other traffic.
const TITLES: [&str; 2] = ["name", "algorithm"];
/// The keys of a topology.
const TOPOLOGIES: [&str; 3] = ["dumbbell", "parking_lot", "link"];
/// The time and number of runs on a path, and its flows.
const NO_PATH: [&str; 7] = ["title", "duration", "warmup", "seeds", "first_seed", "sampling", "flow"];
/// Which flows there are, where and when.
const NO_PATH_OF_FLOW: [&str; 15] = [
    "algorithm",
    "name",
    "count",
    "start",
    "stop",
    "on",
    "size",
    "source",
    "from",
    "to",
    "via",
    "via_back",
    "class",
    "src_host",
    "dst_host",
];
/// A line names no more links,
const MOST_LINKS: usize = 4;
/// and no more flows that have something of their own.
const MOST_NAMES: usize = 3;

#[cfg(test)]
mod tests;
