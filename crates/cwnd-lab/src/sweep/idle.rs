//! Parts of a sweep without effect: settings at its points, and points that are equal scenarios.

use std::collections::{BTreeMap, BTreeSet};

use cwnd_run::scenario::Scenario;
use cwnd_text::counted;

/// The settings without effect found so far.
#[derive(Debug, Default)]
pub(super) struct Idle {
    settings: Vec<Setting>,
    /// The places of causes in the list.
    known: BTreeMap<(String, String), usize>,
    /// The points of each scenario, counted from 1.
    points: BTreeMap<[u8; 32], Vec<usize>>,
}

/// A cause, whatever the values are that it is one of.
#[derive(Debug)]
struct Setting {
    /// The message about the first value.
    text: String,
    values: BTreeSet<String>,
    points: usize,
}

impl Idle {
    /// Takes in the scenario of a point.
    pub(super) fn take(&mut self, index: usize, scenario: &Scenario) {
        for one in scenario.unused() {
            let next = self.settings.len();
            let at = *self.known.entry(one.cause()).or_insert(next);
            if at == next {
                let text = one.by_key().to_string();
                self.settings.push(Setting { text, values: BTreeSet::new(), points: 0 });
            }
            self.settings[at].points += 1;
            self.settings[at].values.insert(one.given().to_string());
        }
        self.points.entry(scenario.runs()).or_default().push(index + 1);
    }

    /// A line for each cause. `keys` are those that the `count` points set.
    pub(super) fn warnings(self, count: usize, keys: &[String]) -> Vec<String> {
        let all = counted(count, "point");
        let of_setting = |Setting { text, values, points }: &Setting| {
            let others = match values.len() - 1 {
                0 => String::new(),
                others => format!(", and so with {}", counted(others, "other value")),
            };
            format!("at {points} of {all} {text}{others}")
        };
        let settings = self.settings.iter().map(of_setting);
        let mut groups: Vec<&Vec<usize>> = self.points.values().filter(|points| points.len() > 1).collect();
        groups.sort();
        let title = keys.iter().any(|key| key == "title");
        let why = if title { ": `title` changes no run" } else { "" };
        let named = |points: &[usize]| {
            let more = points.len().saturating_sub(MOST_NAMED);
            let named: Vec<String> = points.iter().take(MOST_NAMED).map(ToString::to_string).collect();
            match (named.split_last(), more) {
                (_, 1..) => format!("{} and {more} more", named.join(", ")),
                (Some((last, others)), 0) => format!("{} and {last}", others.join(", ")),
                (None, 0) => String::new(),
            }
        };
        let same = groups.first().map(|first| {
            let rest = match groups.len() - 1 {
                0 => String::new(),
                others => format!(" (and so in {})", counted(others, "other group")),
            };
            format!("points {} of {count} are the same scenario{rest}{why}", named(first))
        });
        settings.chain(same).collect()
    }
}

/// The maximum number of equal points that a warning names.
const MOST_NAMED: usize = 5;
