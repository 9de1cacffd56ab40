//! Profile `paper` rule by rule, as `papers/daimd/profile.toml` has it.

use std::fmt::Write;

use serde::Deserialize;

use crate::files::paper_file;
use cwnd_run::scenario::{ScenarioError, Source};

/// The rules of profile `paper` of `udt`, each with the sentence of the paper or the reason of its default.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
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

impl Profile {
    /// The profile as it was when this program was built.
    ///
    /// # Errors
    /// `papers/daimd/profile.toml` is no TOML, or has a key that is unknown.
    pub fn written() -> Result<Self, ScenarioError> {
        Source::read("papers/daimd/profile.toml", paper_file!("daimd/profile.toml"), &[])?.document()
    }

    /// A row of Markdown for each rule.
    #[must_use]
    pub fn table(&self) -> String {
        let mut text = String::from(
            "\n| rule | `paper` has | the sentence of the paper, or the reason of the default |\n|---|---|---|\n",
        );
        for Rule { field, value, states, silent } in &self.rule {
            let silent = silent.as_ref().map(|reason| format!("silent: {reason}"));
            let words = states.as_deref().or(silent.as_deref()).unwrap_or_default();
            let _ = writeln!(text, "| `{field}` | {value} | {words} |");
        }
        text.push('\n');
        text
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use cwnd::{Algorithm, Spec, Start};

    use super::super::{PAPER, udt};
    use super::*;
    use crate::bench::Bench;
    use crate::register::{Register, fnv1a};
    use crate::settings::{Scale, Settings};
    use cwnd_run::scenario::Scenario;

    fn rules() -> Vec<Rule> {
        Profile::written().unwrap_or_else(|error| panic!("{error}")).rule
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
        for rule in rules() {
            assert!(rule.states.is_some() != rule.silent.is_some(), "{}: either `states` or `silent`", rule.field);
        }
    }

    /// What the newest entry of the register that has it says of a definition.
    fn registered(name: &str) -> Option<String> {
        let register = Register::recorded().unwrap_or_else(|error| panic!("{error}"));
        register.change.iter().rev().find_map(|change| change.definitions.get(name).cloned())
    }

    /// The register has the hash of each definition that was used for a record.
    #[test]
    fn the_profile_changes_only_with_an_entry_in_the_register() {
        let rules: String = habits(&algorithm()).iter().map(|(field, value)| format!("{field} = {value}\n")).collect();
        let definition = format!("{}\n{rules}", algorithm());
        assert_eq!(
            registered("udt:profile=paper"),
            Some(format!("{:016x}", fnv1a(&definition))),
            "the newest entry of papers/changes.toml with `definitions` is of another profile than\n{definition}"
        );
    }

    /// The names of the rules stay where the code behind one changes: the register has the digest of a short run, too.
    #[test]
    fn a_run_of_the_profile_changes_only_with_an_entry_in_the_register() {
        let (name, text) =
            PAPER.files.scenarios.iter().find(|(name, _)| *name == "round-trips").expect("a scenario of daimd");
        let short = ["duration=5s", "seeds=1"].map(String::from);
        let scenario = Scenario::read(&PAPER.files.path(&format!("{name}.toml")), text, &short)
            .unwrap_or_else(|error| panic!("{error}"));
        let runs = cwnd_run::run::run(vec![scenario], &()).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(
            registered("udt:profile=paper, digest of round-trips.toml over 5 s, seed 1"),
            Some(format!("{:016x}", runs[0].traces[0].digest)),
            "the profile or the simulator sends otherwise than the newest entry of papers/changes.toml with `definitions` says"
        );
    }
}
