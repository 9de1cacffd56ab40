//! Tests that profile `paper` is what `papers/daimd/profile.toml` says, and that neither changes without an entry in the register.

use std::collections::BTreeMap;

use cwnd::{Algorithm, Spec, Start};
use serde::Deserialize;

use super::{PAPER, udt};
use crate::bench::Bench;
use crate::files::paper_file;
use crate::settings::{Scale, Settings};

/// `papers/daimd/profile.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Profile {
    rule: Vec<Rule>,
}

/// A rule of the profile, which the paper states or is silent about.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Rule {
    field: String,
    value: String,
    #[serde(default)]
    states: Option<String>,
    #[serde(default)]
    silent: Option<String>,
}

impl Rule {
    /// As `papers/page.md` has it.
    fn row(&self) -> String {
        let words = match (&self.states, &self.silent) {
            (Some(states), None) => format!("{states} |"),
            (None, Some(silent)) => format!("silent: {silent} |"),
            _ => panic!("{}: either `states` or `silent`", self.field),
        };
        format!("| `{}` | {} | {words}", self.field, self.value)
    }
}

fn rules() -> Vec<Rule> {
    let profile: Profile = toml::from_str(paper_file!("daimd/profile.toml")).unwrap_or_else(|error| panic!("{error}"));
    profile.rule
}

/// The algorithm that rows of `paper` are of, at full length.
fn algorithm() -> String {
    let published = PAPER.published().unwrap_or_else(|error| panic!("{error}"));
    let settings = Settings { scale: Scale::Full, assumptions: Vec::new(), variant: None };
    let nothing = |_| Ok(Vec::new());
    let bench = Bench::new((&PAPER.files, &published, &published.result[0]), &settings, &nothing);
    udt(&bench, "paper").unwrap_or_else(|error| panic!("{error}"))
}

/// The rules of an algorithm, by field.
fn habits(algorithm: &str) -> BTreeMap<String, String> {
    let spec = Spec::parse(algorithm).unwrap_or_else(|error| panic!("{error}"));
    let Algorithm::UdtAgent(agent) = spec.start(&Start::default()) else { panic!("{algorithm} is an agent") };
    let text = format!("{:#?}", agent.habits());
    let fields = text.lines().filter_map(|line| line.trim().trim_end_matches(',').split_once(": "));
    fields.map(|(field, value)| (field.to_string(), value.to_string())).collect()
}

#[test]
fn every_rule_of_the_profile_has_its_sentence_or_its_reason() {
    let listed: BTreeMap<String, String> = rules().into_iter().map(|rule| (rule.field, rule.value)).collect();
    assert_eq!(habits(&algorithm()), listed, "as runners have it");
    assert_eq!(habits("udt:profile=paper"), listed, "as everybody else has it");
    assert_eq!(rules().len(), listed.len(), "a rule is listed twice");
    let page = include_str!("../../../../papers/page.md");
    let missing: Vec<String> = rules().iter().map(Rule::row).filter(|row| !page.contains(row)).collect();
    assert!(missing.is_empty(), "papers/page.md lacks\n{}", missing.join("\n"));
}

/// The register has the hash of each definition that was used for a record.
#[test]
fn the_profile_changes_only_with_an_entry_in_the_register() {
    let rules: String = habits(&algorithm()).iter().map(|(field, value)| format!("{field} = {value}\n")).collect();
    let definition = format!("{}\n{rules}", algorithm());
    let register: toml::Table = toml::from_str(paper_file!("changes.toml")).unwrap_or_else(|error| panic!("{error}"));
    let changes = register["change"].as_array().map_or(&[][..], Vec::as_slice);
    let last = changes.iter().rev().find_map(|change| change.get("definitions")?.get("udt:profile=paper")?.as_str());
    let hash = format!("{:016x}", fnv1a(&definition));
    assert_eq!(
        last,
        Some(hash.as_str()),
        "the newest entry of papers/changes.toml with `definitions` is of another profile than\n{definition}"
    );
}

/// FNV-1a of 64 bits.
fn fnv1a(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3))
}
