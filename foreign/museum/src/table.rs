//! The table of faults.

use serde::Deserialize;

/// The table.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Museum {
    #[serde(rename = "fault")]
    pub(crate) faults: Vec<Fault>,
    #[serde(rename = "missing")]
    pub(crate) missing: Vec<Missing>,
}

/// A fault that is shown.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Fault {
    /// As `quiche#2370`.
    pub(crate) issue: String,
    pub(crate) link: String,
    /// The wrong behaviour, in a few words.
    pub(crate) wrong: String,
    /// The property that it breaks.
    pub(crate) property: String,
    /// The state of the issue: mended from which release on, or open.
    pub(crate) state: String,
    pub(crate) shown: Shown,
    /// The check of `cwnd conform` that finds it; none if none does.
    pub(crate) found: Option<String>,
    /// Stacks that have it.
    pub(crate) broken: Vec<String>,
    /// Stacks of later releases, or with the mend turned on.
    #[serde(default)]
    pub(crate) mended: Vec<String>,
}

/// What shows a fault.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(crate) enum Shown {
    /// A check of `cwnd conform` meets its range, over three seeds.
    Check { check: String },
    /// A quantity is at most this in each run of a scenario.
    Scenario { scenario: String, measure: Measure, most: f64 },
}

/// A quantity of the first flow of a run.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Measure {
    /// When the last of its data arrived, seconds.
    Completion,
    /// Packets that its sender sent.
    Sent,
    /// Its largest window, packets.
    Window,
}

/// A published fault that is not shown.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Missing {
    pub(crate) issue: String,
    pub(crate) link: String,
    pub(crate) reason: String,
}

impl Museum {
    pub(crate) fn read() -> Self {
        toml::from_str(include_str!("../faults.toml")).unwrap_or_else(|error| panic!("faults.toml: {error}"))
    }
}

/// The text of a scenario of the museum.
pub(crate) fn scenario(name: &str) -> &'static str {
    let found = SCENARIOS.iter().find(|(other, _)| *other == name);
    found.unwrap_or_else(|| panic!("there is no scenario `{name}`")).1
}

const SCENARIOS: [(&str, &str); 3] = [
    ("quiche-2370.toml", include_str!("../quiche-2370.toml")),
    ("quinn-2798.toml", include_str!("../quinn-2798.toml")),
    ("smoltcp-1155.toml", include_str!("../smoltcp-1155.toml")),
];
